//! Rows for the tests to record.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use lab::forecast::Basis;
use lab::{Comparison, Figure, KernelTiming, ShapeComparison, SpeedRatio, TimeReport, Verdict};
use notebook::{
    ExperimentId, ExperimentKind, ExperimentOutcome, KernelFingerprint, MeasuredCode, NewExperiment, NewRun, Notebook,
    RunId,
};
use serde_json::json;

pub const FILE: &str = "/home/user/gemm.hip";
pub const TEXT: &str = "__global__ void gemm() {}";
pub const FASTER: &str = "__global__ void gemm() { /* faster */ }";

/// A notebook in a folder that goes away with the first value.
pub fn fresh() -> (tempfile::TempDir, Notebook) {
    let folder = tempfile::tempdir().unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    (folder, notebook)
}

pub fn kernels(fingerprint: &str) -> Vec<KernelFingerprint> {
    vec![KernelFingerprint { kernel: "gemm".into(), fingerprint: fingerprint.into() }]
}

pub fn start(notebook: &Notebook, file: &str) -> RunId {
    notebook
        .start_run(&NewRun {
            file: Path::new(file),
            text: TEXT,
            kernels: &kernels("f0"),
            kernel: None,
            device: "cpu",
            provider: "catalog",
            seed: u64::MAX - 1,
            budget: json!({"generations": 3}),
            settings: json!({}),
            program: "kernel-scientist 0.1.0",
        })
        .unwrap()
}

/// Figures whose bits do not survive a detour over short decimal numbers.
pub fn figure(scale: f64) -> Figure {
    let samples = vec![scale * 1.1, scale / 3.0, scale * std::f64::consts::PI, f64::MIN_POSITIVE];
    Figure { median_ns: scale / 7.0, low_ns: scale / 9.0, high_ns: scale * 1.000_000_1, samples }
}

pub fn comparison() -> Comparison {
    let shape = |name: &str, held_out, ratio: f64, verdict| ShapeComparison {
        shape: name.into(),
        held_out,
        baseline: figure(ratio * 1000.0),
        candidate: figure(1000.0),
        speed: SpeedRatio { ratio, low: ratio / 1.01, high: ratio * 1.01 },
        verdict,
    };
    Comparison {
        device: "cpu".into(),
        device_note: "CPU emulation, not GPU time".into(),
        toolchain: "clang 19.1.7".into(),
        seed: 1 << 63,
        shapes: vec![
            shape("n=256", false, 1.3, Verdict::Faster),
            shape("n=1024", false, 0.9, Verdict::Slower),
            shape("n=1000", true, 1.0 / 3.0, Verdict::Inconclusive),
        ],
        speed: SpeedRatio { ratio: 1.1, low: 1.0 / 3.0, high: 1.2 },
        verdict: Verdict::Same,
        forecast: None,
    }
}

/// The same as a comparison of forecasts, which have no samples.
pub fn forecasts() -> Comparison {
    let mut comparison = Comparison { device: "mi300x".into(), forecast: Some(basis()), ..comparison() };
    for shape in &mut comparison.shapes {
        shape.baseline.samples.clear();
        shape.candidate.samples.clear();
    }
    comparison
}

pub fn basis() -> Basis {
    Basis {
        device: "mi300x".into(),
        title: "MI300X".into(),
        model: "0.1.0".into(),
        table: "0123456789ab".into(),
        validated_on: "H200".into(),
        of_this_device: false,
        odds: None,
    }
}

pub fn report() -> TimeReport {
    let timing = |name: &str, scale| KernelTiming { name: name.into(), shape: "n=256".into(), figure: figure(scale) };
    TimeReport {
        device: "cpu".into(),
        device_note: "CPU emulation, not GPU time".into(),
        toolchain: "clang 19.1.7".into(),
        kernels: vec![timing("ns::gemm<float, 4>", 5.0), timing("fill", 6.0)],
        output: "ok".into(),
        forecast: None,
    }
}

pub fn experiment(
    notebook: &Notebook,
    run: RunId,
    step: &str,
    outcome: ExperimentOutcome<&Comparison>,
) -> ExperimentId {
    record(notebook, run, step, outcome).unwrap()
}

pub fn record(
    notebook: &Notebook,
    run: RunId,
    step: &str,
    outcome: ExperimentOutcome<&Comparison>,
) -> Result<ExperimentId, notebook::NotebookError> {
    let (before, after) = (kernels("f0"), kernels("f1"));
    notebook.record_experiment(&NewExperiment {
        run,
        step,
        generation: 1,
        kind: ExperimentKind::Full,
        base: 0,
        reference: 0,
        hypothesis_key: "lds-padding:tile",
        hypothesis: json!({"title": "Pad the tile", "gain": {"min_percent": 0.1, "max_percent": 1.0 / 3.0}}),
        file: &PathBuf::from(FILE),
        baseline: MeasuredCode { text: TEXT, kernels: &before },
        code: Some(MeasuredCode { text: FASTER, kernels: &after }),
        report: "padded",
        outcome,
        took: Duration::from_millis(1500),
        spent: Duration::from_secs(9),
    })
}
