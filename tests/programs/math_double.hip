// Mathematics in double precision and what HIP has beyond C++, against the C++ library in wider precision.
#include "calls.h"

void check_arithmetic() {
    BINARY(__dadd_rn, double, double, double, a + b)
    BINARY(__dsub_rn, double, double, double, a - b)
    BINARY(__dmul_rn, double, double, double, a * b)
    BINARY(__ddiv_rn, double, double, double, a / b)
    BINARY(__fsub_rn, float, float, float, a - b)
    BINARY(__fdiv_rn, float, float, float, a / b)
    TERNARY(__fma_rn, double, double, double, double, std::fma(a, b, c))
    UNARY(__drcp_rn, double, double, 0, 1 / x, 3.0, -0.7)
    UNARY(__dsqrt_rn, double, double, 0, std::sqrt(x), 3.0, 0.7)
    UNARY(__exp10f, float, float, 1e-5, std::pow(10.0l, static_cast<long double>(x)), 0.0f, 1.5f, -3.25f)
}

const long double kPi = std::acos(-1.0l);
void check_mathematics() {
    UNARY(sinpi, double, double, 1e-12, std::sin(kPi * x), 0.1, 0.5, -1.3, 2.75)
    UNARY(cospi, double, double, 1e-12, std::cos(kPi * x), 0.1, 0.25, -1.3, 2.75)
    UNARY(cyl_bessel_i0, double, double, 1e-6, std::cyl_bessel_i(0.0, x), 0.1, 1.0, 3.7, 4.9, 12.0)
    UNARY(cyl_bessel_i1, double, double, 1e-6, std::cyl_bessel_i(1.0, x), 0.1, 1.0, 3.7, 4.9, 12.0)
    UNARY(cyl_bessel_i1f, float, float, 1e-5, std::cyl_bessel_i(1.0, static_cast<double>(x)), 0.1f, 1.0f, 3.75f, 9.5f)
    UNARY(erfcx, double, double, 1e-9, std::exp(static_cast<long double>(x) * x) * std::erfc(static_cast<long double>(x)), -1.5, 0.0,
          0.3, 2.0, 5.0)
    // Inverses are right if they lead back.
    UNARY(erfinv, double, double, 1e-9, x == 0.1 ? 0.088855990494257691l : x == -0.7 ? -0.73286907795921685l : 1.8213863677184496l, 0.1,
          -0.7, 0.99)
    UNARY(erfcinv, double, double, 1e-9, x == 1.9 ? -1.1630871536766743l : x == 0.5 ? 0.47693627620446987l : 2.3267537655135246l, 1.9,
          0.5, 0.001)
    UNARY(erfcinvf, float, float, 1e-5, x == 1.5f ? -0.47693627620446987l : 0.81341985459990427l, 1.5f, 0.25f)
    UNARY(normcdf, double, double, 1e-10, std::erfc(-x / std::sqrt(2.0l)) / 2, -3.0, -0.5, 0.0, 1.0, 2.5)
    UNARY(normcdfinv, double, double, 1e-9, x == 0.975 ? 1.9599639845400542l : x == 0.5 ? 0.0l : -2.3263478740408408l, 0.975, 0.5, 0.01)
    UNARY(rcbrt, double, double, 1e-14, 1 / std::cbrt(static_cast<long double>(x)), 8.0, 0.3, -2.0)
    BINARY(rhypot, double, double, double, 1 / std::hypot(a, b))
}
/// The lengths of vectors of 3, 4 and n elements, and their reciprocals.
__global__ void lengths(const double *v, const float *f, double *out) {
    out[0] = norm3d(v[0], v[1], v[2]);
    out[1] = norm4d(v[0], v[1], v[2], v[3]);
    out[2] = norm(5, v);
    out[3] = rnorm3d(v[0], v[1], v[2]);
    out[4] = rnorm4d(v[0], v[1], v[2], v[3]);
    out[5] = rnorm(5, v);
    out[6] = norm4df(f[0], f[1], f[2], f[3]);
    out[7] = normf(5, f);
    out[8] = rnorm3df(f[0], f[1], f[2]);
    out[9] = rnorm4df(f[0], f[1], f[2], f[3]);
    out[10] = rnormf(5, f);
}
void check_lengths() {
    const std::vector<double> v = {1.5, -2.25, 3.0, 0.125, -7.5};
    DeviceArray<double> input(v), output(11);
    DeviceArray<float> floats(std::vector<float>(v.begin(), v.end()));
    lengths<<<1, 1>>>(input.get(), floats.get(), output.get());
    const auto length = [&](int n) {
        long double sum = 0;
        for (int i = 0; i < n; ++i) sum += static_cast<long double>(v[i]) * v[i];
        return static_cast<double>(std::sqrt(sum));
    };
    const double expected[11] = {length(3),     length(4),     length(5),     1 / length(3), 1 / length(4), 1 / length(5),
                                 length(4),     length(5),     1 / length(3), 1 / length(4), 1 / length(5)};
    const auto out = output.values();
    for (int i = 0; i < 11; ++i) CHECK(std::fabs(out[i] - expected[i]) <= (i < 6 ? 1e-14 : 1e-6) * expected[i]);
}

int main() {
    check_arithmetic();
    check_mathematics();
    check_lengths();
}
