// bfloat16, every value: conversions, arithmetic, comparisons, functions, pairs, shuffles, atomics; the older type too.
#include "check.h"
#include "small_float.h"
#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <sstream>

static_assert(sizeof(__hip_bfloat16) == 2 && sizeof(__hip_bfloat162) == 4 && alignof(__hip_bfloat162) == 4);

__global__ void from_float(const float *x, ushort4 *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __hip_bfloat162 pair = __float22bfloat162_rn(make_float2(1, x[i]));
    out[i] = make_ushort4(__bfloat16_as_ushort(__float2bfloat16(x[i])), __bfloat16_as_ushort(__high2bfloat16(pair)),
                          hip_bfloat16(x[i]).data, hip_bfloat16(x[i], hip_bfloat16::truncate).data);
}
__global__ void from_double(const double *x, unsigned short *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __bfloat16_as_ushort(__double2bfloat16(x[i]));
}
__global__ void to_float(float *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    hip_bfloat16 older;
    older.data = i;
    out[2 * i] = __bfloat162float(__ushort_as_bfloat16(i));
    out[2 * i + 1] = older;
}
void check_conversions() {
    DeviceArray<float> values(2 * 65536);
    to_float<<<256, 256>>>(values.get());
    const std::vector<float> all = values.values();
    for (unsigned i = 0; i < 2 * 65536; ++i) {
        const double expected = ieee_value(kBfloat16, i / 2);
        CHECK(std::isnan(expected) ? std::isnan(all[i]) : all[i] == expected && std::signbit(all[i]) == (i / 2 >= 0x8000));
    }
    std::vector<float> hard = hard_floats(kBfloat16, 100000);
    for (unsigned nan : {0x7f800001u, 0xff80ffffu, 0x7fc00000u, 0xffa51234u}) hard.push_back(bits_as<float>(nan));
    const int n = static_cast<int>(hard.size());
    DeviceArray<float> in(hard);
    DeviceArray<ushort4> out(n);
    from_float<<<(n + 255) / 256, 256>>>(in.get(), out.get(), n);
    const std::vector<ushort4> codes = out.values();
    for (int i = 0; i < n; ++i) {
        const float x = hard[i];
        const ushort4 c = codes[i];
        CHECK(c.x == c.y && c.x == c.z);
        const unsigned sign = std::signbit(x) ? 0x8000 : 0;
        if (std::isnan(x)) {
            const unsigned upper = bits_as<uint32_t>(x) >> 16, lower = bits_as<uint32_t>(x) & 0xffff;
            CHECK(ieee_is_nan(kBfloat16, c.x) && ieee_is_nan(kBfloat16, c.w) && (c.x & 0x8000) == sign);
            CHECK(c.x == (upper | (lower != 0)));
            continue;
        }
        CHECK(c.x == ieee_nearest(kBfloat16, x, 0));
        CHECK(c.w == (sign | kBfloat16.below(std::fabs(x))));
    }
    std::vector<double> doubles = {INFINITY, 1e300, -1e300, 1e-300, 3.3e38, 3.4e38};
    for (unsigned code = 0; code <= kBfloat16.largest; code += 13) {
        const double middle = (kBfloat16.magnitude(code) + kBfloat16.magnitude(code + 1)) / 2;
        for (double x : {middle, middle * (1 + 0x1p-50), middle * (1 - 0x1p-50)}) doubles.push_back(code % 2 ? x : -x);
    }
    DeviceArray<double> double_in(doubles);
    DeviceArray<unsigned short> double_out(doubles.size());
    from_double<<<(doubles.size() + 255) / 256, 256>>>(double_in.get(), double_out.get(), doubles.size());
    const std::vector<unsigned short> got = double_out.values();
    for (size_t i = 0; i < doubles.size(); ++i) CHECK(got[i] == ieee_nearest(kBfloat16, doubles[i], 0));
    CHECK(bits_as<unsigned short>(__hip_bfloat16(0x7fffffff)) == ieee_nearest(kBfloat16, 0x7fffffff, 0));
    CHECK(bits_as<unsigned short>(__hip_bfloat16(0x01010001u)) == ieee_nearest(kBfloat16, 0x01010001, 0));
    CHECK(bits_as<unsigned short>(__hip_bfloat16(short(-257))) == ieee_nearest(kBfloat16, -257, 0));
}

struct Results {
    __hip_bfloat16 sum, difference, product, quotient, fused, least, greatest;
    hip_bfloat16 older[4];
    unsigned holds, holds_both, holds_pair, operators;
};
#define FOR_EACH_COMPARISON(X) X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(equ) X(neu) X(ltu) X(leu) X(gtu) X(geu)
__global__ void arithmetic(const __hip_bfloat16 *a, const __hip_bfloat16 *b, const __hip_bfloat16 *c, Results *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __hip_bfloat16 x = a[i], y = b[i], z = c[i];
    const __hip_bfloat162 left = __halves2bfloat162(x, y), right(y, z);
    hip_bfloat16 ox, oy;
    ox.data = __bfloat16_as_ushort(x), oy.data = __bfloat16_as_ushort(y);
    Results r;
    r.sum = __hadd2(left, right).x;
    r.difference = x - y;
    r.product = __hmul(x, y);
    r.quotient = (left / right).x;
    r.fused = __hfma(x, y, z);
    r.least = __hmin(x, y);
    r.greatest = __hmax2(left, right).x;
    r.older[0] = ox + oy, r.older[1] = ox - oy, r.older[2] = ox * oy, r.older[3] = ox / oy;
    r.holds = r.holds_both = r.holds_pair = 0;
    int bit = 0;
#define COMPARE(NAME)                                                                                                  \
    r.holds |= static_cast<unsigned>(__h##NAME(x, y)) << bit;                                                          \
    r.holds_both |= static_cast<unsigned>(__hb##NAME##2(left, right)) << bit;                                          \
    r.holds_pair |= static_cast<unsigned>(__high2float(__h##NAME##2(__halves2bfloat162(z, x), __halves2bfloat162(z, y)))) << bit; \
    ++bit;
    FOR_EACH_COMPARISON(COMPARE)
    r.operators = (x == y) | (x != y) << 1 | (x < y) << 2 | (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5;
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
template <class T> bool is_rounded(T got, long double exact) {
    const unsigned short code = bits_as<unsigned short>(got);
    return std::isnan(exact) ? ieee_is_nan(kBfloat16, code) : code == ieee_nearest(kBfloat16, exact, 0);
}
void check_arithmetic() {
    const std::vector<unsigned short> special = {0,      0x8000, 1,      0x8001, 0x7f,   0x80,   0x3f80, 0xbf80,
                                                 0x3f81, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xff81, 0x4048};
    std::vector<unsigned short> a, b, c;
    Random random(1234);
    for (unsigned short x : special) {
        for (unsigned short y : special) a.push_back(x), b.push_back(y), c.push_back(special[random.next() % 16]);
    }
    for (int i = 0; i < 60000; ++i) {
        const unsigned short x = random.next();
        a.push_back(x);
        b.push_back(i % 2 ? random.next() : (x ^ 0x8000) + random.next() % 5 + (random.next() % 17) * 0x80);
        c.push_back(random.next());
    }
    const int n = static_cast<int>(a.size());
    const DeviceArray<unsigned short> da(a), db(b), dc(c);
    DeviceArray<Results> out(n);
    arithmetic<<<(n + 127) / 128, 128>>>(reinterpret_cast<__hip_bfloat16 *>(da.get()),
                                         reinterpret_cast<__hip_bfloat16 *>(db.get()),
                                         reinterpret_cast<__hip_bfloat16 *>(dc.get()), out.get(), n);
    const std::vector<Results> results = out.values();
    for (int i = 0; i < n; ++i) {
        const Results &r = results[i];
        const double x = ieee_value(kBfloat16, a[i]), y = ieee_value(kBfloat16, b[i]), z = ieee_value(kBfloat16, c[i]);
        // Sums round to float first, which changes nothing: 24 bits are more than twice 8 and two.
        CHECK(is_rounded(r.sum, (long double)x + y) && is_rounded(r.older[0], (long double)x + y));
        CHECK(is_rounded(r.difference, (long double)x - y) && is_rounded(r.older[1], (long double)x - y));
        CHECK(is_rounded(r.product, (long double)x * y) && is_rounded(r.older[2], (long double)x * y));
        CHECK(is_rounded(r.quotient, (long double)x / y) && is_rounded(r.older[3], (long double)x / y));
        CHECK(is_rounded(r.fused, std::fma((float)x, (float)y, (float)z)));
        const bool zeros = x == 0 && y == 0;
        CHECK(is_rounded(r.least, zeros ? (std::signbit(x) ? x : y) : std::fmin(x, y)));
        CHECK(is_rounded(r.greatest, zeros ? (std::signbit(x) ? y : x) : std::fmax(x, y)));
        const unsigned first = comparisons(x, y), second = comparisons(y, z), neu = 1u << 7;
        CHECK(r.holds == first && r.holds_pair == first && r.operators == (first & 63));
        CHECK(r.holds_both == ((first & second & ~neu) | ((first | second) & neu)));
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
    __global__ void NAME##_kernel(__hip_bfloat162 *out) {                                                              \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
        const __hip_bfloat16 x = __ushort_as_bfloat16(i);                                                              \
        out[i] = __halves2bfloat162(h##NAME(x), h2##NAME(__halves2bfloat162(HIPRT_ONE_BF16, x)).y);                    \
    }                                                                                                                  \
    void check_##NAME() {                                                                                              \
        DeviceArray<__hip_bfloat162> out(65536);                                                                       \
        NAME##_kernel<<<256, 256>>>(out.get());                                                                        \
        const std::vector<__hip_bfloat162> all = out.values();                                                         \
        for (unsigned code = 0; code < 65536; ++code) {                                                                \
            const double x = ieee_value(kBfloat16, code), expected = EXPRESSION;                                       \
            const unsigned short got = bits_as<unsigned short>(all[code].x);                                           \
            CHECK(got == bits_as<unsigned short>(all[code].y));                                                        \
            CHECK(std::isnan(expected) == ieee_is_nan(kBfloat16, got));                                                \
            const int nearest = ieee_nearest(kBfloat16, expected, got);                                                \
            CHECK(std::abs(nearest - got) <= 1);                                                                       \
        }                                                                                                              \
    }
FOR_EACH_FUNCTION(FUNCTION_KERNEL)

__global__ void pairs(__hip_bfloat162 *total, const __hip_bfloat162 *values, float2 *neighbour, int *wrong) {
    const __hip_bfloat162 mine = __ldg(values + threadIdx.x);
    unsafeAtomicAdd(total, mine);
    neighbour[threadIdx.x] = __bfloat1622float2(__shfl_xor(mine, 5));
    if (threadIdx.x != 0) return;
    int bad = 0;
    const __hip_bfloat16 b = 2.75f;
    const int i = b;
    const float f = b;
    const double d = b;
    bad += (i != 2) + (f != 2.75f) + (d != 2.75) + (b ? 0 : 1) + (HIPRT_NEG_ZERO_BF16 ? 1 : 0) + (float(-b) != -2.75f);
    __hip_bfloat162 p(b, 1);
    p++;
    p *= __hip_bfloat162(2.0f, -2.0f);
    bad += !(p == __hip_bfloat162(7.5f, -4)) + (p != p) + !(__hip_bfloat162(1, -5) < p) + (p > p) + !(p >= p);
    const __hip_bfloat162_raw raw = p;
    bad += (raw.x != 0x40f0) + (raw.y != 0xc080) + !(__hip_bfloat162(raw) == p);
    bad += !(__lowhigh2highlow(p) == __hip_bfloat162(-4, 7.5f)) + !(__lows2bfloat162(p, -p) == __hip_bfloat162(7.5f, -7.5f));
    bad += __hisinf(HIPRT_INF_BF16) != 1 || __hisinf(b) || !__hisnan(HIPRT_NAN_BF16) || __hisnan(HIPRT_INF_BF16);
    bad += !(__habs(__hneg(b)) == b);
    *wrong = bad;
}

int main() {
    check_conversions();
    check_arithmetic();
#define CALL_CHECK(NAME, EXPRESSION) check_##NAME();
    FOR_EACH_FUNCTION(CALL_CHECK)

    std::vector<__hip_bfloat162> values(64);
    float low = 0, high = 0;
    for (int i = 0; i < 64; ++i) {
        values[i] = __hip_bfloat162(static_cast<float>(i % 3), i % 7 * 0.5f);
        low += i % 3, high += i % 7 * 0.5f;
    }
    DeviceArray<__hip_bfloat162> in(values), total(1);
    DeviceArray<float2> neighbours(64);
    DeviceArray<int> wrong(1);
    pairs<<<1, 64>>>(total.get(), in.get(), neighbours.get(), wrong.get());
    CHECK(wrong.values()[0] == 0);
    CHECK(float(total.values()[0].x) == low && float(total.values()[0].y) == high);
    const std::vector<float2> moved = neighbours.values();
    for (int i = 0; i < 64; ++i) CHECK(moved[i].x == (i ^ 5) % 3 && moved[i].y == (i ^ 5) % 7 * 0.5f);

    hip_bfloat16 older(1.5f);
    older++;
    std::ostringstream text;
    text << older;
    CHECK(text.str() == "2.5" && !std::isnan(older) && std::iszero(hip_bfloat16(-0.0f)) && std::isinf(hip_bfloat16(INFINITY)));
}
