// Inclusive prefix sum: each block scans its part, one block scans the blocks' totals, a third kernel adds them.
#include <hip/hip_runtime.h>

constexpr int kBlock = 256;

__global__ void scan_blocks(const int* in, int* out, int* totals, int n) {
    __shared__ int buffer[2][kBlock];
    int tid = threadIdx.x;
    int i = blockIdx.x * kBlock + tid;
    int current = 0;
    buffer[current][tid] = i < n ? in[i] : 0;
    __syncthreads();

    for (int offset = 1; offset < kBlock; offset *= 2) {
        int next = 1 - current;
        if (tid >= offset) {
            buffer[next][tid] = buffer[current][tid] + buffer[current][tid - offset];
        } else {
            buffer[next][tid] = buffer[current][tid];
        }
        current = next;
        __syncthreads();
    }
    if (i < n) {
        out[i] = buffer[current][tid];
    }
    if (tid == kBlock - 1) {
        totals[blockIdx.x] = buffer[current][tid];
    }
}

__global__ void scan_totals(int* totals, int count) {
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            int total = totals[i];
            totals[i] = sum;
            sum += total;
        }
    }
}

__global__ void add_totals(int* out, const int* totals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] += totals[i / kBlock];
    }
}

void scan(const int* in, int* out, int* totals, int n) {
    int blocks = (n + kBlock - 1) / kBlock;
    scan_blocks<<<blocks, kBlock>>>(in, out, totals, n);
    scan_totals<<<1, 64>>>(totals, blocks);
    add_totals<<<blocks, kBlock>>>(out, totals, n);
}
