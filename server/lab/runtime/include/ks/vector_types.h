// char1 .. double4 with HIP's alignment, constructors and operators (element by element; == and != compare whole).
#pragma once
#pragma clang system_header
#include <ks/qualifiers.h>
#include <type_traits>

/// The elements, by name and as a vector of the compiler. Two and four are aligned to their whole size, as on AMD devices;
/// three are packed. Libraries specialise this for more elements and for types of their own, then with `data` alone.
template <class T, unsigned n> struct HIP_vector_base;
#define KS_VECTOR_BASE(COUNT, ALIGNMENT, NATIVE, ...)                                                                  \
    template <class T> struct ALIGNMENT HIP_vector_base<T, COUNT> {                                                    \
        typedef NATIVE;                                                                                                \
        union {                                                                                                        \
            struct {                                                                                                   \
                T __VA_ARGS__;                                                                                         \
            };                                                                                                         \
            Native_vec_ data;                                                                                          \
        };                                                                                                             \
    };
KS_VECTOR_BASE(1, , T Native_vec_ __attribute__((ext_vector_type(1))), x)
KS_VECTOR_BASE(2, alignas(2 * sizeof(T)), T Native_vec_ __attribute__((ext_vector_type(2))), x, y)
KS_VECTOR_BASE(3, , T Native_vec_[3], x, y, z)
KS_VECTOR_BASE(4, alignas(4 * sizeof(T)), T Native_vec_ __attribute__((ext_vector_type(4))), x, y, z, w)
#undef KS_VECTOR_BASE

template <class T, unsigned n> struct HIP_vector_type : HIP_vector_base<T, n> {
    using Base = HIP_vector_base<T, n>;
    using value_type = T;

    HIP_vector_type() = default;
    constexpr HIP_vector_type(const HIP_vector_type &) = default;
    constexpr HIP_vector_type &operator=(const HIP_vector_type &) = default;
    /// One value for all elements.
    template <class U, class = std::enable_if_t<(n > 1) && std::is_convertible_v<U, T>>>
    explicit constexpr HIP_vector_type(U all) : Base(broadcast(static_cast<T>(all))) {}
    /// A value for each element.
    template <class... U, class = std::enable_if_t<sizeof...(U) == n && (std::is_convertible_v<U, T> && ...)>,
              class = void>
    constexpr HIP_vector_type(U... elements) : Base{static_cast<T>(elements)...} {}

    constexpr HIP_vector_type operator+() const { return *this; }
    constexpr HIP_vector_type operator-() const {
        return map(*this, [](T a) { return static_cast<T>(-a); });
    }
    template <class U = T, class = std::enable_if_t<std::is_integral_v<U>>>
    constexpr HIP_vector_type operator~() const {
        return map(*this, [](T a) { return static_cast<T>(~a); });
    }
    HIP_vector_type &operator++() noexcept { return *this = zip(*this, one(), [](T a, T b) { return T(a + b); }); }
    HIP_vector_type &operator--() noexcept { return *this = zip(*this, one(), [](T a, T b) { return T(a - b); }); }
    HIP_vector_type operator++(int) {
        const HIP_vector_type before = *this;
        ++*this;
        return before;
    }
    HIP_vector_type operator--(int) {
        const HIP_vector_type before = *this;
        --*this;
        return before;
    }

    /// All elements `value`; also for one element, where the constructor means something else.
    static constexpr HIP_vector_type broadcast(T value) {
        HIP_vector_type v{};
        if constexpr (n > 4) {
            for (unsigned i = 0; i < n; ++i) v.data[i] = value;
        } else {
            v.x = value;
            if constexpr (n > 1) v.y = value;
            if constexpr (n > 2) v.z = value;
            if constexpr (n > 3) v.w = value;
        }
        return v;
    }
    template <class F> static KS_INLINE constexpr HIP_vector_type map(const HIP_vector_type &a, F f) {
        HIP_vector_type v{};
        if constexpr (n > 4) {
            for (unsigned i = 0; i < n; ++i) v.data[i] = f(a.data[i]);
        } else {
            v.x = f(a.x);
            if constexpr (n > 1) v.y = f(a.y);
            if constexpr (n > 2) v.z = f(a.z);
            if constexpr (n > 3) v.w = f(a.w);
        }
        return v;
    }
    template <class F>
    static KS_INLINE constexpr HIP_vector_type zip(const HIP_vector_type &a, const HIP_vector_type &b, F f) {
        HIP_vector_type v{};
        if constexpr (n > 4) {
            for (unsigned i = 0; i < n; ++i) v.data[i] = f(a.data[i], b.data[i]);
        } else {
            v.x = f(a.x, b.x);
            if constexpr (n > 1) v.y = f(a.y, b.y);
            if constexpr (n > 2) v.z = f(a.z, b.z);
            if constexpr (n > 3) v.w = f(a.w, b.w);
        }
        return v;
    }

  private:
    static constexpr HIP_vector_type one() { return broadcast(static_cast<T>(1)); }
};

template <class T, unsigned n>
constexpr bool operator==(const HIP_vector_type<T, n> &a, const HIP_vector_type<T, n> &b) {
    if constexpr (n > 4) {
        for (unsigned i = 0; i < n; ++i) {
            if (!(a.data[i] == b.data[i])) return false;
        }
        return true;
    } else {
        bool same = a.x == b.x;
        if constexpr (n > 1) same = same && a.y == b.y;
        if constexpr (n > 2) same = same && a.z == b.z;
        if constexpr (n > 3) same = same && a.w == b.w;
        return same;
    }
}
template <class T, unsigned n>
constexpr bool operator!=(const HIP_vector_type<T, n> &a, const HIP_vector_type<T, n> &b) {
    return !(a == b);
}
#define KS_COMPARE_WITH_SCALAR(OP)                                                                                     \
    template <class T, unsigned n, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>                         \
    constexpr bool operator OP(const HIP_vector_type<T, n> &a, U b) {                                                  \
        return a OP HIP_vector_type<T, n>::broadcast(static_cast<T>(b));                                               \
    }                                                                                                                  \
    template <class T, unsigned n, class U, class = std::enable_if_t<std::is_arithmetic_v<U>>>                         \
    constexpr bool operator OP(U a, const HIP_vector_type<T, n> &b) {                                                  \
        return HIP_vector_type<T, n>::broadcast(static_cast<T>(a)) OP b;                                               \
    }
KS_COMPARE_WITH_SCALAR(==)
KS_COMPARE_WITH_SCALAR(!=)
#undef KS_COMPARE_WITH_SCALAR

// vector OP vector, vector OP scalar, scalar OP vector, and OP=. A scalar becomes the element type first.
#define KS_VECTOR_OPERATOR(OP, CONDITION)                                                                              \
    template <class T, unsigned n, class = std::enable_if_t<CONDITION>>                                                \
    KS_INLINE constexpr HIP_vector_type<T, n> operator OP(const HIP_vector_type<T, n> &a,                              \
                                                          const HIP_vector_type<T, n> &b) {                            \
        return HIP_vector_type<T, n>::zip(a, b, [](T p, T q) { return static_cast<T>(p OP q); });                      \
    }                                                                                                                  \
    template <class T, unsigned n, class U, class = std::enable_if_t<(CONDITION) && std::is_arithmetic_v<U>>>          \
    KS_INLINE constexpr HIP_vector_type<T, n> operator OP(const HIP_vector_type<T, n> &a, U b) {                       \
        return a OP HIP_vector_type<T, n>::broadcast(static_cast<T>(b));                                               \
    }                                                                                                                  \
    template <class T, unsigned n, class U, class = std::enable_if_t<(CONDITION) && std::is_arithmetic_v<U>>>          \
    KS_INLINE constexpr HIP_vector_type<T, n> operator OP(U a, const HIP_vector_type<T, n> &b) {                       \
        return HIP_vector_type<T, n>::broadcast(static_cast<T>(a)) OP b;                                               \
    }                                                                                                                  \
    template <class T, unsigned n, class U, class = std::enable_if_t<CONDITION>>                                       \
    KS_INLINE constexpr HIP_vector_type<T, n> &operator OP##=(HIP_vector_type<T, n> &a, const U &b) {                  \
        return a = a OP b;                                                                                             \
    }
KS_VECTOR_OPERATOR(+, true)
KS_VECTOR_OPERATOR(-, true)
KS_VECTOR_OPERATOR(*, true)
KS_VECTOR_OPERATOR(/, true)
KS_VECTOR_OPERATOR(%, std::is_integral_v<T>)
KS_VECTOR_OPERATOR(&, std::is_integral_v<T>)
KS_VECTOR_OPERATOR(|, std::is_integral_v<T>)
KS_VECTOR_OPERATOR(^, std::is_integral_v<T>)
KS_VECTOR_OPERATOR(<<, std::is_integral_v<T>)
KS_VECTOR_OPERATOR(>>, std::is_integral_v<T>)
#undef KS_VECTOR_OPERATOR

#define KS_VECTOR_TYPES(T, name)                                                                                       \
    using name##1 = HIP_vector_type<T, 1>;                                                                             \
    using name##2 = HIP_vector_type<T, 2>;                                                                             \
    using name##3 = HIP_vector_type<T, 3>;                                                                             \
    using name##4 = HIP_vector_type<T, 4>;                                                                             \
    static KS_INLINE constexpr name##1 make_##name##1(T x) { return name##1{x}; }                                      \
    static KS_INLINE constexpr name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                              \
    static KS_INLINE constexpr name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }                      \
    static KS_INLINE constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
KS_VECTOR_TYPES(signed char, char)
KS_VECTOR_TYPES(unsigned char, uchar)
KS_VECTOR_TYPES(short, short)
KS_VECTOR_TYPES(unsigned short, ushort)
KS_VECTOR_TYPES(int, int)
KS_VECTOR_TYPES(unsigned, uint)
KS_VECTOR_TYPES(long, long)
KS_VECTOR_TYPES(unsigned long, ulong)
KS_VECTOR_TYPES(long long, longlong)
KS_VECTOR_TYPES(unsigned long long, ulonglong)
KS_VECTOR_TYPES(float, float)
KS_VECTOR_TYPES(double, double)
#undef KS_VECTOR_TYPES

// HIP's short name beside the C library's ushort, uint and ulong.
typedef unsigned char uchar;
