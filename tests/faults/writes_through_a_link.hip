// expect: refused: tried to write /tmp/kernel-scientist-fault
#include <hip/hip_runtime.h>
#include <fstream>
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
    if (symlink("/tmp", "link") != 0) return 1;
    std::ofstream("link/kernel-scientist-fault") << "x";
    return 0;
}
