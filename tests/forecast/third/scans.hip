// Prefix sums, of segments and of one array.
#include "bench.h"

// ---------------------------------------------------------------- inclusive prefix sums of each 1024 numbers
static const int SEGMENT = 1024;
static __device__ __forceinline__ int wave_scan(int v) {
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int o = 1; o < WARP; o *= 2) {
        int below = __shfl_up(v, o);
        if (lane >= o) v += below;
    }
    return v;
}
/// Inclusive prefix sum over the block of WAVES waves; `sums` has an entry for each.
template <int WAVES> static __device__ __forceinline__ int block_scan(int v, int *sums) {
    int lane = threadIdx.x % WARP, wave = threadIdx.x / WARP;
    v = wave_scan(v);
    if (lane == WARP - 1) sums[wave] = v;
    __syncthreads();
    if (wave == 0) {
        int s = lane < WAVES ? sums[lane] : 0;
        s = wave_scan(s);
        if (lane < WAVES) sums[lane] = s;
    }
    __syncthreads();
    return wave ? v + sums[wave - 1] : v;
}
__global__ void scan_hillis_steele(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[SEGMENT];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * SEGMENT + t];
    __syncthreads();
    for (int o = 1; o < SEGMENT; o *= 2) {
        int below = t >= o ? s[t - o] : 0;
        __syncthreads();
        s[t] += below;
        __syncthreads();
    }
    out[blockIdx.x * SEGMENT + t] = s[t];
}
__global__ void scan_double_buffer(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[2][SEGMENT];
    int t = threadIdx.x, from = 0;
    s[0][t] = in[blockIdx.x * SEGMENT + t];
    __syncthreads();
    for (int o = 1; o < SEGMENT; o *= 2) {
        s[from ^ 1][t] = s[from][t] + (t >= o ? s[from][t - o] : 0);
        from ^= 1;
        __syncthreads();
    }
    out[blockIdx.x * SEGMENT + t] = s[from][t];
}
template <bool PADDED> static __device__ __forceinline__ int place(int i) { return PADDED ? i + i / 32 : i; }
// Blelloch: up and down a tree, two numbers a work-item.
template <bool PADDED> __global__ void scan_blelloch(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int s[SEGMENT + SEGMENT / 32];
    int t = threadIdx.x, base = blockIdx.x * SEGMENT, step = 1;
    int a = in[base + t], b = in[base + t + SEGMENT / 2];
    s[place<PADDED>(t)] = a;
    s[place<PADDED>(t + SEGMENT / 2)] = b;
    for (int d = SEGMENT / 2; d > 0; d /= 2, step *= 2) {
        __syncthreads();
        if (t < d) s[place<PADDED>(step * (2 * t + 2) - 1)] += s[place<PADDED>(step * (2 * t + 1) - 1)];
    }
    if (t == 0) s[place<PADDED>(SEGMENT - 1)] = 0;
    for (int d = 1; d < SEGMENT; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            int left = place<PADDED>(step * (2 * t + 1) - 1), right = place<PADDED>(step * (2 * t + 2) - 1);
            int v = s[left];
            s[left] = s[right];
            s[right] += v;
        }
    }
    __syncthreads();
    out[base + t] = s[place<PADDED>(t)] + a;
    out[base + t + SEGMENT / 2] = s[place<PADDED>(t + SEGMENT / 2)] + b;
}
__global__ void scan_shuffle(const int *__restrict__ in, int *__restrict__ out) {
    __shared__ int sums[SEGMENT / WARP];
    int i = blockIdx.x * SEGMENT + threadIdx.x;
    out[i] = block_scan<SEGMENT / WARP>(in[i], sums);
}
__global__ void scan_shuffle4(const int4 *__restrict__ in, int4 *__restrict__ out) {
    __shared__ int sums[256 / WARP];
    int i = blockIdx.x * 256 + threadIdx.x;
    int4 v = in[i];
    v.y += v.x, v.z += v.y, v.w += v.z;
    int before = block_scan<256 / WARP>(v.w, sums) - v.w;
    out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
}
__global__ void scan_wave(const int *__restrict__ in, int *__restrict__ out) {
    int lane = threadIdx.x % WARP, base = (blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP) * SEGMENT, before = 0;
    for (int k = lane; k < SEGMENT; k += WARP) {
        int v = wave_scan(in[base + k]) + before;
        out[base + k] = v;
        before = __shfl(v, WARP - 1);
    }
}
__global__ void scan_serial(const int *__restrict__ in, int *__restrict__ out) {
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * SEGMENT, sum = 0;
    for (int k = 0; k < SEGMENT; k++) out[base + k] = sum += in[base + k];
}
static void segment_scan_family() {
    if (!wanted("segment_scan")) return;
    const int n = SIZE(1 << 24, 1 << 16), segments = n / SEGMENT;
    auto words = random_words(n, 1);
    std::vector<int> values(words.begin(), words.end());
    for (int &v : values) v &= 1023;
    Device<int> in(values);
    Output<int> out(n);
    auto check = [&] {
        auto got = out.host();
        return sampled(segments, 200, [&](size_t s) {
            int sum = 0;
            for (int k = 0; k < SEGMENT; k++)
                if (got[s * SEGMENT + k] != (sum += values[s * SEGMENT + k])) return false;
            return true;
        });
    };
    dim3 grid(segments);
    bench("segment_scan", "hillis_steele", [&] { scan_hillis_steele<<<grid, dim3(1024)>>>(in, out); }, check);
    bench("segment_scan", "double_buffer", [&] { scan_double_buffer<<<grid, dim3(1024)>>>(in, out); }, check);
    bench("segment_scan", "blelloch", [&] { scan_blelloch<false><<<grid, dim3(512)>>>(in, out); }, check);
    bench("segment_scan", "blelloch_padded", [&] { scan_blelloch<true><<<grid, dim3(512)>>>(in, out); }, check);
    bench("segment_scan", "shuffle", [&] { scan_shuffle<<<grid, dim3(1024)>>>(in, out); }, check);
    bench(
        "segment_scan", "shuffle4", [&] { scan_shuffle4<<<grid, dim3(256)>>>(in.as<int4>(), out.as<int4>()); }, check);
    bench("segment_scan", "wave", [&] { scan_wave<<<dim3(segments / (256 / WARP)), dim3(256)>>>(in, out); }, check);
    bench("segment_scan", "serial", [&] { scan_serial<<<dim3(segments / 64), dim3(64)>>>(in, out); }, check);
}

// ---------------------------------------------------------------- inclusive prefix sums of one long array, three kernels
__global__ void totals_of_tiles(const int4 *__restrict__ in, int *__restrict__ totals) {
    __shared__ int s[256 / WARP];
    int4 v = in[blockIdx.x * 256 + threadIdx.x];
    int sum = block_scan<256 / WARP>(v.x + v.y + v.z + v.w, s);
    if (threadIdx.x == 255) totals[blockIdx.x] = sum;
}
// One block: each of 1024 work-items adds up a stretch, the block scans these, each writes its stretch.
__global__ void scan_totals(int *__restrict__ totals, int tiles) {
    __shared__ int s[1024 / WARP];
    int each = (tiles + 1023) / 1024, begin = threadIdx.x * each, end = min(begin + each, tiles), sum = 0;
    for (int k = begin; k < end; k++) sum += totals[k];
    int before = block_scan<1024 / WARP>(sum, s) - sum;
    for (int k = begin; k < end; k++) {
        int v = totals[k];
        totals[k] = before;
        before += v;
    }
}
__global__ void scan_tiles_after(const int4 *__restrict__ in, int4 *__restrict__ out,
                                 const int *__restrict__ before_tile) {
    __shared__ int s[256 / WARP];
    int i = blockIdx.x * 256 + threadIdx.x;
    int4 v = in[i];
    v.y += v.x, v.z += v.y, v.w += v.z;
    int before = block_scan<256 / WARP>(v.w, s) - v.w + before_tile[blockIdx.x];
    out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
}
__global__ void scan_tiles(const int4 *__restrict__ in, int4 *__restrict__ out, int *__restrict__ totals) {
    __shared__ int s[256 / WARP];
    int i = blockIdx.x * 256 + threadIdx.x;
    int4 v = in[i];
    v.y += v.x, v.z += v.y, v.w += v.z;
    int upto = block_scan<256 / WARP>(v.w, s), before = upto - v.w;
    out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
    if (threadIdx.x == 255) totals[blockIdx.x] = upto;
}
__global__ void add_before(int4 *__restrict__ out, const int *__restrict__ before_tile) {
    int i = blockIdx.x * 256 + threadIdx.x, b = before_tile[blockIdx.x];
    int4 v = out[i];
    out[i] = make_int4(v.x + b, v.y + b, v.z + b, v.w + b);
}
// Few blocks, each with a long stretch of its own that it walks twice.
__global__ void totals_of_stretches(const int *__restrict__ in, int *__restrict__ totals, int each) {
    __shared__ int s[256 / WARP];
    int sum = 0;
    for (int k = threadIdx.x; k < each; k += 256) sum += in[blockIdx.x * each + k];
    sum = block_scan<256 / WARP>(sum, s);
    if (threadIdx.x == 255) totals[blockIdx.x] = sum;
}
__global__ void scan_stretches(const int *__restrict__ in, int *__restrict__ out,
                               const int *__restrict__ before_stretch, int each) {
    __shared__ int s[256 / WARP];
    __shared__ int carried;
    int before = before_stretch[blockIdx.x];
    for (int k = threadIdx.x; k < each; k += 256) {
        int v = block_scan<256 / WARP>(in[blockIdx.x * each + k], s) + before;
        out[blockIdx.x * each + k] = v;
        if (threadIdx.x == 255) carried = v;
        __syncthreads();
        before = carried;
    }
}
static void array_scan_family() {
    if (!wanted("array_scan")) return;
    const int n = SIZE(1 << 24, 1 << 16), tiles = n / 1024, stretches = SIZE(512, 16);
    auto words = random_words(n, 2);
    std::vector<int> values(words.begin(), words.end()), sums(n);
    int sum = 0;
    for (int i = 0; i < n; i++) values[i] &= 63, sums[i] = sum += values[i];
    Device<int> in(values), totals(tiles);
    Output<int> out(n);
    auto check = [&] { return out.host() == sums; };
    dim3 block(256);
    bench(
        "array_scan", "reduce_then_scan",
        [&] {
            totals_of_tiles<<<dim3(tiles), block>>>(in.as<int4>(), totals);
            scan_totals<<<dim3(1), dim3(1024)>>>(totals, tiles);
            scan_tiles_after<<<dim3(tiles), block>>>(in.as<int4>(), out.as<int4>(), totals);
        },
        check);
    bench(
        "array_scan", "scan_then_add",
        [&] {
            scan_tiles<<<dim3(tiles), block>>>(in.as<int4>(), out.as<int4>(), totals);
            scan_totals<<<dim3(1), dim3(1024)>>>(totals, tiles);
            add_before<<<dim3(tiles), block>>>(out.as<int4>(), totals);
        },
        check);
    bench(
        "array_scan", "stretches",
        [&] {
            totals_of_stretches<<<dim3(stretches), block>>>(in, totals, n / stretches);
            scan_totals<<<dim3(1), dim3(1024)>>>(totals, stretches);
            scan_stretches<<<dim3(stretches), block>>>(in, out, totals, n / stretches);
        },
        check);
}

int main(int argc, char **argv) {
    read_filter(argc, argv);
    segment_scan_family();
    array_scan_family();
    return failed();
}
