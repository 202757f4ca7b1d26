// Operations that a device has an instruction or a function of its own for, and which traced code calls by name.
#define KS_DEFINE_OPERATIONS
#include <hip/hip_runtime.h>
#include <ks/bfloat16.h>
#include <ks/fp8_formats.h>

#define KS_EXPORT __attribute__((visibility("default")))

namespace {

/// Calls `with` with the format that `format` tells.
template <class F> auto in_format(int format, F with) {
    switch (format) {
    case ks::Fp8E4m3Fnuz::kFormat: return with(ks::Fp8E4m3Fnuz{});
    case ks::Fp8E5m2Fnuz::kFormat: return with(ks::Fp8E5m2Fnuz{});
    case ks::Fp8E4m3::kFormat: return with(ks::Fp8E4m3{});
    default: return with(ks::Fp8E5m2{});
    }
}

} // namespace

extern "C" {

KS_EXPORT unsigned short ks_op_cvt_bf16_f32(float x) { return ks::rounded_to_bfloat16(x); }

KS_EXPORT uint32_t ks_trace_atomic_4(void *address) { return *static_cast<uint32_t *>(address); }
KS_EXPORT uint64_t ks_trace_atomic_8(void *address) { return *static_cast<uint64_t *>(address); }
KS_EXPORT void ks_trace_put_4(void *address, uint32_t value) { *static_cast<uint32_t *>(address) = value; }
KS_EXPORT void ks_trace_put_8(void *address, uint64_t value) { *static_cast<uint64_t *>(address) = value; }
}

namespace ks {
extern "C" {
KS_EXPORT float ks_op_cvt_f32_fp8(unsigned char code, int format) {
    return in_format(format, [=](auto kind) { return decltype(kind)::decoded(code); });
}
KS_EXPORT unsigned char ks_op_cvt_fp8_f32(float x, bool saturate, int format) {
    return in_format(format, [=](auto kind) { return decltype(kind)::encoded(x, saturate); });
}
KS_EXPORT unsigned char ks_op_cvt_sr_fp8_f32(float x, uint32_t random, int format) {
    return in_format(format, [=](auto kind) { return decltype(kind)::encoded_stochastic(x, random); });
}
}
} // namespace ks
