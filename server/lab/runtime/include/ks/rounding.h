// Rounding to the short formats. A number that passes through float on its way to one is rounded to odd first: its
// last bit then still tells whether anything was cut off, so that the second rounding comes out as a single one would.
#pragma once
#pragma clang system_header
#include <ks/math.h>
#include <ks/trace.h>
#include <stdint.h>

#ifdef KS_TRACE
// One instruction each on a GPU; what they are made of here would be many.
extern "C" KS_TRACE_CONSTANT unsigned short ks_op_fma_f16(unsigned short a, unsigned short b, unsigned short c);
extern "C" KS_TRACE_CONSTANT unsigned ks_op_pk_add_f16(unsigned a, unsigned b);
extern "C" KS_TRACE_CONSTANT unsigned ks_op_pk_sub_f16(unsigned a, unsigned b);
extern "C" KS_TRACE_CONSTANT unsigned ks_op_pk_mul_f16(unsigned a, unsigned b);
extern "C" KS_TRACE_CONSTANT unsigned ks_op_pk_fma_f16(unsigned a, unsigned b, unsigned c);
#endif

namespace ks {

/// `x` as a float whose last bit is set where `x` is not exactly a float. Rounding that to at most 22 bits gives what
/// rounding `x` itself gives.
static KS_INLINE constexpr float to_float_odd(double x) {
    const float nearest = static_cast<float>(x);
    const double back = nearest;
    uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
    // A magnitude's neighbour towards zero is its bit pattern less one, infinity's being the largest number.
    bits -= __builtin_fabs(back) > __builtin_fabs(x) ? 1 : 0;
    bits |= back != x ? 1 : 0;
    return __builtin_bit_cast(float, bits);
}

/// The directions of a rounding that is not to nearest.
enum class Towards { kZero, kDown, kUp };

/// The half next to `x` in that direction, or `x` itself.
template <Towards towards> static KS_INLINE _Float16 to_half(float x) {
    const _Float16 nearest = static_cast<_Float16>(x);
    const float back = static_cast<float>(nearest);
    const uint16_t bits = reinterpret<uint16_t>(nearest);
    const bool negative = (bits & 0x8000u) != 0;
    const bool above = back > x, below = back < x;
    bool shrink = false, grow = false; // of the magnitude
    if constexpr (towards == Towards::kZero) {
        shrink = negative ? below : above;
    } else if constexpr (towards == Towards::kDown) {
        shrink = above && !negative;
        grow = above && negative;
    } else {
        shrink = below && negative;
        grow = below && !negative;
    }
    return reinterpret<_Float16>(static_cast<uint16_t>(bits + (grow ? 1 : 0) - (shrink ? 1 : 0)));
}

} // namespace ks
