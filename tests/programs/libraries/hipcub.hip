// hipCUB as users include it: blocks and warps in kernels, algorithms of the device from the host.
#include <hip/hip_runtime.h>
#include <hipcub/hipcub.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../check.h"

constexpr int kBlock = 128;
constexpr int kItems = 3;

__global__ void blocks(const int *in, int *sums, int *scans, int *sorted, int *warp_sums) {
    using Load = hipcub::BlockLoad<int, kBlock, kItems, hipcub::BLOCK_LOAD_TRANSPOSE>;
    using Store = hipcub::BlockStore<int, kBlock, kItems, hipcub::BLOCK_STORE_TRANSPOSE>;
    using Reduce = hipcub::BlockReduce<int, kBlock>;
    using Scan = hipcub::BlockScan<int, kBlock>;
    using Sort = hipcub::BlockRadixSort<int, kBlock, kItems>;
    using WarpReduce = hipcub::WarpReduce<int, 32>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
        typename Sort::TempStorage sort;
        typename WarpReduce::TempStorage warps[kBlock / 32];
    } shared;
    const int base = blockIdx.x * kBlock * kItems;
    int items[kItems], results[kItems];
    Load(shared.load).Load(in + base, items);
    __syncthreads();
    const int sum = Reduce(shared.reduce).Sum(items);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    __syncthreads();
    Scan(shared.scan).ExclusiveSum(items, results);
    __syncthreads();
    Store(shared.store).Store(scans + base, results);
    __syncthreads();
    const int warp_sum = WarpReduce(shared.warps[threadIdx.x / 32]).Sum(items[0]);
    if (threadIdx.x % 32 == 0) warp_sums[(blockIdx.x * kBlock + threadIdx.x) / 32] = warp_sum;
    __syncthreads();
    Sort(shared.sort).SortDescending(items);
    __syncthreads();
    Store(shared.store).Store(sorted + base, items);
}

void check_blocks(std::mt19937 &random) {
    constexpr int kGrid = 5, kTile = kBlock * kItems;
    std::vector<int> in(kGrid * kTile);
    for (int &value : in) value = static_cast<int>(random() % 2001) - 1000;
    DeviceArray<int> device(in), sums(kGrid), scans(in.size()), sorted(in.size()), warp_sums(kGrid * kBlock / 32);
    blocks<<<kGrid, kBlock>>>(device.get(), sums.get(), scans.get(), sorted.get(), warp_sums.get());
    HIP_OK(hipGetLastError());
    const auto got_sums = sums.values(), got_scans = scans.values(), got_sorted = sorted.values();
    const auto got_warp_sums = warp_sums.values();
    for (int block = 0; block < kGrid; ++block) {
        const auto begin = in.begin() + block * kTile;
        std::vector<int> order(begin, begin + kTile);
        std::sort(order.rbegin(), order.rend());
        int sum = 0;
        for (int i = 0; i < kTile; ++i) {
            CHECK(got_scans[block * kTile + i] == sum);
            CHECK(got_sorted[block * kTile + i] == order[i]);
            sum += begin[i];
        }
        CHECK(got_sums[block] == sum);
        for (int warp = 0; warp < kBlock / 32; ++warp) {
            int of_first_items = 0;
            for (int i = 0; i < 32; ++i) of_first_items += begin[(warp * 32 + i) * kItems];
            CHECK(got_warp_sums[block * (kBlock / 32) + warp] == of_first_items);
        }
    }
}

/// Calls `algorithm(storage, bytes)` as hipCUB wants it: once for the size, once to work.
template <class F> void run(F algorithm) {
    size_t bytes = 0;
    HIP_OK(algorithm(nullptr, bytes));
    DeviceArray<char> storage(bytes + 1);
    HIP_OK(algorithm(storage.get(), bytes));
    HIP_OK(hipDeviceSynchronize());
}

void check_device(int n, std::mt19937 &random) {
    std::vector<float> keys(n);
    std::vector<int> values(n);
    for (int i = 0; i < n; ++i) {
        keys[i] = static_cast<float>(static_cast<int>(random() % 100000) - 50000) / 8;
        values[i] = static_cast<int>(random() % 1000);
    }
    DeviceArray<float> keys_in(keys), keys_out(n);
    DeviceArray<int> values_in(values), values_out(n), one(1), histogram(10);

    run([&](void *storage, size_t &bytes) {
        return hipcub::DeviceReduce::Sum(storage, bytes, values_in.get(), one.get(), n);
    });
    CHECK(one.values()[0] == std::accumulate(values.begin(), values.end(), 0));
    run([&](void *storage, size_t &bytes) {
        return hipcub::DeviceReduce::Max(storage, bytes, values_in.get(), one.get(), n);
    });
    CHECK(one.values()[0] == *std::max_element(values.begin(), values.end()));

    run([&](void *storage, size_t &bytes) {
        return hipcub::DeviceScan::InclusiveSum(storage, bytes, values_in.get(), values_out.get(), n);
    });
    std::vector<int> sums(n);
    std::partial_sum(values.begin(), values.end(), sums.begin());
    CHECK(values_out.values() == sums);

    run([&](void *storage, size_t &bytes) {
        return hipcub::DeviceRadixSort::SortPairs(storage, bytes, keys_in.get(), keys_out.get(), values_in.get(),
                                                  values_out.get(), n);
    });
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    const auto got_keys = keys_out.values();
    const auto got_values = values_out.values();
    for (int i = 0; i < n; ++i) CHECK(got_keys[i] == keys[order[i]] && got_values[i] == values[order[i]]);

    const auto is_small = [] __device__(int value) { return value < 300; };
    run([&](void *storage, size_t &bytes) {
        return hipcub::DeviceSelect::If(storage, bytes, values_in.get(), values_out.get(), one.get(), n, is_small);
    });
    std::vector<int> small, got = values_out.values();
    std::copy_if(values.begin(), values.end(), std::back_inserter(small), is_small);
    CHECK(one.values()[0] == static_cast<int>(small.size()));
    CHECK(std::equal(small.begin(), small.end(), got.begin()));

    run([&](void *storage, size_t &bytes) {
        return hipcub::DeviceHistogram::HistogramEven(storage, bytes, values_in.get(), histogram.get(), 11, 0, 1000, n);
    });
    std::vector<int> counts(10);
    for (int value : values) ++counts[value / 100];
    CHECK(histogram.values() == counts);
}

int main() {
    std::mt19937 random(815);
    check_blocks(random);
    for (int n : {1, 777, 40009}) check_device(n, random);
    return 0;
}
