// First- and second-level cache and shared memory: cycles a wave's access takes, by the lines, sectors and banks it touches,
// and bytes per second by footprint.
#include "measure.h"

template <class T> __device__ __forceinline__ float word(T v);
template <> __device__ __forceinline__ float word(float v) { return v; }
template <> __device__ __forceinline__ float word(float2 v) { return v.x + v.y; }
template <> __device__ __forceinline__ float word(float4 v) { return (v.x + v.y) + (v.z + v.w); }
template <class T> __device__ __forceinline__ T make(float v);
template <> __device__ __forceinline__ float make(float v) { return v; }
template <> __device__ __forceinline__ float2 make(float v) { return make_float2(v, v); }
template <> __device__ __forceinline__ float4 make(float v) { return make_float4(v, v, v, v); }

constexpr int kFourth = 4; // accesses in the loop's body, kSpan bytes apart
constexpr int kSpan = 16 * 1024;

/// All waves of a block access the same 64 KiB with the pattern of `lane_offset` (bytes).
template <class T> __global__ void l1_load(const char *base, const int *lane_offset, float *sink, long long *cycles, int step, int mask, int steps) {
  const char *p = base + lane_offset[threadIdx.x % kWave];
  float sum = 0;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    int shift = 0;
    __syncthreads();
    begin = clock64();
#pragma unroll 2
    for (int s = 0; s < steps; ++s) {
      T v[kFourth];
#pragma unroll
      for (int u = 0; u < kFourth; ++u) v[u] = *(const T *)(p + shift + u * kSpan);
#pragma unroll
      for (int u = 0; u < kFourth; ++u) sum += word(v[u]);
      shift = (shift + step) & mask;
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  if (sum == 12345.0f) *sink = sum;
}
/// Each wave access goes to 4 KiB that no other of the pass touches, so that nothing is found in the first level; the second
/// level holds all of it. Blocks start far apart.
template <class T> __global__ void l2_load(const char *base, const int *lane_offset, float *sink, long long *cycles, unsigned slots, int steps) {
  float sum = 0;
  long long begin = 0, end = 0;
  const char *p = base + lane_offset[threadIdx.x % kWave];
  unsigned waves = blockDim.x / kWave;
  for (int pass = 0; pass < 2; ++pass) {
    unsigned slot = blockIdx.x * 37 * kFourth + threadIdx.x / kWave * kFourth;
    __syncthreads();
    begin = clock64();
    for (int s = 0; s < steps; ++s) {
      T v[kFourth];
#pragma unroll
      for (int u = 0; u < kFourth; ++u) v[u] = *(const T *)(p + ((slot & (slots - 1)) * 4096u + u * 4096u));
#pragma unroll
      for (int u = 0; u < kFourth; ++u) sum += word(v[u]);
      slot += waves * kFourth;
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  if (sum == 12345.0f) *sink = sum;
}
/// Past the first level, over 192 KiB of the block's own without a gap: no other processor wants these lines. `slot_bytes` is
/// what the pattern spans.
template <class T> __global__ void l2_load_own(const char *base, const int *lane_offset, float *sink, long long *cycles, unsigned slot_bytes, unsigned slots, int steps) {
  float sum = 0;
  long long begin = 0, end = 0;
  const char *p = base + (size_t)blockIdx.x * slot_bytes * slots + lane_offset[threadIdx.x % kWave];
  unsigned step = blockDim.x / kWave * kFourth % slots;
  for (int pass = 0; pass < 2; ++pass) {
    unsigned slot = threadIdx.x / kWave * kFourth % slots;
    __syncthreads();
    begin = clock64();
    for (int s = 0; s < steps; ++s) {
      T v[kFourth];
#pragma unroll
      for (int u = 0; u < kFourth; ++u) v[u] = load_past_l1((const T *)(p + (slot + u) * slot_bytes));
#pragma unroll
      for (int u = 0; u < kFourth; ++u) sum += word(v[u]);
      slot += step;
      if (slot >= slots) slot -= slots;
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  if (sum == 12345.0f) *sink = sum;
}
/// Every wave stores to 8 KiB of its own, over and over.
template <class T> __global__ void l2_store(char *base, const int *lane_offset, long long *cycles, int steps) {
  long long begin = 0, end = 0;
  char *p = base + (size_t)(blockIdx.x * (blockDim.x / kWave) + threadIdx.x / kWave) * 8192 + lane_offset[threadIdx.x % kWave];
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
    for (int s = 0; s < steps; ++s)
#pragma unroll
      for (int u = 0; u < kFourth; ++u) {
        *(T *)(p + (u & 1) * 4096) = make<T>((float)(s + u));
        asm volatile("" ::: "memory"); // no store is dropped for a later one
      }
    __threadfence();
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
}

static char *memory_;
static float *sink_;
static int *offsets_;

static void set_offsets(const std::vector<int> &offsets) { CHECK(hipMemcpy(offsets_, offsets.data(), offsets.size() * 4, hipMemcpyHostToDevice)); }

/// `sectors` of 32 bytes are touched, spread over `lines` of 128; lanes share them evenly. `skewed`: the words lie in
/// different banks, else all at the start of their sector.
static std::vector<int> pattern(int lines, int sectors, bool skewed, int line_pitch) {
  std::vector<int> o(kWave);
  int per_line = sectors / lines;
  for (int lane = 0; lane < kWave; ++lane) {
    int sector = lane * sectors / kWave, line = sector / per_line, within = sector % per_line;
    int lanes_per_sector = kWave / sectors, word = lanes_per_sector > 1 ? lane % lanes_per_sector % 8 : (skewed ? line % 8 : 0);
    int turn = skewed ? (line / 8) % 4 : 0; // so that sectors of different lines use different quarters
    o[lane] = line * line_pitch + (within + turn) % 4 * 32 + word * 4;
  }
  return o;
}

struct Shape {
  int lines, sectors;
};
static const Shape kShapes[] = {{1, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 4}, {2, 8}, {4, 4}, {4, 8}, {4, 16}, {8, 8}, {8, 16}, {8, 32}, {16, 16}, {16, 32}, {32, 32}};

static void l1_patterns() {
  const int steps = 64, threads = 1024, waves = threads / kWave;
  for (bool skewed : {false, true})
    for (Shape s : kShapes) {
      set_offsets(pattern(s.lines, s.sectors, skewed, 128));
      Spread c = block_cycles(processors(), [&](long long *cycles) { hipLaunchKernelGGL(l1_load<float>, dim3(processors()), dim3(threads), 0, 0, memory_, offsets_, sink_, cycles, 4096, 8191, steps); });
      emit("l1_load_cycles_per_wave_access", {{"lines", (double)s.lines}, {"sectors", (double)s.sectors}, {"bytes_per_lane", 4}, {"different_banks", (double)skewed}}, c * (1.0 / (steps * kFourth * waves)), "cycles", "one block of 1024 on every processor, all hits; cycles of the whole processor");
    }
  for (int stride_words : {1, 2, 3, 4, 5, 8, 16, 17, 31, 32, 33, 64}) {
    std::vector<int> o(kWave);
    for (int lane = 0; lane < kWave; ++lane) o[lane] = lane * stride_words * 4;
    set_offsets(o);
    Spread c = block_cycles(processors(), [&](long long *cycles) { hipLaunchKernelGGL(l1_load<float>, dim3(processors()), dim3(threads), 0, 0, memory_, offsets_, sink_, cycles, 4096, 4096, steps); });
    emit("l1_strided_load_cycles_per_wave_access", {{"stride_words", (double)stride_words}, {"bytes_per_lane", 4}}, c * (1.0 / (steps * kFourth * waves)), "cycles", "lane i reads word i * stride, all hits");
  }
  auto wide = [&](auto tag, const char *figure) {
    using T = decltype(tag);
    for (int stride : {1, 2, 4, 8, 16, 32}) {
      std::vector<int> o(kWave);
      for (int lane = 0; lane < kWave; ++lane) o[lane] = lane * stride * (int)sizeof(T) % kSpan;
      set_offsets(o);
      Spread c = block_cycles(processors(), [&](long long *cycles) { hipLaunchKernelGGL(l1_load<T>, dim3(processors()), dim3(threads), 0, 0, memory_, offsets_, sink_, cycles, 16, 16, steps); });
      emit(figure, {{"stride_elements", (double)stride}, {"bytes_per_lane", (double)sizeof(T)}}, c * (1.0 / (steps * kFourth * waves)), "cycles", "lane i reads element i * stride, all hits");
    }
  };
  wide(float2{}, "l1_wide_load_cycles_per_wave_access");
  wide(float4{}, "l1_wide_load_cycles_per_wave_access");
}

static void l2_patterns() {
  const int steps = 32, threads = 1024, waves = threads / kWave;
  const unsigned slots = 4096; // 16 MiB
  for (int blocks : {1, processors() / 4, processors()})
    for (Shape s : kShapes) {
      set_offsets(pattern(s.lines, s.sectors, false, 128));
      At b = {"busy_processors", (double)blocks}, l = {"lines", (double)s.lines}, n = {"sectors", (double)s.sectors}, w = {"bytes_per_lane", 4};
      Spread c = block_cycles(blocks, [&](long long *cycles) { hipLaunchKernelGGL(l2_load<float>, dim3(blocks), dim3(threads), 0, 0, memory_, offsets_, sink_, cycles, slots, steps); });
      emit("l2_load_cycles_per_wave_access", {b, l, n, w}, c * (1.0 / (steps * kFourth * waves)), "cycles", "16 MiB footprint in the second level, nothing found in the first; cycles of the whole processor");
      c = block_cycles(blocks, [&](long long *cycles) { hipLaunchKernelGGL(l2_load_own<float>, dim3(blocks), dim3(threads), 0, 0, memory_, offsets_, sink_, cycles, (unsigned)s.lines * 128, 1536u / s.lines, steps); });
      emit("l2_load_own_cycles_per_wave_access", {b, l, n, w}, c * (1.0 / (steps * kFourth * waves)), "cycles", "192 KiB of the processor's own in the second level, past the first; cycles of the whole processor");
      c = block_cycles(blocks, [&](long long *cycles) { hipLaunchKernelGGL(l2_store<float>, dim3(blocks), dim3(threads), 0, 0, memory_, offsets_, cycles, steps); });
      emit("l2_store_cycles_per_wave_access", {b, l, n, w}, c * (1.0 / (steps * kFourth * waves)), "cycles", "8 KiB a wave, over and over, ended by a fence; cycles of the whole processor");
    }
  std::vector<int> o(kWave);
  for (int blocks : {1, 2, 4, 8, 16, 33, 66, 99, processors()}) {
    for (int lane = 0; lane < kWave; ++lane) o[lane] = lane * 16;
    set_offsets(o);
    At b = {"busy_processors", (double)blocks};
    const double bytes = (double)steps * kFourth * waves * kWave * 16;
    Spread c = block_cycles(blocks, [&](long long *cycles) { hipLaunchKernelGGL(l2_load<float4>, dim3(blocks), dim3(threads), 0, 0, memory_, offsets_, sink_, cycles, slots, steps); });
    emit("l2_read_shared_bytes_per_cycle_and_processor", {b}, rate(bytes, c), "bytes/cycle", "float4, coalesced, 16 MiB footprint, nothing found in the first level");
    c = block_cycles(blocks, [&](long long *cycles) { hipLaunchKernelGGL(l2_load_own<float4>, dim3(blocks), dim3(threads), 0, 0, memory_, offsets_, sink_, cycles, 512u, 384u, steps); });
    emit("l2_read_own_bytes_per_cycle_and_processor", {b}, rate(bytes, c), "bytes/cycle", "float4, coalesced, 192 KiB of each processor's own, past the first level");
    c = block_cycles(blocks, [&](long long *cycles) { hipLaunchKernelGGL(l2_store<float4>, dim3(blocks), dim3(threads), 0, 0, memory_, offsets_, cycles, steps); });
    emit("l2_write_bytes_per_cycle_and_processor", {b}, rate(bytes, c), "bytes/cycle", "float4, coalesced, 8 KiB a wave, over and over");
  }
}

// Bytes per second over a footprint: every processor reads all of it (each line is wanted everywhere), or each its own part.
__global__ void sweep_shared(const float4 *data, unsigned count, unsigned from_each, float *sink) {
  float sum = 0;
  unsigned at = (unsigned)((unsigned long long)count * blockIdx.x / gridDim.x) / blockDim.x * blockDim.x + threadIdx.x;
  for (unsigned done = 0; done < from_each; done += blockDim.x * 4) {
    float4 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      if (at >= count) at -= count;
      v[u] = load_past_l1(data + at);
      at += blockDim.x;
    }
#pragma unroll
    for (int u = 0; u < 4; ++u) sum += word(v[u]);
  }
  if (sum == 12345.0f) *sink = sum;
}
template <bool WRITE, bool PAST_L1> __global__ void sweep_private(float4 *data, unsigned count, unsigned passes, float *sink) {
  float sum = 0;
  unsigned step = gridDim.x * blockDim.x;
  for (unsigned pass = 0; pass < passes; ++pass)
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i + 3 * step < count; i += 4 * step) {
      if (WRITE) {
#pragma unroll
        for (int u = 0; u < 4; ++u) data[i + u * step] = make_float4(1, 2, 3, (float)pass);
      } else {
        float4 v[4];
#pragma unroll
        for (int u = 0; u < 4; ++u) v[u] = PAST_L1 ? load_past_l1(data + i + u * step) : data[i + u * step];
#pragma unroll
        for (int u = 0; u < 4; ++u) sum += word(v[u]);
      }
    }
  if (sum == 12345.0f) *sink = sum;
}
/// Where to go next from each word: one ring through all of them, in random order.
static std::vector<unsigned> ring(unsigned words) {
  std::vector<unsigned> order(words), next(words);
  for (unsigned i = 0; i < words; ++i) order[i] = i;
  for (unsigned i = words - 1; i > 0; --i) std::swap(order[i], order[scatter(i + 1) % (i + 1)]);
  for (unsigned i = 0; i < words; ++i) next[order[i]] = order[(i + 1) % words];
  return next;
}
/// Every lane follows the ring from a place of its own. Shared memory that the block owns is taken from the first level, where they are
/// one.
template <int SHARED_KIB> __global__ void follow(const unsigned *__restrict__ next, unsigned words, int *sink, long long *cycles, int steps) {
  __shared__ unsigned own[SHARED_KIB * 256];
  own[threadIdx.x] = 0;
  unsigned at = (unsigned)(scatter(blockIdx.x * blockDim.x + threadIdx.x) % words) + *(volatile unsigned *)&own[threadIdx.x];
  __syncthreads();
  long long begin = clock64();
  for (int s = 0; s < steps; ++s) at = next[at];
  __syncthreads();
  long long end = clock64();
  report_cycles(cycles, begin, end);
  if (at == words) *sink = 1;
}
static void l2_random() {
  const int steps = 128;
  for (unsigned kib : {1024, 8192}) {
    std::vector<unsigned> next = ring(kib * 256);
    Device<unsigned> words(next.size());
    words.upload(next);
    auto follows = [&](auto kernel, int blocks, int threads, double shared_kib) {
      for (int busy : {1, processors()}) {
        Spread c = block_cycles(busy * blocks, [&](long long *cycles) { hipLaunchKernelGGL(kernel, dim3(busy * blocks), dim3(threads), 0, 0, words.data, (unsigned)next.size(), (int *)sink_, cycles, steps); });
        // A few blocks alone have a processor each.
        double of_processor = busy == 1 ? 1 : blocks;
        emit("l2_random_load_cycles_per_line", {{"footprint_kib", (double)kib}, {"busy_processors", busy == 1 ? (double)blocks : busy}, {"shared_kib_per_processor", shared_kib * of_processor}}, c * (1.0 / (steps * threads * of_processor)), "cycles", "every lane's next address is what it just loaded, by plain loads that the first level seldom has; cycles of the whole processor");
      }
    };
    follows(follow<1>, 4, 256, 1);
    follows(follow<16>, 4, 256, 16);
    follows(follow<47>, 4, 256, 47);
    follows(follow<31>, 7, 128, 31);
  }
}

static void l2_footprints() {
  for (double mib : {2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 80, 100, 160, 320}) {
    unsigned count = (unsigned)(mib * (1 << 20) / 16);
    At f = {"footprint_mib", mib};
    int blocks = processors() * 2, threads = mib < 16 ? 256 : 1024;
    if (mib >= 16 && mib < 64) blocks = processors() * 1;
    count = count / (blocks * threads * 4) * (blocks * threads * 4);
    if (count == 0) count = blocks * threads * 4;
    unsigned from_each = std::max(1u << 18, count) / (threads * 4) * (threads * 4);
    if (mib > 100) from_each = count / 2 / (threads * 4) * (threads * 4);
    double actual = count * 16.0 / (1 << 20);
    At a = {"actual_mib", actual};
    emit("l2_read_everywhere_bytes_per_second", {f, a}, rate((double)from_each * 16 * blocks, event_seconds([&] { hipLaunchKernelGGL(sweep_shared, dim3(blocks), dim3(threads), 0, 0, (const float4 *)memory_, count, from_each, sink_); })), "bytes/s", "every processor reads the whole footprint, float4, past the first level");
    unsigned passes = std::max(2u, (unsigned)(1024 / actual));
    emit("l2_read_private_bytes_per_second", {f, a}, rate((double)count * 16 * passes, event_seconds([&] { hipLaunchKernelGGL((sweep_private<false, true>), dim3(blocks), dim3(threads), 0, 0, (float4 *)memory_, count, passes, sink_); })), "bytes/s", "each processor reads its own part over and over, float4, past the first level");
    if (mib >= 40) // less than that and the first-level caches hold part of it
      emit("l2_read_private_plain_bytes_per_second", {f, a}, rate((double)count * 16 * passes, event_seconds([&] { hipLaunchKernelGGL((sweep_private<false, false>), dim3(blocks), dim3(threads), 0, 0, (float4 *)memory_, count, passes, sink_); })), "bytes/s", "each processor reads its own part over and over, float4, plain loads");
    emit("l2_write_private_bytes_per_second", {f, a}, rate((double)count * 16 * passes, event_seconds([&] { hipLaunchKernelGGL((sweep_private<true, true>), dim3(blocks), dim3(threads), 0, 0, (float4 *)memory_, count, passes, sink_); })), "bytes/s", "each processor writes its own part over and over, float4");
  }
}

/// Each lane stores WORDS words next to each other, one after another; lanes are STRIDE words apart. PAUSE cycles between two stores.
template <int STRIDE, int WORDS, int PAUSE> __global__ void neighbours(int *data, unsigned mask) {
  unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) & mask;
#pragma unroll
  for (int k = 0; k < WORDS; ++k) {
    data[(size_t)STRIDE * i + k] = (int)i + k;
    asm volatile("" ::: "memory"); // they stay stores of 4 bytes
    if (PAUSE) {
      long long begin = clock64();
      while (clock64() - begin < PAUSE) {
      }
    }
  }
}
template <int STRIDE, int WORDS, int PAUSE> static void combined() {
  const int threads = 1 << 24;
  const double waves = (double)threads / kWave / processors();
  Spread seconds = event_seconds([&] { hipLaunchKernelGGL((neighbours<STRIDE, WORDS, PAUSE>), dim3(threads / 256), dim3(256), 0, 0, (int *)memory_, (1u << 20) - 1); });
  emit("combined_store_cycles_per_wave", {{"stride_words", STRIDE}, {"words", WORDS}, {"pause", PAUSE}}, seconds * (1.98e9 / waves), "cycles", "stores of 4 bytes one after another to words next to each other, all processors, 4 to 32 MiB; cycles of 1.98 GHz for all of a wave's stores");
}
static void combined_stores() {
  combined<4, 1, 0>();
  combined<4, 2, 0>();
  combined<4, 4, 0>();
  combined<4, 4, 50>();
  combined<4, 4, 200>();
  combined<2, 2, 0>();
  combined<3, 3, 0>();
  combined<8, 4, 0>();
  combined<8, 8, 0>();
}

int main() {
  CHECK(hipMalloc((void **)&memory_, (size_t)512 << 20));
  CHECK(hipMemset(memory_, 0, (size_t)512 << 20));
  CHECK(hipMalloc((void **)&sink_, 4096));
  CHECK(hipMalloc((void **)&offsets_, 4096));
  l1_patterns();
  l2_patterns();
  l2_random();
  l2_footprints();
  combined_stores();
  return 0;
}
