// A matrix by a vector, and sums along columns.
#include "bench.h"

static __device__ __forceinline__ float wave_total(float v) {
#pragma unroll
    for (int o = WARP / 2; o > 0; o >>= 1) v += __shfl_xor(v, o);
    return v;
}

// ---------------------------------------------------------------- y = A x, rows stored one after another
__global__ void gemv_thread(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int rows,
                            int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += a[(size_t)r * cols + c] * x[c];
    y[r] = sum;
}
__global__ void gemv_thread4(const float4 *__restrict__ a, const float4 *__restrict__ x, float *__restrict__ y,
                             int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int c = 0; c < cols / 4; c++) {
        float4 u = a[(size_t)r * (cols / 4) + c], v = x[c];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    y[r] = sum;
}
__global__ void gemv_wave(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int rows,
                          int cols) {
    int lane = threadIdx.x % WARP, r = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    float sum = 0;
    for (int c = lane; c < cols; c += WARP) sum += a[(size_t)r * cols + c] * x[c];
    sum = wave_total(sum);
    if (lane == 0) y[r] = sum;
}
__global__ void gemv_wave4(const float4 *__restrict__ a, const float4 *__restrict__ x, float *__restrict__ y, int rows,
                           int cols) {
    int lane = threadIdx.x % WARP, r = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    float sum = 0;
    for (int c = lane; c < cols / 4; c += WARP) {
        float4 u = a[(size_t)r * (cols / 4) + c], v = x[c];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    sum = wave_total(sum);
    if (lane == 0) y[r] = sum;
}
__global__ void gemv_block(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int rows,
                           int cols) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int c = t; c < cols; c += 256) sum += a[(size_t)blockIdx.x * cols + c] * x[c];
    s[t] = sum;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
// A block of 64 has 64 rows: it reads tiles of 64x64 together, and then each work-item a row of the tile.
__global__ void gemv_staged(const float *__restrict__ a, const float *__restrict__ x, float *__restrict__ y, int rows,
                            int cols) {
    __shared__ float s[64][65], xs[64];
    int t = threadIdx.x, base = blockIdx.x * 64;
    float sum = 0;
    for (int c0 = 0; c0 < cols; c0 += 64) {
        __syncthreads();
        xs[t] = x[c0 + t];
#pragma unroll 16
        for (int k = 0; k < 64; k++) s[k][t] = a[(size_t)(base + k) * cols + c0 + t];
        __syncthreads();
#pragma unroll 16
        for (int c = 0; c < 64; c++) sum += s[t][c] * xs[c];
    }
    y[base + t] = sum;
}
static void gemv_family() {
    if (!wanted("gemv")) return;
    const int rows = SIZE(8192, 256), cols = SIZE(4096, 512);
    auto ha = random_floats((size_t)rows * cols, -1, 1, 1), hx = random_floats(cols, -1, 1, 2);
    Device<float> a(ha), x(hx);
    Output<float> y(rows);
    auto check = [&] {
        auto got = y.host();
        return sampled(rows, 300, [&](size_t r) {
            double sum = 0;
            for (int c = 0; c < cols; c++) sum += (double)ha[r * cols + c] * hx[c];
            return near_to(got[r], sum, 2e-4);
        });
    };
    dim3 per_wave(rows / (256 / WARP)), block(256);
    auto a4 = a.as<float4>(), x4 = x.as<float4>();
    bench("gemv", "thread", [&] { gemv_thread<<<dim3(rows / 64), dim3(64)>>>(a, x, y, rows, cols); }, check);
    bench("gemv", "thread_float4", [&] { gemv_thread4<<<dim3(rows / 64), dim3(64)>>>(a4, x4, y, rows, cols); }, check);
    bench("gemv", "wave", [&] { gemv_wave<<<per_wave, block>>>(a, x, y, rows, cols); }, check);
    bench("gemv", "wave_float4", [&] { gemv_wave4<<<per_wave, block>>>(a4, x4, y, rows, cols); }, check);
    bench("gemv", "block", [&] { gemv_block<<<dim3(rows), block>>>(a, x, y, rows, cols); }, check);
    bench("gemv", "staged", [&] { gemv_staged<<<dim3(rows / 64), dim3(64)>>>(a, x, y, rows, cols); }, check);
}

// ---------------------------------------------------------------- sums of the squares along columns
__global__ void columns_thread(const float *__restrict__ a, float *__restrict__ sums, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int r = 0; r < rows; r++) {
        float v = a[(size_t)r * cols + c];
        sum += v * v;
    }
    sums[c] = sum;
}
__global__ void columns_thread_unrolled(const float *__restrict__ a, float *__restrict__ sums, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    float sum[8] = {};
    for (int r = 0; r < rows; r += 8) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float v = a[(size_t)(r + k) * cols + c];
            sum[k] += v * v;
        }
    }
    sums[c] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}
// Rows are split over gridDim.y; the parts meet by atomics.
__global__ void columns_split(const float *__restrict__ a, float *__restrict__ sums, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, each = rows / gridDim.y, begin = blockIdx.y * each;
    float sum = 0;
    for (int r = begin; r < begin + each; r++) {
        float v = a[(size_t)r * cols + c];
        sum += v * v;
    }
    atomicAdd(&sums[c], sum);
}
// 32 columns by 8 rows a block, the rows' sums meet in LDS.
__global__ void columns_lds(const float *__restrict__ a, float *__restrict__ sums, int rows, int cols) {
    __shared__ float s[8][32];
    int tx = threadIdx.x, ty = threadIdx.y, c = blockIdx.x * 32 + tx;
    float sum = 0;
    for (int r = ty; r < rows; r += 8) {
        float v = a[(size_t)r * cols + c];
        sum += v * v;
    }
    s[ty][tx] = sum;
    __syncthreads();
    if (ty) return;
    for (int k = 1; k < 8; k++) sum += s[k][tx];
    sums[c] = sum;
}
// A wave walks one column: each of its reads is in a row of its own.
__global__ void columns_wave(const float *__restrict__ a, float *__restrict__ sums, int rows, int cols) {
    int lane = threadIdx.x % WARP, c = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    float sum = 0;
    for (int r = lane; r < rows; r += WARP) {
        float v = a[(size_t)r * cols + c];
        sum += v * v;
    }
    sum = wave_total(sum);
    if (lane == 0) sums[c] = sum;
}
static void column_family() {
    if (!wanted("column_sum")) return;
    const int rows = SIZE(4096, 128), cols = SIZE(4096, 256);
    auto ha = random_floats((size_t)rows * cols, -1, 1, 3);
    Device<float> a(ha);
    Output<float> sums(cols, Before::cleared);
    auto check = [&] {
        auto got = sums.host();
        return sampled(cols, 200, [&](size_t c) {
            double sum = 0;
            for (int r = 0; r < rows; r++) sum += (double)ha[(size_t)r * cols + c] * ha[(size_t)r * cols + c];
            return near_to(got[c], sum, 1e-5);
        });
    };
    bench("column_sum", "thread", [&] { columns_thread<<<dim3(cols / 64), dim3(64)>>>(a, sums, rows, cols); }, check);
    bench(
        "column_sum", "thread_unrolled8",
        [&] { columns_thread_unrolled<<<dim3(cols / 64), dim3(64)>>>(a, sums, rows, cols); }, check);
    bench(
        "column_sum", "split32", [&] { columns_split<<<dim3(cols / 128, 32), dim3(128)>>>(a, sums, rows, cols); },
        check);
    bench("column_sum", "lds", [&] { columns_lds<<<dim3(cols / 32), dim3(32, 8)>>>(a, sums, rows, cols); }, check);
    bench(
        "column_sum", "wave", [&] { columns_wave<<<dim3(cols / (256 / WARP)), dim3(256)>>>(a, sums, rows, cols); },
        check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    gemv_family();
    column_family();
    return failed();
}
