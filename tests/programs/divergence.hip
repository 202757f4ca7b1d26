// Waves of 64 whose work-items take different ways: each exchange involves exactly those that are at it.
#include "check.h"

__global__ void branches(int *out) {
    const int t = threadIdx.x;
    int value;
    if (t < 20) {
        value = __shfl(t, 3);
    } else if (t < 50) {
        value = __shfl(t, 30) + 100;
    } else {
        value = __shfl(t, 60) + 200;
    }
    // All are together again here.
    out[t] = value + 1000 * (__ballot(1) == ~0ull);
}
__global__ void loops(int *out) {
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i <= t % 4; ++i) { // work-items leave after 1, 2, 3 or 4 turns
        sum += __popcll(__ballot(1));
    }
    out[t] = sum + 1000 * (__ballot(1) == ~0ull);
}
__global__ void inactive_source(int *out) {
    const int t = threadIdx.x;
    out[t] = -1;
    if (t % 2 == 0) out[t] = __shfl(t + 1, t + 1); // reads from one that does not take part: 0
}
__global__ void first_lane(int *out) {
    const int t = threadIdx.x;
    if (t >= 10) out[t] = __builtin_amdgcn_readfirstlane(t * 2);
}

int main() {
    DeviceArray<int> out(64);
    branches<<<1, 64>>>(out.get());
    auto v = out.values();
    for (int t = 0; t < 64; ++t) CHECK(v[t] == (t < 20 ? 3 : t < 50 ? 130 : 260) + 1000);

    loops<<<1, 64>>>(out.get());
    v = out.values();
    for (int t = 0; t < 64; ++t) {
        int expected = 0;
        for (int i = 0; i <= t % 4; ++i) expected += 64 - 16 * i;
        CHECK(v[t] == expected + 1000);
    }
    inactive_source<<<1, 64>>>(out.get());
    v = out.values();
    for (int t = 0; t < 64; ++t) CHECK(v[t] == (t % 2 == 0 ? 0 : -1));

    DeviceArray<int> first(64);
    first_lane<<<1, 64>>>(first.get());
    v = first.values();
    for (int t = 0; t < 64; ++t) CHECK(v[t] == (t < 10 ? 0 : 20));
}
