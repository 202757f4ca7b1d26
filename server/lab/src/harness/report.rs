//! Reads the harness' report, and believes none of it that is out of place.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Baseline, candidate, or the original version behind the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Which {
    Baseline,
    Candidate,
    Reference,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Event {
    /// What the machine can do at most.
    Machine { bytes_per_s: f64, flops_per_s: f64 },
    /// Work of one call at a shape; negative where the benchmark does not say.
    Cost { shape: usize, flops: f64, bytes: f64 },
    /// What runs from now on.
    Running {
        which: Which,
        #[serde(default)]
        shape: Option<usize>,
    },
    /// Time of one call by the clock and by the processor's counter, and what of it was spent in launches.
    Sample { shape: usize, pair: usize, which: Which, ns: f64, counter_ns: f64, kernels_ns: f64 },
    /// A wrong element.
    Wrong {
        which: Which,
        shape: usize,
        argument: String,
        index: u64,
        got: String,
        expected: String,
        wrong: u64,
        unwritten: u64,
        elements: u64,
        max_error: String,
    },
    /// Something written outside of a buffer.
    Guard { which: Which, shape: usize, argument: String, offset: i64, bytes: u64 },
    /// An input that was written to.
    Modified { which: Which, shape: usize, argument: String },
    /// An output that changed after the device was synchronised.
    Late { which: Which, shape: usize, argument: String },
    /// A HIP call or launch that failed.
    Error { which: Which, shape: usize, status: i64, text: String },
    /// A sample that took longer than it may.
    Slow { which: Which, shape: usize },
    /// An output whose right value is NaN everywhere.
    Useless { which: Which, shape: usize, argument: String },
    /// A count of elements that no buffer can have.
    Count { shape: usize, argument: String, count: i64 },
    /// A HIP call of the harness itself that failed.
    Device { call: String, status: i64, text: String },
    /// The end.
    Done { right: bool },
}

/// What a report must be about.
pub(super) struct Expected<'a> {
    pub(super) token: &'a str,
    pub(super) shapes: &'a [usize],
    pub(super) compares: bool,
}

/// Samples of one shape, in order: nanoseconds of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ShapeSamples {
    pub(super) baseline: Vec<f64>,
    pub(super) candidate: Vec<f64>,
    /// Clock over processor counter, of each sample of the baseline and of the candidate.
    pub(super) clock_ratios: [Vec<f64>; 2],
    /// Of the time of each sample, what was spent in launches; of the baseline and of the candidate.
    pub(super) kernels: [Vec<f64>; 2],
    pub(super) flops: f64,
    pub(super) bytes: f64,
}

/// A complete report of code that is right.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Transcript {
    pub(super) shapes: BTreeMap<usize, ShapeSamples>,
    pub(super) bytes_per_s: f64,
    pub(super) flops_per_s: f64,
}

/// What a report came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reading {
    /// Complete, all results right.
    Right(Transcript),
    /// The harness says that the code failed; the event says how.
    Failed(Event),
    /// It ends too soon; the last thing that ran.
    CutShort(Option<(Which, Option<usize>)>),
    /// A line that the harness did not write; the text reads on from "the report".
    Forged(String),
}

/// Reads a whole report.
pub(super) fn read(report: &[u8], expected: &Expected<'_>) -> Reading {
    let mut reader = Reader { expected, transcript: Transcript::default(), running: None, failed: None, done: None };
    for (number, line) in report.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        match event(line, expected.token).and_then(|event| reader.take(event)) {
            Ok(()) => (),
            // The last line of a process that was killed may be half a line of the harness.
            Err(_) if is_torn(line, report, expected.token) => break,
            Err(fault) => return Reading::Forged(format!("holds {fault} (line {})", number + 1)),
        }
    }
    reader.finish()
}

fn is_torn(line: &[u8], report: &[u8], token: &str) -> bool {
    !report.ends_with(b"\n")
        && report.ends_with(line)
        && line.starts_with(&token.as_bytes()[..token.len().min(line.len())])
}

fn event(line: &[u8], token: &str) -> Result<Event, String> {
    let text = str::from_utf8(line).map_err(|_| "bytes that are no text".to_owned())?;
    let body = text
        .strip_prefix(token)
        .and_then(|rest| rest.strip_prefix(' '))
        .ok_or("a line that the harness did not write: the code under test wrote to the report channel")?;
    serde_json::from_str(body).map_err(|error| format!("a line that is no event: {error}"))
}

struct Reader<'a> {
    expected: &'a Expected<'a>,
    transcript: Transcript,
    running: Option<(Which, Option<usize>)>,
    failed: Option<Event>,
    done: Option<bool>,
}

impl Reader<'_> {
    fn take(&mut self, event: Event) -> Result<(), String> {
        if self.done.is_some() {
            return Err("a line after the end".into());
        }
        match event {
            Event::Machine { bytes_per_s, flops_per_s } => {
                (self.transcript.bytes_per_s, self.transcript.flops_per_s) = (bytes_per_s, flops_per_s);
            }
            Event::Cost { shape, flops, bytes } => {
                let samples = self.shape(shape)?;
                (samples.flops, samples.bytes) = (flops, bytes);
            }
            Event::Running { which, shape } => self.running = Some((which, shape)),
            Event::Sample { shape, pair, which, ns, counter_ns, kernels_ns } => {
                self.sample(shape, pair, which, ns, counter_ns, kernels_ns)?;
            }
            Event::Done { right } => self.done = Some(right),
            failure => self.failed = Some(failure),
        }
        Ok(())
    }

    fn shape(&mut self, shape: usize) -> Result<&mut ShapeSamples, String> {
        if self.expected.shapes.contains(&shape) {
            Ok(self.transcript.shapes.entry(shape).or_default())
        } else {
            Err(format!("shape {shape}, which was not asked for"))
        }
    }

    fn sample(
        &mut self,
        shape: usize,
        pair: usize,
        which: Which,
        ns: f64,
        counter_ns: f64,
        kernels_ns: f64,
    ) -> Result<(), String> {
        let compares = self.expected.compares;
        let samples = self.shape(shape)?;
        let (list, side) = match which {
            Which::Baseline => (&mut samples.baseline, 0),
            Which::Candidate if compares => (&mut samples.candidate, 1),
            _ => return Err("a sample of what is not timed".into()),
        };
        let is_time = |value: f64| value.is_finite() && value > 0.0;
        let in_range = is_time(ns) && is_time(counter_ns) && kernels_ns.is_finite() && kernels_ns >= 0.0;
        if list.len() != pair || !in_range {
            return Err("a sample out of order or out of range".into());
        }
        list.push(ns);
        samples.clock_ratios[side].push(ns / counter_ns);
        samples.kernels[side].push(kernels_ns);
        Ok(())
    }

    fn finish(self) -> Reading {
        match (self.failed, self.done) {
            (Some(event), _) => Reading::Failed(event),
            (None, None) => Reading::CutShort(self.running),
            (None, Some(false)) => Reading::Forged("says that the code failed and not how".into()),
            (None, Some(true)) => {
                let complete = |shape: &usize| {
                    self.transcript.shapes.get(shape).is_some_and(|samples| {
                        let pairs = if self.expected.compares { samples.baseline.len() } else { 0 };
                        !samples.baseline.is_empty() && samples.candidate.len() == pairs
                    })
                };
                if self.expected.shapes.iter().all(complete) {
                    Reading::Right(self.transcript)
                } else {
                    Reading::Forged("ends without the samples that were asked for".into())
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
