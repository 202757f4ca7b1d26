// The compiler's own names for arithmetic of one work-item: mathematics, bits, bytes, dot products.
//
// Source: CDNA3 instruction set architecture, vector ALU instructions of the same names.
#pragma once
#pragma clang system_header
#include <ks/integer_intrinsics.h>
#include <ks/math.h>
#include <ks/vector_types.h>
#include <limits>

namespace ks {

typedef _Float16 HalfPair __attribute__((ext_vector_type(2)));
typedef short ShortPair __attribute__((ext_vector_type(2)));
typedef unsigned short UnsignedShortPair __attribute__((ext_vector_type(2)));

/// Which of the ten classes of IEEE numbers `x` is in, by the bits of `mask`: signalling and quiet NaN, then from -infinity
/// over normal, subnormal and zero to +infinity.
template <class T, class Bits, int mantissa> static KS_INLINE bool is_of_class(T x, int mask) {
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1), quiet = Bits{1} << (mantissa - 1);
    constexpr Bits fraction_bits = (Bits{1} << mantissa) - 1, exponent_bits = (sign - 1) & ~fraction_bits;
    const Bits bits = __builtin_bit_cast(Bits, x);
    const bool negative = (bits & sign) != 0;
    const Bits exponent = bits & exponent_bits, fraction = bits & fraction_bits;
    int number;
    if (exponent == exponent_bits) {
        number = fraction != 0 ? ((fraction & quiet) != 0 ? 1 : 0) : negative ? 2 : 9;
    } else if (exponent != 0) {
        number = negative ? 3 : 8;
    } else {
        number = fraction != 0 ? (negative ? 4 : 7) : negative ? 5 : 6;
    }
    return (mask >> number & 1) != 0;
}
/// The fraction, below 1 even where rounding would reach it.
template <class T> static KS_INLINE T fraction_of(T x, T largest) {
    const T fraction = x - static_cast<T>(__builtin_elementwise_floor(x));
    return fraction > largest ? largest : fraction;
}
static KS_INLINE int exponent_of(double x) {
    int exponent = 0;
    const bool finite = __builtin_isfinite(x);
    if (finite) (void)frexp(x, &exponent);
    return finite ? exponent : 0;
}
static KS_INLINE double mantissa_of(double x) {
    int exponent;
    return __builtin_isfinite(x) ? frexp(x, &exponent) : x;
}
template <class T> static KS_INLINE T median(T a, T b, T c) {
    const T low = b < a ? b : a, high = b < a ? a : b;
    return c < low ? low : high < c ? high : c;
}
template <class T> static KS_INLINE T clamp_to(int64_t value) {
    constexpr int64_t low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    return static_cast<T>(value < low ? low : high < value ? high : value);
}
/// `clamp`: to what a T can hold; otherwise the sum wraps.
template <class T> static KS_INLINE T sum_of_products(int64_t sum, bool clamp) {
    return clamp ? clamp_to<T>(sum) : static_cast<T>(sum);
}
/// Field `i` of `bits` bits.
template <int bits> static KS_INLINE int64_t unsigned_field(unsigned x, int i) {
    return x >> (bits * i) & ((1u << bits) - 1);
}
template <int bits> static KS_INLINE int64_t signed_field(unsigned x, int i) {
    return static_cast<int>(x << (32 - bits - bits * i)) >> (32 - bits);
}
static KS_INLINE unsigned absolute_difference(unsigned a, unsigned b) { return a > b ? a - b : b - a; }

} // namespace ks

#define KS_UNARY(NAME, T, EXPRESSION)                                                                                  \
    KS_OPERATION(static, T, __builtin_amdgcn_##NAME, (T x), (x), static_cast<T>(EXPRESSION))
KS_UNARY(rcpf, float, 1.0f / x)
KS_UNARY(rcp, double, 1.0 / x)
KS_UNARY(rcph, _Float16, 1.0f / static_cast<float>(x))
KS_UNARY(rsqf, float, 1.0f / __builtin_sqrtf(x))
KS_UNARY(rsq, double, 1.0 / __builtin_sqrt(x))
KS_UNARY(rsqh, _Float16, 1.0f / __builtin_sqrtf(static_cast<float>(x)))
KS_UNARY(sqrtf, float, __builtin_sqrtf(x))
KS_UNARY(sqrt, double, __builtin_sqrt(x))
KS_UNARY(sqrth, _Float16, __builtin_sqrtf(static_cast<float>(x)))
KS_UNARY(exp2f, float, exp2f(x))
KS_UNARY(logf, float, log2f(x))
// The device's sine and cosine count in turns.
KS_UNARY(sinf, float, sinpi(2.0 * x))
KS_UNARY(cosf, float, cospi(2.0 * x))
KS_UNARY(sinh, _Float16, sinpif(2.0f * static_cast<float>(x)))
KS_UNARY(cosh, _Float16, cospif(2.0f * static_cast<float>(x)))
KS_UNARY(fractf, float, ::ks::fraction_of(x, 0x1.fffffep-1f))
KS_UNARY(fract, double, ::ks::fraction_of(x, 0x1.fffffffffffffp-1))
KS_UNARY(fracth, _Float16, ::ks::fraction_of(static_cast<float>(x), 0x1.ffcp-1f))
KS_UNARY(frexp_mantf, float, ::ks::mantissa_of(x))
KS_UNARY(frexp_mant, double, ::ks::mantissa_of(x))
KS_UNARY(frexp_manth, _Float16, ::ks::mantissa_of(static_cast<double>(x)))
#undef KS_UNARY
static KS_INLINE int __builtin_amdgcn_frexp_expf(float x) { return ::ks::exponent_of(x); }
static KS_INLINE int __builtin_amdgcn_frexp_exp(double x) { return ::ks::exponent_of(x); }
static KS_INLINE short __builtin_amdgcn_frexp_exph(_Float16 x) { return static_cast<short>(::ks::exponent_of(x)); }
static KS_INLINE float __builtin_amdgcn_ldexpf(float x, int exponent) { return ldexpf(x, exponent); }
static KS_INLINE double __builtin_amdgcn_ldexp(double x, int exponent) { return ldexp(x, exponent); }
static KS_INLINE _Float16 __builtin_amdgcn_ldexph(_Float16 x, int exponent) {
    return static_cast<_Float16>(ldexpf(static_cast<float>(x), exponent));
}
static KS_INLINE bool __builtin_amdgcn_classf(float x, int mask) { return ::ks::is_of_class<float, uint32_t, 23>(x, mask); }
static KS_INLINE bool __builtin_amdgcn_class(double x, int mask) { return ::ks::is_of_class<double, uint64_t, 52>(x, mask); }
static KS_INLINE bool __builtin_amdgcn_classh(_Float16 x, int mask) {
    return ::ks::is_of_class<_Float16, uint16_t, 10>(x, mask);
}
namespace ks {
static KS_INLINE float fmed3f(float a, float b, float c) {
    // With a NaN, the smallest of the others.
    return a != a || b != b || c != c ? fminf(fminf(a, b), c) : ::ks::median(a, b, c);
}
} // namespace ks
KS_OPERATION(static, float, __builtin_amdgcn_fmed3f, (float a, float b, float c), (a, b, c), ::ks::fmed3f(a, b, c))
static KS_INLINE _Float16 __builtin_amdgcn_fmed3h(_Float16 a, _Float16 b, _Float16 c) {
    return static_cast<_Float16>(
        __builtin_amdgcn_fmed3f(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
}

// Bits and bytes.
KS_OPERATION(static, unsigned, __builtin_amdgcn_ubfe, (unsigned x, unsigned offset, unsigned width), (x, offset, width),
             x >> (offset & 31) & ((1u << (width & 31)) - 1))
namespace ks {
static KS_INLINE int sbfe(int x, unsigned offset, unsigned width) {
    offset &= 31;
    width &= 31;
    if (width == 0) return 0;
    if (offset + width >= 32) return x >> offset;
    return static_cast<int>(static_cast<unsigned>(x) << (32 - offset - width)) >> (32 - width);
}
} // namespace ks
KS_OPERATION(static, int, __builtin_amdgcn_sbfe, (int x, unsigned offset, unsigned width), (x, offset, width), ::ks::sbfe(x, offset, width))
static KS_INLINE unsigned __builtin_amdgcn_alignbit(unsigned high, unsigned low, unsigned bits) {
    return __funnelshift_r(low, high, bits & 31);
}
static KS_INLINE unsigned __builtin_amdgcn_alignbyte(unsigned high, unsigned low, unsigned bytes) {
    return __funnelshift_r(low, high, 8 * (bytes & 3));
}
/// Four bytes of the eight of `high` and `low`, as the bytes of `selector` say: 0 to 7 a byte, 8 to 11 the sign of bytes
/// 1, 3, 5 and 7, 12 zeros, above that ones.
namespace ks {
static KS_INLINE unsigned perm(unsigned high, unsigned low, unsigned selector) {
    const uint64_t bytes = uint64_t{high} << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned which = selector >> (8 * i) & 0xff;
        unsigned byte = 0xff;
        if (which < 8) {
            byte = static_cast<unsigned>(bytes >> (8 * which) & 0xff);
        } else if (which < 12) {
            byte = (bytes >> (16 * (which - 8) + 15) & 1) != 0 ? 0xff : 0;
        } else if (which == 12) {
            byte = 0;
        }
        result |= byte << (8 * i);
    }
    return result;
}
} // namespace ks
KS_OPERATION(static, unsigned, __builtin_amdgcn_perm, (unsigned high, unsigned low, unsigned selector), (high, low, selector), ::ks::perm(high, low, selector))
namespace ks {
static KS_INLINE unsigned sad_u8(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 4; ++i) sum += ::ks::absolute_difference(a >> (8 * i) & 0xff, b >> (8 * i) & 0xff);
    return sum;
}
} // namespace ks
KS_OPERATION(static, unsigned, __builtin_amdgcn_sad_u8, (unsigned a, unsigned b, unsigned sum), (a, b, sum), ::ks::sad_u8(a, b, sum))
static KS_INLINE unsigned __builtin_amdgcn_sad_hi_u8(unsigned a, unsigned b, unsigned sum) {
    return (__builtin_amdgcn_sad_u8(a, b, 0) << 16) + sum;
}
namespace ks {
static KS_INLINE unsigned sad_u16(unsigned a, unsigned b, unsigned sum) {
    return sum + ::ks::absolute_difference(a & 0xffff, b & 0xffff) + ::ks::absolute_difference(a >> 16, b >> 16);
}
} // namespace ks
KS_OPERATION(static, unsigned, __builtin_amdgcn_sad_u16, (unsigned a, unsigned b, unsigned sum), (a, b, sum), ::ks::sad_u16(a, b, sum))
/// Bytes of the reference `b` that are 0 do not count.
namespace ks {
static KS_INLINE unsigned msad_u8(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 4; ++i) {
        const unsigned reference = b >> (8 * i) & 0xff;
        sum += reference == 0 ? 0 : ::ks::absolute_difference(a >> (8 * i) & 0xff, reference);
    }
    return sum;
}
} // namespace ks
KS_OPERATION(static, unsigned, __builtin_amdgcn_msad_u8, (unsigned a, unsigned b, unsigned sum), (a, b, sum), ::ks::msad_u8(a, b, sum))
/// The mean of each pair of bytes; where the low bit of `round` is set, halves are rounded up.
namespace ks {
static KS_INLINE unsigned lerp(unsigned a, unsigned b, unsigned round) {
    unsigned result = 0;
    for (int i = 0; i < 32; i += 8) {
        result |= ((a >> i & 0xff) + (b >> i & 0xff) + (round >> i & 1)) >> 1 << i;
    }
    return result;
}
} // namespace ks
KS_OPERATION(static, unsigned, __builtin_amdgcn_lerp, (unsigned a, unsigned b, unsigned round), (a, b, round), ::ks::lerp(a, b, round))

// Conversions of two numbers at once.
static KS_INLINE ::ks::HalfPair __builtin_amdgcn_cvt_pkrtz(float low, float high) {
    const auto toward_zero = [](float x) {
        const _Float16 half = static_cast<_Float16>(x);
        if (!(__builtin_fabsf(static_cast<float>(half)) > __builtin_fabsf(x))) return half;
        // One step back; the largest number is below infinity by one step too, but infinity itself stays.
        if (__builtin_isinf(x)) return half;
        return __builtin_bit_cast(_Float16, static_cast<uint16_t>(__builtin_bit_cast(uint16_t, half) - 1));
    };
    return ::ks::HalfPair{toward_zero(low), toward_zero(high)};
}
static KS_INLINE ::ks::ShortPair __builtin_amdgcn_cvt_pk_i16(int low, int high) {
    return ::ks::ShortPair{::ks::clamp_to<short>(low), ::ks::clamp_to<short>(high)};
}
static KS_INLINE ::ks::UnsignedShortPair __builtin_amdgcn_cvt_pk_u16(unsigned low, unsigned high) {
    return ::ks::UnsignedShortPair{::ks::clamp_to<unsigned short>(low), ::ks::clamp_to<unsigned short>(high)};
}
// From [-1, 1] and [0, 1] to all of the integers' range; NaN gives 0.
static KS_INLINE ::ks::ShortPair __builtin_amdgcn_cvt_pknorm_i16(float low, float high) {
    const auto convert = [](float x) {
        return static_cast<short>(x != x ? 0.0f : __builtin_rintf(fminf(fmaxf(x, -1.0f), 1.0f) * 32767.0f));
    };
    return ::ks::ShortPair{convert(low), convert(high)};
}
static KS_INLINE ::ks::UnsignedShortPair __builtin_amdgcn_cvt_pknorm_u16(float low, float high) {
    const auto convert = [](float x) {
        return static_cast<unsigned short>(x != x ? 0.0f : __builtin_rintf(fminf(fmaxf(x, 0.0f), 1.0f) * 65535.0f));
    };
    return ::ks::UnsignedShortPair{convert(low), convert(high)};
}

// Dot products, added to a sum.
#define KS_DOT(NAME, T, BITS, FIELD)                                                                                   \
    namespace ks {                                                                                                     \
    static KS_INLINE T NAME(T a, T b, T sum, bool clamp) {                                                             \
        int64_t total = sum;                                                                                           \
        for (int i = 0; i < 32 / BITS; ++i) {                                                                          \
            total += ::ks::FIELD<BITS>(static_cast<unsigned>(a), i) * ::ks::FIELD<BITS>(static_cast<unsigned>(b), i);  \
        }                                                                                                              \
        return ::ks::sum_of_products<T>(total, clamp);                                                                 \
    }                                                                                                                  \
    } /* namespace ks */                                                                                               \
    KS_OPERATION(static, T, __builtin_amdgcn_##NAME, (T a, T b, T sum, bool clamp), (a, b, sum, clamp),                \
                 ::ks::NAME(a, b, sum, clamp))
KS_DOT(sdot4, int, 8, signed_field)
KS_DOT(udot4, unsigned, 8, unsigned_field)
KS_DOT(sdot8, int, 4, signed_field)
KS_DOT(udot8, unsigned, 4, unsigned_field)
#undef KS_DOT
namespace ks {
template <class T, class Pair> static KS_INLINE T dot2(Pair a, Pair b, T sum, bool clamp) {
    return sum_of_products<T>(int64_t{a[0]} * b[0] + int64_t{a[1]} * b[1] + sum, clamp);
}
/// With `clamp`, into [0, 1].
static KS_INLINE float fdot2(HalfPair a, HalfPair b, float sum, bool clamp) {
    const float first = __builtin_fmaf(static_cast<float>(a[0]), static_cast<float>(b[0]), sum);
    const float total = __builtin_fmaf(static_cast<float>(a[1]), static_cast<float>(b[1]), first);
    return clamp ? fminf(fmaxf(total, 0.0f), 1.0f) : total;
}
} // namespace ks
#define KS_DOT2(NAME, T, PAIR, EXPRESSION)                                                                             \
    KS_OPERATION(static, T, __builtin_amdgcn_##NAME, (::ks::PAIR a, ::ks::PAIR b, T sum, bool clamp),                  \
                 (a, b, sum, clamp), ::ks::EXPRESSION(a, b, sum, clamp))
KS_DOT2(sdot2, int, ShortPair, dot2)
KS_DOT2(udot2, unsigned, UnsignedShortPair, dot2)
KS_DOT2(fdot2, float, HalfPair, fdot2)
#undef KS_DOT2

// HIP's names for them: two numbers of 16 bits, four of 8, eight of 4.
static KS_INLINE int amd_mixed_dot(short2 a, short2 b, int sum, bool clamp) {
    return __builtin_amdgcn_sdot2(a.data, b.data, sum, clamp);
}
static KS_INLINE unsigned amd_mixed_dot(ushort2 a, ushort2 b, unsigned sum, bool clamp) {
    return __builtin_amdgcn_udot2(a.data, b.data, sum, clamp);
}
static KS_INLINE int amd_mixed_dot(char4 a, char4 b, int sum, bool clamp) {
    return __builtin_amdgcn_sdot4(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), sum, clamp);
}
static KS_INLINE unsigned amd_mixed_dot(uchar4 a, uchar4 b, unsigned sum, bool clamp) {
    return __builtin_amdgcn_udot4(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), sum, clamp);
}
static KS_INLINE int amd_mixed_dot(int a, int b, int sum, bool clamp) { return __builtin_amdgcn_sdot8(a, b, sum, clamp); }
static KS_INLINE unsigned amd_mixed_dot(unsigned a, unsigned b, unsigned sum, bool clamp) {
    return __builtin_amdgcn_udot8(a, b, sum, clamp);
}
