// rocPRIM as users include it: primitives of warps and blocks in kernels, algorithms of the device from the host.
#include <hip/hip_runtime.h>
#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../check.h"

constexpr unsigned kBlock = 256;
constexpr unsigned kItems = 4;

__global__ void reduce_blocks(const int *in, int *out) {
    using Reduce = rocprim::block_reduce<int, kBlock>;
    __shared__ typename Reduce::storage_type storage;
    int value = in[blockIdx.x * kBlock + threadIdx.x];
    int result;
    Reduce().reduce(value, result, storage, rocprim::plus<int>());
    if (threadIdx.x == 0) out[blockIdx.x] = result;
}

template <rocprim::block_scan_algorithm algorithm> __global__ void scan_blocks(const int *in, int *inclusive, int *exclusive) {
    using Scan = rocprim::block_scan<int, kBlock, algorithm>;
    __shared__ typename Scan::storage_type storage;
    const unsigned at = blockIdx.x * kBlock + threadIdx.x;
    int result;
    Scan().inclusive_scan(in[at], result, storage, rocprim::plus<int>());
    inclusive[at] = result;
    rocprim::syncthreads();
    Scan().exclusive_scan(in[at], result, 7, storage, rocprim::maximum<int>());
    exclusive[at] = result;
}

__global__ void sort_blocks(const int *in, int *out, const short *values_in, short *values_out) {
    using Sort = rocprim::block_radix_sort<int, kBlock, kItems, short>;
    __shared__ typename Sort::storage_type storage;
    int keys[kItems];
    short values[kItems];
    const unsigned base = (blockIdx.x * kBlock + threadIdx.x) * kItems;
    for (unsigned i = 0; i < kItems; ++i) {
        keys[i] = in[base + i];
        values[i] = values_in[base + i];
    }
    Sort().sort(keys, values, storage);
    for (unsigned i = 0; i < kItems; ++i) {
        out[base + i] = keys[i];
        values_out[base + i] = values[i];
    }
}

template <unsigned size> __global__ void warps(const int *in, int *sums, int *scans) {
    using Reduce = rocprim::warp_reduce<int, size>;
    using Scan = rocprim::warp_scan<int, size>;
    __shared__ typename Reduce::storage_type reduce_storage[kBlock / size];
    __shared__ typename Scan::storage_type scan_storage[kBlock / size];
    const unsigned at = blockIdx.x * kBlock + threadIdx.x;
    const unsigned warp = threadIdx.x / size;
    int result;
    Reduce().reduce(in[at], result, reduce_storage[warp], rocprim::minimum<int>());
    if (threadIdx.x % size == 0) sums[at / size] = result;
    Scan().inclusive_scan(in[at], result, scan_storage[warp], rocprim::plus<int>());
    scans[at] = result;
}

template <unsigned size> void check_warps(const std::vector<int> &in) {
    DeviceArray<int> device(in), minima(in.size() / size), scans(in.size());
    warps<size><<<in.size() / kBlock, kBlock>>>(device.get(), minima.get(), scans.get());
    HIP_OK(hipDeviceSynchronize());
    const auto got_minima = minima.values(), got_scans = scans.values();
    for (size_t warp = 0; warp < in.size() / size; ++warp) {
        const auto begin = in.begin() + warp * size;
        CHECK(got_minima[warp] == *std::min_element(begin, begin + size));
        int sum = 0;
        for (size_t i = 0; i < size; ++i) CHECK(got_scans[warp * size + i] == (sum += begin[i]));
    }
}

template <rocprim::block_scan_algorithm algorithm> void check_scan(const std::vector<int> &in) {
    DeviceArray<int> device(in), inclusive(in.size()), exclusive(in.size());
    scan_blocks<algorithm><<<in.size() / kBlock, kBlock>>>(device.get(), inclusive.get(), exclusive.get());
    const auto sums = inclusive.values(), maxima = exclusive.values();
    for (size_t block = 0; block < in.size(); block += kBlock) {
        int sum = 0, most = 7;
        for (size_t i = block; i < block + kBlock; ++i) {
            CHECK(maxima[i] == most);
            CHECK(sums[i] == (sum += in[i]));
            most = std::max(most, in[i]);
        }
    }
}

/// Calls `algorithm(storage, bytes)` as rocPRIM wants it: once for the size, once to work.
template <class F> void run(F algorithm) {
    size_t bytes = 0;
    HIP_OK(algorithm(nullptr, bytes));
    DeviceArray<char> storage(bytes + 1);
    HIP_OK(algorithm(storage.get(), bytes));
    HIP_OK(hipDeviceSynchronize());
}

void check_device(size_t n, std::mt19937 &random) {
    std::vector<int> in(n);
    for (int &value : in) value = static_cast<int>(random() % 20011) - 10000;
    DeviceArray<int> device(in), out(n), one(1);
    DeviceArray<size_t> count(1);

    run([&](void *storage, size_t &bytes) {
        return rocprim::reduce(storage, bytes, device.get(), one.get(), 5, n, rocprim::plus<int>());
    });
    CHECK(one.values()[0] == std::accumulate(in.begin(), in.end(), 5));

    run([&](void *storage, size_t &bytes) {
        return rocprim::inclusive_scan(storage, bytes, device.get(), out.get(), n, rocprim::plus<int>());
    });
    std::vector<int> expected(n);
    std::partial_sum(in.begin(), in.end(), expected.begin());
    CHECK(out.values() == expected);

    run([&](void *storage, size_t &bytes) {
        return rocprim::exclusive_scan(storage, bytes, device.get(), out.get(), 3, n, rocprim::plus<int>());
    });
    for (size_t i = 0, sum = 3; i < n; sum += in[i++]) expected[i] = static_cast<int>(sum);
    CHECK(out.values() == expected);

    run([&](void *storage, size_t &bytes) { return rocprim::radix_sort_keys(storage, bytes, device.get(), out.get(), n); });
    expected = in;
    std::sort(expected.begin(), expected.end());
    CHECK(out.values() == expected);

    run([&](void *storage, size_t &bytes) {
        return rocprim::merge_sort(storage, bytes, device.get(), out.get(), n, rocprim::greater<int>());
    });
    CHECK(out.values() == std::vector<int>(expected.rbegin(), expected.rend()));

    const auto is_odd = [] __device__(int value) { return value % 2 != 0; };
    run([&](void *storage, size_t &bytes) {
        return rocprim::select(storage, bytes, device.get(), out.get(), count.get(), n, is_odd);
    });
    expected.clear();
    std::copy_if(in.begin(), in.end(), std::back_inserter(expected), is_odd);
    CHECK(count.values()[0] == expected.size());
    std::vector<int> got = out.values();
    got.resize(expected.size());
    CHECK(got == expected);

    run([&](void *storage, size_t &bytes) {
        (void)storage;
        bytes = 1;
        return rocprim::transform(device.get(), out.get(), n, [] __device__(int value) { return 3 * value + 1; });
    });
    expected = in;
    for (int &value : expected) value = 3 * value + 1;
    CHECK(out.values() == expected);
}

int main() {
    std::mt19937 random(4711);
    std::vector<int> in(kBlock * kItems * 6);
    for (int &value : in) value = static_cast<int>(random() % 2001) - 1000;

    DeviceArray<int> device(in), sums(in.size() / kBlock), sorted(in.size());
    reduce_blocks<<<in.size() / kBlock, kBlock>>>(device.get(), sums.get());
    const auto got_sums = sums.values();
    for (size_t block = 0; block < got_sums.size(); ++block) {
        const auto begin = in.begin() + block * kBlock;
        CHECK(got_sums[block] == std::accumulate(begin, begin + kBlock, 0));
    }
    check_scan<rocprim::block_scan_algorithm::using_warp_scan>(in);
    check_scan<rocprim::block_scan_algorithm::reduce_then_scan>(in);
    check_warps<64>(in);
    check_warps<32>(in);
    check_warps<8>(in);

    std::vector<short> numbers(in.size());
    std::iota(numbers.begin(), numbers.end(), short{0});
    DeviceArray<short> values(numbers), sorted_values(in.size());
    sort_blocks<<<in.size() / (kBlock * kItems), kBlock>>>(device.get(), sorted.get(), values.get(), sorted_values.get());
    const auto got_keys = sorted.values();
    const auto got_values = sorted_values.values();
    for (size_t begin = 0; begin < in.size(); begin += kBlock * kItems) {
        std::vector<short> order(numbers.begin() + begin, numbers.begin() + begin + kBlock * kItems);
        std::stable_sort(order.begin(), order.end(), [&](short a, short b) { return in[a] < in[b]; });
        for (size_t i = 0; i < order.size(); ++i) {
            CHECK(got_values[begin + i] == order[i]);
            CHECK(got_keys[begin + i] == in[order[i]]);
        }
    }
    for (size_t n : {size_t{1}, size_t{1000}, size_t{70001}}) check_device(n, random);
    return 0;
}
