// Element types of arguments: how they are filled, poisoned and compared.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "random.h"

namespace ks_harness __attribute__((visibility("hidden"))) {

enum class Type { f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

// Half precision by hand, so that the harness needs no support of the compiler or processor for it.
struct Half {
    uint16_t bits;
    Half() = default;
    explicit Half(double value) {
        float single = static_cast<float>(value);
        uint32_t word;
        std::memcpy(&word, &single, 4);
        uint16_t sign = static_cast<uint16_t>((word >> 16) & 0x8000);
        double magnitude = std::fabs(static_cast<double>(single));
        if (std::isnan(single)) {
            bits = sign | 0x7e00;
        } else if (magnitude >= 65520.0) {
            bits = sign | 0x7c00;
        } else if (magnitude < 0x1p-14) {
            bits = static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(magnitude * 0x1p24)));
        } else {
            int exponent;
            double mantissa = std::frexp(magnitude, &exponent);  // in [0.5, 1)
            uint32_t rounded = static_cast<uint32_t>(std::nearbyint(mantissa * 2048.0));
            bits = static_cast<uint16_t>(sign | (((exponent + 14) << 10) + (rounded - 1024)));
        }
    }
    explicit operator double() const {
        int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
        double value = exponent == 31  ? (mantissa ? NAN : INFINITY)
                       : exponent == 0 ? std::ldexp(mantissa, -24)
                                       : std::ldexp(mantissa + 1024, exponent - 25);
        return bits & 0x8000 ? -value : value;
    }
};

struct BFloat {
    uint16_t bits;
    BFloat() = default;
    explicit BFloat(double value) {
        float single = static_cast<float>(value);
        uint32_t word;
        std::memcpy(&word, &single, 4);
        bits = static_cast<uint16_t>(std::isnan(single) ? (word >> 16) | 64 : (word + 0x7fff + ((word >> 16) & 1)) >> 16);
    }
    explicit operator double() const {
        uint32_t word = static_cast<uint32_t>(bits) << 16;
        float single;
        std::memcpy(&single, &word, 4);
        return single;
    }
};

// Calls `visit` with a value of the C++ type that stands for `type`.
template <class Visit> auto with_type(Type type, Visit visit) {
    switch (type) {
        case Type::f16: return visit(Half{});
        case Type::bf16: return visit(BFloat{});
        case Type::f32: return visit(float{});
        case Type::f64: return visit(double{});
        case Type::i8: return visit(int8_t{});
        case Type::i16: return visit(int16_t{});
        case Type::i32: return visit(int32_t{});
        case Type::i64: return visit(int64_t{});
        case Type::u8: case Type::boolean: return visit(uint8_t{});
        case Type::u16: return visit(uint16_t{});
        case Type::u32: return visit(uint32_t{});
        case Type::u64: break;
    }
    return visit(uint64_t{});
}

inline bool is_floating(Type type) { return type <= Type::f64; }

inline size_t size_of(Type type) {
    return with_type(type, [](auto zero) { return sizeof(zero); });
}

template <class To> To convert(double value) { return static_cast<To>(value); }

enum class Fill { zeros, ones, uniform, normal, integers, iota, permutation, constant, expression };

// A fill with its numbers worked out for one shape: low and high, or mean and deviation, or the constant.
struct FillRule {
    Fill kind = Fill::zeros;
    double first = 0, second = 0;
    // For Fill::expression: the value of element `index` of argument `argument`.
    double (*element)(int argument, long long index, const long long* shape) = nullptr;
    int argument = 0;
    const long long* shape = nullptr;
};

template <class T> void fill_permutation(T* data, size_t count, Random& random) {
    for (size_t index = 0; index < count; index++) data[index] = convert<T>(static_cast<double>(index));
    for (size_t index = count; index > 1; index--) std::swap(data[index - 1], data[random.below(index)]);
}

template <class T> void fill_elements(T* data, size_t count, const FillRule& rule, Random& random) {
    const double low = rule.first, span = rule.second - rule.first;
    switch (rule.kind) {
        case Fill::zeros: std::memset(static_cast<void*>(data), 0, count * sizeof(T)); break;
        case Fill::ones:
            for (size_t i = 0; i < count; i++) data[i] = convert<T>(1);
            break;
        case Fill::uniform:
            for (size_t i = 0; i < count; i++) data[i] = convert<T>(low + span * random.unit());
            break;
        case Fill::normal:
            for (size_t i = 0; i < count; i++) data[i] = convert<T>(rule.first + rule.second * random.normal());
            break;
        case Fill::integers:  // low and high are both included
            for (size_t i = 0; i < count; i++) data[i] = convert<T>(low + std::floor((span + 1) * random.unit()));
            break;
        case Fill::iota:
            for (size_t i = 0; i < count; i++) data[i] = convert<T>(static_cast<double>(i));
            break;
        case Fill::permutation: fill_permutation(data, count, random); break;
        case Fill::constant:
            for (size_t i = 0; i < count; i++) data[i] = convert<T>(rule.first);
            break;
        case Fill::expression:
            for (size_t i = 0; i < count; i++) data[i] = convert<T>(rule.element(rule.argument, static_cast<long long>(i), rule.shape));
            break;
    }
}

inline void fill(Type type, void* data, size_t count, const FillRule& rule, Random& random) {
    with_type(type, [&](auto zero) { fill_elements(static_cast<decltype(zero)*>(data), count, rule, random); });
}

struct Tolerance {
    double relative = 0, absolute = 0;
};

// What a comparison found.
struct Mismatch {
    size_t wrong = 0;      // elements outside the tolerance
    size_t first = 0;      // index of the first of them
    double max_error = 0;  // largest absolute difference among them
    size_t nan = 0;        // elements of `expected` that are NaN
    std::string got, expected;
};

template <class T> std::string spell(T value) {
    char text[40];
    if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
        std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(value));
    } else if constexpr (std::is_integral_v<T>) {
        std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
    } else {
        const double number = static_cast<double>(value);
        if (number != number) return "NaN";
        std::snprintf(text, sizeof text, "%.9g", number);
    }
    return text;
}

// Integers that differ differ, unless a tolerance allows it: double cannot tell large ones apart. NaN agrees with NaN.
template <class T>
bool agrees(T got, T expected, double have, double want, double error, const Tolerance& tolerance) {
    if constexpr (std::is_integral_v<T>) {
        if (got != expected && tolerance.absolute == 0 && tolerance.relative == 0) return false;
    }
    return error <= tolerance.absolute + tolerance.relative * std::fabs(want) || (want != want && have != have);
}

template <class T>
void compare_elements(const T* got, const T* expected, size_t count, const Tolerance& tolerance, Mismatch& found) {
    for (size_t index = 0; index < count; index++) {
        const double want = static_cast<double>(expected[index]);
        found.nan += want != want;
        if (std::memcmp(&got[index], &expected[index], sizeof(T)) == 0) continue;
        const double have = static_cast<double>(got[index]);
        const double error = std::fabs(have - want);
        if (agrees(got[index], expected[index], have, want, error, tolerance)) continue;
        if (found.wrong++ == 0) {
            found.first = index;
            found.got = spell(got[index]);
            found.expected = spell(expected[index]);
        }
        if (error > found.max_error) found.max_error = error;
    }
}

inline Mismatch compare(Type type, const void* got, const void* expected, size_t count, const Tolerance& tolerance) {
    Mismatch found;
    with_type(type, [&](auto zero) {
        using T = decltype(zero);
        compare_elements(static_cast<const T*>(got), static_cast<const T*>(expected), count, tolerance, found);
    });
    return found;
}

}  // namespace ks_harness
