// expect: wrong: waits_at_two_barriers.hip:7:21 and
#include <hip/hip_runtime.h>

__global__ void k(int *x) {
    const int t = threadIdx.x;
    if (t < 64) {
        x[t] = 1;   __syncthreads();
    } else {
        __syncthreads();
    }
    x[t] = 2;
}

int main() {
    int *x;
    (void)hipMalloc(&x, 128 * sizeof(int));
    k<<<1, 128>>>(x);
    return hipFree(x) != hipSuccess;
}
