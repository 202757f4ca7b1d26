// Maps whose time goes to transcendental functions.
#include "bench.h"

// ---------------------------------------------------------------- Black-Scholes: call and put of European options
static const float RATE = 0.02f, VOLATILITY = 0.3f;

struct ErrorFunction {
    static __device__ float exponential(float x) { return expf(x); }
    static __device__ float logarithm(float x) { return logf(x); }
    static __device__ float quotient(float a, float b) { return a / b; }
    static __device__ float normal(float d) { return 0.5f + 0.5f * erff(d * 0.70710678f); }
};
// Abramowitz and Stegun 26.2.17.
template <class M> static __device__ __forceinline__ float normal_by_polynomial(float d) {
    float k = M::quotient(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * M::exponential(-0.5f * d * d) * p;
    return d > 0 ? 1.0f - tail : tail;
}
struct Polynomial : ErrorFunction {
    static __device__ float normal(float d) { return normal_by_polynomial<ErrorFunction>(d); }
};
struct Intrinsics {
    static __device__ float exponential(float x) { return __expf(x); }
    static __device__ float logarithm(float x) { return __logf(x); }
    static __device__ float quotient(float a, float b) { return __fdividef(a, b); }
    static __device__ float normal(float d) { return normal_by_polynomial<Intrinsics>(d); }
};

template <class M> static __device__ __forceinline__ void price(float s, float k, float t, float &call, float &put) {
    float root = sqrtf(t);
    float d1 =
        M::quotient(M::logarithm(M::quotient(s, k)) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t, VOLATILITY * root);
    float d2 = d1 - VOLATILITY * root;
    float discounted = k * M::exponential(-RATE * t);
    float n1 = M::normal(d1), n2 = M::normal(d2);
    call = s * n1 - discounted * n2;
    put = discounted * (1.0f - n2) - s * (1.0f - n1);
}
template <class M>
__global__ void black_scholes(const float *__restrict__ s, const float *__restrict__ k, const float *__restrict__ t,
                              float *__restrict__ call, float *__restrict__ put, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float c, p;
    price<M>(s[i], k[i], t[i], c, p);
    call[i] = c;
    put[i] = p;
}
template <class M>
__global__ void black_scholes4(const float4 *__restrict__ s, const float4 *__restrict__ k, const float4 *__restrict__ t,
                               float4 *__restrict__ call, float4 *__restrict__ put, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 a = s[i], b = k[i], d = t[i], c, p;
    price<M>(a.x, b.x, d.x, c.x, p.x);
    price<M>(a.y, b.y, d.y, c.y, p.y);
    price<M>(a.z, b.z, d.z, c.z, p.z);
    price<M>(a.w, b.w, d.w, c.w, p.w);
    call[i] = c;
    put[i] = p;
}
__global__ void black_scholes_double(const float *__restrict__ s, const float *__restrict__ k,
                                     const float *__restrict__ t, float *__restrict__ call, float *__restrict__ put,
                                     int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = VOLATILITY, r = RATE, root = sqrt((double)t[i]);
    double d1 = (log((double)s[i] / k[i]) + (r + 0.5 * v * v) * t[i]) / (v * root), d2 = d1 - v * root;
    double discounted = k[i] * exp(-r * t[i]);
    double n1 = 0.5 + 0.5 * erf(d1 * 0.7071067811865476), n2 = 0.5 + 0.5 * erf(d2 * 0.7071067811865476);
    call[i] = s[i] * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - s[i] * (1 - n1);
}

static void black_scholes_family() {
    if (!wanted("black_scholes")) return;
    const int n = SIZE(1 << 22, 1 << 12);
    auto hs = random_floats(n, 5, 30, 1), hk = random_floats(n, 1, 100, 2), ht = random_floats(n, 0.25f, 10, 3);
    Device<float> s(hs), k(hk), t(ht);
    Output<float> call(n), put(n);
    auto check = [&] {
        auto c = call.host(), p = put.host();
        return sampled(n, 2000, [&](size_t i) {
            double root = std::sqrt((double)ht[i]), v = VOLATILITY, r = RATE;
            double d1 = (std::log((double)hs[i] / hk[i]) + (r + 0.5 * v * v) * ht[i]) / (v * root), d2 = d1 - v * root;
            double discounted = hk[i] * std::exp(-r * ht[i]);
            double n1 = 0.5 * std::erfc(-d1 / std::sqrt(2.0)), n2 = 0.5 * std::erfc(-d2 / std::sqrt(2.0));
            return near_to(c[i], hs[i] * n1 - discounted * n2, 1e-4) &&
                   near_to(p[i], discounted * (1 - n2) - hs[i] * (1 - n1), 1e-4);
        });
    };
    dim3 grid(n / 256), block(256);
    bench("black_scholes", "erf", [&] { black_scholes<ErrorFunction><<<grid, block>>>(s, k, t, call, put, n); }, check);
    bench(
        "black_scholes", "polynomial", [&] { black_scholes<Polynomial><<<grid, block>>>(s, k, t, call, put, n); },
        check);
    bench(
        "black_scholes", "intrinsics", [&] { black_scholes<Intrinsics><<<grid, block>>>(s, k, t, call, put, n); },
        check);
    bench(
        "black_scholes", "intrinsics_float4",
        [&] {
            black_scholes4<Intrinsics><<<dim3(n / 1024), block>>>(s.as<float4>(), k.as<float4>(), t.as<float4>(),
                                                                  call.as<float4>(), put.as<float4>(), n / 4);
        },
        check);
    bench(
        "black_scholes", "erf_float4",
        [&] {
            black_scholes4<ErrorFunction><<<dim3(n / 1024), block>>>(s.as<float4>(), k.as<float4>(), t.as<float4>(),
                                                                     call.as<float4>(), put.as<float4>(), n / 4);
        },
        check);
    bench("black_scholes", "double", [&] { black_scholes_double<<<grid, block>>>(s, k, t, call, put, n); }, check);
}

// ---------------------------------------------------------------- x to a power that is known at run time only
struct PowerLibrary {
    static __device__ float of(float x, float a) { return powf(x, a); }
};
struct PowerByLogarithm {
    static __device__ float of(float x, float a) { return expf(a * logf(x)); }
};
struct PowerIntrinsic {
    static __device__ float of(float x, float a) { return __powf(x, a); }
};
struct PowerDouble {
    static __device__ float of(float x, float a) { return (float)pow((double)x, (double)a); }
};
template <class P> __global__ void power(const float *__restrict__ x, float *__restrict__ y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = P::of(x[i], a);
}
template <class P> __global__ void power_strided(const float *__restrict__ x, float *__restrict__ y, float a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = P::of(x[i], a);
}
static void power_family() {
    if (!wanted("power")) return;
    const int n = SIZE(1 << 23, 1 << 12);
    const float a = 1.7f;
    auto hx = random_floats(n, 0.1f, 10, 4);
    Device<float> x(hx);
    Output<float> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(n, 5000, [&](size_t i) { return near_to(got[i], std::pow((double)hx[i], (double)a), 1e-4); });
    };
    dim3 grid(n / 256), block(256);
    bench("power", "library", [&] { power<PowerLibrary><<<grid, block>>>(x, y, a, n); }, check);
    bench("power", "exp_of_log", [&] { power<PowerByLogarithm><<<grid, block>>>(x, y, a, n); }, check);
    bench("power", "intrinsic", [&] { power<PowerIntrinsic><<<grid, block>>>(x, y, a, n); }, check);
    bench("power", "double", [&] { power<PowerDouble><<<grid, block>>>(x, y, a, n); }, check);
    bench(
        "power", "library_gridstride", [&] { power_strided<PowerLibrary><<<dim3(SIZE(528, 4)), block>>>(x, y, a, n); },
        check);
}

// ---------------------------------------------------------------- GELU
struct GeluError {
    static __device__ float of(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
};
struct GeluTanh {
    static __device__ float of(float x) { return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); }
};
struct GeluExponential {
    static __device__ float of(float x) { return x / (1.0f + expf(-1.59576912f * (x + 0.044715f * x * x * x))); }
};
struct GeluIntrinsics {
    static __device__ float of(float x) {
        return __fdividef(x, 1.0f + __expf(-1.59576912f * (x + 0.044715f * x * x * x)));
    }
};
template <class G> __global__ void gelu(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = G::of(x[i]);
}
template <class G> __global__ void gelu4(const float4 *__restrict__ x, float4 *__restrict__ y, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = x[i];
    y[i] = make_float4(G::of(v.x), G::of(v.y), G::of(v.z), G::of(v.w));
}
static void gelu_family() {
    if (!wanted("gelu")) return;
    const int n = SIZE(1 << 23, 1 << 12);
    auto hx = random_floats(n, -4, 4, 5);
    Device<float> x(hx);
    Output<float> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(
            n, 5000, [&](size_t i) { return near_to(got[i], 0.5 * hx[i] * std::erfc(-hx[i] / std::sqrt(2.0)), 1e-3); });
    };
    dim3 grid(n / 256), block(256);
    bench("gelu", "erf", [&] { gelu<GeluError><<<grid, block>>>(x, y, n); }, check);
    bench("gelu", "tanh", [&] { gelu<GeluTanh><<<grid, block>>>(x, y, n); }, check);
    bench("gelu", "exponential", [&] { gelu<GeluExponential><<<grid, block>>>(x, y, n); }, check);
    bench("gelu", "intrinsics", [&] { gelu<GeluIntrinsics><<<grid, block>>>(x, y, n); }, check);
    bench(
        "gelu", "erf_float4",
        [&] { gelu4<GeluError><<<dim3(n / 1024), block>>>(x.as<float4>(), y.as<float4>(), n / 4); }, check);
    bench(
        "gelu", "intrinsics_float4",
        [&] { gelu4<GeluIntrinsics><<<dim3(n / 1024), block>>>(x.as<float4>(), y.as<float4>(), n / 4); }, check);
}

// ---------------------------------------------------------------- sine and cosine of an angle, 16 rotations of a point
struct AngleSeparate {
    static __device__ void of(float x, float &s, float &c) { s = sinf(x), c = cosf(x); }
};
struct AngleTogether {
    static __device__ void of(float x, float &s, float &c) { sincosf(x, &s, &c); }
};
struct AngleIntrinsics {
    static __device__ void of(float x, float &s, float &c) { s = __sinf(x), c = __cosf(x); }
};
struct AnglePolynomial {
    static __device__ void of(float x, float &s, float &c) {
        float k = rintf(x * 0.63661977f);
        float r = fmaf(k, -1.57079637f, x);
        r = fmaf(k, 4.37113883e-8f, r);
        float q = r * r;
        float a = r + r * q * (-0.16666667f + q * (8.3333310e-3f + q * (-1.98393348e-4f + q * 2.7183114e-6f)));
        float b = 1.0f + q * (-0.5f + q * (4.1666667e-2f + q * (-1.38888934e-3f + q * 2.4801587e-5f)));
        int quadrant = (int)k & 3;
        float u = quadrant & 1 ? b : a, v = quadrant & 1 ? a : b;
        s = quadrant & 2 ? -u : u;
        c = (quadrant + 1) & 2 ? -v : v;
    }
};
template <class A>
__global__ void rotate(const float *__restrict__ angle, float *__restrict__ x, float *__restrict__ y, int turns,
                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = angle[i], px = 1, py = 0;
    for (int turn = 0; turn < turns; turn++) {
        float s, c;
        A::of(a, s, c);
        float qx = px * c - py * s;
        py = px * s + py * c;
        px = qx;
        a *= 0.93f;
    }
    x[i] = px;
    y[i] = py;
}
static void rotation_family() {
    if (!wanted("rotation")) return;
    const int n = SIZE(1 << 21, 1 << 12), turns = 16;
    auto ha = random_floats(n, -30, 30, 6);
    Device<float> angle(ha);
    Output<float> x(n), y(n);
    auto check = [&] {
        auto gx = x.host(), gy = y.host();
        return sampled(n, 2000, [&](size_t i) {
            double sum = 0;
            float a = ha[i];
            for (int turn = 0; turn < turns; turn++) sum += a, a *= 0.93f;
            return near_to(gx[i], std::cos(sum), 1e-3) && near_to(gy[i], std::sin(sum), 1e-3);
        });
    };
    dim3 grid(n / 256), block(256);
    bench("rotation", "separate", [&] { rotate<AngleSeparate><<<grid, block>>>(angle, x, y, turns, n); }, check);
    bench("rotation", "together", [&] { rotate<AngleTogether><<<grid, block>>>(angle, x, y, turns, n); }, check);
    bench("rotation", "intrinsics", [&] { rotate<AngleIntrinsics><<<grid, block>>>(angle, x, y, turns, n); }, check);
    bench("rotation", "polynomial", [&] { rotate<AnglePolynomial><<<grid, block>>>(angle, x, y, turns, n); }, check);
}

// ---------------------------------------------------------------- eight rounds of log(1 + exp(x))
static const int ROUNDS = 8;
struct SoftPlusLibrary {
    static __device__ float of(float x) { return logf(1.0f + expf(x)); }
};
struct SoftPlusOneMore {
    static __device__ float of(float x) { return log1pf(expf(x)); }
};
struct SoftPlusIntrinsics {
    static __device__ float of(float x) { return __logf(1.0f + __expf(x)); }
};
struct SoftPlusBase2 {
    static __device__ float of(float x) { return 0.69314718f * log2f(1.0f + exp2f(1.44269504f * x)); }
};
struct SoftPlusDouble {
    static __device__ float of(float x) { return (float)log(1.0 + exp((double)x)); }
};
template <class S> __global__ void soft_plus(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int round = 0; round < ROUNDS; round++) v = S::of(v) - 0.5f;
    y[i] = v;
}
template <class S> __global__ void soft_plus4(const float4 *__restrict__ x, float4 *__restrict__ y, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = x[i];
    for (int round = 0; round < ROUNDS; round++)
        v = make_float4(S::of(v.x) - 0.5f, S::of(v.y) - 0.5f, S::of(v.z) - 0.5f, S::of(v.w) - 0.5f);
    y[i] = v;
}
static void soft_plus_family() {
    if (!wanted("soft_plus")) return;
    const int n = SIZE(1 << 23, 1 << 12);
    auto hx = random_floats(n, -4, 4, 7);
    Device<float> x(hx);
    Output<float> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(n, 5000, [&](size_t i) {
            double v = hx[i];
            for (int round = 0; round < ROUNDS; round++) v = std::log1p(std::exp(v)) - 0.5;
            return near_to(got[i], v, 1e-4);
        });
    };
    dim3 grid(n / 256), block(256);
    bench("soft_plus", "library", [&] { soft_plus<SoftPlusLibrary><<<grid, block>>>(x, y, n); }, check);
    bench("soft_plus", "log1p", [&] { soft_plus<SoftPlusOneMore><<<grid, block>>>(x, y, n); }, check);
    bench("soft_plus", "intrinsics", [&] { soft_plus<SoftPlusIntrinsics><<<grid, block>>>(x, y, n); }, check);
    bench("soft_plus", "base2", [&] { soft_plus<SoftPlusBase2><<<grid, block>>>(x, y, n); }, check);
    bench("soft_plus", "double", [&] { soft_plus<SoftPlusDouble><<<grid, block>>>(x, y, n); }, check);
    bench(
        "soft_plus", "library_float4",
        [&] { soft_plus4<SoftPlusLibrary><<<dim3(n / 1024), block>>>(x.as<float4>(), y.as<float4>(), n / 4); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    black_scholes_family();
    power_family();
    gelu_family();
    rotation_family();
    soft_plus_family();
    return failed();
}
