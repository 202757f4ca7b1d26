// NVIDIA's dot products of bytes, which its compiler knows for compute capability 6.1 and later and AMD's does not: for
// programs that are traced as they are for such a device.
//
// Source: CUDA C++ Programming Guide, and the header sm_61_intrinsics.h of the CUDA toolkit, for names and parameters.
#pragma once
#pragma clang system_header
#include <ks/arithmetic_builtins.h>

#ifdef KS_TRACE

// The two halves of `a` with two bytes of `b`, the first of them byte `from`, added to a sum that wraps.
#define KS_DOT(NAME, T, FIELD)                                                                                         \
    namespace ks {                                                                                                     \
    static KS_INLINE T NAME(T a, T b, T sum, int from) {                                                               \
        const auto x = static_cast<unsigned>(a), y = static_cast<unsigned>(b);                                         \
        const int64_t total = FIELD<16>(x, 0) * FIELD<8>(y, from) + FIELD<16>(x, 1) * FIELD<8>(y, from + 1);           \
        return static_cast<T>(sum + total);                                                                            \
    }                                                                                                                  \
    } /* namespace ks */                                                                                               \
    KS_OPERATION(static, T, ks_##NAME, (T a, T b, T sum, int from), (a, b, sum, from), ::ks::NAME(a, b, sum, from))
KS_DOT(dot2_s32_s8, int, signed_field)
KS_DOT(dot2_u32_u8, unsigned, unsigned_field)
#undef KS_DOT

#ifdef __HIP_PLATFORM_NVIDIA__
static KS_INLINE int __dp4a(int a, int b, int sum) { return __builtin_amdgcn_sdot4(a, b, sum, false); }
static KS_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned sum) { return __builtin_amdgcn_udot4(a, b, sum, false); }
static KS_INLINE int __dp4a(char4 a, char4 b, int sum) {
    return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), sum);
}
static KS_INLINE unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
    return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), sum);
}

#define KS_DP2A(NAME, FROM)                                                                                            \
    static KS_INLINE int NAME(int a, int b, int sum) { return ks_dot2_s32_s8(a, b, sum, FROM); }                       \
    static KS_INLINE unsigned NAME(unsigned a, unsigned b, unsigned sum) { return ks_dot2_u32_u8(a, b, sum, FROM); }   \
    static KS_INLINE int NAME(short2 a, char4 b, int sum) {                                                            \
        return NAME(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), sum);                                      \
    }                                                                                                                  \
    static KS_INLINE unsigned NAME(ushort2 a, uchar4 b, unsigned sum) {                                                \
        return NAME(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), sum);                            \
    }
KS_DP2A(__dp2a_lo, 0)
KS_DP2A(__dp2a_hi, 2)
#undef KS_DP2A
#endif

#endif
