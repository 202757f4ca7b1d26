// Shared memory (LDS): cycles a wave's access takes, by width, conflict degree and pattern, and its atomics. Local
// (scratch) arrays indexed at run time and constant memory besides.
#include "measure.h"

constexpr int kWords = 8192 + 128; // 32 KiB, and what a shifted wide access reaches beyond
constexpr int kFourth = 4;

template <class T> __device__ __forceinline__ float word(T v);
template <> __device__ __forceinline__ float word(float v) { return v; }
template <> __device__ __forceinline__ float word(float2 v) { return v.x + v.y; }
template <> __device__ __forceinline__ float word(float4 v) { return (v.x + v.y) + (v.z + v.w); }
template <class T> __device__ __forceinline__ T make(float v);
template <> __device__ __forceinline__ float make(float v) { return v; }
template <> __device__ __forceinline__ float2 make(float v) { return make_float2(v, v); }
template <> __device__ __forceinline__ float4 make(float v) { return make_float4(v, v, v, v); }

/// `lane_word`: each lane's word; the four accesses of the body are 2048 words apart.
template <class T, bool WRITE> __global__ void access(const int *lane_word, float *sink, long long *cycles, int step, int steps) {
  __shared__ __attribute__((aligned(16))) float words[kWords];
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = 0;
  int at = lane_word[threadIdx.x % kWave];
  float sum = 0;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    int shift = 0;
    __syncthreads();
    begin = clock64();
#pragma unroll 2
    for (int s = 0; s < steps; ++s) {
      if (WRITE) {
#pragma unroll
        for (int u = 0; u < kFourth; ++u) *(volatile float *)&words[at + shift + u * 2048] = (float)s;
      } else {
        T v[kFourth];
#pragma unroll
        for (int u = 0; u < kFourth; ++u) v[u] = *(const T *)&words[at + shift + u * 2048];
#pragma unroll
        for (int u = 0; u < kFourth; ++u) sum += word(v[u]);
      }
      shift = (shift + step) & step;
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  if (sum == 12345.0f || words[threadIdx.x] == 12345.0f) *sink = sum;
}
template <class T> __global__ void store_wide(const int *lane_word, float *sink, long long *cycles, int step, int steps) {
  __shared__ __attribute__((aligned(16))) float words[kWords];
  int at = lane_word[threadIdx.x % kWave], shift = 0;
  __syncthreads();
  long long begin = clock64();
  for (int s = 0; s < steps; ++s) {
#pragma unroll
    for (int u = 0; u < kFourth; ++u) *(T *)&words[at + shift + u * 2048] = make<T>((float)s);
    shift = (shift + step) & step;
    asm volatile("" ::: "memory"); // every step's stores happen
  }
  __syncthreads();
  long long end = clock64();
  report_cycles(cycles, begin, end);
  if (words[threadIdx.x * 8] == 12345.0f) *sink = 1;
}

enum Kind { int_increment, int_add, int_add_used, float_add, int_max, int_cas_used, long_add };
template <Kind KIND> __global__ void atomic(const int *lane_word, int *sink, long long *cycles, int steps) {
  __shared__ unsigned long long storage[kWords / 2];
  int *words = (int *)storage;
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = 0;
  int at = lane_word[threadIdx.x % kWave], used = 0;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
    for (int s = 0; s < steps; ++s) {
      if (KIND == int_increment) atomicAdd(&words[at], 1);
      if (KIND == int_add) atomicAdd(&words[at], s);
      if (KIND == int_add_used) used += atomicAdd(&words[at], used & 1);
      if (KIND == float_add) atomicAdd((float *)&words[at], 1.0f);
      if (KIND == int_max) atomicMax(&words[at], s);
      if (KIND == int_cas_used) used += atomicCAS(&words[at], used, s);
      if (KIND == long_add) atomicAdd(&storage[at / 2 * 1], 1ull);
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  if (used == 12345 || words[threadIdx.x] == 123456789) *sink = used;
}
/// Bins chosen at random by every lane, as a histogram does.
enum Random { add_int, add_float, add_by_swap, add_double };
/// Every lane adds to a bin of its own choice, at random in each step.
template <Random KIND> __global__ void atomic_random(int bins, int *sink, long long *cycles, int steps) {
  __shared__ long long words[kWords / 2];
  for (int i = threadIdx.x; i < kWords / 2; i += blockDim.x) words[i] = 0;
  __syncthreads();
  long long begin = clock64();
  for (int s = 0; s < steps; ++s) {
    // Two rounds of multiplication: neighbouring lanes must not take turns.
    unsigned h = (threadIdx.x + blockIdx.x * blockDim.x + s * 0x10001u) * 0x9e3779b9u;
    h = (h ^ h >> 15) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    int bin = (h >> 8) & (bins - 1);
    int *word = (int *)words + bin;
    if (KIND == add_int) atomicAdd(word, 1);
    if (KIND == add_float) atomicAdd((float *)word, 1.0f);
    if (KIND == add_double) atomicAdd((double *)words + bin, 1.0);
    if (KIND == add_by_swap) {
      int seen = *(volatile int *)word, was;
      do {
        was = seen;
        seen = atomicCAS(word, was, was + 3);
      } while (seen != was);
    }
  }
  __syncthreads();
  long long end = clock64();
  report_cycles(cycles, begin, end);
  if (words[threadIdx.x] == 123456789) *sink = 1;
}

__constant__ __attribute__((aligned(16))) float table[12288];
__global__ void constant_load(int spread, float *sink, long long *cycles, int step, int steps) {
  int at = (int)(threadIdx.x % kWave) % spread, shift = 0;
  float sum = 0;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
    for (int s = 0; s < steps; ++s) {
#pragma unroll
      for (int u = 0; u < kFourth; ++u) sum += table[at * 4 + shift + u];
      shift = (shift + step) & step;
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  if (sum == 12345.0f) *sink = sum;
}
__global__ void constant_uniform(float *sink, long long *cycles, int step, int steps) {
  int shift = 0;
  float sum = 0;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
    for (int s = 0; s < steps; ++s) {
#pragma unroll
      for (int u = 0; u < kFourth; ++u) sum += table[shift + u * 17];
      shift = (shift + step) & step;
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  if (sum == 12345.0f) *sink = sum;
}

/// Constants by how much of them is read: all lanes one place, the next one `sizeof(T)` further, or each a place of its own at random.
/// Waves begin at different places.
template <class T, bool RANDOM> __global__ void constant_footprint(float *sink, long long *cycles, unsigned bytes, int steps) {
  const char *base = (const char *)table;
  unsigned wave = threadIdx.x / kWave, at = wave * 208u * 16u % bytes;
  float sum = 0;
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
      unsigned place = at;
      if (RANDOM) {
        unsigned h = (threadIdx.x * 0x9e3779b9u) ^ (s * 0x85ebca6bu);
        h = (h ^ h >> 15) * 0xc2b2ae35u;
        place = __umulhi(h ^ h >> 13, bytes / sizeof(T)) * sizeof(T);
      }
      T v = *(const T *)(base + place);
      sum += *(const float *)&v;
      at += sizeof(T);
      if (at >= bytes) at -= bytes;
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  if (sum == 12345.0f) *sink = sum;
}

/// A private array of N words indexed at run time: one load and one store a step.
template <int N> __global__ void local_array(const int *lane_word, float *sink, long long *cycles, int stride, int steps) {
  float a[N];
  for (int i = 0; i < N; ++i) a[i] = (float)(i * stride);
  int at = lane_word[threadIdx.x % kWave] & (N - 1);
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) {
    __syncthreads();
    begin = clock64();
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      a[at] += 1.0f;
      at = (at + stride) & (N - 1);
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  float sum = 0;
  for (int i = 0; i < N; ++i) sum += a[(i + at) & (N - 1)];
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static float *sink_;
static int *offsets_;
static void set(const std::vector<int> &o) { CHECK(hipMemcpy(offsets_, o.data(), o.size() * 4, hipMemcpyHostToDevice)); }
static std::vector<int> lanes(std::function<int(int)> f) {
  std::vector<int> o(kWave);
  for (int l = 0; l < kWave; ++l) o[l] = f(l);
  return o;
}

template <Kind KIND> static void atomics(const char *kind) {
  const int steps = 128;
  char figure[96];
  snprintf(figure, sizeof figure, "shared_atomic_%s_cycles_per_wave_access", kind);
  for (int threads : {1024, kWave})
    for (int same : {1, 2, 4, 8, 16, 32}) { // lanes that share an address; the addresses lie in different banks
      set(lanes([&](int l) { return l / same * (KIND == long_add ? 2 : 1); }));
      emit(figure, {{"lanes_per_address", (double)same}, {"lanes_per_bank", 1}, {"waves_per_processor", (double)(threads / kWave)}},
           block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL(atomic<KIND>, dim3(processors()), dim3(threads), 0, 0, offsets_, (int *)sink_, c, steps); }) * (1.0 / (steps * (threads / kWave))), "cycles", "all waves of the block use the same addresses; cycles of the whole processor");
    }
  for (int degree : {2, 8, 32}) {
    set(lanes([&](int l) { return l / degree + 32 * (l % degree); }));
    emit(figure, {{"lanes_per_address", 1}, {"lanes_per_bank", (double)degree}, {"waves_per_processor", 1024.0 / kWave}},
         block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL(atomic<KIND>, dim3(processors()), dim3(1024), 0, 0, offsets_, (int *)sink_, c, steps); }) * (1.0 / (steps * (1024 / kWave))), "cycles", "different addresses in one bank");
  }
}

template <int N> static void local(int stride) {
  for (int waves : {4, 16, 32, 64}) {
    int per = waves > 32 ? 2 : 1, threads = waves / per * kWave, blocks = processors() * per;
    if (threads > 1024) continue;
    const int steps = 256;
    for (bool same : {true, false}) {
      set(lanes([&](int l) { return same ? 0 : l * 7; }));
      emit("local_array_cycles_per_wave_load_and_store", {{"words", N}, {"stride", (double)stride}, {"lanes_at_the_same_index", (double)same}, {"waves_per_processor", (double)waves}},
           block_cycles(blocks, [&](long long *c) { hipLaunchKernelGGL(local_array<N>, dim3(blocks), dim3(threads), 0, 0, offsets_, sink_, c, stride, steps); }) * (1.0 / (steps * waves)), "cycles", "a[at] += 1 in a private array; cycles of the whole processor over all its waves");
    }
  }
}

int main() {
  CHECK(hipMalloc((void **)&sink_, 1 << 22));
  CHECK(hipMalloc((void **)&offsets_, 4096));
  const int steps = 128, waves = 1024 / kWave;
  const double per = 1.0 / (steps * kFourth * waves);
  auto run = [&](auto kernel, const char *figure, std::initializer_list<At> at, int toggle, const char *how) {
    emit(figure, at, block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL(kernel, dim3(processors()), dim3(1024), 0, 0, offsets_, sink_, c, toggle, steps); }) * per, "cycles", how);
  };
  for (int degree : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32}) {
    set(lanes([&](int l) { return l / degree + 32 * (l % degree); }));
    run(access<float, false>, "shared_load_cycles_per_wave_access", {{"lanes_per_bank", (double)degree}, {"bytes_per_lane", 4}}, 1024, "different words of one bank; cycles of the whole processor, 1024 threads");
    run(access<float, true>, "shared_store_cycles_per_wave_access", {{"lanes_per_bank", (double)degree}, {"bytes_per_lane", 4}}, 1024, "different words of one bank; cycles of the whole processor, 1024 threads");
  }
  for (int distinct : {1, 2, 4, 8, 16}) {
    set(lanes([&](int l) { return l % distinct; }));
    run(access<float, false>, "shared_broadcast_load_cycles_per_wave_access", {{"distinct_words", (double)distinct}}, 1024, "lanes share words of different banks");
    run(access<float, true>, "shared_same_word_store_cycles_per_wave_access", {{"distinct_words", (double)distinct}}, 1024, "lanes store to the same words of different banks");
  }
  for (int stride : {1, 2, 4, 8, 16, 32}) {
    set(lanes([&](int l) { return l * stride * 2 % 2048; }));
    run(access<float2, false>, "shared_load_cycles_per_wave_access", {{"stride_elements", (double)stride}, {"bytes_per_lane", 8}}, 64, "lane i reads element i * stride");
    run(store_wide<float2>, "shared_store_cycles_per_wave_access", {{"stride_elements", (double)stride}, {"bytes_per_lane", 8}}, 64, "lane i writes element i * stride");
    set(lanes([&](int l) { return l * stride * 4 % 2048; }));
    run(access<float4, false>, "shared_load_cycles_per_wave_access", {{"stride_elements", (double)stride}, {"bytes_per_lane", 16}}, 64, "lane i reads element i * stride");
    run(store_wide<float4>, "shared_store_cycles_per_wave_access", {{"stride_elements", (double)stride}, {"bytes_per_lane", 16}}, 64, "lane i writes element i * stride");
  }
  set(lanes([&](int) { return 0; }));
  run(access<float4, false>, "shared_broadcast_load_cycles_per_wave_access", {{"distinct_words", 4}, {"bytes_per_lane", 16}}, 64, "all lanes read one float4");
  set(lanes([&](int l) { return l / 16 * 4; }));
  run(access<float4, false>, "shared_broadcast_load_cycles_per_wave_access", {{"distinct_words", 8}, {"bytes_per_lane", 16}}, 64, "half of the lanes read one float4, half the next");

  atomics<int_increment>("int_increment");
  atomics<int_add>("int_add");
  atomics<int_add_used>("int_add_used");
  atomics<float_add>("float_add");
  atomics<int_max>("int_max");
  atomics<int_cas_used>("int_compare_and_swap_used");
  atomics<long_add>("int64_add");
  auto at_random = [&](auto kernel, double kind, int bins, int threads) {
    const int each = 64;
    emit("shared_atomic_random_cycles_per_wave_access", {{"bins", (double)bins}, {"kind", kind}, {"waves_per_processor", (double)threads / kWave}}, block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL(kernel, dim3(processors()), dim3(threads), 0, 0, bins, (int *)sink_, c, each); }) * (1.0 / (each * (threads / kWave))), "cycles", "every lane adds to a random bin; kind 0: int, 1: float, 2: int by compare-and-swap, 3: double; cycles of the whole processor");
  };
  for (int threads : {64, 256, 1024})
    for (int bins : {16, 64, 256, 1024, 4096}) {
      at_random(atomic_random<add_int>, 0, bins, threads);
      at_random(atomic_random<add_float>, 1, bins, threads);
      at_random(atomic_random<add_by_swap>, 2, bins, threads);
      at_random(atomic_random<add_double>, 3, bins, threads);
    }

  for (int distinct : {1, 2, 4, 8, 16, 32})
    emit("constant_load_cycles_per_wave_access", {{"distinct_words", (double)distinct}}, block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL(constant_load, dim3(processors()), dim3(1024), 0, 0, distinct, sink_, c, 512, steps); }) * per, "cycles", "index computed from the lane, 16 bytes between the lanes' words; cycles of the whole processor");
  emit("constant_uniform_load_cycles_per_wave_access", {}, block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL(constant_uniform, dim3(processors()), dim3(1024), 0, 0, sink_, c, 512, steps); }) * per, "cycles", "index the compiler knows to be uniform; the add that consumes it included");

  auto footprint = [&](auto kernel, int bytes_per_lane, bool random, unsigned bytes, int threads) {
    const int each = 256;
    emit("constant_footprint_cycles_per_wave_access", {{"bytes", (double)bytes}, {"bytes_per_lane", (double)bytes_per_lane}, {"random", (double)random}, {"waves_per_processor", (double)threads / kWave}}, block_cycles(processors(), [&](long long *c) { hipLaunchKernelGGL(kernel, dim3(processors()), dim3(threads), 0, 0, sink_, c, bytes, each); }) * (1.0 / (each * (threads / kWave))), "cycles", "all lanes one constant and then the next, or each one at random; waves begin at different places; cycles of the whole processor");
  };
  for (int threads : {32, 256, 1024})
    for (unsigned bytes : {512u, 1024u, 1536u, 2048u, 3072u, 4096u, 8192u, 16384u, 32768u, 49152u}) {
      footprint(constant_footprint<float, false>, 4, false, bytes, threads);
      footprint(constant_footprint<float4, false>, 16, false, bytes, threads);
      footprint(constant_footprint<float, true>, 4, true, bytes, threads);
    }

  local<8>(1);
  local<16>(1);
  local<64>(1);
  local<64>(5);
  local<256>(1);
  local<1024>(1);
  return 0;
}
