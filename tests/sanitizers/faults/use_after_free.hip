// sanitize: address
#include <hip/hip_runtime.h>

__global__ void add(const int *a, const int *b, int *c) {
    const int i = threadIdx.x;
    c[i] = a[i] + b[i]; // FAULT: use_after_free
}

int main() {
    int *a, *b, *c;
    (void)hipMalloc(&a, 64 * sizeof(int));
    (void)hipMalloc(&b, 64 * sizeof(int));
    (void)hipMalloc(&c, 64 * sizeof(int));
    (void)hipMemset(a, 0, 64 * sizeof(int));
    (void)hipMemset(b, 0, 64 * sizeof(int));
    (void)hipFree(b); // OTHER: use_after_free
    add<<<1, 64>>>(a, b, c);
    (void)hipFree(a);
    (void)hipFree(c);
}
