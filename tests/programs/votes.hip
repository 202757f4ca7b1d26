// Ballots and votes, over whole waves and over what is left of one.
#include "check.h"

__global__ void votes(unsigned long long *out) {
    const int t = threadIdx.x;
    unsigned long long *at = out + t * 7;
    at[0] = __ballot(t % 3 == 0);
    at[1] = __any(t == 70) != 0;
    at[2] = __all(t < 64) != 0;
    at[3] = __activemask();
    at[4] = __ballot_sync(0xffull, t % 2);
    at[5] = __popcll(__ballot(t & 1)) * 100 + __lane_id();
    at[6] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
__global__ void half_of_them(unsigned long long *out) {
    const int t = threadIdx.x;
    if (t % 2 == 0)
        out[t] = __ballot(t > 10); // only the even ones take part
    else
        out[t] = __ballot(1);
}
__global__ void compact(const int *in, int *out, int *count) {
    const int value = in[threadIdx.x];
    const unsigned long long wanted = __ballot(value > 0);
    const int before = __popcll(wanted & ((1ull << __lane_id()) - 1));
    __shared__ int start;
    int base = 0;
    if (__lane_id() == 0) base = atomicAdd(count, __popcll(wanted));
    base = __shfl(base, 0);
    if (value > 0) out[base + before] = value;
    (void)start;
}

int main() {
    const int n = 100; // a full wave and one of 36
    DeviceArray<unsigned long long> out(n * 7);
    votes<<<1, n>>>(out.get());
    const auto v = out.values();
    for (int t = 0; t < n; ++t) {
        const int first = t / 64 * 64, size = t < 64 ? 64 : 36;
        unsigned long long thirds = 0, odd = 0, all = 0;
        for (int l = 0; l < size; ++l) {
            all |= 1ull << l;
            thirds |= (unsigned long long)((first + l) % 3 == 0) << l;
            odd |= (unsigned long long)((first + l) % 2) << l;
        }
        CHECK(v[t * 7] == thirds);
        CHECK(v[t * 7 + 1] == (t >= 64));
        CHECK(v[t * 7 + 2] == (t < 64));
        CHECK(v[t * 7 + 3] == all);
        CHECK(v[t * 7 + 4] == (odd & 0xff));
        CHECK(v[t * 7 + 5] == (unsigned long long)(size / 2 * 100 + t % 64));
        CHECK(v[t * 7 + 6] == (unsigned long long)(t % 64));
    }
    DeviceArray<unsigned long long> halves(64);
    half_of_them<<<1, 64>>>(halves.get());
    for (int t = 0; t < 64; ++t)
        CHECK(halves.values()[t] == (t % 2 == 0 ? 0x5555555555555000ull : 0xaaaaaaaaaaaaaaaaull));

    std::vector<int> in(256);
    for (int i = 0; i < 256; ++i) in[i] = i % 5 == 0 ? i : -i;
    DeviceArray<int> input(in), output(256), count(1);
    compact<<<1, 256>>>(input.get(), output.get(), count.get());
    CHECK(count.values()[0] == 51);
    long sum = 0;
    for (int v : output.values()) sum += v;
    CHECK(sum == 5 * 51 * 52 / 2);
}
