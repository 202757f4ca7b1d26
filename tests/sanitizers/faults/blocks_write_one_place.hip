// sanitize: thread
#include <hip/hip_runtime.h>

__global__ void last_index(int *out) {
    if (threadIdx.x == 0) {
        *out = blockIdx.x; // FAULT: block_race
    }
}

int main() {
    int *x;
    (void)hipMalloc(&x, sizeof(int));
    last_index<<<8, 64>>>(x);
    (void)hipFree(x);
}
