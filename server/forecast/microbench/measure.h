// What every device micro-benchmark shares: repetition, the two clocks, and one JSON object a line on standard output:
//   {"figure":NAME,"at":{PARAMETER:VALUE,...},"value":V,"unit":U,"low":L,"high":H,"how":TEXT}
// `value` is the median of the repetitions, `low` and `high` the extremes. A figure that is a curve has one line a point,
// told apart by `at`. Cycles are those of clock64(), the multiprocessor's (the compute unit's) own clock.
#pragma once
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#if defined(__HIP_PLATFORM_NVIDIA__)
constexpr int kWave = 32;
// Four schedulers a multiprocessor, and the largest block (1024 threads) gives each 8 waves.
#define KS_OPAQUE32(x) asm volatile("" : "+r"(x))
#else
constexpr int kWave = 64;
#define KS_OPAQUE32(x) asm volatile("" : "+v"(x))
#endif

#define CHECK(call)                                                                                                            \
  do {                                                                                                                         \
    hipError_t error_ = (call);                                                                                                \
    if (error_ != hipSuccess) {                                                                                                \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error_));                                \
      exit(1);                                                                                                                 \
    }                                                                                                                          \
  } while (0)

/// Median of the repetitions and their extremes.
struct Spread {
  double value, low, high;
  Spread operator*(double f) const { return {value * f, std::min(low * f, high * f), std::max(low * f, high * f)}; }
  Spread operator-(double f) const { return {value - f, low - f, high - f}; }
};
/// `amount` done in each of the times: a rate. The longest time gives the lowest rate.
inline Spread rate(double amount, Spread seconds) { return {amount / seconds.value, amount / seconds.high, amount / seconds.low}; }

inline double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, (size_t)(q * values.size()))];
}
inline Spread spread(const std::vector<double> &v) {
  return {quantile(v, 0.5), *std::min_element(v.begin(), v.end()), *std::max_element(v.begin(), v.end())};
}

struct At {
  const char *name;
  double value;
};

inline void emit(const char *figure, std::initializer_list<At> at, Spread s, const char *unit, const char *how) {
  printf("{\"figure\":\"%s\",\"at\":{", figure);
  const char *comma = "";
  for (const At &a : at) {
    printf("%s\"%s\":%.9g", comma, a.name, a.value);
    comma = ",";
  }
  printf("},\"value\":%.6g,\"unit\":\"%s\",\"low\":%.6g,\"high\":%.6g,\"how\":\"%s\"}\n", s.value, unit, s.low, s.high, how);
  fflush(stdout);
}

inline int processors() { // multiprocessors, compute units
  static int count = [] {
    int n;
    CHECK(hipDeviceGetAttribute(&n, hipDeviceAttributeMultiprocessorCount, 0));
    return n;
  }();
  return count;
}

inline double wall_clock_hz() {
#if defined(__HIP_PLATFORM_NVIDIA__)
  return 1e9;
#elif HIP_VERSION_MAJOR >= 6
  int khz;
  CHECK(hipDeviceGetAttribute(&khz, hipDeviceAttributeWallClockRate, 0));
  return khz * 1e3;
#else
  return 100e6; // the constant clock of gfx9
#endif
}

template <class T> struct Device {
  T *data = nullptr;
  size_t count = 0;
  explicit Device(size_t n) : count(n) {
    CHECK(hipMalloc((void **)&data, n * sizeof(T)));
    CHECK(hipMemset(data, 0, n * sizeof(T)));
  }
  Device(const Device &) = delete;
  ~Device() { (void)hipFree(data); }
  void upload(const std::vector<T> &host) { CHECK(hipMemcpy(data, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice)); }
  std::vector<T> download() const {
    std::vector<T> host(count);
    CHECK(hipMemcpy(host.data(), data, count * sizeof(T), hipMemcpyDeviceToHost));
    return host;
  }
};

/// From the first wave's begin to the last wave's end: a wave may read its clock long after the barrier let it go.
/// Every thread of the block calls it.
__device__ inline void report_cycles(long long *cycles, long long begin, long long end) {
  __shared__ long long begins[32], ends[32];
  int wave = threadIdx.x / kWave;
  if (threadIdx.x % kWave == 0) begins[wave] = begin, ends[wave] = end;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w * kWave < (int)blockDim.x; ++w) {
      if (begins[w] < begin) begin = begins[w];
      if (ends[w] > end) end = ends[w];
    }
    cycles[blockIdx.x] = end - begin;
  }
}

/// Every block writes the cycles that its measured part took to cycles[blockIdx.x] (report_cycles); a repetition's figure
/// is the median over the blocks. The first of the repetitions warms up and is dropped.
template <class Launch> Spread block_cycles(int blocks, Launch launch, int repetitions = 7) {
  static Device<long long> cycles(4096);
  std::vector<double> medians;
  for (int r = 0; r <= repetitions; ++r) {
    launch(cycles.data);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
    std::vector<long long> host(blocks);
    CHECK(hipMemcpy(host.data(), cycles.data, blocks * sizeof(long long), hipMemcpyDeviceToHost));
    if (r > 0) medians.push_back(quantile(std::vector<double>(host.begin(), host.end()), 0.5));
  }
  return spread(medians);
}

/// Seconds between two events around `launch`; `before` is enqueued ahead of the first event, so that the device is still
/// busy when the measured work is enqueued.
template <class Launch, class Before> Spread event_seconds(Launch launch, Before before, int repetitions = 7) {
  static hipEvent_t begin = nullptr, end = nullptr;
  if (!begin) {
    CHECK(hipEventCreate(&begin));
    CHECK(hipEventCreate(&end));
  }
  std::vector<double> seconds;
  for (int r = 0; r <= repetitions; ++r) {
    before();
    CHECK(hipEventRecord(begin, 0));
    launch();
    CHECK(hipEventRecord(end, 0));
    CHECK(hipEventSynchronize(end));
    CHECK(hipGetLastError());
    float ms;
    CHECK(hipEventElapsedTime(&ms, begin, end));
    if (r > 0) seconds.push_back(ms * 1e-3);
  }
  return spread(seconds);
}
template <class Launch> Spread event_seconds(Launch launch) {
  return event_seconds(launch, [] {});
}

/// Mixes bits so that neighbouring inputs land far apart (finaliser of MurmurHash3).
__host__ __device__ inline unsigned long long scatter(unsigned long long x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

/// Load that does not stay in the first-level cache.
template <class T> __device__ __forceinline__ T load_past_l1(const T *p) {
#if defined(__HIP_PLATFORM_NVIDIA__)
  return __ldcg(p);
#else
  typedef unsigned Words __attribute__((ext_vector_type(sizeof(T) / 4)));
  Words words = __builtin_nontemporal_load((const Words *)p);
  T value;
  __builtin_memcpy(&value, &words, sizeof value);
  return value;
#endif
}
