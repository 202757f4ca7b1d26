// rocRAND's generators in kernels: Philox against its published algorithm, XORWOW and MRG32k3a against their distribution.
#include <hip/hip_runtime.h>
#include <rocrand/rocrand_kernel.h>

#include <cmath>
#include <vector>

#include "../check.h"

constexpr unsigned long long kSeed = 0x123456789abcdefull;

__global__ void philox(unsigned *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    rocrand_state_philox4x32_10 state;
    rocrand_init(kSeed, i, 0, &state);
    for (int k = 0; k < 8; ++k) out[8 * i + k] = rocrand(&state);
}

template <class State> __global__ void uniform_and_normal(float *uniform, float *normal, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    State state;
    rocrand_init(kSeed, i, 0, &state);
    uniform[i] = rocrand_uniform(&state);
    normal[i] = rocrand_normal(&state);
}

/// Philox4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
void reference(unsigned long long seed, unsigned long long subsequence, unsigned counter, unsigned out[4]) {
    unsigned c[4] = {counter, 0, static_cast<unsigned>(subsequence), static_cast<unsigned>(subsequence >> 32)};
    unsigned key[2] = {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)};
    for (int round = 0; round < 10; ++round) {
        const unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
        const unsigned next[4] = {static_cast<unsigned>(b >> 32) ^ c[1] ^ key[0], static_cast<unsigned>(b),
                                  static_cast<unsigned>(a >> 32) ^ c[3] ^ key[1], static_cast<unsigned>(a)};
        for (int i = 0; i < 4; ++i) c[i] = next[i];
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; ++i) out[i] = c[i];
}

template <class State> void check_distribution() {
    constexpr int n = 20000;
    DeviceArray<float> uniform(n), normal(n);
    uniform_and_normal<State><<<(n + 255) / 256, 256>>>(uniform.get(), normal.get(), n);
    double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0;
    for (float x : uniform.values()) {
        CHECK(x > 0 && x <= 1);
        sum += x;
        squares += x * x;
    }
    for (float x : normal.values()) {
        normal_sum += x;
        normal_squares += x * x;
    }
    // Five standard deviations of each mean.
    const double root = std::sqrt(static_cast<double>(n));
    CHECK(std::fabs(sum / n - 0.5) < 5 * std::sqrt(1.0 / 12) / root);
    CHECK(std::fabs(squares / n - 1.0 / 3) < 5 * std::sqrt(4.0 / 45) / root);
    CHECK(std::fabs(normal_sum / n) < 5 / root);
    CHECK(std::fabs(normal_squares / n - 1) < 5 * std::sqrt(2.0) / root);
}

int main() {
    constexpr int n = 300;
    DeviceArray<unsigned> out(8 * n);
    philox<<<3, 128>>>(out.get(), n);
    const auto got = out.values();
    for (int i = 0; i < n; ++i) {
        for (unsigned block = 0; block < 2; ++block) {
            unsigned expected[4];
            reference(kSeed, i, block, expected);
            for (int k = 0; k < 4; ++k) CHECK(got[8 * i + 4 * block + k] == expected[k]);
        }
    }
    check_distribution<rocrand_state_philox4x32_10>();
    check_distribution<rocrand_state_xorwow>();
    check_distribution<rocrand_state_mrg32k3a>();
    return 0;
}
