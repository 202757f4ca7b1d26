// Sum of all elements: a tree in shared memory, then one atomic a block.
#include <hip/hip_runtime.h>

#define BLOCK 256

__global__ void reduce_sum(const float* data, float* result, int n) {
    __shared__ float partial[BLOCK];
    int tid = threadIdx.x;
    int i = blockIdx.x * blockDim.x + tid;
    partial[tid] = i < n ? data[i] : 0.0f;
    __syncthreads();

    for (int stride = 1; stride < BLOCK; stride *= 2) {
        if (tid % (2 * stride) == 0) {
            partial[tid] += partial[tid + stride];
        }
        __syncthreads();
    }
    if (tid == 0) {
        atomicAdd(result, partial[0]);
    }
}

void sum(const float* data, float* result, int n) {
    hipMemset(result, 0, sizeof(float));
    reduce_sum<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(data, result, n);
}
