// sanitize: address
#include <hip/hip_runtime.h>

__global__ void set(int *x) { x[threadIdx.x] = 1; }

int main() {
    int *x;
    (void)hipMalloc(&x, 64 * sizeof(int));
    set<<<1, 64>>>(x);
    (void)hipHostFree(x); // FAULT: wrong_free
}
