// Integers: distances of strings, a code over GF(256), a counter-based random generator, and many bins.
#include "../third/bench.h"

// ---------------------------------------------------------------- edit distance of two strings of 64 of 4 letters
static const int LETTERS = 64;
typedef unsigned char Byte;

/// D[i][j] from the entry above, the one to the left and the one above that.
static __device__ __forceinline__ int edit(int up, int left, int diagonal, bool same) {
    return min(min(up, left) + 1, diagonal + !same);
}
// The table's row in an array of the work-item's own that is indexed at run time.
__global__ void edit_scratch(const Byte *__restrict__ a, const Byte *__restrict__ b, int *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row[LETTERS];
#pragma unroll 4
    for (int c = 0; c < LETTERS; c++) row[c] = c + 1;
#pragma unroll 1
    for (int r = 0; r < LETTERS; r++) {
        int left = r + 1, diagonal = r;
        Byte letter = a[i * LETTERS + r];
#pragma unroll 4
        for (int c = 0; c < LETTERS; c++) {
            int up = row[c];
            left = edit(up, left, diagonal, letter == b[i * LETTERS + c]);
            row[c] = left, diagonal = up;
        }
    }
    out[i] = row[LETTERS - 1];
}
// All in registers: the columns are unrolled.
__global__ void __launch_bounds__(128)
    edit_registers(const uint4 *__restrict__ a, const uint4 *__restrict__ b, int *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row[LETTERS];
    unsigned words[LETTERS / 4];
#pragma unroll
    for (int q = 0; q < 4; q++) {
        uint4 v = b[i * 4 + q];
        words[4 * q] = v.x, words[4 * q + 1] = v.y, words[4 * q + 2] = v.z, words[4 * q + 3] = v.w;
    }
#pragma unroll
    for (int c = 0; c < LETTERS; c++) row[c] = c + 1;
    const Byte *letters = (const Byte *)a + (size_t)i * LETTERS;
#pragma unroll 1
    for (int r = 0; r < LETTERS; r++) {
        int left = r + 1, diagonal = r;
        unsigned letter = letters[r];
#pragma unroll
        for (int c = 0; c < LETTERS; c++) {
            int up = row[c];
            left = edit(up, left, diagonal, letter == ((words[c / 4] >> (c % 4 * 8)) & 255));
            row[c] = left, diagonal = up;
        }
    }
    out[i] = row[LETTERS - 1];
}
__global__ void edit_lds(const Byte *__restrict__ a, const Byte *__restrict__ b, int *__restrict__ out) {
    __shared__ unsigned short row[LETTERS][128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    for (int c = 0; c < LETTERS; c++) row[c][t] = (unsigned short)(c + 1);
    for (int r = 0; r < LETTERS; r++) {
        int left = r + 1, diagonal = r;
        Byte letter = a[i * LETTERS + r];
#pragma unroll 4
        for (int c = 0; c < LETTERS; c++) {
            int up = row[c][t];
            left = edit(up, left, diagonal, letter == b[i * LETTERS + c]);
            row[c][t] = (unsigned short)left, diagonal = up;
        }
    }
    out[i] = row[LETTERS - 1][t];
}
// A block for a pair, a work-item for a column; the entries of an antidiagonal go at the same time.
__global__ void edit_block(const Byte *__restrict__ a, const Byte *__restrict__ b, int *__restrict__ out) {
    __shared__ int last[2][LETTERS + 1];
    __shared__ Byte letters[LETTERS];
    int c = threadIdx.x, pair = blockIdx.x;
    Byte mine = b[pair * LETTERS + c];
    letters[c] = a[pair * LETTERS + c];
    int up = c + 1, diagonal = c;
    __syncthreads();
    for (int step = 0; step < 2 * LETTERS - 1; step++) {
        int r = step - c;
        if (r >= 0 && r < LETTERS) {
            int left = c == 0 ? r + 1 : last[(step + 1) & 1][c];
            up = edit(up, left, diagonal, letters[r] == mine);
            diagonal = left;
            last[step & 1][c + 1] = up;
        }
        __syncthreads();
    }
    if (c == LETTERS - 1) out[pair] = up;
}
// 32 work-items for a pair, two columns each, that hand their entries on by shuffles.
__global__ void edit_shuffles(const Byte *__restrict__ a, const Byte *__restrict__ b, int *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32, pair = i / 32;
    Byte first = b[pair * LETTERS + 2 * lane], second = b[pair * LETTERS + 2 * lane + 1];
    int up0 = 2 * lane + 1, up1 = 2 * lane + 2, diagonal = 2 * lane;
    for (int step = 0; step < LETTERS + 31; step++) {
        int left = __shfl_up(up1, 1, 32), r = step - lane;
        if (r >= 0 && r < LETTERS) {
            if (lane == 0) left = r + 1;
            Byte letter = a[pair * LETTERS + r];
            int entry = edit(up0, left, diagonal, letter == first);
            up1 = edit(up1, entry, up0, letter == second);
            up0 = entry, diagonal = left;
        }
    }
    if (lane == 31) out[pair] = up1;
}
// Myers: the differences of a column in the bits of two words.
__global__ void edit_bits(const uint4 *__restrict__ a, const Byte *__restrict__ b, int *__restrict__ out) {
    typedef unsigned long long Word;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Word where[4] = {0, 0, 0, 0};
#pragma unroll
    for (int q = 0; q < 4; q++) {
        uint4 v = a[i * 4 + q];
        unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 16; k++) {
            unsigned letter = (words[k / 4] >> (k % 4 * 8)) & 255;
#pragma unroll
            for (int l = 0; l < 4; l++) where[l] |= (Word)(letter == (unsigned)l) << (q * 16 + k);
        }
    }
    Word more = ~0ull, less = 0;
    int distance = LETTERS;
    for (int c = 0; c < LETTERS; c++) {
        unsigned letter = b[i * LETTERS + c];
        Word same = letter == 0 ? where[0] : letter == 1 ? where[1] : letter == 2 ? where[2] : where[3];
        Word vertical = same | less, horizontal = (((same & more) + more) ^ more) | same;
        Word up = less | ~(horizontal | more), down = more & horizontal;
        distance += (int)(up >> 63) - (int)(down >> 63);
        up = (up << 1) | 1, down <<= 1;
        more = down | ~(vertical | up), less = up & vertical;
    }
    out[i] = distance;
}
static void edit_family() {
    if (!wanted("edit_distance")) return;
    const int n = SIZE(1 << 16, 1 << 8);
    Random random(1);
    std::vector<Byte> a((size_t)n * LETTERS), b(a.size());
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = (Byte)random.below(4);
        b[i] = random.below(3) ? a[i - (i ? random.below(2) : 0)] : (Byte)random.below(4);
    }
    Device<Byte> da(a), db(b);
    Output<int> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 1000, [&](size_t i) {
            int row[LETTERS + 1];
            for (int c = 0; c <= LETTERS; c++) row[c] = c;
            for (int r = 0; r < LETTERS; r++) {
                int diagonal = row[0];
                row[0] = r + 1;
                for (int c = 0; c < LETTERS; c++) {
                    int up = row[c + 1], changed = diagonal + (a[i * LETTERS + r] != b[i * LETTERS + c]);
                    row[c + 1] = std::min(std::min(up, row[c]) + 1, changed);
                    diagonal = up;
                }
            }
            return got[i] == row[LETTERS];
        });
    };
    dim3 grid(n / 128), block(128);
    bench("edit_distance", "scratch", [&] { edit_scratch<<<grid, block>>>(da, db, out); }, check);
    bench("edit_distance", "registers",
          [&] { edit_registers<<<grid, block>>>(da.as<uint4>(), db.as<uint4>(), out); }, check);
    bench("edit_distance", "lds", [&] { edit_lds<<<grid, block>>>(da, db, out); }, check);
    bench("edit_distance", "block", [&] { edit_block<<<dim3(n), dim3(LETTERS)>>>(da, db, out); }, check);
    bench("edit_distance", "shuffles", [&] { edit_shuffles<<<dim3(n / 4), block>>>(da, db, out); }, check);
    bench("edit_distance", "bits", [&] { edit_bits<<<grid, block>>>(da.as<uint4>(), db, out); }, check);
}

// ---------------------------------------------------------------- four parity rows of eight rows of bytes, over GF(256)
static const int ROWS = 8, PARITY = 4;
__constant__ Byte gf_factors[PARITY * ROWS];
__constant__ Byte gf_products[PARITY * ROWS * 256];

__host__ __device__ inline unsigned gf_double(unsigned v) { return (v << 1) ^ (v & 128 ? 0x11Du : 0u); }

// Sums of logarithms, the tables in LDS; the table of powers is there twice, so that no sum needs a modulus.
__global__ void erasure_logarithms(const Byte *__restrict__ data, Byte *__restrict__ out,
                                   const Byte *__restrict__ tables, int n) {
    __shared__ Byte logarithm[256], power[512];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    logarithm[t] = tables[t], power[t] = tables[256 + t], power[256 + t] = tables[512 + t];
    __syncthreads();
    unsigned sum[PARITY] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned v = data[r * n + i], log_v = logarithm[v];
#pragma unroll
        for (int p = 0; p < PARITY; p++)
            if (v) sum[p] ^= power[log_v + logarithm[gf_factors[p * ROWS + r]]];
    }
#pragma unroll
    for (int p = 0; p < PARITY; p++) out[p * n + i] = (Byte)sum[p];
}
// A table of products for each factor.
template <bool CONSTANT>
__global__ void erasure_products(const Byte *__restrict__ data, Byte *__restrict__ out,
                                 const Byte *__restrict__ products, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum[PARITY] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned v = data[r * n + i];
#pragma unroll
        for (int p = 0; p < PARITY; p++) {
            int at = (p * ROWS + r) * 256 + (int)v;
            sum[p] ^= CONSTANT ? gf_products[at] : products[at];
        }
    }
#pragma unroll
    for (int p = 0; p < PARITY; p++) out[p * n + i] = (Byte)sum[p];
}
// The same from LDS, four bytes a work-item.
__global__ void erasure_products_lds(const unsigned *__restrict__ data, unsigned *__restrict__ out,
                                     const unsigned *__restrict__ products, int words) {
    __shared__ unsigned copy[PARITY * ROWS * 64];
    for (int e = threadIdx.x; e < PARITY * ROWS * 64; e += 256) copy[e] = products[e];
    __syncthreads();
    const Byte *table = (const Byte *)copy;
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned sum[PARITY] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned v = data[r * words + i];
#pragma unroll
        for (int p = 0; p < PARITY; p++) {
            const Byte *of = table + (p * ROWS + r) * 256;
            sum[p] ^= of[v & 255] | (of[(v >> 8) & 255] << 8) | (of[(v >> 16) & 255] << 16) | ((unsigned)of[v >> 24] << 24);
        }
    }
#pragma unroll
    for (int p = 0; p < PARITY; p++) out[p * words + i] = sum[p];
}
// One look-up for all four parities: their products are the bytes of a word.
__global__ void erasure_joined_lds(const unsigned *__restrict__ data, unsigned *__restrict__ out,
                                   const unsigned *__restrict__ joined, int words) {
    __shared__ unsigned table[ROWS * 256];
    for (int e = threadIdx.x; e < ROWS * 256; e += 256) table[e] = joined[e];
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned sum[4] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned v = data[r * words + i];
#pragma unroll
        for (int k = 0; k < 4; k++) sum[k] ^= table[r * 256 + ((v >> (8 * k)) & 255)];
    }
#pragma unroll
    for (int p = 0; p < PARITY; p++) {
        unsigned v = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) v |= ((sum[k] >> (8 * p)) & 255) << (8 * k);
        out[p * words + i] = v;
    }
}
// No tables: four bytes of a word are doubled together, and added where the factor has the bit.
__global__ void erasure_bitwise(const unsigned *__restrict__ data, unsigned *__restrict__ out, int words) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum[PARITY] = {0, 0, 0, 0};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        unsigned v = data[r * words + i];
#pragma unroll
        for (int bit = 0; bit < 8; bit++) {
#pragma unroll
            for (int p = 0; p < PARITY; p++) sum[p] ^= v & (0u - ((gf_factors[p * ROWS + r] >> bit) & 1u));
            v = ((v & 0x7F7F7F7Fu) << 1) ^ (((v >> 7) & 0x01010101u) * 0x1Du);
        }
    }
#pragma unroll
    for (int p = 0; p < PARITY; p++) out[p * words + i] = sum[p];
}
static void erasure_family() {
    if (!wanted("erasure")) return;
    const int n = SIZE(1 << 22, 1 << 12), words = n / 4;
    std::vector<Byte> tables(768), factors(PARITY * ROWS), products(factors.size() * 256);
    unsigned v = 1;
    for (int e = 0; e < 255; e++, v = gf_double(v)) {
        tables[v] = (Byte)e;
        tables[256 + e] = tables[256 + 255 + e] = (Byte)v;
    }
    Random random(2);
    for (Byte &factor : factors) factor = (Byte)(1 + random.below(255));
    std::vector<unsigned> joined(ROWS * 256);
    for (int f = 0; f < PARITY * ROWS; f++)
        for (unsigned x = 0; x < 256; x++) {
            unsigned product = 0, power = x;
            for (int bit = 0; bit < 8; bit++, power = gf_double(power))
                if ((factors[f] >> bit) & 1) product ^= power;
            products[f * 256 + x] = (Byte)product;
            joined[f % ROWS * 256 + x] |= product << (8 * (f / ROWS));
        }
    CK(hipMemcpyToSymbol(HIP_SYMBOL(gf_factors), factors.data(), factors.size()));
    CK(hipMemcpyToSymbol(HIP_SYMBOL(gf_products), products.data(), products.size()));
    auto rows = random_words((size_t)words * ROWS, 3);
    Device<unsigned> data(rows), together(joined);
    Device<Byte> small(tables), large(products);
    Output<unsigned> out((size_t)words * PARITY);
    auto check = [&] {
        auto got = out.host();
        const Byte *bytes = (const Byte *)got.data(), *in = (const Byte *)rows.data();
        return sampled(n, 20000, [&](size_t i) {
            for (int p = 0; p < PARITY; p++) {
                unsigned sum = 0;
                for (int r = 0; r < ROWS; r++) {
                    unsigned x = in[(size_t)r * n + i], y = factors[p * ROWS + r];
                    if (x) sum ^= tables[256 + (tables[x] + tables[y]) % 255];
                }
                if (bytes[(size_t)p * n + i] != sum) return false;
            }
            return true;
        });
    };
    dim3 bytes_grid(n / 256), words_grid(words / 256), block(256);
    auto in = data.as<Byte>(), to = out.as<Byte>();
    bench("erasure", "logarithms", [&] { erasure_logarithms<<<bytes_grid, block>>>(in, to, small, n); }, check);
    bench("erasure", "products_constant",
          [&] { erasure_products<true><<<bytes_grid, block>>>(in, to, large, n); }, check);
    bench("erasure", "products_global",
          [&] { erasure_products<false><<<bytes_grid, block>>>(in, to, large, n); }, check);
    bench("erasure", "products_lds",
          [&] { erasure_products_lds<<<words_grid, block>>>(data, out, large.as<unsigned>(), words); }, check);
    bench("erasure", "joined_lds", [&] { erasure_joined_lds<<<words_grid, block>>>(data, out, together, words); }, check);
    bench("erasure", "bitwise", [&] { erasure_bitwise<<<words_grid, block>>>(data, out, words); }, check);
}

// ---------------------------------------------------------------- random words: Philox 4x32 with ten rounds
static __device__ __forceinline__ void philox_round(uint4 &c, unsigned k0, unsigned k1) {
    unsigned high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
    unsigned high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
    c = make_uint4(high1 ^ c.y ^ k0, low1, high0 ^ c.w ^ k1, low0);
}
static __device__ __forceinline__ uint4 philox(unsigned counter, unsigned k0, unsigned k1) {
    uint4 c = make_uint4(counter, 0, 0, 0);
#pragma unroll
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) philox_round(c, k0, k1);
    return c;
}
__global__ void philox_uint4(uint4 *__restrict__ out, unsigned k0, unsigned k1) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = philox(i, k0, k1);
}
__global__ void philox_scalar(unsigned *__restrict__ out, unsigned k0, unsigned k1) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v = philox(i, k0, k1);
    out[4 * i] = v.x;
    out[4 * i + 1] = v.y;
    out[4 * i + 2] = v.z;
    out[4 * i + 3] = v.w;
}
// A work-item for each word: four of them compute the same.
__global__ void philox_one_each(unsigned *__restrict__ out, unsigned k0, unsigned k1) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v = philox(i / 4, k0, k1);
    out[i] = i % 4 == 0 ? v.x : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w;
}
__global__ void philox_four_counters(uint4 *__restrict__ out, unsigned k0, unsigned k1) {
    unsigned i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    uint4 c[4];
#pragma unroll
    for (int k = 0; k < 4; k++) c[k] = make_uint4(i + k * blockDim.x, 0, 0, 0);
#pragma unroll
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
#pragma unroll
        for (int k = 0; k < 4; k++) philox_round(c[k], k0, k1);
#pragma unroll
    for (int k = 0; k < 4; k++) out[i + k * blockDim.x] = c[k];
}
__global__ void philox_gridstride(uint4 *__restrict__ out, unsigned k0, unsigned k1, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = philox(i, k0, k1);
}
static void philox_family() {
    if (!wanted("philox")) return;
    const unsigned n = SIZE(1u << 24, 1u << 12), k0 = 0x1234567u, k1 = 0x89ABCDEFu;
    Output<unsigned> out((size_t)n * 4);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 20000, [&](size_t i) {
            uint32_t c[4] = {(uint32_t)i, 0, 0, 0}, key[2] = {k0, k1};
            for (int round = 0; round < 10; round++, key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u) {
                uint64_t p = 0xD2511F53ull * c[0], q = 0xCD9E8D57ull * c[2];
                uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ key[0], (uint32_t)q,
                                    (uint32_t)(p >> 32) ^ c[3] ^ key[1], (uint32_t)p};
                std::copy(next, next + 4, c);
            }
            return std::equal(c, c + 4, got.begin() + 4 * i);
        });
    };
    dim3 grid(n / 256), block(256);
    auto wide = out.as<uint4>();
    bench("philox", "uint4", [&] { philox_uint4<<<grid, block>>>(wide, k0, k1); }, check);
    bench("philox", "scalar", [&] { philox_scalar<<<grid, block>>>(out, k0, k1); }, check);
    bench("philox", "one_each", [&] { philox_one_each<<<dim3(n / 64), block>>>(out, k0, k1); }, check);
    bench("philox", "four_counters", [&] { philox_four_counters<<<dim3(n / 1024), block>>>(wide, k0, k1); }, check);
    bench("philox", "gridstride", [&] { philox_gridstride<<<dim3(528), block>>>(wide, k0, k1, n); }, check);
    bench("philox", "few_blocks", [&] { philox_gridstride<<<dim3(66), block>>>(wide, k0, k1, n); }, check);
}

// ---------------------------------------------------------------- how often each of 65536 values is there
static const int BINS = 65536;
__global__ void bins_global(const unsigned *__restrict__ data, unsigned *__restrict__ bins, int copies) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *mine = bins + (size_t)(blockIdx.x % copies) * BINS, v = data[i];
    atomicAdd(&mine[v & 0xFFFF], 1u);
    atomicAdd(&mine[v >> 16], 1u);
}
__global__ void bins_join(const unsigned *__restrict__ copy, unsigned *__restrict__ bins, int copies) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int c = 0; c < copies; c++) sum += copy[c * BINS + i];
    bins[i] = sum;
}
// A block counts a quarter of the bins in LDS, two in a word: no chunk has a value more than 65535 times.
__global__ void bins_quarters(const unsigned *__restrict__ data, unsigned *__restrict__ bins, int chunk) {
    __shared__ unsigned count[BINS / 8];
    unsigned quarter = blockIdx.y;
    for (int e = threadIdx.x; e < BINS / 8; e += blockDim.x) count[e] = 0;
    __syncthreads();
    for (int e = threadIdx.x; e < chunk; e += blockDim.x) {
        unsigned v = data[(size_t)blockIdx.x * chunk + e];
        unsigned a = v & 0xFFFF, b = v >> 16;
        if (a >> 14 == quarter) atomicAdd(&count[(a & 0x3FFF) >> 1], 1u << (16 * (a & 1)));
        if (b >> 14 == quarter) atomicAdd(&count[(b & 0x3FFF) >> 1], 1u << (16 * (b & 1)));
    }
    __syncthreads();
    for (int e = threadIdx.x; e < BINS / 8; e += blockDim.x) {
        unsigned both = count[e], at = quarter * (BINS / 4) + 2 * e;
        if (both & 0xFFFF) atomicAdd(&bins[at], both & 0xFFFF);
        if (both >> 16) atomicAdd(&bins[at + 1], both >> 16);
    }
}
// 16 words that stand together by one work-item, which adds once for each run of equal values.
__global__ void bins_runs(const uint4 *__restrict__ data, unsigned *__restrict__ bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = data[4 * i].x & 0xFFFF, length = 0;
    for (int q = 0; q < 4; q++) {
        uint4 v = data[4 * i + q];
        unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 8; k++) {
            unsigned next = (words[k / 2] >> (k % 2 * 16)) & 0xFFFF;
            if (next != value) {
                atomicAdd(&bins[value], length);
                value = next, length = 0;
            }
            length++;
        }
    }
    atomicAdd(&bins[value], length);
}
static void bins_family() {
    if (!wanted("many_bins")) return;
    const int words = SIZE(1 << 23, 1 << 13), copies = 8;
    auto values = random_words(words, 4);
    std::vector<unsigned> expected(BINS), ordered(words);
    for (unsigned v : values) expected[v & 0xFFFF]++, expected[v >> 16]++;
    size_t at = 0;
    for (unsigned v = 0; v < (unsigned)BINS; v++)
        for (unsigned k = 0; k < expected[v]; k++, at++) ordered[at / 2] |= v << (at % 2 * 16);
    Device<unsigned> data(values), in_order(ordered);
    Output<unsigned> bins(BINS, Before::cleared), each((size_t)BINS * copies, Before::cleared);
    auto check = [&] { return bins.host() == expected; };
    dim3 grid(words / 256), block(256);
    const int chunk = SIZE(1 << 16, 1 << 12);
    bench("many_bins", "global", [&] { bins_global<<<grid, block>>>(data, bins, 1); }, check);
    bench("many_bins", "copies",
          [&] {
              bins_global<<<grid, block>>>(data, each, copies);
              bins_join<<<dim3(BINS / 256), block>>>(each, bins, copies);
          },
          check);
    bench("many_bins", "lds_quarters",
          [&] { bins_quarters<<<dim3(words / chunk, 4), dim3(512)>>>(data, bins, chunk); }, check);
    bench("many_bins", "in_order", [&] { bins_global<<<grid, block>>>(in_order, bins, 1); }, check);
    bench("many_bins", "in_order_runs",
          [&] { bins_runs<<<dim3(words / 16 / 256), block>>>(in_order.as<uint4>(), bins); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    edit_family();
    erasure_family();
    philox_family();
    bins_family();
    return failed();
}
