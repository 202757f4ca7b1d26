// sanitize: address
#include <hip/hip_runtime.h>

__global__ void set(int *x) { x[threadIdx.x] = 1; }

void release(int *x) {
    (void)hipFree(x); // FAULT: double_free
}

int main() {
    int *x, *y;
    (void)hipMalloc(&x, 64 * sizeof(int));
    (void)hipMalloc(&y, 64 * sizeof(int));
    set<<<1, 64>>>(x);
    (void)hipFree(x); // OTHER: double_free
    set<<<1, 64>>>(y);
    release(x);
    (void)hipFree(y);
}
