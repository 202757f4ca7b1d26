// The 8-bit formats: what their codes mean, and how floats become codes.
//
// AMD's MI300 has the "fnuz" formats: finite, with an unsigned zero, one NaN (0x80) and no infinities. The Open Compute
// Project's E4M3 has a NaN for each sign and no infinities; its E5M2 is laid out as half is.
#pragma once
#pragma clang system_header
#include <ks/qualifiers.h>
#include <ks/trace.h>
#include <stdint.h>

namespace ks {

#ifdef KS_TRACE
/// `format`: the exponent's bits, and 16 for fnuz.
extern "C" KS_TRACE_CONSTANT float ks_op_cvt_f32_fp8(unsigned char code, int format);
extern "C" KS_TRACE_CONSTANT unsigned char ks_op_cvt_fp8_f32(float x, bool saturate, int format);
extern "C" KS_TRACE_CONSTANT unsigned char ks_op_cvt_sr_fp8_f32(float x, uint32_t random, int format);
#endif

template <int kExponentBits, int kMantissaBits, bool kFnuz> struct Fp8 {
    static constexpr int kFormat = kExponentBits | (kFnuz ? 16 : 0);
    static constexpr int kBias = (1 << (kExponentBits - 1)) - (kFnuz ? 0 : 1);
    /// The code of the largest number.
    static constexpr unsigned kLargest = kFnuz ? 0x7f : kExponentBits == 4 ? 0x7e : 0x7b;
    /// Float's exponent field for the smallest normal number.
    static constexpr int kLowest = 1 - kBias + 127;

    static KS_INLINE constexpr bool is_nan(uint8_t code) {
        return kFnuz ? code == 0x80 : kExponentBits == 4 ? (code & 0x7f) == 0x7f : (code & 0x7f) > 0x7c;
    }

    /// Exact. The NaN that comes out is quiet.
    static KS_INLINE constexpr float decode(uint8_t code) {
#ifdef KS_TRACE
        if (!__builtin_is_constant_evaluated()) return ks_op_cvt_f32_fp8(code, kFormat);
#endif
        return decoded(code);
    }
    static KS_INLINE constexpr float decoded(uint8_t code) {
        const uint32_t magnitude = code & 0x7fu, fraction = magnitude << (23 - kMantissaBits);
        const float normal = __builtin_bit_cast(float, fraction + (static_cast<uint32_t>(127 - kBias) << 23));
        // A subnormal number is what lies between the smallest normal number and that with the same fraction.
        constexpr uint32_t smallest = static_cast<uint32_t>(kLowest) << 23;
        const float subnormal =
            __builtin_bit_cast(float, smallest | fraction) - __builtin_bit_cast(float, smallest);
        float value = magnitude >> kMantissaBits == 0 ? subnormal : normal;
        if (!kFnuz && kExponentBits == 5 && magnitude == 0x7c) value = __builtin_inff();
        if (is_nan(code)) value = __builtin_nanf("");
        return (code & 0x80) != 0 ? -value : value;
    }

    /// To the nearest, ties to even. What is too large then becomes the largest number if `saturate`, else infinity or,
    /// where there is none, NaN. Infinity is too large too; without a sign for it (fnuz) it is always NaN.
    static KS_INLINE constexpr uint8_t encode(float x, bool saturate) {
#ifdef KS_TRACE
        if (!__builtin_is_constant_evaluated()) return ks_op_cvt_fp8_f32(x, saturate, kFormat);
#endif
        return encoded(x, saturate);
    }
    static KS_INLINE constexpr uint8_t encoded(float x, bool saturate) {
        const uint32_t bits = __builtin_bit_cast(uint32_t, x) & 0x7fffffffu;
        // Far enough above all formats' numbers that the arithmetic below stays finite.
        const uint32_t limited = bits < 0x48000000u ? bits : 0x48000000u;
        const int field = static_cast<int>(limited >> 23), exponent = field < kLowest ? kLowest : field;
        // Adding a number whose last bit is worth the format's last bit here makes float's addition round to that.
        const float rounder = __builtin_bit_cast(float, static_cast<uint32_t>(exponent - kMantissaBits + 23) << 23);
        const float rounded = __builtin_bit_cast(float, limited) + rounder;
        const uint32_t units = __builtin_bit_cast(uint32_t, rounded) - __builtin_bit_cast(uint32_t, rounder);
        return finish(x, (static_cast<uint32_t>(exponent - kLowest) << kMantissaBits) + units, saturate);
    }

    /// Up or down with the odds of its distance to either, as v_cvt_sr_* decides it: the upper bits of `random` are
    /// added to those that are to be cut off.
    static KS_INLINE constexpr uint8_t encode_stochastic(float x, uint32_t random) {
#ifdef KS_TRACE
        if (!__builtin_is_constant_evaluated()) return ks_op_cvt_sr_fp8_f32(x, random, kFormat);
#endif
        return encoded_stochastic(x, random);
    }
    static KS_INLINE constexpr uint8_t encoded_stochastic(float x, uint32_t random) {
        const uint32_t bits = __builtin_bit_cast(uint32_t, x) & 0x7fffffffu;
        const uint32_t limited = bits < 0x48000000u ? bits : 0x48000000u;
        const int field = static_cast<int>(limited >> 23), exponent = field < kLowest ? kLowest : field;
        const int shift = exponent - field < 31 ? exponent - field : 31;
        const uint32_t mantissa = ((limited & 0x7fffffu) | (field != 0 ? 0x800000u : 0)) >> shift;
        const uint32_t units = (mantissa + (random >> (9 + kMantissaBits))) >> (23 - kMantissaBits);
        return finish(x, (static_cast<uint32_t>(exponent - kLowest) << kMantissaBits) + units, false);
    }

  private:
    /// `magnitude` with the sign of `x`, if it is in range.
    static KS_INLINE constexpr uint8_t finish(float x, uint32_t magnitude, bool saturate) {
        const uint32_t all = __builtin_bit_cast(uint32_t, x), bits = all & 0x7fffffffu, sign = all >> 31 << 7;
        if (kFnuz) {
            if (bits >= 0x7f800000u || (magnitude > kLargest && !saturate)) return 0x80;
            if (magnitude > kLargest) magnitude = kLargest;
            return static_cast<uint8_t>(magnitude == 0 ? 0 : sign | magnitude);
        }
        if (bits > 0x7f800000u) return static_cast<uint8_t>(sign | 0x7f);
        if (magnitude > kLargest) magnitude = saturate ? kLargest : kLargest + 1;
        return static_cast<uint8_t>(sign | magnitude);
    }
};
using Fp8E4m3Fnuz = Fp8<4, 3, true>;
using Fp8E5m2Fnuz = Fp8<5, 2, true>;
using Fp8E4m3 = Fp8<4, 3, false>;
using Fp8E5m2 = Fp8<5, 2, false>;

} // namespace ks
