// sanitize: address
// One work-item too many: the test lets i == n through.
#include <hip/hip_runtime.h>

__global__ void scale(float *x, float factor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        x[i] *= factor; // FAULT: out_of_bounds
    }
}

int main() {
    const int n = 100;
    float *x;
    if (hipMalloc(&x, n * sizeof(float)) != hipSuccess) return 1; // OTHER: out_of_bounds
    (void)hipMemset(x, 0, n * sizeof(float));
    scale<<<1, 128>>>(x, 2.0f, n);
    return hipFree(x) != hipSuccess;
}
