//! What a run of the harness came to: figures and verdicts, or why there are none.

use super::Bench;
use std::path::Path;

use super::report::{Event, Expected, Reading, ShapeSamples, Transcript, Which, read};
use crate::benchmark::Benchmark;
use crate::sandbox::{End, Limits, Run};
use crate::statistics::{self, Pair};
use crate::workbench::Sampling;
use crate::{
    Comparison, Diagnostic, Failure, Figure, KernelTiming, LabError, ShapeComparison, Source, SpeedRatio, TimeReport,
};

/// Times are believed down to this share of what the machine was seen to do at most: the look was short and other
/// processes may have been at work.
const ROOFLINE_SLACK: f64 = 8.0;

/// Less host time than this is never taken for moved work: allocations and copies take as much.
const NOTICEABLE_HOST_NS: f64 = 5e3;

/// Host time that is this share of what the kernels save is the work of the kernels.
const MOVED_SHARE: f64 = 0.25;

/// Clock and processor counter may differ by this share before the clock is taken for tampered with.
const CLOCK_SLACK: f64 = 0.05;

/// How the refusal of a tampered clock begins.
const CLOCK_RAN: &str = "the clock ran";

/// Whether a run was refused because clock and processor counter disagree.
pub(super) fn is_about_the_clock(error: &LabError) -> bool {
    matches!(error, LabError::Code(Failure::Refused { detail }) if detail.starts_with(CLOCK_RAN))
}

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
        (Reading::Right(transcript), End::Status(0)) => {
            check_clock(&transcript)?;
            naming.check_roofline(&transcript)?;
            naming.refuse_moved_work(&transcript)?;
            Ok(transcript)
        }
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

/// Compile errors of the trusted object that are about the benchmark file are mistakes of that file.
pub(super) fn of_the_benchmark(error: LabError, benchmark: &Benchmark) -> LabError {
    match error {
        LabError::Code(Failure::DoesNotCompile { diagnostics })
            if diagnostics.first().is_some_and(|first| first.file == benchmark.path) =>
        {
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
    let described = bench.builder.describe();
    let name = bench.benchmark.entry.as_ref().map_or("", |entry| entry.name()).to_owned();
    let kernels = bench.benchmark.chosen(sampling.shapes).into_iter().map(|index| {
        let shape = bench.benchmark.shape_name(&bench.benchmark.shapes[index]);
        Ok(KernelTiming { name: name.clone(), shape, figure: figure(&samples(transcript, index)?.baseline)? })
    });
    Ok(TimeReport {
        device: described.device,
        device_note: described.device_note,
        toolchain: described.toolchain,
        kernels: kernels.collect::<Result<_, LabError>>()?,
        output: String::new(),
    })
}

pub(super) fn comparison(
    bench: &Bench<'_>,
    sampling: &Sampling,
    transcript: &Transcript,
) -> Result<Comparison, LabError> {
    let shapes = bench.benchmark.chosen(sampling.shapes).into_iter().map(|index| {
        let samples = samples(transcript, index)?;
        let speed = speed(samples)?;
        let shape = &bench.benchmark.shapes[index];
        Ok(ShapeComparison {
            shape: bench.benchmark.shape_name(shape),
            held_out: shape.held_out,
            baseline: figure(&samples.baseline)?,
            candidate: figure(&samples.candidate)?,
            verdict: statistics::verdict(&speed),
            speed,
        })
    });
    let shapes = shapes.collect::<Result<Vec<_>, LabError>>()?;
    let speeds: Vec<SpeedRatio> = shapes.iter().map(|shape| shape.speed).collect();
    let speed = statistics::geometric_mean(&speeds).ok_or_else(no_samples)?;
    let described = bench.builder.describe();
    Ok(Comparison {
        device: described.device,
        device_note: described.device_note,
        toolchain: described.toolchain,
        seed: sampling.seed,
        shapes,
        verdict: statistics::verdict(&speed),
        speed,
    })
}

fn samples(transcript: &Transcript, index: usize) -> Result<&ShapeSamples, LabError> {
    transcript.shapes.get(&index).ok_or_else(no_samples)
}

fn figure(samples: &[f64]) -> Result<Figure, LabError> {
    statistics::figure(samples.to_vec()).ok_or_else(no_samples)
}

fn speed(samples: &ShapeSamples) -> Result<SpeedRatio, LabError> {
    let pairs: Vec<Pair> = samples
        .baseline
        .iter()
        .zip(&samples.candidate)
        .map(|(baseline, candidate)| Pair { baseline: *baseline, candidate: *candidate })
        .collect();
    statistics::speed(&pairs).ok_or_else(no_samples)
}

fn no_samples() -> LabError {
    refused("the report has no samples".into())
}

fn refused(detail: String) -> LabError {
    Failure::Refused { detail }.into()
}

/// The clock and the counter must agree over the run; single samples may differ when the process was held up between
/// the two readings.
fn check_clock(transcript: &Transcript) -> Result<(), LabError> {
    for ratios in transcript.shapes.values().flat_map(|samples| &samples.clock_ratios) {
        let Some(ratio) = statistics::median(ratios) else { continue };
        if (ratio - 1.0).abs() > CLOCK_SLACK {
            return Err(refused(format!(
                "{CLOCK_RAN} {ratio:.2} times as fast as the processor's own counter while the code was timed"
            )));
        }
    }
    Ok(())
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
struct Naming<'a> {
    bench: &'a Bench<'a>,
    compares: bool,
}

impl Naming<'_> {
    /// `in the candidate at n=4096`.
    fn place(&self, which: Which, shape: Option<usize>) -> String {
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

    fn event(&self, event: Event) -> LabError {
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

    fn is_held_out(&self, index: usize) -> bool {
        self.bench.benchmark.shapes.get(index).is_some_and(|shape| shape.held_out)
    }

    fn shape_name(&self, index: usize) -> String {
        let benchmark = self.bench.benchmark;
        benchmark.shapes.get(index).map_or_else(String::new, |shape| benchmark.shape_name(shape))
    }

    /// An object that the loader refuses: a symbol is missing, or a constructor ended the process.
    fn not_loaded(&self, running: Option<(Which, Option<usize>)>, run: &Run) -> LabError {
        let place = running.map_or_else(|| "the original version".into(), |(which, shape)| self.place(which, shape));
        Failure::Crashed { detail: format!("{place}: {}", run.last_lines(3)) }.into()
    }

    /// Refuses a candidate that is faster because its host function does the kernels' work: on a GPU it could not.
    fn refuse_moved_work(&self, transcript: &Transcript) -> Result<(), LabError> {
        for (index, samples) in &transcript.shapes {
            let Some(moved_ns) = moved_to_host_ns(samples) else { continue };
            return Err(refused(format!(
                "{}: the host function itself works {:.1} us longer than before while the kernels have less to do; the \
                 work was moved from the kernels to the host, which has no access to a device's memory",
                self.place(Which::Candidate, Some(*index)),
                moved_ns / 1e3
            )));
        }
        Ok(())
    }

    /// Refuses a time below what the machine could do at the very most.
    fn check_roofline(&self, transcript: &Transcript) -> Result<(), LabError> {
        for (index, samples) in &transcript.shapes {
            let floor_ns = floor_ns(samples, transcript);
            let too_fast = |times: &[f64]| statistics::median(times).filter(|median| *median < floor_ns);
            if let Some(median) = too_fast(&samples.baseline) {
                return Err(LabError::Usage(format!(
                    "{}: by its `[cost]`, a call at {} takes at least {floor_ns:.0} ns on this machine, and the unchanged \
                     code takes {median:.0} ns: mend `flops` or `bytes`",
                    self.bench.benchmark.path.display(),
                    self.shape_name(*index)
                )));
            }
            if let Some(median) = too_fast(&samples.candidate) {
                return Err(refused(format!(
                    "{}: {median:.0} ns is less than this machine needs for the work ({floor_ns:.0} ns for {} bytes and \
                     {} flops at its best); it cannot have been done",
                    self.place(Which::Candidate, Some(*index)),
                    samples.bytes.max(0.0),
                    samples.flops.max(0.0)
                )));
            }
        }
        Ok(())
    }
}

/// How much longer the candidate works outside of launches, where that is a good part of what its launches save.
fn moved_to_host_ns(samples: &ShapeSamples) -> Option<f64> {
    let total = [statistics::median(&samples.baseline)?, statistics::median(&samples.candidate)?];
    let kernels = [statistics::median(&samples.kernels[0])?, statistics::median(&samples.kernels[1])?];
    let moved = (total[1] - kernels[1]) - (total[0] - kernels[0]);
    let saved = kernels[0] - kernels[1];
    let noticeable = (0.1 * total[0]).max(NOTICEABLE_HOST_NS);
    (moved > noticeable && (moved > MOVED_SHARE * saved) && saved > 0.0).then_some(moved)
}

/// Least believable time of one call; 0 where the benchmark gives no cost.
fn floor_ns(samples: &ShapeSamples, transcript: &Transcript) -> f64 {
    let seconds = |work: f64, rate: f64| if rate > 0.0 { work.max(0.0) / rate } else { 0.0 };
    let limit = seconds(samples.bytes, transcript.bytes_per_s).max(seconds(samples.flops, transcript.flops_per_s));
    limit * 1e9 / ROOFLINE_SLACK
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
