// sanitize: address
#include <hip/hip_runtime.h>

__global__ void shift(const int *in, int *out) {
    __shared__ int line[32];
    const int t = threadIdx.x;
    line[t] = in[t];
    __syncthreads();
    out[t] = line[t - 1]; // FAULT: out_of_bounds
}

int main() {
    int *x;
    (void)hipMalloc(&x, 64 * sizeof(int));
    (void)hipMemset(x, 0, 64 * sizeof(int));
    shift<<<1, 32>>>(x, x + 32);
    (void)hipFree(x);
}
