// sanitize: thread
#include <hip/hip_runtime.h>

__global__ void histogram(const unsigned char *in, int *out) {
    __shared__ int bins[16];
    const int t = threadIdx.x;
    if (t < 16) {
        bins[t] = 0;
    }
    __syncthreads();
    bins[in[t] % 16] += 1; // FAULT: race
    __syncthreads();
    if (t < 16) {
        out[t] = bins[t];
    }
}

int main() {
    unsigned char *in;
    int *out;
    (void)hipMalloc(&in, 256);
    (void)hipMalloc(&out, 16 * sizeof(int));
    (void)hipMemset(in, 3, 256);
    histogram<<<1, 256>>>(in, out);
    (void)hipFree(in);
    (void)hipFree(out);
}
