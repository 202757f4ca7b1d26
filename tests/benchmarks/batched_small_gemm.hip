// C[b] = A[b] * B[b] for many small square matrices, one block a matrix.
#include <hip/hip_runtime.h>

template <typename T>
__global__ void batched_gemm_kernel(const T* a, const T* b, T* c, int size) {
    int elements = size * size;
    const T* left = a + blockIdx.x * elements;
    const T* right = b + blockIdx.x * elements;
    T* product = c + blockIdx.x * elements;
    for (int i = threadIdx.x; i < elements; i += blockDim.x) {
        int row = i / size;
        int col = i % size;
        T sum = 0;
        for (int k = 0; k < size; k++) {
            sum += left[row * size + k] * right[k * size + col];
        }
        product[i] = sum;
    }
}

void batched_gemm(const double* a, const double* b, double* c, int batch, int size) {
    batched_gemm_kernel<double><<<dim3(batch), dim3(64)>>>(a, b, c, size);
}
