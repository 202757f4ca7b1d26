// sanitize: thread
// In place: a block reads the edge that its neighbour writes.
#include <hip/hip_runtime.h>

__global__ void smooth(float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float left = i > 0 ? x[i - 1] : 0;      // FAULT: block_race
    const float right = i + 1 < n ? x[i + 1] : 0; // FAULT: block_race
    __syncthreads();
    x[i] = (left + right + i) / 2; // FAULT: block_race
}

int main() {
    float *x;
    (void)hipMalloc(&x, 256 * sizeof(float));
    (void)hipMemset(x, 0, 256 * sizeof(float));
    smooth<<<4, 64>>>(x, 256);
    (void)hipFree(x);
}
