// Thrust as users include it: vectors and the basic algorithms on the device.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../check.h"

struct Saxpy {
    float a;
    __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};

__global__ void add_one(int *data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += 1;
}

template <class T> std::vector<T> on_host(const thrust::device_vector<T> &device) {
    const thrust::host_vector<T> host = device;
    return std::vector<T>(host.begin(), host.end());
}

void check(int n, std::mt19937 &random) {
    thrust::host_vector<int> host(n);
    for (int &value : host) value = static_cast<int>(random() % 20001) - 10000;
    const std::vector<int> in(host.begin(), host.end());
    thrust::device_vector<int> device = host;

    CHECK(thrust::reduce(device.begin(), device.end(), 3) == std::accumulate(in.begin(), in.end(), 3));
    CHECK(thrust::reduce(device.begin(), device.end(), -20000, thrust::maximum<int>()) ==
          *std::max_element(in.begin(), in.end()));

    thrust::device_vector<int> out(n);
    std::vector<int> expected(n);
    thrust::inclusive_scan(device.begin(), device.end(), out.begin());
    std::partial_sum(in.begin(), in.end(), expected.begin());
    CHECK(on_host(out) == expected);

    thrust::device_vector<float> x(n), y(n, 0.5f);
    thrust::sequence(x.begin(), x.end());
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), Saxpy{2.0f});
    const auto saxpy = on_host(y);
    for (int i = 0; i < n; ++i) CHECK(saxpy[i] == 2.0f * static_cast<float>(i) + 0.5f);

    thrust::device_vector<int> numbers(n);
    thrust::sequence(numbers.begin(), numbers.end());
    thrust::device_vector<int> keys = device;
    thrust::stable_sort_by_key(keys.begin(), keys.end(), numbers.begin());
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return in[a] < in[b]; });
    CHECK(on_host(numbers) == order);

    thrust::sort(device.begin(), device.end(), thrust::greater<int>());
    expected = in;
    std::sort(expected.rbegin(), expected.rend());
    CHECK(on_host(device) == expected);

    // A kernel works on a vector's memory, and a single element is read and written from the host.
    add_one<<<(n + 63) / 64, 64>>>(thrust::raw_pointer_cast(device.data()), n);
    device[0] = 123456;
    for (int &value : expected) ++value;
    expected[0] = 123456;
    CHECK(on_host(device) == expected);
}

int main() {
    std::mt19937 random(99);
    for (int n : {1, 1000, 50021}) check(n, random);
    return 0;
}
