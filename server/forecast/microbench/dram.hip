// Device memory behind the caches: streaming, bytes in flight, strides, partial sectors, random access.
#include "measure.h"

constexpr size_t kGiB = 1ull << 30;
constexpr size_t kBuffer = 4 * kGiB;

template <class T> __device__ __forceinline__ float word(T v);
template <> __device__ __forceinline__ float word(float v) { return v; }
template <> __device__ __forceinline__ float word(float2 v) { return v.x + v.y; }
template <> __device__ __forceinline__ float word(float4 v) { return v.x + v.y + v.z + v.w; }
template <class T> __device__ __forceinline__ T make(float v);
template <> __device__ __forceinline__ float make(float v) { return v; }
template <> __device__ __forceinline__ float2 make(float v) { return make_float2(v, v); }
template <> __device__ __forceinline__ float4 make(float v) { return make_float4(v, v, v, v); }

// One element a thread, as most kernels of an editor's file are written.
template <class T> __global__ void read_once(const T *in, float *sink) {
  T v = in[(size_t)blockIdx.x * blockDim.x + threadIdx.x];
  if (word(v) == 12345.0f) *sink = 1;
}
template <class T> __global__ void write_once(T *out, float v) { out[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = make<T>(v); }
template <class T> __global__ void copy_once(const T *in, T *out) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
// A grid that fills the device once and loops, UNROLL loads in flight a thread.
template <class T, int UNROLL> __global__ void read_loop(const T *in, size_t count, float *sink) {
  float sum = 0;
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step * UNROLL) {
    T v[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) v[u] = in[i + u * step]; // callers pass counts that divide
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) sum += word(v[u]);
  }
  if (sum == 12345.0f) *sink = 1;
}
template <class T> __global__ void copy_loop(const T *in, T *out, size_t count) {
  size_t step = (size_t)gridDim.x * blockDim.x;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) out[i] = in[i];
}

static float *in_, *out_, *sink_;

template <class T> static void streaming(const char *type) {
  const size_t bytes = kGiB, n = bytes / sizeof(T);
  char figure[96];
  for (int threads : {128, 256, 1024}) {
    dim3 grid(n / threads), block(threads);
    At t = {"threads_per_block", (double)threads}, b = {"bytes_per_lane", (double)sizeof(T)};
    (void)type;
    emit("dram_read_bytes_per_second", {b, t}, rate(bytes, event_seconds([&] { hipLaunchKernelGGL(read_once<T>, grid, block, 0, 0, (const T *)in_, sink_); })), "bytes/s", "1 GiB, one element a thread");
    emit("dram_write_bytes_per_second", {b, t}, rate(bytes, event_seconds([&] { hipLaunchKernelGGL(write_once<T>, grid, block, 0, 0, (T *)out_, 1.0f); })), "bytes/s", "1 GiB, one element a thread");
    emit("dram_copy_bytes_per_second", {b, t}, rate(2.0 * bytes, event_seconds([&] { hipLaunchKernelGGL(copy_once<T>, grid, block, 0, 0, (const T *)in_, (T *)out_); })), "bytes/s", "1 GiB to another GiB, bytes read plus written, one element a thread");
  }
  (void)figure;
  dim3 grid(processors() * 8), block(256);
  const size_t even = n / (processors() * 8 * 256 * 4) * (processors() * 8 * 256 * 4);
  emit("dram_read_loop_bytes_per_second", {{"bytes_per_lane", (double)sizeof(T)}}, rate((double)even * sizeof(T), event_seconds([&] { hipLaunchKernelGGL((read_loop<T, 4>), grid, block, 0, 0, (const T *)in_, even, sink_); })), "bytes/s", "1 GiB, grid of 8 blocks of 256 a processor that loops, 4 loads in flight a thread");
  emit("dram_copy_loop_bytes_per_second", {{"bytes_per_lane", (double)sizeof(T)}}, rate(2.0 * bytes, event_seconds([&] { hipLaunchKernelGGL(copy_loop<T>, grid, block, 0, 0, (const T *)in_, (T *)out_, n); })), "bytes/s", "1 GiB, grid of 8 blocks of 256 a processor that loops");
}

/// What a kernel of one element a thread reaches at sizes that the second-level cache holds and beyond, with the cache full
/// of other data at the start. Written data may still be in the cache at the end.
static void sizes() {
  for (double mib : {1, 4, 16, 32, 64, 128, 256, 512, 1024}) {
    size_t bytes = (size_t)(mib * (1 << 20));
    dim3 grid(bytes / 16 / 256), block(256);
    At m = {"size_mib", mib};
    auto flush = [&] {
      CHECK(hipMemset((char *)out_ + (3 * kGiB), 1, 256 << 20));
      hipLaunchKernelGGL((read_loop<float4, 1>), dim3(processors() * 8), dim3(256), 0, 0, (const float4 *)((char *)in_ + 3 * kGiB), (size_t)(256 << 20) / 16 / (processors() * 2048) * (processors() * 2048), sink_);
    };
    const char *how = "float4, one element a thread, blocks of 256, events around it; the second-level cache held other data, written and then read";
    emit("flushed_read_seconds", {m}, event_seconds([&] { hipLaunchKernelGGL(read_once<float4>, grid, block, 0, 0, (const float4 *)in_, sink_); }, flush), "s", how);
    emit("flushed_write_seconds", {m}, event_seconds([&] { hipLaunchKernelGGL(write_once<float4>, grid, block, 0, 0, (float4 *)out_, 1.0f); }, flush), "s", how);
    emit("flushed_copy_seconds", {m}, event_seconds([&] { hipLaunchKernelGGL(copy_once<float4>, grid, block, 0, 0, (const float4 *)in_, (float4 *)out_); }, flush), "s", how);
  }
}

/// Little's law: waves resident a processor times bytes each has in flight, against the bytes per second.
template <class T, int UNROLL> static void in_flight() {
  for (int waves : {1, 2, 4, 8, 16, 32, 48, 64}) {
    if (waves * kWave > 2048) continue;
    int blocks_each = waves > 16 ? waves / 16 : 1, threads = waves / blocks_each * kWave;
    // Far more than the second-level cache holds, and not so much that few waves take long.
    size_t want = std::min<size_t>(kGiB, std::max<size_t>(256 << 20, (size_t)(waves * UNROLL * sizeof(T)) * 4 * 1024 * 1024));
    size_t chunk = (size_t)processors() * blocks_each * threads * UNROLL;
    size_t count = std::max<size_t>(1, want / sizeof(T) / chunk) * chunk;
    Spread s = event_seconds([&] { hipLaunchKernelGGL((read_loop<T, UNROLL>), dim3(processors() * blocks_each), dim3(threads), 0, 0, (const T *)in_, count, sink_); });
    emit("dram_read_in_flight_bytes_per_second",
         {{"waves_per_processor", (double)waves}, {"bytes_per_lane", (double)sizeof(T)}, {"loads_in_flight", (double)UNROLL}, {"bytes_in_flight_per_processor", (double)(waves * kWave * UNROLL * sizeof(T))}},
         rate((double)count * sizeof(T), s), "bytes/s", "every processor, blocks of up to 16 waves, loads issued together then consumed");
  }
}

// Thread i touches `bytes` (a T) at i * stride; launches of `rounds` passes shifted by 128 bytes keep the time long enough.
template <class T> __global__ void strided_read(const char *in, size_t stride, unsigned per_round, float *sink) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  T v = *(const T *)(in + (i % per_round) * stride + (i / per_round) * 128);
  if (word(v) == 12345.0f) *sink = 1;
}
template <class T> __global__ void strided_write(char *out, size_t stride, unsigned per_round, float v) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  *(T *)(out + (i % per_round) * stride + (i / per_round) * 128) = make<T>(v);
}
template <class T> static void strided() {
  for (size_t stride : {8, 16, 32, 64, 96, 128, 256, 512, 1024, 4096, 16384, 65536}) {
    if (stride < sizeof(T)) continue;
    unsigned per_round = (unsigned)std::min<size_t>(kBuffer / stride, 1u << 25);
    unsigned total = std::max(per_round, std::min<unsigned>(1u << 25, per_round * (unsigned)std::max<size_t>(1, stride / 128)));
    dim3 grid(total / 256), block(256);
    At b = {"bytes_per_lane", (double)sizeof(T)}, s = {"stride_bytes", (double)stride};
    emit("dram_strided_read_accesses_per_second", {s, b}, rate(total, event_seconds([&] { hipLaunchKernelGGL(strided_read<T>, grid, block, 0, 0, (const char *)in_, stride, per_round, sink_); })), "accesses/s", "neighbouring lanes a stride apart; further passes over 4 GiB shifted by 128 bytes where the stride leaves fewer than 32 Mi places");
    emit("dram_strided_write_accesses_per_second", {s, b}, rate(total, event_seconds([&] { hipLaunchKernelGGL(strided_write<T>, grid, block, 0, 0, (char *)out_, stride, per_round, 1.0f); })), "accesses/s", "neighbouring lanes a stride apart; further passes over 4 GiB shifted by 128 bytes where the stride leaves fewer than 32 Mi places");
  }
}

// A tile of `sectors` sectors is written word by word: first word of every sector, then the second ones, ...: does the
// second-level cache merge the eight partial writes before the sector leaves for memory?
__global__ void merged_write(float *out, unsigned tile_sectors, float v) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  size_t tile = i / (tile_sectors * 8ull);
  unsigned in_tile = (unsigned)(i % (tile_sectors * 8ull));
  out[tile * tile_sectors * 8 + (size_t)(in_tile % tile_sectors) * 8 + in_tile / tile_sectors] = v;
}
// The same for reads: one word of each sector, then the next word, ...
__global__ void merged_read(const float *in, unsigned tile_sectors, float *sink) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  size_t tile = i / (tile_sectors * 8ull);
  unsigned in_tile = (unsigned)(i % (tile_sectors * 8ull));
  if (in[tile * tile_sectors * 8 + (size_t)(in_tile % tile_sectors) * 8 + in_tile / tile_sectors] == 12345.0f) *sink = 1;
}
static void merging() {
  const size_t bytes = kGiB;
  for (double mb : {0.25, 1.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 512.0}) {
    unsigned tile = (unsigned)(mb * (1 << 20) / 32);
    size_t whole = bytes / (tile * 32ull) * (tile * 32ull);
    dim3 grid(whole / 4 / 256), block(256);
    emit("dram_word_by_word_write_bytes_per_second", {{"tile_mib", mb}}, rate((double)whole, event_seconds([&] { hipLaunchKernelGGL(merged_write, grid, block, 0, 0, out_, tile, 1.0f); })), "bytes/s", "useful bytes; the words of each 32-byte sector are written in eight passes over a tile, 32 sectors a wave access");
    emit("dram_word_by_word_read_bytes_per_second", {{"tile_mib", mb}}, rate((double)whole, event_seconds([&] { hipLaunchKernelGGL(merged_read, grid, block, 0, 0, in_, tile, sink_); })), "bytes/s", "useful bytes; the words of each 32-byte sector are read in eight passes over a tile, 32 sectors a wave access");
  }
}

// CHUNK consecutive bytes at a random place are touched by CHUNK / 4 lanes; 8 chunks in flight a thread.
template <int CHUNK, bool WRITE> __global__ void random_access(float *data, size_t chunks, unsigned seed, float *sink) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, lanes = CHUNK / 4;
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    unsigned long long h = scatter(((unsigned long long)seed << 40) + ((unsigned long long)k << 32) + t / lanes);
    size_t place = (size_t)__umul64hi(h, chunks) * lanes + t % lanes;
    if (WRITE) data[place] = 1.0f;
    else sum += data[place];
  }
  if (!WRITE && sum == 12345.0f) *sink = 1;
}
template <int CHUNK> static void random_places(float *wide, size_t wide_bytes) {
  unsigned threads = 1u << 21, seed = 0;
  for (double mb : {1.0, 8.0, 16.0, 24.0, 30.0, 40.0, 50.0, 60.0, 128.0, 256.0, 1024.0, 4096.0, 16384.0, 32768.0}) {
    size_t bytes = (size_t)(mb * (1 << 20));
    if (bytes > wide_bytes) continue;
    size_t chunks = bytes / CHUNK;
    double done = threads * 8.0 / (CHUNK / 4);
    At f = {"footprint_mib", mb}, c = {"chunk_bytes", CHUNK};
    auto warm = [&] { // what fits the second-level cache is there
      if (mb <= 60) hipLaunchKernelGGL((read_loop<float, 1>), dim3(1024), dim3(256), 0, 0, wide, bytes / 4, sink_);
    };
    emit("random_read_chunks_per_second", {f, c}, rate(done, event_seconds([&] { hipLaunchKernelGGL((random_access<CHUNK, false>), dim3(threads / 256), dim3(256), 0, 0, wide, chunks, ++seed, sink_); }, warm)), "chunks/s", "aligned chunks at random places, 8 in flight a thread, hashing included");
    emit("random_write_chunks_per_second", {f, c}, rate(done, event_seconds([&] { hipLaunchKernelGGL((random_access<CHUNK, true>), dim3(threads / 256), dim3(256), 0, 0, wide, chunks, ++seed, sink_); }, warm)), "chunks/s", "aligned chunks at random places, 8 a thread, hashing included");
  }
}

int main() {
  CHECK(hipMalloc((void **)&in_, kBuffer + (1 << 20)));
  CHECK(hipMalloc((void **)&out_, kBuffer + (1 << 20)));
  CHECK(hipMalloc((void **)&sink_, 4096));
  CHECK(hipMemset(in_, 0, kBuffer));
  CHECK(hipMemset(out_, 0, kBuffer));
  streaming<float>("float");
  streaming<float2>("float2");
  streaming<float4>("float4");
  sizes();
  in_flight<float, 1>();
  in_flight<float, 4>();
  in_flight<float4, 1>();
  in_flight<float4, 4>();
  strided<float>();
  strided<float4>();
  merging();
  CHECK(hipFree(in_));
  CHECK(hipFree(out_));
  size_t wide_bytes = 32 * kGiB;
  float *wide;
  CHECK(hipMalloc((void **)&wide, wide_bytes));
  CHECK(hipMemset(wide, 0, wide_bytes));
  random_places<4>(wide, wide_bytes);
  random_places<32>(wide, wide_bytes);
  random_places<128>(wide, wide_bytes);
  random_places<512>(wide, wide_bytes);
  return 0;
}
