// MI300's conversions between float and the fnuz formats: E4M3 is called fp8, E5M2 bf8. They do not saturate: what is too
// large becomes NaN. `byte` and `high` choose a part of the packed word; the rest of `old` stays.
#pragma once
#pragma clang system_header
#include <ks/fp8_formats.h>

namespace ks {

typedef float FloatPair __attribute__((ext_vector_type(2)));

template <class F> static KS_INLINE float fp8_unpack(int packed, int byte) {
    return F::decode(static_cast<uint8_t>(static_cast<uint32_t>(packed) >> (8 * (byte & 3))));
}
template <class F> static KS_INLINE FloatPair fp8_unpack_pair(int packed, bool high) {
    return FloatPair{fp8_unpack<F>(packed, high ? 2 : 0), fp8_unpack<F>(packed, high ? 3 : 1)};
}
template <class F> static KS_INLINE int fp8_pack_pair(float x, float y, int old, bool high) {
    const uint32_t pair = F::encode(x, false) | static_cast<uint32_t>(F::encode(y, false)) << 8;
    const int shift = high ? 16 : 0;
    return static_cast<int>((static_cast<uint32_t>(old) & ~(0xffffu << shift)) | pair << shift);
}
template <class F> static KS_INLINE int fp8_pack_stochastic(float x, int random, int old, int byte) {
    const int shift = 8 * (byte & 3);
    const uint32_t code = F::encode_stochastic(x, static_cast<uint32_t>(random));
    return static_cast<int>((static_cast<uint32_t>(old) & ~(0xffu << shift)) | code << shift);
}

} // namespace ks

#define KS_FP8_BUILTINS(NAME, F)                                                                                       \
    static KS_INLINE float __builtin_amdgcn_cvt_f32_##NAME(int packed, int byte) {                                     \
        return ::ks::fp8_unpack<F>(packed, byte);                                                                      \
    }                                                                                                                  \
    static KS_INLINE ::ks::FloatPair __builtin_amdgcn_cvt_pk_f32_##NAME(int packed, bool high) {                       \
        return ::ks::fp8_unpack_pair<F>(packed, high);                                                                 \
    }                                                                                                                  \
    static KS_INLINE int __builtin_amdgcn_cvt_pk_##NAME##_f32(float x, float y, int old, bool high) {                  \
        return ::ks::fp8_pack_pair<F>(x, y, old, high);                                                                \
    }                                                                                                                  \
    static KS_INLINE int __builtin_amdgcn_cvt_sr_##NAME##_f32(float x, int random, int old, int byte) {                \
        return ::ks::fp8_pack_stochastic<F>(x, random, old, byte);                                                     \
    }
KS_FP8_BUILTINS(fp8, ::ks::Fp8E4m3Fnuz)
KS_FP8_BUILTINS(bf8, ::ks::Fp8E5m2Fnuz)
#undef KS_FP8_BUILTINS
