// sanitize: address
// A grid that is rounded up, and no test for the end.
#include <hip/hip_runtime.h>

__global__ void count_up(int *x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i; // FAULT: out_of_bounds
}

int main() {
    const int n = 1000;
    int *x;
    (void)hipHostMalloc(&x, n * sizeof(int)); // OTHER: out_of_bounds
    count_up<<<(n + 255) / 256, 256>>>(x);
    (void)hipDeviceSynchronize();
    (void)hipHostFree(x);
}
