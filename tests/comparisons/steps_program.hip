// STEPS dependent operations in each work-item; what it prints is the same for any number of them.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

#define STEPS 1000

__global__ void steps(const unsigned* x, unsigned* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = x[i];
#pragma clang loop unroll(disable) vectorize(disable)
    for (int step = 0; step < STEPS; step++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    // This generator never gets from another number to 0, which the compiler does not know.
    y[i] = state == 0 ? 0 : x[i];
}

int main() {
    const int n = 128;
    std::vector<unsigned> x(n), y(n);
    for (int i = 0; i < n; i++) x[i] = 7 * i + 1;
    unsigned *on_device_x = nullptr, *on_device_y = nullptr;
    if (hipMalloc(&on_device_x, n * sizeof(unsigned)) != hipSuccess) return 1;
    if (hipMalloc(&on_device_y, n * sizeof(unsigned)) != hipSuccess) return 1;
    (void)hipMemcpy(on_device_x, x.data(), n * sizeof(unsigned), hipMemcpyHostToDevice);
    for (int launch = 0; launch < 8; launch++) steps<<<n / 32, 32>>>(on_device_x, on_device_y, n);
    (void)hipMemcpy(y.data(), on_device_y, n * sizeof(unsigned), hipMemcpyDeviceToHost);
    unsigned long long sum = 0;
    for (int i = 0; i < n; i++) sum = 31 * sum + y[i];
    std::printf("%llu\n", sum);
    return y == x ? 0 : 1;
}
