// sanitize: address
// The launch counts elements, the kernel needs bytes.
#include <hip/hip_runtime.h>

__global__ void reverse(const int *in, int *out) {
    extern __shared__ int line[];
    const int t = threadIdx.x, n = blockDim.x;
    line[t] = in[t]; // FAULT: out_of_bounds
    __syncthreads();
    out[t] = line[n - 1 - t]; // FAULT: out_of_bounds
}

int main() {
    int *x;
    (void)hipMalloc(&x, 256 * sizeof(int));
    (void)hipMemset(x, 0, 256 * sizeof(int));
    reverse<<<1, 128, 128>>>(x, x + 128);
    (void)hipFree(x);
}
