//! A candidate program against its baseline.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::output::Expected;
use super::{Outcome, RunOptions, Threads, run_on};
use crate::statistics::{self, Pair};
use crate::toolchain::cpu::{BuiltProgram, Cpu, DEVICE};
use crate::workbench::Sampling;
use crate::{Cancel, Comparison, Failure, LabError, ShapeComparison, SpeedRatio, Verdict};

/// Fewer pairs than this give no interval from ranks; they are taken where the budget allows.
const ENOUGH_PAIRS: usize = 8;

/// Less time than this is never called moved out of the kernels: starting a process varies by about as much.
const NOTICEABLE_NS: f64 = 5e6;

/// One run of each: kernel time by kernel, and the whole time, in nanoseconds.
struct Measured {
    baseline: BTreeMap<String, f64>,
    candidate: BTreeMap<String, f64>,
    walls: Pair,
}

impl Measured {
    fn pair(&self, name: &str) -> Option<Pair> {
        Some(Pair { baseline: *self.baseline.get(name)?, candidate: *self.candidate.get(name)? })
    }

    fn total(&self) -> Pair {
        Pair { baseline: self.baseline.values().sum(), candidate: self.candidate.values().sum() }
    }

    /// How much less time the candidate spends in kernels, and how much more outside of them.
    fn saved_and_moved(&self) -> (f64, f64) {
        let kernels = self.total();
        let saved = kernels.baseline - kernels.candidate;
        (saved, (self.walls.candidate - self.walls.baseline) + saved)
    }
}

/// Runs both in turn, in random order within each pair, until the interval of the ratio of their whole kernel time is as
/// narrow as `sampling` asks for or its budget is spent. The candidate's output must be the baseline's in every run, and a
/// program whose output does not depend on its kernels is refused: it would take any candidate for right.
///
/// There is one entry in [`Comparison::shapes`] for each kernel that both launch, named by the kernel: a candidate may
/// launch another grid. [`Comparison::speed`] is the ratio of all kernels' time together, so that work which moved from
/// one kernel to another counts once.
pub fn compare(
    cpu: &Cpu,
    baseline: &BuiltProgram,
    candidate: &BuiltProgram,
    options: &RunOptions,
    sampling: &Sampling,
    cancel: &Cancel,
) -> Result<Comparison, LabError> {
    let started = Instant::now();
    let mut order = StdRng::seed_from_u64(sampling.seed);
    let run_baseline = |threads| run_on(threads, cpu, baseline, options, cancel).map_err(of_the_baseline);
    let run_candidate = |threads| run_on(threads, cpu, candidate, options, cancel);
    // Neither of these runs is timed; they find out whether timing is worth while.
    let first = run_baseline(Threads::All)?;
    require_launches(&first, baseline)?;
    let mut expected = Expected::new(&first.stdout);
    check(&expected, &run_candidate(Threads::All)?).or_else(|failure| {
        // Only now it matters whether the baseline itself prints the same twice.
        expected.learn(&run_baseline(Threads::All)?.stdout);
        check(&expected, &run_candidate(Threads::All)?).map_err(|_| failure)
    })?;

    require_a_check(cpu, baseline, options, cancel, &first, &expected)?;

    let threads = Threads::for_timing(&first, 2 * ENOUGH_PAIRS as u32, options, sampling);
    let mut measured = Vec::new();
    loop {
        let pair_started = Instant::now();
        let baseline_first = order.random_bool(0.5);
        let early = baseline_first.then(|| run_baseline(threads)).transpose()?;
        let of_candidate = run_candidate(threads)?;
        let of_baseline = early.map_or_else(|| run_baseline(threads), Ok)?;
        check(&expected, &of_candidate)?;
        measured.push(Measured {
            baseline: kernel_times(&of_baseline),
            candidate: kernel_times(&of_candidate),
            walls: Pair { baseline: nanoseconds(of_baseline.wall), candidate: nanoseconds(of_candidate.wall) },
        });

        let totals: Vec<_> = measured.iter().map(Measured::total).collect();
        let narrow = statistics::speed(&totals).is_some_and(|speed| is_narrow(&speed, sampling.half_width));
        let spent = started.elapsed() + pair_started.elapsed() > sampling.budget;
        if spent || (measured.len() >= ENOUGH_PAIRS && narrow) {
            break;
        }
    }
    if threads == Threads::One {
        refuse_moved_work(&measured)?;
    }
    conclude(cpu, &measured, sampling.seed, threads)
}

fn conclude(cpu: &Cpu, measured: &[Measured], seed: u64, threads: Threads) -> Result<Comparison, LabError> {
    let totals: Vec<_> = measured.iter().map(Measured::total).collect();
    // A positive time on both sides is what `speed` needs; the baseline launched, so the candidate did not.
    let speed = statistics::speed(&totals).ok_or_else(no_launches)?;
    let names =
        measured.first().map(|measured| measured.baseline.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let shapes = names.into_iter().filter_map(|name| of_kernel(&name, measured)).collect();
    Ok(Comparison {
        device: DEVICE.into(),
        device_note: threads.device_note(),
        toolchain: cpu.toolchain(),
        seed,
        shapes,
        verdict: verdict(&speed, measured.len()),
        speed,
    })
}

/// The comparison of one kernel; `None` when only one of the two launches it.
fn of_kernel(name: &str, measured: &[Measured]) -> Option<ShapeComparison> {
    let pairs: Vec<_> = measured.iter().filter_map(|measured| measured.pair(name)).collect();
    let speed = statistics::speed(&pairs)?;
    Some(ShapeComparison {
        shape: name.to_owned(),
        held_out: false,
        baseline: statistics::figure(pairs.iter().map(|pair| pair.baseline).collect())?,
        candidate: statistics::figure(pairs.iter().map(|pair| pair.candidate).collect())?,
        verdict: verdict(&speed, pairs.len()),
        speed,
    })
}

fn verdict(speed: &SpeedRatio, pairs: usize) -> Verdict {
    // One pair says nothing, whatever its numbers.
    if pairs < 2 { Verdict::Inconclusive } else { statistics::verdict(speed) }
}

fn check(expected: &Expected, outcome: &Outcome) -> Result<(), LabError> {
    if outcome.launches.is_empty() {
        return Err(no_launches());
    }
    expected.check(&outcome.stdout).map_err(|detail| Failure::Wrong { detail }.into())
}

/// A candidate is not to blame for its baseline.
fn of_the_baseline(error: LabError) -> LabError {
    match error {
        LabError::Code(failure) => LabError::Usage(format!(
            "the version to compare with does not run itself, so there is nothing to compare with: {failure}"
        )),
        other => other,
    }
}

/// Makes sure that a wrong kernel would be noticed: without its kernels, the program must fail or print something else.
fn require_a_check(
    cpu: &Cpu,
    baseline: &BuiltProgram,
    options: &RunOptions,
    cancel: &Cancel,
    first: &Outcome,
    expected: &Expected,
) -> Result<(), LabError> {
    let mut options = options.clone();
    // A program that waits for what its kernels would have written is stopped soon, and depends on them.
    options.limits.wall = options.limits.wall.min((first.wall * 10).max(Duration::from_secs(2)));
    match super::run_without_kernels(cpu, baseline, &options, cancel) {
        Ok(outcome) if expected.check(&outcome.stdout).is_ok() => Err(LabError::Usage(format!(
            "{}: it prints and returns the same when its kernels do nothing, so a wrong version would pass for right; let \
             the program check or print its result (a checksum will do), or write a benchmark file",
            baseline.source.path.display()
        ))),
        Ok(_) | Err(LabError::Code(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn no_launches() -> LabError {
    let detail = "it reported no launch of a kernel, where the original launches some".into();
    LabError::Code(Failure::Refused { detail })
}

fn require_launches(outcome: &Outcome, program: &BuiltProgram) -> Result<(), LabError> {
    if outcome.launches.is_empty() {
        return Err(LabError::Usage(format!(
            "{} ran to its end and launched no kernel, so there is nothing to compare; give it the --args that make it \
             launch, or write a benchmark file",
            program.source.path.display()
        )));
    }
    Ok(())
}

/// Refuses a candidate whose kernels are faster because their work is done on the host, or because it reported other
/// times than they took: on one thread, kernel time is part of the whole, so time that is saved must be missing there.
fn refuse_moved_work(measured: &[Measured]) -> Result<(), LabError> {
    let both: Vec<_> = measured.iter().map(Measured::saved_and_moved).collect();
    let median =
        |of: fn(&(f64, f64)) -> f64| statistics::median(&both.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0);
    let (saved, moved) = (median(|both| both.0), median(|both| both.1));
    let always = both.len() >= ENOUGH_PAIRS && both.iter().all(|(_, moved)| *moved > 0.0);
    if always && moved > NOTICEABLE_NS && moved > 0.5 * saved && saved > 0.0 {
        let milliseconds = |nanoseconds: f64| nanoseconds / 1e6;
        return Err(LabError::Code(Failure::Refused {
            detail: format!(
                "its kernels report {:.1} ms less than the original's, but it spends {:.1} ms more outside of them: the \
                 work was moved to the host, or the times are not true",
                milliseconds(saved),
                milliseconds(moved)
            ),
        }));
    }
    Ok(())
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

/// Time of all launches of each kernel, whatever their configuration, in nanoseconds.
fn kernel_times(outcome: &Outcome) -> BTreeMap<String, f64> {
    let mut times = BTreeMap::new();
    for group in &outcome.launches {
        let sum: f64 = group.nanoseconds.iter().map(|&nanoseconds| nanoseconds as f64).sum();
        *times.entry(group.name.clone()).or_default() += sum;
    }
    times
}

fn is_narrow(speed: &SpeedRatio, half_width: f64) -> bool {
    (speed.high - speed.low) / 2.0 <= half_width * speed.ratio
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_both_launch_are_paired_and_all_count_in_the_total() {
        let times = |list: &[(&str, f64)]| list.iter().map(|(name, time)| ((*name).to_owned(), *time)).collect();
        let measured: Vec<_> = (0..8)
            .map(|i| {
                let noise = 1.0 + f64::from(i) * 1e-4;
                Measured {
                    baseline: times(&[("both", 200.0 * noise), ("gone", 200.0)]),
                    candidate: times(&[("both", 100.0), ("new", 100.0 * noise)]),
                    walls: Pair { baseline: 1000.0, candidate: 800.0 },
                }
            })
            .collect();
        let totals: Vec<_> = measured.iter().map(Measured::total).collect();
        assert!((statistics::speed(&totals).unwrap().ratio - 2.0).abs() < 0.01);
        let both = of_kernel("both", &measured).unwrap();
        assert_eq!((both.verdict, both.shape.as_str()), (Verdict::Faster, "both"));
        assert!(of_kernel("gone", &measured).is_none());
        assert_eq!(of_kernel("both", &measured[..1]).unwrap().verdict, Verdict::Inconclusive);
    }
    #[test]
    fn work_that_moved_to_the_host_is_refused() {
        let measured = |kernels: f64, walls: &[f64]| -> Vec<Measured> {
            let times = |time: f64| BTreeMap::from([("k".to_owned(), time * 1e6)]);
            let of = |wall: &f64| Measured {
                baseline: times(100.0),
                candidate: times(kernels),
                walls: Pair { baseline: 150e6, candidate: wall * 1e6 },
            };
            walls.iter().map(of).collect()
        };
        let cases = [
            ("honest", measured(10.0, &[60.0; 8]), false),
            ("honest in noise", measured(10.0, &[60.0, 160.0, 50.0, 150.0, 60.0, 62.0, 59.0, 61.0]), false),
            ("slower and honest", measured(200.0, &[250.0; 8]), false),
            ("a little more to set up", measured(10.0, &[63.0; 8]), false),
            ("moved", measured(1.0, &[150.0; 8]), true),
            ("too few to say", measured(1.0, &[150.0; 3]), false),
        ];
        for (name, measured, expected) in cases {
            assert_eq!(refuse_moved_work(&measured).is_err(), expected, "{name}");
        }
    }
}
