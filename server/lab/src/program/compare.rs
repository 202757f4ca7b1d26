//! A candidate program against its baseline.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::output::Expected;
use super::steady::steadied;
use super::{Outcome, RunOptions, Threads, run_on};
use crate::clock::{Clock, Timed, differ};
use crate::statistics::{self, Pair};
use crate::toolchain::cpu::{BuiltProgram, Cpu, DEVICE};
use crate::workbench::Sampling;
use crate::{Cancel, Comparison, Failure, LabError, ShapeComparison, SpeedRatio, Verdict};

/// Fewer pairs than this give no interval from ranks; they are taken where the budget allows.
const ENOUGH_PAIRS: usize = 8;

/// A launch takes up to this much more or less from one build to the next, for where the program's file lies in memory is
/// settled once and decides what a first touch of its code costs: by 0.08 us in comparisons of equal programs.
const PLACEMENT_NS: f64 = 150.0;

/// Less time than this is never called moved out of the kernels: starting a process varies by about as much.
const NOTICEABLE_NS: f64 = 5e6;

/// One run of each version.
struct Measured {
    baseline: Times,
    candidate: Times,
}

/// Times of one run.
#[derive(Clone, Debug, Default)]
struct Times {
    /// Each launch of each kernel that is asked for, whatever its configuration.
    kernels: BTreeMap<String, Vec<LaunchTime>>,
    /// Processor time of all kernels, in nanoseconds.
    kernels_ns: f64,
    /// Processor time of the whole program, in nanoseconds.
    program_ns: f64,
    displaced: u64,
}

/// Time of one launch, in nanoseconds: by the clock on the wall, and processor time.
type LaunchTime = [f64; 2];

impl Times {
    fn of(outcome: &Outcome, options: &RunOptions) -> Self {
        let mut kernels: BTreeMap<String, Vec<LaunchTime>> = BTreeMap::new();
        for group in outcome.launches.iter().filter(|group| options.asks_for(&group.name)) {
            let launches = group.nanoseconds.iter().zip(&group.processor_ns);
            let times = launches.map(|(&wall, &processor)| [wall as f64, processor as f64]);
            kernels.entry(group.name.clone()).or_default().extend(times);
        }
        Self {
            kernels,
            kernels_ns: outcome.launches.iter().flat_map(|group| &group.processor_ns).map(|&time| time as f64).sum(),
            program_ns: outcome.processor.as_secs_f64() * 1e9,
            displaced: outcome.displaced,
        }
    }

    fn launches(&self, name: &str, clock: Clock) -> Option<Vec<f64>> {
        self.kernels.get(name).map(|launches| launches.iter().map(|time| by(time, clock)).collect())
    }

    fn all_kernels(&self, clock: Clock) -> f64 {
        self.kernels.values().flatten().map(|time| by(time, clock)).sum()
    }
}

fn by(time: &LaunchTime, clock: Clock) -> f64 {
    match clock {
        Clock::Wall => time[0],
        Clock::Processor => time[1],
    }
}

impl Measured {
    /// How much less processor time the candidate spends in kernels, and how much more outside of them.
    fn saved_and_moved(&self) -> (f64, f64) {
        let saved = self.baseline.kernels_ns - self.candidate.kernels_ns;
        (saved, (self.candidate.program_ns - self.baseline.program_ns) + saved)
    }
}

/// Time of all launches of one kernel in each run, of either version; empty where a version does not launch it.
struct KernelTimes {
    baseline: Vec<f64>,
    candidate: Vec<f64>,
}

impl KernelTimes {
    fn of(name: &str, measured: &[Measured], clock: Clock) -> Self {
        let of_version = |version: fn(&Measured) -> &Times| -> Option<Vec<_>> {
            measured.iter().map(|run| version(run).launches(name, clock)).collect()
        };
        let versions = [of_version(|run| &run.baseline), of_version(|run| &run.candidate)];
        let [baseline, candidate] = steadied(versions.map(Option::unwrap_or_default));
        Self { baseline, candidate }
    }

    fn pairs(&self) -> Vec<Pair> {
        let pair = |(baseline, candidate): (&f64, &f64)| Pair { baseline: *baseline, candidate: *candidate };
        self.baseline.iter().zip(&self.candidate).map(pair).collect()
    }
}

/// Times of all kernels together, run by run.
fn totals(measured: &[Measured], clock: Clock) -> Vec<Pair> {
    let mut totals = vec![Pair { baseline: 0.0, candidate: 0.0 }; measured.len()];
    for name in names(measured) {
        let times = KernelTimes::of(name, measured, clock);
        totals.iter_mut().zip(times.baseline).for_each(|(total, time)| total.baseline += time);
        totals.iter_mut().zip(times.candidate).for_each(|(total, time)| total.candidate += time);
    }
    totals
}

/// Every kernel that some run launched.
fn names(measured: &[Measured]) -> BTreeSet<&str> {
    let runs = measured.iter().flat_map(|run| [&run.baseline, &run.candidate]);
    runs.flat_map(|times| times.kernels.keys().map(String::as_str)).collect()
}

/// The clock that the whole comparison goes by.
fn clock(measured: &[Measured], threads: Threads) -> Clock {
    let mut timed = Timed::default();
    let mut undisturbed = [(0.0, 0.0); 2];
    for pair in measured {
        for (sum, times) in undisturbed.iter_mut().zip([&pair.baseline, &pair.candidate]) {
            let (wall, processor) = (times.all_kernels(Clock::Wall), times.all_kernels(Clock::Processor));
            timed.wall_ns += wall;
            timed.processor_ns += processor;
            timed.displaced = timed.displaced.saturating_add(times.displaced);
            if times.displaced == 0 {
                *sum = (sum.0 + wall, sum.1 + processor);
            }
        }
    }
    timed.differs_undisturbed = undisturbed.iter().any(|(wall, processor)| differ(*wall, *processor));
    threads.clock(timed)
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
    // None of these runs is timed; they find out whether timing is worth while.
    let mut checker = Checker::begin(cpu, baseline, options, cancel)?;
    checker.check(cpu, baseline, candidate, options, cancel)?;
    checker.require_a_check(cpu, baseline, options, cancel)?;
    let Checker { first, expected, .. } = checker;

    let threads = Threads::for_timing(&first, 2 * ENOUGH_PAIRS as u32, options, sampling);
    let mut measured = Vec::new();
    loop {
        let pair_started = Instant::now();
        let baseline_first = order.random_bool(0.5);
        let early = baseline_first.then(|| run_baseline(threads)).transpose()?;
        let of_candidate = run_candidate(threads)?;
        let of_baseline = early.map_or_else(|| run_baseline(threads), Ok)?;
        check(&expected, &of_candidate)?;
        let [baseline, candidate] = [&of_baseline, &of_candidate].map(|outcome| Times::of(outcome, options));
        measured.push(Measured { baseline, candidate });

        let speed = statistics::speed(&totals(&measured, clock(&measured, threads)));
        let narrow = speed.is_some_and(|speed| statistics::is_narrow(&speed, sampling.half_width));
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

/// What a baseline prints, against which versions of it are checked.
#[derive(Clone, Debug)]
pub struct Checker {
    first: Outcome,
    expected: Expected,
    /// Whether the baseline was run a second time, to see what it does not print the same twice.
    knows_what_varies: bool,
}

impl Checker {
    /// Runs the baseline, and makes sure that a wrong version of it would be noticed.
    ///
    /// # Errors
    /// [`LabError::Usage`] when the baseline itself fails, launches nothing, or prints the same without its kernels.
    pub fn new(cpu: &Cpu, baseline: &BuiltProgram, options: &RunOptions, cancel: &Cancel) -> Result<Self, LabError> {
        let checker = Self::begin(cpu, baseline, options, cancel)?;
        checker.require_a_check(cpu, baseline, options, cancel)?;
        Ok(checker)
    }

    fn begin(cpu: &Cpu, baseline: &BuiltProgram, options: &RunOptions, cancel: &Cancel) -> Result<Self, LabError> {
        let first = run_on(Threads::All, cpu, baseline, options, cancel).map_err(of_the_baseline)?;
        options.require_launches(&first, baseline)?;
        let expected = Expected::new(&first.stdout);
        Ok(Self { first, expected, knows_what_varies: false })
    }

    /// Runs a version of the program and compares what it prints.
    ///
    /// # Errors
    /// The [`Failure`] that it comes to.
    pub fn check(
        &mut self,
        cpu: &Cpu,
        baseline: &BuiltProgram,
        candidate: &BuiltProgram,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<(), LabError> {
        let run_candidate = || run_on(Threads::All, cpu, candidate, options, cancel);
        let Err(failure) = check(&self.expected, &run_candidate()?) else { return Ok(()) };
        if self.knows_what_varies {
            return Err(failure);
        }
        // Only now it matters whether the baseline itself prints the same twice.
        let again = run_on(Threads::All, cpu, baseline, options, cancel).map_err(of_the_baseline)?;
        self.expected.learn(&again.stdout);
        self.knows_what_varies = true;
        check(&self.expected, &run_candidate()?).map_err(|_| failure)
    }

    /// Makes sure that a wrong kernel would be noticed: without its kernels, the program must fail or print something else.
    fn require_a_check(
        &self,
        cpu: &Cpu,
        baseline: &BuiltProgram,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<(), LabError> {
        require_a_check(cpu, baseline, options, cancel, &self.first, &self.expected)
    }
}

fn conclude(cpu: &Cpu, measured: &[Measured], seed: u64, threads: Threads) -> Result<Comparison, LabError> {
    let clock = clock(measured, threads);
    // A positive time on both sides is what `speed` needs; the baseline launched, so the candidate did not.
    let totals = totals(measured, clock);
    let speed = statistics::speed(&totals).ok_or_else(no_launches)?;
    let launches = names(measured).into_iter().map(|name| launches_of(name, measured)).sum();
    let band = band(&totals, launches);
    let mut note = String::new();
    if band > statistics::SAME_BAND {
        note = format!("; launches this short are told apart from {:.1}% on", 100.0 * band);
    }
    let shapes = names(measured).into_iter().filter_map(|name| of_kernel(name, measured, clock)).collect();
    Ok(Comparison {
        device: DEVICE.into(),
        device_note: threads.device_note(&note, clock),
        toolchain: cpu.toolchain(),
        seed,
        shapes,
        verdict: verdict(&speed, measured.len(), band),
        speed,
        forecast: None,
    })
}

/// The comparison of one kernel; `None` when only one of the two launches it.
fn of_kernel(name: &str, measured: &[Measured], clock: Clock) -> Option<ShapeComparison> {
    let pairs = KernelTimes::of(name, measured, clock).pairs();
    let speed = statistics::speed(&pairs)?;
    Some(ShapeComparison {
        shape: name.to_owned(),
        held_out: false,
        baseline: statistics::figure(pairs.iter().map(|pair| pair.baseline).collect())?,
        candidate: statistics::figure(pairs.iter().map(|pair| pair.candidate).collect())?,
        verdict: verdict(&speed, pairs.len(), band(&pairs, launches_of(name, measured))),
        speed,
    })
}

fn verdict(speed: &SpeedRatio, pairs: usize, band: f64) -> Verdict {
    // One pair says nothing, whatever its numbers.
    if pairs < 2 { Verdict::Inconclusive } else { statistics::verdict_with_band(speed, band) }
}

/// Launches of one kernel in a run.
fn launches_of(name: &str, measured: &[Measured]) -> usize {
    measured.first().and_then(|run| run.baseline.kernels.get(name)).map_or(0, Vec::len)
}

/// Ratios this near to one are no difference, for so much is due to the programs' places in memory.
fn band(pairs: &[Pair], launches: usize) -> f64 {
    let usual = statistics::median(&pairs.iter().map(|pair| pair.baseline).collect::<Vec<_>>());
    let placement = PLACEMENT_NS * launches as f64;
    usual.filter(|time| *time > 0.0).map_or(0.0, |time| placement / time).max(statistics::SAME_BAND)
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

/// Refuses a candidate whose kernels are faster because their work is done on the host, or because it reported other
/// times than they took: kernels' processor time is part of the program's, so time that is saved must be missing there.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn times(kernels: &[(&str, LaunchTime)], program_ns: f64) -> Times {
        let kernels_ns = kernels.iter().map(|(_, time)| time[1]).sum();
        let kernels = kernels.iter().map(|(name, time)| ((*name).to_owned(), vec![*time])).collect();
        Times { kernels, kernels_ns, program_ns, displaced: 0 }
    }

    #[test]
    fn kernels_that_both_launch_are_paired_and_all_count_in_the_total() {
        let measured: Vec<_> = (0..8)
            .map(|i| {
                let same = |time: f64| [time * (1.0 + f64::from(i) * 1e-4); 2];
                Measured {
                    baseline: times(&[("both", same(200.0)), ("gone", [200.0; 2])], 1000.0),
                    candidate: times(&[("both", [100.0; 2]), ("new", same(100.0))], 800.0),
                }
            })
            .collect();
        assert!((statistics::speed(&totals(&measured, Clock::Wall)).unwrap().ratio - 2.0).abs() < 0.01);
        let both = of_kernel("both", &measured, Clock::Wall).unwrap();
        assert_eq!((both.verdict, both.shape.as_str()), (Verdict::Faster, "both"));
        assert!(of_kernel("gone", &measured, Clock::Wall).is_none());
        assert_eq!(of_kernel("both", &measured[..1], Clock::Wall).unwrap().verdict, Verdict::Inconclusive);
    }

    #[test]
    fn short_launches_are_told_apart_only_by_more_than_their_places_in_memory_make() {
        let verdict_of = |time: f64| {
            let run = |ratio: f64, i: usize| times(&[("k", [time * ratio * (1.0 + i as f64 * 1e-4); 2])], 1e9);
            let measured: Vec<_> =
                (0..12).map(|i| Measured { baseline: run(1.0, i), candidate: run(1.03, i) }).collect();
            of_kernel("k", &measured, Clock::Wall).unwrap().verdict
        };
        assert_eq!((verdict_of(3e3), verdict_of(1e5)), (Verdict::Same, Verdict::Slower));
    }

    #[test]
    fn a_busy_machine_is_noticed_and_processor_time_taken() {
        let run = |wall: f64, displaced| Times { displaced, ..times(&[("k", [wall, 100.0])], 200.0) };
        let measured = |wall, displaced| vec![Measured { baseline: run(wall, displaced), candidate: run(100.0, 0) }];
        assert_eq!(clock(&measured(150.0, 2), Threads::One), Clock::Processor);
        assert_eq!(clock(&measured(150.0, 2), Threads::All), Clock::Wall);
        // It was not displaced: the code itself waits.
        assert_eq!(clock(&measured(150.0, 0), Threads::One), Clock::Wall);
        assert_eq!(clock(&measured(100.5, 2), Threads::One), Clock::Wall);
        assert_eq!(totals(&measured(150.0, 2), Clock::Wall), [Pair { baseline: 150.0, candidate: 100.0 }]);
        assert_eq!(totals(&measured(150.0, 2), Clock::Processor), [Pair { baseline: 100.0, candidate: 100.0 }]);
    }

    #[test]
    fn work_that_moved_to_the_host_is_refused() {
        let measured = |kernels: f64, programs: &[f64]| -> Vec<Measured> {
            let of = |program: &f64| Measured {
                baseline: times(&[("k", [100e6; 2])], 150e6),
                candidate: times(&[("k", [kernels * 1e6; 2])], program * 1e6),
            };
            programs.iter().map(of).collect()
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
