// Softmax of each row, one wavefront a row.
#include <hip/hip_runtime.h>

#define THREADS 64

__device__ float block_max(float value, float* scratch) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + stride]);
        }
        __syncthreads();
    }
    float result = scratch[0];
    __syncthreads();
    return result;
}

__device__ float block_sum(float value, float* scratch) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            scratch[threadIdx.x] += scratch[threadIdx.x + stride];
        }
        __syncthreads();
    }
    float result = scratch[0];
    __syncthreads();
    return result;
}

__global__ void softmax_rows(const float* x, float* y, int cols) {
    extern __shared__ float scratch[];
    const float* row = x + (size_t)blockIdx.x * cols;
    float* out = y + (size_t)blockIdx.x * cols;

    float largest = -INFINITY;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        largest = fmaxf(largest, row[i]);
    }
    largest = block_max(largest, scratch);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        sum += expf(row[i] - largest);
    }
    sum = block_sum(sum, scratch);

    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        out[i] = expf(row[i] - largest) / sum;
    }
}

void softmax(const float* x, float* y, int rows, int cols) {
    softmax_rows<<<rows, THREADS, THREADS * sizeof(float)>>>(x, y, cols);
}
