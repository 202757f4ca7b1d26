// sanitize: thread
#include <hip/hip_runtime.h>

__global__ void reverse(const int *in, int *out) {
    __shared__ int line[256];
    const int t = threadIdx.x;
    line[t] = in[t];           // FAULT: race
    out[t] = line[255 - t];    // FAULT: race
}

int main() {
    int *x;
    (void)hipMalloc(&x, 512 * sizeof(int));
    (void)hipMemset(x, 0, 512 * sizeof(int));
    reverse<<<1, 256>>>(x, x + 256);
    (void)hipFree(x);
}
