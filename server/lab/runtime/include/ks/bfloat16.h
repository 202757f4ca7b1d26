// bfloat16: the upper half of a float. __hip_bfloat16 and __hip_bfloat162 as HIP 6 has them.
//
// Arithmetic is float's, rounded to the nearest, as MI300 does it (which has no instructions for bfloat16 outside of
// matrices). Functions by name are in the header that stands at the end.
#pragma once
#pragma clang system_header
#include <ks/rounding.h>
#include <ks/vector_types.h>
#include <type_traits>

namespace ks {

static KS_INLINE constexpr float bfloat16_to_float(unsigned short bits) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}
#ifdef KS_TRACE
extern "C" KS_TRACE_CONSTANT unsigned short ks_op_cvt_bf16_f32(float x);
#endif
/// To the nearest, ties to even. A NaN keeps its upper bits; where those are all zero it gets the lowest one.
static KS_INLINE constexpr unsigned short rounded_to_bfloat16(float x) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, x);
    const bool finite = (~bits & 0x7f800000u) != 0;
    const uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1);
    const uint32_t kept = bits | ((bits & 0xffffu) != 0 ? 0x10000u : 0);
    return static_cast<unsigned short>((finite ? rounded : kept) >> 16);
}
static KS_INLINE constexpr unsigned short float_to_bfloat16(float x) {
#ifdef KS_TRACE
    if (!__builtin_is_constant_evaluated()) return ks_op_cvt_bf16_f32(x);
#endif
    return rounded_to_bfloat16(x);
}

} // namespace ks

struct __attribute__((aligned(2))) __hip_bfloat16_raw {
    unsigned short x;
};
struct __attribute__((aligned(4))) __hip_bfloat162_raw {
    unsigned short x, y;
};

struct __attribute__((aligned(2))) __hip_bfloat16 {
    __hip_bfloat16() = default;
    constexpr __hip_bfloat16(float value) : __x(::ks::float_to_bfloat16(value)) {}
    constexpr __hip_bfloat16(double value) : __x(::ks::float_to_bfloat16(::ks::to_float_odd(value))) {}
    constexpr __hip_bfloat16(int value) : __hip_bfloat16(static_cast<double>(value)) {}
    constexpr __hip_bfloat16(unsigned value) : __hip_bfloat16(static_cast<double>(value)) {}
    constexpr __hip_bfloat16(short value) : __hip_bfloat16(static_cast<float>(value)) {}
    constexpr __hip_bfloat16(unsigned short value) : __hip_bfloat16(static_cast<float>(value)) {}
    constexpr __hip_bfloat16(const __hip_bfloat16_raw &raw) : __x(raw.x) {}

    constexpr operator __hip_bfloat16_raw() const { return {__x}; }
    operator __hip_bfloat16_raw() const volatile { return {__x}; }
    __hip_bfloat16 &operator=(const __hip_bfloat16_raw &raw) {
        __x = raw.x;
        return *this;
    }
    void operator=(const __hip_bfloat16_raw &raw) volatile { __x = raw.x; }
    void operator=(const volatile __hip_bfloat16_raw &raw) volatile { __x = raw.x; }

    constexpr operator float() const { return ::ks::bfloat16_to_float(__x); }
    constexpr operator bool() const { return (__x & 0x7fff) != 0; }
#define KS_BFLOAT16_TO(T)                                                                                              \
    constexpr operator T() const { return static_cast<T>(::ks::bfloat16_to_float(__x)); }
    KS_BFLOAT16_TO(char)
    KS_BFLOAT16_TO(signed char)
    KS_BFLOAT16_TO(unsigned char)
    KS_BFLOAT16_TO(short)
    KS_BFLOAT16_TO(unsigned short)
    KS_BFLOAT16_TO(int)
    KS_BFLOAT16_TO(unsigned)
    KS_BFLOAT16_TO(long)
    KS_BFLOAT16_TO(unsigned long)
    KS_BFLOAT16_TO(long long)
    KS_BFLOAT16_TO(unsigned long long)
#undef KS_BFLOAT16_TO

  protected:
    unsigned short __x;
};

struct __attribute__((aligned(4))) __hip_bfloat162 {
    __hip_bfloat16 x, y;

    __hip_bfloat162() = default;
    constexpr __hip_bfloat162(const __hip_bfloat16 &x_, const __hip_bfloat16 &y_) : x(x_), y(y_) {}
    constexpr __hip_bfloat162(const __hip_bfloat162_raw &raw)
        : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}
    constexpr operator __hip_bfloat162_raw() const {
        return {static_cast<__hip_bfloat16_raw>(x).x, static_cast<__hip_bfloat16_raw>(y).x};
    }
    constexpr operator float2() const { return {static_cast<float>(x), static_cast<float>(y)}; }
    __hip_bfloat162 &operator=(const __hip_bfloat162_raw &raw) { return *this = __hip_bfloat162(raw); }
};
static_assert(sizeof(__hip_bfloat16) == 2 && sizeof(__hip_bfloat162) == 4 &&
              std::is_trivially_copyable_v<__hip_bfloat162>);

static KS_INLINE __hip_bfloat16 operator+(const __hip_bfloat16 &a) { return a; }
static KS_INLINE __hip_bfloat16 operator-(const __hip_bfloat16 &a) {
    return __hip_bfloat16_raw{static_cast<unsigned short>(static_cast<__hip_bfloat16_raw>(a).x ^ 0x8000)};
}
static KS_INLINE __hip_bfloat162 operator+(const __hip_bfloat162 &a) { return a; }
static KS_INLINE __hip_bfloat162 operator-(const __hip_bfloat162 &a) { return {-a.x, -a.y}; }
#define KS_BFLOAT16_OPERATOR(OP)                                                                                       \
    static KS_INLINE __hip_bfloat16 operator OP(const __hip_bfloat16 &a, const __hip_bfloat16 &b) {                    \
        return static_cast<float>(a) OP static_cast<float>(b);                                                         \
    }                                                                                                                  \
    static KS_INLINE __hip_bfloat16 &operator OP##=(__hip_bfloat16 &a, const __hip_bfloat16 &b) { return a = a OP b; } \
    static KS_INLINE __hip_bfloat162 operator OP(const __hip_bfloat162 &a, const __hip_bfloat162 &b) {                 \
        return {a.x OP b.x, a.y OP b.y};                                                                               \
    }                                                                                                                  \
    static KS_INLINE __hip_bfloat162 &operator OP##=(__hip_bfloat162 &a, const __hip_bfloat162 &b) {                   \
        return a = a OP b;                                                                                             \
    }
KS_BFLOAT16_OPERATOR(+)
KS_BFLOAT16_OPERATOR(-)
KS_BFLOAT16_OPERATOR(*)
KS_BFLOAT16_OPERATOR(/)
#undef KS_BFLOAT16_OPERATOR
#define KS_BFLOAT16_COMPARISON(OP)                                                                                     \
    static KS_INLINE bool operator OP(const __hip_bfloat16 &a, const __hip_bfloat16 &b) {                              \
        return static_cast<float>(a) OP static_cast<float>(b);                                                         \
    }
KS_BFLOAT16_COMPARISON(==)
KS_BFLOAT16_COMPARISON(!=)
KS_BFLOAT16_COMPARISON(<)
KS_BFLOAT16_COMPARISON(<=)
KS_BFLOAT16_COMPARISON(>)
KS_BFLOAT16_COMPARISON(>=)
#undef KS_BFLOAT16_COMPARISON
// A comparison of pairs holds where it holds for both; unequal is the negation of equal.
#define KS_BFLOAT16_PAIRS(OP)                                                                                          \
    static KS_INLINE bool operator OP(const __hip_bfloat162 &a, const __hip_bfloat162 &b) {                            \
        return a.x OP b.x && a.y OP b.y;                                                                               \
    }
KS_BFLOAT16_PAIRS(==)
KS_BFLOAT16_PAIRS(<)
KS_BFLOAT16_PAIRS(<=)
KS_BFLOAT16_PAIRS(>)
KS_BFLOAT16_PAIRS(>=)
#undef KS_BFLOAT16_PAIRS
static KS_INLINE bool operator!=(const __hip_bfloat162 &a, const __hip_bfloat162 &b) { return !(a == b); }

#define KS_BFLOAT16_STEP(T, ONE, OP)                                                                                   \
    static KS_INLINE T &operator OP##OP(T &a) { return a OP##= ONE; }                                                  \
    static KS_INLINE T operator OP##OP(T &a, int) {                                                                    \
        const T before = a;                                                                                            \
        a OP##= ONE;                                                                                                   \
        return before;                                                                                                 \
    }
KS_BFLOAT16_STEP(__hip_bfloat16, __hip_bfloat16(1.0f), +)
KS_BFLOAT16_STEP(__hip_bfloat16, __hip_bfloat16(1.0f), -)
KS_BFLOAT16_STEP(__hip_bfloat162, __hip_bfloat162(1.0f, 1.0f), +)
KS_BFLOAT16_STEP(__hip_bfloat162, __hip_bfloat162(1.0f, 1.0f), -)
#undef KS_BFLOAT16_STEP

#include <ks/bfloat16_functions.h>
