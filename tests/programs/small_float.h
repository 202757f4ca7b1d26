// Number formats of 8 and 16 bits by their definition, to check conversions against: a value is found by counting, and
// what a number rounds to by searching among all values.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

/// Codes count up from 0 with the values, the sign on top. Exponent 0 means subnormal numbers.
struct SmallFloat {
    int exponent_bits, mantissa_bits, bias;
    unsigned largest; ///< the code of the largest finite number

    unsigned sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
    /// The value of a code without sign, as if all codes were finite numbers.
    double magnitude(unsigned code) const {
        const int exponent = static_cast<int>(code >> mantissa_bits);
        const double fraction = std::ldexp(static_cast<double>(code & ((1u << mantissa_bits) - 1)), -mantissa_bits);
        return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    }
    double finite(unsigned code) const {
        const double value = magnitude(code & (sign_bit() - 1));
        return (code & sign_bit()) != 0 ? -value : value;
    }
    /// The largest code whose value is not above `x` >= 0.
    unsigned below(long double x) const {
        unsigned low = 0, high = largest + 1;
        while (low < high) {
            const unsigned middle = (low + high + 1) / 2;
            if (magnitude(middle) <= x) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }
    /// The code that `x` >= 0 rounds to, a tie to the even one; `largest` + 1 stands for all that is too large.
    unsigned nearest(long double x) const {
        const unsigned code = below(x);
        if (code > largest) {
            return code;
        }
        const long double down = x - magnitude(code), up = magnitude(code + 1) - x;
        return down < up || (down == up && code % 2 == 0) ? code : code + 1;
    }
};

constexpr SmallFloat kHalf{5, 10, 15, 0x7bff};
constexpr SmallFloat kBfloat16{8, 7, 127, 0x7f7f};

/// Where the code after the largest is infinity: what `x` rounds to. NaN gives `nan`.
inline unsigned ieee_nearest(const SmallFloat &format, long double x, unsigned nan) {
    if (std::isnan(x)) {
        return nan;
    }
    return format.nearest(std::fabs(x)) | (std::signbit(x) ? format.sign_bit() : 0);
}
inline bool ieee_is_nan(const SmallFloat &format, unsigned code) {
    return (code & (format.sign_bit() - 1)) > format.largest + 1;
}
inline double ieee_value(const SmallFloat &format, unsigned code) {
    const unsigned magnitude = code & (format.sign_bit() - 1);
    const double sign = (code & format.sign_bit()) != 0 ? -1.0 : 1.0;
    return magnitude > format.largest + 1 ? NAN : magnitude == format.largest + 1 ? sign * INFINITY : format.finite(code);
}

/// A generator that needs nothing: xorshift.
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }

  private:
    uint64_t state_;
};

template <class To, class From> To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

/// Floats that are hard to round to `format`: any pattern, each value, each middle between two values, and the
/// neighbours of both.
inline std::vector<float> hard_floats(const SmallFloat &format, int random_count) {
    std::vector<float> all = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 3.4e38f, -3.4e38f, 1e-45f, -1e-45f};
    const auto add = [&all](double x) {
        const float f = static_cast<float>(x);
        for (const float v : {f, std::nextafter(f, INFINITY), std::nextafter(f, -INFINITY)}) {
            all.push_back(v);
            all.push_back(-v);
        }
    };
    const unsigned step = format.largest > 1000 ? 37 : 1;
    for (unsigned code = 0; code <= format.largest; code += step) {
        add(format.magnitude(code));
        add((format.magnitude(code) + format.magnitude(code + 1)) / 2);
    }
    add((format.magnitude(format.largest) + format.magnitude(format.largest + 1)) / 2);
    add(format.magnitude(format.largest + 1));
    Random random(0x5eed);
    for (int i = 0; i < random_count; ++i) {
        all.push_back(bits_as<float>(static_cast<uint32_t>(random.next())));
    }
    return all;
}
