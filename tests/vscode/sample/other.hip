// out = in^T, one element a work-item: loads run along the rows of `in`, stores along the columns of `out`.
#include <hip/hip_runtime.h>

#define SIDE 32

__global__ void other_kernel(const float* in, float* out, int rows, int cols) {
    int col = blockIdx.x * SIDE + threadIdx.x;
    int row = blockIdx.y * SIDE + threadIdx.y;
    if (row < rows && col < cols) {
        out[col * rows + row] = in[row * cols + col];
    }
}

void other(const float* in, float* out, int rows, int cols) {
    dim3 block(SIDE, SIDE);
    dim3 grid((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
    other_kernel<<<grid, block>>>(in, out, rows, cols);
}
