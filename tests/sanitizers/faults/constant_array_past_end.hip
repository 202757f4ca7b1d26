// sanitize: address
// A stencil's weights: local to the kernel, but never changed, so that the compiler keeps them in memory once.
#include <hip/hip_runtime.h>

__global__ void weigh(int *out, int radius) {
    int weights[4] = {1, 2, 3, 4};
    out[threadIdx.x] = weights[radius + threadIdx.x]; // FAULT: out_of_bounds
}

int main() {
    int *x;
    (void)hipMalloc(&x, 4 * sizeof(int));
    weigh<<<1, 4>>>(x, 1);
    return hipDeviceSynchronize() != hipSuccess;
}
