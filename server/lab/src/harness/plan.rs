//! The harness' plan: the one argument of its command line (`runtime/harness/plan.h`).

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::benchmark::{Argument, Benchmark, CacheState, Fill, Kind, Role};
use crate::workbench::Sampling;

/// Fewest pairs of a comparison: below this the interval is hardly ever narrow.
const LEAST_PAIRS: usize = 10;
/// Most pairs at one shape.
const MOST_PAIRS: usize = 400;
/// What is written to flush the caches: more than the last level of ordinary processors holds.
const FLUSH_BYTES: usize = 128 << 20;

pub(super) struct Plan<'a> {
    pub(super) token: &'a str,
    pub(super) sampling: &'a Sampling,
    pub(super) benchmark: &'a Benchmark,
    /// Longest time of one sample, and of one run of the reference.
    pub(super) sample_limit: Duration,
    pub(super) shapes: &'a [usize],
    pub(super) trusted: &'a Path,
    pub(super) baseline: &'a Path,
    pub(super) candidate: Option<&'a Path>,
}

impl Plan<'_> {
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "token {}\nseed {}\nbudget_ns {}\nhalf_width {}\npairs {LEAST_PAIRS} {MOST_PAIRS}\ntrusted {}\nbaseline {}\n",
            self.token,
            self.sampling.seed,
            self.sampling.budget.as_nanos(),
            self.sampling.half_width,
            self.trusted.display(),
            self.baseline.display()
        );
        // Writing to a string cannot fail.
        let _ = writeln!(text, "sample_limit_s {}", self.sample_limit.as_secs_f64());
        if self.benchmark.cache == CacheState::Cold {
            let _ = writeln!(text, "flush_bytes {FLUSH_BYTES}");
        }
        if let Some(candidate) = self.candidate {
            let _ = writeln!(text, "candidate {}", candidate.display());
        }
        for argument in &self.benchmark.arguments {
            let _ = writeln!(text, "{}", argument_line(argument));
        }
        for index in self.shapes {
            let values: Vec<String> = self.benchmark.shapes[*index].values.iter().map(i64::to_string).collect();
            let _ = writeln!(text, "shape {index} {}", values.join(" "));
        }
        text
    }
}

fn argument_line(argument: &Argument) -> String {
    let (kind, fill) = match &argument.role {
        Role::Scalar(_) => ("scalar", "zeros"),
        Role::Buffer { kind, fill, .. } => (kind_word(*kind), fill_word(fill)),
    };
    format!(
        "argument {} {kind} {} {} {:e} {:e} {fill}",
        argument.name,
        argument.element.lane.code(),
        argument.element.lanes,
        argument.tolerance.relative,
        argument.tolerance.absolute
    )
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Input => "input",
        Kind::Output => "output",
        Kind::Inout => "inout",
        Kind::Scalar => "scalar",
    }
}

fn fill_word(fill: &Fill) -> &'static str {
    match fill {
        Fill::Zeros => "zeros",
        Fill::Ones => "ones",
        Fill::Iota => "iota",
        Fill::Permutation => "permutation",
        Fill::Uniform(..) => "uniform",
        Fill::Normal(..) => "normal",
        Fill::Integers(..) => "integers",
        Fill::Constant(_) => "constant",
        Fill::Expression(_) => "expression",
    }
}
