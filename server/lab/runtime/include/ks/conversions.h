// Conversions with a named rounding, and bit patterns as numbers.
#pragma once
#pragma clang system_header
#include <ks/math.h>
#include <limits>

namespace ks {

/// To an integer; out of range gives the nearest end and NaN gives 0, as the device's instructions do.
template <class I, class F> static KS_INLINE I to_integer(F rounded) {
    if (rounded != rounded) return 0;
    // The ends as floating-point numbers: the upper one is the first that no longer fits.
    constexpr F low = static_cast<F>(std::numeric_limits<I>::min());
    constexpr F high = static_cast<F>(std::numeric_limits<I>::max() / 2 + 1) * 2;
    return rounded < low ? std::numeric_limits<I>::min()
                         : rounded >= high ? std::numeric_limits<I>::max() : static_cast<I>(rounded);
}

} // namespace ks

#define KS_TO_INTEGER(FROM, TO, F, I, SUFFIX, ROUND)                                                                   \
    static KS_INLINE I __##FROM##2##TO##_##SUFFIX(F x) { return ::ks::to_integer<I>(ROUND(x)); }
#define KS_TO_INTEGER_ALL(FROM, F, SUFFIX, ROUND)                                                                      \
    KS_TO_INTEGER(FROM, int, F, int, SUFFIX, ROUND)                                                                    \
    KS_TO_INTEGER(FROM, uint, F, unsigned, SUFFIX, ROUND)                                                              \
    KS_TO_INTEGER(FROM, ll, F, long long, SUFFIX, ROUND)                                                               \
    KS_TO_INTEGER(FROM, ull, F, unsigned long long, SUFFIX, ROUND)
KS_TO_INTEGER_ALL(float, float, rd, __builtin_floorf)
KS_TO_INTEGER_ALL(float, float, ru, __builtin_ceilf)
KS_TO_INTEGER_ALL(float, float, rz, __builtin_truncf)
KS_TO_INTEGER_ALL(float, float, rn, __builtin_rintf)
KS_TO_INTEGER_ALL(double, double, rd, __builtin_floor)
KS_TO_INTEGER_ALL(double, double, ru, __builtin_ceil)
KS_TO_INTEGER_ALL(double, double, rz, __builtin_trunc)
KS_TO_INTEGER_ALL(double, double, rn, __builtin_rint)
#undef KS_TO_INTEGER_ALL
#undef KS_TO_INTEGER

static KS_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
static KS_INLINE float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
static KS_INLINE float __ll2float_rn(long long x) { return static_cast<float>(x); }
static KS_INLINE float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
static KS_INLINE double __int2double_rn(int x) { return x; }
static KS_INLINE double __uint2double_rn(unsigned x) { return x; }
static KS_INLINE double __ll2double_rn(long long x) { return static_cast<double>(x); }
static KS_INLINE double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
static KS_INLINE float __double2float_rn(double x) { return static_cast<float>(x); }

static KS_INLINE int __float_as_int(float x) { return ::ks::reinterpret<int>(x); }
static KS_INLINE unsigned __float_as_uint(float x) { return ::ks::reinterpret<unsigned>(x); }
static KS_INLINE float __int_as_float(int x) { return ::ks::reinterpret<float>(x); }
static KS_INLINE float __uint_as_float(unsigned x) { return ::ks::reinterpret<float>(x); }
static KS_INLINE long long __double_as_longlong(double x) { return ::ks::reinterpret<long long>(x); }
static KS_INLINE double __longlong_as_double(long long x) { return ::ks::reinterpret<double>(x); }
static KS_INLINE int __double2hiint(double x) { return static_cast<int>(::ks::reinterpret<uint64_t>(x) >> 32); }
static KS_INLINE int __double2loint(double x) { return static_cast<int>(::ks::reinterpret<uint64_t>(x)); }
static KS_INLINE double __hiloint2double(int high, int low) {
    return ::ks::reinterpret<double>(uint64_t{static_cast<unsigned>(high)} << 32 | static_cast<unsigned>(low));
}
