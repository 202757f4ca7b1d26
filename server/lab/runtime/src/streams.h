// Streams, for calls that take one.
#pragma once
#include <ks/api_types.h>

namespace ks {

/// hipErrorInvalidHandle for a stream that was destroyed or never created.
hipError_t check_stream(hipStream_t stream);

} // namespace ks
