// Who called the runtime.
#pragma once
#include <stdint.h>

namespace ks::sanitizer {

/// The address that the outermost call into this library returns to; 0 where it cannot be told.
uintptr_t caller_of_runtime();

} // namespace ks::sanitizer
