// Grids whose cells look at their neighbours: bits and bytes, nine distributions a cell, and a median.
#include "../third/bench.h"

// ---------------------------------------------------------------- a generation of the game of life on a torus
typedef unsigned char Byte;

__global__ void life_bytes(const Byte *__restrict__ in, Byte *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int l = (x - 1) & (w - 1), r = (x + 1) & (w - 1);
    const Byte *up = in + (size_t)((y - 1) & (h - 1)) * w, *mid = in + (size_t)y * w;
    const Byte *down = in + (size_t)((y + 1) & (h - 1)) * w;
    int n = up[l] + up[x] + up[r] + mid[l] + mid[r] + down[l] + down[x] + down[r];
    out[(size_t)y * w + x] = n == 3 || (n == 2 && mid[x]);
}
__global__ void life_bytes_lds(const Byte *__restrict__ in, Byte *__restrict__ out, int w, int h) {
    __shared__ Byte tile[10][72];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 64, top = blockIdx.y * 8;
    for (int e = ty * 64 + tx; e < 10 * 66; e += 512) {
        int i = e / 66, j = e % 66;
        tile[i][j] = in[(size_t)((top + i - 1) & (h - 1)) * w + ((left + j - 1) & (w - 1))];
    }
    __syncthreads();
    int n = 0;
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            if (i != 1 || j != 1) n += tile[ty + i][tx + j];
    out[(size_t)(top + ty) * w + left + tx] = n == 3 || (n == 2 && tile[ty + 1][tx + 1]);
}
// Four cells in the bytes of a word: eight neighbours add up to at most 8, so no byte carries into the next.
__global__ void life_bytes_word(const unsigned *__restrict__ in, unsigned *__restrict__ out, int words, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    int l = (x - 1) & (words - 1), r = (x + 1) & (words - 1);
    unsigned n = 0, self = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned *row = in + (size_t)((y + dy) & (h - 1)) * words;
        unsigned c = row[x];
        n += ((c << 8) | (row[l] >> 24)) + ((c >> 8) | (row[r] << 24));
        if (dy == 0) self = c;
        else n += c;
    }
    unsigned other = (n | self) ^ 0x03030303u;
    out[(size_t)y * words + x] = (((other + 0x7F7F7F7Fu) ^ 0x80808080u) >> 7) & 0x01010101u;
}
/// Of a row's three cells around each: their sum's ones and twos.
template <class W> struct Sum3 {
    W one, two, self, ends_one, ends_two;
};
template <class W> static __device__ __forceinline__ Sum3<W> row_sum(const W *__restrict__ row, int x, int words) {
    const int bits = sizeof(W) * 8;
    W c = row[x], l = (c << 1) | (row[(x - 1) & (words - 1)] >> (bits - 1));
    W r = (c >> 1) | (row[(x + 1) & (words - 1)] << (bits - 1));
    W ends = l ^ r;
    return {ends ^ c, (l & r) | (c & ends), c, ends, l & r};
}
template <class W> static __device__ __forceinline__ W alive(const Sum3<W> &a, const Sum3<W> &b, const Sum3<W> &c) {
    W half = a.one ^ c.one, odd = half ^ b.ends_one;
    W two = (a.one & c.one) | (b.ends_one & half);
    W x = a.two ^ c.two, y = b.ends_two ^ two;
    return (x ^ y) & ~((a.two & c.two) | (b.ends_two & two)) & (odd | b.self);
}
template <class W> __global__ void life_bits(const W *__restrict__ in, W *__restrict__ out, int words, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    auto a = row_sum<W>(in + (size_t)((y - 1) & (h - 1)) * words, x, words);
    auto b = row_sum<W>(in + (size_t)y * words, x, words);
    auto c = row_sum<W>(in + (size_t)((y + 1) & (h - 1)) * words, x, words);
    out[(size_t)y * words + x] = alive<W>(a, b, c);
}
// A work-item goes down 16 rows and keeps the sums of the last two.
__global__ void life_bits_walk(const unsigned *__restrict__ in, unsigned *__restrict__ out, int words, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 16;
    auto a = row_sum<unsigned>(in + (size_t)((top - 1) & (h - 1)) * words, x, words);
    auto b = row_sum<unsigned>(in + (size_t)top * words, x, words);
#pragma unroll 4
    for (int y = top; y < top + 16; y++) {
        auto c = row_sum<unsigned>(in + (size_t)((y + 1) & (h - 1)) * words, x, words);
        out[(size_t)y * words + x] = alive<unsigned>(a, b, c);
        a = b, b = c;
    }
}
static void life_family() {
    if (!wanted("life")) return;
    const int w = SIZE(16384, 4096), h = SIZE(8192, 16);
    Random random(1);
    std::vector<Byte> cells((size_t)w * h);
    std::vector<unsigned> packed((size_t)w * h / 32);
    for (size_t i = 0; i < packed.size(); i++) {
        packed[i] = random.next() & random.next();
        for (int b = 0; b < 32; b++) cells[i * 32 + b] = (packed[i] >> b) & 1;
    }
    Device<Byte> bytes(cells);
    Device<unsigned> bits(packed);
    Output<Byte> bytes_out(cells.size());
    Output<unsigned> bits_out(packed.size());
    auto next = [&](size_t i) {
        int y = (int)(i / w), x = (int)(i % w), n = 0;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if (dx || dy) n += cells[(size_t)((y + dy) & (h - 1)) * w + ((x + dx) & (w - 1))];
        return n == 3 || (n == 2 && cells[i]);
    };
    auto check_bytes = [&] {
        auto got = bytes_out.host();
        return sampled(cells.size(), 20000, [&](size_t i) { return got[i] == next(i); });
    };
    auto check_bits = [&] {
        auto got = bits_out.host();
        return sampled(cells.size(), 20000, [&](size_t i) { return ((got[i / 32] >> (i % 32)) & 1u) == next(i); });
    };
    auto wide_in = bits.as<unsigned long long>(), wide_out = bits_out.as<unsigned long long>();
    dim3 block(128);
    bench("life", "bytes", [&] { life_bytes<<<dim3(w / 256, h), dim3(256)>>>(bytes, bytes_out, w, h); }, check_bytes);
    bench("life", "bytes_lds", [&] { life_bytes_lds<<<dim3(w / 64, h / 8), dim3(64, 8)>>>(bytes, bytes_out, w, h); },
          check_bytes);
    bench("life", "bytes_word",
          [&] {
              life_bytes_word<<<dim3(w / 4 / 256, h), dim3(256)>>>(bytes.as<unsigned>(), bytes_out.as<unsigned>(),
                                                                   w / 4, h);
          },
          check_bytes);
    bench("life", "bits", [&] { life_bits<unsigned><<<dim3(w / 32 / 128, h), block>>>(bits, bits_out, w / 32, h); },
          check_bits);
    bench("life", "bits_wide",
          [&] { life_bits<unsigned long long><<<dim3(w / 64 / 64, h), dim3(64)>>>(wide_in, wide_out, w / 64, h); },
          check_bits);
    bench("life", "bits_walk", [&] { life_bits_walk<<<dim3(w / 32 / 128, h / 16), block>>>(bits, bits_out, w / 32, h); },
          check_bits);
}

// ---------------------------------------------------------------- a step of a lattice Boltzmann flow: 2 dimensions, 9 speeds
template <class T> static __device__ __forceinline__ void collide(T (&f)[9]) {
    const T omega = T(1.2);
    T rho = ((f[0] + f[1]) + (f[2] + f[3])) + ((f[4] + f[5]) + (f[6] + f[7])) + f[8];
    T inverse = T(1) / rho;
    T ux = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) * inverse;
    T uy = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) * inverse;
    T base = T(1) - T(1.5) * (ux * ux + uy * uy);
    T c[9] = {0, ux, uy, -ux, -uy, ux + uy, uy - ux, -ux - uy, ux - uy};
#pragma unroll
    for (int q = 0; q < 9; q++) {
        T weight = q == 0 ? T(4.0 / 9) : q < 5 ? T(1.0 / 9) : T(1.0 / 36);
        T equal = weight * rho * (base + T(3) * c[q] + T(4.5) * c[q] * c[q]);
        f[q] += omega * (equal - f[q]);
    }
}
/// Where direction q of cell (x, y) comes from.
static __host__ __device__ __forceinline__ int source(int q, int x, int y, int w, int h) {
    int ex = q == 1 || q == 5 || q == 8 ? 1 : q == 3 || q == 6 || q == 7 ? -1 : 0;
    int ey = q == 2 || q == 5 || q == 6 ? 1 : q == 4 || q == 7 || q == 8 ? -1 : 0;
    return ((y - ey) & (h - 1)) * w + ((x - ex) & (w - 1));
}
template <class T>
static __device__ __forceinline__ void step_planes(const float *__restrict__ in, float *__restrict__ out, int x, int y,
                                                   int w, int h) {
    int n = w * h;
    T f[9];
#pragma unroll
    for (int q = 0; q < 9; q++) f[q] = in[q * n + source(q, x, y, w, h)];
    collide<T>(f);
#pragma unroll
    for (int q = 0; q < 9; q++) out[q * n + y * w + x] = (float)f[q];
}
template <class T> __global__ void flow_planes(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    step_planes<T>(in, out, x, y, w, h);
}
__global__ void flow_cells(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float f[9];
#pragma unroll
    for (int q = 0; q < 9; q++) f[q] = in[source(q, x, y, w, h) * 9 + q];
    collide<float>(f);
#pragma unroll
    for (int q = 0; q < 9; q++) out[(y * w + x) * 9 + q] = f[q];
}
__global__ void flow_stream(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, q = blockIdx.z;
    out[q * w * h + y * w + x] = in[q * w * h + source(q, x, y, w, h)];
}
__global__ void flow_collide(float *__restrict__ data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float f[9];
#pragma unroll
    for (int q = 0; q < 9; q++) f[q] = data[q * n + i];
    collide<float>(f);
#pragma unroll
    for (int q = 0; q < 9; q++) data[q * n + i] = f[q];
}
static void flow_family() {
    if (!wanted("lattice")) return;
    const int w = SIZE(2048, 256), h = SIZE(2048, 16), n = w * h;
    auto planes = random_floats((size_t)n * 9, 0.05f, 0.15f, 2);
    std::vector<float> cells(planes.size());
    for (int i = 0; i < n; i++)
        for (int q = 0; q < 9; q++) cells[(size_t)i * 9 + q] = planes[(size_t)q * n + i];
    Device<float> in(planes), in_cells(cells);
    Output<float> out(planes.size());
    auto right = [&](size_t i, size_t pitch_q, size_t pitch_i, const std::vector<float> &got) {
        static const int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
        double f[9], rho = 0, ux = 0, uy = 0;
        for (int q = 0; q < 9; q++) {
            f[q] = planes[(size_t)q * n + source(q, (int)i % w, (int)i / w, w, h)];
            rho += f[q], ux += f[q] * ex[q], uy += f[q] * ey[q];
        }
        ux /= rho, uy /= rho;
        for (int q = 0; q < 9; q++) {
            double c = ex[q] * ux + ey[q] * uy, weight = q == 0 ? 4.0 / 9 : q < 5 ? 1.0 / 9 : 1.0 / 36;
            double equal = weight * rho * (1 + 3 * c + 4.5 * c * c - 1.5 * (ux * ux + uy * uy));
            if (!near_to(got[q * pitch_q + i * pitch_i], f[q] + 1.2 * (equal - f[q]), 1e-5)) return false;
        }
        return true;
    };
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 5000, [&](size_t i) { return right(i, n, 1, got); });
    };
    auto check_cells = [&] {
        auto got = out.host();
        return sampled(n, 5000, [&](size_t i) { return right(i, 1, 9, got); });
    };
    dim3 grid(w / 256, h), block(256);
    bench("lattice", "planes", [&] { flow_planes<float><<<grid, block>>>(in, out, w, h); }, check);
    bench("lattice", "planes_square",
          [&] { flow_planes<float><<<dim3(w / 16, h / 16), dim3(16, 16)>>>(in, out, w, h); }, check);
    bench("lattice", "planes_double", [&] { flow_planes<double><<<grid, block>>>(in, out, w, h); }, check);
    bench("lattice", "cells", [&] { flow_cells<<<grid, block>>>(in_cells, out, w, h); }, check_cells);
    bench("lattice", "two_kernels",
          [&] {
              flow_stream<<<dim3(w / 256, h, 9), block>>>(in, out, w, h);
              flow_collide<<<dim3(n / 256), block>>>(out, n);
          },
          check);
}

// ---------------------------------------------------------------- the median of 3x3 pixels, edges repeated
static __device__ __forceinline__ int inside(int i, int n) { return min(max(i, 0), n - 1); }
static __device__ __forceinline__ void exchange(float &a, float &b) {
    float low = fminf(a, b);
    b = fmaxf(a, b);
    a = low;
}
static __device__ __forceinline__ float median3(float a, float b, float c) {
    return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));
}
static __device__ __forceinline__ float median9(float (&v)[9]) {
    exchange(v[1], v[2]), exchange(v[4], v[5]), exchange(v[7], v[8]);
    exchange(v[0], v[1]), exchange(v[3], v[4]), exchange(v[6], v[7]);
    exchange(v[1], v[2]), exchange(v[4], v[5]), exchange(v[7], v[8]);
    exchange(v[0], v[3]), exchange(v[5], v[8]), exchange(v[4], v[7]);
    exchange(v[3], v[6]), exchange(v[1], v[4]), exchange(v[2], v[5]);
    exchange(v[4], v[7]), exchange(v[4], v[2]), exchange(v[6], v[4]);
    exchange(v[4], v[2]);
    return v[4];
}
static __device__ __forceinline__ void window(const float *__restrict__ in, int x, int y, int w, int h, float (&v)[9]) {
#pragma unroll
    for (int k = 0; k < 9; k++) v[k] = in[inside(y + k / 3 - 1, h) * w + inside(x + k % 3 - 1, w)];
}
__global__ void median_network(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float v[9];
    window(in, x, y, w, h, v);
    out[y * w + x] = median9(v);
}
// Insertion into an array that is indexed at run time.
__global__ void median_insertion(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float v[9];
    int count = 0;
#pragma unroll 1
    for (int k = 0; k < 9; k++) {
        float value = in[inside(y + k / 3 - 1, h) * w + inside(x + k % 3 - 1, w)];
        int at = count++;
        for (; at > 0 && v[at - 1] > value; at--) v[at] = v[at - 1];
        v[at] = value;
    }
    out[y * w + x] = v[4];
}
// The one that at most 4 are below and more than 4 not above.
__global__ void median_rank(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float v[9], found = 0;
    window(in, x, y, w, h, v);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int below = 0, not_above = 0;
#pragma unroll
        for (int j = 0; j < 9; j++) below += v[j] < v[k], not_above += v[j] <= v[k];
        if (below <= 4 && not_above > 4) found = v[k];
    }
    out[y * w + x] = found;
}
__global__ void median_network_lds(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    __shared__ float tile[10][66];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 64, top = blockIdx.y * 8;
    for (int e = ty * 64 + tx; e < 660; e += 512)
        tile[e / 66][e % 66] = in[inside(top + e / 66 - 1, h) * w + inside(left + e % 66 - 1, w)];
    __syncthreads();
    float v[9];
#pragma unroll
    for (int k = 0; k < 9; k++) v[k] = tile[ty + k / 3][tx + k % 3];
    out[(top + ty) * w + left + tx] = median9(v);
}
/// A row's three pixels around x in order.
static __device__ __forceinline__ float3 ordered(const float *__restrict__ row, int x, int w) {
    float a = row[inside(x - 1, w)], b = row[x], c = row[inside(x + 1, w)];
    exchange(a, b), exchange(b, c), exchange(a, b);
    return make_float3(a, b, c);
}
// The median of the rows' least's greatest, middles' middle and greatest's least; ROWS rows by one work-item.
template <int ROWS> __global__ void median_rows(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, top = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS;
    float3 a = ordered(in + inside(top - 1, h) * w, x, w), b = ordered(in + top * w, x, w);
#pragma unroll
    for (int y = top; y < top + ROWS; y++) {
        float3 c = ordered(in + inside(y + 1, h) * w, x, w);
        out[y * w + x] = median3(fmaxf(fmaxf(a.x, b.x), c.x), median3(a.y, b.y, c.y), fminf(fminf(a.z, b.z), c.z));
        a = b, b = c;
    }
}
static void median_family() {
    if (!wanted("median")) return;
    const int w = SIZE(4096, 128), h = SIZE(4096, 32);
    auto values = random_floats((size_t)w * h, 0, 1, 3);
    Device<float> in(values);
    Output<float> out(values.size());
    auto check = [&] {
        auto got = out.host();
        return sampled(values.size(), 20000, [&](size_t i) {
            int x = (int)(i % w), y = (int)(i / w);
            float v[9];
            for (int k = 0; k < 9; k++) {
                int row = std::min(std::max(y + k / 3 - 1, 0), h - 1), column = std::min(std::max(x + k % 3 - 1, 0), w - 1);
                v[k] = values[(size_t)row * w + column];
            }
            std::sort(v, v + 9);
            return got[i] == v[4];
        });
    };
    dim3 grid(w / 64, h / 4), block(64, 4);
    bench("median", "insertion", [&] { median_insertion<<<grid, block>>>(in, out, w, h); }, check);
    bench("median", "rank", [&] { median_rank<<<grid, block>>>(in, out, w, h); }, check);
    bench("median", "network", [&] { median_network<<<grid, block>>>(in, out, w, h); }, check);
    bench("median", "network_lds", [&] { median_network_lds<<<dim3(w / 64, h / 8), dim3(64, 8)>>>(in, out, w, h); },
          check);
    bench("median", "rows", [&] { median_rows<1><<<grid, block>>>(in, out, w, h); }, check);
    bench("median", "rows_walk", [&] { median_rows<8><<<dim3(w / 64, h / 32), block>>>(in, out, w, h); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    life_family();
    flow_family();
    median_family();
    return failed();
}
