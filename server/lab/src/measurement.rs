//! Times and ratios as they are kept and shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::forecast::Basis;
use crate::verdict::Verdict;

/// A time: the samples and what was computed from them, or a forecast, which has none. All times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Median of the samples.
    pub median_ns: f64,
    /// Lower end of the 95% confidence interval of the median, or of the interval that nine of ten
    /// validated forecasts lay within.
    pub low_ns: f64,
    /// Upper end of the 95% confidence interval of the median.
    pub high_ns: f64,
    /// Every sample, in the order it was taken.
    pub samples: Vec<f64>,
}

/// The time of one kernel at one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelTiming {
    /// Kernel as the user wrote it, with template arguments where they are known.
    pub name: String,
    /// The problem size: `n=4096` from a benchmark file, `grid 64x1x1 block 256x1x1` from a program's launches.
    pub shape: String,
    /// The time.
    pub figure: Figure,
}

/// What `time` found: every kernel and shape, all of them checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeReport {
    /// The device's name as shown with every figure, such as `cpu`.
    pub device: String,
    /// What the time means, such as `CPU emulation, not GPU time`.
    pub device_note: String,
    /// Toolchain and version the code was built with.
    pub toolchain: String,
    /// One entry for each kernel and shape.
    pub kernels: Vec<KernelTiming>,
    /// What the program printed (program mode).
    pub output: String,
    /// What the times rest on where they are forecasts; absent where they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Basis>,
}

/// Speed of the candidate relative to its baseline: baseline time / candidate time, above 1 is faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedRatio {
    /// Point estimate.
    pub ratio: f64,
    /// Lower end of the 99% confidence interval.
    pub low: f64,
    /// Upper end of the 99% confidence interval.
    pub high: f64,
}

/// One shape of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShapeComparison {
    /// The shape, as in [`KernelTiming::shape`].
    pub shape: String,
    /// Whether the shape was held out (never shown to a stage that writes code).
    pub held_out: bool,
    /// Time of the baseline.
    pub baseline: Figure,
    /// Time of the candidate.
    pub candidate: Figure,
    /// Candidate's speed relative to the baseline.
    pub speed: SpeedRatio,
    /// Verdict for this shape alone.
    pub verdict: Verdict,
}

/// A candidate against its baseline, interleaved in the same run; both were checked to be right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// As in [`TimeReport::device`].
    pub device: String,
    /// As in [`TimeReport::device_note`].
    pub device_note: String,
    /// As in [`TimeReport::toolchain`].
    pub toolchain: String,
    /// Seed of the inputs and of the order of runs.
    pub seed: u64,
    /// One entry a shape.
    pub shapes: Vec<ShapeComparison>,
    /// Geometric mean over the shapes.
    pub speed: SpeedRatio,
    /// Verdict for the geometric mean.
    pub verdict: Verdict,
    /// What it rests on where it is one of forecasts, the odds among it; absent where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Basis>,
}
