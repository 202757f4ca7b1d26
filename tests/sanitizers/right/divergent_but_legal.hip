// Work-items that take different ways and yet all meet: an early end, barriers under conditions that are the same for a
// block, loops of one length, votes that decide for all.
#include "../../programs/check.h"

__global__ void early_end(const int *in, int *out, int n) {
    __shared__ int line[128];
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    line[threadIdx.x] = in[i];
    __syncthreads();
    const int last = min(127, n - 1 - static_cast<int>(blockIdx.x) * 128);
    out[i] = line[last - threadIdx.x];
}

__global__ void same_for_a_block(int *x) {
    __shared__ int line[64];
    const int t = threadIdx.x;
    line[t] = t;
    if (blockIdx.x % 2 == 0) {
        __syncthreads();
        x[blockIdx.x * 64 + t] = line[63 - t];
    } else {
        for (unsigned i = 0; i < blockIdx.x; ++i) {
            __syncthreads();
            line[t] += i;
        }
        x[blockIdx.x * 64 + t] = line[t];
    }
}

__global__ void until_nothing_changes(int *x) {
    __shared__ int line[64];
    const int t = threadIdx.x;
    line[t] = x[t];
    __syncthreads();
    bool changed = true;
    while (__syncthreads_or(changed)) {
        const int other = t + 1 < 64 ? line[t + 1] : line[t];
        __syncthreads();
        changed = other > line[t];
        if (changed) line[t] = other;
    }
    x[t] = line[t];
}

__global__ void branches_of_a_wave(const int *in, int *out) {
    const int t = threadIdx.x;
    int value = in[t];
    if (t % 3 == 0) {
        value += __popcll(__ballot(value > 10));
    } else if (t % 3 == 1) {
        value = __shfl(value, 1);
    }
    out[t] = value;
}

int main() {
    std::vector<int> in(200);
    for (int i = 0; i < 200; ++i) in[i] = i * 11 % 64;
    DeviceArray<int> input(in), out(256);
    early_end<<<2, 128>>>(input.get(), out.get(), 200);
    CHECK(out.values()[0] == in[127] && out.values()[128] == in[199]);
    same_for_a_block<<<4, 64>>>(out.get());
    CHECK(out.values()[0] == 63 && out.values()[64 + 5] == 5 && out.values()[3 * 64] == 3);
    until_nothing_changes<<<1, 64>>>(input.get());
    CHECK(input.values()[0] == 63);
    branches_of_a_wave<<<1, 64>>>(input.get(), out.get());
    CHECK(out.values()[2] == input.values()[2]);
}
