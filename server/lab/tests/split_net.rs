//! A mistake in splitting a kernel at its barriers never shows as a result of the code.
//!
//! The mistake is planted: a split kernel has a variable `ks_extent` of the runtime's, which hides one of the file.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::time::Duration;

use lab::workbench::{Build, Sampling, ShapeChoice, Workbench, WorkbenchOptions};
use lab::{Cancel, Failure, LabError, Source};

/// 1 where the kernel was split, else 0.
const PLANTED: &str = "(int)(sizeof(ks_extent) != sizeof(int))";
const NOTE: &str = "on fibers, since split at its barriers it gave another result";

/// Turns rows of 64 numbers around, and adds `more`.
fn kernel(more: &str) -> String {
    format!(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\nconst int ks_extent = 0;\n\
         __global__ void turn(const int *x, int *y, int n) {{\n  __shared__ int s[64];\n  int t = threadIdx.x;\n  \
         s[t] = x[blockIdx.x * 64 + t];\n  __syncthreads();\n  y[blockIdx.x * 64 + t] = s[63 - t] + {more};\n}}\n"
    )
}

/// Prints what `turn` writes, and fails if `sure` is false of it.
fn program(more: &str, sure: &str) -> String {
    format!(
        "{}int main() {{\n  int host[256], *x, *y;\n  for (int i = 0; i < 256; ++i) host[i] = i * i;\n  \
         (void)hipMalloc(&x, 1024); (void)hipMalloc(&y, 1024);\n  (void)hipMemcpy(x, host, 1024, hipMemcpyHostToDevice);\n  \
         turn<<<4, 64>>>(x, y, 256);\n  (void)hipMemcpy(host, y, 1024, hipMemcpyDeviceToHost);\n  \
         unsigned sum = 1;\n  for (int v : host) sum = sum * 31u + v;\n  std::printf(\"%u\\n\", sum);\n  \
         return {sure} ? 0 : 1;\n}}\n",
        kernel(more)
    )
}

const BENCHMARK: &str = "entry = { kernel = \"turn\", grid = \"n / 64\", block = 64 }\n\
    [[argument]]\nname = \"x\"\nkind = \"input\"\ntype = \"int\"\ncount = \"n\"\n\
    [[argument]]\nname = \"y\"\nkind = \"output\"\ntype = \"int\"\ncount = \"n\"\n\
    [[argument]]\nname = \"n\"\nkind = \"scalar\"\ntype = \"int\"\nvalue = \"n\"\n\
    [[shape]]\nn = 6400\n[[shape]]\nn = 640\nheld_out = true\n";

/// A file in a folder of its own, with a cache that all tests share but for their notes.
struct Desk {
    folder: tempfile::TempDir,
    bench: Workbench,
}

impl Desk {
    fn new(text: &str, benchmark: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        if let Some(benchmark) = benchmark {
            std::fs::write(folder.path().join("turn.bench.toml"), benchmark).unwrap();
        }
        let bench = open(folder.path(), text);
        Self { folder, bench }
    }

    fn build(&self, text: &str) -> Build {
        self.bench.build(&self.bench.original().with_text(text), &Cancel::new()).unwrap()
    }

    fn compare(&self, old: &str, new: &str) -> Result<lab::Comparison, LabError> {
        self.bench.compare(&self.build(old), &self.build(new), &sampling(), &Cancel::new())
    }
}

fn open(folder: &Path, text: &str) -> Workbench {
    let options = WorkbenchOptions {
        device: "cpu".into(),
        cache: std::env::temp_dir().join(format!("ks-lab-tests-{}", env!("CARGO_PKG_VERSION"))),
        benchmark: None,
        program_args: None,
        kernel: None,
        timeout: Duration::from_secs(60),
        memory_bytes: 4 << 30,
    };
    Workbench::open(&Source::new(folder.join("turn.hip"), text), options, &Cancel::new()).unwrap()
}

fn sampling() -> Sampling {
    Sampling { seed: 5, budget: Duration::from_millis(50), half_width: 0.1, shapes: ShapeChoice::All }
}

#[test]
fn a_program_that_is_split_wrongly_runs_on_fibers_and_says_so() {
    let text = program(PLANTED, "true");
    let desk = Desk::new(&text, None);
    let report = desk.bench.time(&desk.build(&text), &sampling(), &Cancel::new()).unwrap();
    assert!(report.device_note.contains(NOTE), "{}", report.device_note);
    let remarks = desk.bench.remarks();
    assert!(remarks.len() == 1 && remarks[0].contains("expected") && remarks[0].contains("report it"), "{remarks:?}");

    // What it prints is that of the same without the mistake; and the decision is kept with the build.
    let right = program("0", "true");
    let again = open(desk.folder.path(), &text);
    let printed = |text: &str| {
        let build = again.build(&again.original().with_text(text), &Cancel::new()).unwrap();
        again.check(&build, &Cancel::new()).unwrap()
    };
    assert_eq!(printed(&text), printed(&right));
    assert_eq!(again.remarks(), remarks);
}

#[test]
fn a_program_that_fails_only_when_it_is_split_is_right() {
    let text = program(PLANTED, "host[0] == 63 * 63");
    let desk = Desk::new(&text, None);
    desk.bench.check(&desk.build(&text), &Cancel::new()).unwrap();
    assert!(desk.bench.remarks()[0].contains("exit status 1"), "{:?}", desk.bench.remarks());
}

#[test]
fn a_program_that_splits_well_has_no_remark_and_one_that_is_wrong_stays_wrong() {
    let right = program("0", "true");
    let desk = Desk::new(&right, None);
    let report = desk.bench.time(&desk.build(&right), &sampling(), &Cancel::new()).unwrap();
    assert!(!report.device_note.contains("fibers"), "{}", report.device_note);
    let answer = desk.compare(&right, &program("1", "true"));
    assert!(matches!(answer, Err(LabError::Code(Failure::Wrong { .. }))), "{answer:?}");
    assert_eq!(desk.bench.remarks(), [""; 0]);
}

#[test]
fn a_candidate_that_is_split_wrongly_is_compared_on_fibers() {
    for benchmark in [None, Some(BENCHMARK)] {
        let text = |more| if benchmark.is_some() { kernel(more) } else { program(more, "true") };
        let desk = Desk::new(&text("0"), benchmark);
        let comparison = desk.compare(&text("0"), &text(PLANTED)).unwrap();
        assert!(comparison.device_note.contains(NOTE), "{}", comparison.device_note);
        assert!(comparison.speed.low < 2.0 && comparison.speed.high > 0.5, "both on fibers: {:?}", comparison.speed);
        assert_eq!(desk.bench.remarks().len(), 1, "{:?}", desk.bench.remarks());
        // The original itself is not to blame.
        let original = desk.bench.time(&desk.build(&text("0")), &sampling(), &Cancel::new()).unwrap();
        assert!(!original.device_note.contains(NOTE), "{}", original.device_note);
    }
}

#[test]
fn an_original_that_is_split_wrongly_is_measured_on_fibers_with_all_its_candidates() {
    let desk = Desk::new(&kernel(PLANTED), Some(BENCHMARK));
    let report = desk.bench.time(&desk.build(&kernel(PLANTED)), &sampling(), &Cancel::new()).unwrap();
    assert!(report.device_note.contains(NOTE), "{}", report.device_note);
    assert!(desk.bench.remarks()[0].contains("expected"), "{:?}", desk.bench.remarks());
    let comparison = desk.compare(&kernel(PLANTED), &kernel("0")).unwrap();
    assert!(comparison.device_note.contains(NOTE), "{}", comparison.device_note);
}

#[test]
fn a_wrong_candidate_that_a_split_makes_right_is_not_confirmed() {
    for benchmark in [None, Some(BENCHMARK)] {
        let text = |more: &str| if benchmark.is_some() { kernel(more) } else { program(more, "true") };
        let wrong = text(&format!("1 - {PLANTED}"));
        let desk = Desk::new(&text("0"), benchmark);
        let (old, new) = (desk.build(&text("0")), desk.build(&wrong));
        let answer = desk.bench.confirm(&old, &new, &sampling(), &Cancel::new());
        assert!(matches!(answer, Err(LabError::Code(Failure::Wrong { .. }))), "{answer:?}");
    }
}
