//! The kernels of `tests/benchmarks` under the harness, and what it says of code that is wrong.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use super::*;
use crate::Failure;
use crate::toolchain::CompileOptions;
use crate::toolchain::cpu::Cpu;
use crate::workbench::ShapeChoice;

/// Tests share a cache, so that the runtime is built once.
static CPU: LazyLock<Cpu> = LazyLock::new(|| {
    let cache = std::env::temp_dir().join(format!("ks-lab-tests-{}", env!("CARGO_PKG_VERSION")));
    Cpu::new(&cache).unwrap()
});

/// The kernels, each with a change that makes it wrong.
const KERNELS: [(&str, &str, &str); 10] = [
    ("vector_add", "a[i] + b[i]", "a[i] - b[i]"),
    ("transpose", "tile[threadIdx.x][threadIdx.y]", "tile[threadIdx.y][threadIdx.x]"),
    ("reduction", "stride < BLOCK", "stride < BLOCK / 2"),
    ("scan", "out[i] += totals[i / kBlock]", "out[i] += totals[i / kBlock] + (i == n - 1)"),
    ("sgemm", "t < (K + TILE - 1) / TILE", "t < K / TILE"),
    ("softmax", "out[i] = expf(row[i] - largest) / sum", "out[i] = expf(row[i]) / sum"),
    ("layernorm", "+ epsilon", "+ 0.01f"),
    ("histogram", "i < n;", "i < n - 1;"),
    ("stencil", "in[index + nx * ny]", "in[index + nx]"),
    ("batched_small_gemm", "int col = i % size", "int col = (i + 1) % size"),
];

pub(super) fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/benchmarks"))
}

pub(super) fn source(name: &str) -> Source {
    let path = folder().join(name).with_extension("hip");
    let text = std::fs::read_to_string(&path).unwrap();
    Source::new(path, text)
}

pub(super) fn sampling(milliseconds: u64) -> Sampling {
    Sampling { seed: 7, budget: Duration::from_millis(milliseconds), half_width: 0.005, shapes: ShapeChoice::All }
}

fn limits() -> Limits {
    Limits::new(Duration::from_secs(30), 4 << 30)
}

/// Runs `act` on the bench of `original` under `benchmark`.
pub(super) fn with_bench<T>(original: &Source, benchmark: &Benchmark, act: impl FnOnce(&Bench<'_>) -> T) -> T {
    let builder = CpuBuilder { cpu: &CPU, options: CompileOptions::default() };
    act(&Bench { builder: &builder, benchmark, original, limits: limits() })
}

fn compare(name: &str, from: &str, to: &str, milliseconds: u64) -> Result<Comparison, LabError> {
    let original = source(name);
    let text = original.text.replace(from, to);
    assert!(from.is_empty() || *text != *original.text, "{name}: {from}");
    let benchmark = Benchmark::load(&Benchmark::path_for(&original.path)).unwrap();
    with_bench(&original, &benchmark, |bench| {
        bench.compare(&original, &original.with_text(text), &sampling(milliseconds), &Cancel::new())
    })
}

#[test]
fn every_kernel_is_right_and_has_a_time_at_every_shape() {
    for (name, ..) in KERNELS {
        let original = source(name);
        let benchmark = Benchmark::load(&Benchmark::path_for(&original.path)).unwrap();
        let report = with_bench(&original, &benchmark, |bench| {
            bench.time(&original, &sampling(200), &Cancel::new()).unwrap_or_else(|error| panic!("{name}: {error}"))
        });
        assert_eq!(report.kernels.len(), benchmark.shapes.len(), "{name}");
        for timing in &report.kernels {
            let figure = &timing.figure;
            println!("{name} {}: {:.1} us, {} samples", timing.shape, figure.median_ns / 1e3, figure.samples.len());
            assert!(figure.samples.len() >= 10 && figure.low_ns <= figure.median_ns, "{name} {figure:?}");
            assert!((500.0..1e9).contains(&figure.median_ns), "{name} {}", figure.median_ns);
        }
    }
}

#[test]
fn a_planted_error_in_every_kernel_is_caught() {
    for (name, from, to) in KERNELS {
        match compare(name, from, to, 200) {
            Err(LabError::Code(Failure::Wrong { detail })) => {
                println!("{name}: {detail}");
                assert!(detail.starts_with("in the candidate at ") && detail.contains("expected"), "{name}: {detail}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn an_inferred_benchmark_runs_for_every_kernel() {
    for (name, from, to) in KERNELS {
        let original = source(name);
        let syntax = hip_syntax::Syntax::parse(original.text.to_string());
        let text = crate::benchmark::infer(&syntax, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        let benchmark = Benchmark::parse(&Benchmark::path_for(&original.path), &text).unwrap();
        with_bench(&original, &benchmark, |bench| {
            let report = bench.time(&original, &sampling(100), &Cancel::new());
            let report = report.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            assert_eq!(report.kernels.len(), 3, "{name}");
            // It is worth something: it tells the wrong version from the right one.
            let wrong = original.with_text(original.text.replace(from, to));
            let answer = bench.compare(&original, &wrong, &sampling(100), &Cancel::new());
            assert!(matches!(answer, Err(LabError::Code(Failure::Wrong { .. }))), "{name}: {answer:?}\n{text}");
        });
    }
}
