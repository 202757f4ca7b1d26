// sanitize: address
// The left neighbour of the first element.
#include <hip/hip_runtime.h>

__global__ void difference(const int *in, int *out) {
    const int i = threadIdx.x;
    out[i] = in[i] - in[i - 1]; // FAULT: out_of_bounds
}

int main() {
    int *in, *out;
    (void)hipMalloc(&in, 64 * sizeof(int)); // OTHER: out_of_bounds
    (void)hipMalloc(&out, 64 * sizeof(int));
    (void)hipMemset(in, 1, 64 * sizeof(int));
    hipLaunchKernelGGL(difference, dim3(1), dim3(64), 0, 0, in, out);
    (void)hipFree(in);
    (void)hipFree(out);
}
