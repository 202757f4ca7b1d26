// Stencils in three dimensions. The volume has a margin of RADIUS on each side, which stays.
#include "bench.h"

template <int RADIUS> static __device__ __host__ constexpr float weight(int k) {
    return k == 0 ? 0.4f : (RADIUS == 1 ? 0.1f : k == 1 ? 0.05f : k == 2 ? 0.025f : k == 3 ? 0.0175f : 0.0075f);
}
struct Volume {
    int n, pitch, plane;
};
// One result a work-item.
template <int RADIUS, int BX, int BY, int BZ>
__global__ void stencil_points(const float *__restrict__ in, float *__restrict__ out, Volume v) {
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, z = blockIdx.z * BZ + threadIdx.z;
    int i = (z + RADIUS) * v.plane + (y + RADIUS) * v.pitch + x + RADIUS;
    float sum = weight<RADIUS>(0) * in[i];
#pragma unroll
    for (int k = 1; k <= RADIUS; k++)
        sum += weight<RADIUS>(k) * (in[i - k] + in[i + k] + in[i - k * v.pitch] + in[i + k * v.pitch] +
                                    in[i - k * v.plane] + in[i + k * v.plane]);
    out[i] = sum;
}
// A work-item walks DEPTH planes and keeps its column in registers.
template <int RADIUS, int DEPTH>
__global__ void stencil_march(const float *__restrict__ in, float *__restrict__ out, Volume v) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int i = (blockIdx.z * DEPTH + RADIUS) * v.plane + (y + RADIUS) * v.pitch + x + RADIUS;
    float column[2 * RADIUS + 1];
#pragma unroll
    for (int k = 0; k < 2 * RADIUS; k++) column[k] = in[i + (k - RADIUS) * v.plane];
    for (int z = 0; z < DEPTH; z++, i += v.plane) {
        column[2 * RADIUS] = in[i + RADIUS * v.plane];
        float sum = weight<RADIUS>(0) * column[RADIUS];
#pragma unroll
        for (int k = 1; k <= RADIUS; k++)
            sum += weight<RADIUS>(k) * (in[i - k] + in[i + k] + in[i - k * v.pitch] + in[i + k * v.pitch] +
                                        column[RADIUS - k] + column[RADIUS + k]);
        out[i] = sum;
#pragma unroll
        for (int k = 0; k < 2 * RADIUS; k++) column[k] = column[k + 1];
    }
}
// The same walk, with the present plane in LDS.
template <int RADIUS, int BX, int BY, int DEPTH>
__global__ void stencil_march_lds(const float *__restrict__ in, float *__restrict__ out, Volume v) {
    __shared__ float s[BY + 2 * RADIUS][BX + 2 * RADIUS];
    int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * BX, y0 = blockIdx.y * BY;
    int i = (blockIdx.z * DEPTH + RADIUS) * v.plane + (y0 + ty + RADIUS) * v.pitch + x0 + tx + RADIUS;
    float column[2 * RADIUS + 1];
#pragma unroll
    for (int k = 0; k < 2 * RADIUS; k++) column[k] = in[i + (k - RADIUS) * v.plane];
    for (int z = 0; z < DEPTH; z++, i += v.plane) {
        column[2 * RADIUS] = in[i + RADIUS * v.plane];
        __syncthreads();
        s[ty + RADIUS][tx + RADIUS] = column[RADIUS];
        if (tx < RADIUS) s[ty + RADIUS][tx] = in[i - RADIUS], s[ty + RADIUS][tx + BX + RADIUS] = in[i + BX];
        if (ty < RADIUS)
            s[ty][tx + RADIUS] = in[i - RADIUS * v.pitch], s[ty + BY + RADIUS][tx + RADIUS] = in[i + BY * v.pitch];
        __syncthreads();
        float sum = weight<RADIUS>(0) * column[RADIUS];
#pragma unroll
        for (int k = 1; k <= RADIUS; k++)
            sum += weight<RADIUS>(k) * (s[ty + RADIUS][tx + RADIUS - k] + s[ty + RADIUS][tx + RADIUS + k] +
                                        s[ty + RADIUS - k][tx + RADIUS] + s[ty + RADIUS + k][tx + RADIUS] +
                                        column[RADIUS - k] + column[RADIUS + k]);
        out[i] = sum;
#pragma unroll
        for (int k = 0; k < 2 * RADIUS; k++) column[k] = column[k + 1];
    }
}
// A block's whole neighbourhood in LDS.
template <int RADIUS, int BX, int BY, int BZ>
__global__ void stencil_lds(const float *__restrict__ in, float *__restrict__ out, Volume v) {
    __shared__ float s[BZ + 2 * RADIUS][BY + 2 * RADIUS][BX + 2 * RADIUS];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int corner = blockIdx.z * BZ * v.plane + blockIdx.y * BY * v.pitch + blockIdx.x * BX;
    for (int z = tz; z < BZ + 2 * RADIUS; z += BZ)
        for (int y = ty; y < BY + 2 * RADIUS; y += BY)
            for (int x = tx; x < BX + 2 * RADIUS; x += BX) s[z][y][x] = in[corner + z * v.plane + y * v.pitch + x];
    __syncthreads();
    int x = tx + RADIUS, y = ty + RADIUS, z = tz + RADIUS;
    float sum = weight<RADIUS>(0) * s[z][y][x];
#pragma unroll
    for (int k = 1; k <= RADIUS; k++)
        sum += weight<RADIUS>(k) *
               (s[z][y][x - k] + s[z][y][x + k] + s[z][y - k][x] + s[z][y + k][x] + s[z - k][y][x] + s[z + k][y][x]);
    out[corner + z * v.plane + y * v.pitch + x] = sum;
}

template <int RADIUS, class F> static void with_volume(int n, F run) {
    const int side = n + 2 * RADIUS;
    const Volume v{n, side, side * side};
    auto values = random_floats((size_t)side * side * side, -1, 1, RADIUS);
    Device<float> in(values);
    Output<float> out(values.size());
    auto check = [&] {
        auto got = out.host();
        return sampled((size_t)n * n * n, 20000, [&](size_t p) {
            size_t i = (p / n / n + RADIUS) * v.plane + (p / n % n + RADIUS) * v.pitch + p % n + RADIUS;
            double sum = weight<RADIUS>(0) * values[i];
            for (int k = 1; k <= RADIUS; k++)
                sum += weight<RADIUS>(k) * ((double)values[i - k] + values[i + k] + values[i - (size_t)k * v.pitch] +
                                            values[i + (size_t)k * v.pitch] + values[i - (size_t)k * v.plane] +
                                            values[i + (size_t)k * v.plane]);
            return near_to(got[i], sum, 1e-5);
        });
    };
    run(in, out, v, check);
}
static void seven_points_family() {
    if (!wanted("stencil_7_points")) return;
    const int n = SIZE(384, 32);
    with_volume<1>(n, [&](Device<float> &in, Output<float> &out, Volume v, auto check) {
        bench(
            "stencil_7_points", "block32x8x1",
            [&] { stencil_points<1, 32, 8, 1><<<dim3(n / 32, n / 8, n), dim3(32, 8)>>>(in, out, v); }, check);
        bench(
            "stencil_7_points", "block8x8x4",
            [&] { stencil_points<1, 8, 8, 4><<<dim3(n / 8, n / 8, n / 4), dim3(8, 8, 4)>>>(in, out, v); }, check);
        bench(
            "stencil_7_points", "block2x4x32",
            [&] { stencil_points<1, 2, 4, 32><<<dim3(n / 2, n / 4, n / 32), dim3(2, 4, 32)>>>(in, out, v); }, check);
        bench(
            "stencil_7_points", "lds32x4x4",
            [&] { stencil_lds<1, 32, 4, 4><<<dim3(n / 32, n / 4, n / 4), dim3(32, 4, 4)>>>(in, out, v); }, check);
        bench(
            "stencil_7_points", "march16",
            [&] { stencil_march<1, 16><<<dim3(n / 32, n / 8, n / 16), dim3(32, 8)>>>(in, out, v); }, check);
        bench(
            "stencil_7_points", "march16_lds",
            [&] { stencil_march_lds<1, 32, 8, 16><<<dim3(n / 32, n / 8, n / 16), dim3(32, 8)>>>(in, out, v); }, check);
    });
}
static void twenty_five_points_family() {
    if (!wanted("stencil_25_points")) return;
    const int n = SIZE(256, 32);
    with_volume<4>(n, [&](Device<float> &in, Output<float> &out, Volume v, auto check) {
        bench(
            "stencil_25_points", "block32x8x1",
            [&] { stencil_points<4, 32, 8, 1><<<dim3(n / 32, n / 8, n), dim3(32, 8)>>>(in, out, v); }, check);
        bench(
            "stencil_25_points", "block8x8x4",
            [&] { stencil_points<4, 8, 8, 4><<<dim3(n / 8, n / 8, n / 4), dim3(8, 8, 4)>>>(in, out, v); }, check);
        bench(
            "stencil_25_points", "march32",
            [&] { stencil_march<4, SIZE(32, 16)><<<dim3(n / 32, n / 8, n / SIZE(32, 16)), dim3(32, 8)>>>(in, out, v); },
            check);
        bench(
            "stencil_25_points", "march32_lds",
            [&] {
                stencil_march_lds<4, 32, 8, SIZE(32, 16)>
                    <<<dim3(n / 32, n / 8, n / SIZE(32, 16)), dim3(32, 8)>>>(in, out, v);
            },
            check);
        bench(
            "stencil_25_points", "march32_lds32x16",
            [&] {
                stencil_march_lds<4, 32, 16, SIZE(32, 16)>
                    <<<dim3(n / 32, n / 16, n / SIZE(32, 16)), dim3(32, 16)>>>(in, out, v);
            },
            check);
        bench(
            "stencil_25_points", "lds16x8x8",
            [&] { stencil_lds<4, 16, 8, 8><<<dim3(n / 16, n / 8, n / 8), dim3(16, 8, 8)>>>(in, out, v); }, check);
    });
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    seven_points_family();
    twenty_five_points_family();
    return failed();
}
