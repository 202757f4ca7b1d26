// sanitize: thread
// The end of a reduction as it was once written, for waves that run in lockstep.
#include <hip/hip_runtime.h>

__global__ void sum(const int *in, int *out) {
    __shared__ volatile int part[64];
    const int t = threadIdx.x;
    part[t] = in[t] + in[t + 64];
    __syncthreads();
    if (t < 32) {
        part[t] += part[t + 32]; // FAULT: race
        part[t] += part[t + 16]; // FAULT: race
    }
    if (t == 0) {
        *out = part[0];
    }
}

int main() {
    int *x;
    (void)hipMalloc(&x, 129 * sizeof(int));
    (void)hipMemset(x, 0, 129 * sizeof(int));
    sum<<<1, 64>>>(x, x + 128);
    (void)hipFree(x);
}
