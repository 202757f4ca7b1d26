// All shuffles, in every width and for every type, and their _sync forms.
#include "check.h"

template <class T> __global__ void shuffle(T *out, int width) {
    const int lane = threadIdx.x % 64;
    const T mine = static_cast<T>(threadIdx.x * 3 + 1);
    T *at = out + (blockIdx.x * blockDim.x + threadIdx.x) * 5;
    at[0] = __shfl(mine, lane + 5, width);
    at[1] = __shfl_up(mine, 3, width);
    at[2] = __shfl_down(mine, 3, width);
    at[3] = __shfl_xor(mine, 5, width);
    at[4] = __shfl_sync(0xffffffffffffffffull, mine, 0, width) + __shfl_down_sync(~0ull, mine, 1, width) +
            __shfl_up_sync(~0ull, mine, 1, width) + __shfl_xor_sync(~0ull, mine, 1, width);
}

template <class T> void check(int threads) {
    for (int width = 2; width <= 64; width *= 2) {
        DeviceArray<T> out(threads * 5);
        shuffle<T><<<1, threads>>>(out.get(), width);
        const std::vector<T> v = out.values();
        for (int i = 0; i < threads; ++i) {
            const int wave = i / 64 * 64, lane = i % 64, group = lane / width * width;
            // A source that has no work-item gives 0; one outside of the group gives the own value.
            const auto value = [&](int l) { return wave + l < threads ? static_cast<T>((wave + l) * 3 + 1) : T(0); };
            const auto up = [&](int d) { return value(lane - d < group ? lane : lane - d); };
            const auto down = [&](int d) { return value(lane + d >= group + width ? lane : lane + d); };
            const auto exchanged = [&](int m) { return value((lane ^ m) >= group + width ? lane : lane ^ m); };
            CHECK(v[i * 5] == value(group + (lane + 5) % width));
            CHECK(v[i * 5 + 1] == up(3));
            CHECK(v[i * 5 + 2] == down(3));
            CHECK(v[i * 5 + 3] == exchanged(5));
            CHECK(v[i * 5 + 4] == static_cast<T>(value(group) + down(1) + up(1) + exchanged(1)));
        }
    }
}

__global__ void wave_sums(const float *in, float *out) {
    float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down(sum, offset);
    if (threadIdx.x % warpSize == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / warpSize] = sum;
}

int main() {
    for (int threads : {64, 256}) {
        check<int>(threads);
        check<unsigned>(threads);
        check<long long>(threads);
        check<unsigned long>(threads);
        check<float>(threads);
        check<double>(threads);
    }
    std::vector<float> in(1024);
    for (int i = 0; i < 1024; ++i) in[i] = i % 7;
    DeviceArray<float> input(in), sums(16);
    wave_sums<<<4, 256>>>(input.get(), sums.get());
    for (int w = 0; w < 16; ++w) {
        float expected = 0;
        for (int i = 0; i < 64; ++i) expected += in[w * 64 + i];
        CHECK(sums.values()[w] == expected);
    }
}
