// hip_bfloat16, HIP's older bfloat16: a plain number with a public pattern of bits.
#pragma once
#pragma clang system_header
#include <hip/hip_runtime.h>
#include <ks/bfloat16.h>
#include <ostream>

struct hip_bfloat16 {
    uint16_t data;

    enum truncate_t { truncate };

    hip_bfloat16() = default;
    explicit constexpr hip_bfloat16(float x) : data(::ks::float_to_bfloat16(x)) {}
    explicit constexpr hip_bfloat16(float x, truncate_t) : data(truncated(x)) {}
    constexpr operator float() const { return ::ks::bfloat16_to_float(data); }
    constexpr hip_bfloat16 &operator=(const float &x) {
        data = ::ks::float_to_bfloat16(x);
        return *this;
    }
    static constexpr hip_bfloat16 round_to_bfloat16(float x) { return hip_bfloat16(x); }
    static constexpr hip_bfloat16 round_to_bfloat16(float x, truncate_t) { return hip_bfloat16(x, truncate); }

  private:
    /// Cuts the lower half off; a NaN stays one.
    static constexpr uint16_t truncated(float x) {
        const uint32_t bits = __builtin_bit_cast(uint32_t, x);
        const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
        return static_cast<uint16_t>(bits >> 16 | (nan && (bits & 0xffffu) != 0 ? 1 : 0));
    }
};
static_assert(std::is_trivial_v<hip_bfloat16> && std::is_standard_layout_v<hip_bfloat16>);

typedef struct {
    uint16_t data;
} hip_bfloat16_public;

inline std::ostream &operator<<(std::ostream &out, const hip_bfloat16 &a) { return out << static_cast<float>(a); }

static KS_INLINE constexpr hip_bfloat16 operator+(hip_bfloat16 a) { return a; }
static KS_INLINE constexpr hip_bfloat16 operator-(hip_bfloat16 a) {
    a.data ^= 0x8000;
    return a;
}
#define KS_HIP_BFLOAT16_OPERATOR(OP)                                                                                   \
    static KS_INLINE constexpr hip_bfloat16 operator OP(hip_bfloat16 a, hip_bfloat16 b) {                              \
        return hip_bfloat16(static_cast<float>(a) OP static_cast<float>(b));                                           \
    }                                                                                                                  \
    static KS_INLINE constexpr hip_bfloat16 &operator OP##=(hip_bfloat16 &a, hip_bfloat16 b) { return a = a OP b; }
KS_HIP_BFLOAT16_OPERATOR(+)
KS_HIP_BFLOAT16_OPERATOR(-)
KS_HIP_BFLOAT16_OPERATOR(*)
KS_HIP_BFLOAT16_OPERATOR(/)
#undef KS_HIP_BFLOAT16_OPERATOR
static KS_INLINE constexpr bool operator<(hip_bfloat16 a, hip_bfloat16 b) {
    return static_cast<float>(a) < static_cast<float>(b);
}
static KS_INLINE constexpr bool operator==(hip_bfloat16 a, hip_bfloat16 b) {
    return static_cast<float>(a) == static_cast<float>(b);
}
// The others are negations, also for NaN, as in AMD's header.
static KS_INLINE constexpr bool operator>(hip_bfloat16 a, hip_bfloat16 b) { return b < a; }
static KS_INLINE constexpr bool operator<=(hip_bfloat16 a, hip_bfloat16 b) { return !(a > b); }
static KS_INLINE constexpr bool operator!=(hip_bfloat16 a, hip_bfloat16 b) { return !(a == b); }
static KS_INLINE constexpr bool operator>=(hip_bfloat16 a, hip_bfloat16 b) { return !(a < b); }
static KS_INLINE constexpr hip_bfloat16 &operator++(hip_bfloat16 &a) { return a += hip_bfloat16(1.0f); }
static KS_INLINE constexpr hip_bfloat16 &operator--(hip_bfloat16 &a) { return a -= hip_bfloat16(1.0f); }
static KS_INLINE constexpr hip_bfloat16 operator++(hip_bfloat16 &a, int) {
    const hip_bfloat16 before = a;
    ++a;
    return before;
}
static KS_INLINE constexpr hip_bfloat16 operator--(hip_bfloat16 &a, int) {
    const hip_bfloat16 before = a;
    --a;
    return before;
}

namespace std {
constexpr bool isinf(hip_bfloat16 a) { return (a.data & 0x7fff) == 0x7f80; }
constexpr bool isnan(hip_bfloat16 a) { return (a.data & 0x7fff) > 0x7f80; }
constexpr bool iszero(hip_bfloat16 a) { return (a.data & 0x7fff) == 0; }
} // namespace std
