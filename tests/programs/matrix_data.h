// Operands for the tests of matrix instructions: registers with random bits, and what they mean as doubles.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

typedef float Float2 __attribute__((ext_vector_type(2)));
typedef float Float4 __attribute__((ext_vector_type(4)));
typedef float Float16 __attribute__((ext_vector_type(16)));
typedef float Float32 __attribute__((vector_size(128)));
typedef double Double4 __attribute__((ext_vector_type(4)));
typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
typedef _Float16 Half8 __attribute__((ext_vector_type(8)));
typedef short Short4 __attribute__((vector_size(8)));
typedef short Short8 __attribute__((ext_vector_type(8)));
typedef int Int2 __attribute__((ext_vector_type(2)));
typedef int Int4 __attribute__((ext_vector_type(4)));
typedef int Int16 __attribute__((vector_size(64)));
typedef int Int32 __attribute__((ext_vector_type(32)));

enum Kind { F32, XF32, F16, BF16, I8, FP8, BF8, F64 };
struct Shape {
    int size, depth, blocks;
    Kind a, b;
};

inline uint64_t random_bits() {
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545f4914f6cdd1dull;
}
inline int bytes_of(Kind kind) { return kind == F64 ? 8 : kind == F32 || kind == XF32 ? 4 : kind >= I8 ? 1 : 2; }

/// A binary floating-point number of `exponent` + `mantissa` + 1 bits, without infinities.
inline double decode(uint64_t bits, int exponent, int mantissa, int bias) {
    const int e = bits >> mantissa & ((1 << exponent) - 1);
    const double m = static_cast<double>(bits & ((1ull << mantissa) - 1));
    const double magnitude = e == 0 ? std::ldexp(m, 1 - bias - mantissa)
                                    : std::ldexp(m + std::ldexp(1.0, mantissa), e - bias - mantissa);
    return bits >> (exponent + mantissa) & 1 ? -magnitude : magnitude;
}
inline double decode(Kind kind, uint64_t bits) {
    switch (kind) {
    case F32: return decode(bits, 8, 23, 127);
    case XF32: { // 11 significant bits count
        int exponent;
        const double fraction = std::frexp(decode(bits, 8, 23, 127), &exponent);
        return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
    }
    case F16: return decode(bits, 5, 10, 15);
    case BF16: return decode(bits, 8, 7, 127);
    case I8: return static_cast<int8_t>(bits);
    case FP8: return decode(bits, 4, 3, 8);
    case BF8: return decode(bits, 5, 2, 16);
    case F64: {
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    }
    return 0;
}
/// Bits that mean a small whole number, found among all that there are or computed.
inline uint64_t encode_whole(Kind kind, int value) {
    uint64_t bits = 0;
    const float single = static_cast<float>(value);
    const double full = value;
    if (kind == F64) {
        std::memcpy(&bits, &full, 8);
    } else if (kind == F32 || kind == XF32) {
        std::memcpy(&bits, &single, 4);
    } else {
        while (decode(kind, bits) != value) ++bits;
    }
    return bits;
}
/// Random bits that are a finite number; wide types stay near 1 in size.
inline uint64_t encode_random(Kind kind) {
    const uint64_t bits = random_bits() >> 11;
    switch (kind) {
    case F32:
    case XF32: return (bits & 0x807fffff) | (120 + bits % 13) << 23;
    case F16: return (bits & 0x83ff) | (bits >> 20) % 31 << 10;
    case BF16: return (bits & 0x807f) | (115 + (bits >> 20) % 23) << 7;
    case I8: return bits & 0xff;
    case FP8:
    case BF8: return (bits & 0xff) == 0x80 ? 0x35 : bits & 0xff;
    case F64: {
        const double value = static_cast<double>(bits) / (1ull << 52) - 1;
        uint64_t pattern;
        std::memcpy(&pattern, &value, 8);
        return pattern;
    }
    }
    return 0;
}

/// The registers that the 64 work-items of a wave hold of A or B.
template <class T> struct Operand {
    Kind kind;
    std::vector<T> registers = std::vector<T>(64);

    Operand(Kind kind_, bool whole_numbers) : kind(kind_) {
        const int slots = static_cast<int>(sizeof(T)) / bytes_of(kind);
        for (int lane = 0; lane < 64; ++lane) {
            for (int slot = 0; slot < slots; ++slot) {
                set(lane, slot, whole_numbers ? encode_whole(kind, static_cast<int>(random_bits() >> 40) % 9 - 4)
                                              : encode_random(kind));
            }
        }
    }
    void set(int lane, int slot, uint64_t bits) {
        std::memcpy(reinterpret_cast<char *>(&registers[lane]) + slot * bytes_of(kind), &bits, bytes_of(kind));
    }
    double value(int lane, int slot) const {
        uint64_t bits = 0;
        std::memcpy(&bits, reinterpret_cast<const char *>(&registers[lane]) + slot * bytes_of(kind), bytes_of(kind));
        return decode(kind, bits);
    }
};

/// The registers of C or D.
template <class T> struct Accumulators {
    Kind kind;
    std::vector<T> registers = std::vector<T>(64);

    explicit Accumulators(Kind operands) : kind(operands) {}
    void fill() {
        const int slots = static_cast<int>(sizeof(T)) / (kind == F64 ? 8 : 4);
        for (int lane = 0; lane < 64; ++lane) {
            for (int slot = 0; slot < slots; ++slot) {
                char *at = reinterpret_cast<char *>(&registers[lane]) + slot * (kind == F64 ? 8 : 4);
                const int value = static_cast<int>(random_bits() >> 40) % 2001 - 1000;
                const int count = lane == 5 ? INT32_MAX - slot : value; // some sums wrap
                const float single = static_cast<float>(value);
                const double full = value;
                if (kind == F64) std::memcpy(at, &full, 8);
                else if (kind == I8) std::memcpy(at, &count, 4);
                else std::memcpy(at, &single, 4);
            }
        }
    }
    double value(int lane, int slot) const {
        const char *at = reinterpret_cast<const char *>(&registers[lane]) + slot * (kind == F64 ? 8 : 4);
        double full;
        float single;
        int count;
        if (kind == F64) return std::memcpy(&full, at, 8), full;
        if (kind == I8) return std::memcpy(&count, at, 4), count;
        return std::memcpy(&single, at, 4), single;
    }
};
