// What the CPU runtime itself costs. Prints one figure a line: name, value, unit. The best of several runs, as other
// work on the machine only ever adds time.
#include <chrono>
#include <cstdio>
#include <hip/hip_runtime.h>

constexpr int kTile = 16;

__global__ void sgemm16(const float *a, const float *b, float *c, int n) {
    __shared__ float as[kTile][kTile], bs[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
    float sum = 0;
    for (int k = 0; k < n; k += kTile) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < kTile; ++i) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
__global__ void only_barriers(int count) {
    for (int i = 0; i < count; ++i) __syncthreads();
}
__global__ void only_shuffles(float *out, int count) {
    float value = threadIdx.x;
    for (int i = 0; i < count; ++i) value += __shfl_xor(value, 1);
    out[threadIdx.x] = value;
}
__global__ void empty() {}
__global__ void saxpy(float a, const float *x, float *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
// A branch that is never taken, so that the kernel counts as one that synchronises.
__global__ void one_barrier_never_reached(float *y, int n, bool never) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (never) __syncthreads();
    if (i < n) y[i] += 1.0f;
}

template <class F> double best_seconds(F run) {
    double best = 1e30;
    for (int i = 0; i < 12; ++i) {
        const auto start = std::chrono::steady_clock::now();
        run();
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        best = i > 0 && seconds < best ? seconds : best;
    }
    return best;
}

int main() {
    const int n = 512, items = 1 << 20;
    float *a, *b, *c;
    if (hipMalloc(&a, items * 4) != hipSuccess || hipMalloc(&b, items * 4) != hipSuccess ||
        hipMalloc(&c, items * 4) != hipSuccess) {
        std::fprintf(stderr, "no memory\n");
        return 1;
    }
    (void)hipMemset(a, 0, items * 4);
    (void)hipMemset(b, 0, items * 4);
    (void)hipMemset(c, 0, items * 4);

    double s = best_seconds([&] { sgemm16<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(a, b, c, n); });
    std::printf("sgemm16_n512 %.3f GFLOP/s\n", 2.0 * n * n * n / s * 1e-9);
    for (int size : {64, 256, 1024}) {
        const int count = 2000;
        s = best_seconds([&] { only_barriers<<<1, size>>>(count); });
        std::printf("barrier_%d %.2f ns\n", size, s / count / size * 1e9);
        s = best_seconds([&] { only_shuffles<<<1, size>>>(c, count); });
        std::printf("shuffle_%d %.2f ns\n", size, s / count / size * 1e9);
    }
    s = best_seconds([&] {
        for (int i = 0; i < 1000; ++i) empty<<<1, 64>>>();
    });
    std::printf("empty_launch_1_block %.0f ns\n", s * 1e6);
    s = best_seconds([&] {
        for (int i = 0; i < 100; ++i) empty<<<256, 64>>>();
    });
    std::printf("empty_launch_256_blocks %.0f ns\n", s * 1e7);
    s = best_seconds([&] { saxpy<<<items / 256, 256>>>(2.0f, a, c, items); });
    std::printf("saxpy_loop %.3f ns/item\n", s / items * 1e9);
    s = best_seconds([&] { one_barrier_never_reached<<<items / 256, 256>>>(c, items, false); });
    std::printf("fiber_without_wait %.3f ns/item\n", s / items * 1e9);
    (void)hipFree(a);
    (void)hipFree(b);
    (void)hipFree(c);
}
