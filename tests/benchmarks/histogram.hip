// Counts of byte values, with atomics on global memory.
#include <hip/hip_runtime.h>

__global__ void clear_bins(unsigned int* bins) {
    bins[threadIdx.x] = 0;
}

__global__ void count_bytes(const unsigned char* data, unsigned int* bins, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        atomicAdd(&bins[data[i]], 1u);
    }
}

void histogram(const unsigned char* data, unsigned int* bins, int n) {
    clear_bins<<<1, 256>>>(bins);
    count_bytes<<<64, 128>>>(data, bins, n);
}
