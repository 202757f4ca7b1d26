// STEPS dependent operations in each work-item; the result is the same for any number of them.
#include <hip/hip_runtime.h>

#define STEPS 1000

__global__ void steps(const unsigned* x, unsigned* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = x[i];
#pragma clang loop unroll(disable) vectorize(disable)
    for (int step = 0; step < STEPS; step++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    // This generator never gets from another number to 0, which the compiler does not know.
    y[i] = state == 0 ? 0 : x[i];
}
