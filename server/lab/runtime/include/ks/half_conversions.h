// Conversions of __half and __half2, and how pairs are put together and taken apart. Included by half.h.
#pragma once
#pragma clang system_header
#include <ks/conversions.h>
#include <ks/half.h>

static KS_INLINE __half __float2half(float x) { return __half_raw{static_cast<_Float16>(x)}; }
static KS_INLINE __half __float2half_rn(float x) { return __float2half(x); }
static KS_INLINE __half __float2half_rz(float x) { return __half_raw{::ks::to_half<::ks::Towards::kZero>(x)}; }
static KS_INLINE __half __float2half_rd(float x) { return __half_raw{::ks::to_half<::ks::Towards::kDown>(x)}; }
static KS_INLINE __half __float2half_ru(float x) { return __half_raw{::ks::to_half<::ks::Towards::kUp>(x)}; }
static KS_INLINE __half __double2half(double x) { return __float2half(::ks::to_float_odd(x)); }
static KS_INLINE float __half2float(__half x) { return static_cast<float>(x.data); }

// To and from integers, rounded as the name says. (AMD's header of ROCm 6 does not look at the name there.) Out of range
// gives the nearest end and NaN gives 0. A half holds no more bits than float, and integers too long for a float are
// too large for a half, so the way through float rounds once.
#define KS_HALF_INTEGER(NAME, I)                                                                                       \
    static KS_INLINE I __half2##NAME##_rn(__half x) { return ::ks::to_integer<I>(__builtin_rintf(__half2float(x))); }  \
    static KS_INLINE I __half2##NAME##_rz(__half x) { return ::ks::to_integer<I>(__builtin_truncf(__half2float(x))); } \
    static KS_INLINE I __half2##NAME##_rd(__half x) { return ::ks::to_integer<I>(__builtin_floorf(__half2float(x))); } \
    static KS_INLINE I __half2##NAME##_ru(__half x) { return ::ks::to_integer<I>(__builtin_ceilf(__half2float(x))); }  \
    static KS_INLINE __half __##NAME##2half_rn(I x) { return __float2half(static_cast<float>(x)); }                    \
    static KS_INLINE __half __##NAME##2half_rz(I x) { return __float2half_rz(static_cast<float>(x)); }                 \
    static KS_INLINE __half __##NAME##2half_rd(I x) { return __float2half_rd(static_cast<float>(x)); }                 \
    static KS_INLINE __half __##NAME##2half_ru(I x) { return __float2half_ru(static_cast<float>(x)); }
KS_HALF_INTEGER(int, int)
KS_HALF_INTEGER(uint, unsigned)
KS_HALF_INTEGER(short, short)
KS_HALF_INTEGER(ushort, unsigned short)
KS_HALF_INTEGER(ll, long long)
KS_HALF_INTEGER(ull, unsigned long long)
#undef KS_HALF_INTEGER

static KS_INLINE short __half_as_short(__half x) { return ::ks::reinterpret<short>(x.data); }
static KS_INLINE unsigned short __half_as_ushort(__half x) { return ::ks::reinterpret<unsigned short>(x.data); }
static KS_INLINE __half __short_as_half(short x) { return __half_raw{::ks::reinterpret<_Float16>(x)}; }
static KS_INLINE __half __ushort_as_half(unsigned short x) { return __half_raw{::ks::reinterpret<_Float16>(x)}; }

static KS_INLINE __half2 __float2half2_rn(float x) { return __half2(__float2half(x)); }
static KS_INLINE __half2 __floats2half2_rn(float x, float y) { return {__float2half(x), __float2half(y)}; }
static KS_INLINE __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
static KS_INLINE float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }
static KS_INLINE float __low2float(__half2 v) { return __half2float(v.x); }
static KS_INLINE float __high2float(__half2 v) { return __half2float(v.y); }
static KS_INLINE __half __low2half(__half2 v) { return v.x; }
static KS_INLINE __half __high2half(__half2 v) { return v.y; }
static KS_INLINE __half2 __half2half2(__half x) { return __half2(x); }
static KS_INLINE __half2 __halves2half2(__half x, __half y) { return {x, y}; }
static KS_INLINE __half2 make_half2(__half x, __half y) { return {x, y}; }
static KS_INLINE __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
static KS_INLINE __half2 __low2half2(__half2 v) { return __half2(v.x); }
static KS_INLINE __half2 __high2half2(__half2 v) { return __half2(v.y); }
static KS_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
static KS_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
