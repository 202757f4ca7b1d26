// Qualifiers in all the places where programs put them.
#include "check.h"

#define INLINE __device__ __forceinline__
INLINE int twice(int x) { return 2 * x; }
__host__ __device__ __noinline__ int thrice(int x) { return 3 * x; }
static __device__ inline float half_of(float x) { return 0.5f * x; }
struct __align__(16) Padded {
    int value;
    __host__ __device__ Padded(int v) : value(v) {}
    __device__ int get() const { return value; }
};
static_assert(sizeof(Padded) == 16);
extern "C" __global__ void __launch_bounds__(256) bounded(int *out, Padded p) {
    out[threadIdx.x] = twice(p.get()) + thrice(1);
}
__global__ __launch_bounds__(64, 2) void bounded_too(float *__restrict__ out, const float *__restrict__ in) {
    out[threadIdx.x] = half_of(__ldg(&in[threadIdx.x]));
}
namespace {
__global__ void hidden(int *out, const int n) {
    const int i = threadIdx.x;
#pragma unroll 4
    for (int k = 0; k < n; ++k) out[i] += k;
}
} // namespace
static __global__ void clocks(long long *out) {
    const long long a = clock64(), b = wall_clock64();
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    out[0] = clock64() - a;
    out[1] = wall_clock64() - b;
    assert(out[0] >= 0);
#ifdef __HIP_DEVICE_COMPILE__
    out[2] = warpSize;
#endif
}
#if !defined(__HIP_PLATFORM_AMD__) || !defined(__HIPCC__)
#error "programs choose their HIP branch by these"
#endif

int main() {
    DeviceArray<int> out(64);
    bounded<<<1, 64>>>(out.get(), Padded(5));
    CHECK(out.values()[63] == 13 && thrice(2) == 6);
    hidden<<<1, 64>>>(out.get(), 5);
    CHECK(out.values()[0] == 23);
    DeviceArray<float> in(std::vector<float>(64, 3.0f)), halves(64);
    bounded_too<<<1, 64>>>(halves.get(), in.get());
    CHECK(halves.values()[1] == 1.5f);
    DeviceArray<long long> ticks(3);
    clocks<<<1, 1>>>(ticks.get());
    const auto t = ticks.values();
    CHECK(t[0] >= 0 && t[0] < 1000000000 && t[1] >= 0 && t[1] < 100000000 && t[2] == 64);
}
