// What matrix instructions cost on the CPU runtime: one figure a line, name, value, unit. One block, so one core; its
// processor time, the best of several runs.
#include <cstdio>
#include <ctime>
#include <hip/hip_runtime.h>

typedef float Float4 __attribute__((ext_vector_type(4)));
typedef float Float16 __attribute__((ext_vector_type(16)));
typedef int Int16 __attribute__((ext_vector_type(16)));
typedef _Float16 Half4 __attribute__((ext_vector_type(4)));

#define KERNEL(NAME, A, D)                                                                                             \
    __global__ void NAME(const A *a, const A *b, D *d, int count) {                                                    \
        const A x = a[threadIdx.x], y = b[threadIdx.x];                                                                \
        D sum = {};                                                                                                    \
        for (int i = 0; i < count; ++i) sum = __builtin_amdgcn_##NAME(x, y, sum, 0, 0, 0);                             \
        d[threadIdx.x] = sum;                                                                                          \
    }
KERNEL(mfma_f32_32x32x16_fp8_fp8, long, Float16)
KERNEL(mfma_i32_32x32x16_i8, long, Int16)
KERNEL(mfma_f32_32x32x8f16, Half4, Float16)
KERNEL(mfma_f32_16x16x16f16, Half4, Float4)
KERNEL(mfma_f32_16x16x4f32, float, Float4)

double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class A, class D> bool measure(const char *name, void (*kernel)(const A *, const A *, D *, int), double operations) {
    constexpr int waves = 4, count = 500;
    A *a;
    D *d;
    if (hipMalloc(&a, 64 * waves * sizeof(A)) != hipSuccess || hipMalloc(&d, 64 * waves * sizeof(D)) != hipSuccess ||
        hipMemset(a, 0x31, 64 * waves * sizeof(A)) != hipSuccess) {
        return false;
    }
    double best = 1e30;
    for (int run = 0; run < 12; ++run) {
        const double start = processor_seconds();
        hipLaunchKernelGGL(kernel, dim3(1), dim3(64 * waves), 0, 0, a, a, d, count);
        if (hipDeviceSynchronize() != hipSuccess) return false;
        const double seconds = processor_seconds() - start;
        best = run > 0 && seconds < best ? seconds : best;
    }
    std::printf("%s %.1f GFLOP/s\n", name, operations * waves * count / best * 1e-9);
    return hipFree(a) == hipSuccess && hipFree(d) == hipSuccess;
}

int main() {
    const bool good = measure("mfma_f32_32x32x16_fp8_fp8", mfma_f32_32x32x16_fp8_fp8, 2.0 * 32 * 32 * 16) &&
                      measure("mfma_i32_32x32x16_i8", mfma_i32_32x32x16_i8, 2.0 * 32 * 32 * 16) &&
                      measure("mfma_f32_32x32x8f16", mfma_f32_32x32x8f16, 2.0 * 32 * 32 * 8) &&
                      measure("mfma_f32_16x16x16f16", mfma_f32_16x16x16f16, 2.0 * 16 * 16 * 16) &&
                      measure("mfma_f32_16x16x4f32", mfma_f32_16x16x4f32, 2.0 * 16 * 16 * 4);
    return good ? 0 : 1;
}
