// sanitize: thread
// __syncwarp() orders a wave, and the block has two.
#include <hip/hip_runtime.h>

__global__ void reverse(const int *in, int *out) {
    __shared__ int line[128];
    const int t = threadIdx.x;
    line[t] = in[t]; // FAULT: race
    __syncwarp();
    out[t] = line[127 - t]; // FAULT: race
}

int main() {
    int *x;
    (void)hipMalloc(&x, 256 * sizeof(int));
    (void)hipMemset(x, 0, 256 * sizeof(int));
    reverse<<<1, 128>>>(x, x + 128);
    (void)hipFree(x);
}
