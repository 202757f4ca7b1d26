// sanitize: address
// Work-items leave the loop at different turns and meet the others at the barrier behind it.
#include <hip/hip_runtime.h>

__global__ void steps(int *x) {
    const int t = threadIdx.x;
    for (int i = 0; i < t / 32; ++i) {
        x[t] += i;
        __syncthreads(); // FAULT: barrier_divergence
    }
    x[t] *= 2;
    __syncthreads(); // FAULT: barrier_divergence
    x[t] += x[127 - t];
}

int main() {
    int *x;
    (void)hipMalloc(&x, 128 * sizeof(int));
    (void)hipMemset(x, 0, 128 * sizeof(int));
    steps<<<1, 128>>>(x);
    (void)hipFree(x);
}
