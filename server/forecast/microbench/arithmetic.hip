// Arithmetic: cycles a wave-instruction takes one scheduler with many waves (throughput), and cycles of a dependent chain
// (latency). An operation that needs a plain one beside it to keep its values in range says so; the plain one's own
// measured cost is subtracted.
#include "measure.h"
#include <hip/hip_fp16.h>

struct Inputs {
  float zero, one, f, g;
  int i, j, shift;
  double d;
  long long l;
};

/// CHAINS independent chains a thread, UNROLL steps of each in the loop's body.
template <class Op, int CHAINS, int UNROLL>
__global__ void chain(typename Op::T *sink, long long *cycles, Inputs in, int steps) {
  using T = typename Op::T;
  T x[CHAINS];
  for (int c = 0; c < CHAINS; ++c) x[c] = Op::start((int)threadIdx.x * CHAINS + c, in);
  long long begin = 0, end = 0;
  for (int pass = 0; pass < 2; ++pass) { // the first pass fills the instruction cache
    __syncthreads();
    begin = clock64();
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
#pragma unroll
      for (int u = 0; u < UNROLL; ++u)
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) x[c] = Op::step(x[c], in);
    }
    __syncthreads();
    end = clock64();
  }
  report_cycles(cycles, begin, end);
  T sum = x[0];
  for (int c = 1; c < CHAINS; ++c) sum = sum + x[c];
  sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#define OP(name, type, first, expression)                                                                                      \
  struct name {                                                                                                                \
    using T = type;                                                                                                            \
    static __device__ T start(int k, Inputs in) { return (T)(first); }                                                         \
    static __device__ __forceinline__ T step(T x, Inputs in) { return expression; }                                            \
  };
__device__ __forceinline__ int opaque(int x) {
  KS_OPAQUE32(x);
  return x;
}
#define F (1.0f + k * 1e-4f)
OP(FloatAdd, float, F, x + in.f)
OP(FloatMul, float, F, x *in.one)
OP(FloatFma, float, F, fmaf(x, in.one, in.f))
OP(FloatAddMax, float, F, fmaxf(x + in.f, in.g))
OP(FloatSelect, float, F, x > in.g ? x - in.f : x * in.one)
OP(FloatDiv, float, F, in.g / x)
OP(FloatFastDiv, float, F, __fdividef(in.g, x))
OP(FloatReciprocal, float, F, 1.0f / x)
OP(SqrtFull, float, F, sqrtf(x))
OP(RsqrtFull, float, F, rsqrtf(x))
OP(ExpFull, float, F, expf(-x))
OP(ExpFast, float, F, __expf(-x))
OP(Exp2Full, float, F, exp2f(-x))
OP(LogFull, float, F, logf(fmaf(x, in.zero, in.g)))
OP(LogFast, float, F, __logf(fmaf(x, in.zero, in.g)))
OP(Log2Full, float, F, log2f(fmaf(x, in.zero, in.g)))
OP(SinSmall, float, F, sinf(x))
OP(SinLarge, float, F, sinf(fmaf(x, in.one, in.g * 3e6f)))
OP(SinFast, float, F, __sinf(x))
OP(CosSmall, float, F, cosf(x))
OP(PowFull, float, F, powf(x, in.f))
OP(PowFast, float, F, __powf(x, in.f))
OP(TanhSmall, float, 0.3f + k * 1e-5f, tanhf(x))
OP(TanhLarge, float, F, tanhf(fmaf(x, in.zero, in.g)))
OP(ErfSmall, float, 0.3f + k * 1e-5f, erff(fmaf(x, in.zero, in.f)))
OP(ErfLarge, float, F, erff(fmaf(x, in.zero, in.g)))
OP(FloorFull, float, F, floorf(x + in.f))
OP(IntAddXor, int, k, (x + in.i) ^ in.j)
OP(IntMad, int, k | 1, opaque(x *in.i + in.j))
OP(IntMulHigh, int, k | 1, opaque(__mulhi(x, in.i)) + in.j)
OP(IntMulXor, int, k | 1, opaque((x * in.i) ^ in.j))
OP(IntShiftAddXor, int, k | 1, opaque(((x << in.shift) ^ in.j) + in.i))
OP(IntShiftXor, int, k | 1, opaque((x << in.shift) ^ in.j))
OP(IntMinAdd, int, k, opaque(min(x + in.i, in.j)))
OP(IntSelect, int, k, opaque(x > in.j ? x - in.i : x ^ in.j))
OP(IntDiv, int, 30000 + k, in.j / x)
OP(IntMod, int, 30000 + k, (in.j % x) | 65536)
OP(UnsignedDiv, unsigned, 30000 + k, (unsigned)in.j / x)
OP(UnsignedMod, unsigned, 30000 + k, ((unsigned)in.j % x) | 65536u)
OP(IntPopcount, int, k, opaque(__popc(x)) + in.i)
OP(IntClz, int, k, opaque(__clz(x)) + in.i)
OP(LongAddXor, long long, k, (x + in.l) ^ in.l)
OP(LongMul, long long, k | 1, (x * in.l) ^ in.l)
OP(LongDiv, long long, 30000 + k, (in.l * 3) / x)
OP(DoubleAdd, double, F, x + in.d)
OP(DoubleMul, double, F, x *in.d)
OP(DoubleFma, double, F, fma(x, in.d, in.d))
OP(DoubleDiv, double, F, in.d / x)
OP(DoubleSqrt, double, F, sqrt(x))
OP(DoubleExp, double, F, exp(-x))
OP(IntToFloat, int, k, __float_as_int((float)x))
OP(FloatToInt, float, F, __int_as_float((int)x))
OP(FloatToHalfAndBack, float, F, __half2float(__float2half(x)) + in.f)
OP(FloatToDoubleAndBack, float, F, (float)((double)x * in.d))
struct HalfPairFma {
  using T = __half2;
  static __device__ T start(int k, Inputs) { return __floats2half2_rn(1.0f + k * 1e-3f, 0.5f); }
  static __device__ __forceinline__ T step(T x, Inputs in) { return __hfma2(x, __float2half2_rn(in.one), __float2half2_rn(in.f)); }
};
struct HalfPairAdd {
  using T = __half2;
  static __device__ T start(int k, Inputs) { return __floats2half2_rn(1.0f + k * 1e-3f, 0.5f); }
  static __device__ __forceinline__ T step(T x, Inputs in) { return __hadd2(x, __float2half2_rn(in.f)); }
};
/// Two pipes at once: does integer work hide behind floating-point work?
struct FloatInt {
  float f;
  int i;
  __device__ FloatInt operator+(FloatInt o) const { return {f + o.f, i + o.i}; }
};
struct FmaAndAddXor {
  using T = FloatInt;
  static __device__ T start(int k, Inputs) { return {F, k}; }
  static __device__ __forceinline__ T step(T x, Inputs in) { return {fmaf(x.f, in.one, in.f), (x.i + in.i) ^ in.j}; }
};
struct FmaAndFastExp {
  struct T {
    float f, e;
    __device__ T operator+(T o) const { return {f + o.f, e + o.e}; }
  };
  static __device__ T start(int k, Inputs) { return {F, F}; }
  static __device__ __forceinline__ T step(T x, Inputs in) { return {fmaf(fmaf(x.f, in.one, in.f), in.one, in.g), __expf(-x.e)}; }
};

static Inputs inputs() { return {0.0f, 1.0f, 0.999f, 1.5f, 1664525, 1013904223, 3, 0.999, 6364136223846793005ll}; }
constexpr int kSchedulers = 4;

/// Cycles a step of every chain takes, without the loop around it: the difference between a body of 2 * UNROLL steps and
/// one of UNROLL.
template <class Op, int CHAINS, int UNROLL> static Spread cycles_of(int threads, int rounds) {
  static Device<typename Op::T> sink(processors() * 1024);
  int blocks = processors();
  Spread once = block_cycles(blocks, [&](long long *c) {
    hipLaunchKernelGGL((chain<Op, CHAINS, UNROLL>), dim3(blocks), dim3(threads), 0, 0, sink.data, c, inputs(), rounds);
  });
  Spread twice = block_cycles(blocks, [&](long long *c) {
    hipLaunchKernelGGL((chain<Op, CHAINS, 2 * UNROLL>), dim3(blocks), dim3(threads), 0, 0, sink.data, c, inputs(), rounds);
  });
  return Spread{twice.value - once.value, twice.low - once.high, twice.high - once.low} * (1.0 / (rounds * UNROLL));
}

static double fma_throughput, fma_latency, logic_throughput, logic_latency;
enum Plain { none, one_fma, one_logic };

template <class Op, int CHAINS = 4, int UNROLL = 8> static void both(const char *name, const char *what, Plain plain = none) {
  const int threads = 1024, waves = threads / kWave / kSchedulers;
  Spread throughput = cycles_of<Op, CHAINS, UNROLL>(threads, 2048 / UNROLL / CHAINS) * (1.0 / (CHAINS * waves));
  Spread latency = cycles_of<Op, 1, UNROLL>(kWave, 2048 / UNROLL);
  if (plain == one_fma) throughput = throughput - fma_throughput, latency = latency - fma_latency;
  if (plain == one_logic) throughput = throughput - logic_throughput, latency = latency - logic_latency;
  char figure[96];
  snprintf(figure, sizeof figure, "%s_cycles_per_wave_and_scheduler", name);
  emit(figure, {}, throughput, "cycles", what);
  snprintf(figure, sizeof figure, "%s_latency_cycles", name);
  emit(figure, {}, latency, "cycles", what);
}

/// Waves a processor and independent chains a wave against the instructions issued each cycle.
template <int CHAINS> static void issue() {
  for (int waves : {1, 2, 4, 8, 12, 16, 24, 32}) {
    Spread c = cycles_of<FloatFma, CHAINS, 16>(waves * kWave, 128);
    emit("fma_issued_per_cycle_and_processor", {{"waves_per_processor", (double)waves}, {"independent_chains", (double)CHAINS}},
         rate(CHAINS * waves, c), "instructions/cycle", "dependent fp32 fma chains, one block a processor");
  }
}

__global__ void spin(float *sink, long long *cycles, long long *ticks, Inputs in, int steps) {
  float x = in.f, y = in.g;
  long long begin = clock64(), tick = wall_clock64();
  for (int s = 0; s < steps; ++s)
    for (int u = 0; u < 32; ++u) x = fmaf(x, in.one, in.f), y = fmaf(y, in.one, in.f);
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin, ticks[blockIdx.x] = wall_clock64() - tick;
  sink[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}

/// The processor's clock while every processor computes, and while one does.
static void clocks() {
  Device<float> sink(processors() * 1024);
  Device<long long> cycles(processors()), ticks(processors());
  for (int blocks : {1, processors()}) {
    std::vector<double> hz;
    for (int r = 0; r < 12; ++r) {
      hipLaunchKernelGGL(spin, dim3(blocks), dim3(1024), 0, 0, sink.data, cycles.data, ticks.data, inputs(), 20000);
      CHECK(hipDeviceSynchronize());
      double rate = cycles.download()[0] / (ticks.download()[0] / wall_clock_hz());
      if (r > 1) hz.push_back(rate);
    }
    emit("processor_clock_hz", {{"busy_processors", (double)blocks}}, spread(hz), "Hz", "clock64 against the wall clock over about 13 ms of fp32 fma");
  }
}

int main() {
  clocks();
  const char *plain = "chain of the operation alone";
  const char *with_fma = "chain with one fma each, whose cost is subtracted";
  const char *with_logic = "chain with one logic operation each, whose cost is subtracted";
  both<FloatFma>("fp32_fma", plain);
  fma_throughput = cycles_of<FloatFma, 4, 8>(1024, 32).value / (4 * 1024 / kWave / kSchedulers);
  fma_latency = cycles_of<FloatFma, 1, 8>(kWave, 128).value;
  both<IntAddXor>("int32_add_then_logic", "both operations together; a chain of one alone is folded by the compiler");
  logic_throughput = cycles_of<IntAddXor, 4, 8>(1024, 32).value / (4 * 1024 / kWave / kSchedulers) / 2;
  logic_latency = cycles_of<IntAddXor, 1, 8>(kWave, 128).value / 2;
  both<FloatAdd>("fp32_add", plain);
  both<FloatMul>("fp32_multiply", plain);
  both<FloatAddMax>("fp32_add_then_max", "both operations together");
  both<FloatSelect>("fp32_compare_select", "compare, subtract, multiply and select together");
  both<FloatDiv, 4, 4>("fp32_divide", plain);
  both<FloatFastDiv, 4, 4>("fp32_divide_fast", plain);
  both<FloatReciprocal, 4, 4>("fp32_reciprocal", plain);
  both<SqrtFull, 4, 4>("fp32_sqrt", plain);
  both<RsqrtFull, 4, 4>("fp32_rsqrt", plain);
  both<ExpFull, 4, 4>("fp32_exp", plain);
  both<ExpFast, 4, 4>("fp32_exp_fast", plain);
  both<Exp2Full, 4, 4>("fp32_exp2", plain);
  both<LogFull, 4, 4>("fp32_log", with_fma, one_fma);
  both<LogFast, 4, 4>("fp32_log_fast", with_fma, one_fma);
  both<Log2Full, 4, 4>("fp32_log2", with_fma, one_fma);
  both<SinSmall, 2, 2>("fp32_sin_small", "arguments below 1.1");
  both<SinLarge, 1, 1>("fp32_sin_large", "arguments of 4.5 million, with one fma each, whose cost is subtracted", one_fma);
  both<SinFast, 4, 4>("fp32_sin_fast", plain);
  both<CosSmall, 2, 2>("fp32_cos_small", "arguments below 1.1");
  both<PowFull, 2, 1>("fp32_pow", plain);
  both<PowFast, 4, 4>("fp32_pow_fast", plain);
  both<TanhSmall, 2, 2>("fp32_tanh_small", "arguments below 0.55");
  both<TanhLarge, 2, 2>("fp32_tanh_large", "argument 1.5, with one fma each, whose cost is subtracted", one_fma);
  both<ErfSmall, 2, 2>("fp32_erf_small", "argument 0.999, with one fma each, whose cost is subtracted", one_fma);
  both<ErfLarge, 2, 2>("fp32_erf_large", "argument 1.5, with one fma each, whose cost is subtracted", one_fma);
  both<FloorFull>("fp32_add_then_floor", "both operations together");
  both<IntMulXor>("int32_multiply_then_logic", "both operations together");
  both<IntShiftAddXor>("int32_shift_logic_add", "all three together");
  both<IntMad>("int32_multiply_add", plain);
  both<IntMulHigh>("int32_multiply_high_then_add", "both operations together");
  both<IntShiftXor>("int32_shift_then_logic", "both operations together");
  both<IntMinAdd>("int32_add_then_min", "both together, one instruction (VIADDMNMX) on sm_90");
  both<IntSelect>("int32_compare_select", "compare, subtract, logic and select together");
  both<IntDiv, 2, 2>("int32_divide", "by a variable");
  both<IntMod, 2, 2>("int32_modulo", with_logic, one_logic);
  both<UnsignedDiv, 2, 2>("uint32_divide", "by a variable");
  both<UnsignedMod, 2, 2>("uint32_modulo", with_logic, one_logic);
  both<IntPopcount>("int32_popcount_then_add", "both operations together");
  both<IntClz>("int32_count_leading_zeros_then_add", "both operations together");
  both<LongAddXor>("int64_add_then_logic", "both operations together");
  both<LongMul>("int64_multiply_then_logic", "both operations together");
  both<LongDiv, 1, 1>("int64_divide", "by a variable");
  both<DoubleAdd>("fp64_add", plain);
  both<DoubleMul>("fp64_multiply", plain);
  both<DoubleFma>("fp64_fma", plain);
  both<DoubleDiv, 2, 1>("fp64_divide", plain);
  both<DoubleSqrt, 2, 1>("fp64_sqrt", plain);
  both<DoubleExp, 2, 1>("fp64_exp", plain);
  both<HalfPairFma>("fp16x2_fma", plain);
  both<HalfPairAdd>("fp16x2_add", plain);
  both<IntToFloat>("int32_to_fp32", plain);
  both<FloatToInt>("fp32_to_int32", plain);
  both<FloatToHalfAndBack>("fp32_to_fp16_and_back_then_add", "all together");
  both<FloatToDoubleAndBack>("fp32_to_fp64_multiply_and_back", "all together");
  both<FmaAndAddXor>("fma_beside_int32_add_and_logic", "one fp32 fma, one add and one logic operation of independent chains");
  both<FmaAndFastExp>("two_fma_beside_fast_exp", "two fp32 fma and one fast exponential of independent chains");
  issue<1>();
  issue<2>();
  issue<4>();
  issue<8>();
  return 0;
}
