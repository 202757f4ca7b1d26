// Functions of a whole wave: who has the same value, masked votes, reductions.
#include "check.h"

#define ALL 0xffffffffffffffffull

template <class T> __global__ void matches(const T *in, unsigned long long *out, int *equal) {
    const int t = threadIdx.x;
    const T value = in[t];
    unsigned long long *at = out + t * 6;
    at[0] = __match_any(value);
    at[1] = __match_any_sync(ALL, value);
    at[2] = __match_all(value, &equal[t * 4]);
    at[3] = __match_all_sync(ALL, static_cast<T>(5), &equal[t * 4 + 1]);
    // Two groups at one call, each with its own mask.
    const unsigned long long mask = t % 64 < 20 ? 0xfffffull : ~0xfffffull;
    at[4] = __match_any_sync(mask, value);
    at[5] = __match_all_sync(mask, static_cast<T>(t % 64 < 20), &equal[t * 4 + 2]);
}
template <class T> void check_matches() {
    const int n = 100;
    std::vector<T> in(n);
    for (int t = 0; t < n; ++t) in[t] = static_cast<T>(t * 7 % 5);
    DeviceArray<T> input(in);
    DeviceArray<unsigned long long> output(n * 6);
    DeviceArray<int> equal(n * 4);
    matches<T><<<1, n>>>(input.get(), output.get(), equal.get());
    const auto out = output.values();
    const auto same = equal.values();
    for (int t = 0; t < n; ++t) {
        const int first = t / 64 * 64, count = t < 64 ? 64 : 36;
        unsigned long long with_me = 0, present = 0;
        for (int l = 0; l < count; ++l) {
            present |= 1ull << l;
            with_me |= static_cast<unsigned long long>(in[first + l] == in[t]) << l;
        }
        const unsigned long long mask = t % 64 < 20 ? 0xfffffull : ~0xfffffull;
        const unsigned long long *at = out.data() + t * 6;
        CHECK(at[0] == with_me && at[1] == with_me);
        CHECK(at[2] == 0 && same[t * 4] == 0);
        CHECK(at[3] == present && same[t * 4 + 1] == 1);
        CHECK(at[4] == (with_me & mask));
        CHECK(at[5] == (present & mask) && same[t * 4 + 2] == 1);
    }
}

template <class T> __global__ void reductions(const T *in, T *out) {
    const int t = threadIdx.x;
    const unsigned long long mask = t % 2 ? 0xaaaaaaaaaaaaaaaaull : 0x5555555555555555ull;
    out[t * 3] = __reduce_add_sync(mask, in[t]);
    out[t * 3 + 1] = __reduce_min_sync(ALL, in[t]);
    out[t * 3 + 2] = __reduce_max_sync(mask, in[t]);
}
template <class T> __global__ void bit_reductions(const T *in, T *out) {
    const int t = threadIdx.x;
    out[t * 3] = __reduce_and_sync(ALL, in[t] | 3);
    out[t * 3 + 1] = __reduce_or_sync(ALL, in[t]);
    out[t * 3 + 2] = __reduce_xor_sync(ALL, in[t]);
}
template <class T> void check_reductions(bool bits) {
    std::vector<T> in(64);
    for (int t = 0; t < 64; ++t) in[t] = static_cast<T>(t * 37 % 101 + 3);
    DeviceArray<T> input(in), output(192);
    reductions<T><<<1, 64>>>(input.get(), output.get());
    std::vector<T> out = output.values();
    for (int t = 0; t < 64; ++t) {
        T sum = 0, low = in[0], high = in[t % 2];
        for (int l = 0; l < 64; ++l) {
            low = std::min(low, in[l]);
            if (l % 2 == t % 2) sum += in[l], high = std::max(high, in[l]);
        }
        CHECK(out[t * 3] == sum && out[t * 3 + 1] == low && out[t * 3 + 2] == high);
    }
    if constexpr (std::is_integral_v<T>) {
        bit_reductions<T><<<1, 64>>>(input.get(), output.get());
        out = output.values();
        T conjunction = static_cast<T>(~T{0}), disjunction = 0, exclusive = 0;
        for (T value : in) conjunction &= value | 3, disjunction |= value, exclusive ^= value;
        for (int t = 0; t < 64; ++t) {
            CHECK(out[t * 3] == conjunction && out[t * 3 + 1] == disjunction && out[t * 3 + 2] == exclusive);
        }
    }
    (void)bits;
}

__global__ void masked_votes(int *out) {
    const int t = threadIdx.x;
    const unsigned long long mask = t < 10 ? 0x3ffull : ~0x3ffull;
    int *at = out + t * 5;
    at[0] = __any_sync(mask, t == 3) != 0;
    at[1] = __all_sync(mask, t >= 10) != 0;
    at[2] = __popcll(__ballot_sync(mask, t % 2));
    at[3] = __syncthreads_count(t % 3 == 0) * 100 + (__syncthreads_and(t < 64) != 0) * 10 + (__syncthreads_or(t == 9) != 0);
    __syncwarp();
    at[4] = __shfl_sync(ALL, t, 11);
}
void check_votes() {
    DeviceArray<int> output(320);
    masked_votes<<<1, 64>>>(output.get());
    const auto out = output.values();
    for (int t = 0; t < 64; ++t) {
        CHECK(out[t * 5] == (t < 10) && out[t * 5 + 1] == (t >= 10));
        CHECK(out[t * 5 + 2] == (t < 10 ? 5 : 27));
        CHECK(out[t * 5 + 3] == 22 * 100 + 11);
        CHECK(out[t * 5 + 4] == 11);
    }
}

int main() {
    check_matches<int>(), check_matches<unsigned long long>(), check_matches<float>(), check_matches<double>();
    check_reductions<int>(true), check_reductions<unsigned>(true), check_reductions<long long>(true);
    check_reductions<unsigned long long>(true), check_reductions<float>(false), check_reductions<double>(false);
    check_votes();
}
