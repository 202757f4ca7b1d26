// expect: crashed: in kernel
#include <hip/hip_runtime.h>

__global__ void write_far(int *data) {
    data[(1ll << 40) + threadIdx.x] = 1;
}

int main() {
    int *data = nullptr;
    if (hipMalloc(&data, sizeof(int)) != hipSuccess) return 90;
    write_far<<<1, 64>>>(data);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
