//! What a run of the harness came to: figures and verdicts, or why there are none.

use std::collections::BTreeMap;
use std::path::Path;

use super::Bench;
use super::report::{Event, Expected, Reading, ShapeSamples, Transcript, Which, read};
use crate::benchmark::{Benchmark, Entry, Expression};
use crate::clock::{Clock, Timed, differ};
use crate::sandbox::{End, Limits, Run};
use crate::statistics::{self, Pair};
use crate::workbench::Sampling;
use crate::{
    Comparison, Diagnostic, Failure, Figure, KernelTiming, LabError, ShapeComparison, Source, SpeedRatio, TimeReport,
};

/// What the lines on the report come to.
pub(super) fn transcript(
    bench: &Bench<'_>,
    run: &Run,
    limits: &Limits,
    expected: &Expected<'_>,
) -> Result<Transcript, LabError> {
    let naming = Naming { bench, compares: expected.compares };
    let reading = read(&run.report, expected);
    if let Reading::Failed(event) = reading {
        return Err(naming.event(event));
    }
    if let Some(failure) = run.failure(limits) {
        let place = match reading {
            Reading::CutShort(Some((which, shape))) => naming.place(which, shape),
            _ => String::new(),
        };
        return Err(add_place(failure, &place).into());
    }
    match (reading, &run.end) {
        (Reading::Right(transcript), End::Status(0)) => Ok(transcript),
        (Reading::Forged(fault), _) => Err(refused(format!("the report {fault}"))),
        (Reading::CutShort(running), End::Status(71)) => Err(naming.not_loaded(running, run)),
        (Reading::CutShort(None), End::Status(status)) => Err(LabError::Unavailable(format!(
            "the benchmark harness could not start (status {status}): {}; `kernel-scientist doctor` says what is missing",
            run.last_lines(3)
        ))),
        (Reading::CutShort(Some((which, shape))), End::Status(status)) => Err(refused(format!(
            "the process ended itself with status {status} before the comparison was over, {}: code under test must \
             return, not exit{}",
            naming.place(which, shape),
            last_words(run)
        ))),
        (_, end) => Err(refused(format!("the process was over before its report ({end:?})"))),
    }
}

/// Whether an object does not compile because of what the benchmark file says.
pub(super) fn is_about_the_benchmark(error: &LabError, benchmark: &Benchmark) -> bool {
    matches!(error, LabError::Code(Failure::DoesNotCompile { diagnostics })
        if diagnostics.first().is_some_and(|first| first.file == benchmark.path))
}

/// Compile errors of the trusted object that are about the benchmark file are mistakes of that file.
pub(super) fn of_the_benchmark(error: LabError, benchmark: &Benchmark) -> LabError {
    let is_of_the_benchmark = is_about_the_benchmark(&error, benchmark);
    match error {
        LabError::Code(Failure::DoesNotCompile { diagnostics }) if is_of_the_benchmark => {
            let list: Vec<String> = diagnostics.iter().map(Diagnostic::to_string).collect();
            LabError::Usage(list.join("\n"))
        }
        other => other,
    }
}

/// A baseline that does not build is told apart from a candidate that does not.
pub(super) fn of_the_baseline(error: LabError, candidate: Option<&Source>) -> LabError {
    match error {
        LabError::Code(failure) if candidate.is_some() => add_place(failure, "in the baseline").into(),
        other => other,
    }
}

/// Columns in the glue are not those of the benchmark file.
pub(super) fn in_the_file(mut diagnostics: Vec<Diagnostic>, benchmark: &Path) -> Vec<Diagnostic> {
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.file == benchmark) {
        diagnostic.column = 1;
    }
    diagnostics
}

pub(super) fn time_report(
    bench: &Bench<'_>,
    sampling: &Sampling,
    transcript: &Transcript,
) -> Result<TimeReport, LabError> {
    let clock = clock(transcript);
    let described = bench.builder.describe();
    let name = bench.benchmark.entry.as_ref().map_or("", |entry| entry.name()).to_owned();
    let kernels = bench.benchmark.chosen(sampling.shapes).into_iter().map(|index| {
        let shape = bench.benchmark.shape_name(&bench.benchmark.shapes[index]);
        let [baseline, _] = times(samples(transcript, index)?, clock);
        Ok(KernelTiming { name: name.clone(), shape, figure: figure(baseline)? })
    });
    Ok(TimeReport {
        device: described.device,
        device_note: clock.note(&described.device_note),
        toolchain: described.toolchain,
        kernels: kernels.collect::<Result<_, LabError>>()?,
        output: String::new(),
        forecast: None,
    })
}

/// The comparison that `sittings` come to, which `joined` holds all together.
pub(super) fn comparison(
    bench: &Bench<'_>,
    sampling: &Sampling,
    sittings: &[Transcript],
    joined: &Transcript,
) -> Result<Comparison, LabError> {
    let clock = clock(joined);
    let estimates = Estimates::of(sittings, clock)?;
    let shapes = bench.benchmark.chosen(sampling.shapes).into_iter().map(|index| {
        let [baseline, candidate] = times(samples(joined, index)?, clock);
        let speed = estimates.speed_at(index)?;
        let shape = &bench.benchmark.shapes[index];
        Ok(ShapeComparison {
            shape: bench.benchmark.shape_name(shape),
            held_out: shape.held_out,
            baseline: figure(baseline)?,
            candidate: figure(candidate)?,
            verdict: statistics::verdict(&speed),
            speed,
        })
    });
    let shapes = shapes.collect::<Result<Vec<_>, LabError>>()?;
    let speed = estimates.speed()?;
    let described = bench.builder.describe();
    Ok(Comparison {
        device: described.device,
        device_note: clock.note(&described.device_note),
        toolchain: described.toolchain,
        seed: sampling.seed,
        shapes,
        verdict: statistics::verdict(&speed),
        speed,
        forecast: None,
    })
}

/// The logarithms of the speed ratios that each sitting estimates, by shape.
pub(super) struct Estimates(Vec<BTreeMap<usize, f64>>);

impl Estimates {
    pub(super) fn of(sittings: &[Transcript], clock: Clock) -> Result<Self, LabError> {
        let of_shape = |(index, samples): (&usize, &ShapeSamples)| {
            let estimate = statistics::sitting(&pairs(samples, clock)).ok_or_else(no_samples)?;
            Ok((*index, estimate))
        };
        let of_sitting = |sitting: &Transcript| sitting.shapes.iter().map(of_shape).collect();
        sittings.iter().map(of_sitting).collect::<Result<_, _>>().map(Self)
    }

    /// The geometric mean over the shapes.
    pub(super) fn speed(&self) -> Result<SpeedRatio, LabError> {
        let means: Vec<f64> = self.0.iter().map(|shapes| shapes.values().sum::<f64>() / shapes.len() as f64).collect();
        statistics::speed_of_logs(&means).ok_or_else(no_samples)
    }

    fn speed_at(&self, shape: usize) -> Result<SpeedRatio, LabError> {
        let logs: Vec<f64> = self.0.iter().filter_map(|shapes| shapes.get(&shape).copied()).collect();
        statistics::speed_of_logs(&logs).ok_or_else(no_samples)
    }
}

/// The clock that the whole measurement goes by.
pub(super) fn clock(transcript: &Transcript) -> Clock {
    let mut timed = Timed::default();
    for samples in transcript.shapes.values() {
        timed.wall_ns += samples.wall.iter().flatten().sum::<f64>();
        timed.processor_ns += samples.processor.iter().flatten().sum::<f64>();
        timed.others_ns += samples.others_ns;
        timed.displaced = timed.displaced.saturating_add(samples.displaced);
        timed.differs_undisturbed |= samples.undisturbed.iter().any(|(wall, processor)| differ(*wall, *processor));
    }
    Clock::to_believe(timed)
}

fn samples(transcript: &Transcript, index: usize) -> Result<&ShapeSamples, LabError> {
    transcript.shapes.get(&index).ok_or_else(no_samples)
}

fn times(samples: &ShapeSamples, clock: Clock) -> &[Vec<f64>; 2] {
    match clock {
        Clock::Wall => &samples.wall,
        Clock::Processor => &samples.processor,
    }
}

fn figure(samples: &[f64]) -> Result<Figure, LabError> {
    statistics::figure(samples.to_vec()).ok_or_else(no_samples)
}

fn pairs(samples: &ShapeSamples, clock: Clock) -> Vec<Pair> {
    let [baseline, candidate] = times(samples, clock);
    let pair = |(baseline, candidate): (&f64, &f64)| Pair { baseline: *baseline, candidate: *candidate };
    baseline.iter().zip(candidate).map(pair).collect()
}

fn no_samples() -> LabError {
    refused("the report has no samples".into())
}

pub(super) fn refused(detail: String) -> LabError {
    Failure::Refused { detail }.into()
}

fn last_words(run: &Run) -> String {
    let words = run.last_lines(3);
    if words.is_empty() { String::new() } else { format!("; it printed: {words}") }
}

/// Adds where it happened to what a failure says.
fn add_place(failure: Failure, place: &str) -> Failure {
    if place.is_empty() {
        return failure;
    }
    let add = |detail: String| format!("{place}: {detail}");
    match failure {
        Failure::Wrong { detail } => Failure::Wrong { detail: add(detail) },
        Failure::Crashed { detail } => Failure::Crashed { detail: add(detail) },
        Failure::Refused { detail } => Failure::Refused { detail: add(detail) },
        Failure::DoesNotCompile { mut diagnostics } => {
            if let Some(first) = diagnostics.first_mut() {
                first.message = add(std::mem::take(&mut first.message));
            }
            Failure::DoesNotCompile { diagnostics }
        }
        Failure::TimedOut { .. } => failure,
    }
}

/// Puts names to what a report says by number.
pub(super) struct Naming<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) compares: bool,
}

impl Naming<'_> {
    /// `in the candidate at n=4096`.
    pub(super) fn place(&self, which: Which, shape: Option<usize>) -> String {
        let who = match which {
            Which::Reference => "in the original version",
            Which::Candidate => "in the candidate",
            Which::Baseline if self.compares => "in the baseline",
            Which::Baseline => "in the code",
        };
        match shape.and_then(|index| self.bench.benchmark.shapes.get(index)) {
            // The values of a held-out shape stay out of what may be shown to a stage that writes code.
            Some(shape) if shape.held_out => format!("{who} at a held-out shape"),
            Some(shape) => format!("{who} at {}", self.bench.benchmark.shape_name(shape)),
            None => who.to_owned(),
        }
    }

    /// What the harness says of code or file that failed.
    pub(super) fn event(&self, event: Event) -> LabError {
        let file = self.bench.benchmark.path.display();
        match event {
            Event::Wrong { which, shape, argument, index, got, expected, wrong, unwritten, elements, max_error } => {
                let place = self.place(which, Some(shape));
                if which == Which::Candidate && self.is_held_out(shape) {
                    // Its size would show in the numbers.
                    return Failure::Wrong { detail: format!("{place}: elements of `{argument}` are wrong") }.into();
                }
                let how = match (unwritten, max_error.as_str()) {
                    (0, "0") => String::new(),
                    (0, error) => format!(", by up to {error}"),
                    (unwritten, _) => format!(", {unwritten} were never written"),
                };
                Failure::Wrong {
                    detail: format!(
                        "{place}: {argument}[{index}] is {got}, expected {expected} ({wrong} of {elements} elements are \
                         wrong{how})"
                    ),
                }
                .into()
            }
            Event::Guard { which, shape, argument, offset, bytes } => {
                let place = self.place(which, Some(shape));
                let where_to = if offset < 0 {
                    format!("{} bytes before the start", -offset)
                } else {
                    format!("{} bytes past the end", offset - i64::try_from(bytes).unwrap_or(0))
                };
                Failure::Wrong {
                    detail: format!("{place}: it wrote outside of `{argument}`, {where_to} of its {bytes} bytes"),
                }
                .into()
            }
            Event::Modified { which, shape, argument } => {
                let advice = match which {
                    Which::Candidate => String::new(),
                    _ => format!("; say `kind = \"inout\"` in {file} if it may"),
                };
                let place = self.place(which, Some(shape));
                Failure::Wrong { detail: format!("{place}: it changed the input `{argument}`{advice}") }.into()
            }
            Event::Late { which, shape, argument } => refused(format!(
                "{}: `{argument}` still changed after the device was synchronised: work was left running",
                self.place(which, Some(shape))
            )),
            Event::Error { which, shape, status, text } => Failure::Crashed {
                detail: format!("{}: HIP reports error {status} ({text})", self.place(which, Some(shape))),
            }
            .into(),
            Event::Slow { which: Which::Reference, shape } if self.bench.benchmark.reference.is_some() => {
                LabError::Usage(format!(
                    "{file}:{}: the reference timed out after {:.1} s at {}; mend it, choose a smaller shape, or raise the \
                     limit with --timeout",
                    self.bench.benchmark.reference.as_ref().map_or(1, |reference| reference.expression().line),
                    self.bench.limits.wall.as_secs_f64(),
                    self.shape_name(shape)
                ))
            }
            // The original ran under the same limit, so a slow one is a matter of the shape and of the limit.
            Event::Slow { which: Which::Reference | Which::Baseline, shape } if self.compares => {
                LabError::Usage(format!(
                    "{file}: the unchanged code takes longer than {:.1} s at {}; choose a smaller shape or raise the limit with \
                 --timeout",
                    self.bench.limits.wall.as_secs_f64(),
                    self.shape_name(shape)
                ))
            }
            Event::Slow { .. } => Failure::TimedOut { limit: self.bench.limits.wall }.into(),
            Event::Useless { shape, argument, .. } => LabError::Usage(format!(
                "{file}: every element of `{argument}` is NaN at {}, so nothing can be checked; choose another fill for \
                 the inputs",
                self.shape_name(shape)
            )),
            Event::Loose { shape, argument, atol, .. } => LabError::Usage(format!(
                "{file}: with `atol` {atol}, zeros would pass for every element of `{argument}` at {}; set an `atol` in \
                 `[check]` that is small against the results",
                self.shape_name(shape)
            )),
            Event::Launch { shape, part, sizes } => self.impossible_launch(shape, &part, sizes),
            Event::Count { shape, argument, count } => LabError::Usage(format!(
                "{file}: `{argument}` would have {count} elements at {}; mend its `count` or the shape",
                self.shape_name(shape)
            )),
            Event::Device { call, status, text } => LabError::Usage(format!(
                "{file}: {call} failed with error {status} ({text}) while the buffers were set up; choose smaller shapes \
                 or a higher memory limit (--memory)"
            )),
            other => refused(format!("the report is out of order ({other:?})")),
        }
    }

    fn impossible_launch(&self, shape: usize, part: &str, [x, y, z]: [i64; 3]) -> LabError {
        let (file, at) = (self.bench.benchmark.path.display(), self.shape_name(shape));
        let line = |choose: fn(&Entry) -> Option<&Expression>| {
            self.bench.benchmark.entry.as_ref().and_then(choose).map_or(1, |size| size.line)
        };
        LabError::Usage(match part {
            "block" => format!(
                "{file}:{}: a block of {x}x{y}x{z} work-items is not possible ({at}); it has 1 to 1024 of them",
                line(|entry| entry.launch()?.block.first())
            ),
            "grid" => format!(
                "{file}:{}: a grid of {x}x{y}x{z} blocks is not possible ({at}); it has at least one along each axis, at most \
                 2147483647 along x and 65535 along y and z, and fewer than 2^32 work-items along x",
                line(|entry| entry.launch()?.grid.first())
            ),
            _ => format!(
                "{file}:{}: {x} bytes of shared memory are not possible ({at}); a block has at most 65536",
                line(|entry| entry.launch()?.shared)
            ),
        })
    }

    fn is_held_out(&self, index: usize) -> bool {
        self.bench.benchmark.shapes.get(index).is_some_and(|shape| shape.held_out)
    }

    pub(super) fn shape_name(&self, index: usize) -> String {
        let benchmark = self.bench.benchmark;
        benchmark.shapes.get(index).map_or_else(String::new, |shape| benchmark.shape_name(shape))
    }

    /// An object that the loader refuses: a symbol is missing, or a constructor ended the process.
    fn not_loaded(&self, running: Option<(Which, Option<usize>)>, run: &Run) -> LabError {
        let place = running.map_or_else(|| "the original version".into(), |(which, shape)| self.place(which, shape));
        Failure::Crashed { detail: format!("{place}: {}", run.last_lines(3)) }.into()
    }
}
