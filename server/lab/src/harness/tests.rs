//! The kernels of `tests/benchmarks` under the harness, and what it says of code that is wrong.

use std::path::Path;
use std::sync::LazyLock;

use super::*;
use crate::toolchain::CompileOptions;
use crate::toolchain::cpu::Cpu;
use crate::workbench::ShapeChoice;
use crate::{Failure, Verdict};

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

pub(super) fn folder() -> PathBuf {
    let lab = Path::new(env!("CARGO_MANIFEST_DIR"));
    lab.ancestors().nth(2).unwrap().join("tests/benchmarks")
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
    let builder = CpuBuilder { cpu: &CPU, options: CompileOptions::default(), faults: None };
    act(&Bench { builder: &builder, benchmark, original, limits: limits(), barriers: Barriers::Split })
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
            assert!(figure.samples.len() >= 6 && figure.low_ns <= figure.median_ns, "{name} {figure:?}");
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

#[test]
fn equal_code_is_not_called_faster_and_a_real_gain_is() {
    // One comparison in a hundred may be wrong, more on a machine that was held up; three in a row are not.
    let called_different = |_: &u32| {
        let null = compare("stencil", "", "", 1500).unwrap();
        println!("null: {} {:?}", null.verdict, null.speed);
        matches!(null.verdict, Verdict::Faster | Verdict::Slower)
    };
    assert_ne!((0..3).take_while(called_different).count(), 3);
    let null = compare("stencil", "", "", 100).unwrap();
    assert_eq!(null.shapes.iter().filter(|shape| shape.held_out).count(), 1);

    let honest = "if (i < n) {\n        c[i] = a[i] + b[i];";
    let thrice = "for (int round = 0; round < 3; round++) if (i < n) {\n        asm volatile(\"\" ::: \"memory\");\n        \
                  c[i] = a[i] + b[i];";
    let slower = compare("vector_add", honest, thrice, 1500).unwrap();
    println!("three times the work: {} {:?}", slower.verdict, slower.speed);
    assert_eq!(slower.verdict, Verdict::Slower);

    let scattered = "for (int stride = 1; stride < BLOCK; stride *= 2) {\n        if (tid % (2 * stride) == 0)";
    let packed = "for (int stride = BLOCK / 2; stride > 0; stride /= 2) {\n        if (tid < stride)";
    let called_slower = |_: &u32| {
        let gain = compare("reduction", scattered, packed, 1500).unwrap();
        println!("neighbouring work-items: {} {:?}", gain.verdict, gain.speed);
        gain.verdict == Verdict::Slower
    };
    assert_ne!((0..3).take_while(called_slower).count(), 3);
}

/// Times or compares `text` as a change of vector_add under the benchmark file with `from` replaced.
fn with_benchmark_change(from: &str, to: &str, code: impl Fn(&str) -> String) -> LabError {
    let original = source("vector_add");
    let path = Benchmark::path_for(&original.path);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(from.is_empty() || text.contains(from));
    let benchmark = Benchmark::parse(&path, &text.replacen(from, to, 1)).unwrap();
    let changed = original.with_text(code(&original.text));
    with_bench(&original, &benchmark, |bench| {
        let answer = bench.compare(&original, &changed, &sampling(50), &Cancel::new());
        answer.expect_err(&format!("{to}: {}", changed.text))
    })
}

#[test]
fn mistakes_of_the_benchmark_file_are_told_with_their_line() {
    let same = |text: &str| text.to_owned();
    for (from, to, parts) in [
        ("count = \"n\"", "count = \"nn\"", &["vector_add.bench.toml:8:", "nn"][..]),
        ("value = \"n\"", "value = \"size\"", &["vector_add.bench.toml:26:", "size"]),
        ("(n + 63) / 64", "(n + BLOCK) / 64", &["vector_add.bench.toml:2:", "BLOCK"]),
        ("c[i] = a[i] + b[i];\"", "c[i] = a[i] + d[i];\"", &["vector_add.bench.toml:29:", "'d'"]),
        ("\"1.0 * n\"", "\"1.0 * m\"", &["vector_add.bench.toml:32:", "'m'"]),
        ("kernel = \"vector_add\"", "kernel = \"vector_sub\"", &["vector_add.bench.toml:2:", "vector_sub"]),
        ("count = \"n\"", "count = \"-n\"", &["vector_add.bench.toml", "`a` would have -"]),
        ("count = \"n\"", "count = \"n / 2\"", &["is wrong"]),
        ("\"1.0 * n\"", "\"1e15 * n\"", &["mend `flops` or `bytes`"]),
        ("count = \"n\"", "count = \"1000000 * n\"", &["vector_add.bench.toml", "choose smaller shapes"]),
        ("n = 65536", "n = 65536000000", &["vector_add.bench.toml:2: a grid of 1024000000x1x1 blocks"]),
    ] {
        let error = with_benchmark_change(from, to, same);
        let message = error.to_string();
        println!("{message}");
        // Half a buffer is read out of bounds, which shows as it may.
        if parts == ["is wrong"] {
            continue;
        }
        assert!(matches!(error, LabError::Usage(_)), "{to}: {error:?}");
        for part in parts {
            assert!(message.contains(part), "{message}\n  lacks {part}");
        }
    }
}

#[test]
fn a_candidate_that_fails_says_how() {
    for (from, to, label, part) in [
        ("c[i] = a[i]", "c[i] = a[i", "does not compile", "vector_add.hip:7:"),
        (
            "        c[i] = a[i] + b[i];\n    }\n}",
            "        c[i] = a[i] + b[i];\n    }\n",
            "does not compile",
            "vector_add.hip",
        ),
        ("vector_add(", "vector_sum(", "does not compile", "vector_add"),
        ("float* c, int n", "float* c, int n, int m", "does not compile", "vector_add.bench.toml:2:"),
        ("c[i] = a[i]", "*(volatile int*)8 = 1; c[i] = a[i]", "crashed", "in the candidate at n=65536"),
        ("c[i] = a[i] + b[i]", "if (i != 5) c[i] = a[i] + b[i]", "wrong", "c[5] is NaN"),
        (
            "c[i] = a[i] + b[i]",
            "if (i != 5) c[i] = a[i] + b[i]",
            "wrong",
            "(1 of 65536 elements are wrong, 1 were never written)",
        ),
    ] {
        let error = with_benchmark_change("", "", |text| text.replacen(from, to, 1));
        println!("{error}");
        let LabError::Code(failure) = &error else { panic!("{to}: {error:?}") };
        assert_eq!(failure.label(), label, "{to}: {failure}");
        assert!(failure.to_string().contains(part), "{failure}\n  lacks {part}");
    }
}

#[test]
fn a_candidate_that_never_ends_is_stopped_and_cancelling_stops_all() {
    let original = source("vector_add");
    let benchmark = Benchmark::load(&Benchmark::path_for(&original.path)).unwrap();
    let text = original.text.replace("c[i] = a[i]", "for (volatile int k = 0; k < 1;) {} c[i] = a[i]");
    let endless = original.with_text(text);
    let builder = CpuBuilder { cpu: &CPU, options: CompileOptions::default(), faults: None };
    let limits = Limits::new(Duration::from_secs(4), 1 << 30);
    let bench =
        Bench { builder: &builder, benchmark: &benchmark, original: &original, limits, barriers: Barriers::Split };
    let answer = bench.compare(&original, &endless, &sampling(50), &Cancel::new());
    assert!(matches!(answer, Err(LabError::Code(Failure::TimedOut { .. }))), "{answer:?}");

    let slow_original = bench.compare(&endless, &endless, &sampling(50), &Cancel::new()).unwrap_err();
    assert!(slow_original.to_string().contains("longer than 4.0 s at n=65536"), "{slow_original}");

    let cancel = Cancel::new();
    let limits = Limits::new(Duration::from_secs(60), 1 << 30);
    let bench = Bench { limits, ..bench };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            cancel.cancel();
        });
        let answer = bench.compare(&original, &endless, &sampling(50), &cancel);
        assert!(matches!(answer, Err(LabError::Cancelled)), "{answer:?}");
    });
}

#[test]
fn cold_caches_cost_time() {
    let original = source("vector_add");
    let path = Benchmark::path_for(&original.path);
    let text = std::fs::read_to_string(&path).unwrap();
    let median = |text: &str| {
        let benchmark = Benchmark::parse(&path, text).unwrap();
        let report = with_bench(&original, &benchmark, |bench| bench.time(&original, &sampling(600), &Cancel::new()));
        report.unwrap().kernels[0].figure.low_ns
    };
    let (warm, cold) = (median(&text), median(&format!("cache = \"cold\"\n{text}")));
    println!("warm {warm:.0} ns, cold {cold:.0} ns");
    assert!(cold > warm * 1.1, "{warm} {cold}");
}

#[test]
fn kernels_with_much_shared_memory_are_loaded_side_by_side() {
    let kernel = |number: usize| {
        format!(
            "__global__ void k{number}(const float* x, float* y, int n) {{ __shared__ float tile[12000];\n\
             int i = blockIdx.x * 64 + threadIdx.x; tile[threadIdx.x] = i < n ? x[i] : 0; __syncthreads();\n\
             if (i < n) y[i] = tile[threadIdx.x] * {number}; }}\n"
        )
    };
    let kernels: String = (0..8).map(kernel).collect();
    let code = format!(
        "#include <hip/hip_runtime.h>\n{kernels}\nvoid run(const float* x, float* y, int n) {{ {} }}\n",
        (0..8).map(|number| format!("k{number}<<<(n + 63) / 64, 64>>>(x, y, n);")).collect::<String>()
    );
    let original = Source::new("/tmp/much_shared.hip", code);
    let file = crate::benchmark::infer(&hip_syntax::Syntax::parse(original.text.clone()), Some("k7")).unwrap();
    let file = file.replace("65536", "1000").replace("100003", "999").replace("77777", "77");
    let benchmark = Benchmark::parse(Path::new("/tmp/much_shared.bench.toml"), &file).unwrap();
    with_bench(&original, &benchmark, |bench| {
        bench.compare(&original, &original, &sampling(20), &Cancel::new()).unwrap();
    });
}
