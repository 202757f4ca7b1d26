//! Times a program's kernels.

use std::time::Instant;

use super::report::LaunchGroup;
use super::{Outcome, RunOptions, Threads, run, run_on};
use crate::clock::{Clock, Timed, differ};
use crate::statistics;
use crate::toolchain::cpu::{BuiltProgram, Cpu, DEVICE};
use crate::workbench::Sampling;
use crate::{Cancel, Figure, KernelTiming, LabError, TimeReport};

/// From this many runs on, each run gives one sample: launches of one process share their memory's place and their
/// threads' luck, so that they are worth less than as many runs.
const ENOUGH_RUNS: usize = 5;

/// All launches of one kernel in one configuration, run by run.
struct Series {
    name: String,
    shape: String,
    /// Nanoseconds by the clock on the wall.
    wall: Vec<Vec<u64>>,
    /// Processor time, in nanoseconds.
    processor: Vec<Vec<u64>>,
}

impl Series {
    /// One sample a run, its median, where there are enough runs; every launch otherwise. The first launch of a run pays
    /// for touching fresh memory and is left out where there are more than two.
    fn samples(&self, clock: Clock) -> Vec<f64> {
        let runs = match clock {
            Clock::Wall => &self.wall,
            Clock::Processor => &self.processor,
        };
        let warm = |run: &Vec<u64>| -> Vec<f64> {
            let skipped = usize::from(run.len() > 2);
            run[skipped..].iter().map(|&nanoseconds| nanoseconds as f64).collect()
        };
        if runs.len() >= ENOUGH_RUNS {
            runs.iter().filter_map(|run| statistics::median(&warm(run))).collect()
        } else {
            runs.iter().flat_map(warm).collect()
        }
    }

    fn figure(&self, clock: Clock) -> Option<Figure> {
        statistics::figure(self.samples(clock))
    }
}

/// Everything that was timed.
#[derive(Default)]
struct Record {
    series: Vec<Series>,
    timed: Timed,
    runs: usize,
    /// Kernel time of runs in which no other process had a processor of theirs, by both clocks.
    undisturbed: (f64, f64),
}

impl Record {
    fn add(&mut self, outcome: &Outcome, options: &RunOptions) {
        self.runs += 1;
        let (mut wall, mut processor) = (0.0, 0.0);
        for group in outcome.launches.iter().filter(|group| options.asks_for(&group.name)) {
            wall += group.nanoseconds.iter().sum::<u64>() as f64;
            processor += group.processor_ns.iter().sum::<u64>() as f64;
            self.add_group(group);
        }
        self.timed.wall_ns += wall;
        self.timed.processor_ns += processor;
        self.timed.displaced = self.timed.displaced.saturating_add(outcome.displaced);
        if outcome.displaced == 0 {
            self.undisturbed = (self.undisturbed.0 + wall, self.undisturbed.1 + processor);
        }
        self.timed.differs_undisturbed = differ(self.undisturbed.0, self.undisturbed.1);
    }

    fn add_group(&mut self, group: &LaunchGroup) {
        let (name, shape) = (&group.name, group.shape());
        let known = self.series.iter().position(|series| series.name == *name && series.shape == shape);
        let place = known.unwrap_or_else(|| {
            let (wall, processor) = (Vec::new(), Vec::new());
            self.series.push(Series { name: name.clone(), shape, wall, processor });
            self.series.len() - 1
        });
        self.series[place].wall.push(group.nanoseconds.clone());
        self.series[place].processor.push(group.processor_ns.clone());
    }

    fn is_narrow(&self, clock: Clock, half_width: f64) -> bool {
        let narrow = |series: &Series| series.figure(clock).is_some_and(|figure| is_narrow(&figure, half_width));
        self.series.iter().all(narrow)
    }
}

/// Runs `program` until every kernel's interval is as narrow as `sampling` asks for or its budget is spent; at least once,
/// and, where the budget allows, at least five times. Kernels run on one thread if that fits into the budget, and
/// [`TimeReport::device_note`] says so if it does not.
pub fn time(
    cpu: &Cpu,
    program: &BuiltProgram,
    options: &RunOptions,
    sampling: &Sampling,
    cancel: &Cancel,
) -> Result<TimeReport, LabError> {
    let started = Instant::now();
    let first = run(cpu, program, options, cancel)?;
    options.require_launches(&first, program)?;
    let threads = Threads::for_timing(&first, ENOUGH_RUNS as u32, options, sampling);
    let mut record = Record::default();
    let mut longest = first.wall;
    if threads == Threads::All {
        record.add(&first, options);
    }
    while record.runs == 0
        || (started.elapsed() + longest <= sampling.budget
            && (record.runs < ENOUGH_RUNS || !record.is_narrow(threads.clock(record.timed), sampling.half_width)))
    {
        let outcome = run_on(threads, cpu, program, options, cancel)?;
        record.add(&outcome, options);
        longest = longest.max(outcome.wall);
    }
    let clock = threads.clock(record.timed);
    let timing = |series: &Series| {
        Some(KernelTiming { name: series.name.clone(), shape: series.shape.clone(), figure: series.figure(clock)? })
    };
    Ok(TimeReport {
        device: DEVICE.into(),
        device_note: threads.device_note("", clock),
        toolchain: cpu.toolchain(),
        kernels: record.series.iter().filter_map(timing).collect(),
        output: printed(first),
        forecast: None,
    })
}

fn printed(outcome: Outcome) -> String {
    if outcome.stderr.is_empty() { outcome.stdout } else { outcome.stdout + &outcome.stderr }
}

fn is_narrow(figure: &Figure, half_width: f64) -> bool {
    (figure.high_ns - figure.low_ns) / 2.0 <= half_width * figure.median_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_runs_give_every_launch_and_many_one_each() {
        let samples = |wall: Vec<Vec<u64>>| {
            let processor = wall.iter().map(|run| run.iter().map(|time| time / 2).collect()).collect();
            let series = Series { name: "k".into(), shape: "s".into(), wall, processor };
            let halves: Vec<f64> = series.samples(Clock::Wall).iter().map(|time| time / 2.0).collect();
            assert_eq!(series.samples(Clock::Processor), halves);
            series.samples(Clock::Wall)
        };
        assert_eq!(samples(vec![vec![90, 10, 20], vec![30]]), [10.0, 20.0, 30.0]);
        assert_eq!(samples(vec![vec![90, 10, 20]; 5]), [15.0; 5]);
        assert_eq!(samples(vec![vec![4, 6]; 5]), [5.0; 5]);
    }
}
