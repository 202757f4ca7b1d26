// Half precision: conversions, operators, pairs, shuffles of halves.
#include "check.h"
#include <hip/hip_fp16.h>

static_assert(sizeof(__half) == 2 && sizeof(__half2) == 4 && alignof(half2) == 4);

__global__ void axpy(float a, const __half *x, __half *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __hfma(__float2half(a), x[i], y[i]);
}
__global__ void operators(int *wrong) {
    int bad = 0;
    const half a = __float2half(1.5f), b = 2;
    bad += !(a + b == half(3.5f)) + !(a - b == half(-0.5f)) + !(a * b == half(3)) + !(b / a > half(1.33f));
    bad += !(-a < b) + !(__hgt(b, a)) + !(__half2float(a * 2.0f) == 3.0f) + !(float(a) + 1 == 2.5f);
    bad += !(__half2float(__float2half(1.0f / 3)) == 0.333251953125f); // rounded to 11 bits
    bad += !(__half_as_ushort(half(1.0f)) == 0x3c00) + !(__ushort_as_half(0xc000) == half(-2.0f));
    bad += !(__half2int_rn(half(2.5f)) == 2) + !(__hisnan(__ushort_as_half(0x7e00)));
    const half2 p = __floats2half2_rn(1, 2), q = __half2half2(half(3));
    const float2 r = __half22float2(__hfma2(p, q, q));
    bad += !(r.x == 6 && r.y == 9) + !(__low2float(p + q) == 4) + !(__high2float(__hmul2(p, q)) == 6);
    bad += !(__half2float(hsqrt(half(4.0f))) == 2) + !(__half2float(hexp(half(0.0f))) == 1);
    half c = 1.0f;
    c += half(0.0004f); // too little for 11 bits
    bad += !(c == half(1.0f));
    *wrong = bad;
}
__global__ void sum(float *out) {
    half v = half(static_cast<float>(threadIdx.x % 8));
    for (int d = 32; d > 0; d /= 2) v += __shfl_xor(v, d);
    out[threadIdx.x] = __half2float(v);
}

int main() {
    const int n = 300;
    std::vector<__half> x(n), y(n);
    for (int i = 0; i < n; ++i) {
        x[i] = __float2half(i * 0.25f);
        y[i] = __float2half(1.0f);
    }
    DeviceArray<__half> dx(x), dy(y);
    axpy<<<(n + 63) / 64, 64>>>(2.0f, dx.get(), dy.get(), n);
    for (int i = 0; i < n; ++i) CHECK(__half2float(dy.values()[i]) == i * 0.5f + 1.0f);
    DeviceArray<int> wrong(1);
    operators<<<1, 1>>>(wrong.get());
    CHECK(wrong.values()[0] == 0);
    DeviceArray<float> sums(64);
    sum<<<1, 64>>>(sums.get());
    for (float v : sums.values()) CHECK(v == 224);
}
