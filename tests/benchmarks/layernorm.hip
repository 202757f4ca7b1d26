// Layer normalisation over each row with scale and shift, one block a row.
#include <hip/hip_runtime.h>

template <int BLOCK>
__global__ void layernorm_kernel(const float* x, const float* gamma, const float* beta, float* y, int width, float epsilon) {
    __shared__ float sums[BLOCK];
    const float* row = x + blockIdx.x * width;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += BLOCK) {
        sum += row[i];
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
        __syncthreads();
    }
    float mean = sums[0] / width;
    __syncthreads();

    float squares = 0.0f;
    for (int i = threadIdx.x; i < width; i += BLOCK) {
        float difference = row[i] - mean;
        squares += difference * difference;
    }
    sums[threadIdx.x] = squares;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride >>= 1) {
        if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(sums[0] / width + epsilon);

    for (int i = threadIdx.x; i < width; i += BLOCK) {
        y[blockIdx.x * width + i] = (row[i] - mean) * scale * gamma[i] + beta[i];
    }
}

void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int width, float epsilon) {
    layernorm_kernel<64><<<rows, 64>>>(x, gamma, beta, y, width, epsilon);
}
