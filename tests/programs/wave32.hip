// Waves of 32 work-items, as -DKS_WAVE_SIZE=32 gives them: what exchanges inside a wave keeps to them.
#if defined(KS_WAVE_SIZE) && KS_WAVE_SIZE != 32
#error "HIP's headers were read before the size of waves is known" // so it is compiled without a precompiled header
#endif
#undef KS_WAVE_SIZE
#define KS_WAVE_SIZE 32
#include "check.h"

__global__ void shuffles(int *out) {
    const int t = threadIdx.x;
    int *at = out + t * 6;
    at[0] = __shfl(t, 33);
    at[1] = __shfl_up(t, 1);
    at[2] = __shfl_down(t, 1);
    at[3] = __shfl_xor(t, 31);
    at[4] = __shfl(t, 5, 8);
    at[5] = static_cast<int>(__lane_id()) + 100 * warpSize;
}
__global__ void votes(unsigned long long *out) {
    const int t = threadIdx.x;
    unsigned long long *at = out + t * 5;
    at[0] = __ballot(t % 3 == 0);
    at[1] = __activemask();
    at[2] = (__any(t == 40) != 0) + 2 * (__all(t < 64) != 0);
    at[3] = __ballot_sync(0xffffffffu, t % 2);
    at[4] = 0;
    if (t % 2 == 1) at[4] = __ballot(1);
}
__global__ void block_sum(const float *in, float *out) {
    __shared__ float partial[32];
    float sum = in[threadIdx.x];
    for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down(sum, offset);
    if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int i = 0; i < static_cast<int>(blockDim.x) / warpSize; ++i) sum += partial[i];
        *out = sum;
    }
}

int main() {
    hipDeviceProp_t properties;
    HIP_OK(hipGetDeviceProperties(&properties, 0));
    CHECK(properties.warpSize == 32 && warpSize == 32);
    int size = 0;
    HIP_OK(hipDeviceGetAttribute(&size, hipDeviceAttributeWarpSize, 0));
    CHECK(size == 32);

    for (const int n : {32, 75, 1024}) {
        DeviceArray<int> shuffled(n * 6);
        shuffles<<<1, n>>>(shuffled.get());
        DeviceArray<unsigned long long> voted(n * 5);
        votes<<<1, n>>>(voted.get());
        const auto s = shuffled.values();
        const auto v = voted.values();
        for (int t = 0; t < n; ++t) {
            const int first = t / 32 * 32, lane = t % 32, count = std::min(32, n - first);
            const auto of = [&](int l) { return l < count ? first + l : 0; };
            CHECK(s[t * 6] == of(1));
            CHECK(s[t * 6 + 1] == (lane == 0 ? t : t - 1));
            CHECK(s[t * 6 + 2] == (lane == 31 ? t : of(lane + 1)));
            CHECK(s[t * 6 + 3] == of(31 - lane));
            CHECK(s[t * 6 + 4] == of(lane / 8 * 8 + 5));
            CHECK(s[t * 6 + 5] == lane + 3200);
            unsigned long long thirds = 0, odd = 0;
            for (int l = 0; l < count; ++l) {
                thirds |= (unsigned long long)((first + l) % 3 == 0) << l;
                odd |= (unsigned long long)((first + l) % 2) << l;
            }
            CHECK(v[t * 5] == thirds);
            CHECK(v[t * 5 + 1] == (1ull << count) - 1);
            CHECK(v[t * 5 + 2] == (unsigned long long)(first == 32) + 2 * (first < 64));
            CHECK(v[t * 5 + 3] == odd);
            CHECK(v[t * 5 + 4] == (t % 2 == 1 ? odd : 0));
        }
    }
    std::vector<float> in(992);
    float expected = 0;
    for (int i = 0; i < 992; ++i) expected += in[i] = i % 13;
    DeviceArray<float> input(in), sum(1);
    block_sum<<<1, 992>>>(input.get(), sum.get());
    CHECK(sum.values()[0] == expected);
}
