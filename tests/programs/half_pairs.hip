// Functions of half precision, bfloat16 and fp8 that the other programs do not call: pairs, saturation, NaN, integers; and the
// cached loads and stores. Numbers are chosen so that float arithmetic is exact and one rounding decides.
#include "check.h"
#include <cstring>
#include <hip/hip_bf16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>

constexpr int kPairs = 16, kSingles = 8;
__global__ void pairs(const float *x, float *out, float *single) {
    const int t = threadIdx.x;
    const __half2 a = __floats2half2_rn(x[t], x[t + 1]), b = __floats2half2_rn(x[t + 2], x[t + 3]);
    const __half2 c = __float2half2_rn(0.25f);
    const __half2 results[kPairs] = {
        __hsub2(a, b),      __h2div(a, b),           __hneg2(a),           __habs2(a),        __hmin2(a, b),     __hmin2_nan(a, b),
        __hmax2_nan(a, b),  __hadd2_sat(a, b),       __hsub2_sat(a, b),    __hmul2_sat(a, b), __hfma2_sat(a, b, c), __hisinf2(a),
        __hisnan2(a),       __low2half2(a),          __high2half2(a),      __float22half2_rn(make_float2(x[t + 1], x[t])),
    };
    for (int i = 0; i < kPairs; ++i) {
        out[(t * kPairs + i) * 2] = __low2float(results[i]);
        out[(t * kPairs + i) * 2 + 1] = __high2float(results[i]);
    }
    const __half p = __float2half(x[t]), q = __float2half(x[t + 1]);
    single[t * kSingles] = __half2float(__hsub(p, q));
    single[t * kSingles + 1] = __half2float(__hdiv(p, q));
    single[t * kSingles + 2] = __half2float(__hsub_sat(p, q));
    single[t * kSingles + 3] = __half2float(__hmul_sat(p, q));
    single[t * kSingles + 4] = __half2float(__hfma_sat(p, q, __float2half(0.5f)));
    single[t * kSingles + 5] = __half2float(__clamp_01(p));
    single[t * kSingles + 6] = __half_as_short(p);
    single[t * kSingles + 7] = __half2float(__short_as_half(__half_as_short(q)));
}
float to_half(double x) { return static_cast<float>(static_cast<_Float16>(x)); }
float clamped(double x) { return std::isnan(x) ? NAN : to_half(std::min(std::max(x, 0.0), 1.0)); }
bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : a == b; }
void check_pairs() {
    const std::vector<float> x = {0.5f, -0.75f, 3.0f, 0.125f, -2.5f, NAN, 1.5f, 0.3330078125f, INFINITY, 7.0f, -0.0625f, 100.0f, 0.875f};
    const int n = static_cast<int>(x.size()) - 3;
    DeviceArray<float> input(x), output(n * kPairs * 2), singles(n * kSingles);
    pairs<<<1, n>>>(input.get(), output.get(), singles.get());
    const auto out = output.values(), single = singles.values();
    for (int t = 0; t < n; ++t) {
        for (int i = 0; i < 2; ++i) {
            const double a = x[t + i], b = x[t + 2 + i];
            const bool nan = std::isnan(a) || std::isnan(b);
            const double least = std::isnan(a) ? b : std::isnan(b) ? a : std::min(a, b);
            const float expected[kPairs] = {
                to_half(a - b), to_half(static_cast<float>(a / b)), to_half(-a), to_half(std::fabs(a)), to_half(least),
                nan ? NAN : to_half(least), nan ? NAN : to_half(std::max(a, b)), clamped(to_half(a + b)), clamped(to_half(a - b)),
                clamped(to_half(a * b)), clamped(to_half(a * b + 0.25)), std::isinf(a) ? 1.0f : 0.0f, std::isnan(a) ? 1.0f : 0.0f, x[t],
                x[t + 1], x[t + 1 - i],
            };
            for (int k = 0; k < kPairs; ++k) {
                const float given = out[(t * kPairs + k) * 2 + i];
                if (!same(given, expected[k])) {
                    std::fprintf(stderr, "pair function %d, case %d, element %d: %g, not %g\n", k, t, i, given, expected[k]);
                    std::exit(1);
                }
            }
        }
        const double p = x[t], q = x[t + 1];
        const _Float16 half = static_cast<_Float16>(x[t]);
        short bits;
        std::memcpy(&bits, &half, sizeof bits);
        const float expected[kSingles] = {to_half(p - q),          to_half(static_cast<float>(p / q)),
                                          clamped(to_half(p - q)), clamped(to_half(p * q)),
                                          clamped(to_half(p * q + 0.5)), clamped(p),
                                          static_cast<float>(bits), x[t + 1]};
        for (int k = 0; k < kSingles; ++k) {
            if (!same(single[t * kSingles + k], expected[k])) {
                std::fprintf(stderr, "function %d, case %d: %g, not %g\n", k, t, single[t * kSingles + k], expected[k]);
                std::exit(1);
            }
        }
    }
}

template <class T> __device__ void from_integer(T x, float *out);
#define FROM_INTEGER(T, NAME)                                                                                          \
    template <> __device__ void from_integer<T>(T x, float *out) {                                                     \
        out[0] = __half2float(__##NAME##2half_rn(x)), out[1] = __half2float(__##NAME##2half_rz(x));                    \
        out[2] = __half2float(__##NAME##2half_rd(x)), out[3] = __half2float(__##NAME##2half_ru(x));                    \
    }
FROM_INTEGER(short, short)
FROM_INTEGER(unsigned short, ushort)
FROM_INTEGER(unsigned, uint)
FROM_INTEGER(unsigned long long, ull)
template <class T> __global__ void integers(const T *in, float *out) { from_integer(in[threadIdx.x], out + threadIdx.x * 4); }
/// The halves next to x: steps are powers of two of at least a 1024th of x.
void neighbours(double x, double *below, double *above) {
    int exponent;
    std::frexp(x, &exponent);
    const double unit = std::max(1.0, std::ldexp(1.0, exponent - 11));
    *below = std::floor(x / unit) * unit, *above = std::ceil(x / unit) * unit;
}
template <class T> void check_integers(std::vector<T> in) {
    const int n = static_cast<int>(in.size());
    DeviceArray<T> input(in);
    DeviceArray<float> output(n * 4);
    integers<T><<<1, n>>>(input.get(), output.get());
    const auto out = output.values();
    for (int i = 0; i < n; ++i) {
        const double x = static_cast<double>(in[i]);
        double below, above;
        neighbours(x, &below, &above);
        const float *at = out.data() + i * 4;
        CHECK(at[0] == to_half(x) && at[1] == (x < 0 ? above : below) && at[2] == below && at[3] == above);
    }
}

__global__ void bfloats(const float *x, float *out, const short *bits) {
    const int t = threadIdx.x;
    const __hip_bfloat16 a = __float2bfloat16_rn(x[t]), b = __float2bfloat16(x[t + 1]);
    const __hip_bfloat162 ab = make_bfloat162(a, b), ba = make_bfloat162(b, a);
    const __hip_bfloat162 results[6] = {__bfloat162bfloat162(a), __float2bfloat162_rn(x[t + 1]), __high2bfloat162(ab),
                                        __highs2bfloat162(ab, ba), __low2bfloat162(ab), make_bfloat162(__low2bfloat16(ab), a)};
    for (int i = 0; i < 6; ++i) {
        out[t * 14 + 2 * i] = __low2float(results[i]), out[t * 14 + 2 * i + 1] = __high2float(results[i]);
    }
    out[t * 14 + 12] = __bfloat16_as_short(a), out[t * 14 + 13] = __bfloat162float(__short_as_bfloat16(bits[t]));
}
/// To the nearest of 8 significant bits, ties to even.
float to_bfloat(double x) {
    int exponent;
    const double fraction = std::frexp(x, &exponent);
    return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8));
}
void check_bfloats() {
    const std::vector<float> x = {1.0f, 1.00390625f, 1.01171875f, -3.14159f, 1e20f, -7.3e-12f, 255.5f};
    const std::vector<short> bits = {0x3f80, 0x4049, 0x4000, 0x42f7, 0x3e80, 0x3f00};
    const float meant[6] = {1.0f, 3.140625f, 2.0f, 123.5f, 0.25f, 0.5f};
    DeviceArray<float> input(x), output(6 * 14);
    DeviceArray<short> patterns(bits);
    bfloats<<<1, 6>>>(input.get(), output.get(), patterns.get());
    const auto out = output.values();
    for (int t = 0; t < 6; ++t) {
        const float a = to_bfloat(x[t]), b = to_bfloat(x[t + 1]);
        const float expected[12] = {a, a, b, b, b, b, b, a, a, a, a, a};
        for (int i = 0; i < 12; ++i) CHECK(out[t * 14 + i] == expected[i]);
        short high;
        std::memcpy(&high, reinterpret_cast<const char *>(&a) + 2, 2);
        CHECK(out[t * 14 + 12] == high && out[t * 14 + 13] == meant[t]);
    }
}

__global__ void the_rest(const double *x, unsigned short *small, unsigned long long *out, float *loads) {
    const int t = threadIdx.x;
    // 1.5 and -0.5 in e4m3fnuz are 0x44 and 0xb8.
    if (t == 0) {
        small[0] = __hip_cvt_double2_to_fp8x2(make_double2(x[0], x[1]), __HIP_SATFINITE, __HIP_E4M3_FNUZ);
        small[1] = __hip_cvt_halfraw2_to_fp8x2(__half2_raw(__floats2half2_rn(1.5f, -0.5f)), __HIP_SATFINITE, __HIP_E4M3_FNUZ);
        small[2] = __hip_cvt_bfloat16raw2_to_fp8x2(
            __hip_bfloat162_raw(make_bfloat162(__float2bfloat16(1.5f), __float2bfloat16(-0.5f))), __HIP_SATFINITE, __HIP_E4M3_FNUZ);
    }
    out[t] = __ballot64(t % 3 == 1);
    const long long before = __clock();
    __nanosleep(10);
    out[64 + t] = __clock() >= before;
    const hipComplex z = make_hipComplex(static_cast<float>(t), 2.0f);
    __stcg(loads + t, __ldca(loads + t) + __ldcg(loads + 64 + t) + z.x);
    __stcs(loads + 64 + t, __ldcs(loads + 64 + t) * z.y);
}
void check_the_rest() {
    DeviceArray<double> x(std::vector<double>{1.5, -0.5});
    DeviceArray<unsigned short> small(3);
    DeviceArray<unsigned long long> output(128);
    std::vector<float> start(128);
    for (int i = 0; i < 128; ++i) start[i] = static_cast<float>(i * 3 % 31);
    DeviceArray<float> loads(start);
    the_rest<<<1, 64>>>(x.get(), small.get(), output.get(), loads.get());
    for (unsigned short pair : small.values()) CHECK(pair == 0xb844);
    unsigned long long thirds = 0;
    for (int l = 0; l < 64; ++l) thirds |= (l % 3 == 1 ? 1ull : 0) << l;
    for (int t = 0; t < 64; ++t) {
        CHECK(output.values()[t] == thirds && output.values()[64 + t] == 1);
        CHECK(loads.values()[t] == start[t] + start[64 + t] + static_cast<float>(t) && loads.values()[64 + t] == start[64 + t] * 2);
    }
}

int main() {
    check_pairs();
    check_integers<short>({0, 1, -1, 2047, 2049, -2051, 4099, 32767, -32768});
    check_integers<unsigned short>({0, 3, 2049, 4101, 40001, 65000});
    check_integers<unsigned>({0, 5, 2051, 8199, 65000});
    check_integers<unsigned long long>({0, 9, 2053, 16395, 60001});
    check_bfloats();
    check_the_rest();
}
