//! Reports that are complete and right, and cannot be true.

use super::outcome::{Naming, refused};
use super::report::{ShapeSamples, Transcript, Which};
use crate::{Failure, LabError, statistics};

/// Times are believed down to this share of what the machine was seen to do at most: the look was short and other
/// processes may have been at work.
const ROOFLINE_SLACK: f64 = 8.0;

/// Less host time than this is never taken for moved work: allocations and copies take as much.
const NOTICEABLE_HOST_NS: f64 = 5e3;

/// Host time that is this share of what the kernels save is the work of the kernels.
const MOVED_SHARE: f64 = 0.25;

/// Clock and processor counter may differ by this share before the clock is taken for tampered with.
const CLOCK_SLACK: f64 = 0.05;

/// Less processor time than this in threads that nobody waits for is never objected to.
const NOTICEABLE_OTHERS_NS: f64 = 5e6;

/// Threads that use this share of a processor while nothing under test runs are at work.
const OTHERS_SHARE: f64 = 0.2;

/// How the refusal of a tampered clock begins.
const CLOCK_RAN: &str = "the clock ran";

/// Whether a run was refused because clock and processor counter disagree.
pub(super) fn is_about_the_clock(error: &LabError) -> bool {
    matches!(error, LabError::Code(Failure::Refused { detail }) if detail.starts_with(CLOCK_RAN))
}

/// Refuses a measurement that cannot be true; the naming says what was measured.
pub(super) fn check(naming: &Naming<'_>, transcript: &Transcript) -> Result<(), LabError> {
    check_clock(transcript)?;
    naming.check_roofline(transcript)?;
    if naming.compares {
        naming.refuse_moved_work(transcript)?;
        naming.refuse_threads_left_behind(transcript)?;
    }
    Ok(())
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

impl Naming<'_> {
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

    /// Refuses a candidate whose threads go on while nothing of it runs: they take time from the version that is timed.
    fn refuse_threads_left_behind(&self, transcript: &Transcript) -> Result<(), LabError> {
        let (ns, others_ns) = transcript
            .shapes
            .values()
            .fold((0.0, 0.0), |(ns, others), samples| (ns + samples.between.0, others + samples.between.1));
        if others_ns > NOTICEABLE_OTHERS_NS && others_ns > OTHERS_SHARE * ns {
            return Err(refused(format!(
                "threads that the code under test had started used {:.1} ms of processor time in {:.1} ms in which nothing \
                 of it ran; they slow down whatever is timed meanwhile",
                others_ns / 1e6,
                ns / 1e6
            )));
        }
        Ok(())
    }

    /// Refuses a time below what the machine could do at the very most.
    fn check_roofline(&self, transcript: &Transcript) -> Result<(), LabError> {
        for (index, samples) in &transcript.shapes {
            let floor_ns = floor_ns(samples, transcript);
            let too_fast = |side: usize| {
                let medians = [&samples.wall, &samples.processor].map(|times| statistics::median(&times[side]));
                medians.into_iter().flatten().find(|median| *median < floor_ns)
            };
            if let Some(median) = too_fast(0) {
                return Err(LabError::Usage(format!(
                    "{}: by its `[cost]`, a call at {} takes at least {floor_ns:.0} ns on this machine, and the unchanged \
                     code takes {median:.0} ns: mend `flops` or `bytes`",
                    self.bench.benchmark.path.display(),
                    self.shape_name(*index)
                )));
            }
            if let Some(median) = too_fast(1) {
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
    let total = statistics::median(&samples.wall[0])?;
    let kernels = [statistics::median(&samples.kernels[0])?, statistics::median(&samples.kernels[1])?];
    // Sample by sample: on a busy machine what is taken away falls into either part, and mostly into the longer one.
    let outside = |side: usize| {
        let parts = samples.wall[side].iter().zip(&samples.kernels[side]);
        statistics::median(&parts.map(|(total, kernels)| total - kernels).collect::<Vec<_>>())
    };
    let moved = outside(1)? - outside(0)?;
    let saved = kernels[0] - kernels[1];
    let noticeable = (0.1 * total).max(NOTICEABLE_HOST_NS);
    (moved > noticeable && (moved > MOVED_SHARE * saved) && saved > 0.0).then_some(moved)
}

/// Least believable time of one call; 0 where the benchmark gives no cost.
fn floor_ns(samples: &ShapeSamples, transcript: &Transcript) -> f64 {
    let seconds = |work: f64, rate: f64| if rate > 0.0 { work.max(0.0) / rate } else { 0.0 };
    let limit = seconds(samples.bytes, transcript.bytes_per_s).max(seconds(samples.flops, transcript.flops_per_s));
    limit * 1e9 / ROOFLINE_SLACK
}

#[cfg(test)]
#[path = "plausible_tests.rs"]
mod tests;
