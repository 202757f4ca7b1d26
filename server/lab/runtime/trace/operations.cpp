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
/// One rounding: double holds the product exactly, and of the sum all that can matter.
static _Float16 half_fma(_Float16 a, _Float16 b, _Float16 c) {
    const double sum = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
    return static_cast<_Float16>(ks::to_float_odd(sum));
}
typedef _Float16 KsHalfPair __attribute__((ext_vector_type(2)));
static KsHalfPair pair(unsigned bits) { return __builtin_bit_cast(KsHalfPair, bits); }
static unsigned bits(_Float16 x, _Float16 y) { return __builtin_bit_cast(unsigned, KsHalfPair{x, y}); }

KS_EXPORT unsigned short ks_op_fma_f16(unsigned short a, unsigned short b, unsigned short c) {
    const auto half = [](unsigned short bits) { return __builtin_bit_cast(_Float16, bits); };
    return __builtin_bit_cast(unsigned short, half_fma(half(a), half(b), half(c)));
}
#define KS_PAIRS(NAME, OP)                                                                                             \
    KS_EXPORT unsigned ks_op_pk_##NAME##_f16(unsigned a, unsigned b) {                                                 \
        return bits(static_cast<_Float16>(pair(a).x OP pair(b).x), static_cast<_Float16>(pair(a).y OP pair(b).y));     \
    }
KS_PAIRS(add, +)
KS_PAIRS(sub, -)
KS_PAIRS(mul, *)
KS_EXPORT unsigned ks_op_pk_fma_f16(unsigned a, unsigned b, unsigned c) {
    return bits(half_fma(pair(a).x, pair(b).x, pair(c).x), half_fma(pair(a).y, pair(b).y, pair(c).y));
}

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
