// expect: crashed: ran out of memory
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
    for (;;) {
        void *block = nullptr;
        const hipError_t error = hipMalloc(&block, 64 << 20);
        if (error != hipSuccess) {
            std::printf("%s\n", hipGetErrorString(error));
            return 1;
        }
        if (hipMemset(block, 1, 64 << 20) != hipSuccess) return 2;
    }
    return 0;
}
