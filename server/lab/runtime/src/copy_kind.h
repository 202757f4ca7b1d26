// The directions of copies.
#pragma once
#include <ks/api_types.h>

namespace ks {

/// Whether it is one of HIP's. Which memory is host and which device makes no difference here.
inline bool valid_kind(hipMemcpyKind kind) {
    return (kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault) || kind == hipMemcpyDeviceToDeviceNoCU;
}

/// Alignment of rows that hipMallocPitch and hipMalloc3D allocate, bytes.
inline constexpr size_t kPitchAlignment = 256;

} // namespace ks
