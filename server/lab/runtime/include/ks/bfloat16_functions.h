// Conversions, arithmetic, comparisons and mathematics of bfloat16 by name. Included by bfloat16.h.
#pragma once
#pragma clang system_header
#include <ks/atomics.h>
#include <ks/bfloat16.h>
#include <ks/device_functions.h>

#define HIPRT_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define HIPRT_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)

static KS_INLINE float __bfloat162float(__hip_bfloat16 a) { return a; }
static KS_INLINE __hip_bfloat16 __float2bfloat16(float x) { return x; }
static KS_INLINE __hip_bfloat16 __float2bfloat16_rn(float x) { return x; }
static KS_INLINE __hip_bfloat16 __double2bfloat16(double x) { return x; }
static KS_INLINE short __bfloat16_as_short(__hip_bfloat16 a) { return __builtin_bit_cast(short, a); }
static KS_INLINE unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return __builtin_bit_cast(unsigned short, a); }
static KS_INLINE __hip_bfloat16 __short_as_bfloat16(short bits) { return __builtin_bit_cast(__hip_bfloat16, bits); }
static KS_INLINE __hip_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __hip_bfloat16_raw{bits}; }

static KS_INLINE float2 __bfloat1622float2(__hip_bfloat162 a) { return a; }
static KS_INLINE __hip_bfloat162 __float22bfloat162_rn(float2 v) { return {v.x, v.y}; }
static KS_INLINE __hip_bfloat162 __float2bfloat162_rn(float x) { return {x, x}; }
static KS_INLINE __hip_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
static KS_INLINE __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }
static KS_INLINE __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return {a, b}; }
static KS_INLINE __hip_bfloat162 make_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return {a, b}; }
static KS_INLINE __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
static KS_INLINE __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
static KS_INLINE __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return {a.x, a.x}; }
static KS_INLINE __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return {a.y, a.y}; }
static KS_INLINE __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x, b.x}; }
static KS_INLINE __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.y, b.y}; }
static KS_INLINE __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 a) { return {a.y, a.x}; }
static KS_INLINE float __low2float(__hip_bfloat162 a) { return a.x; }
static KS_INLINE float __high2float(__hip_bfloat162 a) { return a.y; }

#define KS_BFLOAT16_ARITHMETIC(NAME, PAIRS, OP)                                                                        \
    static KS_INLINE __hip_bfloat16 NAME(__hip_bfloat16 a, __hip_bfloat16 b) { return a OP b; }                        \
    static KS_INLINE __hip_bfloat162 PAIRS(__hip_bfloat162 a, __hip_bfloat162 b) { return a OP b; }
KS_BFLOAT16_ARITHMETIC(__hadd, __hadd2, +)
KS_BFLOAT16_ARITHMETIC(__hsub, __hsub2, -)
KS_BFLOAT16_ARITHMETIC(__hmul, __hmul2, *)
KS_BFLOAT16_ARITHMETIC(__hdiv, __h2div, /)
#undef KS_BFLOAT16_ARITHMETIC
/// Rounded to float and then to bfloat16, as AMD's.
static KS_INLINE __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
    return __builtin_fmaf(a, b, c);
}
static KS_INLINE __hip_bfloat16 __hneg(__hip_bfloat16 a) { return -a; }
static KS_INLINE __hip_bfloat16 __habs(__hip_bfloat16 a) {
    return __ushort_as_bfloat16(static_cast<unsigned short>(__bfloat16_as_ushort(a) & 0x7fff));
}
static KS_INLINE __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
static KS_INLINE __hip_bfloat162 __hneg2(__hip_bfloat162 a) { return -a; }
static KS_INLINE __hip_bfloat162 __habs2(__hip_bfloat162 a) { return {__habs(a.x), __habs(a.y)}; }

static KS_INLINE bool __hisnan(__hip_bfloat16 a) { return (__bfloat16_as_ushort(a) & 0x7fff) > 0x7f80; }
static KS_INLINE int __hisinf(__hip_bfloat16 a) { return (__bfloat16_as_ushort(a) & 0x7fff) == 0x7f80; }
static KS_INLINE __hip_bfloat162 __hisnan2(__hip_bfloat162 a) {
    return {static_cast<float>(__hisnan(a.x)), static_cast<float>(__hisnan(a.y))};
}

// __hXX holds for numbers as written, __hXXu also where one is a NaN. Of pairs, __hXX2 gives 1 or 0 for each, and
// __hbXX2 says whether it holds for both.
#define KS_BFLOAT16_COMPARE(NAME, HOLDS)                                                                               \
    static KS_INLINE bool __h##NAME(__hip_bfloat16 ba, __hip_bfloat16 bb) {                                            \
        const float a = ba, b = bb;                                                                                    \
        return HOLDS;                                                                                                  \
    }                                                                                                                  \
    static KS_INLINE __hip_bfloat162 __h##NAME##2(__hip_bfloat162 a, __hip_bfloat162 b) {                              \
        return {static_cast<float>(__h##NAME(a.x, b.x)), static_cast<float>(__h##NAME(a.y, b.y))};                     \
    }
#define KS_BFLOAT16_BOTH(NAME)                                                                                         \
    static KS_INLINE bool __hb##NAME##2(__hip_bfloat162 a, __hip_bfloat162 b) {                                        \
        return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y);                                                             \
    }
KS_BFLOAT16_COMPARE(eq, a == b)
KS_BFLOAT16_COMPARE(ne, a != b)
KS_BFLOAT16_COMPARE(lt, a < b)
KS_BFLOAT16_COMPARE(le, a <= b)
KS_BFLOAT16_COMPARE(gt, a > b)
KS_BFLOAT16_COMPARE(ge, a >= b)
KS_BFLOAT16_COMPARE(equ, !(a < b) && !(a > b))
KS_BFLOAT16_COMPARE(neu, !(a == b))
KS_BFLOAT16_COMPARE(ltu, !(a >= b))
KS_BFLOAT16_COMPARE(leu, !(a > b))
KS_BFLOAT16_COMPARE(gtu, !(a <= b))
KS_BFLOAT16_COMPARE(geu, !(a < b))
KS_BFLOAT16_BOTH(eq)
KS_BFLOAT16_BOTH(ne)
KS_BFLOAT16_BOTH(lt)
KS_BFLOAT16_BOTH(le)
KS_BFLOAT16_BOTH(gt)
KS_BFLOAT16_BOTH(ge)
KS_BFLOAT16_BOTH(equ)
KS_BFLOAT16_BOTH(ltu)
KS_BFLOAT16_BOTH(leu)
KS_BFLOAT16_BOTH(gtu)
KS_BFLOAT16_BOTH(geu)
#undef KS_BFLOAT16_COMPARE
#undef KS_BFLOAT16_BOTH
/// The exception: unequal or a NaN in either, as AMD's header has it.
static KS_INLINE bool __hbneu2(__hip_bfloat162 a, __hip_bfloat162 b) { return __hneu(a.x, b.x) || __hneu(a.y, b.y); }

/// A NaN loses against a number, and -0 is less than 0.
static KS_INLINE __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) {
    if (a == b) return __ushort_as_bfloat16(__bfloat16_as_ushort(a) & __bfloat16_as_ushort(b));
    return __hisnan(a) || a < b ? b : a;
}
static KS_INLINE __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) {
    if (a == b) return __ushort_as_bfloat16(__bfloat16_as_ushort(a) | __bfloat16_as_ushort(b));
    return __hisnan(a) || a > b ? b : a;
}
static KS_INLINE __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) {
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
static KS_INLINE __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) {
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}

// Functions: computed in float, rounded once more.
#define KS_BFLOAT16_FUNCTION(NAME, EXPRESSION)                                                                         \
    static KS_INLINE __hip_bfloat16 h##NAME(__hip_bfloat16 a) {                                                        \
        const float x = a;                                                                                             \
        return EXPRESSION;                                                                                             \
    }                                                                                                                  \
    static KS_INLINE __hip_bfloat162 h2##NAME(__hip_bfloat162 a) { return {h##NAME(a.x), h##NAME(a.y)}; }
KS_BFLOAT16_FUNCTION(sqrt, sqrtf(x))
KS_BFLOAT16_FUNCTION(rsqrt, rsqrtf(x))
KS_BFLOAT16_FUNCTION(rcp, 1.0f / x)
KS_BFLOAT16_FUNCTION(exp, expf(x))
KS_BFLOAT16_FUNCTION(exp2, exp2f(x))
KS_BFLOAT16_FUNCTION(exp10, exp10f(x))
KS_BFLOAT16_FUNCTION(log, logf(x))
KS_BFLOAT16_FUNCTION(log2, log2f(x))
KS_BFLOAT16_FUNCTION(log10, log10f(x))
KS_BFLOAT16_FUNCTION(sin, sinf(x))
KS_BFLOAT16_FUNCTION(cos, cosf(x))
KS_BFLOAT16_FUNCTION(floor, floorf(x))
KS_BFLOAT16_FUNCTION(ceil, ceilf(x))
KS_BFLOAT16_FUNCTION(trunc, truncf(x))
KS_BFLOAT16_FUNCTION(rint, rintf(x))
#undef KS_BFLOAT16_FUNCTION

// Atomic additions: of a pair, both at once, which is more than a device promises.
static KS_INLINE __hip_bfloat162 atomicAdd(__hip_bfloat162 *address, __hip_bfloat162 value) {
    return ::ks::atomic_update(address, [value](__hip_bfloat162 before) { return before + value; });
}
static KS_INLINE __hip_bfloat16 atomicAdd(__hip_bfloat16 *address, __hip_bfloat16 value) {
    return ::ks::atomic_update(address, [value](__hip_bfloat16 before) { return before + value; });
}
static KS_INLINE __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162 *address, __hip_bfloat162 value) {
    return atomicAdd(address, value);
}
