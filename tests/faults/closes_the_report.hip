// expect: launches nothing
#include <hip/hip_runtime.h>
#include <unistd.h>

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
    for (int i = 3; i < 1024; i++) close(i);
    return 0;
}
