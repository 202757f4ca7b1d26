// The error that hipGetLastError returns.
#pragma once
#include <ks/errors.h>

namespace ks {

/// Keeps a failure for hipGetLastError; passes every code through. Success does not erase an earlier failure.
hipError_t remember(hipError_t error);

} // namespace ks
