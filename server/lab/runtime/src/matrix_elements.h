// The elements of matrix instructions' operands as floats: element k of all 64 work-items side by side.
#pragma once
#include <ks/matrix.h>

namespace ks {

typedef float Sixteen __attribute__((ext_vector_type(16)));
typedef uint64_t SixteenLongs __attribute__((ext_vector_type(16)));
typedef uint32_t SixteenWords __attribute__((ext_vector_type(16)));
typedef uint16_t SixteenShorts __attribute__((ext_vector_type(16)));
typedef uint8_t SixteenBytes __attribute__((ext_vector_type(16)));

constexpr int bits_of(Element element) {
    switch (element) {
    case kF32:
    case kXf32: return 32;
    case kF16:
    case kBf16: return 16;
    default: return 8;
    }
}

/// Rounds to 10 bits of mantissa, to nearest and ties to even; infinities and NaN stay.
inline Sixteen round_to_xf32(SixteenWords bits) {
    const SixteenWords rounded = (bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu;
    return __builtin_bit_cast(Sixteen, (bits & 0x7f800000u) == 0x7f800000u ? bits : rounded);
}

/// The 8-bit formats without infinities and negative zero (fnuz): 0x80 is NaN.
template <int mantissa, int bias> Sixteen from_fnuz(SixteenWords bits) {
    const SixteenWords magnitude = bits & 0x7fu;
    const SixteenWords normal = (magnitude << (23 - mantissa)) + (static_cast<uint32_t>(127 - bias) << 23);
    const float unit = __builtin_bit_cast(float, static_cast<uint32_t>(127 + 1 - bias - mantissa) << 23);
    const Sixteen subnormal = __builtin_convertvector(magnitude, Sixteen) * unit;
    SixteenWords value = magnitude < (1u << mantissa) ? __builtin_bit_cast(SixteenWords, subnormal) : normal;
    value |= (bits & 0x80u) << 24;
    const SixteenWords nan = 0x7fc00000u;
    return __builtin_bit_cast(Sixteen, bits == 0x80u ? nan : value);
}

/// The element of each of 16 work-items that begins at bit 0.
template <Element element> Sixteen to_floats(SixteenLongs bits) {
    if constexpr (element == kF32) {
        return __builtin_bit_cast(Sixteen, __builtin_convertvector(bits, SixteenWords));
    } else if constexpr (element == kXf32) {
        return round_to_xf32(__builtin_convertvector(bits, SixteenWords));
    } else if constexpr (element == kF16) {
        typedef _Float16 Halves __attribute__((ext_vector_type(16)));
        const auto halves = __builtin_bit_cast(Halves, __builtin_convertvector(bits, SixteenShorts));
        return __builtin_convertvector(halves, Sixteen);
    } else if constexpr (element == kBf16) {
        return __builtin_bit_cast(Sixteen, __builtin_convertvector(bits, SixteenWords) << 16);
    } else if constexpr (element == kI8) {
        typedef int8_t SignedBytes __attribute__((ext_vector_type(16)));
        const auto bytes = __builtin_bit_cast(SignedBytes, __builtin_convertvector(bits, SixteenBytes));
        return __builtin_convertvector(bytes, Sixteen);
    } else {
        const SixteenWords bytes = __builtin_convertvector(bits, SixteenWords) & 0xffu;
        return element == kFp8 ? from_fnuz<3, 8>(bytes) : from_fnuz<2, 16>(bytes);
    }
}

/// `elements` values that each work-item packed into eight bytes; zeros for those that do not take part.
template <Element element, int elements> void unpack(const uint64_t *packed, uint64_t active, float (*out)[64]) {
    for (int first = 0; first < 64; first += 16) {
        SixteenLongs bits;
        memcpy(&bits, packed + first, sizeof bits);
        if (active != ~uint64_t{0}) {
            for (int i = 0; i < 16; ++i) bits[i] = (active >> (first + i) & 1) != 0 ? bits[i] : 0;
        }
        for (int k = 0; k < elements; ++k) {
            const Sixteen values = to_floats<element>(bits >> static_cast<uint64_t>(k * bits_of(element)));
            memcpy(out[k] + first, &values, sizeof values);
        }
    }
}

/// A sparse A: of each four elements two are stored, and two bits of the index say where each stood. The register has
/// room for several sets of indices; where cbsz is 0, abid says which one counts.
template <Element element, int elements>
void unpack_sparse(const uint64_t *packed, const int32_t *index, MatrixModifiers modifiers, uint64_t active,
                   float (*out)[64]) {
    constexpr int stored = elements / 2, set_bits = 2 * stored, sets = 32 / set_bits;
    float values[stored][64];
    unpack<element, stored>(packed, active, values);
    memset(out, 0, elements * sizeof *out);
    const int set = modifiers.cbsz == 0 ? modifiers.abid & (sets - 1) : 0;
    for (int lane = 0; lane < 64; ++lane) {
        const uint32_t places = static_cast<uint32_t>(index[lane]) >> (set * set_bits);
        for (int k = 0; k < stored; ++k) {
            out[k / 2 * 4 + (places >> (2 * k) & 3)][lane] += values[k][lane];
        }
    }
}

} // namespace ks
