// Many small problems: one for a work-item, for a few of them, or for a block.
#include "bench.h"

// ---------------------------------------------------------------- inverses of 4x4 matrices by cofactors
static __device__ __forceinline__ void invert(const float (&m)[16], float (&r)[16]) {
    float s0 = m[0] * m[5] - m[4] * m[1], s1 = m[0] * m[6] - m[4] * m[2], s2 = m[0] * m[7] - m[4] * m[3];
    float s3 = m[1] * m[6] - m[5] * m[2], s4 = m[1] * m[7] - m[5] * m[3], s5 = m[2] * m[7] - m[6] * m[3];
    float c5 = m[10] * m[15] - m[14] * m[11], c4 = m[9] * m[15] - m[13] * m[11], c3 = m[9] * m[14] - m[13] * m[10];
    float c2 = m[8] * m[15] - m[12] * m[11], c1 = m[8] * m[14] - m[12] * m[10], c0 = m[8] * m[13] - m[12] * m[9];
    float d = 1.0f / (s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0);
    r[0] = (m[5] * c5 - m[6] * c4 + m[7] * c3) * d;
    r[1] = (-m[1] * c5 + m[2] * c4 - m[3] * c3) * d;
    r[2] = (m[13] * s5 - m[14] * s4 + m[15] * s3) * d;
    r[3] = (-m[9] * s5 + m[10] * s4 - m[11] * s3) * d;
    r[4] = (-m[4] * c5 + m[6] * c2 - m[7] * c1) * d;
    r[5] = (m[0] * c5 - m[2] * c2 + m[3] * c1) * d;
    r[6] = (-m[12] * s5 + m[14] * s2 - m[15] * s1) * d;
    r[7] = (m[8] * s5 - m[10] * s2 + m[11] * s1) * d;
    r[8] = (m[4] * c4 - m[5] * c2 + m[7] * c0) * d;
    r[9] = (-m[0] * c4 + m[1] * c2 - m[3] * c0) * d;
    r[10] = (m[12] * s4 - m[13] * s2 + m[15] * s0) * d;
    r[11] = (-m[8] * s4 + m[9] * s2 - m[11] * s0) * d;
    r[12] = (-m[4] * c3 + m[5] * c1 - m[6] * c0) * d;
    r[13] = (m[0] * c3 - m[1] * c1 + m[2] * c0) * d;
    r[14] = (-m[12] * s3 + m[13] * s1 - m[14] * s0) * d;
    r[15] = (m[8] * s3 - m[9] * s1 + m[10] * s0) * d;
}
__global__ void invert_scalar(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[16], r[16];
#pragma unroll
    for (int k = 0; k < 16; k++) m[k] = in[i * 16 + k];
    invert(m, r);
#pragma unroll
    for (int k = 0; k < 16; k++) out[i * 16 + k] = r[k];
}
__global__ void invert_float4(const float4 *__restrict__ in, float4 *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[16], r[16];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 v = in[i * 4 + k];
        m[4 * k] = v.x, m[4 * k + 1] = v.y, m[4 * k + 2] = v.z, m[4 * k + 3] = v.w;
    }
    invert(m, r);
#pragma unroll
    for (int k = 0; k < 4; k++) out[i * 4 + k] = make_float4(r[4 * k], r[4 * k + 1], r[4 * k + 2], r[4 * k + 3]);
}
// The matrices' entries stand apart: entry k of all of them, then entry k + 1.
__global__ void invert_by_entry(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[16], r[16];
#pragma unroll
    for (int k = 0; k < 16; k++) m[k] = in[k * n + i];
    invert(m, r);
#pragma unroll
    for (int k = 0; k < 16; k++) out[k * n + i] = r[k];
}
template <int PITCH> __global__ void invert_staged(const float *__restrict__ in, float *__restrict__ out, int n) {
    __shared__ float s[128 * PITCH];
    int t = threadIdx.x, base = blockIdx.x * 128 * 16;
    float m[16], r[16];
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int e = k * 128 + t;
        s[e / 16 * PITCH + e % 16] = in[base + e];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) m[k] = s[t * PITCH + k];
    invert(m, r);
#pragma unroll
    for (int k = 0; k < 16; k++) s[t * PITCH + k] = r[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
        int e = k * 128 + t;
        out[base + e] = s[e / 16 * PITCH + e % 16];
    }
}
static void inverse_family() {
    if (!wanted("inverse4")) return;
    const int n = SIZE(1 << 20, 1 << 9);
    auto values = random_floats((size_t)n * 16, -1, 1, 1);
    std::vector<float> apart((size_t)n * 16);
    for (size_t i = 0; i < (size_t)n; i++) {
        for (int k = 0; k < 4; k++) values[i * 16 + 5 * k] += 3;
        for (int k = 0; k < 16; k++) apart[(size_t)k * n + i] = values[i * 16 + k];
    }
    Device<float> in(values), in_apart(apart);
    Output<float> out((size_t)n * 16);
    auto right = [&](const std::vector<float> &got, size_t i, size_t matrix, size_t entry) {
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++) {
                double sum = 0;
                for (int k = 0; k < 4; k++)
                    sum += (double)values[i * 16 + r * 4 + k] * got[i * matrix + (k * 4 + c) * entry];
                if (!near_to(sum, r == c, 1e-4)) return false;
            }
        return true;
    };
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 2000, [&](size_t i) { return right(got, i, 16, 1); });
    };
    auto check_apart = [&] {
        auto got = out.host();
        return sampled(n, 2000, [&](size_t i) { return right(got, i, 1, n); });
    };
    dim3 grid(n / 128), block(128);
    bench("inverse4", "scalar", [&] { invert_scalar<<<grid, block>>>(in, out, n); }, check);
    bench("inverse4", "float4", [&] { invert_float4<<<grid, block>>>(in.as<float4>(), out.as<float4>(), n); }, check);
    bench("inverse4", "by_entry", [&] { invert_by_entry<<<grid, block>>>(in_apart, out, n); }, check_apart);
    bench("inverse4", "staged", [&] { invert_staged<16><<<grid, block>>>(in, out, n); }, check);
    bench("inverse4", "staged_padded", [&] { invert_staged<17><<<grid, block>>>(in, out, n); }, check);
}

// ---------------------------------------------------------------- systems of 8 equations by Gauss, largest on the diagonal
static const int N8 = 8;
// All in registers: each loop unrolled.
__global__ void solve_registers(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ x,
                                int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[N8][N8 + 1];
#pragma unroll
    for (int r = 0; r < N8; r++) {
#pragma unroll
        for (int c = 0; c < N8; c++) m[r][c] = a[(r * N8 + c) * n + i];
        m[r][N8] = b[r * n + i];
    }
#pragma unroll
    for (int p = 0; p < N8; p++) {
        float inverse = 1.0f / m[p][p];
#pragma unroll
        for (int r = p + 1; r < N8; r++) {
            float f = m[r][p] * inverse;
#pragma unroll
            for (int c = p + 1; c <= N8; c++) m[r][c] -= f * m[p][c];
        }
    }
#pragma unroll
    for (int r = N8 - 1; r >= 0; r--) {
        float sum = m[r][N8];
#pragma unroll
        for (int c = r + 1; c < N8; c++) sum -= m[r][c] * m[c][N8];
        m[r][N8] = sum / m[r][r];
        x[r * n + i] = m[r][N8];
    }
}
// The same with loops that stay loops: the matrix is indexed at run time.
__global__ void solve_scratch(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float m[N8][N8 + 1];
#pragma unroll 1
    for (int r = 0; r < N8; r++) {
#pragma unroll 1
        for (int c = 0; c < N8; c++) m[r][c] = a[(r * N8 + c) * n + i];
        m[r][N8] = b[r * n + i];
    }
#pragma unroll 1
    for (int p = 0; p < N8; p++) {
        float inverse = 1.0f / m[p][p];
#pragma unroll 1
        for (int r = p + 1; r < N8; r++) {
            float f = m[r][p] * inverse;
#pragma unroll 1
            for (int c = p + 1; c <= N8; c++) m[r][c] -= f * m[p][c];
        }
    }
#pragma unroll 1
    for (int r = N8 - 1; r >= 0; r--) {
        float sum = m[r][N8];
#pragma unroll 1
        for (int c = r + 1; c < N8; c++) sum -= m[r][c] * m[c][N8];
        m[r][N8] = sum / m[r][r];
        x[r * n + i] = m[r][N8];
    }
}
// The matrix of each work-item in LDS, the work-items' entries side by side.
__global__ void solve_lds(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ x, int n) {
    __shared__ float m[N8][N8 + 1][64];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x;
    for (int r = 0; r < N8; r++) {
        for (int c = 0; c < N8; c++) m[r][c][t] = a[(r * N8 + c) * n + i];
        m[r][N8][t] = b[r * n + i];
    }
    for (int p = 0; p < N8; p++) {
        float inverse = 1.0f / m[p][p][t];
        for (int r = p + 1; r < N8; r++) {
            float f = m[r][p][t] * inverse;
            for (int c = p + 1; c <= N8; c++) m[r][c][t] -= f * m[p][c][t];
        }
    }
    for (int r = N8 - 1; r >= 0; r--) {
        float sum = m[r][N8][t];
        for (int c = r + 1; c < N8; c++) sum -= m[r][c][t] * m[c][N8][t];
        m[r][N8][t] = sum / m[r][r][t];
        x[r * n + i] = m[r][N8][t];
    }
}
// Eight work-items a system, each with a row in registers; Gauss and Jordan, pivots' rows by shuffles.
__global__ void solve_shuffles(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ x, int n) {
    int g = blockIdx.x * blockDim.x + threadIdx.x, i = g / N8, r = g % N8, first = (threadIdx.x % WARP) / N8 * N8;
    float m[N8 + 1];
#pragma unroll
    for (int c = 0; c < N8; c++) m[c] = a[(r * N8 + c) * n + i];
    m[N8] = b[r * n + i];
#pragma unroll
    for (int p = 0; p < N8; p++) {
        float pivot = __shfl(m[p], first + p), f = r == p ? 0.0f : m[p] / pivot;
#pragma unroll
        for (int c = p; c <= N8; c++) m[c] -= f * __shfl(m[c], first + p);
    }
    float diagonal = m[0];
#pragma unroll
    for (int c = 1; c < N8; c++) diagonal = r == c ? m[c] : diagonal;
    x[r * n + i] = m[N8] / diagonal;
}
static void solve_family() {
    if (!wanted("solve8")) return;
    const int n = SIZE(1 << 18, 1 << 9);
    auto ha = random_floats((size_t)n * 64, -1, 1, 2), hb = random_floats((size_t)n * 8, -1, 1, 3);
    for (int k = 0; k < N8; k++)
        for (int i = 0; i < n; i++) ha[(size_t)(k * N8 + k) * n + i] += 8;
    Device<float> a(ha), b(hb);
    Output<float> x((size_t)n * 8);
    auto check = [&] {
        auto got = x.host();
        return sampled(n, 2000, [&](size_t i) {
            for (int r = 0; r < N8; r++) {
                double sum = 0;
                for (int c = 0; c < N8; c++) sum += (double)ha[(size_t)(r * N8 + c) * n + i] * got[(size_t)c * n + i];
                if (!near_to(sum, hb[(size_t)r * n + i], 1e-4)) return false;
            }
            return true;
        });
    };
    bench("solve8", "registers", [&] { solve_registers<<<dim3(n / 64), dim3(64)>>>(a, b, x, n); }, check);
    bench("solve8", "scratch", [&] { solve_scratch<<<dim3(n / 64), dim3(64)>>>(a, b, x, n); }, check);
    bench("solve8", "lds", [&] { solve_lds<<<dim3(n / 64), dim3(64)>>>(a, b, x, n); }, check);
    bench("solve8", "shuffles", [&] { solve_shuffles<<<dim3(n / 32), dim3(256)>>>(a, b, x, n); }, check);
}

// ---------------------------------------------------------------- tridiagonal systems of 128 equations
static const int LENGTH = 128;
// Thomas, one system a work-item. Row k of system i stands at k * STEP + i * APART.
__global__ void thomas_global(const float *__restrict__ low, const float *__restrict__ diagonal,
                              const float *__restrict__ high, const float *__restrict__ right, float *__restrict__ x,
                              float *__restrict__ kept, int step, int apart) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * apart;
    float c = 0, d = 0;
    for (int k = 0; k < LENGTH; k++, at += step) {
        float inverse = 1.0f / (diagonal[at] - low[at] * c);
        c = high[at] * inverse;
        d = (right[at] - low[at] * d) * inverse;
        kept[at] = c;
        x[at] = d;
    }
    float last = 0;
    for (int k = LENGTH - 1; k >= 0; k--) {
        at -= step;
        last = x[at] - kept[at] * last;
        x[at] = last;
    }
}
__global__ void thomas_scratch(const float *__restrict__ low, const float *__restrict__ diagonal,
                               const float *__restrict__ high, const float *__restrict__ right, float *__restrict__ x,
                               int step, int apart) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * apart;
    float cs[LENGTH], ds[LENGTH], c = 0, d = 0;
    for (int k = 0; k < LENGTH; k++, at += step) {
        float inverse = 1.0f / (diagonal[at] - low[at] * c);
        cs[k] = c = high[at] * inverse;
        ds[k] = d = (right[at] - low[at] * d) * inverse;
    }
    float last = 0;
    for (int k = LENGTH - 1; k >= 0; k--) {
        at -= step;
        last = ds[k] - cs[k] * last;
        x[at] = last;
    }
}
// Parallel cyclic reduction: a block of 128 a system, each row in a work-item.
__global__ void cyclic_reduction(const float *__restrict__ low, const float *__restrict__ diagonal,
                                 const float *__restrict__ high, const float *__restrict__ right,
                                 float *__restrict__ x) {
    __shared__ float4 s[LENGTH];
    int t = threadIdx.x, at = blockIdx.x * LENGTH + t;
    float4 mine = make_float4(t ? low[at] : 0.0f, diagonal[at], t < LENGTH - 1 ? high[at] : 0.0f, right[at]);
    for (int o = 1; o < LENGTH; o *= 2) {
        s[t] = mine;
        __syncthreads();
        float4 none = make_float4(0, 1, 0, 0);
        float4 below = t >= o ? s[t - o] : none, above = t + o < LENGTH ? s[t + o] : none;
        float a = mine.x / below.y, c = mine.z / above.y;
        mine = make_float4(-a * below.x, mine.y - a * below.z - c * above.x, -c * above.z,
                           mine.w - a * below.w - c * above.w);
        __syncthreads();
    }
    x[at] = mine.w / mine.y;
}
static void tridiagonal_family() {
    if (!wanted("tridiagonal")) return;
    const int n = SIZE(1 << 15, 1 << 8);
    const size_t all = (size_t)n * LENGTH;
    std::vector<float> h[4] = {random_floats(all, -1, 1, 4), random_floats(all, 3, 4, 5), random_floats(all, -1, 1, 6),
                               random_floats(all, -1, 1, 7)};
    std::vector<float> turned[4];
    for (int v = 0; v < 4; v++) {
        turned[v].resize(all);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < LENGTH; k++) turned[v][(size_t)k * n + i] = h[v][(size_t)i * LENGTH + k];
    }
    Device<float> low(h[0]), diagonal(h[1]), high(h[2]), right(h[3]), kept(all);
    Device<float> tlow(turned[0]), tdiagonal(turned[1]), thigh(turned[2]), tright(turned[3]);
    Output<float> x(all);
    auto check_in = [&](size_t step, size_t apart) {
        auto got = x.host();
        return sampled(n, 300, [&](size_t i) {
            for (size_t k = 0; k < LENGTH; k++) {
                size_t at = i * LENGTH + k, to = i * apart + k * step;
                double sum = (double)h[1][at] * got[to];
                if (k > 0) sum += (double)h[0][at] * got[to - step];
                if (k < LENGTH - 1) sum += (double)h[2][at] * got[to + step];
                if (!near_to(sum, h[3][at], 1e-4)) return false;
            }
            return true;
        });
    };
    auto check = [&] { return check_in(1, LENGTH); };
    auto check_turned = [&] { return check_in(n, 1); };
    dim3 grid(n / 64), block(64);
    bench(
        "tridiagonal", "thomas_by_system",
        [&] { thomas_global<<<grid, block>>>(low, diagonal, high, right, x, kept, 1, LENGTH); }, check);
    bench(
        "tridiagonal", "thomas_by_row",
        [&] { thomas_global<<<grid, block>>>(tlow, tdiagonal, thigh, tright, x, kept, n, 1); }, check_turned);
    bench(
        "tridiagonal", "thomas_by_row_scratch",
        [&] { thomas_scratch<<<grid, block>>>(tlow, tdiagonal, thigh, tright, x, n, 1); }, check_turned);
    bench(
        "tridiagonal", "cyclic_reduction",
        [&] { cyclic_reduction<<<dim3(n), dim3(LENGTH)>>>(low, diagonal, high, right, x); }, check);
}

// ---------------------------------------------------------------- products of 16x16 matrices
static const int M = 16;
__global__ void small_item_global(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
    int base = blockIdx.x * M * M, col = threadIdx.x, r = threadIdx.y;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < M; k++) sum += a[base + r * M + k] * b[base + k * M + col];
    c[base + r * M + col] = sum;
}
__global__ void small_item_lds(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
    __shared__ float as[M][M], bs[M][M];
    int base = blockIdx.x * M * M, col = threadIdx.x, r = threadIdx.y;
    as[r][col] = a[base + r * M + col];
    bs[r][col] = b[base + r * M + col];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < M; k++) sum += as[r][k] * bs[k][col];
    c[base + r * M + col] = sum;
}
// A work-item has a row of the result: 16 work-items a matrix, 8 matrices a block.
__global__ void small_row_global(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
    int base = (blockIdx.x * 8 + threadIdx.y) * M * M, r = threadIdx.x;
    float sums[M];
#pragma unroll
    for (int col = 0; col < M; col++) sums[col] = 0;
#pragma unroll
    for (int k = 0; k < M; k++) {
        float v = a[base + r * M + k];
#pragma unroll
        for (int col = 0; col < M; col++) sums[col] += v * b[base + k * M + col];
    }
#pragma unroll
    for (int col = 0; col < M; col++) c[base + r * M + col] = sums[col];
}
// A work-item has a 2x2 tile: 64 work-items a matrix, 4 matrices a block, LDS.
__global__ void small_tile_lds(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
    __shared__ float as[4][M][M + 1], bs[4][M][M];
    int which = threadIdx.y, t = threadIdx.x, base = (blockIdx.x * 4 + which) * M * M, r = t / 8 * 2, col = t % 8 * 2;
#pragma unroll
    for (int q = 0; q < 4; q++) {
        int e = q * 64 + t;
        as[which][e / M][e % M] = a[base + e];
        bs[which][e / M][e % M] = b[base + e];
    }
    __syncthreads();
    float s00 = 0, s01 = 0, s10 = 0, s11 = 0;
#pragma unroll
    for (int k = 0; k < M; k++) {
        float a0 = as[which][r][k], a1 = as[which][r + 1][k], b0 = bs[which][k][col], b1 = bs[which][k][col + 1];
        s00 += a0 * b0, s01 += a0 * b1, s10 += a1 * b0, s11 += a1 * b1;
    }
    c[base + r * M + col] = s00;
    c[base + r * M + col + 1] = s01;
    c[base + (r + 1) * M + col] = s10;
    c[base + (r + 1) * M + col + 1] = s11;
}
// One matrix a work-item, with its accumulators in scratch or wherever the compiler finds room.
__global__ void small_thread(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c) {
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * M * M;
    for (int r = 0; r < M; r++) {
        float row[M];
#pragma unroll
        for (int k = 0; k < M; k++) row[k] = a[base + r * M + k];
        for (int col = 0; col < M; col++) {
            float sum = 0;
#pragma unroll
            for (int k = 0; k < M; k++) sum += row[k] * b[base + k * M + col];
            c[base + r * M + col] = sum;
        }
    }
}
static void small_product_family() {
    if (!wanted("small_product")) return;
    const int n = SIZE(1 << 15, 1 << 8);
    const size_t all = (size_t)n * M * M;
    auto ha = random_floats(all, -1, 1, 8), hb = random_floats(all, -1, 1, 9);
    Device<float> a(ha), b(hb);
    Output<float> c(all);
    auto check = [&] {
        auto got = c.host();
        return sampled(all, 5000, [&](size_t i) {
            size_t base = i / (M * M) * (M * M), r = i % (M * M) / M, col = i % M;
            double sum = 0;
            for (int k = 0; k < M; k++) sum += (double)ha[base + r * M + k] * hb[base + k * M + col];
            return near_to(got[i], sum, 1e-5);
        });
    };
    bench("small_product", "item_global", [&] { small_item_global<<<dim3(n), dim3(M, M)>>>(a, b, c); }, check);
    bench("small_product", "item_lds", [&] { small_item_lds<<<dim3(n), dim3(M, M)>>>(a, b, c); }, check);
    bench("small_product", "row_global", [&] { small_row_global<<<dim3(n / 8), dim3(M, 8)>>>(a, b, c); }, check);
    bench("small_product", "tile2_lds", [&] { small_tile_lds<<<dim3(n / 4), dim3(64, 4)>>>(a, b, c); }, check);
    bench("small_product", "thread", [&] { small_thread<<<dim3(n / 64), dim3(64)>>>(a, b, c); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    inverse_family();
    solve_family();
    tridiagonal_family();
    small_product_family();
    return failed();
}
