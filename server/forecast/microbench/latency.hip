// Latency of loads: one lane follows pointers through a footprint in a random order.
#include "measure.h"

constexpr size_t kMiB = 1ull << 20;

/// Places i of `order` (each `stride` bytes apart) become one cycle of pointers.
__global__ void link(char *base, const unsigned *order, unsigned count, size_t stride) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) *(char **)(base + order[i] * stride) = base + order[(i + 1) % count] * stride;
}
__global__ void follow(char *start, int steps, long long *cycles, char **sink) {
  char *p = start;
  for (int s = 0; s < steps; ++s) p = *(char **)p; // warms what fits
  long long begin = clock64();
  for (int s = 0; s < steps; s += 8)
#pragma unroll
    for (int u = 0; u < 8; ++u) p = *(char **)p;
  cycles[0] = clock64() - begin;
  *sink = p;
}
/// Each load of the second round timed alone: the caches' parts have different distances.
__global__ void follow_each(char *start, int steps, int *cycles, char **sink) {
  char *p = start;
  for (int s = 0; s < steps; ++s) p = *(char **)p;
  for (int s = 0; s < steps; ++s) {
    long long begin = clock64();
    p = *(char **)p;
    if (p == nullptr) break; // the clock is read after the load
    cycles[blockIdx.x * steps + s] = (int)(clock64() - begin);
  }
  *sink = p;
}

/// As `follow`, but the caches hold what the kernels before left there.
__global__ void follow_as_found(char *start, int steps, long long *cycles, char **sink) {
  char *p = start;
  long long begin = clock64();
  for (int s = 0; s < steps; s += 8)
#pragma unroll
    for (int u = 0; u < 8; ++u) p = *(char **)p;
  cycles[0] = clock64() - begin;
  *sink = p;
}
__global__ void sweep(const float4 *data, size_t count, char **sink) {
  float sum = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) sum += data[i].x;
  if (sum == 12345.0f) *sink = nullptr;
}

/// Slot i holds, `pitch` bytes apart, a pointer for each lane to its place in slot i + 1.
__global__ void link_lanes(char *base, unsigned slots, unsigned pitch) {
  unsigned slot = blockIdx.x, lane = threadIdx.x;
  *(char **)(base + (size_t)slot * 4096 + lane * pitch) = base + (size_t)((slot + 1) % slots) * 4096 + lane * pitch;
}
__global__ void follow_lanes(char *base, unsigned pitch, int warm, int steps, long long *cycles, char **sink) {
  char *p = base + threadIdx.x * pitch;
  for (int s = 0; s < warm; ++s) p = *(char **)p;
  long long begin = clock64();
  for (int s = 0; s < steps; s += 8)
#pragma unroll
    for (int u = 0; u < 8; ++u) p = *(char **)p;
  long long end = clock64();
  if (threadIdx.x == 0) cycles[0] = end - begin;
  sink[threadIdx.x] = p;
}

static std::vector<unsigned> shuffled(unsigned count) {
  std::vector<unsigned> order(count);
  for (unsigned i = 0; i < count; ++i) order[i] = i;
  for (unsigned i = count; i > 1; --i) std::swap(order[i - 1], order[scatter(i + 77) % i]);
  return order;
}

struct Chase {
  Device<char> memory{(size_t)32 * 1024 * kMiB};
  Device<unsigned> order{1 << 20};
  Device<char *> sink{64};

  void build(unsigned count, size_t stride) {
    order.upload(shuffled(count));
    hipLaunchKernelGGL(link, dim3((count + 255) / 256), dim3(256), 0, 0, memory.data, order.data, count, stride);
    CHECK(hipDeviceSynchronize());
  }

  /// The second-level cache holds the footprint, as far as it can, or (`flushed`) other data.
  void measure_found(const char *figure, double footprint_mib, size_t stride, bool flushed) {
    unsigned count = (unsigned)std::min<double>(1 << 20, footprint_mib * kMiB / stride);
    // Fewer places than fit the footprint at this stride lie evenly in it.
    size_t pitch = (size_t)(footprint_mib * kMiB / count) / 128 * 128;
    build(count, pitch);
    int steps = std::min<int>(count, 8192) / 8 * 8;
    size_t other = (size_t)31 * 1024 * kMiB, bytes = flushed ? 512 * kMiB : (size_t)(footprint_mib * kMiB);
    Spread s = block_cycles(1, [&](long long *c) {
                 hipLaunchKernelGGL(sweep, dim3(processors() * 2), dim3(1024), 0, 0, (const float4 *)(memory.data + (flushed ? other : 0)), bytes / 16, sink.data);
                 hipLaunchKernelGGL(follow_as_found, dim3(1), dim3(1), 0, 0, memory.data, steps, c, sink.data);
               }, 5) * (1.0 / steps);
    emit(figure, {{"footprint_mib", footprint_mib}, {"stride_bytes", (double)pitch}}, s, "cycles", flushed ? "one lane follows pointers in random order after a sweep of 512 MiB elsewhere: each load goes to memory" : "one lane follows pointers in random order after a sweep of the footprint by all processors");
  }

  void measure(const char *figure, double footprint_mib, size_t stride, int most_steps) {
    unsigned count = (unsigned)(footprint_mib * kMiB / stride);
    build(count, stride);
    int steps = std::max(64, std::min<int>(count, most_steps)) / 8 * 8;
    Spread s = block_cycles(1, [&](long long *c) { hipLaunchKernelGGL(follow, dim3(1), dim3(1), 0, 0, memory.data, steps, c, sink.data); }, 5) * (1.0 / steps);
    emit(figure, {{"footprint_mib", footprint_mib}, {"stride_bytes", (double)stride}}, s, "cycles", "one lane follows pointers in random order, second round timed");
  }
};

__global__ void follow_shared(int *cycles_out, long long *cycles, int degree, int steps) {
  __shared__ int next[32 * 32];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = i;
  __syncthreads();
  int lane = threadIdx.x % 32, at = lane / degree + 32 * (lane % degree); // `degree` lanes in one bank
  long long begin = 0;
  for (int pass = 0; pass < 2; ++pass) {
    begin = clock64();
    for (int s = 0; s < steps; s += 8)
#pragma unroll
      for (int u = 0; u < 8; ++u) at = next[at];
  }
  long long end = clock64();
  if (threadIdx.x == 0) cycles[0] = end - begin;
  cycles_out[threadIdx.x] = at;
}

__constant__ int constant_next[16384];
__global__ void follow_constant(int *out, long long *cycles, int start, int spread, int steps) {
  int at = start + (threadIdx.x % kWave) * spread;
  long long begin = 0;
  for (int pass = 0; pass < 2; ++pass) {
    begin = clock64();
    for (int s = 0; s < steps; s += 8)
#pragma unroll
      for (int u = 0; u < 8; ++u) at = constant_next[at];
  }
  long long end = clock64();
  if (threadIdx.x == 0) cycles[0] = end - begin;
  out[threadIdx.x] = at;
}

int main() {
  Chase chase;
  for (double kib : {8, 32, 64, 96, 128, 160, 192, 208, 224, 240, 256, 384}) chase.measure("load_latency_cycles", kib / 1024, 128, 8192);
  for (double mib : {4, 8}) chase.measure("load_latency_cycles", mib, 1024, 1 << 16);
  for (double mib : {4, 8, 16, 24, 28, 32, 36, 40, 48, 56, 60, 64, 80, 128}) chase.measure_found("load_latency_after_sweep_cycles", mib, 128, false);
  for (double mib : {2, 16, 64, 256, 1024, 4096, 16384, 30000}) chase.measure_found("dram_latency_cycles", mib, 128, true);
  // Few places far apart stay in the second-level cache, so what grows is the translation.
  for (double gib : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0, 16.0, 24.0, 31.0}) chase.measure("load_latency_pages_apart_cycles", gib * 1024, (2 << 20) + 128, 16384);

  // One wave's load by the lines that its lanes touch: found in the first level, in the second, in memory.
  for (unsigned pitch : {8u, 16u, 32u, 64u, 128u}) {
    At lines = {"lines", pitch * 32 / 128.0};
    auto chain = [&](const char *figure, unsigned slots, int warm, int steps, bool flushed) {
      hipLaunchKernelGGL(link_lanes, dim3(slots), dim3(32), 0, 0, chase.memory.data, slots, pitch);
      emit(figure, {lines}, block_cycles(1, [&](long long *c) {
             if (flushed) hipLaunchKernelGGL(sweep, dim3(processors() * 2), dim3(1024), 0, 0, (const float4 *)(chase.memory.data + ((size_t)31 << 30)), (size_t)(512 << 20) / 16, chase.sink.data);
             hipLaunchKernelGGL(follow_lanes, dim3(1), dim3(32), 0, 0, chase.memory.data, pitch, warm, steps, c, chase.sink.data);
           }) * (1.0 / steps), "cycles", "32 lanes follow pointers of 8 bytes, lanes evenly spread over the lines");
    };
    chain("l1_hit_latency_by_lines_cycles", 16, 16, 512, false);
    chain("l2_hit_latency_by_lines_cycles", 2048, 2048, 2048, false);
    chain("dram_latency_by_lines_cycles", 4096, 0, 1024, true);
  }
  { // near and far
    const unsigned count = 4096;
    chase.build(count, 1024);
    Device<int> cycles(processors() * count);
    for (int r = 0; r < 2; ++r) hipLaunchKernelGGL(follow_each, dim3(processors()), dim3(1), 0, 0, chase.memory.data, (int)count, cycles.data, chase.sink.data);
    CHECK(hipDeviceSynchronize());
    std::vector<int> raw = cycles.download();
    for (double q : {0.01, 0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99}) {
      std::vector<double> all(raw.begin(), raw.end()), medians;
      for (int b = 0; b < processors(); ++b) medians.push_back(quantile(std::vector<double>(raw.begin() + b * count, raw.begin() + (b + 1) * count), q));
      Spread s = spread(medians);
      s.value = quantile(all, q);
      emit("l2_hit_latency_quantile_cycles", {{"quantile", q}}, s, "cycles", "each load over 4 MiB timed alone with the clock's own cost, one lane on every processor at once; low and high are over processors");
    }
  }
  Device<int> out(1024);
  for (int degree : {1, 2, 4, 8, 16, 32})
    emit("shared_load_latency_cycles", {{"lanes_per_bank", (double)degree}}, block_cycles(1, [&](long long *c) { hipLaunchKernelGGL(follow_shared, dim3(1), dim3(32), 0, 0, out.data, c, degree, 1024); }) * (1.0 / 1024), "cycles", "one wave, dependent 4-byte loads");
  std::vector<int> self(16384);
  for (int i = 0; i < 16384; ++i) self[i] = i;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(constant_next), self.data(), self.size() * 4));
  for (int spread_words : {0, 1, 16})
    emit("constant_load_latency_cycles", {{"words_between_lanes", (double)spread_words}}, block_cycles(1, [&](long long *c) { hipLaunchKernelGGL(follow_constant, dim3(1), dim3(kWave), 0, 0, out.data, c, 0, spread_words, 256); }) * (1.0 / 256), "cycles", "one wave, dependent loads of __constant__ memory, warm");
  for (int words : {512, 1024, 4096, 16384}) { // a chain through the table: what of it the constant cache holds
    for (int i = 0; i < words; ++i) self[i] = (i + 16) % words;
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(constant_next), self.data(), self.size() * 4));
    emit("constant_walk_latency_cycles", {{"footprint_bytes", words * 4.0}}, block_cycles(1, [&](long long *c) { hipLaunchKernelGGL(follow_constant, dim3(1), dim3(kWave), 0, 0, out.data, c, 0, 0, words / 16 * 8); }) * (16.0 / words / 8), "cycles", "one wave, uniform index, 64 bytes further each load, around the footprint, second time round");
  }
  return 0;
}
