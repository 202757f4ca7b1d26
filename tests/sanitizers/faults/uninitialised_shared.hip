// sanitize: thread
// The sum is added to before anybody has set it.
#include <hip/hip_runtime.h>

__global__ void sum(const int *in, int *out) {
    __shared__ int total;
    atomicAdd(&total, in[threadIdx.x]); // FAULT: uninitialised_shared
    __syncthreads();
    if (threadIdx.x == 0) {
        *out = total;
    }
}

int main() {
    int *x;
    (void)hipMalloc(&x, 65 * sizeof(int));
    (void)hipMemset(x, 0, 65 * sizeof(int));
    sum<<<1, 64>>>(x, x + 64);
    (void)hipFree(x);
}
