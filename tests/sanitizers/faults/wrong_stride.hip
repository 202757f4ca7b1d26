// sanitize: address
// Rows and columns are mixed up, in a kernel that is a template.
#include <hip/hip_runtime.h>

template <class T> __device__ T &element(T *matrix, int row, int column, int pitch) {
    return matrix[row * pitch + column];
}

template <class T> __global__ void clear(T *matrix, int rows, int columns) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        element(matrix, row, column, rows) = T(0); // FAULT: out_of_bounds
    }
}

int main() {
    const int rows = 40, columns = 24;
    double *matrix;
    (void)hipMalloc(&matrix, rows * columns * sizeof(double)); // OTHER: out_of_bounds
    clear<double><<<dim3(2, 3), dim3(16, 16)>>>(matrix, rows, columns);
    (void)hipFree(matrix);
}
