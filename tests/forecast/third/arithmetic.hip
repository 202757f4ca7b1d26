// Arithmetic whose time depends on latency, on the number of independent chains, or on how integers and small floats are used.
#include <hip/hip_fp16.h>

#include "bench.h"

// ---------------------------------------------------------------- one polynomial of high degree at few points
static const int DEGREES = SIZE(8192, 256);
__constant__ float coefficients[DEGREES];

// The sum over k of c[k] x^k, as CHAINS independent Horner chains in x^CHAINS.
template <int CHAINS> __global__ void horner(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], step = v, sums[CHAINS];
#pragma unroll
    for (int c = 1; c < CHAINS; c *= 2) step *= step;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sums[c] = 0;
#pragma unroll(16 / CHAINS)
    for (int k = DEGREES - CHAINS; k >= 0; k -= CHAINS) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) sums[c] = sums[c] * step + coefficients[k + c];
    }
    float sum = 0;
#pragma unroll
    for (int c = CHAINS - 1; c >= 0; c--) sum = sum * v + sums[c];
    y[i] = sum;
}
// Each work-item evaluates at POINTS points, one chain each.
template <int POINTS> __global__ void horner_points(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stride = n / POINTS;
    if (i >= stride) return;
    float v[POINTS], sums[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; p++) v[p] = x[i + p * stride], sums[p] = 0;
#pragma unroll(16 / POINTS)
    for (int k = DEGREES - 1; k >= 0; k--) {
        float c = coefficients[k];
#pragma unroll
        for (int p = 0; p < POINTS; p++) sums[p] = sums[p] * v[p] + c;
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) y[i + p * stride] = sums[p];
}
static void polynomial_family() {
    if (!wanted("polynomial")) return;
    const int n = SIZE(1 << 15, 1 << 10);
    auto hx = random_floats(n, -0.95f, 0.95f, 1), hc = random_floats(DEGREES, -1, 1, 2);
    CK(hipMemcpyToSymbol(HIP_SYMBOL(coefficients), hc.data(), sizeof(float) * DEGREES));
    Device<float> x(hx);
    Output<float> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(n, 200, [&](size_t i) {
            double sum = 0;
            for (int k = DEGREES - 1; k >= 0; k--) sum = sum * hx[i] + hc[k];
            return near_to(got[i], sum, 2e-5);
        });
    };
    dim3 block(256);
    bench("polynomial", "chains1", [&] { horner<1><<<dim3(n / 256), block>>>(x, y, n); }, check);
    bench("polynomial", "chains2", [&] { horner<2><<<dim3(n / 256), block>>>(x, y, n); }, check);
    bench("polynomial", "chains4", [&] { horner<4><<<dim3(n / 256), block>>>(x, y, n); }, check);
    bench("polynomial", "chains8", [&] { horner<8><<<dim3(n / 256), block>>>(x, y, n); }, check);
    bench("polynomial", "points2", [&] { horner_points<2><<<dim3(n / 512), block>>>(x, y, n); }, check);
    bench("polynomial", "points4", [&] { horner_points<4><<<dim3(n / 1024), block>>>(x, y, n); }, check);
    bench("polynomial", "chains1_block1024", [&] { horner<1><<<dim3(n / 1024), dim3(1024)>>>(x, y, n); }, check);
}

// ---------------------------------------------------------------- a series whose coefficients alternate, all in registers
static const int TERMS = SIZE(1 << 16, 1 << 8);
// The sum over k of (k even ? a : b) x^k, as CHAINS independent Horner chains in x^CHAINS.
template <int CHAINS>
__global__ void series(const float *__restrict__ x, float *__restrict__ y, float a, float b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], step = v, sums[CHAINS];
#pragma unroll
    for (int c = 1; c < CHAINS; c *= 2) step *= step;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sums[c] = 0;
#pragma unroll(32 / CHAINS)
    for (int k = TERMS - CHAINS; k >= 0; k -= CHAINS) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) sums[c] = sums[c] * step + ((k + c) & 1 ? b : a);
    }
    float sum = 0;
#pragma unroll
    for (int c = CHAINS - 1; c >= 0; c--) sum = sum * v + sums[c];
    y[i] = sum;
}
static void series_family() {
    if (!wanted("series")) return;
    const int n = SIZE(1 << 14, 1 << 10);
    const float a = 0.7f, b = -0.4f;
    auto hx = random_floats(n, -0.95f, 0.95f, 8);
    Device<float> x(hx);
    Output<float> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(n, 1000, [&](size_t i) {
            double v = hx[i], all = 1 - std::pow(v, TERMS);
            return near_to(got[i], (a + b * v) * all / (1 - v * v), 2e-5);
        });
    };
    bench("series", "chains1", [&] { series<1><<<dim3(n / 128), dim3(128)>>>(x, y, a, b, n); }, check);
    bench("series", "chains2", [&] { series<2><<<dim3(n / 128), dim3(128)>>>(x, y, a, b, n); }, check);
    bench("series", "chains4", [&] { series<4><<<dim3(n / 128), dim3(128)>>>(x, y, a, b, n); }, check);
    bench("series", "chains8", [&] { series<8><<<dim3(n / 128), dim3(128)>>>(x, y, a, b, n); }, check);
    bench("series", "chains1_block512", [&] { series<1><<<dim3(n / 512), dim3(512)>>>(x, y, a, b, n); }, check);
    bench("series", "chains4_block512", [&] { series<4><<<dim3(n / 512), dim3(512)>>>(x, y, a, b, n); }, check);
    bench("series", "chains1_block64", [&] { series<1><<<dim3(n / 64), dim3(64)>>>(x, y, a, b, n); }, check);
}

// ---------------------------------------------------------------- division by a number that is the same for all
static const int ROUNDS = 16;
static const unsigned DIVISOR = 1000003;
static __device__ __host__ __forceinline__ unsigned next_dividend(unsigned quotient, unsigned remainder) {
    return quotient ^ (remainder * 0x9E3779B1u);
}
struct ByRunTime {
    unsigned d;
    __device__ unsigned quotient(unsigned h) const { return h / d; }
};
struct ByConstant {
    __device__ unsigned quotient(unsigned h) const { return h / DIVISOR; }
};
// Granlund and Montgomery: the high half of a product with a reciprocal that the host made.
struct ByReciprocal {
    unsigned multiplier;
    int shift;
    __device__ unsigned quotient(unsigned h) const {
        unsigned t = __umulhi(multiplier, h);
        return (t + ((h - t) >> 1)) >> (shift - 1);
    }
};
struct ByFloat {
    float inverse;
    unsigned d;
    __device__ unsigned quotient(unsigned h) const {
        unsigned q = (unsigned)((float)h * inverse);
        unsigned r = h - q * d;
        if ((int)r < 0) q--, r += d;
        if (r >= d) q++;
        return q;
    }
};
struct ByDouble {
    double d;
    __device__ unsigned quotient(unsigned h) const { return (unsigned)((double)h / d); }
};
struct By64Bits {
    unsigned long long d;
    __device__ unsigned quotient(unsigned h) const { return (unsigned)(((unsigned long long)h + (d << 32)) / d); }
};
template <class D> __global__ void divide(const unsigned *__restrict__ x, unsigned *__restrict__ y, D divisor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = x[i];
    for (int round = 0; round < ROUNDS; round++) {
        unsigned q = divisor.quotient(h);
        h = next_dividend(q, h - q * DIVISOR);
    }
    y[i] = h;
}
static void division_family() {
    if (!wanted("division")) return;
    const int n = SIZE(1 << 22, 1 << 12);
    auto hx = random_words(n, 3);
    Device<unsigned> x(hx);
    Output<unsigned> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(n, 5000, [&](size_t i) {
            unsigned h = hx[i];
            for (int round = 0; round < ROUNDS; round++) h = next_dividend(h / DIVISOR, h % DIVISOR);
            return got[i] == h;
        });
    };
    int shift = 0;
    while ((1ull << shift) < DIVISOR) shift++;
    unsigned multiplier = (unsigned)(((1ull << 32) * ((1ull << shift) - DIVISOR)) / DIVISOR + 1);
    dim3 grid(n / 256), block(256);
    bench("division", "run_time", [&] { divide<<<grid, block>>>(x.data, y.data, ByRunTime{DIVISOR}, n); }, check);
    bench("division", "constant", [&] { divide<<<grid, block>>>(x.data, y.data, ByConstant{}, n); }, check);
    bench(
        "division", "reciprocal", [&] { divide<<<grid, block>>>(x.data, y.data, ByReciprocal{multiplier, shift}, n); },
        check);
    bench(
        "division", "float", [&] { divide<<<grid, block>>>(x.data, y.data, ByFloat{1.0f / DIVISOR, DIVISOR}, n); },
        check);
    bench("division", "double", [&] { divide<<<grid, block>>>(x.data, y.data, ByDouble{(double)DIVISOR}, n); }, check);
    // The high word adds 2^32, which the low word of the quotient drops.
    bench("division", "64_bits", [&] { divide<<<grid, block>>>(x.data, y.data, By64Bits{DIVISOR}, n); }, check);
}

// ---------------------------------------------------------------- a polynomial in half precision
static const int HALF_TERMS = 64;
__global__ void half_scalar(const __half *__restrict__ x, __half *__restrict__ y, __half a, __half b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half v = x[i], sum = a;
#pragma unroll 8
    for (int k = 0; k < HALF_TERMS; k++) sum = __hfma(sum, v, k & 1 ? a : b);
    y[i] = sum;
}
static __device__ __forceinline__ __half2 half_sum(__half2 v, __half2 a, __half2 b) {
    __half2 sum = a;
#pragma unroll 8
    for (int k = 0; k < HALF_TERMS; k++) sum = __hfma2(sum, v, k & 1 ? a : b);
    return sum;
}
__global__ void half_pairs(const __half2 *__restrict__ x, __half2 *__restrict__ y, __half2 a, __half2 b, int n2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n2) y[i] = half_sum(x[i], a, b);
}
struct alignas(16) Eight {
    __half2 pairs[4];
};
__global__ void half_eights(const Eight *__restrict__ x, Eight *__restrict__ y, __half2 a, __half2 b, int n8) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n8) return;
    Eight v = x[i];
#pragma unroll
    for (int p = 0; p < 4; p++) v.pairs[p] = half_sum(v.pairs[p], a, b);
    y[i] = v;
}
static __device__ __forceinline__ float float_sum(float v, float a, float b) {
    float sum = a;
#pragma unroll 8
    for (int k = 0; k < HALF_TERMS; k++) sum = sum * v + (k & 1 ? a : b);
    return sum;
}
__global__ void half_as_float(const __half *__restrict__ x, __half *__restrict__ y, float a, float b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __float2half(float_sum(__half2float(x[i]), a, b));
}
__global__ void half_eights_as_float(const Eight *__restrict__ x, Eight *__restrict__ y, float a, float b, int n8) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n8) return;
    Eight v = x[i];
#pragma unroll
    for (int p = 0; p < 4; p++) {
        float2 f = __half22float2(v.pairs[p]);
        v.pairs[p] = __floats2half2_rn(float_sum(f.x, a, b), float_sum(f.y, a, b));
    }
    y[i] = v;
}
static void half_family() {
    if (!wanted("half")) return;
    const int n = SIZE(1 << 24, 1 << 12);
    const float a = 0.125f, b = -0.0625f;
    auto hf = random_floats(n, -0.9f, 0.9f, 4);
    std::vector<__half> hx(n);
    for (int i = 0; i < n; i++) hx[i] = __float2half(hf[i]);
    Device<__half> x(hx);
    Output<__half> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(n, 5000, [&](size_t i) {
            double v = __half2float(hx[i]), sum = a;
            for (int k = 0; k < HALF_TERMS; k++) sum = sum * v + (k & 1 ? a : b);
            return near_to(__half2float(got[i]), sum, 5e-3);
        });
    };
    __half ha = __float2half(a), hb = __float2half(b);
    __half2 pa = __floats2half2_rn(a, a), pb = __floats2half2_rn(b, b);
    dim3 block(256);
    bench("half", "scalar", [&] { half_scalar<<<dim3(n / 256), block>>>(x, y, ha, hb, n); }, check);
    bench(
        "half", "pairs", [&] { half_pairs<<<dim3(n / 512), block>>>(x.as<__half2>(), y.as<__half2>(), pa, pb, n / 2); },
        check);
    bench(
        "half", "eights", [&] { half_eights<<<dim3(n / 2048), block>>>(x.as<Eight>(), y.as<Eight>(), pa, pb, n / 8); },
        check);
    bench("half", "scalar_as_float", [&] { half_as_float<<<dim3(n / 256), block>>>(x, y, a, b, n); }, check);
    bench(
        "half", "eights_as_float",
        [&] { half_eights_as_float<<<dim3(n / 2048), block>>>(x.as<Eight>(), y.as<Eight>(), a, b, n / 8); }, check);
}

// ---------------------------------------------------------------- a polynomial to 13 digits
static const int PRECISE_TERMS = SIZE(256, 64);
__constant__ double precise[PRECISE_TERMS];
__constant__ float2 precise_pairs[PRECISE_TERMS];
template <int CHAINS> __global__ void in_double(const double *__restrict__ x, double *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i], step = v, sums[CHAINS];
#pragma unroll
    for (int c = 1; c < CHAINS; c *= 2) step *= step;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sums[c] = 0;
    for (int k = PRECISE_TERMS - CHAINS; k >= 0; k -= CHAINS) {
#pragma unroll
        for (int c = 0; c < CHAINS; c++) sums[c] = sums[c] * step + precise[k + c];
    }
    double sum = 0;
#pragma unroll
    for (int c = CHAINS - 1; c >= 0; c--) sum = sum * v + sums[c];
    y[i] = sum;
}
template <int POINTS> __global__ void in_double_points(const double *__restrict__ x, double *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, stride = n / POINTS;
    if (i >= stride) return;
    double v[POINTS], sums[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; p++) v[p] = x[i + p * stride], sums[p] = 0;
    for (int k = PRECISE_TERMS - 1; k >= 0; k--) {
#pragma unroll
        for (int p = 0; p < POINTS; p++) sums[p] = sums[p] * v[p] + precise[k];
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) y[i + p * stride] = sums[p];
}
// Each number is the sum of two floats: Dekker's and Knuth's exact sums and products.
__global__ void in_float_pairs(const double *__restrict__ x, double *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float vh = (float)x[i], vl = (float)(x[i] - (double)vh), sh = 0, sl = 0;
    for (int k = PRECISE_TERMS - 1; k >= 0; k--) {
        float p = sh * vh;
        float e = fmaf(sh, vh, -p);
        e = fmaf(sh, vl, fmaf(sl, vh, e));
        float2 c = precise_pairs[k];
        float t = p + c.x;
        float b = t - p;
        float f = (p - (t - b)) + (c.x - b) + (e + c.y);
        sh = t + f;
        sl = f - (sh - t);
    }
    y[i] = (double)sh + (double)sl;
}
static void precision_family() {
    if (!wanted("precision")) return;
    const int n = SIZE(1 << 20, 1 << 10);
    Random random(5);
    std::vector<double> hx(n), hc(PRECISE_TERMS);
    std::vector<float2> pairs(PRECISE_TERMS);
    for (double &v : hx) v = random.uniform(-0.9f, 0.9f) + random.uniform(0, 1e-8f);
    for (int k = 0; k < PRECISE_TERMS; k++) {
        hc[k] = random.uniform(-1, 1) + (double)random.uniform(0, 1e-8f);
        pairs[k].x = (float)hc[k];
        pairs[k].y = (float)(hc[k] - (double)pairs[k].x);
    }
    CK(hipMemcpyToSymbol(HIP_SYMBOL(precise), hc.data(), sizeof(double) * PRECISE_TERMS));
    CK(hipMemcpyToSymbol(HIP_SYMBOL(precise_pairs), pairs.data(), sizeof(float2) * PRECISE_TERMS));
    Device<double> x(hx);
    Output<double> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(n, 500, [&](size_t i) {
            long double sum = 0;
            for (int k = PRECISE_TERMS - 1; k >= 0; k--) sum = sum * hx[i] + hc[k];
            return near_to(got[i], (double)sum, 2e-12);
        });
    };
    dim3 grid(n / 256), block(256);
    bench("precision", "double", [&] { in_double<1><<<grid, block>>>(x, y, n); }, check);
    bench("precision", "double_chains4", [&] { in_double<4><<<grid, block>>>(x, y, n); }, check);
    bench("precision", "double_points4", [&] { in_double_points<4><<<dim3(n / 1024), block>>>(x, y, n); }, check);
    bench("precision", "float_pairs", [&] { in_float_pairs<<<grid, block>>>(x, y, n); }, check);
}

// ---------------------------------------------------------------- dot products of rows of bytes with one vector
static const int BYTES = 1024;
static __device__ __forceinline__ int dot4(int a, int b, int sum) {
#ifdef __HIP_PLATFORM_NVIDIA__
    return __dp4a(a, b, sum);
#else
    return __builtin_amdgcn_sdot4(a, b, sum, false);
#endif
}
static __device__ __forceinline__ int wave_total(int v) {
#pragma unroll
    for (int o = WARP / 2; o > 0; o >>= 1) v += __shfl_xor(v, o);
    return v;
}
__global__ void bytes_by_wave(const signed char *__restrict__ a, const signed char *__restrict__ x,
                              int *__restrict__ y) {
    int lane = threadIdx.x % WARP, row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, sum = 0;
    const signed char *p = a + (size_t)row * BYTES;
#pragma unroll 4
    for (int k = lane; k < BYTES; k += WARP) sum += p[k] * x[k];
    sum = wave_total(sum);
    if (lane == 0) y[row] = sum;
}
__global__ void char4_by_wave(const char4 *__restrict__ a, const char4 *__restrict__ x, int *__restrict__ y) {
    int lane = threadIdx.x % WARP, row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, sum = 0;
    const char4 *p = a + (size_t)row * (BYTES / 4);
#pragma unroll 4
    for (int k = lane; k < BYTES / 4; k += WARP) {
        char4 u = p[k], v = x[k];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    sum = wave_total(sum);
    if (lane == 0) y[row] = sum;
}
__global__ void dot4_by_wave(const int *__restrict__ a, const int *__restrict__ x, int *__restrict__ y) {
    int lane = threadIdx.x % WARP, row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, sum = 0;
    const int *p = a + (size_t)row * (BYTES / 4);
#pragma unroll 4
    for (int k = lane; k < BYTES / 4; k += WARP) sum = dot4(p[k], x[k], sum);
    sum = wave_total(sum);
    if (lane == 0) y[row] = sum;
}
__global__ void dot16_by_wave(const int4 *__restrict__ a, const int4 *__restrict__ x, int *__restrict__ y) {
    int lane = threadIdx.x % WARP, row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, sum = 0;
    const int4 *p = a + (size_t)row * (BYTES / 16);
#pragma unroll
    for (int k = lane; k < BYTES / 16; k += WARP) {
        int4 u = p[k], v = x[k];
        sum = dot4(u.x, v.x, dot4(u.y, v.y, dot4(u.z, v.z, dot4(u.w, v.w, sum))));
    }
    sum = wave_total(sum);
    if (lane == 0) y[row] = sum;
}
__global__ void dot16_by_thread(const int4 *__restrict__ a, const int4 *__restrict__ x, int *__restrict__ y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    const int4 *p = a + (size_t)row * (BYTES / 16);
    for (int k = 0; k < BYTES / 16; k++) {
        int4 u = p[k], v = x[k];
        sum = dot4(u.x, v.x, dot4(u.y, v.y, dot4(u.z, v.z, dot4(u.w, v.w, sum))));
    }
    y[row] = sum;
}
static void int8_dot_family() {
    if (!wanted("int8_dot")) return;
    const int rows = SIZE(1 << 17, 1 << 9);
    auto words = random_words((size_t)rows * BYTES / 4, 6), vector = random_words(BYTES / 4, 7);
    Device<unsigned> a(words), x(vector);
    Output<int> y(rows);
    auto ha = reinterpret_cast<const signed char *>(words.data()),
         hx = reinterpret_cast<const signed char *>(vector.data());
    auto check = [&] {
        auto got = y.host();
        return sampled(rows, 1000, [&](size_t r) {
            int sum = 0;
            for (int k = 0; k < BYTES; k++) sum += ha[r * BYTES + k] * hx[k];
            return got[r] == sum;
        });
    };
    dim3 grid(rows / (256 / WARP)), block(256);
    bench(
        "int8_dot", "bytes", [&] { bytes_by_wave<<<grid, block>>>(a.as<signed char>(), x.as<signed char>(), y); },
        check);
    bench("int8_dot", "char4", [&] { char4_by_wave<<<grid, block>>>(a.as<char4>(), x.as<char4>(), y); }, check);
    bench("int8_dot", "dot4", [&] { dot4_by_wave<<<grid, block>>>(a.as<int>(), x.as<int>(), y); }, check);
    bench("int8_dot", "dot16", [&] { dot16_by_wave<<<grid, block>>>(a.as<int4>(), x.as<int4>(), y); }, check);
    bench(
        "int8_dot", "dot16_thread_row",
        [&] { dot16_by_thread<<<dim3(rows / 128), dim3(128)>>>(a.as<int4>(), x.as<int4>(), y); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    polynomial_family();
    series_family();
    division_family();
    half_family();
    precision_family();
    int8_dot_family();
    return failed();
}
