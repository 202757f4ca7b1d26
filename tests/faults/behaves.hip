// expect: prints: 1
#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void fill(float *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = 1.0f;
}

int main() {
    const int n = 1 << 12;
    float *data = nullptr;
    if (hipMalloc(&data, n * sizeof(float)) != hipSuccess) return 90;
    fill<<<n / 256, 256>>>(data, n);
    if (hipDeviceSynchronize() != hipSuccess) return 91;
    float first = 0;
    if (hipMemcpy(&first, data, sizeof first, hipMemcpyDeviceToHost) != hipSuccess) return 92;
    std::printf("%g\n", first);
    return 0;
}
