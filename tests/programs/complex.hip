// Complex numbers: a discrete Fourier transform and its inverse.
#include "check.h"
#include <hip/hip_complex.h>

__global__ void transform(const hipDoubleComplex *in, hipDoubleComplex *out, int n, double sign) {
    const int k = threadIdx.x;
    hipDoubleComplex sum = make_hipDoubleComplex(0, 0);
    for (int j = 0; j < n; ++j) {
        double s, c;
        sincospi(sign * 2.0 * ((j * k) % n) / n, &s, &c);
        sum = hipCadd(sum, hipCmul(in[j], make_hipDoubleComplex(c, s)));
    }
    out[k] = sum;
}
__global__ void simple(hipFloatComplex *out) {
    const hipFloatComplex p = make_hipFloatComplex(3, 4), q = make_hipFloatComplex(1, -2);
    out[0] = hipCmulf(p, q);
    out[1] = hipCdivf(p, q);
    out[2] = hipConjf(p);
    out[3] = make_hipFloatComplex(hipCabsf(p), hipCrealf(p) + hipCimagf(q));
}

int main() {
    const int n = 64;
    std::vector<hipDoubleComplex> in(n);
    for (int i = 0; i < n; ++i) in[i] = make_hipDoubleComplex(i % 7, -i % 3);
    DeviceArray<hipDoubleComplex> a(in), b(n), c(n);
    transform<<<1, n>>>(a.get(), b.get(), n, -1);
    transform<<<1, n>>>(b.get(), c.get(), n, 1);
    const auto back = c.values();
    for (int i = 0; i < n; ++i)
        CHECK(std::fabs(back[i].x / n - in[i].x) < 1e-12 && std::fabs(back[i].y / n - in[i].y) < 1e-12);
    DeviceArray<hipFloatComplex> out(4);
    simple<<<1, 1>>>(out.get());
    const auto v = out.values();
    CHECK(v[0].x == 11 && v[0].y == -2 && v[1].x == -1 && v[1].y == 2 && v[2].y == -4 && v[3].x == 5 && v[3].y == 1);
}
