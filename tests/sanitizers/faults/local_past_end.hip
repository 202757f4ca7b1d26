// sanitize: address
// A table of ten for a digit that may be ten.
#include <hip/hip_runtime.h>

__global__ void histogram(const int *in, int *out, int n) {
    int counts[10] = {};
    for (int i = 0; i < n; ++i) {
        counts[in[i] % 11] += 1; // FAULT: out_of_bounds
    }
    for (int i = 0; i < 10; ++i) {
        out[i] = counts[i];
    }
}

int main() {
    int *x;
    (void)hipMallocManaged(&x, 128 * sizeof(int));
    for (int i = 0; i < 64; ++i) {
        x[i] = i;
    }
    histogram<<<1, 1>>>(x, x + 64, 64);
    (void)hipDeviceSynchronize();
    (void)hipFree(x);
}
