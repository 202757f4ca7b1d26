// sanitize: address
#include <hip/hip_runtime.h>

__constant__ float weights[5];
__device__ int totals[6];

__global__ void smooth(const float *in, float *out, int radius) {
    const int i = threadIdx.x;
    float sum = 0;
    for (int k = 0; k <= 2 * radius + 1; ++k) {
        sum += weights[k] * in[i + k]; // FAULT: out_of_bounds
    }
    out[i] = sum;
    totals[i % 7] = i; // FAULT: out_of_bounds
}

int main() {
    float *x;
    const float host[5] = {1, 2, 3, 2, 1};
    (void)hipMemcpyToSymbol(HIP_SYMBOL(weights), host, sizeof host);
    (void)hipMalloc(&x, 256 * sizeof(float));
    (void)hipMemset(x, 0, 256 * sizeof(float));
    smooth<<<1, 64>>>(x, x + 128, 2);
    (void)hipFree(x);
}
