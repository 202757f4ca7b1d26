// Conversions with a named rounding, bit patterns, and the integer functions that integer_intrinsics.hip does not call.
#include "calls.h"

const std::vector<double> kNumbers = {0.0,  -0.0, 0.5,    -0.5,   1.5,     2.5,          -2.5,       3.25, -3.75, 126.5, -1e3,
                                      65536.5, 2147483646.5, 2147483647.5, -2147483648.5, 4294967294.5, 4294967296.0, 1e10,
                                      -1e10, 9.2e18, 9.3e18, -9.3e18, 1.8e19, 1.9e19, 1e30, -1e30, NAN, INFINITY, -INFINITY};
template <class T> std::vector<T> numbers() { return std::vector<T>(kNumbers.begin(), kNumbers.end()); }

#define TO_INTEGER(NAME, FROM, TO, ROUND)                                                                              \
    {                                                                                                                  \
        struct F {                                                                                                     \
            static __device__ TO call(FROM x) { return NAME(x); }                                                      \
        };                                                                                                             \
        const std::vector<FROM> in = numbers<FROM>();                                                                  \
        const std::vector<TO> out = values_of<F, TO>(in);                                                              \
        for (size_t i = 0; i < in.size(); ++i) {                                                                       \
            const long double low = std::numeric_limits<TO>::min(), high = std::numeric_limits<TO>::max();             \
            const long double rounded = ROUND(static_cast<long double>(in[i]));                                        \
            const TO expected = std::isnan(in[i]) ? static_cast<TO>(0)                                                              \
                                : rounded <= low  ? std::numeric_limits<TO>::min()                                     \
                                : rounded >= high ? std::numeric_limits<TO>::max()                                     \
                                                  : static_cast<TO>(rounded);                                          \
            if (out[i] != expected) wrong(#NAME, static_cast<int>(i), static_cast<double>(out[i]), static_cast<double>(expected)); \
        }                                                                                                              \
    }
#define TO_INTEGERS(FROM, TO, T)                                                                                       \
    TO_INTEGER(__##FROM##2##TO##_rd, FROM, T, std::floor)                                                              \
    TO_INTEGER(__##FROM##2##TO##_ru, FROM, T, std::ceil)                                                               \
    TO_INTEGER(__##FROM##2##TO##_rz, FROM, T, std::trunc)                                                              \
    TO_INTEGER(__##FROM##2##TO##_rn, FROM, T, std::nearbyint)
void check_to_integers() {
    TO_INTEGERS(double, int, int)
    TO_INTEGERS(double, uint, unsigned)
    TO_INTEGERS(double, ll, long long)
    TO_INTEGERS(double, ull, unsigned long long)
    TO_INTEGERS(float, int, int)
    TO_INTEGERS(float, uint, unsigned)
    TO_INTEGERS(float, ll, long long)
    TO_INTEGERS(float, ull, unsigned long long)
}

template <class T> T bits_of(const void *from) {
    T to;
    std::memcpy(&to, from, sizeof to);
    return to;
}
void check_numbers_and_bits() {
    UNARY(__int2double_rn, int, double, 0, static_cast<double>(x), 0, 7, -8, INT32_MAX, INT32_MIN)
    UNARY(__uint2double_rn, unsigned, double, 0, static_cast<double>(x), 0, 7, UINT32_MAX)
    UNARY(__ll2double_rn, long long, double, 0, static_cast<double>(x), 0, -9, INT64_MAX, (1ll << 53) + 1)
    UNARY(__ull2double_rn, unsigned long long, double, 0, static_cast<double>(x), 0, 9, UINT64_MAX)
    UNARY(__int2float_rn, int, float, 0, static_cast<float>(static_cast<double>(x)), 0, -3, 16777217, 16777219, INT32_MAX)
    UNARY(__uint2float_rn, unsigned, float, 0, static_cast<float>(static_cast<double>(x)), 0, 16777219, UINT32_MAX)
    UNARY(__ll2float_rn, long long, float, 0, static_cast<float>(static_cast<long double>(x)), -5, 1ll << 40, INT64_MAX)
    UNARY(__ull2float_rn, unsigned long long, float, 0, static_cast<float>(static_cast<long double>(x)), 5, UINT64_MAX)
    UNARY(__double2float_rn, double, float, 0, static_cast<float>(x), 0.1, -1e30, 1.00000005960464477)
    UNARY(__float_as_uint, float, unsigned, 0, bits_of<unsigned>(&x), 1.5f, -0.0f)
    UNARY(__uint_as_float, unsigned, float, 0, bits_of<float>(&x), 0x3fc00000u, 0xc0490fdbu)
    UNARY(__lastbit_u32_u64, unsigned long long, unsigned, 0, x == 0 ? 4294967295.0l : std::log2(x & -x), 0, 1, 80, 1ull << 63)
}
uint64_t inserted(uint64_t x, uint64_t value, int offset, int width) {
    for (int i = 0; i < width; ++i) {
        x &= ~(1ull << (offset + i));
        x |= (value >> i & 1) << (offset + i);
    }
    return x;
}
struct BitInsert32 {
    static __device__ unsigned call(unsigned x, unsigned v) { return __bitinsert_u32(x, v, 9, 7); }
};
struct BitInsert64 {
    static __device__ unsigned long call(unsigned long x, unsigned long v) { return __bitinsert_u64(x, v, 33, 20); }
};
void check_integers() {
    BINARY(__mul64hi, long long, long long, long long, static_cast<long long>((static_cast<__int128>(a) * b) >> 64))
    BINARY(__uhadd, unsigned, unsigned, unsigned, static_cast<unsigned>((static_cast<uint64_t>(a) + b) / 2))
    BINARY(__urhadd, unsigned, unsigned, unsigned, static_cast<unsigned>((static_cast<uint64_t>(a) + b + 1) / 2))
    TERNARY(__bitextract_u64, unsigned long, unsigned long, unsigned, unsigned, a << (64 - b - c) >> (64 - c))
    TERNARY(__funnelshift_rc, unsigned, unsigned, unsigned, unsigned,
            c >= 32 ? b : static_cast<unsigned>((uint64_t{b} << 32 | a) >> c))
    const std::vector<unsigned> x = {0, ~0u, 0x12345678u}, v = {0x55u, 0u, 0xffffffffu};
    const std::vector<unsigned long> wide = {0, ~0ul, 0x123456789abcdefful}, w = {0x55555ul, 0ul, ~0ul};
    const auto narrow_out = values_of<BitInsert32, unsigned>(x, v);
    const auto wide_out = values_of<BitInsert64, unsigned long>(wide, w);
    for (int i = 0; i < 3; ++i) {
        CHECK(narrow_out[i] == inserted(x[i], v[i], 9, 7) && wide_out[i] == inserted(wide[i], w[i], 33, 20));
    }
}

struct FindSet32 {
    static __device__ int call(unsigned long mask, unsigned base, int offset) { return __fns32(mask, base, offset); }
};
struct FindSet64 {
    static __device__ int call(unsigned long mask, unsigned base, int offset) { return __fns64(mask, base, offset); }
};
struct LastBit {
    static __device__ unsigned call(unsigned x) { return __lastbit_u32_u32(x); }
};
/// As HIP describes them: the places of the set bits are listed, and one is taken.
void check_set_bits() {
    std::vector<unsigned long> masks;
    std::vector<unsigned> bases, last = {0, 1, 2, 0x50, 0x80000000u};
    std::vector<int> offsets;
    for (int i = 0; i < 300; ++i) {
        masks.push_back(0x9e3779b97f4a7c15ul * (i + 1) >> (i % 40));
        bases.push_back(static_cast<unsigned>(i * 7 % 32));
        offsets.push_back(i % 11 - 5);
    }
    const auto narrow = values_of<FindSet32, int>(masks, bases, offsets), wide = values_of<FindSet64, int>(masks, bases, offsets);
    for (int i = 0; i < 300; ++i) {
        for (const int width : {32, 64}) {
            const int base = static_cast<int>(bases[i]), offset = offsets[i];
            std::vector<int> upwards, downwards;
            for (int bit = base; bit < width; ++bit) if (masks[i] >> bit & 1) upwards.push_back(bit);
            for (int bit = base; bit >= 0; --bit) if (masks[i] >> bit & 1) downwards.push_back(bit);
            const std::vector<int> &list = offset < 0 ? downwards : upwards;
            const int wanted = std::abs(offset);
            int expected = wanted <= static_cast<int>(list.size()) && wanted > 0 ? list[wanted - 1] : -1;
            if (offset == 0) expected = masks[i] >> base & 1 ? base : -1;
            CHECK((width == 32 ? narrow : wide)[i] == expected);
        }
    }
    const std::vector<unsigned> found = values_of<LastBit, unsigned>(last);
    CHECK(found == (std::vector<unsigned>{~0u, 0, 1, 4, 31}));
}

int main() {
    check_set_bits();
    check_to_integers();
    check_numbers_and_bits();
    check_integers();
}
