// Sums in every usual way: through a tree, shuffles, waves' barriers, atomics, several work-items a value.
#include "../../programs/check.h"

__global__ void tree(const int *in, int *out) {
    __shared__ int part[256];
    const int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void shuffles(const int *in, int *out) {
    __shared__ int waves[4];
    const int t = threadIdx.x;
    int sum = in[blockIdx.x * 256 + t];
    for (int delta = 32; delta > 0; delta /= 2) sum += __shfl_down(sum, delta);
    if (t % 64 == 0) waves[t / 64] = sum;
    __syncthreads();
    if (t < 64) {
        sum = t < 4 ? waves[t] : 0;
        for (int delta = 2; delta > 0; delta /= 2) sum += __shfl_xor(sum, delta);
        if (t == 0) out[blockIdx.x] = sum;
    }
}

// The last steps of the tree inside one wave, with that wave's own barrier.
__global__ void wave_barriers(const int *in, int *out) {
    __shared__ int part[256];
    const int t = threadIdx.x;
    part[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t < 64) {
        part[t] += part[t + 64] + part[t + 128] + part[t + 192];
        for (int half = 32; half > 0; half /= 2) {
            __syncwarp();
            if (t < half) part[t] += part[t + half];
        }
        if (t == 0) out[blockIdx.x] = part[0];
    }
}

__global__ void atomics(const int *in, int *out) {
    __shared__ int total;
    const int t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, in[blockIdx.x * 256 + t]);
    __syncthreads();
    if (t == 0) atomicAdd(&out[blockIdx.x], total);
}

int main() {
    std::vector<int> in(1024);
    for (int i = 0; i < 1024; ++i) in[i] = i * i % 101;
    DeviceArray<int> input(in);
    for (auto kernel : {tree, shuffles, wave_barriers, atomics}) {
        DeviceArray<int> out(4);
        kernel<<<4, 256>>>(input.get(), out.get());
        for (int block = 0; block < 4; ++block) {
            int expected = 0;
            for (int i = 0; i < 256; ++i) expected += in[block * 256 + i];
            CHECK(out.values()[block] == expected);
        }
    }
}
