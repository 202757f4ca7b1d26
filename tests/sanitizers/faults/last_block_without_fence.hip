// sanitize: thread
// The counter says that all blocks have come by, not that their sums can be seen.
#include <hip/hip_runtime.h>

__device__ unsigned finished;

__global__ void sum(const int *in, int *parts, int *total) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x] * 3; // FAULT: block_race
        last = atomicAdd(&finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) {
            all += parts[i]; // FAULT: block_race
        }
        *total = all;
    }
}

int main() {
    int *x;
    (void)hipMalloc(&x, 33 * sizeof(int));
    (void)hipMemset(x, 0, 33 * sizeof(int));
    sum<<<16, 64>>>(x, x + 16, x + 32);
    (void)hipFree(x);
}
