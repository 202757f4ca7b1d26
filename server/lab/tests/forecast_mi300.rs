//! Forecasts of real kernels for MI300X against what AMD's documents and public measurements say: each case has a known answer.
//! Nothing here was measured on such a device by us.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use forecast::account::LineAccess;
use forecast::code::Code;
use forecast::device::Device;
use forecast::forecast::{Forecast, Limit, Statics, forecast};
use forecast::machine::Resource;
use forecast::sites::SiteKind;
use forecast::trace::Launch;
use forecast::waves::Space;
use lab::codegen::{Analysis, Codegen};
use lab::program::RunOptions;
use lab::toolchain::CompileOptions;
use lab::toolchain::cpu::Cpu;
use lab::toolchain::forecast::{Extent, Target, Tracer};
use lab::{Cancel, Source};

const KERNELS: &str = r#"#include <hip/hip_runtime.h>
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));

template <int PITCH> __global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][PITCH];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * n + x];  // in
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(size_t)(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];  // column
}
template <int STRIDE> __global__ void banks(float* out, int mask) {
  __shared__ float s[16384];
  float sum = 0;
  int i = threadIdx.x % 64 * STRIDE;
  for (int r = 0; r < 256; ++r) sum += s[i + (r & mask)];  // bank
  if (sum == 12345.f) out[0] = sum;
}
template <int ROW> __global__ void operand(float4* out, const float4* in) {
  __shared__ float4 s[16 * 8];
  int l = threadIdx.x & 63;
  if (threadIdx.x < 128) s[threadIdx.x] = in[threadIdx.x];  // linear
  __syncthreads();
  out[threadIdx.x] = s[(l % 16) * ROW + l / 16];  // operand
}
template <int STRIDE> __global__ void strided(float* out, const float* in) {
  size_t i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[i * STRIDE];  // strided
}
template <typename T> __global__ void copy(T* out, const T* in) {
  size_t i = blockIdx.x * (size_t)256 + threadIdx.x;
  out[i] = in[i];  // copy
}
__global__ __launch_bounds__(256) void mfma(float* out, const h4* in) {
  h4 a = in[threadIdx.x], b = in[threadIdx.x + 256];
  f16v c = {}, d = {};
  for (int r = 0; r < 128; ++r) {
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
    d = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, d, 0, 0, 0);
  }
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += c[k] + d[k];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
// Blocks of one piece differ in x, so that each XCD has one of them; or in y, so that one XCD has all.
template <bool APART> __global__ void pieces(float4* out, const float4* in) {
  size_t piece = (APART ? blockIdx.y : blockIdx.x) + 8 * blockIdx.z;
  float4 sum = {0, 0, 0, 0};
  for (int r = 0; r < 16; ++r) {
    float4 v = in[piece * 4096 + r * 256 + threadIdx.x];  // piece
    sum.x += v.x; sum.y += v.y; sum.z += v.z; sum.w += v.w;
  }
  if (sum.x + sum.y + sum.z + sum.w == 12345.f) out[0] = sum;
}
int main() {
  char *a, *b;
  const size_t bytes = 1 << 28;
  if (hipMalloc((void**)&a, bytes) != hipSuccess || hipMalloc((void**)&b, bytes) != hipSuccess) return 1;
  float *in = (float*)a, *out = (float*)b;
  transpose<32><<<dim3(128, 128), dim3(32, 8)>>>(in, out, 4096);
  transpose<33><<<dim3(128, 128), dim3(32, 8)>>>(in, out, 4096);
  banks<1><<<1, 1024>>>(out, 0); banks<2><<<1, 1024>>>(out, 0); banks<4><<<1, 1024>>>(out, 0); banks<8><<<1, 1024>>>(out, 0);
  banks<16><<<1, 1024>>>(out, 0); banks<32><<<1, 1024>>>(out, 0); banks<33><<<1, 1024>>>(out, 0);
  operand<4><<<304, 256>>>((float4*)out, (float4*)in); operand<5><<<304, 256>>>((float4*)out, (float4*)in);
  operand<6><<<304, 256>>>((float4*)out, (float4*)in); operand<7><<<304, 256>>>((float4*)out, (float4*)in);
  operand<8><<<304, 256>>>((float4*)out, (float4*)in);
  strided<1><<<8192, 256>>>(out, in); strided<2><<<8192, 256>>>(out, in); strided<4><<<8192, 256>>>(out, in);
  strided<32><<<8192, 256>>>(out, in);
  copy<float><<<262144, 256>>>(out, in); copy<double><<<131072, 256>>>((double*)out, (double*)in); copy<float4><<<65536, 256>>>((float4*)out, (float4*)in);
  mfma<<<1216, 256>>>(out, (h4*)in);
  pieces<true><<<dim3(8, 8, 256), 256>>>((float4*)out, (float4*)in);
  pieces<false><<<dim3(8, 8, 256), 256>>>((float4*)out, (float4*)in);
  return hipDeviceSynchronize() != hipSuccess;
}
"#;

/// What the program above was recorded to do, and what code generation for gfx942 says of it.
struct Recorded {
    code: Code,
    launches: Vec<Launch>,
    analysis: Analysis,
    device: Device,
}

fn recorded() -> &'static Recorded {
    static RECORDED: OnceLock<Recorded> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let cancel = Cancel::new();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        let tracer = Tracer::open(&Cpu::open(&cache, &cancel).unwrap(), Target::Amdgcn, &cancel).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let source = Source::new(folder.path().join("kernels.hip"), KERNELS);
        let build = tracer.build(&source, &CompileOptions::default(), &cancel).unwrap();
        let extent = Extent { events: 400_000, blocks: 12, rest: [Duration::ZERO; 2] };
        let run = tracer.run(&build, &extent, &RunOptions::new(Duration::from_secs(50)), &cancel).unwrap();
        let codegen = Codegen::new(&cache).unwrap();
        let analysis = codegen.analyze(&source, "gfx942", &CompileOptions::default(), &cancel).unwrap();
        Recorded { code: build.code, launches: run.launches, analysis, device: Device::named("mi300x").unwrap() }
    })
}

impl Recorded {
    fn launch(&self, kernel: &str) -> &Launch {
        let known = || self.launches.iter().map(|launch| launch.kernel.as_str()).collect::<Vec<_>>();
        self.launches
            .iter()
            .find(|launch| launch.kernel == kernel)
            .unwrap_or_else(|| panic!("no {kernel}: {:?}", known()))
    }

    /// With registers and shared memory of the code for gfx942.
    fn statics(&self, kernel: &str) -> Statics {
        // The runtime's names have the types of numbers.
        let written = kernel.replace("4u", "4");
        let resources = self.analysis.kernels.iter().find(|one| one.name == written).unwrap();
        // Accumulation registers begin at a multiple of 4 after the others, in one file.
        let vgprs = if resources.agprs > 0 { resources.vgprs.next_multiple_of(4) } else { resources.vgprs };
        Statics { registers: vgprs + resources.agprs, lds_bytes: resources.lds_bytes }
    }

    fn forecast(&self, kernel: &str) -> Forecast {
        self.forecast_with(kernel, self.statics(kernel))
    }

    fn forecast_with(&self, kernel: &str, statics: Statics) -> Forecast {
        forecast(&self.code, self.launch(kernel), statics, &self.device).unwrap()
    }

    /// Seconds without what a launch costs.
    fn seconds(&self, forecast: &Forecast) -> f64 {
        forecast.seconds - *self.device.start.launch_seconds
    }
}

/// The account of the accesses of the line with `// mark`.
fn accesses(forecast: &Forecast, mark: &str, space: Space, kind: SiteKind) -> LineAccess {
    let line = KERNELS.lines().position(|line| line.ends_with(&format!("// {mark}"))).unwrap() as u32 + 1;
    let found = forecast.lines.iter().filter(|one| one.line == line).flat_map(|one| &one.accesses);
    let mut found = found.filter(|access| access.space == space && access.kind == kind);
    found.next().unwrap_or_else(|| panic!("no {space:?} {kind:?} on line {line}: {:#?}", forecast.lines)).clone()
}

fn assert_near(what: &str, value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() <= part, "{what}: {value:.4e}, expected {expected:.4e} within {part}");
}

#[test]
fn a_tile_read_by_column_has_conflicts_of_32_ways_that_one_more_column_cures() {
    // "LDS": 32 banks of 4 bytes (ROCm Compute Profiler, "Pipeline descriptions").
    let recorded = recorded();
    let (plain, padded) = (recorded.forecast("transpose<32>"), recorded.forecast("transpose<33>"));
    let degree = |forecast| accesses(forecast, "column", Space::Shared, SiteKind::Load).conflict_degree;
    assert_eq!((degree(&plain), degree(&padded)), (32.0, 1.0));
    for forecast in [&plain, &padded] {
        assert_eq!(accesses(forecast, "in", Space::Shared, SiteKind::Store).conflict_degree, 1.0);
        let read = accesses(forecast, "in", Space::Global, SiteKind::Load);
        assert_eq!((read.sectors, read.ideal_sectors), (2.0, 2.0), "two rows of 128 bytes are two lines");
    }
    // A load of a wave takes 2 cycles of the LDS, or 64 where all its work-items meet in one bank; a store 4. Of each there are 16
    // in a block.
    let blocks = 128.0 * 128.0 / *recorded.device.units.count;
    let lds = |forecast: &Forecast| {
        let busy = forecast.busy.iter().find(|(resource, _)| *resource == Resource::Lds).unwrap().1;
        busy * forecast.outcome.cycles / blocks
    };
    assert_near("conflicts", lds(&plain), 16.0 * (64.0 + 4.0), 0.02);
    assert_near("no conflicts", lds(&padded), 16.0 * (2.0 + 4.0), 0.02);
    // The conflicts take longer than memory does, so that the time is theirs.
    assert_eq!((plain.bound, padded.bound), (Some(Resource::Lds), Some(Resource::MemoryCache)));
    assert!(plain.seconds > padded.seconds, "{} against {}", plain.seconds, padded.seconds);
}

#[test]
fn strides_over_the_banks_take_the_measured_times() {
    // tingqli/pyhip, archive/bank-conflict/README.md, on MI300: us of 10,000 loads by each wave of one block of 1024. Its clock is
    // not said; that of stride 32 is the documented 64 cycles for each access at 1.42 GHz.
    let recorded = recorded();
    let cycles = |stride: u32| {
        let forecast = recorded.forecast(&format!("banks<{stride}>"));
        let degree = accesses(&forecast, "bank", Space::Shared, SiteKind::Load).conflict_degree;
        assert_eq!(degree, if stride == 33 { 1.0 } else { f64::from(stride) }, "stride {stride}");
        forecast.outcome.cycles / (256.0 * 16.0)
    };
    assert_near("stride 32", cycles(32), 64.0, 0.01);
    for (stride, measured) in [(1, 358.3), (2, 474.4), (4, 907.2), (8, 1805.6), (16, 3600.6), (33, 357.3)] {
        assert_near(&format!("stride {stride}"), cycles(stride), measured / 7196.0 * 64.0, 0.05);
    }
}

#[test]
fn loads_of_16_bytes_meet_in_the_documented_groups() {
    // AMD ROCm blog, "Avoiding LDS Bank Conflicts on AMD GPUs Using CK-Tile": rows of 64 bytes have conflicts of 2 ways. The
    // others follow from the groups; eight neighbours together would order the paddings otherwise.
    let recorded = recorded();
    for (row, degree) in [(4, 2.0), (5, 2.0), (6, 1.0), (7, 2.0), (8, 4.0)] {
        let forecast = recorded.forecast(&format!("operand<{row}>"));
        let read = accesses(&forecast, "operand", Space::Shared, SiteKind::Load);
        assert_eq!(read.conflict_degree, degree, "rows of {} bytes", row * 16);
        let written = accesses(&forecast, "linear", Space::Shared, SiteKind::Store);
        assert_eq!(written.conflict_degree, 1.0);
    }
}

#[test]
fn strides_in_memory_touch_whole_lines_of_128_bytes() {
    // A line of the L2 has 128 bytes (CDNA 3 white paper), and is fetched whole.
    let recorded = recorded();
    let mut before = 0.0;
    for (stride, lines) in [(1, 2.0), (2, 4.0), (4, 8.0), (32, 64.0)] {
        let forecast = recorded.forecast(&format!("strided<{stride}>"));
        let read = accesses(&forecast, "strided", Space::Global, SiteKind::Load);
        assert_eq!((read.sectors, read.ideal_sectors), (lines, 2.0), "stride {stride}");
        let written = accesses(&forecast, "strided", Space::Global, SiteKind::Store);
        assert_eq!((written.sectors, written.ideal_sectors), (2.0, 2.0));
        assert!(forecast.seconds > before, "stride {stride}: {} after {before}", forecast.seconds);
        before = forecast.seconds;
    }
}

#[test]
fn loads_of_16_bytes_are_a_quarter_of_the_accesses_and_not_slower() {
    let recorded = recorded();
    let (dword, dwordx4) = (recorded.forecast("copy<float>"), recorded.forecast("copy<HIP_vector_type<float, 4u> >"));
    let of = |forecast| accesses(forecast, "copy", Space::Global, SiteKind::Load);
    // Each wave's access, of four waves: 256 bytes in two lines, or 1024 in eight.
    assert_eq!((of(&dword).per_block, of(&dword).sectors, of(&dword).ideal_sectors), (4.0, 2.0, 2.0));
    assert_eq!((of(&dwordx4).per_block, of(&dwordx4).sectors, of(&dwordx4).ideal_sectors), (4.0, 8.0, 8.0));
    assert!(dwordx4.outcome.instructions * 3.0 < dword.outcome.instructions);
    assert!(dwordx4.seconds < dword.seconds, "{} against {}", dwordx4.seconds, dword.seconds);
    assert!(matches!(dwordx4.bound, Some(Resource::Dram | Resource::MemoryCache)), "{:?}", dwordx4.bound);
}

#[test]
fn a_product_on_matrix_cores_takes_the_published_peak() {
    // "AMD Instinct MI300 series microarchitecture": 1307.4 TFLOP/s of fp16 at 2.1 GHz.
    let recorded = recorded();
    let forecast = recorded.forecast("mfma");
    let operations = 2.0 * 128.0 * (2.0 * 32.0 * 32.0 * 8.0) * 1216.0 * 4.0;
    assert_near("peak", operations / (forecast.outcome.cycles / *recorded.device.units.clock_hz), 1307.4e12, 0.1);
    assert_eq!(forecast.bound, Some(Resource::Matrix));
    // What products reach at the clock that power leaves: 654 to 708 TFLOP/s ("Measuring Max-Achievable FLOPs - Part 2").
    let reached = operations / recorded.seconds(&forecast);
    assert!(reached > 600e12 && reached < 800e12, "{reached:.3e}");
}

#[test]
fn registers_limit_waves_in_the_documented_steps() {
    // Waves of a SIMD by registers, vector and accumulation registers together (CDNA 3 ISA; LLVM): blocks of 256 are one on each SIMD.
    let recorded = recorded();
    let steps = [(64, 8), (72, 7), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2), (512, 1)];
    let mut before = 0.0;
    for (registers, waves) in steps {
        let forecast = recorded.forecast_with("copy<float>", Statics { registers, lds_bytes: 0 });
        assert_eq!(forecast.resident, waves, "{registers} registers");
        assert_eq!(forecast.limit, if waves == 8 { Limit::Waves } else { Limit::Registers });
        let next = recorded.forecast_with("copy<float>", Statics { registers: registers + 1, lds_bytes: 0 }).resident;
        assert!(registers == 512 || next == waves - 1 || waves == 2, "{registers} + 1 registers: {next}");
        assert!(forecast.seconds >= before * 0.99, "{registers} registers: {} after {before}", forecast.seconds);
        before = forecast.seconds;
    }
    let many = recorded.forecast_with("copy<float>", Statics { registers: 64, lds_bytes: 0 });
    assert!(before > 1.5 * many.seconds, "one wave of a SIMD: {before} against {}", many.seconds);
    // The code for gfx942 says the same of kernels as they are.
    for kernel in &recorded.analysis.kernels {
        let Some(launch) = recorded.launches.iter().find(|launch| launch.kernel == kernel.name) else { continue };
        let waves = launch.block.iter().product::<u32>() / 64;
        let forecast = recorded.forecast(&kernel.name);
        if forecast.limit == Limit::Registers {
            assert_eq!(forecast.resident * u64::from(waves) / 4, u64::from(kernel.occupancy), "{}", kernel.name);
        }
    }
}

#[test]
fn blocks_that_share_data_in_one_xcd_miss_less() {
    // Blocks go to the XCDs in turn, each with an L2 of its own (ROCm blog, "Deep dive into the MI300 compute and memory partition modes").
    let recorded = recorded();
    let (apart, together) = (recorded.forecast("pieces<true>"), recorded.forecast("pieces<false>"));
    let hits = |forecast| accesses(forecast, "piece", Space::Global, SiteKind::Load).l2_hits;
    assert!(hits(&apart) < 0.05, "{}", hits(&apart));
    assert_near("seven of eight", hits(&together), 7.0 / 8.0, 0.05);
    assert!(apart.seconds > 1.5 * together.seconds, "{} against {}", apart.seconds, together.seconds);
}
