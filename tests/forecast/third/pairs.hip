// All with all: bodies, and paths.
#include "bench.h"

// ---------------------------------------------------------------- n bodies
static const float SOFTENING = 0.01f;
template <bool FAST> static __device__ __forceinline__ void attract(float3 &a, float4 me, float4 other) {
    float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
    float d2 = dx * dx + dy * dy + dz * dz + SOFTENING;
    float inverse = FAST ? rsqrtf(d2) : 1.0f / sqrtf(d2);
    float force = other.w * inverse * inverse * inverse;
    a.x += dx * force;
    a.y += dy * force;
    a.z += dz * force;
}
template <bool FAST> __global__ void bodies_global(const float4 *__restrict__ body, float4 *__restrict__ pull, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float3 a = make_float3(0, 0, 0);
    for (int j = 0; j < n; j++) attract<FAST>(a, me, body[j]);
    pull[i] = make_float4(a.x, a.y, a.z, 0);
}
template <int BLOCK, int EACH, int UNROLL>
__global__ void bodies_tiled(const float4 *__restrict__ body, float4 *__restrict__ pull, int n) {
    __shared__ float4 s[BLOCK];
    int t = threadIdx.x, base = blockIdx.x * BLOCK * EACH + t;
    float4 me[EACH];
    float3 a[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) me[e] = body[base + e * BLOCK], a[e] = make_float3(0, 0, 0);
    for (int tile = 0; tile < n; tile += BLOCK) {
        s[t] = body[tile + t];
        __syncthreads();
#pragma unroll UNROLL
        for (int j = 0; j < BLOCK; j++) {
            float4 other = s[j];
#pragma unroll
            for (int e = 0; e < EACH; e++) attract<true>(a[e], me[e], other);
        }
        __syncthreads();
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) pull[base + e * BLOCK] = make_float4(a[e].x, a[e].y, a[e].z, 0);
}
// A wave hands its bodies round by shuffles.
__global__ void bodies_shuffled(const float4 *__restrict__ body, float4 *__restrict__ pull, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % WARP;
    float4 me = body[i];
    float3 a = make_float3(0, 0, 0);
    for (int tile = 0; tile < n; tile += WARP) {
        float4 mine = body[tile + lane];
#pragma unroll 8
        for (int j = 0; j < WARP; j++)
            attract<true>(a, me,
                          make_float4(__shfl(mine.x, j), __shfl(mine.y, j), __shfl(mine.z, j), __shfl(mine.w, j)));
    }
    pull[i] = make_float4(a.x, a.y, a.z, 0);
}
static void bodies_family() {
    if (!wanted("bodies")) return;
    const int n = SIZE(1 << 15, 1 << 10);
    auto values = random_floats(n * 4, 0.1f, 1, 1);
    Device<float> body(values);
    Output<float> pull(n * 4);
    auto check = [&] {
        auto got = pull.host();
        return sampled(n, 20, [&](size_t i) {
            double a[3] = {};
            for (int j = 0; j < n; j++) {
                double d[3], d2 = SOFTENING;
                for (int c = 0; c < 3; c++) d[c] = (double)values[j * 4 + c] - values[i * 4 + c], d2 += d[c] * d[c];
                for (int c = 0; c < 3; c++) a[c] += d[c] * values[j * 4 + 3] / (d2 * std::sqrt(d2));
            }
            double size = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            for (int c = 0; c < 3; c++)
                if (!(std::fabs(got[i * 4 + c] - a[c]) <= 2e-3 * (1 + size))) return false;
            return true;
        });
    };
    auto in = body.as<float4>();
    auto out = pull.as<float4>();
    bench("bodies", "global", [&] { bodies_global<true><<<dim3(n / 256), dim3(256)>>>(in, out, n); }, check);
    bench("bodies", "global_exact", [&] { bodies_global<false><<<dim3(n / 256), dim3(256)>>>(in, out, n); }, check);
    bench("bodies", "tiled", [&] { bodies_tiled<256, 1, 1><<<dim3(n / 256), dim3(256)>>>(in, out, n); }, check);
    bench(
        "bodies", "tiled_unrolled", [&] { bodies_tiled<256, 1, 8><<<dim3(n / 256), dim3(256)>>>(in, out, n); }, check);
    bench("bodies", "tiled_block64", [&] { bodies_tiled<64, 1, 8><<<dim3(n / 64), dim3(64)>>>(in, out, n); }, check);
    bench(
        "bodies", "tiled_two_each", [&] { bodies_tiled<128, 2, 4><<<dim3(n / 256), dim3(128)>>>(in, out, n); }, check);
    bench(
        "bodies", "tiled_four_each", [&] { bodies_tiled<128, 4, 4><<<dim3(n / 512), dim3(128)>>>(in, out, n); }, check);
    bench("bodies", "shuffled", [&] { bodies_shuffled<<<dim3(n / 256), dim3(256)>>>(in, out, n); }, check);
}

// ---------------------------------------------------------------- shortest two-step paths: the product of (min, +)
__global__ void paths_naive(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int n) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    float best = 1e30f;
    for (int k = 0; k < n; k++) best = fminf(best, a[r * n + k] + b[k * n + c]);
    out[r * n + c] = best;
}
template <int T>
__global__ void paths_tiled(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, c = blockIdx.x * T + tx, r = blockIdx.y * T + ty;
    float best = 1e30f;
    for (int k = 0; k < n; k += T) {
        as[ty][tx] = a[r * n + k + tx];
        bs[ty][tx] = b[(k + ty) * n + c];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; i++) best = fminf(best, as[ty][i] + bs[i][tx]);
        __syncthreads();
    }
    out[r * n + c] = best;
}
// 16x16 work-items, each with EACH x EACH results that stand 16 apart.
template <int EACH>
__global__ void paths_registers(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out,
                                int n) {
    const int T = 16 * EACH;
    __shared__ float as[16][T + 1], bs[16][T];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, c0 = blockIdx.x * T, r0 = blockIdx.y * T;
    float best[EACH][EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) best[i][j] = 1e30f;
    for (int k0 = 0; k0 < n; k0 += 16) {
#pragma unroll
        for (int q = 0; q < EACH; q++) {
            int e = t + q * 256;
            as[e % 16][e / 16] = a[(r0 + e / 16) * n + k0 + e % 16];
            bs[e / T][e % T] = b[(k0 + e / T) * n + c0 + e % T];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++) best[i][j] = fminf(best[i][j], as[k][ty + 16 * i] + bs[k][tx + 16 * j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int j = 0; j < EACH; j++) out[(r0 + ty + 16 * i) * n + c0 + tx + 16 * j] = best[i][j];
}
static void paths_family() {
    if (!wanted("paths")) return;
    const int n = SIZE(1024, 128);
    auto ha = random_floats(n * n, 0, 10, 2), hb = random_floats(n * n, 0, 10, 3);
    Device<float> a(ha), b(hb);
    Output<float> out(n * n);
    auto check = [&] {
        auto got = out.host();
        return sampled(n * n, 500, [&](size_t i) {
            size_t r = i / n, c = i % n;
            float best = 1e30f;
            for (int k = 0; k < n; k++) best = std::min(best, ha[r * n + k] + hb[k * n + c]);
            return got[i] == best;
        });
    };
    bench("paths", "naive", [&] { paths_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(a, b, out, n); }, check);
    bench("paths", "tile16", [&] { paths_tiled<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, out, n); }, check);
    bench("paths", "tile32", [&] { paths_tiled<32><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, out, n); }, check);
    bench(
        "paths", "registers2", [&] { paths_registers<2><<<dim3(n / 32, n / 32), dim3(16, 16)>>>(a, b, out, n); },
        check);
    bench(
        "paths", "registers4", [&] { paths_registers<4><<<dim3(n / 64, n / 64), dim3(16, 16)>>>(a, b, out, n); },
        check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    bodies_family();
    paths_family();
    return failed();
}
