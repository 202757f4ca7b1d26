// Every way to launch: chevrons with 2 to 4 values, macros, pointers, default arguments, null pointers, conversions.
#include "check.h"

__global__ void add(int *out, const int *extra, double x, int n = 10) {
    atomicAdd(out, (extra == nullptr ? 0 : *extra) + static_cast<int>(x) + n);
}
__global__ void no_arguments() {}
__global__ void by_value(int *out, dim3 d, const char *text) { *out = d.x * 100 + d.y * 10 + text[1] - 'a'; }
__global__ void with_shared(int *out) {
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
struct Holder {
    static __global__ void member(int *out) { *out += 1; }
};
template <class T, T by> __global__ void increase(T *out) { atomicAdd(out, by); }
static int evaluations = 0;
static int *counted(int *p) {
    ++evaluations;
    return p;
}
#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)

int main() {
    DeviceArray<int> cell(1), extra(std::vector<int>{1000});
    int *p = cell.get();
    const auto value = [&] {
        const int v = cell.values()[0];
        HIP_OK(hipMemset(p, 0, sizeof(int)));
        return v;
    };
    hipStream_t stream;
    HIP_OK(hipStreamCreate(&stream));

    add<<<1, 1>>>(p, extra.get(), 2.9, 3);
    CHECK(value() == 1005);
    add<<<dim3(2), dim3(3), 0>>>(p, nullptr, 1, 1); // an int becomes a double
    CHECK(value() == 12);
    add<<<1, 2, 0, stream>>>(p, NULL, 'A' - 60, 0);
    CHECK(value() == 10);
    add<<<1, 1, 0, nullptr>>>(p, 0, 0.0, 4);
    CHECK(value() == 4);
    add<<<1, 1>>>(p, extra.get(), 0.5); // the default completes it
    CHECK(value() == 1010);
    hipLaunchKernelGGL(add, dim3(1), dim3(1), 0, 0, p, nullptr, 7.0, 1);
    CHECK(value() == 8);
    hipLaunchKernelGGL(no_arguments, 1, 1, 0, stream);
    no_arguments<<<3, 64>>>();
    LAUNCH(add, p, extra.get(), 1.0, 1);
    CHECK(value() == 1002);
    Holder::member<<<1, 1>>>(p);
    CHECK(value() == 1);
    by_value<<<1, 1>>>(p, dim3(3, 4), "xyz");
    CHECK(value() == 340 + 24);

    void (*chosen)(int *, const int *, double, int) = add;
    chosen<<<1, 1>>>(p, extra.get(), 5.0, 5);
    CHECK(value() == 1010);
    add<<<1, 64>>>(counted(p), extra.get(), 0.0, 0);
    CHECK(evaluations == 1 && value() == 64000);

    const int *from = extra.get();
    double x = 20;
    int n = 2;
    void *arguments[] = {&p, &from, &x, &n};
    HIP_OK(hipLaunchKernel(add, dim3(1), dim3(2), arguments, 0, stream));
    CHECK(value() == 2044);
    HIP_OK(hipLaunchKernel(reinterpret_cast<const void *>(add), dim3(1), dim3(3), arguments, 0, stream));
    CHECK(value() == 3066);
    void *out_only[] = {&p};
    HIP_OK(hipLaunchKernel(reinterpret_cast<void *>(&Holder::member), 1, 1, out_only, 0, nullptr));
    CHECK(value() == 1);
    HIP_OK(hipLaunchKernel((void *)increase<int, 5>, dim3(1), dim3(4), out_only, 0, nullptr));
    CHECK(value() == 20);

    DeviceArray<int> reversed(100);
    with_shared<<<1, 100, 100 * sizeof(int)>>>(reversed.get());
    for (int i = 0; i < 100; ++i) CHECK(reversed.values()[i] == 99 - i);
    if (n == 2) no_arguments<<<1, 1>>>();
    else no_arguments<<<2, 2>>>();
    HIP_OK(hipGetLastError());
    HIP_OK(hipStreamDestroy(stream));
}
