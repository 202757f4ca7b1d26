// Blocks that work together through memory: the last to finish adds up what all have left, after a fence.
#include "check.h"

__device__ unsigned finished;

__global__ void sum(const int *in, int *parts, int *total, int n) {
    __shared__ int part[128];
    __shared__ bool last;
    const int t = threadIdx.x;
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) mine += in[i];
    part[t] = mine;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) {
        parts[blockIdx.x] = part[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        int value = 0;
        for (unsigned i = t; i < gridDim.x; i += blockDim.x) value += parts[i];
        if (value != 0) atomicAdd(total, value);
    }
}

int main() {
    const int n = 100000;
    std::vector<int> in(n);
    long expected = 0;
    for (int i = 0; i < n; ++i) expected += in[i] = i % 11;
    DeviceArray<int> input(in), parts(60), total(1);
    for (int run = 1; run <= 20; ++run) {
        sum<<<60, 128>>>(input.get(), parts.get(), total.get(), n);
        CHECK(total.values()[0] == run * expected);
    }
}
