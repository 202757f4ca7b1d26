//! The forecast as a device: how sources are fed, what is checked, and what a comparison says.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use lab::workbench::{Sampling, ShapeChoice, ShapeForecast, Workbench, WorkbenchOptions};
use lab::{Cancel, Failure, LabError, Source, Verdict};

/// The cache that the other tests of this crate use: the runtimes are built once.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

fn open_on(device: &str, source: &Source) -> Result<Workbench, LabError> {
    let options = WorkbenchOptions {
        device: device.into(),
        cache: cache(),
        benchmark: None,
        program_args: None,
        kernel: None,
        timeout: Duration::from_secs(30),
        memory_bytes: 4 << 30,
    };
    Workbench::open(source, options, &Cancel::new())
}

fn open(source: &Source) -> Workbench {
    open_on("h200", source).unwrap()
}

fn sampling(shapes: ShapeChoice) -> Sampling {
    Sampling { seed: 7, budget: Duration::ZERO, half_width: 1.0, shapes }
}

/// Every other work-item stores; `STRIDE` apart.
const COPY: &str = r#"#include <hip/hip_runtime.h>
__global__ void copy(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int at = (i % 1024) * (n / 1024) + i / 1024;
    if (i < n) out[at] = 2 * in[at];
}
"#;

const BENCH: &str = r#"
entry = { kernel = "copy", grid = "n / 256", block = 256 }
[[argument]]
name = "in"
kind = "input"
type = "float"
count = "n"
[[argument]]
name = "out"
kind = "output"
type = "float"
count = "n"
[[argument]]
name = "n"
kind = "scalar"
type = "int"
value = "n"
[[shape]]
n = 262144
[[shape]]
n = 524288
held_out = true
"#;

fn benchmark(text: &str, bench: &str) -> (tempfile::TempDir, Source) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy.hip");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("copy.bench.toml"), bench).unwrap();
    (folder, Source::new(path, text))
}

fn coalesced() -> String {
    COPY.replace("(i % 1024) * (n / 1024) + i / 1024", "i")
}

#[test]
fn a_benchmark_is_forecast_and_compared_shape_by_shape() {
    let (_folder, source) = benchmark(COPY, BENCH);
    let bench = open(&source);
    let cancel = Cancel::new();
    assert_eq!(bench.device(), "h200");
    let (before, after) =
        (bench.build(&source, &cancel).unwrap(), bench.build(&source.with_text(coalesced()), &cancel).unwrap());

    let report = bench.time(&before, &sampling(ShapeChoice::Shown), &cancel).unwrap();
    assert_eq!((report.kernels.len(), report.kernels[0].shape.as_str()), (1, "n=262144"));
    let figure = &report.kernels[0].figure;
    assert!(figure.samples.is_empty() && figure.low_ns < figure.median_ns && figure.median_ns < figure.high_ns);
    assert_eq!(report.forecast.unwrap().validated_on, "H200");

    let shown = bench.compare(&before, &after, &sampling(ShapeChoice::Shown), &cancel).unwrap();
    assert_eq!((shown.verdict, shown.shapes.len()), (Verdict::Faster, 1), "{shown:?}");
    assert!(shown.speed.ratio > 1.5, "{shown:?}");
    let all = bench.confirm(&before, &after, &sampling(ShapeChoice::All), &cancel).unwrap();
    assert_eq!(all.shapes.iter().map(|shape| shape.held_out).collect::<Vec<_>>(), [false, true]);
    // The same code has the same forecast, to the last bit.
    let same = bench.compare(&before, &before, &sampling(ShapeChoice::All), &cancel).unwrap();
    assert_eq!((same.verdict, same.speed.ratio), (Verdict::Same, 1.0));
}

#[test]
fn lines_say_what_is_wrong_with_them() {
    let (_folder, source) = benchmark(COPY, BENCH);
    let forecast = open(&source).forecast(&source, ShapeChoice::Shown, &Cancel::new()).unwrap();
    let kernel = &forecast[0].kernels[0];
    assert_eq!((kernel.name.as_str(), kernel.grid, kernel.block), ("copy", [1024, 1, 1], [256, 1, 1]));
    let line = kernel.lines.iter().find(|line| line.line == 5).unwrap();
    // 32 work-items, each in a sector of its own.
    assert_eq!((line.sectors, line.ideal_sectors), (32.0, 4.0), "{line:?}");
    let good = source.with_text(coalesced());
    let forecast = open(&good).forecast(&good, ShapeChoice::Shown, &Cancel::new()).unwrap();
    let line = forecast[0].kernels[0].lines.iter().find(|line| line.line == 5).unwrap();
    assert_eq!((line.sectors, line.ideal_sectors), (4.0, 4.0), "{line:?}");
}

#[test]
fn a_wrong_version_has_no_forecast() {
    let (_folder, source) = benchmark(COPY, BENCH);
    let bench = open(&source);
    let wrong = source.with_text(coalesced().replace("2 * in", "3 * in"));
    let error = bench.build(&wrong, &Cancel::new()).unwrap_err();
    assert!(matches!(error, LabError::Code(Failure::Wrong { .. })), "{error}");
    let broken = source.with_text("__global__ void copy(");
    let error = bench.build(&broken, &Cancel::new()).unwrap_err();
    assert!(matches!(error, LabError::Code(Failure::DoesNotCompile { .. })), "{error}");
}

const PROGRAM: &str = r#"#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
template <int ITEMS> __global__ void scale(float* x, float by, int n) {
    for (int k = 0; k < ITEMS; k++) {
        const int i = (blockIdx.x * ITEMS + k) * blockDim.x + threadIdx.x;
        if (i < n) x[i] *= by;
    }
}
int main(int count, char** values) {
    const int n = count > 1 ? atoi(values[1]) : 4096;
    std::vector<float> host(n);
    for (int i = 0; i < n; i++) host[i] = i % 97;
    float* x;
    if (hipMalloc(&x, n * sizeof(float)) != hipSuccess) return 1;
    if (hipMemcpy(x, host.data(), n * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 1;
    scale<4><<<(n + 1023) / 1024, 256>>>(x, 2.0f, n);
    scale<1><<<(n + 255) / 256, 256>>>(x, 2.0f, n);
    scale<1><<<(n + 255) / 256, 256>>>(x, 2.0f, n);
    scale<1><<<(n + 255) / 256, 256>>>(x, 0.5f, n);
    if (hipMemcpy(host.data(), x, n * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess) return 1;
    double sum = 0;
    for (int i = 0; i < n; i++) sum += host[i];
    printf("sum %.0f\n", sum);
}
"#;

#[test]
fn inputs_of_a_check_follow_from_the_seed_and_the_text_and_nothing_else() {
    let (_folder, source) = benchmark(&coalesced(), BENCH);
    let failure = |seed: Option<u64>, wrong: &str| {
        let mut bench = open(&source);
        if let Some(seed) = seed {
            bench.draw_from(seed);
        }
        let text = coalesced().replace("2 * in", wrong);
        match bench.build(&source.with_text(text), &Cancel::new()) {
            Err(LabError::Code(Failure::Wrong { detail })) => detail,
            other => panic!("{other:?}"),
        }
    };
    let told = failure(Some(5), "3 * in");
    assert_eq!(failure(Some(5), "3 * in"), told);
    // What was told of one version is of no use to the next, nor to another run.
    let others = [failure(Some(5), "3.0f * in"), failure(Some(6), "3 * in"), failure(None, "3 * in")];
    assert!(others.iter().all(|other| *other != told), "{told}: {others:?}");
    assert_ne!(failure(None, "3 * in"), others[2], "where nothing is said they are drawn anew");
}

#[test]
fn a_program_has_an_entry_for_each_launch_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::new(folder.path().join("scale.hip"), PROGRAM);
    let bench = open(&source);
    let forecast = bench.forecast(&source, ShapeChoice::Shown, &Cancel::new()).unwrap();
    let told: Vec<_> = forecast[0].kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.launches)).collect();
    // Launches that differ in a number among their arguments are told apart.
    assert_eq!(told, [("scale<4>", 1), ("scale<1>", 2), ("scale<1>", 1)]);
    let wrong = source.with_text(PROGRAM.replace("x[i] *= by", "x[i] += by"));
    let error = bench.build(&wrong, &Cancel::new()).unwrap_err();
    assert!(matches!(error, LabError::Code(Failure::Wrong { .. })), "{error}");
    let right = bench.build(&source, &Cancel::new()).unwrap();
    let same = bench.compare(&right, &right, &sampling(ShapeChoice::Shown), &Cancel::new()).unwrap();
    assert_eq!(same.verdict, Verdict::Same);
    assert_eq!(same.shapes.iter().map(|shape| shape.shape.as_str()).collect::<Vec<_>>(), ["scale<1>", "scale<4>"]);
}

/// Every fill, element types of every kind, and a main of the source's own.
const FILLED: &str = r#"#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
__global__ void mix(const int* order, const float4* four, const __half* half, const unsigned char* bytes, const double* d,
                    const float* made, const unsigned long long* wide, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = four[order[i]].x + __half2float(half[i]) + bytes[i] + (float)d[i] + made[i] + (float)wide[i];
    }
}
int main() { return 3; }
"#;

#[test]
fn every_fill_and_element_type_can_be_driven() {
    let argument = |name: &str, element: &str, fill: &str| {
        format!(
            "[[argument]]\nname = \"{name}\"\nkind = \"input\"\ntype = \"{element}\"\ncount = \"n\"\nfill = {fill}\n"
        )
    };
    let bench = [
        "entry = { kernel = \"mix\", grid = \"(n + 127) / 128\", block = 128 }\n".to_owned(),
        argument("order", "int", "\"permutation\""),
        argument("four", "float4", "{ kind = \"normal\", mean = 1, deviation = 0.5 }"),
        argument("half", "__half", "{ kind = \"uniform\", low = -1, high = 1 }"),
        argument("bytes", "unsigned char", "{ kind = \"integers\", low = 0, high = 9 }"),
        argument("d", "double", "\"iota\""),
        argument("made", "float", "{ kind = \"expression\", value = \"i % 3\" }"),
        argument("wide", "unsigned long long", "{ kind = \"constant\", value = 5 }"),
        "[[argument]]\nname = \"out\"\nkind = \"output\"\ntype = \"float\"\ncount = \"n\"\n".to_owned(),
        "[[argument]]\nname = \"n\"\nkind = \"scalar\"\ntype = \"int\"\nvalue = \"n\"\n".to_owned(),
        "[[shape]]\nn = 1000\n".to_owned(),
    ];
    let (_folder, source) = benchmark(FILLED, &bench.concat());
    let forecast = open(&source).forecast(&source, ShapeChoice::Shown, &Cancel::new()).unwrap();
    let kernel = &forecast[0].kernels[0];
    assert_eq!((kernel.name.as_str(), kernel.grid), ("mix", [8, 1, 1]));
    // The permutation scatters the gather: were all indices 0, a wave would touch one sector.
    let gather = kernel.lines.iter().find(|line| line.line == 7).unwrap();
    assert!(gather.accesses.iter().any(|access| access.memory == "global" && access.sectors > 2.0), "{gather:?}");
}

#[test]
fn a_device_without_a_table_is_named_with_those_there_are() {
    let (_folder, source) = benchmark(COPY, BENCH);
    let error = open_on("mi999", &source).err().unwrap();
    assert!(matches!(&error, LabError::Usage(text) if text.contains("mi999") && text.contains("mi300x")), "{error}");
}

/// Launches, and goes on only where the grid's last element is right, which a trace of some blocks does not compute.
const DOUBTS: &str = r#"#include <hip/hip_runtime.h>
#include <cstdlib>
__global__ void scale(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4096; ++k) if (i < n) x[i] = x[i] * 0.5f + 1.0f;
}
__global__ void more(float* x) { x[threadIdx.x] += 1.0f; }
int main(int count, char** words) {
    const int n = count > 1 ? std::atoi(words[1]) : 256;
    float *x, last = 0;
    if (hipMalloc(&x, n * sizeof(float)) != hipSuccess || hipMemset(x, 0, n * sizeof(float)) != hipSuccess) return 9;
    scale<<<n / 256, 256>>>(x, n);
    (void)hipMemcpy(&last, x + n - 1, sizeof(float), hipMemcpyDeviceToHost);
    END
    more<<<1, 64>>>(x);
    return hipDeviceSynchronize() == hipSuccess ? 0 : 9;
}
"#;

fn doubtful(end: &str, size: &str) -> Result<Vec<ShapeForecast>, LabError> {
    let source = Source::new("/w/doubts.hip", DOUBTS.replace("END", end));
    let options = WorkbenchOptions {
        device: "h200".into(),
        cache: cache(),
        benchmark: None,
        program_args: Some(vec![size.into()]),
        kernel: None,
        timeout: Duration::from_secs(30),
        memory_bytes: 4 << 30,
    };
    let bench = Workbench::open(&source, options, &Cancel::new())?;
    bench.forecast(&source, ShapeChoice::Shown, &Cancel::new())
}

#[test]
fn a_program_that_ends_badly_is_forecast_with_that_said() {
    let good = doubtful("", "1024").unwrap();
    assert_eq!((good[0].caveat.as_deref(), good[0].kernels.len()), (None, 2));
    let bad = doubtful("if (last != 3.0f) return 3;", "1024").unwrap();
    assert_eq!(bad[0].kernels.len(), 1);
    let caveat = bad[0].caveat.as_deref().unwrap();
    assert!(caveat.contains("exit status 3") && caveat.contains("only where all is well"), "{caveat}");
}

#[test]
fn a_program_that_crashes_after_a_launch_has_no_forecast() {
    let error = doubtful("*(volatile int *)8 = last;", "1024").unwrap_err();
    let LabError::Code(Failure::Refused { detail }) = &error else { panic!("{error}") };
    assert!(detail.contains("after its launch of scale") && detail.contains("check"), "{detail}");
}
