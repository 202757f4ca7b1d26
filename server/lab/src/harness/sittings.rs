//! How the time for a comparison is spent: several processes, each with a few pairs.
//!
//! Where code and data happen to lie makes equal code differ in speed, always the same way while a process lives: more
//! pairs in one process make an interval narrow around something that is not the truth. So each process is one sitting,
//! its pairs give one estimate, and the interval comes from the estimates ([`statistics`]). A sitting of a short kernel
//! takes about 25 ms, most of them for the start of the process.
//!
//! [`statistics`]: crate::statistics

use std::time::{Duration, Instant};

use super::outcome::{self, Estimates};
use super::plan::Effort;
use super::report::Transcript;
use super::{Bench, Objects};
use crate::workbench::Sampling;
use crate::{Cancel, LabError, statistics};

/// Sittings to make at least: fewer give no interval from ranks.
const ENOUGH: usize = 8;
/// Sittings that a budget is made to last for. From 15 on, one sitting that fell out of line, far as it may be, moves the
/// interval's ends by no more than the others' spread; of eight, the interval is the whole range.
const PLANNED: u32 = 20;
/// Longest sampling time of one sitting for each shape: more sittings are worth more than longer ones.
const LONGEST: Duration = Duration::from_millis(50);
/// A budget is never taken for less than this when it is asked whether slow code has overdrawn it.
const PATIENCE: Duration = Duration::from_millis(300);
/// What chance adds to a seed from one sitting to the next: 2^64 divided by the golden ratio.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The effort of a process that times one version.
pub(super) fn alone(sampling: &Sampling) -> Effort {
    Effort { budget: sampling.budget, patience: PATIENCE, least_pairs: 10, looks_at_machine: true }
}

/// The effort of a process that only checks: one run at each shape.
pub(super) fn once() -> Effort {
    Effort { budget: Duration::ZERO, patience: PATIENCE, least_pairs: 0, looks_at_machine: false }
}

/// Sits until the interval of the geometric mean is narrow or the budget is spent: once with the first objects, then with
/// the others.
pub(super) fn compare(
    bench: &Bench<'_>,
    [first, later]: [&Objects; 2],
    shapes: &[usize],
    sampling: &Sampling,
    cancel: &Cancel,
) -> Result<Vec<Transcript>, LabError> {
    let longest = LONGEST.saturating_mul(u32::try_from(shapes.len()).unwrap_or(u32::MAX));
    let effort = Effort {
        budget: (sampling.budget / PLANNED).min(longest),
        patience: PATIENCE / 6,
        least_pairs: 4,
        looks_at_machine: true,
    };
    let started = Instant::now();
    let mut sittings: Vec<Transcript> = Vec::new();
    let mut seed = sampling.seed;
    loop {
        let effort = Effort { looks_at_machine: sittings.is_empty(), ..effort };
        let objects = if sittings.is_empty() { first } else { later };
        sittings.push(bench.sit(objects, shapes, sampling, effort, seed, cancel)?);
        seed = seed.wrapping_add(SEED_STEP);
        if is_over(sittings.len(), started.elapsed(), sampling.budget) {
            return Ok(sittings);
        }
        if sittings.len() >= ENOUGH {
            let clock = outcome::clock(&Transcript::joined(&sittings));
            let speed = Estimates::of(&sittings, clock)?.speed()?;
            // Its width is looked at, and not which side of 1 it lies on: stopping picks no winner.
            if statistics::is_narrow(&speed, sampling.half_width) {
                return Ok(sittings);
            }
        }
    }
}

/// Whether the time is over: slow code makes do with fewer sittings, and never with one.
fn is_over(sittings: usize, spent: Duration, budget: Duration) -> bool {
    let patience = budget.max(PATIENCE);
    match sittings {
        0 | 1 => false,
        2 => spent >= 12 * patience,
        3..ENOUGH => spent >= 4 * patience,
        _ => spent >= budget,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_code_makes_do_with_fewer_sittings() {
        let seconds = Duration::from_secs_f64;
        for (sittings, spent, expected) in [
            (8, 0.7, true),
            (8, 0.5, false),
            (7, 2.3, false),
            (7, 2.5, true),
            (3, 2.5, true),
            (2, 2.5, false),
            (2, 8.0, true),
            (1, 100.0, false),
        ] {
            assert_eq!(is_over(sittings, seconds(spent), seconds(0.6)), expected, "{sittings} in {spent} s");
        }
        assert!(!is_over(5, seconds(1.0), seconds(0.0)) && is_over(5, seconds(1.3), seconds(0.0)));
    }
}
