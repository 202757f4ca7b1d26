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
  if (threadIdx.x == 0 && cycles && blockIdx.x < 4096) cycles[blockIdx.x] = clock64() - begin;
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

static char *data_;
static int *sink_;

template <Kind KIND, Where WHERE> static void grid_rate(const char *where, unsigned places, unsigned pitch, double lanes) {
  int each = 4;
  unsigned threads = (unsigned)lanes / each / 256 * 256;
  double done = (double)threads * each / (WHERE == one_by_one_lane ? kWave : 1);
  Spread s = event_seconds([&] { hipLaunchKernelGGL((update<KIND, WHERE>), dim3(threads / 256), dim3(256), 0, 0, data_, places, pitch, each, sink_, (long long *)nullptr); }, [] {}, 5);
  char figure[128], how[160];
  snprintf(figure, sizeof figure, "global_atomic_%s_per_second", kKindName[KIND]);
  snprintf(how, sizeof how, "%s; whole device, 4 a thread, lanes counted", where);
  emit(figure, {{"pattern", (double)WHERE}, {"places", (double)places}, {"pitch_bytes", (double)pitch}}, rate(done, s), "atomics/s", how);
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
