// C = alpha * A * B + beta * C, row major, one element a work-item, everything read from global memory.
#include <hip/hip_runtime.h>

#define SIDE 16

__global__ void sgemm_kernel(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++) {
            sum += A[row * K + k] * B[k * N + col];
        }
        C[row * N + col] = alpha * sum + beta * C[row * N + col];
    }
}

void sgemm(const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta) {
    dim3 block(SIDE, SIDE);
    dim3 grid((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE);
    sgemm_kernel<<<grid, block>>>(A, B, C, M, N, K, alpha, beta);
}
