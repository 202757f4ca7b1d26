// The compiler's own names for arithmetic: mathematics, bits, bytes, conversions of pairs, dot products.
#include "check.h"
#include <cstring>
#include <type_traits>

typedef _Float16 Half2 __attribute__((ext_vector_type(2)));
typedef short Short2 __attribute__((ext_vector_type(2)));
typedef unsigned short UShort2 __attribute__((ext_vector_type(2)));

template <class To, class From> __host__ __device__ To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
bool near(double given, double expected, double relative) {
    if (std::isnan(expected)) return std::isnan(given);
    if (std::isinf(expected)) return given == expected;
    return std::fabs(given - expected) <= relative * std::fabs(expected) + 1e-300;
}

__global__ void floats(const float *x, float *out, int *whole) {
    const int t = threadIdx.x;
    float *at = out + t * 12;
    at[0] = __builtin_amdgcn_rcpf(x[t]);
    at[1] = __builtin_amdgcn_rsqf(x[t]);
    at[2] = __builtin_amdgcn_sqrtf(x[t]);
    at[3] = __builtin_amdgcn_exp2f(x[t] / 64);
    at[4] = __builtin_amdgcn_logf(x[t]);
    at[5] = __builtin_amdgcn_sinf(x[t]);
    at[6] = __builtin_amdgcn_cosf(x[t]);
    at[7] = __builtin_amdgcn_fractf(x[t]);
    at[8] = __builtin_amdgcn_frexp_mantf(x[t]);
    at[9] = __builtin_amdgcn_ldexpf(x[t], t % 9 - 4);
    at[10] = __builtin_amdgcn_fmed3f(x[t], 2.5f, x[(t * 5 + 3) % blockDim.x]);
    at[11] = 0;
    whole[t * 2] = __builtin_amdgcn_frexp_expf(x[t]);
    int classes = 0;
    classes |= __builtin_amdgcn_classf(x[t], 0x001) << 0, classes |= __builtin_amdgcn_classf(x[t], 0x002) << 1;
    classes |= __builtin_amdgcn_classf(x[t], 0x004) << 2, classes |= __builtin_amdgcn_classf(x[t], 0x008) << 3;
    classes |= __builtin_amdgcn_classf(x[t], 0x010) << 4, classes |= __builtin_amdgcn_classf(x[t], 0x020) << 5;
    classes |= __builtin_amdgcn_classf(x[t], 0x040) << 6, classes |= __builtin_amdgcn_classf(x[t], 0x080) << 7;
    classes |= __builtin_amdgcn_classf(x[t], 0x100) << 8, classes |= __builtin_amdgcn_classf(x[t], 0x200) << 9;
    whole[t * 2 + 1] = classes;
}
int class_of(float x) {
    const bool negative = std::signbit(x);
    switch (std::fpclassify(x)) {
    case FP_NAN: return 1 << 1;
    case FP_INFINITE: return negative ? 1 << 2 : 1 << 9;
    case FP_NORMAL: return negative ? 1 << 3 : 1 << 8;
    case FP_SUBNORMAL: return negative ? 1 << 4 : 1 << 7;
    default: return negative ? 1 << 5 : 1 << 6;
    }
}
double median(double a, double b, double c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }
void check_floats() {
    std::vector<float> x;
    for (int i = 0; i < 200; ++i) x.push_back(static_cast<float>((i * 37 % 101 + 1) * std::pow(1.7, i % 23 - 11)));
    for (float f : {-1.25f, -7.5f, 1e-41f, -1e-42f, 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 3.4e38f, 1.18e-38f, -0.3f}) {
        x.push_back(f);
    }
    const int n = static_cast<int>(x.size());
    DeviceArray<float> input(x), output(n * 12);
    DeviceArray<int> whole(n * 2);
    floats<<<1, n>>>(input.get(), output.get(), whole.get());
    const auto out = output.values();
    const auto ints = whole.values();
    for (int t = 0; t < n; ++t) {
        const float *at = out.data() + t * 12;
        const double d = x[t];
        const bool usual = std::fpclassify(x[t]) == FP_NORMAL; // devices differ in what they do with the rest
        if (usual) {
            CHECK(near(at[0], 1 / d, 1e-6));
            CHECK(near(at[1], 1 / std::sqrt(d), 1e-6));
            CHECK(near(at[2], std::sqrt(d), 1e-6));
            CHECK(near(at[3], static_cast<float>(std::exp2(d / 64)), 1e-4));
            CHECK(d <= 0 || std::fabs(at[4] - std::log2(d)) < 1e-5 * std::fabs(std::log2(d)) + 1e-6);
            const double turns = d - std::floor(d);
            CHECK(std::fabs(at[5] - std::sin(turns * 2 * M_PI)) < 1e-5);
            CHECK(std::fabs(at[6] - std::cos(turns * 2 * M_PI)) < 1e-5);
            CHECK(std::fabs(at[7] - turns) <= 6e-8 && at[7] >= 0 && at[7] < 1);
            int exponent;
            const double mantissa = std::frexp(d, &exponent);
            CHECK(at[8] == mantissa && ints[t * 2] == exponent);
            CHECK(at[9] == static_cast<float>(std::ldexp(d, t % 9 - 4)) || std::fabs(std::ldexp(d, t % 9 - 4)) < 1.2e-38);
            const float other = x[(t * 5 + 3) % n];
            CHECK(std::isnan(other) || at[10] == median(d, 2.5, other));
        }
        CHECK(ints[t * 2 + 1] == class_of(x[t]));
    }
}

__global__ void doubles(const double *x, double *out, int *whole) {
    const int t = threadIdx.x;
    double *at = out + t * 6;
    at[0] = __builtin_amdgcn_rcp(x[t]);
    at[1] = __builtin_amdgcn_rsq(x[t]);
    at[2] = __builtin_amdgcn_sqrt(x[t]);
    at[3] = __builtin_amdgcn_fract(x[t]);
    at[4] = __builtin_amdgcn_frexp_mant(x[t]);
    at[5] = __builtin_amdgcn_ldexp(x[t], t - 50);
    whole[t * 2] = __builtin_amdgcn_frexp_exp(x[t]);
    whole[t * 2 + 1] = __builtin_amdgcn_class(x[t], 0x108) + 2 * __builtin_amdgcn_class(x[t], 0x204);
}
__global__ void halves(const _Float16 *x, _Float16 *out, int *whole) {
    const int t = threadIdx.x;
    _Float16 *at = out + t * 9;
    at[0] = __builtin_amdgcn_rcph(x[t]);
    at[1] = __builtin_amdgcn_rsqh(x[t]);
    at[2] = __builtin_amdgcn_sqrth(x[t]);
    at[3] = __builtin_amdgcn_sinh(x[t]);
    at[4] = __builtin_amdgcn_cosh(x[t]);
    at[5] = __builtin_amdgcn_fracth(x[t]);
    at[6] = __builtin_amdgcn_frexp_manth(x[t]);
    at[7] = __builtin_amdgcn_ldexph(x[t], 2);
    at[8] = __builtin_amdgcn_fmed3h(x[t], (_Float16)1.5f, (_Float16)6.0f);
    whole[t * 2] = __builtin_amdgcn_frexp_exph(x[t]);
    whole[t * 2 + 1] = __builtin_amdgcn_classh(x[t], 0x100);
}
void check_doubles_and_halves() {
    const int n = 100;
    std::vector<double> x(n);
    std::vector<_Float16> h(n);
    for (int i = 0; i < n; ++i) {
        x[i] = (i + 1) * std::pow(1.9, i % 31 - 15) + 1e-9;
        h[i] = static_cast<_Float16>(0.37f * static_cast<float>(i + 1));
    }
    DeviceArray<double> dx(x), dout(n * 6);
    DeviceArray<_Float16> hx(h), hout(n * 9);
    DeviceArray<int> whole(n * 2), half_whole(n * 2);
    doubles<<<1, n>>>(dx.get(), dout.get(), whole.get());
    halves<<<1, n>>>(hx.get(), hout.get(), half_whole.get());
    const auto out = dout.values();
    const auto half_out = hout.values();
    const auto ints = whole.values(), half_ints = half_whole.values();
    for (int t = 0; t < n; ++t) {
        const double *at = out.data() + t * 6;
        int exponent;
        CHECK(near(at[0], 1 / x[t], 1e-6) && near(at[1], 1 / std::sqrt(x[t]), 1e-6) && near(at[2], std::sqrt(x[t]), 1e-6));
        CHECK(std::fabs(at[3] - (x[t] - std::floor(x[t]))) < 1e-15);
        CHECK(at[4] == std::frexp(x[t], &exponent) && ints[t * 2] == exponent && at[5] == std::ldexp(x[t], t - 50));
        CHECK(ints[t * 2 + 1] == 1);
        const double d = static_cast<double>(h[t]), turns = d - std::floor(d);
        double expected[9] = {1 / d, 1 / std::sqrt(d), std::sqrt(d), std::sin(2 * M_PI * turns), std::cos(2 * M_PI * turns),
                              turns, std::frexp(d, &exponent), 4 * d, median(d, 1.5, 6)};
        for (int i = 0; i < 9; ++i) {
            CHECK(std::fabs(static_cast<double>(half_out[t * 9 + i]) - expected[i]) <= 2e-3 * std::max(1.0, expected[i]));
        }
        CHECK(half_ints[t * 2] == exponent && half_ints[t * 2 + 1] == 1);
    }
}

__global__ void bits(const unsigned *x, unsigned *out) {
    const int t = threadIdx.x;
    const unsigned a = x[t], b = x[t + 1], c = x[t + 2];
    unsigned *at = out + t * 12;
    at[0] = __builtin_amdgcn_ubfe(a, b & 31, c & 31);
    at[1] = static_cast<unsigned>(__builtin_amdgcn_sbfe(static_cast<int>(a), b & 31, c & 31));
    at[2] = __builtin_amdgcn_alignbit(a, b, c & 31);
    at[3] = __builtin_amdgcn_alignbyte(a, b, c & 3);
    at[4] = __builtin_amdgcn_perm(a, b, c & 0x0f0f0f0f);
    at[5] = __builtin_amdgcn_sad_u8(a, b, c);
    at[6] = __builtin_amdgcn_sad_hi_u8(a, b, c);
    at[7] = __builtin_amdgcn_sad_u16(a, b, c);
    at[8] = __builtin_amdgcn_msad_u8(a, b & 0xff00ffff, c);
    at[9] = __builtin_amdgcn_lerp(a, b, c);
    at[10] = bits_as<unsigned>(__builtin_amdgcn_cvt_pk_u16(a >> (c % 20), b >> (c % 17)));
    at[11] = bits_as<unsigned>(__builtin_amdgcn_cvt_pk_i16(static_cast<int>(a) >> (c % 20), static_cast<int>(b) >> (c % 17)));
}
void check_bits() {
    const int n = 512;
    std::vector<unsigned> x(n + 2);
    unsigned state = 12345;
    for (unsigned &v : x) v = state = state * 1664525u + 1013904223u, v ^= v >> 13;
    DeviceArray<unsigned> input(x), output(n * 12);
    bits<<<1, n>>>(input.get(), output.get());
    const auto out = output.values();
    for (int t = 0; t < n; ++t) {
        const unsigned a = x[t], b = x[t + 1], c = x[t + 2], offset = b & 31, width = c & 31;
        const unsigned *at = out.data() + t * 12;
        uint64_t field = 0, extended = 0;
        for (unsigned i = 0; i < width; ++i) field |= offset + i < 32 ? uint64_t{a >> (offset + i) & 1} << i : 0;
        extended = field;
        const unsigned held = std::min(width, 32 - offset);
        if (held > 0 && field >> (held - 1) & 1) extended |= ~0ull << held;
        CHECK(at[0] == static_cast<unsigned>(field));
        CHECK(at[1] == static_cast<unsigned>(extended));
        const uint64_t both = uint64_t{a} << 32 | b;
        CHECK(at[2] == static_cast<unsigned>(both >> (c & 31)) && at[3] == static_cast<unsigned>(both >> 8 * (c & 3)));
        unsigned char bytes[8], permuted[4], lerped[4];
        std::memcpy(bytes, &b, 4), std::memcpy(bytes + 4, &a, 4);
        unsigned sad = 0, masked = 0;
        for (int i = 0; i < 4; ++i) {
            const unsigned which = c >> 8 * i & 15;
            permuted[i] = which < 8 ? bytes[which] : which < 12 ? (bytes[2 * which - 15] >> 7 ? 255 : 0) : which == 12 ? 0 : 255;
            const int difference = std::abs(bytes[4 + i] - bytes[i]);
            sad += difference;
            if (i != 2 && bytes[i] != 0) masked += difference;
            lerped[i] = static_cast<unsigned char>((bytes[i] + bytes[4 + i] + (c >> 8 * i & 1)) / 2);
        }
        CHECK(std::memcmp(&at[4], permuted, 4) == 0);
        CHECK(at[5] == c + sad && at[6] == c + (sad << 16) && at[8] == c + masked);
        const int low = static_cast<int>(a & 0xffff) - static_cast<int>(b & 0xffff);
        const int high = static_cast<int>(a >> 16) - static_cast<int>(b >> 16);
        CHECK(at[7] == c + std::abs(low) + std::abs(high));
        CHECK(std::memcmp(&at[9], lerped, 4) == 0);
        const auto to_u16 = [](unsigned v) { return std::min(v, 65535u); };
        const auto to_i16 = [](int v) { return static_cast<unsigned>(std::min(std::max(v, -32768), 32767)) & 0xffff; };
        CHECK(at[10] == (to_u16(a >> c % 20) | to_u16(b >> c % 17) << 16));
        CHECK(at[11] == (to_i16(static_cast<int>(a) >> c % 20) | to_i16(static_cast<int>(b) >> c % 17) << 16));
    }
}

__global__ void pairs(const float *x, unsigned *out) {
    const int t = threadIdx.x;
    out[t * 3] = bits_as<unsigned>(__builtin_amdgcn_cvt_pkrtz(x[t], x[t + 1]));
    out[t * 3 + 1] = bits_as<unsigned>(__builtin_amdgcn_cvt_pknorm_i16(x[t], x[t + 1]));
    out[t * 3 + 2] = bits_as<unsigned>(__builtin_amdgcn_cvt_pknorm_u16(x[t], x[t + 1]));
}
/// The half of largest size that is not above |x|, with x's sign.
double toward_zero(double x) {
    if (std::isinf(x) || x == 0) return x;
    int exponent;
    std::frexp(x, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
    return std::copysign(std::min(std::floor(std::fabs(x) / unit) * unit, 65504.0), x);
}
void check_pairs() {
    std::vector<float> x;
    for (int i = 0; i < 300; ++i) x.push_back(static_cast<float>((i * 71 % 173 - 86) * std::pow(1.83, i % 47 - 33)));
    for (float f : {65504.0f, 65519.0f, 65520.0f, 1e9f, -7e4f, 1e-9f, -6e-8f, 0.5f, 1.0f, -1.0f, 2.0f}) x.push_back(f);
    const int n = static_cast<int>(x.size()) - 1;
    DeviceArray<float> input(x);
    DeviceArray<unsigned> output(n * 3);
    pairs<<<1, n>>>(input.get(), output.get());
    const auto out = output.values();
    for (int t = 0; t < n; ++t) {
        for (int i = 0; i < 2; ++i) {
            const double d = x[t + i];
            const auto half = bits_as<_Float16>(static_cast<uint16_t>(out[t * 3] >> 16 * i));
            CHECK(static_cast<double>(half) == toward_zero(d));
            const int16_t signed_part = static_cast<int16_t>(out[t * 3 + 1] >> 16 * i);
            const uint16_t unsigned_part = static_cast<uint16_t>(out[t * 3 + 2] >> 16 * i);
            CHECK(std::fabs(signed_part - std::min(std::max(d, -1.0), 1.0) * 32767) <= 0.51);
            CHECK(std::fabs(unsigned_part - std::min(std::max(d, 0.0), 1.0) * 65535) <= 0.51);
        }
    }
}

__global__ void dots(const unsigned *x, int *out, float *sums) {
    const int t = threadIdx.x;
    const unsigned a = x[t], b = x[t + 1], c = x[t + 2];
    int *at = out + t * 12;
    at[0] = __builtin_amdgcn_sdot4(a, b, c, false), at[1] = __builtin_amdgcn_sdot4(a, b, c, true);
    at[2] = __builtin_amdgcn_udot4(a, b, c, false), at[3] = __builtin_amdgcn_udot4(a, b, c, true);
    at[4] = __builtin_amdgcn_sdot8(a, b, c, false), at[5] = __builtin_amdgcn_sdot8(a, b, c, true);
    at[6] = __builtin_amdgcn_udot8(a, b, c, false), at[7] = __builtin_amdgcn_udot8(a, b, c, true);
    at[8] = __builtin_amdgcn_sdot2(bits_as<Short2>(a), bits_as<Short2>(b), c, false);
    at[9] = __builtin_amdgcn_sdot2(bits_as<Short2>(a), bits_as<Short2>(b), c, true);
    at[10] = __builtin_amdgcn_udot2(bits_as<UShort2>(a), bits_as<UShort2>(b), c, false);
    at[11] = __builtin_amdgcn_udot2(bits_as<UShort2>(a), bits_as<UShort2>(b), c, true);
    const Half2 ha = {(_Float16)(float)(a % 64), (_Float16)(float)(a % 9)}, hb = {(_Float16)(float)(b % 31), (_Float16)0.25f};
    sums[t * 2] = __builtin_amdgcn_fdot2(ha, hb, (float)(c % 1000), false);
    sums[t * 2 + 1] = __builtin_amdgcn_fdot2(ha, hb, -(float)(c % 1000), true);
}
__global__ void mixed_dots(const unsigned *x, int *out) {
    const int t = threadIdx.x;
    const unsigned a = x[t], b = x[t + 1], c = x[t + 2];
    int *at = out + t * 6;
    at[0] = amd_mixed_dot(bits_as<char4>(a), bits_as<char4>(b), static_cast<int>(c), true);
    at[1] = amd_mixed_dot(bits_as<uchar4>(a), bits_as<uchar4>(b), c, true);
    at[2] = amd_mixed_dot(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c), true);
    at[3] = amd_mixed_dot(a, b, c, true);
    at[4] = amd_mixed_dot(bits_as<short2>(a), bits_as<short2>(b), static_cast<int>(c), true);
    at[5] = amd_mixed_dot(bits_as<ushort2>(a), bits_as<ushort2>(b), c, true);
}
template <int width> int64_t dot(unsigned a, unsigned b, bool is_signed) {
    int64_t sum = 0;
    for (int at = 0; at < 32; at += width) {
        int64_t x = a >> at & ((1ull << width) - 1), y = b >> at & ((1ull << width) - 1);
        if (is_signed && x >> (width - 1)) x -= 1ll << width;
        if (is_signed && y >> (width - 1)) y -= 1ll << width;
        sum += x * y;
    }
    return sum;
}
void check_dots() {
    const int n = 512;
    std::vector<unsigned> x(n + 2);
    unsigned state = 777;
    for (unsigned &v : x) v = state = state * 1664525u + 1013904223u, v ^= v >> 11;
    for (int i = 2; i < n; i += 7) x[i] = i % 2 ? 0x7ffffff0u : 0x80000004u; // sums that leave the range
    for (int i = 3; i < n; i += 7) x[i] = 0xfffffff9u;
    DeviceArray<unsigned> input(x);
    DeviceArray<int> output(n * 12), mixed(n * 6);
    DeviceArray<float> sums(n * 2);
    mixed_dots<<<1, n>>>(input.get(), mixed.get());
    const auto mixed_out = mixed.values();
    dots<<<1, n>>>(input.get(), output.get(), sums.get());
    const auto out = output.values();
    const auto floats = sums.values();
    for (int t = 0; t < n; ++t) {
        const unsigned a = x[t], b = x[t + 1], c = x[t + 2];
        const int64_t products[6] = {dot<8>(a, b, true),  dot<8>(a, b, false),  dot<4>(a, b, true),
                                     dot<4>(a, b, false), dot<16>(a, b, true), dot<16>(a, b, false)};
        for (int i = 0; i < 6; ++i) {
            const int64_t sum = products[i] + (i % 2 ? int64_t{c} : int64_t{static_cast<int>(c)});
            const int64_t low = i % 2 ? 0 : INT32_MIN, high = i % 2 ? UINT32_MAX : INT32_MAX;
            CHECK(static_cast<unsigned>(out[t * 12 + 2 * i]) == static_cast<unsigned>(sum));
            const auto clamped = static_cast<unsigned>(std::min(std::max(sum, low), high));
            CHECK(static_cast<unsigned>(out[t * 12 + 2 * i + 1]) == clamped);
            CHECK(static_cast<unsigned>(mixed_out[t * 6 + i]) == clamped);
        }
        const float product = static_cast<float>(a % 64 * (b % 31)) + 0.25f * static_cast<float>(a % 9);
        CHECK(floats[t * 2] == product + static_cast<float>(c % 1000));
        CHECK(floats[t * 2 + 1] == std::min(std::max(product - static_cast<float>(c % 1000), 0.0f), 1.0f));
    }
}

int main() {
    check_floats();
    check_doubles_and_halves();
    check_bits();
    check_pairs();
    check_dots();
}
