// sanitize: thread
#include <hip/hip_runtime.h>

__global__ void split(int *x) {
    __shared__ int line[128];
    const int t = threadIdx.x;
    line[t] = t;
    if (t < 64) {
        __syncthreads(); // FAULT: barrier_divergence
        x[t] = line[127 - t];
    } else {
        x[t] = t;
        __syncthreads(); // FAULT: barrier_divergence
    }
}

int main() {
    int *x;
    (void)hipMalloc(&x, 128 * sizeof(int));
    split<<<1, 128>>>(x);
    (void)hipFree(x);
}
