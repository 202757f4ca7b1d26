// Filters, pooling and resizing.
#include "bench.h"

// ---------------------------------------------------------------- a filter of 33 taps along a long array
static const int TAPS = 33;
__constant__ float constant_taps[TAPS];
__global__ void taps_global(const float *__restrict__ in, const float *__restrict__ taps, float *__restrict__ out,
                            int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < TAPS; k++) sum += taps[k] * in[i + k];
    out[i] = sum;
}
__global__ void taps_constant(const float *__restrict__ in, const float *__restrict__, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++) sum += constant_taps[k] * in[i + k];
    out[i] = sum;
}
__global__ void taps_lds(const float *__restrict__ in, const float *__restrict__, float *__restrict__ out, int n) {
    __shared__ float s[256 + TAPS - 1];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i];
    if (t < TAPS - 1) s[256 + t] = in[i + 256];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < TAPS; k++) sum += constant_taps[k] * s[t + k];
    out[i] = sum;
}
// Each work-item has EACH neighbouring results and keeps the numbers that they share in registers.
template <int EACH>
__global__ void taps_registers(const float *__restrict__ in, const float *__restrict__, float *__restrict__ out,
                               int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    float window[EACH + TAPS - 1];
#pragma unroll
    for (int k = 0; k < EACH + TAPS - 1; k++) window[k] = in[i + k];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < TAPS; k++) sum += constant_taps[k] * window[e + k];
        out[i + e] = sum;
    }
}
// The same four results, read through LDS: a block of 256 has 1024.
__global__ void taps_lds_registers(const float *__restrict__ in, const float *__restrict__, float *__restrict__ out,
                                   int n) {
    __shared__ float s[1024 + TAPS - 1];
    int t = threadIdx.x, base = blockIdx.x * 1024;
    for (int k = t; k < 1024 + TAPS - 1; k += 256) s[k] = in[base + k];
    __syncthreads();
    float sums[4] = {};
#pragma unroll
    for (int k = 0; k < TAPS; k++) {
        float c = constant_taps[k];
#pragma unroll
        for (int e = 0; e < 4; e++) sums[e] += c * s[t + 256 * e + k];
    }
#pragma unroll
    for (int e = 0; e < 4; e++) out[base + t + 256 * e] = sums[e];
}
static void taps_family() {
    if (!wanted("filter_1d")) return;
    const int n = SIZE(1 << 24, 1 << 13);
    auto values = random_floats(n + TAPS, -1, 1, 1), taps = random_floats(TAPS, -1, 1, 2);
    CK(hipMemcpyToSymbol(HIP_SYMBOL(constant_taps), taps.data(), sizeof(float) * TAPS));
    Device<float> in(values), weights(taps);
    Output<float> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 5000, [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < TAPS; k++) sum += (double)taps[k] * values[i + k];
            return near_to(got[i], sum, 1e-5);
        });
    };
    dim3 block(256);
    bench("filter_1d", "global_taps", [&] { taps_global<<<dim3(n / 256), block>>>(in, weights, out, n); }, check);
    bench("filter_1d", "constant_taps", [&] { taps_constant<<<dim3(n / 256), block>>>(in, weights, out, n); }, check);
    bench("filter_1d", "lds", [&] { taps_lds<<<dim3(n / 256), block>>>(in, weights, out, n); }, check);
    bench("filter_1d", "registers4", [&] { taps_registers<4><<<dim3(n / 1024), block>>>(in, weights, out, n); }, check);
    bench("filter_1d", "registers8", [&] { taps_registers<8><<<dim3(n / 2048), block>>>(in, weights, out, n); }, check);
    bench(
        "filter_1d", "lds_registers4", [&] { taps_lds_registers<<<dim3(n / 1024), block>>>(in, weights, out, n); },
        check);
}

// ---------------------------------------------------------------- a filter of 7x7 over an image with a margin
static const int K = 7;
__constant__ float constant_mask[K * K];
// The image is PITCH = n + 6 wide and as high, the result n x n.
__global__ void mask_global(const float *__restrict__ in, const float *__restrict__ mask, float *__restrict__ out,
                            int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, pitch = n + K - 1;
    float sum = 0;
    for (int r = 0; r < K; r++)
        for (int c = 0; c < K; c++) sum += mask[r * K + c] * in[(y + r) * pitch + x + c];
    out[y * n + x] = sum;
}
__global__ void mask_constant(const float *__restrict__ in, const float *__restrict__, float *__restrict__ out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, pitch = n + K - 1;
    float sum = 0;
#pragma unroll
    for (int r = 0; r < K; r++)
#pragma unroll
        for (int c = 0; c < K; c++) sum += constant_mask[r * K + c] * in[(y + r) * pitch + x + c];
    out[y * n + x] = sum;
}
template <int BX, int BY>
__global__ void mask_lds(const float *__restrict__ in, const float *__restrict__, float *__restrict__ out, int n) {
    __shared__ float s[BY + K - 1][BX + K - 1];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * BX, y0 = blockIdx.y * BY, pitch = n + K - 1;
    for (int r = ty; r < BY + K - 1; r += BY)
        for (int c = tx; c < BX + K - 1; c += BX) s[r][c] = in[(y0 + r) * pitch + x0 + c];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int r = 0; r < K; r++)
#pragma unroll
        for (int c = 0; c < K; c++) sum += constant_mask[r * K + c] * s[ty + r][tx + c];
    out[(y0 + ty) * n + x0 + tx] = sum;
}
// Each work-item has EACH results below each other.
template <int EACH>
__global__ void mask_column(const float *__restrict__ in, const float *__restrict__, float *__restrict__ out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y0 = (blockIdx.y * 8 + threadIdx.y) * EACH, pitch = n + K - 1;
    float sums[EACH] = {};
#pragma unroll
    for (int r = 0; r < EACH + K - 1; r++) {
        float row[K];
#pragma unroll
        for (int c = 0; c < K; c++) row[c] = in[(y0 + r) * pitch + x + c];
#pragma unroll
        for (int e = 0; e < EACH; e++)
            if (r - e >= 0 && r - e < K) {
#pragma unroll
                for (int c = 0; c < K; c++) sums[e] += constant_mask[(r - e) * K + c] * row[c];
            }
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) out[(y0 + e) * n + x] = sums[e];
}
__global__ void mask_lds_column(const float *__restrict__ in, const float *__restrict__, float *__restrict__ out,
                                int n) {
    __shared__ float s[32 + K - 1][32 + K - 1];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, pitch = n + K - 1;
    for (int r = ty; r < 32 + K - 1; r += 8)
        for (int c = tx; c < 32 + K - 1; c += 32) s[r][c] = in[(y0 + r) * pitch + x0 + c];
    __syncthreads();
    float sums[4] = {};
#pragma unroll
    for (int r = 0; r < 4 + K - 1; r++) {
        float row[K];
#pragma unroll
        for (int c = 0; c < K; c++) row[c] = s[ty * 4 + r][tx + c];
#pragma unroll
        for (int e = 0; e < 4; e++)
            if (r - e >= 0 && r - e < K) {
#pragma unroll
                for (int c = 0; c < K; c++) sums[e] += constant_mask[(r - e) * K + c] * row[c];
            }
    }
#pragma unroll
    for (int e = 0; e < 4; e++) out[(y0 + ty * 4 + e) * n + x0 + tx] = sums[e];
}
static void mask_family() {
    if (!wanted("filter_2d")) return;
    const int n = SIZE(4096, 128), pitch = n + K - 1;
    auto values = random_floats((size_t)pitch * pitch, -1, 1, 3), mask = random_floats(K * K, -1, 1, 4);
    CK(hipMemcpyToSymbol(HIP_SYMBOL(constant_mask), mask.data(), sizeof(float) * K * K));
    Device<float> in(values), weights(mask);
    Output<float> out((size_t)n * n);
    auto check = [&] {
        auto got = out.host();
        return sampled((size_t)n * n, 5000, [&](size_t i) {
            size_t y = i / n, x = i % n;
            double sum = 0;
            for (int r = 0; r < K; r++)
                for (int c = 0; c < K; c++) sum += (double)mask[r * K + c] * values[(y + r) * pitch + x + c];
            return near_to(got[i], sum, 1e-5);
        });
    };
    dim3 grid(n / 32, n / 8), block(32, 8);
    bench("filter_2d", "global_mask", [&] { mask_global<<<grid, block>>>(in, weights, out, n); }, check);
    bench("filter_2d", "constant_mask", [&] { mask_constant<<<grid, block>>>(in, weights, out, n); }, check);
    bench("filter_2d", "lds32x8", [&] { mask_lds<32, 8><<<grid, block>>>(in, weights, out, n); }, check);
    bench(
        "filter_2d", "lds16x16", [&] { mask_lds<16, 16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(in, weights, out, n); },
        check);
    bench("filter_2d", "column4", [&] { mask_column<4><<<dim3(n / 32, n / 32), block>>>(in, weights, out, n); }, check);
    bench(
        "filter_2d", "lds_column4", [&] { mask_lds_column<<<dim3(n / 32, n / 32), block>>>(in, weights, out, n); },
        check);
}

// ---------------------------------------------------------------- the largest of 3x3, each second one, 64 channels
static const int CHANNELS = 64;
// Channels one after another, an image each.
__global__ void pool_planes(const float *__restrict__ in, float *__restrict__ out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, plane = blockIdx.z, pitch = 2 * n + 1;
    const float *p = in + (size_t)plane * pitch * pitch + (2 * y) * pitch + 2 * x;
    float best = -1e30f;
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int c = 0; c < 3; c++) best = fmaxf(best, p[r * pitch + c]);
    out[((size_t)plane * n + y) * n + x] = best;
}
__global__ void pool_planes_flat(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % n, y = i / n % n, plane = i / (n * n), pitch = 2 * n + 1;
    const float *p = in + (size_t)plane * pitch * pitch + (2 * y) * pitch + 2 * x;
    float best = -1e30f;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) best = fmaxf(best, p[r * pitch + c]);
    out[i] = best;
}
__global__ void pool_planes_lds(const float *__restrict__ in, float *__restrict__ out, int n) {
    __shared__ float s[17][65];
    int tx = threadIdx.x, ty = threadIdx.y, plane = blockIdx.z, pitch = 2 * n + 1;
    const float *p = in + (size_t)plane * pitch * pitch + (blockIdx.y * 16) * pitch + blockIdx.x * 64;
    for (int r = ty; r < 17; r += 8)
        for (int c = tx; c < 65; c += 32) s[r][c] = p[r * pitch + c];
    __syncthreads();
    float best = -1e30f;
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int c = 0; c < 3; c++) best = fmaxf(best, s[2 * ty + r][2 * tx + c]);
    out[((size_t)plane * n + blockIdx.y * 8 + ty) * n + blockIdx.x * 32 + tx] = best;
}
// A pixel's channels side by side.
__global__ void pool_pixels(const float *__restrict__ in, float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, channel = i % CHANNELS, x = i / CHANNELS % n, y = i / CHANNELS / n;
    const float *p = in + ((size_t)(2 * y) * (2 * n + 1) + 2 * x) * CHANNELS + channel;
    float best = -1e30f;
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int c = 0; c < 3; c++) best = fmaxf(best, p[(r * (2 * n + 1) + c) * CHANNELS]);
    out[i] = best;
}
static void pool_family() {
    if (!wanted("pooling")) return;
    const int n = SIZE(256, 32), pitch = 2 * n + 1;
    const size_t pixels = (size_t)pitch * pitch;
    auto planes = random_floats(pixels * CHANNELS, -1, 1, 5);
    std::vector<float> side_by_side(planes.size());
    for (int c = 0; c < CHANNELS; c++)
        for (size_t p = 0; p < pixels; p++) side_by_side[p * CHANNELS + c] = planes[c * pixels + p];
    Device<float> in(planes), in_pixels(side_by_side);
    Output<float> out((size_t)n * n * CHANNELS);
    auto largest = [&](size_t c, size_t y, size_t x) {
        float best = -1e30f;
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) best = std::max(best, planes[c * pixels + (2 * y + r) * pitch + 2 * x + k]);
        return best;
    };
    const size_t size = (size_t)n * n;
    auto check = [&] {
        auto got = out.host();
        return sampled(size * CHANNELS, 5000, [&](size_t i) { return got[i] == largest(i / size, i / n % n, i % n); });
    };
    auto check_pixels = [&] {
        auto got = out.host();
        return sampled(size * CHANNELS, 5000,
                       [&](size_t i) { return got[i] == largest(i % CHANNELS, i / CHANNELS / n, i / CHANNELS % n); });
    };
    int all = (int)(size * CHANNELS);
    dim3 grid(n / 32, n / 8, CHANNELS), block(32, 8);
    bench("pooling", "planes", [&] { pool_planes<<<grid, block>>>(in, out, n); }, check);
    bench("pooling", "planes_flat", [&] { pool_planes_flat<<<dim3(all / 256), dim3(256)>>>(in, out, n); }, check);
    bench("pooling", "planes_lds", [&] { pool_planes_lds<<<grid, block>>>(in, out, n); }, check);
    bench("pooling", "pixels", [&] { pool_pixels<<<dim3(all / 256), dim3(256)>>>(in_pixels, out, n); }, check_pixels);
}

// ---------------------------------------------------------------- an image enlarged by 2.5, bilinear
static __device__ __forceinline__ float blend(const float *in, int from, float fx, float fy) {
    int x = (int)fx, y = (int)fy;
    float u = fx - (float)x, v = fy - (float)y;
    const float *p = in + y * from + x;
    float top = p[0] + u * (p[1] - p[0]), bottom = p[from] + u * (p[from + 1] - p[from]);
    return top + v * (bottom - top);
}
__global__ void resize(const float *__restrict__ in, float *__restrict__ out, int from, int to, float step) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * to + x] = blend(in, from, (float)x * step, (float)y * step);
}
__global__ void resize_flat_division(const float *__restrict__ in, float *__restrict__ out, int from, int to,
                                     float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % to, y = i / to;
    out[i] = blend(in, from, (float)x / (1.0f / step), (float)y / (1.0f / step));
}
__global__ void resize_four(const float *__restrict__ in, float4 *__restrict__ out, int from, int to, float step) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float fy = (float)y * step, fx = (float)(4 * x) * step;
    out[y * (to / 4) + x] =
        make_float4(blend(in, from, fx, fy), blend(in, from, (float)(4 * x + 1) * step, fy),
                    blend(in, from, (float)(4 * x + 2) * step, fy), blend(in, from, (float)(4 * x + 3) * step, fy));
}
__global__ void resize_columns(const float *__restrict__ in, float *__restrict__ out, int from, int to, float step) {
    int x = blockIdx.x * 8 + threadIdx.y, y = blockIdx.y * 32 + threadIdx.x;
    out[y * to + x] = blend(in, from, (float)x * step, (float)y * step);
}
static void resize_family() {
    if (!wanted("resize")) return;
    const int to = SIZE(4096, 128), from = to * 2 / 5 + 2;
    const float step = 0.4f;
    auto values = random_floats((size_t)from * from, 0, 1, 6);
    Device<float> in(values);
    Output<float> out((size_t)to * to);
    auto check = [&] {
        auto got = out.host();
        return sampled((size_t)to * to, 5000, [&](size_t i) {
            double fx = (double)(i % to) * step, fy = (double)(i / to) * step;
            size_t x = (size_t)fx, y = (size_t)fy;
            const float *p = &values[y * from + x];
            double u = fx - x, v = fy - y;
            double wanted = (1 - v) * ((1 - u) * p[0] + u * p[1]) + v * ((1 - u) * p[from] + u * p[from + 1]);
            return near_to(got[i], wanted, 1e-3);
        });
    };
    bench(
        "resize", "block32x8", [&] { resize<<<dim3(to / 32, to / 8), dim3(32, 8)>>>(in, out, from, to, step); }, check);
    bench(
        "resize", "flat_division",
        [&] { resize_flat_division<<<dim3(to * to / 256), dim3(256)>>>(in, out, from, to, step); }, check);
    bench(
        "resize", "four",
        [&] { resize_four<<<dim3(to / 128, to / 8), dim3(32, 8)>>>(in, out.as<float4>(), from, to, step); }, check);
    bench(
        "resize", "columns", [&] { resize_columns<<<dim3(to / 8, to / 32), dim3(32, 8)>>>(in, out, from, to, step); },
        check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    taps_family();
    mask_family();
    pool_family();
    resize_family();
    return failed();
}
