// Atomic operations: on one address, on few, on many, in global memory and in LDS.
#include "bench.h"

// ---------------------------------------------------------------- the largest of each of 64 groups of floats
static __device__ __forceinline__ float wave_max(float v) {
#pragma unroll
    for (int o = WARP / 2; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor(v, o));
    return v;
}
static __device__ __forceinline__ void max_by_swap(float *at, float v) {
    int *word = reinterpret_cast<int *>(at), seen = *word;
    while (__int_as_float(seen) < v) {
        int was = atomicCAS(word, seen, __float_as_int(v));
        if (was == seen) break;
        seen = was;
    }
}
// Numbers that are not negative are in the order of their bits.
static __device__ __forceinline__ void max_by_bits(float *at, float v) {
    atomicMax(reinterpret_cast<int *>(at), __float_as_int(v));
}

__global__ void max_swap_each(const float *__restrict__ in, float *out, int per_group) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    max_by_swap(&out[i / per_group], in[i]);
}
__global__ void max_bits_each(const float *__restrict__ in, float *out, int per_group) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    max_by_bits(&out[i / per_group], in[i]);
}
__global__ void max_bits_wave(const float *__restrict__ in, float *out, int per_group) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = wave_max(in[i]);
    if (threadIdx.x % WARP == 0) max_by_bits(&out[i / per_group], v);
}
__global__ void max_swap_wave(const float *__restrict__ in, float *out, int per_group) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = wave_max(in[i]);
    if (threadIdx.x % WARP == 0) max_by_swap(&out[i / per_group], v);
}
__global__ void max_bits_block(const float *__restrict__ in, float *out, int per_group) {
    __shared__ int s;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicMax(&s, __float_as_int(in[i]));
    __syncthreads();
    if (threadIdx.x == 0) max_by_bits(&out[i / per_group], __int_as_float(s));
}
__global__ void max_bits_serial(const float *__restrict__ in, float *out, int per_group) {
    int base = blockIdx.x * 4096 + threadIdx.x;
    float v = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) v = fmaxf(v, in[base + k * 256]);
    v = wave_max(v);
    if (threadIdx.x % WARP == 0) max_by_bits(&out[base / per_group], v);
}
static void group_max_family() {
    if (!wanted("group_max")) return;
    const int n = SIZE(1 << 22, 1 << 18), groups = 64, per_group = n / groups;
    auto values = random_floats(n, 0, 1000, 1);
    Device<float> in(values);
    Output<float> out(groups, Before::cleared);
    auto check = [&] {
        auto got = out.host();
        for (int g = 0; g < groups; g++)
            if (got[g] != *std::max_element(values.begin() + g * per_group, values.begin() + (g + 1) * per_group))
                return false;
        return true;
    };
    dim3 grid(n / 256), block(256);
    bench("group_max", "swap_each", [&] { max_swap_each<<<grid, block>>>(in, out, per_group); }, check);
    bench("group_max", "bits_each", [&] { max_bits_each<<<grid, block>>>(in, out, per_group); }, check);
    bench("group_max", "swap_wave", [&] { max_swap_wave<<<grid, block>>>(in, out, per_group); }, check);
    bench("group_max", "bits_wave", [&] { max_bits_wave<<<grid, block>>>(in, out, per_group); }, check);
    bench("group_max", "bits_block", [&] { max_bits_block<<<grid, block>>>(in, out, per_group); }, check);
    bench("group_max", "bits_serial16", [&] { max_bits_serial<<<dim3(n / 4096), block>>>(in, out, per_group); }, check);
}

// ---------------------------------------------------------------- compaction: about a third stays, in any order
static __device__ __host__ __forceinline__ bool stays(unsigned v) { return v % 3 == 0; }

__global__ void compact_each(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    if (stays(v)) out[atomicAdd(count, 1u)] = v;
}
__global__ void compact_wave(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % WARP;
    unsigned v = in[i];
    bool mine = stays(v);
    unsigned long long votes = wave_ballot(mine);
    unsigned base = 0;
    if (lane == 0) base = atomicAdd(count, (unsigned)__popcll(votes));
    base = __shfl(base, 0);
    if (mine) out[base + __popcll(votes & ((1ull << lane) - 1))] = v;
}
__global__ void compact_block(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned *count, int n) {
    __shared__ unsigned here, base;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % WARP;
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
    unsigned v = in[i];
    bool mine = stays(v);
    unsigned long long votes = wave_ballot(mine);
    unsigned at = 0;
    if (lane == 0) at = atomicAdd(&here, (unsigned)__popcll(votes));
    at = __shfl(at, 0) + __popcll(votes & ((1ull << lane) - 1));
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(count, here);
    __syncthreads();
    if (mine) out[base + at] = v;
}
// A block's 4096 are gathered in LDS, and go out as one stretch.
__global__ void compact_staged(const unsigned *__restrict__ in, unsigned *__restrict__ out, unsigned *count, int n) {
    __shared__ unsigned here, base, kept[4096];
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
    for (int k = 0; k < 16; k++) {
        unsigned v = in[blockIdx.x * 4096 + k * 256 + threadIdx.x];
        if (stays(v)) kept[atomicAdd(&here, 1u)] = v;
    }
    __syncthreads();
    if (threadIdx.x == 0) base = atomicAdd(count, here);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < here; k += 256) out[base + k] = kept[k];
}
static void compaction_family() {
    if (!wanted("compaction")) return;
    const int n = SIZE(1 << 23, 1 << 15);
    auto words = random_words(n, 2);
    unsigned wanted_count = 0;
    uint64_t wanted_sum = 0;
    for (unsigned v : words)
        if (stays(v)) wanted_count++, wanted_sum += v * (uint64_t)(v ^ 0x55555);
    Device<unsigned> in(words);
    Output<unsigned> out(n), count(1, Before::cleared);
    auto check = [&] {
        if (count.host()[0] != wanted_count) return false;
        auto got = out.host();
        uint64_t sum = 0;
        for (unsigned k = 0; k < wanted_count; k++) sum += got[k] * (uint64_t)(got[k] ^ 0x55555);
        return sum == wanted_sum;
    };
    dim3 grid(n / 256), block(256);
    bench("compaction", "each", [&] { compact_each<<<grid, block>>>(in, out, count, n); }, check);
    bench("compaction", "wave", [&] { compact_wave<<<grid, block>>>(in, out, count, n); }, check);
    bench("compaction", "block", [&] { compact_block<<<grid, block>>>(in, out, count, n); }, check);
    bench("compaction", "staged", [&] { compact_staged<<<dim3(n / 4096), block>>>(in, out, count, n); }, check);
}

// ---------------------------------------------------------------- sums of floats by key, 2048 keys
static const int KEYS = 2048;
__global__ void sum_global(const unsigned *__restrict__ key, const float *__restrict__ in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[key[i]], in[i]);
}
__global__ void sum_global_swap(const unsigned *__restrict__ key, const float *__restrict__ in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *word = reinterpret_cast<int *>(&out[key[i]]), seen = *word, was;
    do {
        was = seen;
        seen = atomicCAS(word, was, __float_as_int(__int_as_float(was) + in[i]));
    } while (seen != was);
}
__global__ void sum_lds(const unsigned *__restrict__ key, const float *__restrict__ in, float *out, int n) {
    __shared__ float s[KEYS];
    for (int k = threadIdx.x; k < KEYS; k += 256) s[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&s[key[i]], in[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < KEYS; k += 256) atomicAdd(&out[k], s[k]);
}
// Each block keeps its sums apart in global memory; a second kernel adds them up.
__global__ void sum_parts(const unsigned *__restrict__ key, const float *__restrict__ in, float *parts, int n) {
    float *mine = parts + (size_t)blockIdx.x * KEYS;
    for (int k = threadIdx.x; k < KEYS; k += 256) mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&mine[key[i]], in[i]);
}
__global__ void sum_of_parts(const float *__restrict__ parts, float *out, int blocks) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int b = 0; b < blocks; b++) sum += parts[(size_t)b * KEYS + k];
    out[k] = sum;
}
static void key_sum_family() {
    if (!wanted("key_sum")) return;
    const int n = SIZE(1 << 22, 1 << 15), parts_blocks = SIZE(264, 4);
    auto keys = random_words(n, 3);
    for (unsigned &k : keys) k %= KEYS;
    auto values = random_floats(n, 0, 1, 4);
    std::vector<double> sums(KEYS);
    for (int i = 0; i < n; i++) sums[keys[i]] += values[i];
    Device<unsigned> key(keys);
    Device<float> in(values), parts((size_t)parts_blocks * KEYS);
    Output<float> out(KEYS, Before::cleared);
    auto check = [&] {
        auto got = out.host();
        return sampled(KEYS, 2000, [&](size_t k) { return near_to(got[k], sums[k], 1e-4); });
    };
    dim3 grid(n / 256), block(256);
    bench("key_sum", "global", [&] { sum_global<<<grid, block>>>(key, in, out, n); }, check);
    bench("key_sum", "global_swap", [&] { sum_global_swap<<<grid, block>>>(key, in, out, n); }, check);
    bench("key_sum", "lds_264_blocks", [&] { sum_lds<<<dim3(SIZE(264, 4)), block>>>(key, in, out, n); }, check);
    bench("key_sum", "lds_1056_blocks", [&] { sum_lds<<<dim3(SIZE(1056, 8)), block>>>(key, in, out, n); }, check);
    bench(
        "key_sum", "parts",
        [&] {
            sum_parts<<<dim3(parts_blocks), block>>>(key, in, parts, n);
            sum_of_parts<<<dim3(KEYS / 256), block>>>(parts, out, parts_blocks);
        },
        check);
}

// ---------------------------------------------------------------- digits of 4 bits, counted in each tile of 4096 keys
static const int TILE = 4096;
__global__ void digits_lds(const unsigned *__restrict__ key, unsigned *__restrict__ counts, int tiles) {
    __shared__ unsigned s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += 256) atomicAdd(&s[key[blockIdx.x * TILE + k] >> 28], 1u);
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * tiles + blockIdx.x] = s[threadIdx.x];
}
__global__ void digits_lds_wave(const unsigned *__restrict__ key, unsigned *__restrict__ counts, int tiles) {
    __shared__ unsigned s[256 / WARP][16];
    for (int k = threadIdx.x; k < 256 / WARP * 16; k += 256) s[k / 16][k % 16] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < TILE; k += 256)
        atomicAdd(&s[threadIdx.x / WARP][key[blockIdx.x * TILE + k] >> 28], 1u);
    __syncthreads();
    if (threadIdx.x >= 16) return;
    unsigned sum = 0;
    for (int w = 0; w < 256 / WARP; w++) sum += s[w][threadIdx.x];
    counts[threadIdx.x * tiles + blockIdx.x] = sum;
}
// Each work-item has a column of its own, of bytes: a count is 16 at most.
__global__ void digits_lds_item(const unsigned *__restrict__ key, unsigned *__restrict__ counts, int tiles) {
    __shared__ unsigned char s[16][256];
    int t = threadIdx.x;
    for (int d = 0; d < 16; d++) s[d][t] = 0;
    __syncthreads();
    for (int k = t; k < TILE; k += 256) s[key[blockIdx.x * TILE + k] >> 28][t]++;
    __syncthreads();
    int digit = t / 16, part = t % 16;
    unsigned sum = 0;
    for (int k = 0; k < 16; k++) sum += s[digit][part * 16 + k];
#pragma unroll
    for (int o = 8; o > 0; o >>= 1) sum += __shfl_xor(sum, o);
    if (part == 0) counts[digit * tiles + blockIdx.x] = sum;
}
// A wave votes on each bit of the digit: the votes' agreement tells how many have it.
__global__ void digits_ballot(const unsigned *__restrict__ key, unsigned *__restrict__ counts, int tiles) {
    __shared__ unsigned s[16];
    int t = threadIdx.x, lane = t % WARP;
    if (t < 16) s[t] = 0;
    __syncthreads();
    unsigned sum = 0;
    for (int k = t; k < TILE; k += 256) {
        unsigned d = key[blockIdx.x * TILE + k] >> 28;
        unsigned long long with = ~0ull;
#pragma unroll
        for (int bit = 0; bit < 4; bit++) {
            unsigned long long votes = wave_ballot((d >> bit) & 1);
            with &= (lane >> bit) & 1 ? votes : ~votes;
        }
#if WARP == 32
        with &= 0xffffffffull;
#endif
        sum += __popcll(with);
    }
    if (lane < 16) atomicAdd(&s[lane], sum);
    __syncthreads();
    if (t < 16) counts[t * tiles + blockIdx.x] = s[t];
}
__global__ void digits_global(const unsigned *__restrict__ key, unsigned *__restrict__ counts, int tiles) {
    for (int k = threadIdx.x; k < TILE; k += 256)
        atomicAdd(&counts[(key[blockIdx.x * TILE + k] >> 28) * tiles + blockIdx.x], 1u);
}
static void digit_count_family() {
    if (!wanted("digit_count")) return;
    const int n = SIZE(1 << 23, 1 << 15), tiles = n / TILE;
    auto keys = random_words(n, 5);
    Device<unsigned> key(keys);
    Output<unsigned> counts(16 * tiles, Before::cleared);
    auto check = [&] {
        auto got = counts.host();
        return sampled(tiles, 200, [&](size_t tile) {
            unsigned count[16] = {};
            for (int k = 0; k < TILE; k++) count[keys[tile * TILE + k] >> 28]++;
            for (int d = 0; d < 16; d++)
                if (got[d * tiles + tile] != count[d]) return false;
            return true;
        });
    };
    dim3 grid(tiles), block(256);
    bench("digit_count", "lds", [&] { digits_lds<<<grid, block>>>(key, counts, tiles); }, check);
    bench("digit_count", "lds_wave", [&] { digits_lds_wave<<<grid, block>>>(key, counts, tiles); }, check);
    bench("digit_count", "lds_item", [&] { digits_lds_item<<<grid, block>>>(key, counts, tiles); }, check);
    bench("digit_count", "ballot", [&] { digits_ballot<<<grid, block>>>(key, counts, tiles); }, check);
    bench("digit_count", "global", [&] { digits_global<<<grid, block>>>(key, counts, tiles); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    group_max_family();
    compaction_family();
    key_sum_family();
    digit_count_family();
    return failed();
}
