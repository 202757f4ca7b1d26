// Addresses, trip counts and branches that the data decide.
#include "bench.h"

// ---------------------------------------------------------------- gather: the order and the footprint of the indices
__global__ void gather(const float *__restrict__ table, const unsigned *__restrict__ index, float *__restrict__ out,
                       int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[index[i]];
}
__global__ void gather4(const float *__restrict__ table, const uint4 *__restrict__ index, float4 *__restrict__ out,
                        int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    uint4 at = index[i];
    out[i] = make_float4(table[at.x], table[at.y], table[at.z], table[at.w]);
}
__global__ void gather_strided(const float *__restrict__ table, const unsigned *__restrict__ index,
                               float *__restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = table[index[i]];
}
static void gather_family(const char *family, int entries, int n) {
    if (!wanted(family)) return;
    auto values = random_floats(entries, 0, 1, 1);
    Random random(2);
    std::vector<unsigned> anywhere(n), near_by(n);
    for (int i = 0; i < n; i++) anywhere[i] = random.below(entries);
    // Work-items of 1024 neighbours read within 4096 entries.
    for (int i = 0; i < n; i++)
        near_by[i] = (unsigned)(((uint64_t)(i / 1024) * 40503 * 4096 + random.below(4096)) % entries);
    // A counting sort by the upper bits, which the entries of one cache line share.
    std::vector<unsigned> sorted(n), start(entries / 32 + 1);
    for (unsigned at : anywhere) start[at / 32 + 1]++;
    for (size_t k = 1; k < start.size(); k++) start[k] += start[k - 1];
    for (unsigned at : anywhere) sorted[start[at / 32]++] = at;
    Device<float> table(values);
    Device<unsigned> index(anywhere);
    Output<float> out(n);
    dim3 block(256);
    std::vector<unsigned> *present = &anywhere;
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 20000, [&](size_t i) { return got[i] == values[(*present)[i]]; });
    };
    bench(family, "anywhere", [&] { gather<<<dim3(n / 256), block>>>(table, index, out, n); }, check);
    bench(
        family, "anywhere_four",
        [&] { gather4<<<dim3(n / 1024), block>>>(table, index.as<uint4>(), out.as<float4>(), n / 4); }, check);
    bench(
        family, "anywhere_few_blocks", [&] { gather_strided<<<dim3(SIZE(264, 4)), block>>>(table, index, out, n); },
        check);
    index.upload(near_by);
    present = &near_by;
    bench(family, "near_by", [&] { gather<<<dim3(n / 256), block>>>(table, index, out, n); }, check);
    index.upload(sorted);
    present = &sorted;
    bench(family, "sorted", [&] { gather<<<dim3(n / 256), block>>>(table, index, out, n); }, check);
    bench(
        family, "sorted_four",
        [&] { gather4<<<dim3(n / 1024), block>>>(table, index.as<uint4>(), out.as<float4>(), n / 4); }, check);
}

// ---------------------------------------------------------------- a permutation, by scatter and by gather
__global__ void scatter(const float *__restrict__ in, const unsigned *__restrict__ to, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[to[i]] = in[i];
}
__global__ void scatter4(const float4 *__restrict__ in, const uint4 *__restrict__ to, float *__restrict__ out, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = in[i];
    uint4 at = to[i];
    out[at.x] = v.x;
    out[at.y] = v.y;
    out[at.z] = v.z;
    out[at.w] = v.w;
}
static void permutation_family() {
    if (!wanted("permutation")) return;
    const int n = SIZE(1 << 24, 1 << 13);
    auto values = random_floats(n, 0, 1, 3);
    Random random(4);
    std::vector<unsigned> to(n), from(n), local(n);
    for (int i = 0; i < n; i++) to[i] = i, local[i] = i;
    for (int i = n - 1; i > 0; i--) std::swap(to[i], to[random.below(i + 1)]);
    for (int begin = 0; begin < n; begin += 2048)
        for (int i = 2047; i > 0; i--) std::swap(local[begin + i], local[begin + random.below(i + 1)]);
    for (int i = 0; i < n; i++) from[to[i]] = i;
    Device<float> in(values);
    Device<unsigned> map(to), inverse(from);
    Output<float> out(n);
    dim3 grid(n / 256), block(256);
    std::vector<unsigned> *present = &to;
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 20000, [&](size_t i) { return got[(*present)[i]] == values[i]; });
    };
    bench("permutation", "scatter", [&] { scatter<<<grid, block>>>(in, map, out, n); }, check);
    bench(
        "permutation", "scatter_four",
        [&] { scatter4<<<dim3(n / 1024), block>>>(in.as<float4>(), map.as<uint4>(), out, n / 4); }, check);
    bench("permutation", "gather", [&] { gather<<<grid, block>>>(in, inverse, out, n); }, check);
    map.upload(local);
    present = &local;
    bench("permutation", "scatter_near_by", [&] { scatter<<<grid, block>>>(in, map, out, n); }, check);
}

// ---------------------------------------------------------------- sparse matrix by vector, rows of very unlike lengths
__global__ void spmv_thread(const int *__restrict__ start, const int *__restrict__ column,
                            const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y,
                            int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int k = start[r]; k < start[r + 1]; k++) sum += value[k] * x[column[k]];
    y[r] = sum;
}
template <int LANES>
__global__ void spmv_lanes(const int *__restrict__ start, const int *__restrict__ column,
                           const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y,
                           int rows) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float sum = 0;
    if (r < rows)
        for (int k = start[r] + lane; k < start[r + 1]; k += LANES) sum += value[k] * x[column[k]];
#pragma unroll
    for (int o = LANES / 2; o > 0; o >>= 1) sum += __shfl_xor(sum, o);
    if (lane == 0 && r < rows) y[r] = sum;
}
__global__ void spmv_block(const int *__restrict__ start, const int *__restrict__ column,
                           const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
    __shared__ float s[128];
    int r = blockIdx.x, t = threadIdx.x;
    float sum = 0;
    for (int k = start[r] + t; k < start[r + 1]; k += 128) sum += value[k] * x[column[k]];
    s[t] = sum;
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) y[r] = s[0];
}
// Rows filled up to the longest of their 64 neighbours, stored by columns (sliced ELLPACK).
__global__ void spmv_sliced(const int *__restrict__ slice, const int *__restrict__ column,
                            const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x, s = r / 64, lane = r % 64;
    float sum = 0;
    for (int k = slice[s] + lane; k < slice[s + 1]; k += 64) sum += value[k] * x[column[k]];
    y[r] = sum;
}
// Each block takes 1024 entries, whichever rows they are of, and adds up their products by row in global memory.
__global__ void spmv_entries(const int *__restrict__ row, const int *__restrict__ column,
                             const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y,
                             int entries) {
    for (int k = blockIdx.x * 1024 + threadIdx.x; k < min(entries, (int)(blockIdx.x + 1) * 1024); k += 256)
        atomicAdd(&y[row[k]], value[k] * x[column[k]]);
}
static void spmv_family() {
    if (!wanted("spmv")) return;
    const int rows = SIZE(1 << 18, 1 << 10);
    Random random(5);
    std::vector<int> start(rows + 1), column, row;
    std::vector<float> value;
    for (int r = 0; r < rows; r++) {
        float u = random.uniform(0, 1);
        int length = (int)(2 / (0.02f + 0.9f * u * u));
        for (int k = 0; k < length; k++) {
            column.push_back(random.next() % 4 ? (int)((r + random.below(2048)) % rows) : (int)random.below(rows));
            value.push_back(random.uniform(-1, 1));
            row.push_back(r);
        }
        start[r + 1] = (int)column.size();
    }
    const int entries = (int)column.size();
    std::vector<int> slice(rows / 64 + 1), sliced_column;
    std::vector<float> sliced_value;
    for (int s = 0; s < rows / 64; s++) {
        int longest = 0;
        for (int r = s * 64; r < s * 64 + 64; r++) longest = std::max(longest, start[r + 1] - start[r]);
        for (int k = 0; k < longest; k++)
            for (int r = s * 64; r < s * 64 + 64; r++) {
                bool there = start[r] + k < start[r + 1];
                sliced_column.push_back(there ? column[start[r] + k] : r);
                sliced_value.push_back(there ? value[start[r] + k] : 0.0f);
            }
        slice[s + 1] = (int)sliced_column.size();
    }
    auto hx = random_floats(rows, -1, 1, 6);
    Device<int> dstart(start), dcolumn(column), drow(row), dslice(slice), dsliced_column(sliced_column);
    Device<float> dvalue(value), dsliced_value(sliced_value), x(hx);
    Output<float> y(rows, Before::cleared);
    auto check = [&] {
        auto got = y.host();
        return sampled(rows, 5000, [&](size_t r) {
            double sum = 0;
            for (int k = start[r]; k < start[r + 1]; k++) sum += (double)value[k] * hx[column[k]];
            return near_to(got[r], sum, 2e-5);
        });
    };
    dim3 block(256);
    bench(
        "spmv", "thread_row", [&] { spmv_thread<<<dim3(rows / 256), block>>>(dstart, dcolumn, dvalue, x, y, rows); },
        check);
    bench(
        "spmv", "lanes4_row", [&] { spmv_lanes<4><<<dim3(rows / 64), block>>>(dstart, dcolumn, dvalue, x, y, rows); },
        check);
    bench(
        "spmv", "lanes16_row", [&] { spmv_lanes<16><<<dim3(rows / 16), block>>>(dstart, dcolumn, dvalue, x, y, rows); },
        check);
    bench(
        "spmv", "wave_row",
        [&] { spmv_lanes<WARP><<<dim3(rows / (256 / WARP)), block>>>(dstart, dcolumn, dvalue, x, y, rows); }, check);
    bench("spmv", "block_row", [&] { spmv_block<<<dim3(rows), dim3(128)>>>(dstart, dcolumn, dvalue, x, y); }, check);
    bench(
        "spmv", "sliced",
        [&] { spmv_sliced<<<dim3(rows / 256), block>>>(dslice, dsliced_column, dsliced_value, x, y); }, check);
    bench(
        "spmv", "entries_atomic",
        [&] { spmv_entries<<<dim3(div_up(entries, 1024)), block>>>(drow, dcolumn, dvalue, x, y, entries); }, check);
}

// ---------------------------------------------------------------- Mandelbrot set
static const int ITERATIONS = SIZE(512, 64);
static __device__ __host__ __forceinline__ float re_of(int px, int n) { return -2.1f + 2.8f * (float)px / (float)n; }
static __device__ __host__ __forceinline__ float im_of(int py, int n) { return -1.3f + 2.6f * (float)py / (float)n; }
static __device__ __forceinline__ int escape(float cr, float ci) {
    float zr = 0, zi = 0;
    int k = 0;
    while (k < ITERATIONS) {
        float r2 = zr * zr, i2 = zi * zi;
        if (r2 + i2 > 4.0f) break;
        zi = 2.0f * zr * zi + ci;
        zr = r2 - i2 + cr;
        k++;
    }
    return k;
}
template <int BX, int BY> __global__ void mandelbrot(int *__restrict__ out, int n) {
    int px = blockIdx.x * BX + threadIdx.x, py = blockIdx.y * BY + threadIdx.y;
    out[py * n + px] = escape(re_of(px, n), im_of(py, n));
}
// Looks only after each four steps whether the point has escaped, and then repeats those.
__global__ void mandelbrot_four(int *__restrict__ out, int n) {
    int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y * 8 + threadIdx.y, k = 0;
    float cr = re_of(px, n), ci = im_of(py, n), zr = 0, zi = 0;
    while (k < ITERATIONS) {
        float ur = zr, ui = zi;
#pragma unroll
        for (int step = 0; step < 4; step++) {
            float next = ur * ur - ui * ui + cr;
            ui = 2.0f * ur * ui + ci;
            ur = next;
        }
        if (!(ur * ur + ui * ui <= 4.0f)) break;
        zr = ur, zi = ui, k += 4;
    }
    while (k < ITERATIONS && zr * zr + zi * zi <= 4.0f) {
        float next = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = next;
        k++;
    }
    out[py * n + px] = k;
}
__global__ void mandelbrot_strided(int *__restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * n; i += gridDim.x * blockDim.x)
        out[i] = escape(re_of(i % n, n), im_of(i / n, n));
}
// Neighbouring work-items take points that lie far apart.
__global__ void mandelbrot_spread(int *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = (int)((unsigned)i * 2654435761u % (unsigned)(n * n));
    out[j] = escape(re_of(j % n, n), im_of(j / n, n));
}
static void mandelbrot_family() {
    if (!wanted("mandelbrot")) return;
    const int n = SIZE(2048, 64);
    Output<int> out((size_t)n * n);
    auto check = [&] {
        auto got = out.host();
        int unlike = 0;
        bool all = sampled((size_t)n * n, 5000, [&](size_t i) {
            double cr = re_of((int)(i % n), n), ci = im_of((int)(i / n), n), zr = 0, zi = 0;
            int k = 0;
            while (k < ITERATIONS && zr * zr + zi * zi <= 4) {
                double next = zr * zr - zi * zi + cr;
                zi = 2 * zr * zi + ci;
                zr = next;
                k++;
            }
            // The set's border is chaotic: rounding may move some points that stay for long.
            unlike += got[i] != k;
            return got[i] >= 0 && got[i] <= ITERATIONS && (k > 24 || std::abs(got[i] - k) <= 1);
        });
        return all && unlike < 250;
    };
    bench("mandelbrot", "block32x8", [&] { mandelbrot<32, 8><<<dim3(n / 32, n / 8), dim3(32, 8)>>>(out, n); }, check);
    bench("mandelbrot", "block8x8", [&] { mandelbrot<8, 8><<<dim3(n / 8, n / 8), dim3(8, 8)>>>(out, n); }, check);
    bench(
        "mandelbrot", "block16x16", [&] { mandelbrot<16, 16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(out, n); }, check);
    bench("mandelbrot", "four_steps", [&] { mandelbrot_four<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(out, n); }, check);
    bench("mandelbrot", "gridstride", [&] { mandelbrot_strided<<<dim3(SIZE(528, 4)), dim3(256)>>>(out, n); }, check);
    bench("mandelbrot", "spread", [&] { mandelbrot_spread<<<dim3(n * n / 256), dim3(256)>>>(out, n); }, check);
}

// ---------------------------------------------------------------- two kinds of work, by which items have which
static __device__ __host__ __forceinline__ float heavy(float x) {
    for (int k = 0; k < 64; k++) x = x * 0.75f + 1.0f / (x + 1.0f);
    return x;
}
static __device__ __host__ __forceinline__ float other(float x) {
    for (int k = 0; k < 64; k++) x = x * 0.5f + sqrtf(x + 0.5f);
    return x;
}
__global__ void branch(const float *__restrict__ in, const unsigned char *__restrict__ kind, float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (kind[i]) out[i] = heavy(in[i]);
    else out[i] = other(in[i]);
}
__global__ void branch_both(const float *__restrict__ in, const unsigned char *__restrict__ kind,
                            float *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], a = heavy(x), b = other(x);
    out[i] = kind[i] ? a : b;
}
// The items of a block by kind, sorted in LDS before the work.
__global__ void branch_sorted(const float *__restrict__ in, const unsigned char *__restrict__ kind,
                              float *__restrict__ out) {
    __shared__ int order[256], ends[2];
    int t = threadIdx.x, base = blockIdx.x * 256;
    if (t < 2) ends[t] = 0;
    __syncthreads();
    if (kind[base + t]) order[atomicAdd(&ends[0], 1)] = t;
    else order[255 - atomicAdd(&ends[1], 1)] = t;
    __syncthreads();
    int i = base + order[t];
    if (t < ends[0]) out[i] = heavy(in[i]);
    else out[i] = other(in[i]);
}
static void divergence_family() {
    if (!wanted("divergence")) return;
    const int n = SIZE(1 << 21, 1 << 12);
    auto values = random_floats(n, 0.1f, 4, 7);
    Random random(8);
    std::vector<unsigned char> odd(n), by_64(n), by_block(n), by_chance(n);
    for (int i = 0; i < n; i++)
        odd[i] = i & 1, by_64[i] = (i / 64) & 1, by_block[i] = (i / 256) & 1, by_chance[i] = random.next() & 1;
    Device<float> in(values);
    Device<unsigned char> kind(n);
    Output<float> out(n);
    std::vector<unsigned char> *present = nullptr;
    auto use = [&](std::vector<unsigned char> &kinds) { present = &kinds, kind.upload(kinds); };
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 2000, [&](size_t i) {
            double x = values[i];
            for (int k = 0; k < 64; k++) x = (*present)[i] ? x * 0.75 + 1 / (x + 1) : x * 0.5 + std::sqrt(x + 0.5);
            return near_to(got[i], x, 1e-4);
        });
    };
    dim3 grid(n / 256), block(256);
    use(by_chance);
    bench("divergence", "by_chance", [&] { branch<<<grid, block>>>(in, kind, out); }, check);
    bench("divergence", "by_chance_both", [&] { branch_both<<<grid, block>>>(in, kind, out); }, check);
    bench("divergence", "by_chance_sorted", [&] { branch_sorted<<<grid, block>>>(in, kind, out); }, check);
    use(odd);
    bench("divergence", "odd", [&] { branch<<<grid, block>>>(in, kind, out); }, check);
    use(by_64);
    bench("divergence", "by_64", [&] { branch<<<grid, block>>>(in, kind, out); }, check);
    use(by_block);
    bench("divergence", "by_block", [&] { branch<<<grid, block>>>(in, kind, out); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    gather_family("gather_1_mb", SIZE(1 << 18, 1 << 12), SIZE(1 << 23, 1 << 12));
    gather_family("gather_256_mb", SIZE(1 << 26, 1 << 16), SIZE(1 << 23, 1 << 12));
    permutation_family();
    spmv_family();
    mandelbrot_family();
    divergence_family();
    return failed();
}
