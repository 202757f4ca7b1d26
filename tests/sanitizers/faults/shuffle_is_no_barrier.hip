// sanitize: thread
// A shuffle hands values on; it does not order what was written to memory.
#include <hip/hip_runtime.h>

__global__ void exchange(const int *in, int *out) {
    __shared__ int line[64];
    const int t = threadIdx.x;
    line[t] = in[t]; // FAULT: race
    const int next = __shfl_down(t, 1);
    out[t] = line[next & 63]; // FAULT: race
}

int main() {
    int *x;
    (void)hipMalloc(&x, 128 * sizeof(int));
    (void)hipMemset(x, 0, 128 * sizeof(int));
    exchange<<<1, 64>>>(x, x + 64);
    (void)hipFree(x);
}
