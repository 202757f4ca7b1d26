// Loops in which work-items walk side by side through memory, by a step of the grid, the block or their own making.
#include "check.h"
#include <algorithm>
#include <random>

constexpr int kThreads = 96, kBlocks = 5, kCount = 3001;
constexpr int kStep = 32;

__global__ void over_the_grid(const int *in, long long *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        long long x = in[i];
        out[i] = x * x - i;
    }
}

// Each work-item keeps a sum, leaves out some turns and ends early in its own way.
__global__ void with_jumps(const int *in, int *out, int n) {
    const int t = threadIdx.x, first = blockIdx.x * 7;
    int sum = t, turns = 0;
    for (size_t i = first + t; i < n; i += kStep) {
        ++turns;
        if (in[i] % 5 == 0) continue;
        switch (in[i] & 3) {
        case 0: sum += 2; break;
        case 1: continue;
        default: sum ^= in[i];
        }
        for (int k = 0; k < 3; ++k) {
            if (k == in[i] % 4) break;
            sum += k;
        }
        if (in[i] % 31 == t % 31) break;
        if (in[i] == -40 - t % 3) {
            out[blockIdx.x * blockDim.x + t] = -sum;
            return;
        }
    }
    out[blockIdx.x * blockDim.x + t] = sum * 64 + turns;
}

__global__ void backwards(const int *in, int *out, int n) {
    unsigned hash = 17;
    for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= (int)blockDim.x)
        hash = hash * 31 + in[i];
    out[threadIdx.x] = hash;
}

// The variable wraps around; who has left must not come back when the condition holds again.
__global__ void wraps(int *out) {
    int turns = 0;
    for (unsigned short i = threadIdx.x * 977 + 13; i < 60000; i += 20011) turns += i & 7;
    for (unsigned i = 4294967000u + threadIdx.x; i > 1000; i += 64) turns += 100;
    for (int i = threadIdx.x; i % 7 != 3; i += 65) turns += 10000;
    out[threadIdx.x] = turns;
}

// Bounds of each work-item's own, a step that is a variable of the block, and a barrier between.
template <class T, int width> __global__ void rows(const T *in, T *out, int n) {
    __shared__ T part[width];
    const int x = threadIdx.x, y = threadIdx.y;
    const int step = width * blockDim.y;
    const int end = min(n, 100 * (x + 1));
    for (int row = blockIdx.x; row < 4; row += gridDim.x) {
        if (y == 0) part[x] = 0;
        T sum = 0;
        for (int i = y * width + x; i < end; i = i + step) sum += in[row * n + i];
        __syncthreads();
        for (int from = 0; from < (int)blockDim.y; ++from) {
            if (from == y) part[x] += sum;
            __syncthreads();
        }
        for (int i = y * width + x; i < width; i += width * blockDim.y) out[row * width + i] = part[i];
        __syncthreads();
    }
}

__global__ void counts(const int *in, unsigned *bins, int n) {
    __shared__ unsigned own[16];
    for (int i = threadIdx.x; i < 16; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&own[in[i] & 15], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 16; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

std::vector<int> random_values(int count) {
    std::mt19937 random(20);
    std::vector<int> values(count);
    for (int &value : values) value = static_cast<int>(random() % 400) - 100;
    return values;
}

// One work-item of `with_jumps`, written for one.
int jumping(const std::vector<int> &in, int block, int t) {
    int sum = t, turns = 0;
    size_t i = block * 7 + t;
    bool goes_on = true;
    while (goes_on && i < in.size()) {
        const int value = in[i];
        i += kStep;
        ++turns;
        const bool left_out = value % 5 == 0 || (value & 3) == 1;
        if (!left_out) {
            sum = (value & 3) == 0 ? sum + 2 : sum ^ value;
            const int stop = value % 4;
            sum += stop == 0 ? 0 : stop == 1 ? 0 : stop == 2 ? 1 : 3;
            if (value % 31 == t % 31) {
                goes_on = false;
            } else if (value == -40 - t % 3) {
                return -sum;
            }
        }
    }
    return sum * 64 + turns;
}

void check_walks(const std::vector<int> &in) {
    const DeviceArray<int> from(in);
    const DeviceArray<long long> squares(kCount);
    over_the_grid<<<kBlocks, kThreads>>>(from.get(), squares.get(), kCount);
    const auto squared = squares.values();
    for (int i = 0; i < kCount; ++i) CHECK(squared[i] == static_cast<long long>(in[i]) * in[i] - i);

    const DeviceArray<int> jumped(kBlocks * kThreads);
    with_jumps<<<kBlocks, kThreads>>>(from.get(), jumped.get(), kCount);
    const auto jumps = jumped.values();
    int returned = 0;
    for (int i = 0; i < kBlocks * kThreads; ++i) {
        CHECK(jumps[i] == jumping(in, i / kThreads, i % kThreads));
        returned += jumps[i] < 0;
    }
    CHECK(returned > 0);

    const DeviceArray<int> hashed(kThreads);
    backwards<<<1, kThreads>>>(from.get(), hashed.get(), kCount);
    const auto hashes = hashed.values();
    for (int t = 0; t < kThreads; ++t) {
        unsigned hash = 17;
        for (int i = kCount - 1 - t; i >= 0; i -= kThreads) hash = hash * 31 + in[i];
        CHECK(hashes[t] == static_cast<int>(hash));
    }
}

void check_wrapping() {
    const DeviceArray<int> out(kThreads);
    wraps<<<1, kThreads>>>(out.get());
    const auto turns = out.values();
    for (int t = 0; t < kThreads; ++t) {
        int expected = 0;
        for (unsigned i = (t * 977u + 13) % 65536; i < 60000; i = (i + 20011) % 65536) expected += i & 7;
        for (unsigned long long i = 4294967000ull + t; i % 4294967296ull > 1000; i += 64) expected += 100;
        for (int i = t; i % 7 != 3; i += 65) expected += 10000;
        CHECK(turns[t] == expected);
    }
}

void check_rows() {
    constexpr int n = 1500, width = 24, rows_in = 4;
    std::vector<long long> in(n * rows_in);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<long long>(i * i % 1009);
    const DeviceArray<long long> from(in), to(width * rows_in);
    rows<long long, width><<<3, dim3(width, 5)>>>(from.get(), to.get(), n);
    const auto sums = to.values();
    for (int row = 0; row < rows_in; ++row) {
        for (int x = 0; x < width; ++x) {
            long long expected = 0;
            for (int i = x; i < std::min(n, 100 * (x + 1)); i += width) expected += in[row * n + i];
            CHECK(sums[row * width + x] == expected);
        }
    }
}

void check_counts(const std::vector<int> &in) {
    const DeviceArray<int> from(in);
    const DeviceArray<unsigned> bins(16);
    counts<<<3, 64>>>(from.get(), bins.get(), kCount);
    const auto counted = bins.values();
    for (int bin = 0; bin < 16; ++bin) {
        unsigned expected = 0;
        for (const int value : in) expected += (value & 15) == bin;
        CHECK(counted[bin] == expected);
    }
}

int main() {
    const auto in = random_values(kCount);
    check_walks(in);
    check_wrapping();
    check_rows();
    check_counts(in);
    HIP_OK(hipDeviceSynchronize());
}
