// Small tables and arrays of a work-item's own: registers, scratch, LDS, constant and global memory.
#include "bench.h"

// ---------------------------------------------------------------- CRC-32 of one 32-byte message a work-item
static const int WORDS = 8;
static const unsigned CRC = 0xEDB88320u;
__constant__ unsigned crc_table[256];
__constant__ unsigned crc_nibbles[16];

__global__ void crc_bitwise(const unsigned *__restrict__ data, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = ~0u;
    for (int w = 0; w < WORDS; w++) {
        crc ^= data[w * n + i];
#pragma unroll
        for (int bit = 0; bit < 32; bit++) crc = (crc >> 1) ^ (crc & 1 ? CRC : 0u);
    }
    out[i] = ~crc;
}
__global__ void crc_constant(const unsigned *__restrict__ data, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = ~0u;
    for (int w = 0; w < WORDS; w++) {
        crc ^= data[w * n + i];
#pragma unroll
        for (int byte = 0; byte < 4; byte++) crc = (crc >> 8) ^ crc_table[crc & 255];
    }
    out[i] = ~crc;
}
__global__ void crc_constant_nibbles(const unsigned *__restrict__ data, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = ~0u;
    for (int w = 0; w < WORDS; w++) {
        crc ^= data[w * n + i];
#pragma unroll
        for (int nibble = 0; nibble < 8; nibble++) crc = (crc >> 4) ^ crc_nibbles[crc & 15];
    }
    out[i] = ~crc;
}
__global__ void crc_global(const unsigned *__restrict__ data, unsigned *__restrict__ out,
                           const unsigned *__restrict__ table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = ~0u;
    for (int w = 0; w < WORDS; w++) {
        crc ^= data[w * n + i];
#pragma unroll
        for (int byte = 0; byte < 4; byte++) crc = (crc >> 8) ^ table[crc & 255];
    }
    out[i] = ~crc;
}
__global__ void crc_lds(const unsigned *__restrict__ data, unsigned *__restrict__ out,
                        const unsigned *__restrict__ table, int n) {
    __shared__ unsigned t[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    unsigned crc = ~0u;
    for (int w = 0; w < WORDS; w++) {
        crc ^= data[w * n + i];
#pragma unroll
        for (int byte = 0; byte < 4; byte++) crc = (crc >> 8) ^ t[crc & 255];
    }
    out[i] = ~crc;
}
// Four tables, so that the four look-ups of a word do not wait for each other.
__global__ void crc_lds_sliced(const unsigned *__restrict__ data, unsigned *__restrict__ out,
                               const unsigned *__restrict__ tables, int n) {
    __shared__ unsigned t[4][256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int s = 0; s < 4; s++) t[s][threadIdx.x] = tables[s * 256 + threadIdx.x];
    __syncthreads();
    unsigned crc = ~0u;
    for (int w = 0; w < WORDS; w++) {
        crc ^= data[w * n + i];
        crc = t[3][crc & 255] ^ t[2][(crc >> 8) & 255] ^ t[1][(crc >> 16) & 255] ^ t[0][crc >> 24];
    }
    out[i] = ~crc;
}
static void crc_family() {
    if (!wanted("crc32")) return;
    const int n = SIZE(1 << 20, 1 << 11);
    std::vector<unsigned> tables(1024), nibbles(16);
    for (unsigned v = 0; v < 256; v++) {
        unsigned c = v;
        for (int bit = 0; bit < 8; bit++) c = (c >> 1) ^ (c & 1 ? CRC : 0u);
        tables[v] = c;
    }
    for (int s = 1; s < 4; s++)
        for (int v = 0; v < 256; v++) {
            unsigned c = tables[(s - 1) * 256 + v];
            tables[s * 256 + v] = (c >> 8) ^ tables[c & 255];
        }
    for (unsigned v = 0; v < 16; v++) {
        unsigned c = v;
        for (int bit = 0; bit < 4; bit++) c = (c >> 1) ^ (c & 1 ? CRC : 0u);
        nibbles[v] = c;
    }
    CK(hipMemcpyToSymbol(HIP_SYMBOL(crc_table), tables.data(), 1024));
    CK(hipMemcpyToSymbol(HIP_SYMBOL(crc_nibbles), nibbles.data(), 64));
    auto words = random_words((size_t)n * WORDS, 1);
    Device<unsigned> data(words), table(tables);
    Output<unsigned> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 1000, [&](size_t i) {
            unsigned crc = ~0u;
            for (int w = 0; w < WORDS; w++)
                for (int bit = 0; bit < 32; bit++) {
                    unsigned in = (words[(size_t)w * n + i] >> bit) & 1;
                    crc = (crc >> 1) ^ ((crc ^ in) & 1 ? CRC : 0u);
                }
            return got[i] == ~crc;
        });
    };
    dim3 grid(n / 256), block(256);
    bench("crc32", "bitwise", [&] { crc_bitwise<<<grid, block>>>(data, out, n); }, check);
    bench("crc32", "constant", [&] { crc_constant<<<grid, block>>>(data, out, n); }, check);
    bench("crc32", "constant_nibbles", [&] { crc_constant_nibbles<<<grid, block>>>(data, out, n); }, check);
    bench("crc32", "global", [&] { crc_global<<<grid, block>>>(data, out, table, n); }, check);
    bench("crc32", "lds", [&] { crc_lds<<<grid, block>>>(data, out, table, n); }, check);
    bench("crc32", "lds_sliced", [&] { crc_lds_sliced<<<grid, block>>>(data, out, table, n); }, check);
}

// ---------------------------------------------------------------- counting 64 nibbles of each work-item into 16 bins
static __device__ __forceinline__ unsigned weigh(unsigned sum, unsigned count, int bin) {
    return sum + count * count * (bin + 3);
}

__global__ void count_scratch(const unsigned *__restrict__ data, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned count[16];
    for (int b = 0; b < 16; b++) count[b] = 0;
    for (int w = 0; w < 8; w++) {
        unsigned v = data[w * n + i];
        for (int k = 0; k < 8; k++, v >>= 4) count[v & 15]++;
    }
    unsigned sum = 0;
    for (int b = 0; b < 16; b++) sum = weigh(sum, count[b], b);
    out[i] = sum;
}
__global__ void count_select(const unsigned *__restrict__ data, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned count[16];
#pragma unroll
    for (int b = 0; b < 16; b++) count[b] = 0;
    for (int w = 0; w < 8; w++) {
        unsigned v = data[w * n + i];
        for (int k = 0; k < 8; k++, v >>= 4) {
#pragma unroll
            for (unsigned b = 0; b < 16; b++) count[b] += (v & 15) == b;
        }
    }
    unsigned sum = 0;
#pragma unroll
    for (int b = 0; b < 16; b++) sum = weigh(sum, count[b], b);
    out[i] = sum;
}
// Counts of 8 bits, eight in a 64-bit number.
__global__ void count_packed(const unsigned *__restrict__ data, unsigned *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long low = 0, high = 0;
    for (int w = 0; w < 8; w++) {
        unsigned v = data[w * n + i];
        for (int k = 0; k < 8; k++, v >>= 4) {
            unsigned long long one = 1ull << ((v & 7) * 8);
            if (v & 8) high += one;
            else low += one;
        }
    }
    unsigned sum = 0;
#pragma unroll
    for (int b = 0; b < 8; b++) sum = weigh(sum, (unsigned)(low >> (8 * b)) & 255, b);
#pragma unroll
    for (int b = 0; b < 8; b++) sum = weigh(sum, (unsigned)(high >> (8 * b)) & 255, b + 8);
    out[i] = sum;
}
// A work-item's bins are neighbours with STRIDE 1, BETWEEN apart from the next work-item's.
template <int STRIDE, int BETWEEN>
__global__ void count_lds(const unsigned *__restrict__ data, unsigned *__restrict__ out, int n) {
    __shared__ unsigned counts[STRIDE == 1 ? 128 * BETWEEN : 16 * STRIDE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *count = counts + threadIdx.x * BETWEEN;
    for (int b = 0; b < 16; b++) count[b * STRIDE] = 0;
    for (int w = 0; w < 8; w++) {
        unsigned v = data[w * n + i];
        for (int k = 0; k < 8; k++, v >>= 4) count[(v & 15) * STRIDE]++;
    }
    unsigned sum = 0;
    for (int b = 0; b < 16; b++) sum = weigh(sum, count[b * STRIDE], b);
    out[i] = sum;
}
static void private_count_family() {
    if (!wanted("private_count")) return;
    const int n = SIZE(1 << 20, 1 << 11);
    auto words = random_words((size_t)n * 8, 2);
    Device<unsigned> data(words);
    Output<unsigned> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 1000, [&](size_t i) {
            unsigned count[16] = {}, sum = 0;
            for (int w = 0; w < 8; w++)
                for (int k = 0; k < 8; k++) count[(words[(size_t)w * n + i] >> (4 * k)) & 15]++;
            for (int b = 0; b < 16; b++) sum += count[b] * count[b] * (b + 3);
            return got[i] == sum;
        });
    };
    dim3 grid(n / 128), block(128);
    bench("private_count", "scratch", [&] { count_scratch<<<grid, block>>>(data, out, n); }, check);
    bench("private_count", "select", [&] { count_select<<<grid, block>>>(data, out, n); }, check);
    bench("private_count", "packed", [&] { count_packed<<<grid, block>>>(data, out, n); }, check);
    bench("private_count", "lds_by_bin", [&] { count_lds<128, 1><<<grid, block>>>(data, out, n); }, check);
    bench("private_count", "lds_by_item", [&] { count_lds<1, 16><<<grid, block>>>(data, out, n); }, check);
    bench("private_count", "lds_by_item_padded", [&] { count_lds<1, 17><<<grid, block>>>(data, out, n); }, check);
}

// ---------------------------------------------------------------- sorting 16 numbers in each work-item
static __device__ __forceinline__ void order(float &a, float &b) {
    float low = fminf(a, b), high = fmaxf(a, b);
    a = low;
    b = high;
}
__global__ void sort_insertion_scratch(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[16];
    for (int k = 0; k < 16; k++) {
        float x = in[k * n + i];
        int j = k;
        while (j > 0 && v[j - 1] > x) v[j] = v[j - 1], j--;
        v[j] = x;
    }
    for (int k = 0; k < 16; k++) out[k * n + i] = v[k];
}
__global__ void sort_insertion_lds(const float *__restrict__ in, float *__restrict__ out, int n) {
    __shared__ float s[16][128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    for (int k = 0; k < 16; k++) {
        float x = in[k * n + i];
        int j = k;
        while (j > 0 && s[j - 1][t] > x) s[j][t] = s[j - 1][t], j--;
        s[j][t] = x;
    }
    for (int k = 0; k < 16; k++) out[k * n + i] = s[k][t];
}
__global__ void sort_bitonic_registers(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[16];
#pragma unroll
    for (int k = 0; k < 16; k++) v[k] = in[k * n + i];
#pragma unroll
    for (int size = 2; size <= 16; size *= 2)
#pragma unroll
        for (int stride = size / 2; stride > 0; stride /= 2)
#pragma unroll
            for (int k = 0; k < 16; k++)
                if ((k & stride) == 0) {
                    if ((k & size) == 0) order(v[k], v[k + stride]);
                    else order(v[k + stride], v[k]);
                }
#pragma unroll
    for (int k = 0; k < 16; k++) out[k * n + i] = v[k];
}
__global__ void sort_odd_even_registers(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[16];
#pragma unroll
    for (int k = 0; k < 16; k++) v[k] = in[k * n + i];
    for (int round = 0; round < 8; round++) {
#pragma unroll
        for (int k = 0; k < 15; k += 2) order(v[k], v[k + 1]);
#pragma unroll
        for (int k = 1; k < 15; k += 2) order(v[k], v[k + 1]);
    }
#pragma unroll
    for (int k = 0; k < 16; k++) out[k * n + i] = v[k];
}
// Each number goes to the place that its rank names.
__global__ void sort_rank(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[16];
#pragma unroll
    for (int k = 0; k < 16; k++) v[k] = in[k * n + i];
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int rank = 0;
#pragma unroll
        for (int j = 0; j < 16; j++) rank += j < k ? v[j] <= v[k] : v[j] < v[k];
        out[rank * n + i] = v[k];
    }
}
static void private_sort_family() {
    if (!wanted("private_sort")) return;
    const int n = SIZE(1 << 20, 1 << 11);
    auto values = random_floats((size_t)n * 16, 0, 1, 3);
    Device<float> in(values);
    Output<float> out((size_t)n * 16);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 1000, [&](size_t i) {
            float v[16];
            for (int k = 0; k < 16; k++) v[k] = values[(size_t)k * n + i];
            std::sort(v, v + 16);
            for (int k = 0; k < 16; k++)
                if (got[(size_t)k * n + i] != v[k]) return false;
            return true;
        });
    };
    dim3 grid(n / 128), block(128);
    bench("private_sort", "insertion_scratch", [&] { sort_insertion_scratch<<<grid, block>>>(in, out, n); }, check);
    bench("private_sort", "insertion_lds", [&] { sort_insertion_lds<<<grid, block>>>(in, out, n); }, check);
    bench("private_sort", "bitonic_registers", [&] { sort_bitonic_registers<<<grid, block>>>(in, out, n); }, check);
    bench("private_sort", "odd_even_registers", [&] { sort_odd_even_registers<<<grid, block>>>(in, out, n); }, check);
    bench("private_sort", "rank", [&] { sort_rank<<<grid, block>>>(in, out, n); }, check);
}

// ---------------------------------------------------------------- 32 look-ups of each work-item, at places of its own
static const int LOOKUPS = 32;
__constant__ float lookup_table[256];
static __device__ __host__ __forceinline__ unsigned next_place(unsigned h) { return h * 1664525u + 1013904223u; }

__global__ void lookup_constant(const unsigned *__restrict__ seed, float *__restrict__ out, const float *__restrict__) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = seed[i];
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < LOOKUPS; k++) h = next_place(h), sum += lookup_table[h >> 24];
    out[i] = sum;
}
__global__ void lookup_global(const unsigned *__restrict__ seed, float *__restrict__ out,
                              const float *__restrict__ table) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = seed[i];
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < LOOKUPS; k++) h = next_place(h), sum += table[h >> 24];
    out[i] = sum;
}
__global__ void lookup_lds(const unsigned *__restrict__ seed, float *__restrict__ out,
                           const float *__restrict__ table) {
    __shared__ float t[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    t[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    unsigned h = seed[i];
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < LOOKUPS; k++) h = next_place(h), sum += t[h >> 24];
    out[i] = sum;
}
// COPIES of the table, interleaved: neighbours look in different banks.
template <int COPIES>
__global__ void lookup_lds_copies(const unsigned *__restrict__ seed, float *__restrict__ out,
                                  const float *__restrict__ table) {
    __shared__ float t[256 * COPIES];
    int i = blockIdx.x * blockDim.x + threadIdx.x, mine = threadIdx.x % COPIES;
    for (int k = threadIdx.x; k < 256 * COPIES; k += 256) t[k] = table[k / COPIES];
    __syncthreads();
    unsigned h = seed[i];
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < LOOKUPS; k++) h = next_place(h), sum += t[(h >> 24) * COPIES + mine];
    out[i] = sum;
}
static void lookup_family() {
    if (!wanted("lookup")) return;
    const int n = SIZE(1 << 21, 1 << 12);
    auto seeds = random_words(n, 4);
    auto table = random_floats(256, 0, 1, 5);
    CK(hipMemcpyToSymbol(HIP_SYMBOL(lookup_table), table.data(), 1024));
    Device<unsigned> seed(seeds);
    Device<float> global(table);
    Output<float> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 2000, [&](size_t i) {
            unsigned h = seeds[i];
            double sum = 0;
            for (int k = 0; k < LOOKUPS; k++) h = next_place(h), sum += table[h >> 24];
            return near_to(got[i], sum, 1e-5);
        });
    };
    dim3 grid(n / 256), block(256);
    bench("lookup", "constant", [&] { lookup_constant<<<grid, block>>>(seed, out, global); }, check);
    bench("lookup", "global", [&] { lookup_global<<<grid, block>>>(seed, out, global); }, check);
    bench("lookup", "lds", [&] { lookup_lds<<<grid, block>>>(seed, out, global); }, check);
    bench("lookup", "lds_copies8", [&] { lookup_lds_copies<8><<<grid, block>>>(seed, out, global); }, check);
    bench("lookup", "lds_copies32", [&] { lookup_lds_copies<32><<<grid, block>>>(seed, out, global); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    crc_family();
    private_count_family();
    private_sort_family();
    lookup_family();
    return failed();
}
