//! Times a program's kernels.

use std::time::Instant;

use super::report::LaunchGroup;
use super::{Outcome, RunOptions, Threads, run, run_on};
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
    runs: Vec<Vec<u64>>,
}

impl Series {
    /// One sample a run, its median, where there are enough runs; every launch otherwise. The first launch of a run pays
    /// for touching fresh memory and is left out where there are more than two.
    fn samples(&self) -> Vec<f64> {
        let warm = |run: &Vec<u64>| -> Vec<f64> {
            let skipped = usize::from(run.len() > 2);
            run[skipped..].iter().map(|&nanoseconds| nanoseconds as f64).collect()
        };
        if self.runs.len() >= ENOUGH_RUNS {
            self.runs.iter().filter_map(|run| statistics::median(&warm(run))).collect()
        } else {
            self.runs.iter().flat_map(warm).collect()
        }
    }

    fn figure(&self) -> Option<Figure> {
        statistics::figure(self.samples())
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
    if first.launches.is_empty() {
        return Err(LabError::Usage(format!(
            "{} ran to its end and launched no kernel, so there is nothing to time; give it the --args that make it \
             launch, or write a benchmark file",
            program.source.path.display()
        )));
    }
    let threads = Threads::for_timing(&first, ENOUGH_RUNS as u32, options, sampling);
    let mut series = Vec::new();
    let mut longest = first.wall;
    let mut runs = 0;
    if threads == Threads::All {
        record(&mut series, &first.launches);
        runs = 1;
    }
    let narrow = |series: &Series| series.figure().is_some_and(|figure| is_narrow(&figure, sampling.half_width));
    while runs == 0
        || (started.elapsed() + longest <= sampling.budget && (runs < ENOUGH_RUNS || !series.iter().all(narrow)))
    {
        let outcome = run_on(threads, cpu, program, options, cancel)?;
        record(&mut series, &outcome.launches);
        longest = longest.max(outcome.wall);
        runs += 1;
    }
    let timing = |series: &Series| {
        Some(KernelTiming { name: series.name.clone(), shape: series.shape.clone(), figure: series.figure()? })
    };
    Ok(TimeReport {
        device: DEVICE.into(),
        device_note: threads.device_note(),
        toolchain: cpu.toolchain(),
        kernels: series.iter().filter_map(timing).collect(),
        output: printed(first),
    })
}

fn record(series: &mut Vec<Series>, launches: &[LaunchGroup]) {
    for group in launches {
        let (name, shape) = (&group.name, group.shape());
        match series.iter_mut().find(|series| series.name == *name && series.shape == shape) {
            Some(series) => series.runs.push(group.nanoseconds.clone()),
            None => series.push(Series { name: name.clone(), shape, runs: vec![group.nanoseconds.clone()] }),
        }
    }
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
        let series = |runs: Vec<Vec<u64>>| Series { name: "k".into(), shape: "s".into(), runs };
        assert_eq!(series(vec![vec![90, 10, 20], vec![30]]).samples(), [10.0, 20.0, 30.0]);
        assert_eq!(series(vec![vec![90, 10, 20]; 5]).samples(), [15.0; 5]);
        assert_eq!(series(vec![vec![4, 6]; 5]).samples(), [5.0; 5]);
    }
}
