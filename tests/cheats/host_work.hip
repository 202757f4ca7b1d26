// kernel: batched_small_gemm
// ends: refused
// Does the work in the host function, which can reach "device" memory where the device is the CPU.
#include <hip/hip_runtime.h>

void batched_gemm(const double* a, const double* b, double* c, int batch, int size) {
    for (int m = 0; m < batch; m++) {
        const double *left = a + m * size * size, *right = b + m * size * size;
        double* product = c + m * size * size;
        for (int row = 0; row < size; row++) {
            for (int col = 0; col < size; col++) {
                double sum = 0;
                for (int k = 0; k < size; k++) sum += left[row * size + k] * right[k * size + col];
                product[row * size + col] = sum;
            }
        }
    }
}
