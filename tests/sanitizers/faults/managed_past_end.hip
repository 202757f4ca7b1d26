// sanitize: address
// Bytes are counted as elements.
#include <hip/hip_runtime.h>

__global__ void fill(short *x, size_t count) {
    for (size_t i = threadIdx.x; i < count; i += blockDim.x) {
        x[i] = 7; // FAULT: out_of_bounds
    }
}

int main() {
    short *x;
    const size_t bytes = 90 * sizeof(short);
    (void)hipMallocManaged(&x, bytes); // OTHER: out_of_bounds
    fill<<<1, 32>>>(x, bytes);
    (void)hipDeviceSynchronize();
    (void)hipFree(x);
}
