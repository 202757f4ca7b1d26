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
    /// What one call took.
    Sample(Sample),
    /// How long nothing under test ran, and the processor time that other threads of the process used meanwhile.
    Between { shape: usize, ns: f64, others_ns: f64 },
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
    /// An output whose tolerance takes zeros for right.
    Loose { which: Which, shape: usize, argument: String, atol: String },
    /// A launch that no device can do; which part of it, and its sizes.
    Launch { shape: usize, part: String, sizes: [i64; 3] },
    /// A count of elements that no buffer can have.
    Count { shape: usize, argument: String, count: i64 },
    /// A HIP call of the harness itself that failed.
    Device { call: String, status: i64, text: String },
    /// The end.
    Done { right: bool },
}

/// One call: an average where a sample took several.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sample {
    shape: usize,
    pair: usize,
    which: Which,
    /// By the clock.
    ns: f64,
    /// By the processor's counter.
    counter_ns: f64,
    /// Processor time of the thread.
    processor_ns: f64,
    /// Processor time of the process's other threads.
    others_ns: f64,
    /// How often another process took the processor away, in all calls of the sample.
    displaced: u64,
    /// By the clock, what was spent in launches.
    kernels_ns: f64,
}

/// What a report must be about.
pub(super) struct Expected<'a> {
    pub(super) token: &'a str,
    pub(super) shapes: &'a [usize],
    pub(super) compares: bool,
}

/// Samples of one shape, in order, of the baseline and of the candidate: nanoseconds of one call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ShapeSamples {
    /// By the clock.
    pub(super) wall: [Vec<f64>; 2],
    /// Processor time.
    pub(super) processor: [Vec<f64>; 2],
    /// Clock over processor counter.
    pub(super) clock_ratios: [Vec<f64>; 2],
    /// By the clock, what was spent in launches.
    pub(super) kernels: [Vec<f64>; 2],
    /// How often another process took the processor away.
    pub(super) displaced: u64,
    /// By the clock and by processor time, all samples together in which no other process did.
    pub(super) undisturbed: [(f64, f64); 2],
    /// Processor time of other threads while calls were timed, in all.
    pub(super) others_ns: f64,
    /// How long nothing under test ran, and the processor time of other threads meanwhile.
    pub(super) between: (f64, f64),
    pub(super) flops: f64,
    pub(super) bytes: f64,
}

impl ShapeSamples {
    /// Adds what another process measured of the same shape.
    fn join(&mut self, other: &Self) {
        let lists = |samples: &mut [Vec<f64>; 2], others: &[Vec<f64>; 2]| {
            samples.iter_mut().zip(others).for_each(|(list, other)| list.extend_from_slice(other));
        };
        lists(&mut self.wall, &other.wall);
        lists(&mut self.processor, &other.processor);
        lists(&mut self.clock_ratios, &other.clock_ratios);
        lists(&mut self.kernels, &other.kernels);
        self.displaced = self.displaced.saturating_add(other.displaced);
        for (sum, other) in self.undisturbed.iter_mut().zip(other.undisturbed) {
            *sum = (sum.0 + other.0, sum.1 + other.1);
        }
        self.others_ns += other.others_ns;
        self.between = (self.between.0 + other.between.0, self.between.1 + other.between.1);
        (self.flops, self.bytes) = (other.flops, other.bytes);
    }
}

/// A complete report of code that is right.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Transcript {
    pub(super) shapes: BTreeMap<usize, ShapeSamples>,
    pub(super) bytes_per_s: f64,
    pub(super) flops_per_s: f64,
}

impl Transcript {
    /// What several processes measured, as if it had been one.
    pub(super) fn joined(sittings: &[Self]) -> Self {
        let mut all = Self::default();
        for sitting in sittings {
            // Only the first looks at the machine.
            all.bytes_per_s = all.bytes_per_s.max(sitting.bytes_per_s);
            all.flops_per_s = all.flops_per_s.max(sitting.flops_per_s);
            for (shape, samples) in &sitting.shapes {
                all.shapes.entry(*shape).or_default().join(samples);
            }
        }
        all
    }
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
            Event::Sample(sample) => self.sample(&sample)?,
            Event::Between { shape, ns, others_ns } => {
                if !(is_span(ns) && is_span(others_ns)) {
                    return Err("a time out of range".into());
                }
                self.shape(shape)?.between = (ns, others_ns);
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

    fn sample(&mut self, sample: &Sample) -> Result<(), String> {
        let compares = self.expected.compares;
        let samples = self.shape(sample.shape)?;
        let side = match sample.which {
            Which::Baseline => 0,
            Which::Candidate if compares => 1,
            _ => return Err("a sample of what is not timed".into()),
        };
        let &Sample { ns, counter_ns, processor_ns, others_ns, kernels_ns, .. } = sample;
        let is_time = |value: f64| value.is_finite() && value > 0.0;
        let in_range =
            is_time(ns) && is_time(counter_ns) && [processor_ns, others_ns, kernels_ns].map(is_span) == [true; 3];
        if samples.wall[side].len() != sample.pair || !in_range {
            return Err("a sample out of order or out of range".into());
        }
        samples.wall[side].push(ns);
        samples.processor[side].push(processor_ns);
        samples.clock_ratios[side].push(ns / counter_ns);
        samples.kernels[side].push(kernels_ns);
        samples.displaced = samples.displaced.saturating_add(sample.displaced);
        if sample.displaced == 0 {
            let (wall, processor) = &mut samples.undisturbed[side];
            (*wall, *processor) = (*wall + ns, *processor + processor_ns);
        }
        samples.others_ns += others_ns;
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
                        let [baseline, candidate] = samples.wall.each_ref().map(Vec::len);
                        baseline > 0 && candidate == if self.expected.compares { baseline } else { 0 }
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

/// Nothing or a time.
fn is_span(ns: f64) -> bool {
    ns.is_finite() && ns >= 0.0
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
