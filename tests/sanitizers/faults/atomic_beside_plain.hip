// sanitize: thread
// The counter is reset while others count.
#include <hip/hip_runtime.h>

__global__ void count(const int *in, int *out) {
    __shared__ int matches;
    const int t = threadIdx.x;
    if (t == 0) {
        matches = 0; // FAULT: race
    }
    if (in[t] == 0) {
        atomicAdd(&matches, 1); // FAULT: race
    }
    __syncthreads();
    if (t == 0) {
        *out = matches;
    }
}

int main() {
    int *x;
    (void)hipMalloc(&x, 65 * sizeof(int));
    (void)hipMemset(x, 0, 65 * sizeof(int));
    count<<<1, 64>>>(x, x + 64);
    (void)hipFree(x);
}
