// Little arithmetic for each byte: widths, block sizes, layouts, and how many blocks are in flight.
#include "bench.h"

static __device__ __forceinline__ float wave_total(float v) {
#pragma unroll
    for (int o = WARP / 2; o > 0; o >>= 1) v += __shfl_xor(v, o);
    return v;
}

// ---------------------------------------------------------------- y = a x + y, into an array of its own
__global__ void axpy(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ out, float a,
                     int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
__global__ void axpy2(const float2 *__restrict__ x, const float2 *__restrict__ y, float2 *__restrict__ out, float a,
                      int n2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n2) return;
    float2 u = x[i], v = y[i];
    out[i] = make_float2(a * u.x + v.x, a * u.y + v.y);
}
__global__ void axpy4(const float4 *__restrict__ x, const float4 *__restrict__ y, float4 *__restrict__ out, float a,
                      int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 u = x[i], v = y[i];
    out[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
}
__global__ void axpy_strided(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ out, float a,
                             int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a * x[i] + y[i];
}
// Each work-item has eight neighbours of its own.
__global__ void axpy_stretches(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ out,
                               float a, int n) {
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
#pragma unroll 1
    for (int i = begin; i < begin + 8; i++) out[i] = a * x[i] + y[i];
}
static void axpy_family() {
    if (!wanted("axpy")) return;
    const int n = SIZE(1 << 24, 1 << 14);
    const float a = 1.25f;
    auto hx = random_floats(n, -1, 1, 1), hy = random_floats(n, -1, 1, 2);
    Device<float> x(hx), y(hy);
    Output<float> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 10000, [&](size_t i) { return near_to(got[i], (double)a * hx[i] + hy[i], 1e-6); });
    };
    bench("axpy", "block256", [&] { axpy<<<dim3(n / 256), dim3(256)>>>(x, y, out, a, n); }, check);
    bench("axpy", "block64", [&] { axpy<<<dim3(n / 64), dim3(64)>>>(x, y, out, a, n); }, check);
    bench("axpy", "block1024", [&] { axpy<<<dim3(n / 1024), dim3(1024)>>>(x, y, out, a, n); }, check);
    bench(
        "axpy", "float2",
        [&] { axpy2<<<dim3(n / 512), dim3(256)>>>(x.as<float2>(), y.as<float2>(), out.as<float2>(), a, n / 2); },
        check);
    bench(
        "axpy", "float4",
        [&] { axpy4<<<dim3(n / 1024), dim3(256)>>>(x.as<float4>(), y.as<float4>(), out.as<float4>(), a, n / 4); },
        check);
    bench("axpy", "gridstride", [&] { axpy_strided<<<dim3(SIZE(528, 8)), dim3(256)>>>(x, y, out, a, n); }, check);
    bench("axpy", "gridstride_few", [&] { axpy_strided<<<dim3(SIZE(132, 4)), dim3(128)>>>(x, y, out, a, n); }, check);
    bench("axpy", "stretches8", [&] { axpy_stretches<<<dim3(n / 2048), dim3(256)>>>(x, y, out, a, n); }, check);
}

// ---------------------------------------------------------------- three maps in three kernels, or in one
__global__ void scale_shift(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 1.5f + 0.25f;
}
__global__ void square(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
__global__ void root_of_one_more(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sqrtf(x[i] + 1.0f);
}
static __device__ __forceinline__ float all_three(float x) {
    float v = x * 1.5f + 0.25f;
    return sqrtf(v * v + 1.0f);
}
__global__ void fused(const float *__restrict__ x, float *__restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = all_three(x[i]);
}
__global__ void fused4(const float4 *__restrict__ x, float4 *__restrict__ y, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = x[i];
    y[i] = make_float4(all_three(v.x), all_three(v.y), all_three(v.z), all_three(v.w));
}
static void fusion_family() {
    if (!wanted("fusion")) return;
    const int n = SIZE(1 << 23, 1 << 13);
    auto hx = random_floats(n, -1, 1, 3);
    Device<float> x(hx), s(n), t(n);
    Output<float> y(n);
    auto check = [&] {
        auto got = y.host();
        return sampled(n, 10000, [&](size_t i) {
            double v = hx[i] * 1.5 + 0.25;
            return near_to(got[i], std::sqrt(v * v + 1), 1e-5);
        });
    };
    dim3 grid(n / 256), block(256);
    bench(
        "fusion", "three_kernels",
        [&] {
            scale_shift<<<grid, block>>>(x, s, n);
            square<<<grid, block>>>(s, t, n);
            root_of_one_more<<<grid, block>>>(t, y, n);
        },
        check);
    bench(
        "fusion", "three_kernels_one_buffer",
        [&] {
            scale_shift<<<grid, block>>>(x, s, n);
            square<<<grid, block>>>(s, s, n);
            root_of_one_more<<<grid, block>>>(s, y, n);
        },
        check);
    bench("fusion", "one", [&] { fused<<<grid, block>>>(x, y, n); }, check);
    bench(
        "fusion", "one_float4", [&] { fused4<<<dim3(n / 1024), block>>>(x.as<float4>(), y.as<float4>(), n / 4); },
        check);
}

// ---------------------------------------------------------------- a dot product: where the blocks' sums meet
static __device__ __forceinline__ float block_total(float v, float *s) {
    v = wave_total(v);
    if (threadIdx.x % WARP == 0) s[threadIdx.x / WARP] = v;
    __syncthreads();
    v = 0;
#pragma unroll
    for (int w = 0; w < 256 / WARP; w++) v += s[w];
    return v;
}
__global__ void dot_atomic_wave(const float *__restrict__ x, const float *__restrict__ y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = wave_total(x[i] * y[i]);
    if (threadIdx.x % WARP == 0) atomicAdd(out, sum);
}
__global__ void dot_atomic_block(const float *__restrict__ x, const float *__restrict__ y, float *out, int n) {
    __shared__ float s[256 / WARP];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = block_total(x[i] * y[i], s);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
__global__ void dot_strided(const float *__restrict__ x, const float *__restrict__ y, float *out, int n) {
    __shared__ float s[256 / WARP];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i] * y[i];
    sum = block_total(sum, s);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
__global__ void dot_strided4(const float4 *__restrict__ x, const float4 *__restrict__ y, float *out, int n4) {
    __shared__ float s[256 / WARP];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n4; i += gridDim.x * 256) {
        float4 u = x[i], v = y[i];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    sum = block_total(sum, s);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
__global__ void dot_parts(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ parts, int n) {
    __shared__ float s[256 / WARP];
    int i = blockIdx.x * 1024 + threadIdx.x;
    float sum = x[i] * y[i] + x[i + 256] * y[i + 256] + x[i + 512] * y[i + 512] + x[i + 768] * y[i + 768];
    sum = block_total(sum, s);
    if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
__global__ void sum_parts(const float *__restrict__ parts, float *__restrict__ out, int n) {
    __shared__ float s[256 / WARP];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) sum += parts[i];
    sum = block_total(sum, s);
    if (threadIdx.x == 0) *out = sum;
}
static void dot_family() {
    if (!wanted("dot_product")) return;
    const int n = SIZE(1 << 23, 1 << 14);
    auto hx = random_floats(n, 0, 1, 4), hy = random_floats(n, 0, 1, 5);
    double wanted_sum = 0;
    for (int i = 0; i < n; i++) wanted_sum += (double)hx[i] * hy[i];
    Device<float> x(hx), y(hy), parts(n / 1024);
    Output<float> out(1, Before::cleared);
    auto check = [&] { return near_to(out.host()[0], wanted_sum, 1e-3); };
    dim3 block(256);
    bench("dot_product", "atomic_wave", [&] { dot_atomic_wave<<<dim3(n / 256), block>>>(x, y, out, n); }, check);
    bench("dot_product", "atomic_block", [&] { dot_atomic_block<<<dim3(n / 256), block>>>(x, y, out, n); }, check);
    bench("dot_product", "gridstride", [&] { dot_strided<<<dim3(SIZE(1056, 8)), block>>>(x, y, out, n); }, check);
    bench(
        "dot_product", "gridstride_float4",
        [&] { dot_strided4<<<dim3(SIZE(1056, 8)), block>>>(x.as<float4>(), y.as<float4>(), out, n / 4); }, check);
    bench(
        "dot_product", "two_kernels",
        [&] {
            dot_parts<<<dim3(n / 1024), block>>>(x, y, parts, n);
            sum_parts<<<dim3(1), block>>>(parts, out, n / 1024);
        },
        check);
}

// ---------------------------------------------------------------- particles: structures, arrays, and both
struct Particle {
    float x, y, z, vx, vy, vz, mass;
};
static __device__ __host__ __forceinline__ void advance(Particle &p) {
    float pull = 0.01f / (p.mass + 1.0f);
    p.vx -= p.x * pull, p.vy -= p.y * pull, p.vz -= p.z * pull;
    p.x += 0.1f * p.vx, p.y += 0.1f * p.vy, p.z += 0.1f * p.vz;
}
__global__ void advance_structures(const Particle *__restrict__ in, Particle *__restrict__ out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Particle p = in[i];
    advance(p);
    out[i] = p;
}
// Field k of particle i stands at (i / TILE * 7 + k) * TILE + i % TILE; one tile of all is a structure of arrays.
__global__ void advance_tiles(const float *__restrict__ in, float *__restrict__ out, int tile) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, base = i / tile * 7 * tile + i % tile;
    Particle p = {in[base],
                  in[base + tile],
                  in[base + 2 * tile],
                  in[base + 3 * tile],
                  in[base + 4 * tile],
                  in[base + 5 * tile],
                  in[base + 6 * tile]};
    advance(p);
    out[base] = p.x;
    out[base + tile] = p.y;
    out[base + 2 * tile] = p.z;
    out[base + 3 * tile] = p.vx;
    out[base + 4 * tile] = p.vy;
    out[base + 5 * tile] = p.vz;
    out[base + 6 * tile] = p.mass;
}
__global__ void advance_staged(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float s[256 * 7];
    int t = threadIdx.x, base = blockIdx.x * 256 * 7;
#pragma unroll
    for (int k = 0; k < 7; k++) s[k * 256 + t] = in[base + k * 256 + t];
    __syncthreads();
    Particle p = {s[t * 7], s[t * 7 + 1], s[t * 7 + 2], s[t * 7 + 3], s[t * 7 + 4], s[t * 7 + 5], s[t * 7 + 6]};
    advance(p);
    s[t * 7] = p.x, s[t * 7 + 1] = p.y, s[t * 7 + 2] = p.z, s[t * 7 + 3] = p.vx, s[t * 7 + 4] = p.vy,
          s[t * 7 + 5] = p.vz;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 7; k++) out[base + k * 256 + t] = s[k * 256 + t];
}
static void particle_family() {
    if (!wanted("particles")) return;
    const int n = SIZE(1 << 22, 1 << 12);
    auto values = random_floats((size_t)n * 7, 0, 1, 6);
    auto tiled = [&](size_t tile) {
        std::vector<float> laid(values.size());
        for (size_t i = 0; i < (size_t)n; i++)
            for (size_t k = 0; k < 7; k++) laid[(i / tile * 7 + k) * tile + i % tile] = values[i * 7 + k];
        return laid;
    };
    Device<float> structures(values), arrays(tiled(n)), tiles32(tiled(32)), tiles4(tiled(4));
    Output<float> out((size_t)n * 7);
    auto check_tile = [&](size_t tile) {
        auto got = out.host();
        return sampled(n, 5000, [&](size_t i) {
            double v[7];
            for (int k = 0; k < 7; k++) v[k] = values[i * 7 + k];
            double pull = 0.01 / (v[6] + 1);
            for (int k = 0; k < 3; k++) v[k + 3] -= v[k] * pull, v[k] += 0.1 * v[k + 3];
            for (size_t k = 0; k < 7; k++)
                if (!near_to(got[(i / tile * 7 + k) * tile + i % tile], v[k], 1e-6)) return false;
            return true;
        });
    };
    auto check = [&] { return check_tile(1); };
    dim3 grid(n / 256), block(256);
    bench(
        "particles", "structures",
        [&] { advance_structures<<<grid, block>>>(structures.as<Particle>(), out.as<Particle>()); }, check);
    bench("particles", "structures_staged", [&] { advance_staged<<<grid, block>>>(structures, out); }, check);
    bench(
        "particles", "arrays", [&] { advance_tiles<<<grid, block>>>(arrays, out, n); }, [&] { return check_tile(n); });
    bench(
        "particles", "tiles32", [&] { advance_tiles<<<grid, block>>>(tiles32, out, 32); },
        [&] { return check_tile(32); });
    bench(
        "particles", "tiles4", [&] { advance_tiles<<<grid, block>>>(tiles4, out, 4); }, [&] { return check_tile(4); });
}

// ---------------------------------------------------------------- occupancy, lowered by LDS that is hardly used
// Each work-item leaves what it sees in slots of its own.
template <int KILOBYTES>
__global__ void follow(const unsigned *__restrict__ next, unsigned *__restrict__ out, int steps) {
    const int SLOTS = KILOBYTES * 4;
    __shared__ unsigned s[SLOTS][64];
    int i = blockIdx.x * 64 + threadIdx.x;
    unsigned at = i;
    for (int k = 0; k < steps; k++) {
        at = next[at];
        s[at % SLOTS][threadIdx.x] = at;
    }
    out[i] = s[at % SLOTS][threadIdx.x];
}
static void occupancy_family() {
    if (!wanted("occupancy")) return;
    const int n = SIZE(1 << 18, 1 << 10), steps = 16;
    std::vector<unsigned> order(n), next(n);
    Random random(7);
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) std::swap(order[i], order[random.below(i + 1)]);
    for (int i = 0; i < n; i++) next[order[i]] = order[(i + 1) % n];
    Device<unsigned> links(next);
    Output<unsigned> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(n, 5000, [&](size_t i) {
            unsigned at = (unsigned)i;
            for (int k = 0; k < steps; k++) at = next[at];
            return got[i] == at;
        });
    };
    dim3 grid(n / 64), block(64);
    bench("occupancy", "lds1k", [&] { follow<1><<<grid, block>>>(links, out, steps); }, check);
    bench("occupancy", "lds8k", [&] { follow<8><<<grid, block>>>(links, out, steps); }, check);
    bench("occupancy", "lds16k", [&] { follow<16><<<grid, block>>>(links, out, steps); }, check);
    bench("occupancy", "lds32k", [&] { follow<32><<<grid, block>>>(links, out, steps); }, check);
    bench("occupancy", "lds48k", [&] { follow<48><<<grid, block>>>(links, out, steps); }, check);
}

// ---------------------------------------------------------------- the same sum by few blocks or by many
template <int BLOCK> __global__ void sum_stretch(const float *__restrict__ in, float *__restrict__ parts, int n) {
    __shared__ float s[BLOCK / WARP];
    float sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
        float v = in[i];
        sum += v / (1.0f + v * v);
    }
    sum = wave_total(sum);
    if (threadIdx.x % WARP == 0) s[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    sum = 0;
    for (int w = 0; w < BLOCK / WARP; w++) sum += s[w];
    parts[blockIdx.x] = sum;
}
static void few_blocks_family() {
    if (!wanted("few_blocks")) return;
    const int n = SIZE(1 << 22, 1 << 14);
    auto hx = random_floats(n, 0, 2, 8);
    double wanted_sum = 0;
    for (float v : hx) wanted_sum += v / (1.0 + (double)v * v);
    Device<float> in(hx);
    auto with = [&](const char *variant, int blocks, int size) {
        blocks = SIZE(blocks, std::min(blocks, 8));
        Output<float> parts(blocks);
        auto check = [&] {
            double sum = 0;
            for (float v : parts.host()) sum += v;
            return near_to(sum, wanted_sum, 1e-3);
        };
        if (size == 128)
            bench("few_blocks", variant, [&] { sum_stretch<128><<<dim3(blocks), dim3(128)>>>(in, parts, n); }, check);
        else
            bench("few_blocks", variant, [&] { sum_stretch<1024><<<dim3(blocks), dim3(1024)>>>(in, parts, n); }, check);
    };
    with("blocks1_of_1024", 1, 1024);
    with("blocks8_of_1024", 8, 1024);
    with("blocks33_of_1024", 33, 1024);
    with("blocks132_of_128", 132, 128);
    with("blocks132_of_1024", 132, 1024);
    with("blocks140_of_1024", 140, 1024);
    with("blocks2048_of_128", 2048, 128);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    axpy_family();
    fusion_family();
    dot_family();
    particle_family();
    occupancy_family();
    few_blocks_family();
    return failed();
}
