// Arithmetic, comparisons and mathematics of __half and __half2 by name. Included by half.h.
#pragma once
#pragma clang system_header
#include <ks/atomics.h>
#include <ks/device_functions.h>
#include <ks/half.h>
#include <ks/half_conversions.h>

#define KS_HALF_ARITHMETIC(NAME, OP)                                                                                   \
    static KS_INLINE __half NAME(__half a, __half b) { return __half_raw{static_cast<_Float16>(a.data OP b.data)}; }
KS_HALF_ARITHMETIC(__hadd, +)
KS_HALF_ARITHMETIC(__hsub, -)
KS_HALF_ARITHMETIC(__hmul, *)
KS_HALF_ARITHMETIC(__hdiv, /)
#undef KS_HALF_ARITHMETIC
#ifdef KS_TRACE
#define KS_HALF_PAIRS(NAME, EACH, TRACED)                                                                              \
    static KS_INLINE __half2 NAME(__half2 a, __half2 b) {                                                              \
        return __builtin_bit_cast(__half2, TRACED(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b)));  \
    }
#else
#define KS_HALF_PAIRS(NAME, EACH, TRACED)                                                                              \
    static KS_INLINE __half2 NAME(__half2 a, __half2 b) { return {EACH(a.x, b.x), EACH(a.y, b.y)}; }
#endif
KS_HALF_PAIRS(__hadd2, __hadd, ks_op_pk_add_f16)
KS_HALF_PAIRS(__hsub2, __hsub, ks_op_pk_sub_f16)
KS_HALF_PAIRS(__hmul2, __hmul, ks_op_pk_mul_f16)
#undef KS_HALF_PAIRS
static KS_INLINE __half2 __h2div(__half2 a, __half2 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
static KS_INLINE __half __hneg(__half a) { return __half_raw{static_cast<_Float16>(-a.data)}; }
static KS_INLINE __half __habs(__half a) {
    return __ushort_as_half(static_cast<unsigned short>(__half_as_ushort(a) & 0x7fff));
}
/// One rounding: double holds the product exactly, and of the sum all that can matter.
static KS_INLINE __half __hfma(__half a, __half b, __half c) {
#ifdef KS_TRACE
    return __ushort_as_half(ks_op_fma_f16(__half_as_ushort(a), __half_as_ushort(b), __half_as_ushort(c)));
#endif
    return __double2half(static_cast<double>(a.data) * static_cast<double>(b.data) + static_cast<double>(c.data));
}
static KS_INLINE __half2 __hneg2(__half2 a) { return {__hneg(a.x), __hneg(a.y)}; }
static KS_INLINE __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }
static KS_INLINE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
#ifdef KS_TRACE
    const unsigned sum = ks_op_pk_fma_f16(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b),
                                          __builtin_bit_cast(unsigned, c));
    return __builtin_bit_cast(__half2, sum);
#endif
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

/// Into [0, 1]; a NaN stays one, as on AMD devices.
static KS_INLINE __half __clamp_01(__half x) {
    return __half_raw{x.data < 0 ? _Float16(0) : x.data > 1 ? _Float16(1) : x.data};
}
#define KS_HALF_SATURATED(NAME, PAIRS)                                                                                 \
    static KS_INLINE __half NAME##_sat(__half a, __half b) { return __clamp_01(NAME(a, b)); }                          \
    static KS_INLINE __half2 PAIRS##_sat(__half2 a, __half2 b) { return {NAME##_sat(a.x, b.x), NAME##_sat(a.y, b.y)}; }
KS_HALF_SATURATED(__hadd, __hadd2)
KS_HALF_SATURATED(__hsub, __hsub2)
KS_HALF_SATURATED(__hmul, __hmul2)
#undef KS_HALF_SATURATED
static KS_INLINE __half __hfma_sat(__half a, __half b, __half c) { return __clamp_01(__hfma(a, b, c)); }
static KS_INLINE __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c) {
    return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
/// a.x * b.x + a.y * b.y + c in float, into [0, 1] if `saturate`.
static KS_INLINE float amd_mixed_dot(__half2 a, __half2 b, float c, bool saturate) {
    return __builtin_amdgcn_fdot2(::ks::HalfPair{a.x.data, a.y.data}, ::ks::HalfPair{b.x.data, b.y.data}, c, saturate);
}

static KS_INLINE bool __hisnan(__half a) { return a.data != a.data; }
static KS_INLINE bool __hisinf(__half a) { return (__half_as_ushort(a) & 0x7fff) == 0x7c00; }
static KS_INLINE __half2 __hisnan2(__half2 a) {
    return {__half_raw{static_cast<_Float16>(__hisnan(a.x))}, __half_raw{static_cast<_Float16>(__hisnan(a.y))}};
}
static KS_INLINE __half2 __hisinf2(__half2 a) {
    return {__half_raw{static_cast<_Float16>(__hisinf(a.x))}, __half_raw{static_cast<_Float16>(__hisinf(a.y))}};
}

// __hXX holds for numbers as written, __hXXu also where one is a NaN. Of pairs, __hXX2 gives 1 or 0 for each, and
// __hbXX2 says whether it holds for both. (AMD's header of ROCm 6 has the ordered comparisons for __hbXXu2.)
#define KS_HALF_COMPARE(NAME, HOLDS)                                                                                   \
    static KS_INLINE bool __h##NAME(__half ha, __half hb) {                                                            \
        const _Float16 a = ha.data, b = hb.data;                                                                       \
        return HOLDS;                                                                                                  \
    }                                                                                                                  \
    static KS_INLINE bool __hb##NAME##2(__half2 a, __half2 b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); }   \
    static KS_INLINE __half2 __h##NAME##2(__half2 a, __half2 b) {                                                      \
        return {__half_raw{static_cast<_Float16>(__h##NAME(a.x, b.x))},                                                \
                __half_raw{static_cast<_Float16>(__h##NAME(a.y, b.y))}};                                               \
    }
KS_HALF_COMPARE(eq, a == b)
KS_HALF_COMPARE(ne, a != b)
KS_HALF_COMPARE(lt, a < b)
KS_HALF_COMPARE(le, a <= b)
KS_HALF_COMPARE(gt, a > b)
KS_HALF_COMPARE(ge, a >= b)
KS_HALF_COMPARE(equ, !(a < b) && !(a > b))
KS_HALF_COMPARE(neu, !(a == b))
KS_HALF_COMPARE(ltu, !(a >= b))
KS_HALF_COMPARE(leu, !(a > b))
KS_HALF_COMPARE(gtu, !(a <= b))
KS_HALF_COMPARE(geu, !(a < b))
#undef KS_HALF_COMPARE

/// A NaN loses against a number, and -0 is less than 0.
static KS_INLINE __half __hmax(__half a, __half b) {
    if (a.data == b.data) return __ushort_as_half(__half_as_ushort(a) & __half_as_ushort(b));
    return __hisnan(a) || a.data < b.data ? b : a;
}
static KS_INLINE __half __hmin(__half a, __half b) {
    if (a.data == b.data) return __ushort_as_half(__half_as_ushort(a) | __half_as_ushort(b));
    return __hisnan(a) || a.data > b.data ? b : a;
}
/// A NaN wins.
static KS_INLINE __half __hmax_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
static KS_INLINE __half __hmin_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }
static KS_INLINE __half2 __hmax2(__half2 a, __half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
static KS_INLINE __half2 __hmin2(__half2 a, __half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
static KS_INLINE __half2 __hmax2_nan(__half2 a, __half2 b) { return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }
static KS_INLINE __half2 __hmin2_nan(__half2 a, __half2 b) { return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }

// Functions: computed in float, rounded once more.
#define KS_HALF_FUNCTION(NAME, EXPRESSION)                                                                             \
    static KS_INLINE __half h##NAME(__half h) {                                                                        \
        const float x = __half2float(h);                                                                               \
        return __float2half(EXPRESSION);                                                                               \
    }                                                                                                                  \
    static KS_INLINE __half2 h2##NAME(__half2 v) { return {h##NAME(v.x), h##NAME(v.y)}; }
KS_HALF_FUNCTION(sqrt, sqrtf(x))
KS_HALF_FUNCTION(rsqrt, rsqrtf(x))
KS_HALF_FUNCTION(rcp, 1.0f / x)
KS_HALF_FUNCTION(exp, expf(x))
KS_HALF_FUNCTION(exp2, exp2f(x))
KS_HALF_FUNCTION(exp10, exp10f(x))
KS_HALF_FUNCTION(log, logf(x))
KS_HALF_FUNCTION(log2, log2f(x))
KS_HALF_FUNCTION(log10, log10f(x))
KS_HALF_FUNCTION(sin, sinf(x))
KS_HALF_FUNCTION(cos, cosf(x))
KS_HALF_FUNCTION(floor, floorf(x))
KS_HALF_FUNCTION(ceil, ceilf(x))
KS_HALF_FUNCTION(trunc, truncf(x))
KS_HALF_FUNCTION(rint, rintf(x))
#undef KS_HALF_FUNCTION

// Atomic additions: of a pair, both halves at once, which is more than a device promises.
static KS_INLINE __half2 atomicAdd(__half2 *address, __half2 value) {
    return ::ks::atomic_update(address, [value](__half2 before) { return __hadd2(before, value); });
}
static KS_INLINE __half atomicAdd(__half *address, __half value) {
    return ::ks::atomic_update(address, [value](__half before) { return __hadd(before, value); });
}
static KS_INLINE __half2 unsafeAtomicAdd(__half2 *address, __half2 value) { return atomicAdd(address, value); }
static KS_INLINE __half unsafeAtomicAdd(__half *address, __half value) { return atomicAdd(address, value); }
