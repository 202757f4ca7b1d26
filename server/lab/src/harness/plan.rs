//! The harness' plan: the one argument of its command line (`runtime/harness/plan.h`).

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::benchmark::{Argument, Benchmark, CacheState, Fill, Kind, Role};

/// Most samples or pairs at one shape.
const MOST_PAIRS: usize = 400;
/// What is written to flush the caches: more than the last level of ordinary processors holds.
const FLUSH_BYTES: usize = 128 << 20;

/// How much one process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// Sampling time for all shapes together.
    pub(super) budget: Duration,
    /// Multiples of this, or of a shape's budget if that is more, may be overdrawn by slow code.
    pub(super) patience: Duration,
    /// Fewest samples or pairs at one shape, unless the budget is overdrawn.
    pub(super) least_pairs: usize,
    /// Whether to find out what the machine can do at most.
    pub(super) looks_at_machine: bool,
}

pub(super) struct Plan<'a> {
    pub(super) token: &'a str,
    pub(super) seed: u64,
    pub(super) effort: Effort,
    /// As in [`crate::workbench::Sampling`].
    pub(super) half_width: f64,
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
            "token {}\nseed {}\nbudget_ns {}\npatience_ns {}\nhalf_width {}\npairs {} {MOST_PAIRS}\nmachine {}\ntrusted {}\n\
             baseline {}\n",
            self.token,
            self.seed,
            self.effort.budget.as_nanos(),
            self.effort.patience.as_nanos(),
            self.half_width,
            self.effort.least_pairs,
            u8::from(self.effort.looks_at_machine),
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
