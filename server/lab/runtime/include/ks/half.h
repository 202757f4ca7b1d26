// __half and __half2, on clang's _Float16. Their conversions and functions are in the two headers that stand at the
// end. A name that is not there is a compile error that says so.
#pragma once
#pragma clang system_header
#include <ks/math.h>
#include <ks/rounding.h>
#include <ks/vector_types.h>
#include <type_traits>

typedef _Float16 _Float16_2 __attribute__((ext_vector_type(2)));

/// A half for its bits: `x` is the bit pattern of `data`.
struct __half_raw {
    union {
        _Float16 data;
        unsigned short x;
    };
};
struct __half2_raw {
    union {
        struct {
            __half_raw x, y;
        };
        _Float16_2 data;
    };
};

namespace ks {

template <class T>
inline constexpr bool kIsNumber = __is_arithmetic(std::remove_cv_t<T>) || std::is_same_v<T, _Float16>;

} // namespace ks

/// The arithmetic below rounds each operation once: float holds the sum, product, quotient of two halves precisely
/// enough that rounding its result again changes nothing.
struct __half {
    _Float16 data;

    __half() = default;
    constexpr __half(const __half_raw &raw) : data(raw.data) {}
    operator __half_raw() const { return __half_raw{data}; }
    operator __half_raw() const volatile { return __half_raw{data}; }
    __half &operator=(const __half_raw &raw) {
        data = raw.data;
        return *this;
    }
    __half &operator=(const volatile __half_raw &raw) {
        data = raw.data;
        return *this;
    }
    __half &operator=(volatile __half_raw &&raw) {
        data = raw.data;
        return *this;
    }
    void operator=(const __half_raw &raw) volatile { data = raw.data; }

#ifndef __HIP_NO_HALF_CONVERSIONS__
    constexpr __half(_Float16 value) : data(value) {}
    constexpr __half(float value) : data(static_cast<_Float16>(value)) {}
    constexpr __half(double value) : data(static_cast<_Float16>(::ks::to_float_odd(value))) {}
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
    constexpr __half(I value) : data(static_cast<_Float16>(value)) {}

    constexpr operator float() const { return static_cast<float>(data); }
    constexpr operator _Float16() const { return data; }
    template <class I, class = std::enable_if_t<std::is_integral_v<I>>> constexpr operator I() const {
        return static_cast<I>(data);
    }
#endif

#ifndef __HIP_NO_HALF_OPERATORS__
    constexpr __half operator-() const { return __half_raw{static_cast<_Float16>(-data)}; }
    constexpr __half operator+() const { return *this; }
    constexpr bool operator!() const { return data == 0; }
#define KS_HALF_ASSIGNMENT(OP)                                                                                         \
    constexpr __half &operator OP##=(const __half &b) {                                                                \
        data = static_cast<_Float16>(data OP b.data);                                                                  \
        return *this;                                                                                                  \
    }
    KS_HALF_ASSIGNMENT(+)
    KS_HALF_ASSIGNMENT(-)
    KS_HALF_ASSIGNMENT(*)
    KS_HALF_ASSIGNMENT(/)
#undef KS_HALF_ASSIGNMENT
    constexpr __half &operator++() { return *this += __half_raw{1}; }
    constexpr __half &operator--() { return *this -= __half_raw{1}; }
    constexpr __half operator++(int) {
        const __half before = *this;
        ++*this;
        return before;
    }
    constexpr __half operator--(int) {
        const __half before = *this;
        --*this;
        return before;
    }
#endif
};

#ifndef __HIP_NO_HALF_OPERATORS__
#ifndef __HIP_NO_HALF_CONVERSIONS__
// With a number of another type, which becomes a half first.
#define KS_HALF_MIXED(RESULT, OP)                                                                                      \
    template <class T, class = std::enable_if_t<::ks::kIsNumber<T>>>                                                   \
    static KS_INLINE constexpr RESULT operator OP(const __half &a, T b) {                                              \
        return a OP __half(b);                                                                                         \
    }                                                                                                                  \
    template <class T, class = std::enable_if_t<::ks::kIsNumber<T>>>                                                   \
    static KS_INLINE constexpr RESULT operator OP(T a, const __half &b) {                                              \
        return __half(a) OP b;                                                                                         \
    }
#else
#define KS_HALF_MIXED(RESULT, OP)
#endif
#define KS_HALF_OPERATOR(OP)                                                                                           \
    static KS_INLINE constexpr __half operator OP(const __half &a, const __half &b) {                                  \
        return __half_raw{static_cast<_Float16>(a.data OP b.data)};                                                    \
    }                                                                                                                  \
    KS_HALF_MIXED(__half, OP)
KS_HALF_OPERATOR(+)
KS_HALF_OPERATOR(-)
KS_HALF_OPERATOR(*)
KS_HALF_OPERATOR(/)
#undef KS_HALF_OPERATOR
#define KS_HALF_COMPARISON(OP)                                                                                         \
    static KS_INLINE constexpr bool operator OP(const __half &a, const __half &b) { return a.data OP b.data; }         \
    KS_HALF_MIXED(bool, OP)
KS_HALF_COMPARISON(==)
KS_HALF_COMPARISON(!=)
KS_HALF_COMPARISON(<)
KS_HALF_COMPARISON(<=)
KS_HALF_COMPARISON(>)
KS_HALF_COMPARISON(>=)
#undef KS_HALF_COMPARISON
#undef KS_HALF_MIXED
#endif

struct __half2 {
    union {
        struct {
            __half x, y;
        };
        _Float16_2 data;
    };

    __half2() = default;
    constexpr __half2(const __half &x_, const __half &y_) : x(x_), y(y_) {}
    explicit constexpr __half2(const __half &both) : x(both), y(both) {}
    constexpr __half2(_Float16_2 both) : data(both) {}
    constexpr __half2(const __half2_raw &raw) : data(raw.data) {}
    operator __half2_raw() const {
        __half2_raw raw;
        raw.data = data;
        return raw;
    }
    operator _Float16_2() const { return data; }
    __half2 &operator=(const __half2_raw &raw) {
        data = raw.data;
        return *this;
    }

#ifndef __HIP_NO_HALF_OPERATORS__
    constexpr __half2 operator+() const { return *this; }
    constexpr __half2 operator-() const { return {-x, -y}; }
    constexpr __half2 &operator+=(const __half2 &b) { return *this = __half2(x + b.x, y + b.y); }
    constexpr __half2 &operator-=(const __half2 &b) { return *this = __half2(x - b.x, y - b.y); }
    constexpr __half2 &operator*=(const __half2 &b) { return *this = __half2(x * b.x, y * b.y); }
    constexpr __half2 &operator/=(const __half2 &b) { return *this = __half2(x / b.x, y / b.y); }
    constexpr __half2 &operator++() {
        ++x, ++y;
        return *this;
    }
    constexpr __half2 &operator--() {
        --x, --y;
        return *this;
    }
    constexpr __half2 operator++(int) {
        const __half2 before = *this;
        ++*this;
        return before;
    }
    constexpr __half2 operator--(int) {
        const __half2 before = *this;
        --*this;
        return before;
    }
#endif
};
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4 && std::is_trivially_copyable_v<__half2>);

#ifndef __HIP_NO_HALF_OPERATORS__
#define KS_HALF2_OPERATOR(OP)                                                                                          \
    static KS_INLINE constexpr __half2 operator OP(const __half2 &a, const __half2 &b) {                               \
        return {a.x OP b.x, a.y OP b.y};                                                                               \
    }
KS_HALF2_OPERATOR(+)
KS_HALF2_OPERATOR(-)
KS_HALF2_OPERATOR(*)
KS_HALF2_OPERATOR(/)
#undef KS_HALF2_OPERATOR
// A comparison of pairs holds where it holds for both halves; the negated ones are AMD's: the negation as a whole.
static KS_INLINE constexpr bool operator==(const __half2 &a, const __half2 &b) { return a.x == b.x && a.y == b.y; }
static KS_INLINE constexpr bool operator!=(const __half2 &a, const __half2 &b) { return !(a == b); }
static KS_INLINE constexpr bool operator<(const __half2 &a, const __half2 &b) { return a.x < b.x && a.y < b.y; }
static KS_INLINE constexpr bool operator>(const __half2 &a, const __half2 &b) { return b < a; }
static KS_INLINE constexpr bool operator<=(const __half2 &a, const __half2 &b) { return !(b < a); }
static KS_INLINE constexpr bool operator>=(const __half2 &a, const __half2 &b) { return !(a < b); }
#endif

#ifndef HIP_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif

#include <ks/half_conversions.h>
#include <ks/half_functions.h>
