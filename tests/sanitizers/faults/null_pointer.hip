// sanitize: address
// The allocation has failed, and nobody has looked.
#include <hip/hip_runtime.h>

__global__ void set(int *x, int n) {
    const int i = threadIdx.x;
    if (i < n) {
        x[i] = 1; // FAULT: invalid_address
    }
}

int main() {
    int *x = nullptr;
    (void)hipMalloc(&x, size_t{1} << 60);
    set<<<1, 64>>>(x, 64);
    return hipDeviceSynchronize() != hipSuccess;
}
