// Steps of language models, without the matrix products.
#include "bench.h"

static __device__ __forceinline__ float wave_total(float v) {
#pragma unroll
    for (int o = WARP / 2; o > 0; o >>= 1) v += __shfl_xor(v, o);
    return v;
}
static __device__ __forceinline__ float wave_most(float v) {
#pragma unroll
    for (int o = WARP / 2; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor(v, o));
    return v;
}
/// The sum over a block of WAVES waves, for all of them; `s` has an entry for each wave.
template <int WAVES> static __device__ __forceinline__ float block_total(float v, float *s) {
    v = wave_total(v);
    __syncthreads();
    if (threadIdx.x % WARP == 0) s[threadIdx.x / WARP] = v;
    __syncthreads();
    v = 0;
#pragma unroll
    for (int w = 0; w < WAVES; w++) v += s[w];
    return v;
}
template <int WAVES> static __device__ __forceinline__ float block_most(float v, float *s) {
    v = wave_most(v);
    __syncthreads();
    if (threadIdx.x % WARP == 0) s[threadIdx.x / WARP] = v;
    __syncthreads();
    v = s[0];
#pragma unroll
    for (int w = 1; w < WAVES; w++) v = fmaxf(v, s[w]);
    return v;
}

// ---------------------------------------------------------------- cross entropy over a large vocabulary
__global__ void entropy_two_passes(const float *__restrict__ logits, const int *__restrict__ target,
                                   float *__restrict__ loss, int words) {
    __shared__ float s[256 / WARP];
    const float *p = logits + (size_t)blockIdx.x * words;
    float most = -1e30f, sum = 0;
    for (int c = threadIdx.x; c < words; c += 256) most = fmaxf(most, p[c]);
    most = block_most<256 / WARP>(most, s);
    for (int c = threadIdx.x; c < words; c += 256) sum += expf(p[c] - most);
    sum = block_total<256 / WARP>(sum, s);
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + most - p[target[blockIdx.x]];
}
static __device__ __forceinline__ void take(float v, float &most, float &sum) {
    float larger = fmaxf(most, v);
    sum = sum * __expf(most - larger) + __expf(v - larger);
    most = larger;
}
template <int BLOCK>
__global__ void entropy_online(const float *__restrict__ logits, const int *__restrict__ target,
                               float *__restrict__ loss, int words) {
    __shared__ float s[BLOCK / WARP];
    const float *p = logits + (size_t)blockIdx.x * words;
    float most = -1e30f, sum = 0;
    for (int c = threadIdx.x; c < words; c += BLOCK) take(p[c], most, sum);
    float all = block_most<BLOCK / WARP>(most, s);
    sum = block_total<BLOCK / WARP>(sum * __expf(most - all), s);
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + all - p[target[blockIdx.x]];
}
template <int BLOCK>
__global__ void entropy_online4(const float *__restrict__ logits, const int *__restrict__ target,
                                float *__restrict__ loss, int words) {
    __shared__ float s[BLOCK / WARP];
    const float *p = logits + (size_t)blockIdx.x * words;
    const float4 *q = reinterpret_cast<const float4 *>(p);
    float most = -1e30f, sum = 0;
    for (int c = threadIdx.x; c < words / 4; c += BLOCK) {
        float4 v = q[c];
        float larger = fmaxf(fmaxf(most, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
        sum = sum * __expf(most - larger) + (__expf(v.x - larger) + __expf(v.y - larger)) +
              (__expf(v.z - larger) + __expf(v.w - larger));
        most = larger;
    }
    float all = block_most<BLOCK / WARP>(most, s);
    sum = block_total<BLOCK / WARP>(sum * __expf(most - all), s);
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(sum) + all - p[target[blockIdx.x]];
}
__global__ void entropy_wave(const float *__restrict__ logits, const int *__restrict__ target, float *__restrict__ loss,
                             int words) {
    int lane = threadIdx.x % WARP, r = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    const float *p = logits + (size_t)r * words;
    float most = -1e30f, sum = 0;
    for (int c = lane; c < words; c += WARP) take(p[c], most, sum);
    float all = wave_most(most);
    sum = wave_total(sum * __expf(most - all));
    if (lane == 0) loss[r] = logf(sum) + all - p[target[r]];
}
static void entropy_family() {
    if (!wanted("cross_entropy")) return;
    const int rows = SIZE(1024, 16), words = SIZE(32000, 2048);
    auto values = random_floats((size_t)rows * words, -8, 8, 1);
    Random random(2);
    std::vector<int> targets(rows);
    for (int &t : targets) t = random.below(words);
    Device<float> logits(values);
    Device<int> target(targets);
    Output<float> loss(rows);
    auto check = [&] {
        auto got = loss.host();
        return sampled(rows, 30, [&](size_t r) {
            const float *p = &values[r * words];
            double sum = 0;
            for (int c = 0; c < words; c++) sum += std::exp((double)p[c]);
            return near_to(got[r], std::log(sum) - p[targets[r]], 1e-4);
        });
    };
    dim3 grid(rows), block(256);
    bench(
        "cross_entropy", "two_passes", [&] { entropy_two_passes<<<grid, block>>>(logits, target, loss, words); },
        check);
    bench(
        "cross_entropy", "online256", [&] { entropy_online<256><<<grid, block>>>(logits, target, loss, words); },
        check);
    bench(
        "cross_entropy", "online1024", [&] { entropy_online<1024><<<grid, dim3(1024)>>>(logits, target, loss, words); },
        check);
    bench(
        "cross_entropy", "online256_float4",
        [&] { entropy_online4<256><<<grid, block>>>(logits, target, loss, words); }, check);
    bench(
        "cross_entropy", "online1024_float4",
        [&] { entropy_online4<1024><<<grid, dim3(1024)>>>(logits, target, loss, words); }, check);
    bench(
        "cross_entropy", "wave",
        [&] { entropy_wave<<<dim3(rows / (256 / WARP)), block>>>(logits, target, loss, words); }, check);
}

// ---------------------------------------------------------------- RMS normalisation of rows of 4096
static const int WIDTH = 4096;
__global__ void rms_two_reads(const float *__restrict__ x, const float *__restrict__ gain, float *__restrict__ y) {
    __shared__ float s[256 / WARP];
    const float *p = x + (size_t)blockIdx.x * WIDTH;
    float *q = y + (size_t)blockIdx.x * WIDTH, sum = 0;
    for (int c = threadIdx.x; c < WIDTH; c += 256) sum += p[c] * p[c];
    float scale = rsqrtf(block_total<256 / WARP>(sum, s) / WIDTH + 1e-5f);
    for (int c = threadIdx.x; c < WIDTH; c += 256) q[c] = p[c] * scale * gain[c];
}
template <int BLOCK>
__global__ void rms_registers4(const float4 *__restrict__ x, const float4 *__restrict__ gain, float4 *__restrict__ y) {
    __shared__ float s[BLOCK / WARP];
    const int each = WIDTH / 4 / BLOCK;
    const float4 *p = x + (size_t)blockIdx.x * (WIDTH / 4);
    float4 *q = y + (size_t)blockIdx.x * (WIDTH / 4), v[each];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < each; k++) {
        v[k] = p[k * BLOCK + threadIdx.x];
        sum += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
    }
    float scale = rsqrtf(block_total<BLOCK / WARP>(sum, s) / WIDTH + 1e-5f);
#pragma unroll
    for (int k = 0; k < each; k++) {
        float4 g = gain[k * BLOCK + threadIdx.x];
        q[k * BLOCK + threadIdx.x] =
            make_float4(v[k].x * scale * g.x, v[k].y * scale * g.y, v[k].z * scale * g.z, v[k].w * scale * g.w);
    }
}
__global__ void rms_wave(const float4 *__restrict__ x, const float4 *__restrict__ gain, float4 *__restrict__ y) {
    int lane = threadIdx.x % WARP, r = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    const float4 *p = x + (size_t)r * (WIDTH / 4);
    float4 *q = y + (size_t)r * (WIDTH / 4);
    float sum = 0;
#pragma unroll 4
    for (int c = lane; c < WIDTH / 4; c += WARP) {
        float4 v = p[c];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    float scale = rsqrtf(wave_total(sum) / WIDTH + 1e-5f);
#pragma unroll 4
    for (int c = lane; c < WIDTH / 4; c += WARP) {
        float4 v = p[c], g = gain[c];
        q[c] = make_float4(v.x * scale * g.x, v.y * scale * g.y, v.z * scale * g.z, v.w * scale * g.w);
    }
}
// One kernel for the rows' scales, another for the products.
__global__ void rms_scales(const float *__restrict__ x, float *__restrict__ scales) {
    __shared__ float s[256 / WARP];
    const float *p = x + (size_t)blockIdx.x * WIDTH;
    float sum = 0;
    for (int c = threadIdx.x; c < WIDTH; c += 256) sum += p[c] * p[c];
    sum = block_total<256 / WARP>(sum, s);
    if (threadIdx.x == 0) scales[blockIdx.x] = rsqrtf(sum / WIDTH + 1e-5f);
}
__global__ void rms_products(const float *__restrict__ x, const float *__restrict__ gain,
                             const float *__restrict__ scales, float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * scales[i / WIDTH] * gain[i % WIDTH];
}
static void rms_family() {
    if (!wanted("rms_norm")) return;
    const int rows = SIZE(8192, 32);
    auto values = random_floats((size_t)rows * WIDTH, -2, 3, 3), gains = random_floats(WIDTH, 0.5f, 1.5f, 4);
    Device<float> x(values), gain(gains), scales(rows);
    Output<float> y((size_t)rows * WIDTH);
    auto check = [&] {
        auto got = y.host();
        return sampled(rows, 30, [&](size_t r) {
            const float *p = &values[r * WIDTH];
            double sum = 0;
            for (int c = 0; c < WIDTH; c++) sum += (double)p[c] * p[c];
            double scale = 1 / std::sqrt(sum / WIDTH + 1e-5);
            for (int c = 0; c < WIDTH; c++)
                if (!near_to(got[r * WIDTH + c], p[c] * scale * gains[c], 1e-4)) return false;
            return true;
        });
    };
    auto x4 = x.as<float4>(), gain4 = gain.as<float4>(), y4 = y.as<float4>();
    dim3 grid(rows), block(256);
    bench("rms_norm", "two_reads", [&] { rms_two_reads<<<grid, block>>>(x, gain, y); }, check);
    bench("rms_norm", "registers256", [&] { rms_registers4<256><<<grid, block>>>(x4, gain4, y4); }, check);
    bench("rms_norm", "registers1024", [&] { rms_registers4<1024><<<grid, dim3(1024)>>>(x4, gain4, y4); }, check);
    bench("rms_norm", "wave", [&] { rms_wave<<<dim3(rows / (256 / WARP)), block>>>(x4, gain4, y4); }, check);
    bench(
        "rms_norm", "two_kernels",
        [&] {
            rms_scales<<<grid, block>>>(x, scales);
            rms_products<<<dim3(rows * (WIDTH / 256)), block>>>(x, gain, scales, y);
        },
        check);
}

// ---------------------------------------------------------------- rotary positions: heads of 128, pairs 64 apart
static const int HEADS = 32, HEAD = 128;
static __device__ __forceinline__ float angle_of(int position, int k) { return position * exp2f(-0.20762050594f * k); }
struct TurnLibrary {
    static __device__ void angle(const float2 *, int position, int k, float &s, float &c) {
        sincosf(angle_of(position, k), &s, &c);
    }
};
struct TurnIntrinsic {
    static __device__ void angle(const float2 *, int position, int k, float &s, float &c) {
        float a = angle_of(position, k);
        a -= 6.28318531f * rintf(a * 0.15915494f);
        s = __sinf(a), c = __cosf(a);
    }
};
struct TurnTable {
    static __device__ void angle(const float2 *table, int position, int k, float &s, float &c) {
        float2 v = table[position * (HEAD / 2) + k];
        s = v.x, c = v.y;
    }
};
// One pair a work-item.
template <class T>
__global__ void turn(const float *__restrict__ x, const float2 *__restrict__ table, float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % (HEAD / 2), row = i / (HEAD / 2), position = row / HEADS;
    float s, c;
    T::angle(table, position, k, s, c);
    int at = row * HEAD + k;
    float u = x[at], v = x[at + HEAD / 2];
    y[at] = u * c - v * s;
    y[at + HEAD / 2] = v * c + u * s;
}
// An angle serves all heads of a position.
template <class T>
__global__ void turn_heads(const float *__restrict__ x, const float2 *__restrict__ table, float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = i % (HEAD / 2), position = i / (HEAD / 2);
    float s, c;
    T::angle(table, position, k, s, c);
#pragma unroll 4
    for (int head = 0; head < HEADS; head++) {
        int at = (position * HEADS + head) * HEAD + k;
        float u = x[at], v = x[at + HEAD / 2];
        y[at] = u * c - v * s;
        y[at + HEAD / 2] = v * c + u * s;
    }
}
static void rotary_family() {
    if (!wanted("rotary")) return;
    const int positions = SIZE(4096, 32);
    const size_t all = (size_t)positions * HEADS * HEAD;
    auto values = random_floats(all, -1, 1, 5);
    std::vector<float2> angles((size_t)positions * (HEAD / 2));
    auto exact = [](int position, int k) { return position * std::exp2(-0.20762050594 * k); };
    for (int p = 0; p < positions; p++)
        for (int k = 0; k < HEAD / 2; k++) {
            angles[p * (HEAD / 2) + k].x = (float)std::sin(exact(p, k));
            angles[p * (HEAD / 2) + k].y = (float)std::cos(exact(p, k));
        }
    Device<float> x(values);
    Device<float2> table(angles);
    Output<float> y(all);
    auto check = [&] {
        auto got = y.host();
        return sampled(all / 2, 5000, [&](size_t i) {
            size_t k = i % (HEAD / 2), row = i / (HEAD / 2), at = row * HEAD + k;
            double a = exact((int)(row / HEADS), (int)k), u = values[at], v = values[at + HEAD / 2];
            // An angle of some thousands has an error of some ten-thousandths in single precision.
            return near_to(got[at], u * std::cos(a) - v * std::sin(a), 4e-3) &&
                   near_to(got[at + HEAD / 2], v * std::cos(a) + u * std::sin(a), 4e-3);
        });
    };
    dim3 grid((unsigned)(all / 2 / 256)), few(positions * (HEAD / 2) / 256), block(256);
    bench("rotary", "library", [&] { turn<TurnLibrary><<<grid, block>>>(x, table, y); }, check);
    bench("rotary", "intrinsic", [&] { turn<TurnIntrinsic><<<grid, block>>>(x, table, y); }, check);
    bench("rotary", "table", [&] { turn<TurnTable><<<grid, block>>>(x, table, y); }, check);
    bench("rotary", "library_all_heads", [&] { turn_heads<TurnLibrary><<<few, block>>>(x, table, y); }, check);
    bench("rotary", "table_all_heads", [&] { turn_heads<TurnTable><<<few, block>>>(x, table, y); }, check);
}

// ---------------------------------------------------------------- rows of an embedding, summed by bags of eight
static const int BAG = 8, DIM = 512;
__global__ void bag_block(const float *__restrict__ table, const int *__restrict__ index, float *__restrict__ out) {
    for (int c = threadIdx.x; c < DIM; c += blockDim.x) {
        float sum = 0;
        for (int k = 0; k < BAG; k++) sum += table[(size_t)index[blockIdx.x * BAG + k] * DIM + c];
        out[(size_t)blockIdx.x * DIM + c] = sum;
    }
}
__global__ void bag_block4(const float4 *__restrict__ table, const int *__restrict__ index, float4 *__restrict__ out) {
    int c = threadIdx.x;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < BAG; k++) {
        float4 v = table[(size_t)index[blockIdx.x * BAG + k] * (DIM / 4) + c];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    out[(size_t)blockIdx.x * (DIM / 4) + c] = sum;
}
__global__ void bag_wave4(const float4 *__restrict__ table, const int *__restrict__ index, float4 *__restrict__ out) {
    int lane = threadIdx.x % WARP, bag = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    for (int c = lane; c < DIM / 4; c += WARP) {
        float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < BAG; k++) {
            float4 v = table[(size_t)index[bag * BAG + k] * (DIM / 4) + c];
            sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
        }
        out[(size_t)bag * (DIM / 4) + c] = sum;
    }
}
// A work-item has a bag of its own.
__global__ void bag_thread(const float *__restrict__ table, const int *__restrict__ index, float *__restrict__ out) {
    int bag = blockIdx.x * blockDim.x + threadIdx.x;
    for (int c = 0; c < DIM; c++) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < BAG; k++) sum += table[(size_t)index[bag * BAG + k] * DIM + c];
        out[(size_t)bag * DIM + c] = sum;
    }
}
static void bag_family() {
    if (!wanted("embedding_bag")) return;
    const int rows = SIZE(1 << 17, 1 << 8), bags = SIZE(1 << 13, 1 << 7);
    auto values = random_floats((size_t)rows * DIM, -1, 1, 6);
    Random random(7);
    std::vector<int> indices(bags * BAG);
    for (int &i : indices) i = random.below(rows);
    Device<float> table(values);
    Device<int> index(indices);
    Output<float> out((size_t)bags * DIM);
    auto check = [&] {
        auto got = out.host();
        return sampled((size_t)bags * DIM, 5000, [&](size_t i) {
            double sum = 0;
            for (int k = 0; k < BAG; k++) sum += values[(size_t)indices[i / DIM * BAG + k] * DIM + i % DIM];
            return near_to(got[i], sum, 1e-5);
        });
    };
    auto table4 = table.as<float4>();
    auto out4 = out.as<float4>();
    bench("embedding_bag", "block", [&] { bag_block<<<dim3(bags), dim3(128)>>>(table, index, out); }, check);
    bench(
        "embedding_bag", "block_float4", [&] { bag_block4<<<dim3(bags), dim3(DIM / 4)>>>(table4, index, out4); },
        check);
    bench(
        "embedding_bag", "wave_float4",
        [&] { bag_wave4<<<dim3(bags / (256 / WARP)), dim3(256)>>>(table4, index, out4); }, check);
    bench("embedding_bag", "thread", [&] { bag_thread<<<dim3(bags / 64), dim3(64)>>>(table, index, out); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    entropy_family();
    rms_family();
    rotary_family();
    bag_family();
    return failed();
}
