// Sum of each row: a large block for each, a tree in shared memory whose neighbours drift apart.
#include <hip/hip_runtime.h>

#define THREADS 1024

__global__ void row_sum(const float* x, float* sums, int cols) {
    __shared__ float partial[THREADS];
    int tid = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = tid; i < cols; i += THREADS) {
        sum += row[i];
    }
    partial[tid] = sum;
    __syncthreads();
    for (int stride = 1; stride < THREADS; stride *= 2) {
        if (tid % (2 * stride) == 0) {
            partial[tid] += partial[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        sums[blockIdx.x] = partial[0];
    }
}

void row_sums(const float* x, float* sums, int rows, int cols) {
    row_sum<<<rows, THREADS>>>(x, sums, cols);
}
