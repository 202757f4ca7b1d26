// Launches where C++ makes them harder: overloads, members, structured bindings, braces, conditions, other threads.
#include "check.h"
#include <thread>
#include <tuple>

__global__ void overloaded(int *out) { *out = 1; }
__global__ void overloaded(float *out) { *out = 2; }
template <class T> __global__ void store(T *out, T value) { *out = value; }
template <class A, class B> struct Pair {
    A a;
    B b;
};
template <class A, class B> __global__ void take(Pair<A, B> pair, A *out) { *out = pair.a + A(pair.b); }
struct Big {
    double values[100];
};
__global__ void big_argument(Big big, double *out) { out[threadIdx.x] = big.values[threadIdx.x] * 2; }
__global__ void const_pointer(const int *const in, int *const out) { *out = *in; }

class Runner {
  public:
    explicit Runner(int *out) : out_(out) {}
    void run(int value) {
        store<int><<<grid_, block_>>>(out_, value + offset_);
        if (value > 100)
            store<<<1, 1>>>(out_, -1);
    }
    template <int n> void run_template() { store<int><<<n, n>>>(out_, n); }

  private:
    int *out_;
    int offset_ = 7;
    dim3 grid_{1}, block_{1};
};

#define CHECKED_LAUNCH(...)                                                                                            \
    do {                                                                                                               \
        __VA_ARGS__;                                                                                                   \
        HIP_OK(hipGetLastError());                                                                                     \
    } while (0)

int main() {
    DeviceArray<int> ints(1);
    DeviceArray<float> floats(1);
    int *p = ints.get();
    const auto value = [&] { return ints.values()[0]; };

    overloaded<<<1, 1>>>(p);
    overloaded<<<1, 1>>>(floats.get());
    CHECK(value() == 1 && floats.values()[0] == 2);

    const auto [grid, block] = std::make_tuple(dim3(2), 3u);
    store<<<grid, block>>>(p, 5);
    CHECK(value() == 5);
    store<int><<<{1, 1}, {2, 2, 1}>>>(p, 6);
    CHECK(value() == 6);
    Runner runner(p);
    runner.run(10);
    CHECK(value() == 17);
    runner.run(101);
    CHECK(value() == -1);
    runner.run_template<4>();
    CHECK(value() == 4);
    take<int, double><<<1, 1>>>(Pair<int, double>{3, 4.9}, p);
    CHECK(value() == 7);
    CHECKED_LAUNCH(store<int><<<1, 1>>>(p, 11));
    CHECK(value() == 11);
    for (int i = 0; i < 3; ++i) store<<<1, 1>>>(p, i);
    CHECK(value() == 2);

    Big big{};
    for (int i = 0; i < 100; ++i) big.values[i] = i;
    DeviceArray<double> doubles(100);
    big_argument<<<1, 100>>>(big, doubles.get());
    CHECK(doubles.values()[99] == 198);
    DeviceArray<int> other(1);
    const_pointer<<<1, 1>>>(p, other.get());
    CHECK(other.values()[0] == 2);

    std::vector<std::thread> threads;
    DeviceArray<int> each(8);
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([i, &each] {
            for (int k = 0; k < 50; ++k) store<int><<<3, 64>>>(each.get() + i, i * 100 + k);
            CHECK(hipGetLastError() == hipSuccess);
        });
    }
    for (std::thread &t : threads) t.join();
    for (int i = 0; i < 8; ++i) CHECK(each.values()[i] == i * 100 + 49);
}
