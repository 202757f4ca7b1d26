// Lambdas as arguments of kernels, with captures, and launches inside of lambdas.
#include "check.h"

template <class F> __global__ void for_each(int n, F f) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i);
}
template <class T, class F> __global__ void reduce_with(const T *in, T *out, F f) {
    __shared__ T part[128];
    const int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) part[t] = f(part[t], part[t + half]);
        __syncthreads();
    }
    if (t == 0) *out = part[0];
}
struct Model {
    float slope;
    void run(float *out, int n) const {
        const float s = slope;
        for_each<<<(n + 63) / 64, 64>>>(n, [=] __device__(int i) { out[i] = s * i; });
    }
};

int main() {
    const int n = 500;
    DeviceArray<float> out(n);
    Model{1.5f}.run(out.get(), n);
    for (int i = 0; i < n; ++i) CHECK(out.values()[i] == 1.5f * i);

    DeviceArray<int> data(128), best(1);
    int *p = data.get();
    const auto launch = [&](int factor) {
        for_each<<<2, 64>>>(128, [=] __host__ __device__(int i) { p[i] = i * factor % 97; });
    };
    launch(5);
    reduce_with<<<1, 128>>>(p, best.get(), [] __device__(int a, int b) { return a > b ? a : b; });
    CHECK(best.values()[0] == 96);
}
