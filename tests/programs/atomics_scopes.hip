// Atomic functions by scope (block, system) and HIP's "safe" and "unsafe" ones: 256 work-items of two blocks at each.
#include "check.h"

template <class T> __global__ void all(T *at, float *f, double *d) {
    const int t = threadIdx.x + blockIdx.x * blockDim.x; // 0 .. 255
    const T v = static_cast<T>(t);
    atomicSub_system(at + 0, v), atomicSub_block(at + 1 + blockIdx.x, v);
    atomicMin_system(at + 3, v), atomicMin_block(at + 4 + blockIdx.x, v);
    atomicMax_system(at + 6, v), atomicMax_block(at + 7 + blockIdx.x, v);
    atomicAnd_system(at + 9, static_cast<T>(~T(0)) ^ (T(1) << (t % 31))), atomicAnd_block(at + 10 + blockIdx.x, T(0x55));
    atomicOr_system(at + 12, T(1) << (t % 20)), atomicOr_block(at + 13 + blockIdx.x, T(1) << (t % 10));
    atomicXor_system(at + 15, v), atomicXor_block(at + 16 + blockIdx.x, v);
    atomicAdd_system(at + 18, v), atomicAdd_block(at + 19 + blockIdx.x, v);
    if (t == 77) atomicExch_system(at + 21, T(5)), atomicExch_block(at + 22, T(6));
    atomicCAS_system(at + 23, T(t), T(t + 1)); // climbs only as far as the order of the calls allows
    if (t == 0) atomicCAS_block(at + 24, T(0), T(9)), atomicCAS_block(at + 24, T(0), T(10));
    if (sizeof(T) == 4) {
        atomicInc_system(reinterpret_cast<unsigned *>(at + 25), 9u), atomicInc_block(reinterpret_cast<unsigned *>(at + 26) + blockIdx.x, 6u);
        atomicDec_system(reinterpret_cast<unsigned *>(at + 28), 9u), atomicDec_block(reinterpret_cast<unsigned *>(at + 29) + blockIdx.x, 6u);
    }
    atomicAddNoRet(f, 1.0f);
    safeAtomicAdd(f + 1, 0.5f), unsafeAtomicAdd(f + 2, 0.25f);
    unsafeAtomicMin(f + 3, -1.0f * t), unsafeAtomicMax(f + 4, 2.0f * t);
    safeAtomicAdd(d, 0.5), unsafeAtomicAdd(d + 1, 0.125), unsafeAtomicMin(d + 2, -3.0 * t), unsafeAtomicMax(d + 3, 4.0 * t);
}
template <class T> void check() {
    std::vector<T> start(32, T(0));
    for (int i : {3, 4, 5, 9, 10, 11}) start[i] = static_cast<T>(0x7fffffff);
    DeviceArray<T> values(start);
    DeviceArray<float> floats(5);
    DeviceArray<double> doubles(4);
    all<T><<<2, 128>>>(values.get(), floats.get(), doubles.get());
    const std::vector<T> v = values.values();
    const auto sum = [](int from, int to) { return static_cast<T>((to - from) * (from + to - 1) / 2); };
    CHECK(v[0] == T(0) - sum(0, 256) && v[1] == T(0) - sum(0, 128) && v[2] == T(0) - sum(128, 256));
    CHECK(v[3] == 0 && v[4] == 0 && v[5] == 128 && v[6] == 255 && v[7] == 127 && v[8] == 255);
    CHECK(v[9] == 0 && v[10] == 0x55 && v[11] == 0x55 && v[12] == 0xfffff && v[13] == 0x3ff && v[14] == 0x3ff);
    T exclusive = 0, halves[2] = {0, 0};
    for (int t = 0; t < 256; ++t) exclusive ^= T(t), halves[t / 128] ^= T(t);
    CHECK(v[15] == exclusive && v[16] == halves[0] && v[17] == halves[1]);
    CHECK(v[18] == sum(0, 256) && v[19] == sum(0, 128) && v[20] == sum(128, 256));
    CHECK(v[21] == 5 && v[22] == 6 && v[23] >= 1 && v[23] <= 256 && v[24] == 9);
    if (sizeof(T) == 4) {
        CHECK(v[25] == 256 % 10 && v[26] == 128 % 7 && v[27] == 128 % 7);
        CHECK(v[28] == T(9 - 255 % 10) && v[29] == T(6 - 127 % 7) && v[30] == T(6 - 127 % 7));
    }
    const auto f = floats.values();
    const auto d = doubles.values();
    CHECK(f[0] == 256 && f[1] == 128 && f[2] == 64 && f[3] == -255 && f[4] == 510);
    CHECK(d[0] == 128 && d[1] == 32 && d[2] == -765 && d[3] == 1020);
}

int main() {
    check<int>();
    check<unsigned>();
    check<unsigned long long>();
}
