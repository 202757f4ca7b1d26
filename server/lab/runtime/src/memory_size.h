// How much memory the emulated device has.
#pragma once
#include <stddef.h>

namespace ks {

/// The machine's memory, or what the process may use of it if that is less. Bytes.
size_t total_memory();

} // namespace ks
