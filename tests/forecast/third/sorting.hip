// Sorting and selection.
#include "bench.h"

// ---------------------------------------------------------------- sorting each 1024 numbers in LDS
static const int SEGMENT = 1024;
static __device__ __forceinline__ void order(int &a, int &b, bool up) {
    if ((a > b) == up) {
        int v = a;
        a = b;
        b = v;
    }
}
__global__ void bitonic_pairs(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[SEGMENT];
    int t = threadIdx.x, base = blockIdx.x * SEGMENT;
    s[t] = in[base + t];
    s[t + 512] = in[base + t + 512];
    for (int size = 2; size <= SEGMENT; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (stride - 1));
            order(s[i], s[i + stride], (i & size) == 0);
        }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + 512] = s[t + 512];
}
__global__ void bitonic_half_idle(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[SEGMENT];
    int t = threadIdx.x, base = blockIdx.x * SEGMENT;
    s[t] = in[base + t];
    for (int size = 2; size <= SEGMENT; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            if ((t & stride) == 0) order(s[t], s[t + stride], (t & size) == 0);
        }
    __syncthreads();
    out[base + t] = s[t];
}
// One number a work-item in a register; partners in the wave are reached by shuffles.
__global__ void bitonic_shuffle(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[SEGMENT];
    int t = threadIdx.x, base = blockIdx.x * SEGMENT, v = in[base + t];
    for (int size = 2; size <= SEGMENT; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int with;
            if (stride < WARP) with = __shfl_xor(v, stride);
            else {
                __syncthreads();
                s[t] = v;
                __syncthreads();
                with = s[t ^ stride];
            }
            bool low = ((t & stride) == 0) == ((t & size) == 0);
            v = low ? min(v, with) : max(v, with);
        }
    out[base + t] = v;
}
// Four numbers a work-item: strides of 1 and 2 stay in its registers.
__global__ void bitonic_four(const int4 *__restrict__ in, int4 *__restrict__ out) {
    __shared__ int4 s[SEGMENT / 4];
    int t = threadIdx.x, i = 4 * t;
    int4 v = in[blockIdx.x * 256 + t];
    for (int size = 2; size <= SEGMENT; size *= 2) {
        for (int stride = size / 2; stride > 2; stride /= 2) {
            int4 with;
            int lanes = stride / 4;
            if (lanes < WARP)
                with = make_int4(__shfl_xor(v.x, lanes), __shfl_xor(v.y, lanes), __shfl_xor(v.z, lanes),
                                 __shfl_xor(v.w, lanes));
            else {
                __syncthreads();
                s[t] = v;
                __syncthreads();
                with = s[t ^ lanes];
            }
            bool low = ((i & stride) == 0) == ((i & size) == 0);
            v = low ? make_int4(min(v.x, with.x), min(v.y, with.y), min(v.z, with.z), min(v.w, with.w))
                    : make_int4(max(v.x, with.x), max(v.y, with.y), max(v.z, with.z), max(v.w, with.w));
        }
        if (size >= 4) {
            bool up = (i & size) == 0;
            order(v.x, v.z, up);
            order(v.y, v.w, up);
        }
        order(v.x, v.y, (i & size) == 0);
        order(v.z, v.w, ((i + 2) & size) == 0);
    }
    out[blockIdx.x * 256 + t] = v;
}
// Batcher's odd-even merging: all comparisons go the same way.
__global__ void odd_even_merge(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[SEGMENT];
    int t = threadIdx.x, base = blockIdx.x * SEGMENT;
    s[t] = in[base + t];
    s[t + 512] = in[base + t + 512];
    for (int size = 2; size <= SEGMENT; size *= 2) {
        int stride = size / 2, within = t & (stride - 1);
        __syncthreads();
        int i = 2 * t - within;
        order(s[i], s[i + stride], true);
        for (stride /= 2; stride > 0; stride /= 2) {
            __syncthreads();
            i = 2 * t - (t & (stride - 1));
            if (within >= stride) order(s[i - stride], s[i], true);
        }
    }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + 512] = s[t + 512];
}
static void segment_sort_family() {
    if (!wanted("segment_sort")) return;
    const int n = SIZE(1 << 22, 1 << 14), segments = n / SEGMENT;
    auto words = random_words(n, 3);
    std::vector<int> values(words.begin(), words.end());
    Device<int> in(values);
    Output<int> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(segments, 50, [&](size_t s) {
            std::vector<int> sorted(values.begin() + s * SEGMENT, values.begin() + (s + 1) * SEGMENT);
            std::sort(sorted.begin(), sorted.end());
            return std::equal(sorted.begin(), sorted.end(), got.begin() + s * SEGMENT);
        });
    };
    dim3 grid(segments);
    bench("segment_sort", "bitonic_pairs", [&] { bitonic_pairs<<<grid, dim3(512)>>>(in, out); }, check);
    bench("segment_sort", "bitonic_half_idle", [&] { bitonic_half_idle<<<grid, dim3(1024)>>>(in, out); }, check);
    bench("segment_sort", "bitonic_shuffle", [&] { bitonic_shuffle<<<grid, dim3(1024)>>>(in, out); }, check);
    bench(
        "segment_sort", "bitonic_four", [&] { bitonic_four<<<grid, dim3(256)>>>(in.as<int4>(), out.as<int4>()); },
        check);
    bench("segment_sort", "odd_even_merge", [&] { odd_even_merge<<<grid, dim3(512)>>>(in, out); }, check);
}

// ---------------------------------------------------------------- the eight largest of each row of 512, in order
static const int ROW = 512, TOP = 8;
__global__ void top_thread_registers(const float *__restrict__ in, float *__restrict__ out, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float best[TOP];
#pragma unroll
    for (int k = 0; k < TOP; k++) best[k] = -1e30f;
    for (int c = 0; c < ROW; c++) {
        float v = in[(size_t)r * ROW + c];
        if (v > best[TOP - 1]) {
#pragma unroll
            for (int k = 0; k < TOP; k++) {
                float high = fmaxf(v, best[k]);
                v = fminf(v, best[k]);
                best[k] = high;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < TOP; k++) out[r * TOP + k] = best[k];
}
__global__ void top_thread_scratch(const float *__restrict__ in, float *__restrict__ out, int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float best[TOP];
    for (int k = 0; k < TOP; k++) best[k] = -1e30f;
    for (int c = 0; c < ROW; c++) {
        float v = in[(size_t)r * ROW + c];
        int j = TOP - 1;
        if (v <= best[j]) continue;
        while (j > 0 && best[j - 1] < v) best[j] = best[j - 1], j--;
        best[j] = v;
    }
    for (int k = 0; k < TOP; k++) out[r * TOP + k] = best[k];
}
// A wave holds the row in registers and takes its largest eight times.
__global__ void top_wave(const float *__restrict__ in, float *__restrict__ out, int rows) {
    int lane = threadIdx.x % WARP, r = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    float v[ROW / WARP];
#pragma unroll
    for (int k = 0; k < ROW / WARP; k++) v[k] = in[(size_t)r * ROW + k * WARP + lane];
    for (int top = 0; top < TOP; top++) {
        float mine = v[0];
#pragma unroll
        for (int k = 1; k < ROW / WARP; k++) mine = fmaxf(mine, v[k]);
        float most = mine;
#pragma unroll
        for (int o = WARP / 2; o > 0; o >>= 1) most = fmaxf(most, __shfl_xor(most, o));
        unsigned long long who = wave_ballot(mine == most);
        if (lane == __ffsll((long long)who) - 1) {
            bool gone = false;
#pragma unroll
            for (int k = 0; k < ROW / WARP; k++)
                if (!gone && v[k] == most) v[k] = -1e30f, gone = true;
        }
        if (lane == 0) out[r * TOP + top] = most;
    }
}
// A block reads rows together into LDS; then each work-item has a row of its own there.
__global__ void top_staged(const float *__restrict__ in, float *__restrict__ out, int rows) {
    __shared__ float s[64][65];
    int t = threadIdx.x, base = blockIdx.x * 64;
    float best[TOP];
#pragma unroll
    for (int k = 0; k < TOP; k++) best[k] = -1e30f;
    for (int c0 = 0; c0 < ROW; c0 += 64) {
        __syncthreads();
        for (int k = 0; k < 64; k++) s[k][t] = in[(size_t)(base + k) * ROW + c0 + t];
        __syncthreads();
        for (int c = 0; c < 64; c++) {
            float v = s[t][c];
            if (v > best[TOP - 1]) {
#pragma unroll
                for (int k = 0; k < TOP; k++) {
                    float high = fmaxf(v, best[k]);
                    v = fminf(v, best[k]);
                    best[k] = high;
                }
            }
        }
    }
#pragma unroll
    for (int k = 0; k < TOP; k++) out[(base + t) * TOP + k] = best[k];
}
static void top_family() {
    if (!wanted("top8")) return;
    const int rows = SIZE(1 << 15, 1 << 8);
    auto values = random_floats((size_t)rows * ROW, -1, 1, 4);
    Device<float> in(values);
    Output<float> out((size_t)rows * TOP);
    auto check = [&] {
        auto got = out.host();
        return sampled(rows, 200, [&](size_t r) {
            std::vector<float> row(values.begin() + r * ROW, values.begin() + (r + 1) * ROW);
            std::sort(row.begin(), row.end(), [](float a, float b) { return a > b; });
            return std::equal(row.begin(), row.begin() + TOP, got.begin() + r * TOP);
        });
    };
    bench(
        "top8", "thread_registers", [&] { top_thread_registers<<<dim3(rows / 64), dim3(64)>>>(in, out, rows); }, check);
    bench("top8", "thread_scratch", [&] { top_thread_scratch<<<dim3(rows / 64), dim3(64)>>>(in, out, rows); }, check);
    bench("top8", "wave", [&] { top_wave<<<dim3(rows / (256 / WARP)), dim3(256)>>>(in, out, rows); }, check);
    bench("top8", "staged", [&] { top_staged<<<dim3(rows / 64), dim3(64)>>>(in, out, rows); }, check);
}

// ---------------------------------------------------------------- where the largest of each row of 2048 stands
static const int WIDE = 2048;
static __device__ __forceinline__ unsigned long long packed(float v, int at) {
    unsigned bits = (unsigned)__float_as_int(v);
    bits ^= bits >> 31 ? 0xffffffffu : 0x80000000u;
    return ((unsigned long long)bits << 32) | (unsigned)(WIDE - 1 - at);
}
__global__ void argmax_packed_lds(const float *__restrict__ in, int *__restrict__ out) {
    __shared__ unsigned long long s[256];
    int t = threadIdx.x;
    unsigned long long best = 0;
    for (int c = t; c < WIDE; c += 256) {
        unsigned long long p = packed(in[(size_t)blockIdx.x * WIDE + c], c);
        best = p > best ? p : best;
    }
    s[t] = best;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k && s[t + k] > s[t]) s[t] = s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = WIDE - 1 - (int)(s[0] & 0xffffffffu);
}
__global__ void argmax_pair_lds(const float *__restrict__ in, int *__restrict__ out) {
    __shared__ float value[256];
    __shared__ int where[256];
    int t = threadIdx.x, at = t;
    float best = -1e30f;
    for (int c = t; c < WIDE; c += 256) {
        float v = in[(size_t)blockIdx.x * WIDE + c];
        if (v > best) best = v, at = c;
    }
    value[t] = best;
    where[t] = at;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (t < k && (value[t + k] > value[t] || (value[t + k] == value[t] && where[t + k] < where[t])))
            value[t] = value[t + k], where[t] = where[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = where[0];
}
__global__ void argmax_wave(const float4 *__restrict__ in, int *__restrict__ out) {
    int lane = threadIdx.x % WARP, r = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, at = 0;
    float best = -1e30f;
    for (int c = lane; c < WIDE / 4; c += WARP) {
        float4 v = in[(size_t)r * (WIDE / 4) + c];
        if (v.x > best) best = v.x, at = 4 * c;
        if (v.y > best) best = v.y, at = 4 * c + 1;
        if (v.z > best) best = v.z, at = 4 * c + 2;
        if (v.w > best) best = v.w, at = 4 * c + 3;
    }
#pragma unroll
    for (int o = WARP / 2; o > 0; o >>= 1) {
        float v = __shfl_xor(best, o);
        int where = __shfl_xor(at, o);
        if (v > best || (v == best && where < at)) best = v, at = where;
    }
    if (lane == 0) out[r] = at;
}
__global__ void argmax_thread(const float4 *__restrict__ in, int *__restrict__ out) {
    int r = blockIdx.x * blockDim.x + threadIdx.x, at = 0;
    float best = -1e30f;
    for (int c = 0; c < WIDE / 4; c++) {
        float4 v = in[(size_t)r * (WIDE / 4) + c];
        if (v.x > best) best = v.x, at = 4 * c;
        if (v.y > best) best = v.y, at = 4 * c + 1;
        if (v.z > best) best = v.z, at = 4 * c + 2;
        if (v.w > best) best = v.w, at = 4 * c + 3;
    }
    out[r] = at;
}
static void argmax_family() {
    if (!wanted("argmax")) return;
    const int rows = SIZE(1 << 14, 1 << 7);
    auto values = random_floats((size_t)rows * WIDE, -1, 1, 5);
    Device<float> in(values);
    Output<int> out(rows);
    auto check = [&] {
        auto got = out.host();
        return sampled(rows, 500, [&](size_t r) {
            auto begin = values.begin() + r * WIDE;
            return got[r] == std::max_element(begin, begin + WIDE) - begin;
        });
    };
    bench("argmax", "block_packed", [&] { argmax_packed_lds<<<dim3(rows), dim3(256)>>>(in, out); }, check);
    bench("argmax", "block_pair", [&] { argmax_pair_lds<<<dim3(rows), dim3(256)>>>(in, out); }, check);
    bench(
        "argmax", "wave_float4", [&] { argmax_wave<<<dim3(rows / (256 / WARP)), dim3(256)>>>(in.as<float4>(), out); },
        check);
    bench(
        "argmax", "thread_float4", [&] { argmax_thread<<<dim3(rows / 64), dim3(64)>>>(in.as<float4>(), out); }, check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    segment_sort_family();
    top_family();
    argmax_family();
    return failed();
}
