// Floating-point atomics. The sums are of small integers, so that their order does not matter.
#include "check.h"

template <class T> __global__ void all_of_them(T *at, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&at[0], T(i % 5));
    unsafeAtomicAdd(&at[1], T(1));
    atomicSub(&at[2], T(2));
    atomicMin(&at[3], T(-i));
    atomicMax(&at[4], T(i) / 2);
    atomicExch(&at[5], T(1.5));
    __hip_atomic_fetch_add(&at[6], T(3), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    atomicAdd_system(&at[7], T(0.5));
}
// What programs write where a device has no such instruction.
__device__ double add_by_cas(double *address, double value) {
    unsigned long long *bits = reinterpret_cast<unsigned long long *>(address);
    unsigned long long seen = *bits, expected;
    do {
        expected = seen;
        seen = atomicCAS(bits, expected, __double_as_longlong(value + __longlong_as_double(expected)));
    } while (expected != seen);
    return __longlong_as_double(seen);
}
__global__ void cas_loop(double *at) { add_by_cas(at, threadIdx.x); }
__global__ void in_shared(float *out) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 2.0f);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <class T> void check() {
    const int n = 10000;
    DeviceArray<T> at(8);
    all_of_them<T><<<(n + 255) / 256, 256>>>(at.get(), n);
    const std::vector<T> v = at.values();
    CHECK(v[0] == 2 * n && v[1] == n && v[2] == -2 * n && v[3] == -(n - 1));
    CHECK(v[4] == T(n - 1) / 2 && v[5] == T(1.5) && v[6] == 3 * n && v[7] == n / 2);
}

int main() {
    check<float>();
    check<double>();
    DeviceArray<double> sum(1);
    cas_loop<<<4, 100>>>(sum.get());
    CHECK(sum.values()[0] == 4 * 4950);
    DeviceArray<float> shared(8);
    in_shared<<<8, 192>>>(shared.get());
    for (float v : shared.values()) CHECK(v == 384);
}
