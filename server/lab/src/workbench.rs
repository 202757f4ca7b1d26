//! One subject on one device: what the scientist and the command line work with.

use std::time::Duration;

/// How long and how precisely to sample.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Seed of the inputs and of the order of runs; recorded with every measurement.
    pub seed: u64,
    /// Sampling stops at the latest after this time for all shapes together.
    pub budget: Duration,
    /// Sampling of a shape stops when the half width of the ratio's 95% interval is below this share (0.005 = 0.5%).
    pub half_width: f64,
    /// Which shapes to run.
    pub shapes: ShapeChoice,
}

/// Which shapes of a benchmark to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeChoice {
    /// Those that stages may see.
    Shown,
    /// Only the held-out ones.
    HeldOut,
    /// Both.
    All,
}
