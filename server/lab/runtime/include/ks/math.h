// Mathematical functions. Those of <math.h> are the host's; here are HIP's further ones and its fast intrinsics.
// A fast intrinsic is at least as accurate here as on a device.
#pragma once
#pragma clang system_header
#include <ks/qualifiers.h>
#include <ks/trace.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

namespace ks {

template <class To, class From> static KS_INLINE To reinterpret(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    memcpy(&result, &value, sizeof result);
    return result;
}

double normcdf(double x);
double normcdfinv(double p);
double erfcinv(double y);
double erfinv(double y);
double erfcx(double x);
double bessel_i0(double x);
double bessel_i1(double x);

} // namespace ks

// glibc declares some of these names with C linkage and does not define them; an inline definition with the same
// linkage and promise not to throw completes them.
#define KS_FAST_1(NAME, EXPRESSION)                                                                                    \
    KS_OPERATION(extern "C", float, NAME, (float x), (x), EXPRESSION)
KS_FAST_1(__expf, expf(x))
KS_FAST_1(__exp10f, exp10f(x))
KS_FAST_1(__logf, logf(x))
KS_FAST_1(__log2f, log2f(x))
KS_FAST_1(__log10f, log10f(x))
KS_FAST_1(__sinf, sinf(x))
KS_FAST_1(__cosf, cosf(x))
KS_FAST_1(__tanf, tanf(x))
KS_FAST_1(__saturatef, x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x != x ? 0.0f : x)
#undef KS_FAST_1
KS_OPERATION(extern "C", float, __powf, (float x, float y), (x, y), powf(x, y))
KS_OPERATION(static, float, __fdividef, (float x, float y), (x, y), x / y)
KS_OPERATION(static, float, fdividef, (float x, float y), (x, y), x / y)
#ifdef KS_TRACE
// Results in memory would be accesses.
#define KS_REPLACE extern "C" inline __attribute__((gnu_inline, always_inline))
KS_REPLACE void sincosf(float x, float *sine, float *cosine) noexcept {
    *sine = sinf(x);
    *cosine = cosf(x);
}
KS_REPLACE void sincos(double x, double *sine, double *cosine) noexcept {
    *sine = sin(x);
    *cosine = cos(x);
}
#undef KS_REPLACE
extern "C" KS_INLINE void __sincosf(float x, float *sine, float *cosine) noexcept {
    *sine = __sinf(x);
    *cosine = __cosf(x);
}
#else
extern "C" KS_INLINE void __sincosf(float x, float *sine, float *cosine) noexcept { sincosf(x, sine, cosine); }
#endif

// Arithmetic with a named rounding. To nearest is how the host rounds; the others are not provided.
#define KS_ROUNDED(T, PREFIX, ROOT)                                                                                    \
    static KS_INLINE T PREFIX##add_rn(T x, T y) { return x + y; }                                                      \
    static KS_INLINE T PREFIX##sub_rn(T x, T y) { return x - y; }                                                      \
    static KS_INLINE T PREFIX##mul_rn(T x, T y) { return x * y; }                                                      \
    static KS_INLINE T PREFIX##div_rn(T x, T y) { return x / y; }                                                      \
    static KS_INLINE T PREFIX##rcp_rn(T x) { return T(1) / x; }                                                        \
    static KS_INLINE T PREFIX##sqrt_rn(T x) { return ROOT(x); }
KS_ROUNDED(float, __f, __builtin_sqrtf)
KS_ROUNDED(double, __d, __builtin_sqrt)
#undef KS_ROUNDED
KS_OPERATION(static, float, __frsqrt_rn, (float x), (x), 1.0f / __builtin_sqrtf(x))
static KS_INLINE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static KS_INLINE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }

// What HIP has beyond C's mathematics.
KS_OPERATION(static, float, rsqrtf, (float x), (x), 1.0f / __builtin_sqrtf(x))
KS_OPERATION(static, double, rsqrt, (double x), (x), 1.0 / __builtin_sqrt(x))
static KS_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static KS_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
static KS_INLINE float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
static KS_INLINE double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
static KS_INLINE float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
static KS_INLINE double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
static KS_INLINE float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
static KS_INLINE double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
static KS_INLINE float norm4df(float x, float y, float z, float w) { return sqrtf(x * x + y * y + z * z + w * w); }
static KS_INLINE double norm4d(double x, double y, double z, double w) { return sqrt(x * x + y * y + z * z + w * w); }
static KS_INLINE float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
static KS_INLINE double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
static KS_INLINE double norm(int n, const double *v) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += v[i] * v[i];
    return sqrt(sum);
}
static KS_INLINE float normf(int n, const float *v) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += v[i] * v[i];
    return sqrtf(sum);
}
static KS_INLINE double rnorm(int n, const double *v) { return 1.0 / norm(n, v); }
static KS_INLINE float rnormf(int n, const float *v) { return 1.0f / normf(n, v); }
KS_OPERATION(static, double, sinpi, (double x), (x), sin(M_PI * fmod(x, 2.0)))
KS_OPERATION(static, double, cospi, (double x), (x), cos(M_PI * fmod(x, 2.0)))
KS_OPERATION(static, float, sinpif, (float x), (x), static_cast<float>(sinpi(x)))
KS_OPERATION(static, float, cospif, (float x), (x), static_cast<float>(cospi(x)))
static KS_INLINE void sincospi(double x, double *sine, double *cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
static KS_INLINE void sincospif(float x, float *sine, float *cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
static inline double normcdf(double x) { return ::ks::normcdf(x); }
static inline float normcdff(float x) { return static_cast<float>(::ks::normcdf(x)); }
static inline double normcdfinv(double p) { return ::ks::normcdfinv(p); }
static inline float normcdfinvf(float p) { return static_cast<float>(::ks::normcdfinv(p)); }
static inline double erfinv(double y) { return ::ks::erfinv(y); }
static inline float erfinvf(float y) { return static_cast<float>(::ks::erfinv(y)); }
static inline double erfcinv(double y) { return ::ks::erfcinv(y); }
static inline float erfcinvf(float y) { return static_cast<float>(::ks::erfcinv(y)); }
static inline double erfcx(double x) { return ::ks::erfcx(x); }
static inline float erfcxf(float x) { return static_cast<float>(::ks::erfcx(x)); }
static inline double cyl_bessel_i0(double x) { return ::ks::bessel_i0(x); }
static inline float cyl_bessel_i0f(float x) { return static_cast<float>(::ks::bessel_i0(x)); }
static inline double cyl_bessel_i1(double x) { return ::ks::bessel_i1(x); }
static inline float cyl_bessel_i1f(float x) { return static_cast<float>(::ks::bessel_i1(x)); }

// min and max for numbers of any mixture, as device code has them without std::.
#define KS_MIN_MAX(T)                                                                                                  \
    static KS_INLINE constexpr T min(T a, T b) { return b < a ? b : a; }                                               \
    static KS_INLINE constexpr T max(T a, T b) { return a < b ? b : a; }
KS_MIN_MAX(int)
KS_MIN_MAX(unsigned)
KS_MIN_MAX(long)
KS_MIN_MAX(unsigned long)
KS_MIN_MAX(long long)
KS_MIN_MAX(unsigned long long)
#undef KS_MIN_MAX
// A NaN loses against a number, as fminf and fmaxf have it.
static KS_INLINE float min(float a, float b) { return fminf(a, b); }
static KS_INLINE float max(float a, float b) { return fmaxf(a, b); }
static KS_INLINE double min(double a, double b) { return fmin(a, b); }
static KS_INLINE double max(double a, double b) { return fmax(a, b); }
#define KS_MIN_MAX_MIXED(A, B, R)                                                                                      \
    static KS_INLINE R min(A a, B b) { return min(static_cast<R>(a), static_cast<R>(b)); }                             \
    static KS_INLINE R min(B a, A b) { return min(static_cast<R>(a), static_cast<R>(b)); }                             \
    static KS_INLINE R max(A a, B b) { return max(static_cast<R>(a), static_cast<R>(b)); }                             \
    static KS_INLINE R max(B a, A b) { return max(static_cast<R>(a), static_cast<R>(b)); }
KS_MIN_MAX_MIXED(int, unsigned, unsigned)
KS_MIN_MAX_MIXED(int, long, long)
KS_MIN_MAX_MIXED(int, unsigned long, unsigned long)
KS_MIN_MAX_MIXED(int, long long, long long)
KS_MIN_MAX_MIXED(int, unsigned long long, unsigned long long)
KS_MIN_MAX_MIXED(unsigned, unsigned long, unsigned long)
KS_MIN_MAX_MIXED(unsigned, unsigned long long, unsigned long long)
KS_MIN_MAX_MIXED(long, unsigned long, unsigned long)
KS_MIN_MAX_MIXED(long long, unsigned long long, unsigned long long)
KS_MIN_MAX_MIXED(float, double, double)
KS_MIN_MAX_MIXED(int, float, float)
KS_MIN_MAX_MIXED(int, double, double)
#undef KS_MIN_MAX_MIXED

// With the type named, as in max<short>(a, b): without it the functions above are taken. std::max<T>, where a program has all of
// std, fits better than these.
namespace ks {
template <class T> struct Named {
    T value;
    constexpr Named(T v) : value(v) {}
};
} // namespace ks
template <class T> static KS_INLINE constexpr T min(::ks::Named<T> a, ::ks::Named<T> b) { return b.value < a.value ? b.value : a.value; }
template <class T> static KS_INLINE constexpr T max(::ks::Named<T> a, ::ks::Named<T> b) { return a.value < b.value ? b.value : a.value; }
