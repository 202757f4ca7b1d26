// Half precision, every value: conversions in all roundings, arithmetic, comparisons, functions.
#include "check.h"
#include "small_float.h"
#include <hip/hip_fp16.h>

struct Rounded {
    unsigned short rn, rz, rd, ru;
};
__global__ void from_float(const float *x, Rounded *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = {__half_as_ushort(__float2half_rn(x[i])), __half_as_ushort(__float2half_rz(x[i])),
                  __half_as_ushort(__float2half_rd(x[i])), __half_as_ushort(__float2half_ru(x[i]))};
    }
}
__global__ void from_double(const double *x, unsigned short *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __half_as_ushort(__double2half(x[i]));
}
__global__ void to_float(float *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __half2float(__ushort_as_half(i));
}

unsigned short towards(float x, bool up) {
    const bool grows = up != std::signbit(x);
    const unsigned code = kHalf.below(std::fabs(x)), sign = std::signbit(x) ? 0x8000 : 0;
    const bool exact = code <= kHalf.largest && kHalf.magnitude(code) == std::fabs(x);
    if (std::isinf(x)) return sign | 0x7c00;
    return sign | (exact ? code : grows ? std::min(code + 1, 0x7c00u) : std::min(code, 0x7bffu));
}
void check_conversions() {
    DeviceArray<float> values(65536);
    to_float<<<256, 256>>>(values.get());
    const std::vector<float> all = values.values();
    for (unsigned code = 0; code < 65536; ++code) {
        const double expected = ieee_value(kHalf, code);
        CHECK(std::isnan(expected) ? std::isnan(all[code]) : all[code] == expected);
        CHECK(std::isnan(expected) || std::signbit(all[code]) == (code >= 0x8000));
    }
    const std::vector<float> hard = hard_floats(kHalf, 50000);
    const int n = static_cast<int>(hard.size());
    DeviceArray<float> in(hard);
    DeviceArray<Rounded> out(n);
    from_float<<<(n + 255) / 256, 256>>>(in.get(), out.get(), n);
    const std::vector<Rounded> rounded = out.values();
    for (int i = 0; i < n; ++i) {
        const float x = hard[i];
        const Rounded r = rounded[i];
        if (std::isnan(x)) {
            for (unsigned code : {r.rn, r.rz, r.rd, r.ru}) CHECK(ieee_is_nan(kHalf, code));
            continue;
        }
        CHECK(r.rn == ieee_nearest(kHalf, x, 0));
        CHECK(r.rz == towards(x, std::signbit(x)));
        CHECK(r.rd == towards(x, false));
        CHECK(r.ru == towards(x, true));
    }
    // Doubles around the middles: what float cannot tell from a middle.
    std::vector<double> doubles;
    for (unsigned code = 0; code <= kHalf.largest; code += 11) {
        const double middle = (kHalf.magnitude(code) + kHalf.magnitude(code + 1)) / 2;
        for (double x : {middle, middle * (1 + 0x1p-50), middle * (1 - 0x1p-50)}) {
            doubles.push_back(x);
            doubles.push_back(-x);
        }
    }
    doubles.insert(doubles.end(), {1e300, -1e300, INFINITY, 1e-300});
    DeviceArray<double> double_in(doubles);
    DeviceArray<unsigned short> double_out(doubles.size());
    from_double<<<(doubles.size() + 255) / 256, 256>>>(double_in.get(), double_out.get(), doubles.size());
    const std::vector<unsigned short> codes = double_out.values();
    for (size_t i = 0; i < doubles.size(); ++i) CHECK(codes[i] == ieee_nearest(kHalf, doubles[i], 0));
}

struct Integers {
    int i[4];
    unsigned u[4];
    short s[4];
    unsigned short us[4];
    long long ll[4];
    unsigned long long ull[4];
};
#define EACH_ROUNDING(NAME, x)                                                                                         \
    { __half2##NAME##_rn(x), __half2##NAME##_rz(x), __half2##NAME##_rd(x), __half2##NAME##_ru(x) }
__global__ void to_integers(Integers *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const __half x = __ushort_as_half(i);
    out[i] = {EACH_ROUNDING(int, x),    EACH_ROUNDING(uint, x), EACH_ROUNDING(short, x),
              EACH_ROUNDING(ushort, x), EACH_ROUNDING(ll, x),   EACH_ROUNDING(ull, x)};
}
__global__ void from_integers(const long long *x, Rounded *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int v = static_cast<int>(x[i]);
    out[2 * i] = {__half_as_ushort(__int2half_rn(v)), __half_as_ushort(__int2half_rz(v)),
                  __half_as_ushort(__int2half_rd(v)), __half_as_ushort(__int2half_ru(v))};
    out[2 * i + 1] = {__half_as_ushort(__ll2half_rn(x[i])), __half_as_ushort(__ll2half_rz(x[i])),
                      __half_as_ushort(__ll2half_rd(x[i])), __half_as_ushort(__ll2half_ru(x[i]))};
}
template <class I> void check_integer(const I *got, double x) {
    const double rounded[4] = {std::nearbyint(x), std::trunc(x), std::floor(x), std::ceil(x)};
    for (int mode = 0; mode < 4; ++mode) {
        const long double low = std::numeric_limits<I>::min(), high = std::numeric_limits<I>::max();
        const long double clamped = std::isnan(x) ? 0 : std::fmin(std::fmax((long double)rounded[mode], low), high);
        CHECK((long double)got[mode] == clamped);
    }
}
void check_integers() {
    DeviceArray<Integers> out(65536);
    to_integers<<<256, 256>>>(out.get());
    const std::vector<Integers> all = out.values();
    for (unsigned code = 0; code < 65536; ++code) {
        const double x = ieee_value(kHalf, code);
        check_integer(all[code].i, x);
        check_integer(all[code].u, x);
        check_integer(all[code].s, x);
        check_integer(all[code].us, x);
        check_integer(all[code].ll, x);
        check_integer(all[code].ull, x);
    }
    std::vector<long long> values = {0, 1, -1, 2049, 2051, -2049, 65504, 65519, 65520, -65520, 65535, 0x7fffffff};
    Random random(7);
    for (int i = 0; i < 3000; ++i) values.push_back(static_cast<long long>(random.next()) >> (random.next() % 60 + 4));
    const int n = static_cast<int>(values.size());
    DeviceArray<long long> in(values);
    DeviceArray<Rounded> rounded(2 * n);
    from_integers<<<(n + 63) / 64, 64>>>(in.get(), rounded.get(), n);
    const std::vector<Rounded> halves = rounded.values();
    for (int i = 0; i < 2 * n; ++i) {
        const float x = i % 2 == 0 ? static_cast<float>(static_cast<int>(values[i / 2])) : static_cast<float>(values[i / 2]);
        CHECK(halves[i].rn == ieee_nearest(kHalf, x, 0));
        CHECK(halves[i].rz == towards(x, x < 0));
        CHECK(halves[i].rd == towards(x, false));
        CHECK(halves[i].ru == towards(x, true));
    }
}

struct Results {
    __half sum, difference, product, quotient, fused, least, greatest, least_nan, greatest_nan, saturated;
    unsigned holds, holds_both, holds_pair;
    __half2 pair;
};
#define FOR_EACH_COMPARISON(X) X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(equ) X(neu) X(ltu) X(leu) X(gtu) X(geu)
__global__ void arithmetic(const __half *a, const __half *b, const __half *c, Results *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half x = a[i], y = b[i], z = c[i];
    Results r = {__hadd(x, y),     x - y,           __hmul(x, y),     x / y,           __hfma(x, y, z), __hmin(x, y),
                 __hmax(x, y), __hmin_nan(x, y), __hmax_nan(x, y), __hadd_sat(x, y), 0,               0,
                 0,            __hfma2(make_half2(x, z), make_half2(y, x), __halves2half2(z, y))};
    int bit = 0;
#define COMPARE(NAME)                                                                                                  \
    r.holds |= static_cast<unsigned>(__h##NAME(x, y)) << bit;                                                          \
    r.holds_both |= static_cast<unsigned>(__hb##NAME##2(make_half2(x, y), make_half2(y, z))) << bit;                   \
    r.holds_pair |= static_cast<unsigned>(__half2float(__low2half(__h##NAME##2(make_half2(x, y), make_half2(y, z))))) << bit; \
    ++bit;
    FOR_EACH_COMPARISON(COMPARE)
    out[i] = r;
}
unsigned comparisons(double a, double b) {
    const bool u = std::isnan(a) || std::isnan(b);
    const bool holds[] = {a == b, a != b, a < b, a <= b, a > b, a >= b,
                          u || a == b, u || a != b, u || a < b, u || a <= b, u || a > b, u || a >= b};
    unsigned bits = 0;
    for (int i = 0; i < 12; ++i) bits |= static_cast<unsigned>(holds[i]) << i;
    return bits;
}
bool is_rounded(__half got, long double exact) {
    const unsigned short code = bits_as<unsigned short>(got);
    if (std::isnan(exact)) return ieee_is_nan(kHalf, code);
    return code == ieee_nearest(kHalf, exact, 0);
}
bool same(__half got, double expected) { return is_rounded(got, expected); }
void check_arithmetic() {
    const std::vector<unsigned short> special = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00, 0xbc00,
                                                 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x4248};
    std::vector<__half> a, b, c;
    const auto half_of = [](unsigned code) { return bits_as<__half>(static_cast<unsigned short>(code)); };
    Random random(99);
    for (unsigned short x : special) {
        for (unsigned short y : special) {
            a.push_back(half_of(x)), b.push_back(half_of(y)), c.push_back(half_of(special[random.next() % 16]));
        }
    }
    for (int i = 0; i < 60000; ++i) {
        // Half of them close together, where sums cancel.
        const unsigned x = random.next() & 0xffff, y = i % 2 ? random.next() & 0xffff : (x ^ 0x8000) + random.next() % 9;
        a.push_back(half_of(x)), b.push_back(half_of(y)), c.push_back(half_of(random.next()));
    }
    const int n = static_cast<int>(a.size());
    DeviceArray<__half> da(a), db(b), dc(c);
    DeviceArray<Results> out(n);
    arithmetic<<<(n + 127) / 128, 128>>>(da.get(), db.get(), dc.get(), out.get(), n);
    const std::vector<Results> results = out.values();
    for (int i = 0; i < n; ++i) {
        const Results &r = results[i];
        const double x = ieee_value(kHalf, bits_as<unsigned short>(a[i])), y = ieee_value(kHalf, bits_as<unsigned short>(b[i]));
        const double z = ieee_value(kHalf, bits_as<unsigned short>(c[i]));
        CHECK(is_rounded(r.sum, (long double)x + y));
        CHECK(is_rounded(r.difference, (long double)x - y));
        CHECK(is_rounded(r.product, (long double)x * y));
        CHECK(is_rounded(r.quotient, (long double)x / y));
        CHECK(is_rounded(r.fused, fmal(x, y, z)));
        CHECK(is_rounded(r.pair.x, fmal(x, y, z)) && is_rounded(r.pair.y, fmal(z, x, y)));
        const bool zeros = x == 0 && y == 0;
        const double least = zeros ? (std::signbit(x) ? x : y) : std::fmin(x, y);
        const double greatest = zeros ? (std::signbit(x) ? y : x) : std::fmax(x, y);
        CHECK(same(r.least, least) && same(r.greatest, greatest));
        const bool nan = std::isnan(x) || std::isnan(y);
        CHECK(same(r.least_nan, nan ? NAN : least) && same(r.greatest_nan, nan ? NAN : greatest));
        const double sum = ieee_value(kHalf, ieee_nearest(kHalf, (long double)x + y, 0x7e00));
        CHECK(same(r.saturated, sum < 0 ? 0 : sum > 1 ? 1 : sum));
        CHECK(r.holds == comparisons(x, y) && r.holds_pair == comparisons(x, y));
        CHECK(r.holds_both == (comparisons(x, y) & comparisons(y, z)));
    }
}

#define FOR_EACH_FUNCTION(X)                                                                                           \
    X(sqrt, std::sqrt(x))                                                                                              \
    X(rsqrt, 1 / std::sqrt(x))                                                                                         \
    X(rcp, 1 / x)                                                                                                      \
    X(exp, std::exp(x))                                                                                                \
    X(exp2, std::exp2(x))                                                                                              \
    X(exp10, std::pow(10.0, x))                                                                                        \
    X(log, std::log(x))                                                                                                \
    X(log2, std::log2(x))                                                                                              \
    X(log10, std::log10(x))                                                                                            \
    X(sin, std::sin(x))                                                                                                \
    X(cos, std::cos(x))                                                                                                \
    X(floor, std::floor(x))                                                                                            \
    X(ceil, std::ceil(x))                                                                                              \
    X(trunc, std::trunc(x))                                                                                            \
    X(rint, std::nearbyint(x))
#define FUNCTION_KERNEL(NAME, EXPRESSION)                                                                              \
    __global__ void NAME##_kernel(__half2 *out) {                                                                      \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
        const __half x = __ushort_as_half(i);                                                                          \
        out[i] = make_half2(h##NAME(x), __high2half(h2##NAME(make_half2(__float2half(0.5f), x))));                     \
    }                                                                                                                  \
    void check_##NAME() {                                                                                              \
        DeviceArray<__half2> out(65536);                                                                               \
        NAME##_kernel<<<256, 256>>>(out.get());                                                                        \
        const std::vector<__half2> all = out.values();                                                                 \
        for (unsigned code = 0; code < 65536; ++code) {                                                                \
            const double x = ieee_value(kHalf, code), expected = EXPRESSION;                                           \
            const unsigned short got = bits_as<unsigned short>(all[code].x), high = bits_as<unsigned short>(all[code].y); \
            CHECK(got == high);                                                                                        \
            CHECK(std::isnan(expected) == ieee_is_nan(kHalf, got));                                                    \
            const int nearest = ieee_nearest(kHalf, expected, got);                                                    \
            CHECK(std::abs(nearest - got) <= 1);                                                                       \
        }                                                                                                              \
    }
FOR_EACH_FUNCTION(FUNCTION_KERNEL)

int main() {
    check_conversions();
    check_integers();
    check_arithmetic();
#define CALL_CHECK(NAME, EXPRESSION) check_##NAME();
    FOR_EACH_FUNCTION(CALL_CHECK)
}
