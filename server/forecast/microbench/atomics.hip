// Atomics on global memory: rates by how addresses are shared, with and without use of the result, and latency.
#include "measure.h"

enum Kind { int_add, int_add_used, float_add, float_add_used, int_max, int_cas_used, long_add, double_add };
static const char *kKindName[] = {"int_add", "int_add_used", "float_add", "float_add_used", "int_max", "int_compare_and_swap_used", "int64_add", "double_add"};

template <Kind KIND> __device__ __forceinline__ int apply(char *p, int used) {
  if (KIND == int_add) atomicAdd((int *)p, 1);
  if (KIND == int_add_used) used += atomicAdd((int *)p, 1);
  if (KIND == float_add) atomicAdd((float *)p, 1.0f);
  if (KIND == float_add_used) used += (int)atomicAdd((float *)p, 1.0f);
  if (KIND == int_max) atomicMax((int *)p, used + (int)threadIdx.x);
  if (KIND == int_cas_used) used += atomicCAS((int *)p, used, 1);
  if (KIND == long_add) atomicAdd((unsigned long long *)p, 1ull);
  if (KIND == double_add) atomicAdd((double *)p, 1.0);
  return used;
}

enum Where { one, one_by_one_lane, by_lane, by_wave, random_place, own };
/// `places` addresses, `pitch` bytes apart. one: every lane of the grid the first place; one_by_one_lane: a single lane a
/// wave; by_lane: lane l place l % places; by_wave: every lane of wave w place w % places; random_place; own: thread t
/// place t.
template <Kind KIND, Where WHERE> __global__ void update(char *data, unsigned places, unsigned pitch, int each, int *sink, long long *cycles) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  int used = 0;
  long long begin = clock64();
  for (int k = 0; k < each; ++k) {
    unsigned place = 0;
    if (WHERE == by_lane) place = (t % kWave) % places;
    if (WHERE == by_wave) place = (t / kWave + k) % places;
    if (WHERE == random_place) place = __umulhi((unsigned)(scatter(t + (unsigned long long)k * threads) >> 32), places);
    if (WHERE == own) place = (unsigned)(((unsigned long long)k * threads + t) % places);
    if (WHERE != one_by_one_lane || threadIdx.x % kWave == 0) used = apply<KIND>(data + (size_t)place * pitch, used);
  }
  __syncthreads(); // no fence: with one, nvcc gives up the form of the instruction that returns nothing
  if (cycles) report_cycles(cycles, begin, clock64());
  if (used == 123456789) *sink = used;
}
/// The next address depends on the last result.
template <Kind KIND> __global__ void depend(char *data, int lane_pitch, int steps, int *sink, long long *cycles) {
  char *p = data + (threadIdx.x % kWave) * lane_pitch;
  long long begin = 0;
  int used = 0;
  for (int pass = 0; pass < 2; ++pass) {
    begin = clock64();
    for (int s = 0; s < steps; ++s) {
      if (KIND == int_add_used) used = atomicAdd((int *)p, used & 1);
      if (KIND == float_add_used) used = (int)atomicAdd((float *)p, (float)(used & 1));
      if (KIND == int_cas_used) used = atomicCAS((int *)p, used & 1, 1);
    }
  }
  long long end = clock64();
  if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
  sink[threadIdx.x] = used;
}

/// One addition a thread to a counter chosen by an index read from memory, as a histogram without shared memory does.
__global__ void count(const unsigned *index, char *counters, unsigned pitch) {
  atomicAdd((unsigned *)(counters + (size_t)index[blockIdx.x * blockDim.x + threadIdx.x] * pitch), 1u);
}
/// As many a thread, indices computed: the same without the loads' delay.
__global__ void count_computed(char *counters, unsigned places, unsigned pitch, int each) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < each; ++k) {
    unsigned z = (t * each + k) * 2654435761u;
    z ^= z >> 15;
    z *= 0x85ebca6bu;
    z ^= z >> 13;
    atomicAdd((unsigned *)(counters + (size_t)(z & (places - 1)) * pitch), 1u);
  }
}

/// Every thread adds to a random place by a loop of compare-and-swap.
__global__ void swap_until_done(int *data, unsigned places, unsigned pitch, int each) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < each; ++k) {
    unsigned place = __umulhi((unsigned)(scatter(t + (unsigned long long)k * threads) >> 32), places);
    int *word = (int *)((char *)data + (size_t)place * pitch), seen = *(volatile int *)word, was;
    do {
      was = seen;
      seen = atomicCAS(word, was, was + 3);
    } while (seen != was);
  }
}

static char *data_;
static int *sink_;

static void swaps() {
  for (int blocks : {1, 8, processors(), processors() * 8})
    for (unsigned places : {1u, 16u, 256u, 1024u, 4096u, 65536u, 1u << 20}) {
      const double waiting = (double)blocks * 256 / places;
      if (waiting > 5000) continue; // no end in sight
      const int each = waiting > 200 ? 1 : 4;
      emit("global_swap_until_done_per_second", {{"places", (double)places}, {"blocks_of_256", (double)blocks}}, rate((double)blocks * 256 * each, event_seconds([&] { hipLaunchKernelGGL(swap_until_done, dim3(blocks), dim3(256), 0, 0, (int *)data_, places, 32u, each); }, [] {}, 3)), "updates/s", "a loop of compare-and-swap that adds to a random one of the places, 32 bytes apart");
    }
}

template <Kind KIND, Where WHERE> static void grid_rate(const char *where, unsigned places, unsigned pitch, double lanes) {
  int each = 4;
  unsigned threads = (unsigned)lanes / each / 256 * 256;
  double done = (double)threads * each / (WHERE == one_by_one_lane ? kWave : 1);
  // Few places: which slices of the second-level cache they fall into is luck of the address, so several are tried.
  std::vector<double> medians;
  const size_t span = (size_t)places * pitch;
  for (int k = 0; k < (span <= (1 << 20) ? 9 : 1); ++k) {
    char *base = data_ + (span <= (1 << 20) ? k * ((size_t)37 << 20) + k * 11 * 512 : 0);
    medians.push_back(event_seconds([&] { hipLaunchKernelGGL((update<KIND, WHERE>), dim3(threads / 256), dim3(256), 0, 0, base, places, pitch, each, sink_, (long long *)nullptr); }, [] {}, 3).value);
  }
  Spread s = spread(medians);
  char figure[128], how[160];
  snprintf(figure, sizeof figure, "global_atomic_%s_per_second", kKindName[KIND]);
  snprintf(how, sizeof how, "%s; whole device, 4 a thread, lanes counted; low and high are over places in memory where these are few", where);
  emit(figure, {{"pattern", (double)WHERE}, {"places", (double)places}, {"pitch_bytes", (double)pitch}}, rate(done, s), "atomics/s", how);
}
static void counters() {
  const unsigned n = 1u << 24;
  Device<unsigned> index(n);
  for (unsigned places : {2u, 8u, 32u, 64u, 128u, 256u, 512u, 1024u, 4096u, 16384u})
    for (unsigned pitch : {4u, 32u, 128u}) {
      std::vector<unsigned> host(n);
      for (unsigned i = 0; i < n; ++i) host[i] = (unsigned)(scatter(i + 12345) >> 40) & (places - 1);
      index.upload(host);
      std::vector<double> read, computed;
      for (int k = 0; k < 8; ++k) {
        char *base = data_ + k * ((size_t)37 << 20) + k * 11 * 512;
        read.push_back(event_seconds([&] { hipLaunchKernelGGL(count, dim3(n / 256), dim3(256), 0, 0, index.data, base, pitch); }, [] {}, 3).value);
        computed.push_back(event_seconds([&] { hipLaunchKernelGGL(count_computed, dim3(n / 256), dim3(256), 0, 0, base, places, pitch, 1); }, [] {}, 3).value);
      }
      At p = {"places", (double)places}, d = {"pitch_bytes", (double)pitch};
      emit("global_counters_per_second", {p, d}, rate(n, spread(read)), "atomics/s", "each of 16 Mi threads reads an index and adds 1 to that counter; low and high are over places in memory");
      emit("global_counters_computed_per_second", {p, d}, rate(n, spread(computed)), "atomics/s", "each of 16 Mi threads computes an index and adds 1 to that counter; low and high are over places in memory");
    }
}
template <Kind KIND, Where WHERE> static void processor_rate(const char *where, unsigned places, unsigned pitch) {
  char figure[128], how[160];
  snprintf(figure, sizeof figure, "global_atomic_%s_cycles_per_wave_access", kKindName[KIND]);
  snprintf(how, sizeof how, "%s; one block of 1024 on one processor", where);
  const int each = 64;
  for (int blocks : {1, 8, processors()}) {
    Spread c = block_cycles(blocks, [&](long long *cycles) { hipLaunchKernelGGL((update<KIND, WHERE>), dim3(blocks), dim3(1024), 0, 0, data_, places, pitch, each, sink_, cycles); }, 5);
    emit(figure, {{"pattern", (double)WHERE}, {"places", (double)places}, {"pitch_bytes", (double)pitch}, {"busy_processors", (double)blocks}}, c * (1.0 / (each * (1024 / kWave))), "cycles", how);
  }
}
template <Kind KIND> static void kind() {
  const double few = 1 << 22, many = 1 << 25;
  grid_rate<KIND, one>("every lane one address", 1, 4, few);
  grid_rate<KIND, one_by_one_lane>("one lane a wave, one address", 1, 4, few * 4);
  grid_rate<KIND, by_lane>("each lane its own word, the same line in every wave", kWave, 8, few);
  for (unsigned places : {2u, 8u, 32u, 256u, 4096u}) {
    grid_rate<KIND, by_wave>("all lanes of a wave one address, waves in turn, own line each", places, 128, few);
    grid_rate<KIND, random_place>("random lane by lane, own line each", places, 128, few);
    grid_rate<KIND, random_place>("random lane by lane, contiguous", places, 8, few);
  }
  for (unsigned mib : {1u, 16u, 64u, 1024u}) grid_rate<KIND, random_place>("random lane by lane, contiguous", mib << 17, 8, many);
  for (unsigned mib : {1u, 16u, 256u}) grid_rate<KIND, own>("own word each, coalesced", mib << 17, 8, many);
}
template <Kind KIND> static void packed() { // words 4 bytes apart
  grid_rate<KIND, by_lane>("each lane its own word, the same line in every wave", kWave, 4, 1 << 22);
  grid_rate<KIND, random_place>("random lane by lane, contiguous", 256, 4, 1 << 22);
  for (unsigned mib : {1u, 16u, 64u, 256u}) grid_rate<KIND, own>("own word each, coalesced", mib << 18, 4, 1 << 25);
  processor_rate<KIND, one>("every lane one address", 1, 4);
  processor_rate<KIND, one_by_one_lane>("one lane a wave, one address", 1, 4);
  processor_rate<KIND, by_lane>("each lane its own word of one line", kWave, 4);
  processor_rate<KIND, own>("own word each, coalesced", 1 << 20, 4);
  processor_rate<KIND, random_place>("random lane by lane, contiguous", 256, 4);
  processor_rate<KIND, random_place>("random lane by lane, 4 MiB", 1 << 20, 4);
}
template <Kind KIND> static void latency() {
  char figure[128];
  snprintf(figure, sizeof figure, "global_atomic_%s_latency_cycles", kKindName[KIND]);
  for (int lanes : {1, kWave})
    for (int pitch : {0, 4, 128}) {
      if (lanes == 1 && pitch) continue;
      emit(figure, {{"lanes", (double)lanes}, {"lane_pitch_bytes", (double)pitch}}, block_cycles(1, [&](long long *c) { hipLaunchKernelGGL(depend<KIND>, dim3(1), dim3(lanes), 0, 0, data_, pitch, 64, sink_, c); }) * (1.0 / 64), "cycles", "one wave, each atomic waits for the last one's result");
    }
}

int main() {
  CHECK(hipMalloc((void **)&data_, (size_t)1 << 30));
  CHECK(hipMemset(data_, 0, (size_t)1 << 30));
  CHECK(hipMalloc((void **)&sink_, 8192));
  swaps();
  counters();
  kind<int_add>();
  kind<float_add>();
  kind<int_add_used>();
  packed<int_add>();
  packed<float_add>();
  packed<int_add_used>();
  packed<float_add_used>();
  packed<int_max>();
  packed<int_cas_used>();
  grid_rate<float_add_used, one>("every lane one address", 1, 4, 1 << 22);
  grid_rate<int_max, one>("every lane one address", 1, 4, 1 << 22);
  grid_rate<int_cas_used, one>("every lane one address", 1, 4, 1 << 22);
  grid_rate<long_add, one>("every lane one address", 1, 8, 1 << 22);
  grid_rate<long_add, own>("own word each, coalesced", 1 << 21, 8, 1 << 25);
  grid_rate<double_add, one>("every lane one address", 1, 8, 1 << 22);
  grid_rate<double_add, own>("own word each, coalesced", 1 << 21, 8, 1 << 25);
  latency<int_add_used>();
  latency<float_add_used>();
  latency<int_cas_used>();
  return 0;
}
