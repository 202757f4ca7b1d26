// Integer atomics of every width and scope, against sums and limits that are known.
#include "check.h"

template <class T> __global__ void all_of_them(T *at, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const T v = static_cast<T>(i);
    atomicAdd(&at[0], v);
    atomicSub(&at[1], v);
    atomicMin(&at[2], v);
    atomicMax(&at[3], v);
    atomicAnd(&at[4], ~(T(1) << (i % 20)));
    atomicOr(&at[5], T(1) << (i % 20));
    atomicXor(&at[6], T(1) << (i % 20));
    atomicExch(&at[7], T(5));
    for (T seen = at[8], before; (before = atomicCAS(&at[8], seen, seen + 2)) != seen;) seen = before;
    atomicAdd_system(&at[9], T(1));
    atomicAdd_block(&at[9], T(1));
}

template <class T> void check() {
    const int n = 20000;
    std::vector<T> start(10, T(0));
    start[2] = T(1000000);
    start[4] = static_cast<T>(~T(0));
    DeviceArray<T> at(start);
    all_of_them<T><<<(n + 127) / 128, 128>>>(at.get(), n);
    HIP_OK(hipGetLastError());
    const std::vector<T> v = at.values();
    const T sum = static_cast<T>(n / 2 * static_cast<long long>(n - 1));
    CHECK(v[0] == sum);
    CHECK(v[1] == static_cast<T>(T(0) - sum));
    CHECK(v[2] == 0 && v[3] == T(n - 1));
    CHECK(v[4] == static_cast<T>(~T(0xfffff)));
    CHECK(v[5] == T(0xfffff));
    CHECK(v[6] == 0); // each bit was flipped 1000 times
    CHECK(v[7] == 5);
    CHECK(v[8] == T(2 * n));
    CHECK(v[9] == T(2 * n));
}

__global__ void wrap(unsigned *at, unsigned *tickets) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tickets[i] = atomicInc(&at[0], 1u << 30);
    atomicInc(&at[1], 6); // 0..6, then 0 again
    atomicDec(&at[2], 9); // down to 0, then 9 again
}
__global__ void returns_before(int *at, int *out) {
    out[0] = atomicAdd(at, 5);
    out[1] = atomicExch(at, 40);
    out[2] = atomicMax(at, 30);
    out[3] = atomicMin(at, 30);
    out[4] = atomicCAS(at, 7, 1);
    out[5] = atomicCAS(at, 30, 2);
    out[6] = *at;
}
__global__ void extremes(long long *at) {
    atomicMin(&at[0], -static_cast<long long>(threadIdx.x));
    atomicMax(&at[1], static_cast<long long>(threadIdx.x) << 33);
}
__global__ void scoped(int *at) {
    __hip_atomic_fetch_add(at, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_or(at + 1, 1 << (threadIdx.x % 8), __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_WORKGROUP);
    __atomic_fetch_add(at + 2, 2, __ATOMIC_RELAXED);
    if (__hip_atomic_load(at + 3, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
        __hip_atomic_store(at + 3, 9, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

int main() {
    check<int>();
    check<unsigned>();
    check<unsigned long>();
    check<unsigned long long>();

    const int n = 1000 * 7;
    DeviceArray<unsigned> at(3), tickets(n);
    wrap<<<n / 100, 100>>>(at.get(), tickets.get());
    CHECK(at.values()[0] == n && at.values()[1] == 0 && at.values()[2] == 0);
    std::vector<bool> seen(n);
    for (unsigned t : tickets.values()) {
        CHECK(t < n && !seen[t]);
        seen[t] = true;
    }
    DeviceArray<int> cell(1), out(7);
    returns_before<<<1, 1>>>(cell.get(), out.get());
    const int expected[] = {0, 5, 40, 40, 30, 30, 2};
    for (int i = 0; i < 7; ++i) CHECK(out.values()[i] == expected[i]);
    DeviceArray<long long> wide(2);
    extremes<<<1, 256>>>(wide.get());
    CHECK(wide.values()[0] == -255 && wide.values()[1] == 255ll << 33);
    DeviceArray<int> words(4);
    scoped<<<10, 64>>>(words.get());
    const auto w = words.values();
    CHECK(w[0] == 640 && w[1] == 255 && w[2] == 1280 && w[3] == 9);
}
