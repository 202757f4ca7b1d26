// sanitize: address
// One array is set after the barrier behind which it is read.
#include <hip/hip_runtime.h>

__global__ void mix(const int *in, int *out) {
    __shared__ int first[64], second[64];
    const int t = threadIdx.x;
    first[t] = in[t];
    __syncthreads();
    out[t] = first[63 - t] + second[t]; // FAULT: uninitialised_shared
    second[t] = in[t] * 2; // OTHER: uninitialised_shared
    __syncthreads();
    out[t] += second[63 - t];
}

int main() {
    int *x;
    (void)hipMalloc(&x, 128 * sizeof(int));
    (void)hipMemset(x, 0, 128 * sizeof(int));
    mix<<<2, 64>>>(x, x + 64);
    (void)hipFree(x);
}
