// __half and __half2, on clang's _Float16. A name that is not here is a compile error that says so.
#pragma once
#pragma clang system_header
#include <ks/cross_lane.h>
#include <ks/math.h>
#include <ks/vector_types.h>
#include <type_traits>

struct __half_raw {
    unsigned short x;
};

struct __half {
    _Float16 data;

    __half() = default;
    constexpr __half(_Float16 value) : data(value) {}
    constexpr __half(float value) : data(static_cast<_Float16>(value)) {}
    constexpr __half(double value) : data(static_cast<_Float16>(value)) {}
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
    constexpr __half(I value) : data(static_cast<_Float16>(value)) {}
    __half(__half_raw raw) : data(::ks::reinterpret<_Float16>(raw.x)) {}

    constexpr operator float() const { return static_cast<float>(data); }
    constexpr operator _Float16() const { return data; }
    operator __half_raw() const { return {::ks::reinterpret<unsigned short>(data)}; }

    constexpr __half operator-() const { return {static_cast<_Float16>(-data)}; }
    constexpr __half operator+() const { return *this; }
    constexpr bool operator!() const { return data == 0; }
    constexpr __half &operator+=(__half b) { return *this = __half(static_cast<_Float16>(data + b.data)); }
    constexpr __half &operator-=(__half b) { return *this = __half(static_cast<_Float16>(data - b.data)); }
    constexpr __half &operator*=(__half b) { return *this = __half(static_cast<_Float16>(data * b.data)); }
    constexpr __half &operator/=(__half b) { return *this = __half(static_cast<_Float16>(data / b.data)); }
    constexpr __half &operator++() { return *this += __half(static_cast<_Float16>(1)); }
    constexpr __half &operator--() { return *this -= __half(static_cast<_Float16>(1)); }
};
typedef __half half;

#define KS_HALF_OPERATOR(OP)                                                                                           \
    static KS_INLINE constexpr __half operator OP(__half a, __half b) {                                                \
        return {static_cast<_Float16>(a.data OP b.data)};                                                              \
    }                                                                                                                  \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                              \
    static KS_INLINE constexpr __half operator OP(__half a, T b) {                                                     \
        return a OP __half(b);                                                                                         \
    }                                                                                                                  \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                              \
    static KS_INLINE constexpr __half operator OP(T a, __half b) {                                                     \
        return __half(a) OP b;                                                                                         \
    }
KS_HALF_OPERATOR(+)
KS_HALF_OPERATOR(-)
KS_HALF_OPERATOR(*)
KS_HALF_OPERATOR(/)
#undef KS_HALF_OPERATOR
#define KS_HALF_COMPARISON(OP)                                                                                         \
    static KS_INLINE constexpr bool operator OP(__half a, __half b) { return a.data OP b.data; }                       \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                              \
    static KS_INLINE constexpr bool operator OP(__half a, T b) {                                                       \
        return a.data OP __half(b).data;                                                                               \
    }
KS_HALF_COMPARISON(==)
KS_HALF_COMPARISON(!=)
KS_HALF_COMPARISON(<)
KS_HALF_COMPARISON(<=)
KS_HALF_COMPARISON(>)
KS_HALF_COMPARISON(>=)
#undef KS_HALF_COMPARISON

struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    constexpr __half2(__half x_, __half y_) : x(x_), y(y_) {}
    explicit constexpr __half2(__half both) : x(both), y(both) {}
    constexpr __half2 operator-() const { return {-x, -y}; }
    constexpr __half2 &operator+=(__half2 b) { return *this = {x + b.x, y + b.y}; }
    constexpr __half2 &operator-=(__half2 b) { return *this = {x - b.x, y - b.y}; }
    constexpr __half2 &operator*=(__half2 b) { return *this = {x * b.x, y * b.y}; }
    constexpr __half2 &operator/=(__half2 b) { return *this = {x / b.x, y / b.y}; }
};
typedef __half2 half2;
#define KS_HALF2_OPERATOR(OP)                                                                                          \
    static KS_INLINE constexpr __half2 operator OP(__half2 a, __half2 b) { return {a.x OP b.x, a.y OP b.y}; }
KS_HALF2_OPERATOR(+)
KS_HALF2_OPERATOR(-)
KS_HALF2_OPERATOR(*)
KS_HALF2_OPERATOR(/)
#undef KS_HALF2_OPERATOR
static KS_INLINE constexpr bool operator==(__half2 a, __half2 b) { return a.x == b.x && a.y == b.y; }
static KS_INLINE constexpr bool operator!=(__half2 a, __half2 b) { return !(a == b); }

// Conversions.
static KS_INLINE __half __float2half(float x) { return {static_cast<_Float16>(x)}; }
static KS_INLINE __half __float2half_rn(float x) { return {static_cast<_Float16>(x)}; }
static KS_INLINE __half __double2half(double x) { return {static_cast<_Float16>(x)}; }
static KS_INLINE float __half2float(__half x) { return static_cast<float>(x.data); }
static KS_INLINE __half __int2half_rn(int x) { return {static_cast<_Float16>(x)}; }
static KS_INLINE __half __uint2half_rn(unsigned x) { return {static_cast<_Float16>(x)}; }
static KS_INLINE int __half2int_rn(__half x) { return static_cast<int>(rintf(__half2float(x))); }
static KS_INLINE int __half2int_rz(__half x) { return static_cast<int>(__half2float(x)); }
static KS_INLINE int __half2int_rd(__half x) { return static_cast<int>(floorf(__half2float(x))); }
static KS_INLINE int __half2int_ru(__half x) { return static_cast<int>(ceilf(__half2float(x))); }
static KS_INLINE unsigned __half2uint_rn(__half x) { return static_cast<unsigned>(rintf(__half2float(x))); }
static KS_INLINE unsigned __half2uint_rz(__half x) { return static_cast<unsigned>(__half2float(x)); }
static KS_INLINE short __half_as_short(__half x) { return ::ks::reinterpret<short>(x.data); }
static KS_INLINE unsigned short __half_as_ushort(__half x) { return ::ks::reinterpret<unsigned short>(x.data); }
static KS_INLINE __half __short_as_half(short x) { return {::ks::reinterpret<_Float16>(x)}; }
static KS_INLINE __half __ushort_as_half(unsigned short x) { return {::ks::reinterpret<_Float16>(x)}; }
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

// Arithmetic and comparisons.
static KS_INLINE __half __hadd(__half a, __half b) { return a + b; }
static KS_INLINE __half __hsub(__half a, __half b) { return a - b; }
static KS_INLINE __half __hmul(__half a, __half b) { return a * b; }
static KS_INLINE __half __hdiv(__half a, __half b) { return a / b; }
static KS_INLINE __half __hneg(__half a) { return -a; }
static KS_INLINE __half __habs(__half a) { return {static_cast<_Float16>(__builtin_fabsf(__half2float(a)))}; }
/// One rounding: a product of two halves is exact in float, and double holds the sum.
static KS_INLINE __half __hfma(__half a, __half b, __half c) {
    return {static_cast<_Float16>(static_cast<double>(a.data) * static_cast<double>(b.data) +
                                  static_cast<double>(c.data))};
}
static KS_INLINE __half __hmax(__half a, __half b) { return {static_cast<_Float16>(fmaxf(a, b))}; }
static KS_INLINE __half __hmin(__half a, __half b) { return {static_cast<_Float16>(fminf(a, b))}; }
static KS_INLINE bool __heq(__half a, __half b) { return a == b; }
static KS_INLINE bool __hne(__half a, __half b) { return a != b; }
static KS_INLINE bool __hlt(__half a, __half b) { return a < b; }
static KS_INLINE bool __hle(__half a, __half b) { return a <= b; }
static KS_INLINE bool __hgt(__half a, __half b) { return a > b; }
static KS_INLINE bool __hge(__half a, __half b) { return a >= b; }
static KS_INLINE bool __hisnan(__half a) { return a.data != a.data; }
static KS_INLINE bool __hisinf(__half a) { return __builtin_isinf(__half2float(a)); }
static KS_INLINE __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
static KS_INLINE __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
static KS_INLINE __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
static KS_INLINE __half2 __h2div(__half2 a, __half2 b) { return a / b; }
static KS_INLINE __half2 __hneg2(__half2 a) { return -a; }
static KS_INLINE __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }
static KS_INLINE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
static KS_INLINE __half2 __hmax2(__half2 a, __half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
static KS_INLINE __half2 __hmin2(__half2 a, __half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }

// Functions: computed in float, rounded once.
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
