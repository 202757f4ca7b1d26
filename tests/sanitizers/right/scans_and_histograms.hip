// Scans with two buffers and with two barriers, and histograms with atomics in shared and in global memory.
#include "../../programs/check.h"

__global__ void scan_two_buffers(const int *in, int *out) {
    __shared__ int line[2][128];
    const int t = threadIdx.x;
    int from = 0;
    line[0][t] = in[t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        line[1 - from][t] = line[from][t] + (t >= step ? line[from][t - step] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[t] = line[from][t];
}

__global__ void scan_two_barriers(const int *in, int *out) {
    __shared__ int line[128];
    const int t = threadIdx.x;
    line[t] = in[t];
    for (int step = 1; step < 128; step *= 2) {
        __syncthreads();
        const int left = t >= step ? line[t - step] : 0;
        __syncthreads();
        line[t] += left;
    }
    out[t] = line[t];
}

__global__ void scan_shuffles(const int *in, int *out) {
    __shared__ int wave_sum;
    const int t = threadIdx.x;
    int sum = in[t];
    for (int step = 1; step < 64; step *= 2) {
        const int left = __shfl_up(sum, step);
        if (t % 64 >= step) sum += left;
    }
    if (t == 63) wave_sum = sum;
    __syncthreads();
    out[t] = t < 64 ? sum : sum + wave_sum;
}

__global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned mine[32];
    if (threadIdx.x < 32) mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i] % 32], 1u);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main() {
    std::vector<int> in(128);
    for (int i = 0; i < 128; ++i) in[i] = i % 7 - 2;
    DeviceArray<int> input(in);
    for (auto kernel : {scan_two_buffers, scan_two_barriers, scan_shuffles}) {
        DeviceArray<int> out(128);
        kernel<<<1, 128>>>(input.get(), out.get());
        int expected = 0;
        for (int i = 0; i < 128; ++i) CHECK(out.values()[i] == (expected += in[i]));
    }
    std::vector<unsigned char> bytes(5000);
    std::vector<unsigned> expected(32);
    for (int i = 0; i < 5000; ++i) ++expected[(bytes[i] = static_cast<unsigned char>(i * 13)) % 32];
    DeviceArray<unsigned char> data(bytes);
    DeviceArray<unsigned> bins(32);
    histogram<<<3, 128>>>(data.get(), bins.get(), 5000);
    CHECK(bins.values() == expected);
}
