// Exchange in a wave, barriers, branches and loops.
#include "measure.h"

enum Exchange { shuffle_xor, shuffle_down, shuffle_index, vote_ballot, vote_any, fence_block, fence_device };
template <Exchange KIND, int CHAINS> __global__ void exchange(int *sink, long long *cycles, int k, int steps) {
  int x[CHAINS];
  for (int c = 0; c < CHAINS; ++c) x[c] = threadIdx.x + c;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
#pragma unroll
      for (int u = 0; u < 8; ++u)
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) {
          if (KIND == shuffle_xor) x[c] = __shfl_xor(x[c], 1);
          if (KIND == shuffle_down) x[c] = __shfl_down(x[c], 1);
          if (KIND == shuffle_index) x[c] = __shfl(x[c], x[c] & 31);
          if (KIND == vote_ballot) x[c] = (int)__ballot(x[c] > k);
          if (KIND == vote_any) x[c] = __any(x[c] > k) + c;
          if (KIND == fence_block) __threadfence_block();
          if (KIND == fence_device) __threadfence();
        }
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  int sum = 0;
  for (int c = 0; c < CHAINS; ++c) sum += x[c];
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void barriers(int *sink, long long *cycles, int steps) {
  __shared__ int s[1024];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  long long begin = clock64();
#pragma unroll 8
  for (int i = 0; i < steps; ++i) __syncthreads();
  long long end = clock64();
  report_cycles(cycles, begin, end);
  sink[threadIdx.x] = s[threadIdx.x ^ 1];
}
/// A block reduction's step: store, barrier, load from another wave.
__global__ void exchange_by_barrier(int *sink, long long *cycles, int steps) {
  __shared__ int s[1024];
  int x = threadIdx.x;
  s[threadIdx.x] = x;
  __syncthreads();
  long long begin = clock64();
#pragma unroll 4
  for (int i = 0; i < steps; ++i) {
    x += s[(threadIdx.x + 32) & (blockDim.x - 1)];
    __syncthreads();
    s[threadIdx.x] = x;
    __syncthreads();
  }
  long long end = clock64();
  report_cycles(cycles, begin, end);
  sink[threadIdx.x] = x;
}

/// WAYS branches of 8 dependent fp32 fma each; `ways` of them are taken within a wave.
__global__ void branch(float *sink, long long *cycles, int ways, float a, float b, int steps) {
  float x = threadIdx.x;
  int way = (int)(threadIdx.x % kWave) % ways;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      switch (way) {
#define WAY(n)                                                                                                                 \
  case n:                                                                                                                      \
    _Pragma("unroll") for (int u = 0; u < 8; ++u) x = fmaf(x, a, b + n);                                                       \
    asm volatile("" : "+r"(way));                                                                                              \
    break;
        WAY(0) WAY(1) WAY(2) WAY(3) WAY(4) WAY(5) WAY(6) WAY(7)
      }
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  sink[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
/// if / else of 8 or 32 dependent fma on each side.
template <int WORK> __global__ void two_sides(float *sink, long long *cycles, int border, float a, float b, int steps) {
  float x = threadIdx.x;
  int lane = threadIdx.x % kWave;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      if (lane < border) {
#pragma unroll
        for (int u = 0; u < WORK; ++u) x = fmaf(x, a, b);
        asm volatile("" ::: "memory");
      } else {
#pragma unroll
        for (int u = 0; u < WORK; ++u) x = fmaf(x, b, a);
        asm volatile("" ::: "memory");
      }
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  sink[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
/// A loop of one fma; with `spread` the lanes of a wave leave it after different counts (the longest is `steps`).
__global__ void loop(float *sink, long long *cycles, int spread, float a, float b, int steps) {
  float x = threadIdx.x;
  long long begin = 0, end = 0;
  int trips = steps - (int)(threadIdx.x % kWave) * spread;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
#pragma unroll 1
    for (int s = 0; s < trips; ++s) x = fmaf(x, a, b);
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  sink[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/// Which pipes are one: a load of shared memory, one of the first-level cache and a shuffle, alone and beside each other.
template <bool SHARED, bool CACHE, bool SHUFFLE> __global__ void beside(const int *data, int *sink, long long *cycles, int step, int steps) {
  __shared__ int words[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = i;
  int a = 0, b = 0, c = threadIdx.x, shift = 0;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
    for (int s = 0; s < steps; ++s) {
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        if (SHARED) a += words[threadIdx.x % kWave + shift + u * 64];
        if (CACHE) b += data[threadIdx.x % kWave + shift + u * 64];
        if (SHUFFLE) c = __shfl_xor(c, 1);
      }
      shift = (shift + step) & step;
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  sink[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c;
}
/// N instructions without a jump, in a loop of which the first round finds the instruction caches cold.
template <int N> __global__ void straight(float *sink, long long *cycles, float a, float b, int rounds) {
  float x = threadIdx.x, y = threadIdx.x + 1, z = threadIdx.x + 2, w = threadIdx.x + 3;
  long long begin = 0, end = 0;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    begin = clock64();
#pragma unroll
    for (int u = 0; u < N / 4; ++u) x = fmaf(x, a, b), y = fmaf(y, a, b), z = fmaf(z, a, b), w = fmaf(w, a, b);
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  sink[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}

static int *sink_;
template <int N> static void straight_code() {
  static Device<float> flush((size_t)64 << 20);
  for (int waves : {4, 32})
    for (int rounds : {1, 4})
      emit("straight_code_cycles_per_instruction_and_wave", {{"instructions", N}, {"waves_per_processor", (double)waves}, {"cold", (double)(rounds == 1)}}, block_cycles(processors(), [&](long long *c) {
             CHECK(hipMemset(flush.data, 0, flush.count * 4)); // the code leaves the second-level cache too
             hipLaunchKernelGGL(straight<N>, dim3(processors()), dim3(waves * kWave), 0, 0, (float *)sink_, c, 0.999f, 0.5f, rounds);
           }) * (1.0 / N), "cycles", "fp32 fma of four chains without a jump, from a wave's view; cold: the first time through after 256 MiB were written");
}
template <Exchange KIND> static void exchanges(const char *name) {
  char figure[96];
  const int steps = 32;
  snprintf(figure, sizeof figure, "%s_cycles_per_wave_and_processor", name);
  emit(figure, {}, block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL((exchange<KIND, 4>), dim3(processors()), dim3(1024), 0, 0, sink_, c, 1 << 30, steps); }) * (1.0 / (steps * 8 * 4 * (1024 / kWave))), "cycles", "four chains a thread, 1024 threads; cycles of the whole processor, not of one scheduler");
  snprintf(figure, sizeof figure, "%s_latency_cycles", name);
  emit(figure, {}, block_cycles(1, [&](long long *c) { hipLaunchKernelGGL((exchange<KIND, 1>), dim3(1), dim3(kWave), 0, 0, sink_, c, 1 << 30, steps); }) * (1.0 / (steps * 8)), "cycles", "dependent chain of one wave");
}

int main() {
  CHECK(hipMalloc((void **)&sink_, 1 << 22));
  float *fsink = (float *)sink_;
  exchanges<shuffle_xor>("shuffle_xor");
  exchanges<shuffle_down>("shuffle_down");
  exchanges<shuffle_index>("shuffle_index_and_logic");
  exchanges<vote_ballot>("compare_and_ballot");
  exchanges<vote_any>("compare_any_and_add");
  exchanges<fence_block>("fence_block");
  exchanges<fence_device>("fence_device");
  const int *data = sink_;
  auto pipes = [&](auto kernel, double shared, double cache, double shuffle) {
    const int rounds = 64;
    emit("shared_cache_shuffle_cycles_per_wave", {{"shared_loads", shared}, {"cached_loads", cache}, {"shuffles", shuffle}}, block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL(kernel, dim3(processors()), dim3(1024), 0, 0, data, (int *)sink_ + 65536, c, 32, rounds); }) * (1.0 / (rounds * 4 * (1024 / kWave))), "cycles", "one of each named, beside each other; cycles of the whole processor");
  };
  pipes(beside<true, false, false>, 1, 0, 0);
  pipes(beside<false, true, false>, 0, 1, 0);
  pipes(beside<true, true, false>, 1, 1, 0);
  pipes(beside<true, false, true>, 1, 0, 1);
  pipes(beside<false, true, true>, 0, 1, 1);
  pipes(beside<true, true, true>, 1, 1, 1);
  straight_code<512>();
  straight_code<1024>();
  straight_code<2048>();
  straight_code<4096>();
  straight_code<8192>();
  straight_code<16384>();
  const int steps = 256;
  for (int waves : {1, 2, 4, 8, 16, 32}) {
    if (waves * kWave > 1024) continue;
    for (int blocks_each : {1, 2048 / (waves * kWave) > 16 ? 16 : 2048 / (waves * kWave)}) {
      int blocks = processors() * blocks_each;
      At w = {"waves_per_block", (double)waves}, e = {"blocks_per_processor", (double)blocks_each};
      emit("barrier_cycles", {w, e}, block_cycles(blocks, [&](long long *c) { hipLaunchKernelGGL(barriers, dim3(blocks), dim3(waves * kWave), 0, 0, sink_, c, steps); }) * (1.0 / steps), "cycles", "barriers one after the other, from a wave's view");
      emit("load_barrier_store_barrier_cycles", {w, e}, block_cycles(blocks, [&](long long *c) { hipLaunchKernelGGL(exchange_by_barrier, dim3(blocks), dim3(waves * kWave), 0, 0, sink_, c, steps); }) * (1.0 / steps), "cycles", "shared load, add, barrier, shared store, barrier, from a wave's view");
    }
  }
  for (int waves : {1, 4, 16, 32}) {
    if (waves * kWave > 1024) continue;
    At w = {"waves_per_processor", (double)waves};
    int blocks = processors(), threads = waves * kWave;
    for (int ways : {1, 2, 4, 8})
      emit("switch_cycles_per_iteration", {{"ways_taken", (double)ways}, w}, block_cycles(blocks, [&](long long *c) { hipLaunchKernelGGL(branch, dim3(blocks), dim3(threads), 0, 0, fsink, c, ways, 0.999f, 0.5f, steps); }) * (1.0 / steps), "cycles", "loop over an eight-way switch with 8 dependent fma a case, from a wave's view");
    for (int border : {0, kWave / 2, kWave}) {
      emit("if_else_cycles_per_iteration", {{"lanes_in_first_side", (double)border}, {"fma_per_side", 8}, w}, block_cycles(blocks, [&](long long *c) { hipLaunchKernelGGL(two_sides<8>, dim3(blocks), dim3(threads), 0, 0, fsink, c, border, 0.999f, 0.5f, steps); }) * (1.0 / steps), "cycles", "loop over if and else with dependent fma on each side, from a wave's view");
      emit("if_else_cycles_per_iteration", {{"lanes_in_first_side", (double)border}, {"fma_per_side", 32}, w}, block_cycles(blocks, [&](long long *c) { hipLaunchKernelGGL(two_sides<32>, dim3(blocks), dim3(threads), 0, 0, fsink, c, border, 0.999f, 0.5f, steps); }) * (1.0 / steps), "cycles", "loop over if and else with dependent fma on each side, from a wave's view");
    }
    for (int spread : {0, 8})
      emit("loop_cycles_per_iteration", {{"trips_apart_between_lanes", (double)spread}, w}, block_cycles(blocks, [&](long long *c) { hipLaunchKernelGGL(loop, dim3(blocks), dim3(threads), 0, 0, fsink, c, spread, 0.999f, 0.5f, 1024); }) * (1.0 / 1024), "cycles", "loop of one fma, not unrolled, over the longest lane's count");
  }
  return 0;
}
