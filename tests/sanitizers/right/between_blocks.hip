// Blocks that work together: a fence before the counter, in one work-item or in all; release and acquire; a flag that is
// volatile; a lock; a chain of blocks in which each waits for the one before it.
#include "../../programs/check.h"

__device__ unsigned finished;

__device__ int add_up(const int *parts, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += parts[i];
    return sum;
}

__global__ void fence_of_one(const int *in, int *parts, int *total) {
    __shared__ bool last;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * 64 + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) *total = add_up(parts, gridDim.x);
}

__global__ void fence_of_all(const int *in, int *parts, int *total) {
    __shared__ bool last;
    const int i = blockIdx.x * 64 + threadIdx.x;
    parts[i] = in[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 1) *total = add_up(parts, gridDim.x * 64);
}

__global__ void release_and_acquire(const int *in, int *parts, int *total) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    parts[i] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned before = __hip_atomic_fetch_add(&finished, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
        if (before == gridDim.x - 1) {
            *total = add_up(parts, gridDim.x * 64);
            __hip_atomic_store(&finished, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        }
    }
}

__global__ void lock(const int *in, int *mutex, int *total) {
    if (threadIdx.x == 0) {
        while (atomicCAS(mutex, 0, 1) != 0) {
        }
        __threadfence();
        for (int i = 0; i < 64; ++i) *total += in[blockIdx.x * 64 + i];
        __threadfence();
        atomicExch(mutex, 0);
    }
}

// Sums handed on from block to block.
__global__ void chain(const int *in, int *sums, volatile int *flags) {
    __shared__ int own;
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    atomicAdd(&own, in[blockIdx.x * 64 + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (flags[blockIdx.x - 1] == 0) {
            }
            __threadfence();
            before = sums[blockIdx.x - 1];
        }
        sums[blockIdx.x] = before + own;
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}

int main() {
    const int blocks = 10;
    std::vector<int> in(blocks * 64);
    int expected = 0;
    for (int i = 0; i < blocks * 64; ++i) expected += in[i] = i * 7 % 31 - 9;
    DeviceArray<int> input(in), parts(blocks * 64), flags(blocks);
    for (auto kernel : {fence_of_one, fence_of_all, release_and_acquire}) {
        for (int run = 0; run < 2; ++run) {
            DeviceArray<int> total(1);
            kernel<<<blocks, 64>>>(input.get(), parts.get(), total.get());
            CHECK(total.values()[0] == expected);
        }
    }
    DeviceArray<int> mutex(1), total(1);
    lock<<<blocks, 64>>>(input.get(), mutex.get(), total.get());
    CHECK(total.values()[0] == expected);
    chain<<<blocks, 64>>>(input.get(), parts.get(), flags.get());
    CHECK(parts.values()[blocks - 1] == expected);
}
