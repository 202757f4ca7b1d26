// Mathematics of clang's _Float16, and integer powers, as hipcc's headers have them for device code.
#pragma once
#pragma clang system_header
#include <ks/rounding.h>
#include <type_traits>

namespace ks {

template <class... T> inline constexpr bool kAllFloat16 = (std::is_same_v<T, _Float16> && ...);
template <class... T> inline constexpr bool kSomeFloat16 = (std::is_same_v<T, _Float16> || ...);
template <class... T>
inline constexpr bool kAllNumbers = ((std::is_arithmetic_v<T> || std::is_same_v<T, _Float16>) && ...);

} // namespace ks

// Templates, so that a program's own function of the name is another one and goes first.
template <class = void> static KS_INLINE float powif(float x, int n) { return __builtin_powif(x, n); }
template <class = void> static KS_INLINE double powi(double x, int n) { return __builtin_powi(x, n); }
static KS_INLINE _Float16 pow(_Float16 x, int n) {
    return static_cast<_Float16>(__builtin_powif(static_cast<float>(x), n));
}

/// One rounding: double holds the product exactly, and of the sum all that can matter.
static KS_INLINE _Float16 fma(_Float16 x, _Float16 y, _Float16 z) {
#ifdef KS_TRACE
    return __builtin_bit_cast(_Float16, ks_op_fma_f16(__builtin_bit_cast(unsigned short, x), __builtin_bit_cast(unsigned short, y),
                                                      __builtin_bit_cast(unsigned short, z)));
#endif
    const double sum = static_cast<double>(x) * static_cast<double>(y) + static_cast<double>(z);
    return static_cast<_Float16>(::ks::to_float_odd(sum));
}
/// Halves and other numbers together count as doubles, as <cmath> has it for float and int.
template <class X, class Y, class Z,
          class = std::enable_if_t<::ks::kSomeFloat16<X, Y, Z> && !::ks::kAllFloat16<X, Y, Z> && ::ks::kAllNumbers<X, Y, Z>>>
static KS_INLINE double fma(X x, Y y, Z z) {
    return __builtin_fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
}
