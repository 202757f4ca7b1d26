// What a launch costs between two events, how fast blocks start, and how a grid fills and drains the device.
#include "measure.h"

__global__ void empty() {}
__global__ void empty_with_arguments(float *, const float *, const float *, int, int, float) {}
template <int BYTES> __global__ void empty_shared(int never) {
  __shared__ char s[BYTES];
  if (never) ((volatile char *)s)[threadIdx.x] = s[(threadIdx.x + 1) % BYTES];
}
/// Holds registers: REGISTERS values live across a loop that never runs.
template <int REGISTERS> __global__ void empty_registers(float *data, int never) {
  if (!never) return;
  float r[REGISTERS];
#pragma unroll
  for (int i = 0; i < REGISTERS; ++i) r[i] = data[threadIdx.x + i * 1024];
  for (int k = 0; k < never; ++k)
#pragma unroll
    for (int i = 0; i < REGISTERS; ++i) r[i] = fmaf(r[i], r[(i + 1) % REGISTERS], r[(i + 7) % REGISTERS]);
#pragma unroll
  for (int i = 0; i < REGISTERS; ++i) data[threadIdx.x + i * 1024] = r[i];
}
/// One store a block: the least a real block does.
__global__ void tiny(float *data) {
  if (threadIdx.x == 0) data[blockIdx.x] = 1;
}
__global__ void tiny_barrier(float *data) {
  __shared__ float s[32];
  if (threadIdx.x == 0) s[0] = 1;
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) data[blockIdx.x] = s[0];
}
__global__ void work(float *data, int steps) {
  float x = threadIdx.x;
  for (int s = 0; s < steps; ++s) x = fmaf(x, 0.999f, 0.5f);
  if (x == 12345.0f) data[0] = x;
}
__global__ void busy(float4 *data, size_t count) {
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) data[i] = make_float4(1, 2, 3, 4);
}
/// A block that stays for `cycles` and, with STORE, ends in a store of every lane.
template <bool STORE> __global__ void hold(float *data, long long cycles) {
  long long begin = clock64();
  while (clock64() - begin < cycles) {}
  if (STORE) data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
enum Wait { on_memory, on_shared, on_arithmetic };
/// What a round of blocks does: every lane follows words of the second-level cache, or reads shared memory, or computes.
template <Wait WAIT> __global__ void round(const unsigned *next, unsigned words, float *data, int steps) {
  extern __shared__ float own[];
  unsigned at = (unsigned)(scatter(blockIdx.x * blockDim.x + threadIdx.x) % words);
  float x = threadIdx.x;
  for (int s = 0; s < steps; ++s) {
    if (WAIT == on_memory) at = next[at];
    if (WAIT == on_shared) {
#pragma unroll
      for (int u = 0; u < 32; ++u) x += *(volatile float *)&own[(threadIdx.x * 2 + u) & 1023];
    }
    if (WAIT == on_arithmetic) {
#pragma unroll
      for (int u = 0; u < 64; ++u) x = fmaf(x, 0.999f, 0.5f);
    }
  }
  if (x == 12345.0f || at == words) data[0] = x;
}
struct Times {
  long long begin, end;
};
__global__ void stamp(Times *times, int steps) {
  long long begin = wall_clock64();
  float x = threadIdx.x;
  for (int s = 0; s < steps; ++s) x = fmaf(x, 0.999f, 0.5f);
  __syncthreads();
  if (threadIdx.x == 0) times[blockIdx.x] = {begin, wall_clock64()};
  if (x == 12345.0f) times[0].begin = 0;
}

static float *data_;
template <class Launch> static void timed(const char *figure, std::initializer_list<At> at, Launch launch, const char *how) {
  emit(figure, at, event_seconds(launch, [] { hipLaunchKernelGGL(busy, dim3(processors() * 4), dim3(512), 0, 0, (float4 *)data_, (size_t)1 << 24); }, 15), "s", how);
}

int main() {
  CHECK(hipMalloc((void **)&data_, (size_t)256 << 20));
  emit("launch_idle_seconds", {}, event_seconds([] { hipLaunchKernelGGL(empty, dim3(1), dim3(32), 0, 0); }, [] { CHECK(hipDeviceSynchronize()); }, 31), "s", "events around an empty kernel, device idle before");
  timed("launch_empty_seconds", {}, [] {}, "events with nothing between, behind a kernel that writes 256 MiB");
  timed("launch_seconds", {}, [] { hipLaunchKernelGGL(empty, dim3(1), dim3(32), 0, 0); }, "one empty block, behind a kernel that writes 256 MiB");
  timed("launch_with_arguments_seconds", {}, [] { hipLaunchKernelGGL(empty_with_arguments, dim3(1), dim3(32), 0, 0, data_, data_, data_, 1, 2, 3.0f); }, "one empty block with six arguments, behind a kernel that writes 256 MiB");
  timed("launch_two_seconds", {}, [] { hipLaunchKernelGGL(empty, dim3(1), dim3(32), 0, 0); hipLaunchKernelGGL(empty_with_arguments, dim3(1), dim3(32), 0, 0, data_, data_, data_, 1, 2, 3.0f); }, "two empty kernels, behind a kernel that writes 256 MiB");

  const int grids[] = {1, processors(), processors() * 8, processors() * 64, processors() * 512, processors() * 4096};
  for (int threads : {32, 64, 128, 256, 512, 1024})
    for (int blocks : grids) {
      At t = {"threads_per_block", (double)threads}, b = {"blocks", (double)blocks};
      timed("blocks_empty_seconds", {t, b}, [&] { hipLaunchKernelGGL(empty, dim3(blocks), dim3(threads), 0, 0); }, "empty blocks, behind a kernel that writes 256 MiB");
      timed("blocks_one_store_seconds", {t, b}, [&] { hipLaunchKernelGGL(tiny, dim3(blocks), dim3(threads), 0, 0, data_); }, "each block stores one word");
      timed("blocks_barrier_and_store_seconds", {t, b}, [&] { hipLaunchKernelGGL(tiny_barrier, dim3(blocks), dim3(threads), 0, 0, data_); }, "each block stores to shared memory, waits at a barrier and stores one word");
      timed("blocks_shared_48k_seconds", {t, b}, [&] { hipLaunchKernelGGL(empty_shared<49152>, dim3(blocks), dim3(threads), 0, 0, 0); }, "empty blocks that own 48 KiB of shared memory");
      timed("blocks_shared_4k_seconds", {t, b}, [&] { hipLaunchKernelGGL(empty_shared<4096>, dim3(blocks), dim3(threads), 0, 0, 0); }, "empty blocks that own 4 KiB of shared memory");
      timed("blocks_fma_100_seconds", {t, b}, [&] { hipLaunchKernelGGL(work, dim3(blocks), dim3(threads), 0, 0, data_, 100); }, "each thread does 100 dependent fma in a loop");
      if (threads == 256) timed("blocks_registers_seconds", {t, b, {"values", 96}}, [&] { hipLaunchKernelGGL(empty_registers<96>, dim3(blocks), dim3(threads), 0, 0, data_, 0); }, "blocks that return at once from a kernel of many registers");
    }

  // Between a block's last instruction and the first one of the block that takes its place.
  int khz;
  CHECK(hipDeviceGetAttribute(&khz, hipDeviceAttributeClockRate, 0));
  for (int threads : {64, 128, 256, 512, 1024}) {
    const int resident = std::min(32, 2048 / threads), rounds = 40, held = 4000;
    auto turnaround = [&](auto kernel, const char *figure, const char *how) {
      Spread s = event_seconds([&] { hipLaunchKernelGGL(kernel, dim3(processors() * resident * rounds), dim3(threads), 0, 0, data_, (long long)held); }) - event_seconds([&] { hipLaunchKernelGGL(kernel, dim3(processors() * resident), dim3(threads), 0, 0, data_, (long long)held); }).value;
      emit(figure, {{"threads_per_block", (double)threads}, {"blocks_resident", (double)resident}}, s * (khz * 1e3 / (rounds - 1)) - held, "cycles", how);
    };
    turnaround(hold<false>, "block_turnaround_cycles", "blocks that stay 4000 cycles by the clock, 40 in each place: what a block takes beyond them, at the attribute's clock rate");
    turnaround(hold<true>, "block_turnaround_after_store_cycles", "the same, each lane storing one word at the end");
  }

  // A last round of a quarter: what it takes of the time of a full one. 0.25 where all units get as many of its blocks, 1 where a
  // few take as many as they can hold.
  const unsigned words = 1 << 18;
  std::vector<unsigned> step(words);
  for (unsigned i = 0; i < words; ++i) step[i] = (unsigned)((scatter(i + 1) ^ i) % words);
  Device<unsigned> next(words);
  next.upload(step);
  const int resident = 8;
  int lds;
  CHECK(hipDeviceGetAttribute(&lds, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 0));
  lds = (lds / resident - 1024) / 1024 * 1024;
  auto last_round = [&](auto kernel, const char *figure, int steps) {
    for (int rounds : {1, 2, 4, 8}) {
      auto seconds = [&](double of) {
        return event_seconds([&] { hipLaunchKernelGGL(kernel, dim3((unsigned)(processors() * resident * of)), dim3(256), lds, 0, next.data, words, data_, steps); }, [] { hipLaunchKernelGGL(busy, dim3(processors() * 4), dim3(512), 0, 0, (float4 *)data_, (size_t)1 << 22); }, 15);
      };
      double full = seconds(rounds).value;
      emit(figure, {{"rounds_before", (double)rounds}}, (seconds(rounds + 0.25) - full) * (1 / (seconds(rounds + 1).value - full)), "rounds", "eight blocks of 256 fit on a unit; by the times of so many rounds, a quarter more, and one more");
    }
  };
  last_round(round<on_memory>, "last_round_part_memory", 32);
  last_round(round<on_shared>, "last_round_part_shared_memory", 64);
  last_round(round<on_arithmetic>, "last_round_part_arithmetic", 128);

  Device<Times> times(processors() * 64);
  for (int threads : {128, 256, 1024}) {
    int resident = 2048 / threads, blocks = processors() * resident;
    const double quantiles[] = {0.1, 0.5, 0.9, 0.99, 1.0};
    std::vector<double> starts[5], ends[5];
    for (int r = 0; r < 15; ++r) {
      hipLaunchKernelGGL(busy, dim3(processors() * 4), dim3(512), 0, 0, (float4 *)data_, (size_t)1 << 22);
      hipLaunchKernelGGL(stamp, dim3(blocks), dim3(threads), 0, 0, times.data, 400);
      CHECK(hipDeviceSynchronize());
      std::vector<Times> t = times.download();
      t.resize(blocks);
      long long first = t[0].begin;
      for (Times x : t) first = std::min(first, x.begin);
      std::vector<double> begin, end;
      for (Times x : t) begin.push_back((x.begin - first) / wall_clock_hz()), end.push_back((x.end - first) / wall_clock_hz());
      for (int q = 0; q < 5; ++q) starts[q].push_back(quantile(begin, quantiles[q])), ends[q].push_back(quantile(end, quantiles[q]));
    }
    for (int q = 0; q < 5; ++q) {
      At t = {"threads_per_block", (double)threads}, w = {"quantile", quantiles[q]};
      emit("block_start_seconds", {t, w}, spread(starts[q]), "s", "from the first block's start, as many blocks as fit at once, 400 dependent fma each");
      emit("block_end_seconds", {t, w}, spread(ends[q]), "s", "from the first block's start, as many blocks as fit at once, 400 dependent fma each");
    }
  }
  return 0;
}
