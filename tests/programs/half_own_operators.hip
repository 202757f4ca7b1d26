// With HIP's own operators and conversions of half turned off, a program brings its own, as PyTorch's extensions do.
#define __HIP_NO_HALF_OPERATORS__ 1
#define __HIP_NO_HALF_CONVERSIONS__ 1
#include "check.h"
#include <hip/hip_fp16.h>

struct Counted {
    __half value;
};
__device__ __half operator+(const __half &a, const __half &b) { return __hadd(a, b); }
__device__ __half operator*(const __half &a, float b) { return __float2half(__half2float(a) * b); }
__device__ __half2 operator+(const __half2 &a, const __half2 &b) { return __hadd2(a, b); }

static_assert(!std::is_convertible_v<float, __half> && !std::is_convertible_v<__half, float>);

__global__ void kernel(const __half *in, float *out) {
    const Counted c = {in[threadIdx.x]};
    const __half2 pair = __half2half2(c.value) + __floats2half2_rn(1, 2);
    out[threadIdx.x] = __half2float(c.value + c.value * 3.0f) + __low2float(pair) * 100 + __high2float(pair) * 10000;
}

int main() {
    std::vector<__half> in(64);
    for (int i = 0; i < 64; ++i) in[i] = __float2half(i * 0.5f);
    DeviceArray<__half> device(in);
    DeviceArray<float> out(64);
    kernel<<<1, 64>>>(device.get(), out.get());
    for (int i = 0; i < 64; ++i) {
        const float x = i * 0.5f;
        CHECK(out.values()[i] == x * 4 + (x + 1) * 100 + (x + 2) * 10000);
    }
}
