// sanitize: thread
// Work-items beyond the end leave their place unwritten, and the reduction reads it.
#include <hip/hip_runtime.h>

__global__ void maximum(const int *in, int *out, int n) {
    extern __shared__ int values[];
    const int t = threadIdx.x;
    if (t < n) {
        values[t] = in[t];
    }
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            values[t] = max(values[t], values[t + half]); // FAULT: uninitialised_shared
        }
        __syncthreads();
    }
    if (t == 0) {
        *out = values[0];
    }
}

int main() {
    int *x;
    (void)hipMalloc(&x, 129 * sizeof(int));
    (void)hipMemset(x, 0, 129 * sizeof(int));
    maximum<<<1, 128, 128 * sizeof(int)>>>(x, x + 128, 100);
    (void)hipFree(x);
}
