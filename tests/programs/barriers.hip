// __syncthreads in loops, under uniform branches, after early returns, and its counting forms.
#include "check.h"

// A rotation by one in each step: wrong as soon as one work-item runs ahead or falls behind.
__global__ void rotate(int *out, int steps) {
    __shared__ int ring[256];
    const int t = threadIdx.x, n = blockDim.x;
    ring[t] = t;
    for (int s = 0; s < steps; ++s) {
        __syncthreads();
        const int next = ring[(t + 1) % n];
        __syncthreads();
        ring[t] = next;
    }
    __syncthreads();
    out[blockIdx.x * n + t] = ring[t];
}
__global__ void reduce(const int *in, int *out, int n) {
    __shared__ int sum[1024];
    const int t = threadIdx.x;
    sum[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) sum[t] += sum[t + half];
        __syncthreads();
    }
    if (t == 0) *out = sum[0];
}
__global__ void leave_early(int *out) {
    __shared__ int first;
    if (threadIdx.x >= 100) return; // On AMD devices an ended work-item no longer counts at a barrier.
    if (threadIdx.x == 99) first = 7;
    __syncthreads();
    out[threadIdx.x] = first;
}
__global__ void counting(int *out) {
    const int t = threadIdx.x;
    const int count = __syncthreads_count(t % 3 == 0);
    const int all = __syncthreads_and(t < 1000), not_all = __syncthreads_and(t != 5);
    const int some = __syncthreads_or(t == 5), none = __syncthreads_or(t > 5000);
    out[t] = count * 10000 + (all != 0) * 1000 + (not_all != 0) * 100 + (some != 0) * 10 + (none != 0);
}

int main() {
    for (int n : {1, 2, 63, 64, 65, 192, 256}) {
        DeviceArray<int> out(3 * n);
        rotate<<<3, n>>>(out.get(), 37);
        const auto values = out.values();
        for (int i = 0; i < 3 * n; ++i) CHECK(values[i] == (i % n + 37) % n);
    }
    std::vector<int> in(1000);
    for (int i = 0; i < 1000; ++i) in[i] = i * i % 17;
    int expected = 0;
    for (int v : in) expected += v;
    DeviceArray<int> input(in), sum(1);
    reduce<<<1, 1024>>>(input.get(), sum.get(), 1000);
    CHECK(sum.values()[0] == expected);

    DeviceArray<int> early(128);
    leave_early<<<1, 128>>>(early.get());
    for (int i = 0; i < 128; ++i) CHECK(early.values()[i] == (i < 100 ? 7 : 0));

    DeviceArray<int> counts(200);
    counting<<<1, 200>>>(counts.get());
    for (int v : counts.values()) CHECK(v == 67 * 10000 + 1000 + 10);
}
