// sanitize: thread
// Each step reads what its neighbour writes in the same step.
#include <hip/hip_runtime.h>

__global__ void diffuse(float *x, int steps) {
    const int t = threadIdx.x;
    for (int i = 0; i < steps; ++i) {
        const float right = t + 1 < blockDim.x ? x[t + 1] : 0; // FAULT: race
        x[t] = 0.5f * (x[t] + right) + t; // FAULT: race
        __syncthreads();
    }
}

int main() {
    float *x;
    (void)hipMalloc(&x, 64 * sizeof(float));
    (void)hipMemset(x, 0, 64 * sizeof(float));
    diffuse<<<1, 64>>>(x, 3);
    (void)hipFree(x);
}
