//! What a forecast makes of the blocks that it samples, against eight times as many: for kernels whose blocks are alike, and
//! for those whose data decide how long each takes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::Duration;

use forecast::code::Code;
use forecast::device::Device;
use forecast::forecast::{Statics, forecast};
use forecast::registers;
use forecast::trace::Launch;
use lab::program::RunOptions;
use lab::toolchain::CompileOptions;
use lab::toolchain::cpu::Cpu;
use lab::toolchain::forecast::{Extent, Target, Tracer};
use lab::{Cancel, Source};

/// Each kernel once. `rows` has rows of 1 to 64 elements: by chance, or growing with the row's number.
const KERNELS: &str = r#"#include <hip/hip_runtime.h>
#include <vector>
__global__ void axpy(const float* x, float* y, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += by * x[i];
}
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x; y = blockIdx.x * 16 + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
template <int KIND> __global__ void rows(const int* begin, const int* column, const float* x, float* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int at = begin[row]; at < begin[row + 1]; ++at) sum += x[column[at]];
  y[row] = sum;
}
__global__ void escape(int* steps, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float cx = -2.f + 2.5f * (i % width) / width, cy = -1.f + 2.f * (i / width) / width, x = 0, y = 0;
  int n = 0;
  for (; n < 60 && x * x + y * y < 4; ++n) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; }
  steps[i] = n;
}
static unsigned mixed(unsigned i) { i ^= i >> 16; i *= 0x7feb352dU; i ^= i >> 15; i *= 0x846ca68bU; return i ^ i >> 16; }
template <int KIND> static void launch_rows(float* x, float* y) {
  const int count = 1 << 17;
  std::vector<int> begin(count + 1), column;
  for (int row = 0; row < count; ++row) {
    int length = KIND == 0 ? 1 + mixed(row) % 32 : 1 + row / 2048;
    begin[row] = (int)column.size();
    for (int k = 0; k < length; ++k) column.push_back(mixed(column.size()) % (1 << 20));
  }
  begin[count] = (int)column.size();
  int *b, *c;
  (void)hipMalloc((void**)&b, begin.size() * 4);
  (void)hipMalloc((void**)&c, column.size() * 4);
  (void)hipMemcpy(b, begin.data(), begin.size() * 4, hipMemcpyHostToDevice);
  (void)hipMemcpy(c, column.data(), column.size() * 4, hipMemcpyHostToDevice);
  rows<KIND><<<count / 64, 64>>>(b, c, x, y);
}
int main() {
  float *x, *y;
  int* steps;
  (void)hipMalloc((void**)&x, 4 << 20);
  (void)hipMalloc((void**)&y, 4 << 20);
  (void)hipMalloc((void**)&steps, 4 << 18);
  axpy<<<4096, 256>>>(x, y, 3);
  transpose<<<dim3(64, 64), dim3(16, 16)>>>(x, y, 1024);
  launch_rows<0>(x, y);
  launch_rows<1>(x, y);
  escape<<<(1 << 18) / 64, 64>>>(steps, 512);
  return hipDeviceSynchronize() != hipSuccess;
}
"#;

fn microseconds(code: &Code, launch: &Launch, device: &Device) -> f64 {
    let most = *device.units.registers_of_item as u32;
    let statics = Statics { registers: registers::estimate(code, launch, most), lds_bytes: 0 };
    forecast(code, launch, statics, device).unwrap().seconds * 1e6
}

#[test]
fn the_sampled_blocks_stand_for_the_grid() {
    let cancel = Cancel::new();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let folder = tempfile::tempdir().unwrap();
    let source = Source::new(folder.path().join("kernels.hip"), KERNELS);
    let usual = Extent { rest: [Duration::ZERO; 2], ..Extent::default() };
    let large = Extent { events: 8 * usual.events, blocks: 8 * usual.blocks, ..usual };
    for (target, name) in [(Target::Amdgcn, "mi300x"), (Target::Nvptx, "h200")] {
        let device = Device::named(name).unwrap();
        let tracer = Tracer::open(&Cpu::open(&cache, &cancel).unwrap(), target, &cancel).unwrap();
        let build = tracer.build(&source, &CompileOptions::default(), &cancel).unwrap();
        let run = |extent| tracer.run(&build, extent, &RunOptions::new(Duration::from_secs(50)), &cancel).unwrap();
        let (sampled, known) = (run(&usual), run(&large));
        assert_eq!(sampled.launches.len(), 5);
        let times = |launches: &[Launch]| -> Vec<f64> {
            launches.iter().map(|launch| microseconds(&build.code, launch, &device)).collect()
        };
        assert_eq!(times(&sampled.launches), times(&run(&usual).launches), "the same code comes to the same on {name}");
        for (few, many) in sampled.launches.iter().zip(&known.launches) {
            assert!(many.blocks.len() >= 4 * few.blocks.len(), "{}: {} blocks", many.kernel, many.blocks.len());
            let (short, long) = (microseconds(&build.code, few, &device), microseconds(&build.code, many, &device));
            // Where blocks differ, those that happen to be sampled and the order in which they end decide too.
            let allowed = if matches!(few.kernel.as_str(), "axpy" | "transpose") { 1.02 } else { 1.35 };
            let ratio = short / long;
            assert!(
                ratio < allowed && ratio > 1.0 / allowed,
                "{} on {name}: {short:.2} us from {} blocks, {long:.2} us from {}",
                few.kernel,
                few.blocks.len(),
                many.blocks.len()
            );
        }
    }
}
