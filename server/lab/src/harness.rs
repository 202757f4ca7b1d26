//! Times and compares builds of a kernel under a benchmark file.
//!
//! One comparison is several sandboxed processes (`runtime/harness`), one after the other ([`sittings`]). Each loads three
//! shared objects: the baseline and the candidate, each built from its source with [`glue`] appended, and a *trusted* one,
//! built from the original source and the benchmark file, which holds sizes, fills and the reference: a candidate has no
//! part in its own check. The process reports in lines that carry a secret token ([`report`]); anything else on that
//! channel is refused. What was measured becomes figures and verdicts here, in [`crate::statistics`].
//!
//! What keeps a time honest is listed with the cheats that it catches in `tests/cheats/README.md`. A native program that
//! searches the memory of its own process could in the end still forge a report: the harness makes cheating hard to do
//! by chance or by habit and visible in a diff, not impossible for an attacker.

mod cpu;
mod glue;
mod outcome;
mod plan;
mod plausible;
mod report;
mod sittings;
mod trace;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use cpu::CpuBuilder;
use hip_syntax::rewrite::Barriers;
pub(crate) use trace::Recording;

use crate::benchmark::Benchmark;
use crate::sandbox::{self, Command, Limits, Policy};
use crate::workbench::{Sampling, ShapeChoice};
use crate::{Cancel, Comparison, Failure, LabError, Source, TimeReport};

/// Builds what the harness loads, for one device.
pub trait Builder: Sync {
    /// Builds a shared object from `source`, whose text is HIP; `defines` and `includes` come from `benchmark.program`.
    /// `barriers` matters where the device is the CPU.
    fn object(
        &self,
        source: &Source,
        benchmark: &Benchmark,
        barriers: Barriers,
        cancel: &Cancel,
    ) -> Result<Object, LabError>;

    /// The harness as a program.
    fn harness(&self, cancel: &Cancel) -> Result<PathBuf, LabError>;

    /// A folder for one run, removed when it is dropped.
    fn run_folder(&self) -> Result<tempfile::TempDir, LabError>;

    /// Called after each run, with the folder that it ran in.
    fn has_run(&self, _folder: &Path) {}

    /// The environment of the run.
    fn environment(&self) -> Vec<(OsString, OsString)>;

    /// What the run may read beside the objects and the system's libraries.
    fn readable(&self) -> Vec<PathBuf>;

    /// Device, its note and the toolchain's version, as in [`TimeReport`].
    fn describe(&self) -> Described;
}

/// How a device is named with its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// As in [`TimeReport::device`].
    pub device: String,
    /// As in [`TimeReport::device_note`].
    pub device_note: String,
    /// As in [`TimeReport::toolchain`].
    pub toolchain: String,
}

/// A shared object that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Where it lies.
    pub path: PathBuf,
    /// Kernels in it were split at their barriers (`runtime/README.md`).
    pub split: bool,
}

/// What one process of the harness loads.
#[derive(Clone)]
struct Objects {
    trusted: PathBuf,
    baseline: PathBuf,
    candidate: Option<PathBuf>,
}

/// What the processes of one measurement reported.
struct Measured {
    sittings: Vec<report::Transcript>,
    joined: report::Transcript,
}

/// What is the same for every run of a benchmark on a device.
pub struct Bench<'a> {
    /// The device's builder.
    pub builder: &'a dyn Builder,
    /// The benchmark file; it must have an entry.
    pub benchmark: &'a Benchmark,
    /// The original version of the code: where the benchmark names no reference, this is the reference.
    pub original: &'a Source,
    /// Limits of the process; the wall-clock time is that of one sample.
    pub limits: Limits,
    /// What becomes of kernels with barriers in the versions that are checked and timed. The reference is on fibers in the
    /// first sitting of each measurement, so that an error in splitting a kernel shows as a wrong result.
    pub barriers: Barriers,
}

impl Bench<'_> {
    /// Builds what [`Bench::time`] and [`Bench::compare`] load for `source`, so that they find it in the device's cache.
    ///
    /// # Errors
    /// [`Failure::DoesNotCompile`]; [`LabError::Usage`] when the benchmark file does not fit the original either.
    pub fn build(&self, source: &Source, cancel: &Cancel) -> Result<Object, LabError> {
        let built = self.object(source, glue::run(self.benchmark), self.barriers, cancel);
        if built.as_ref().is_err_and(|error| outcome::is_about_the_benchmark(error, self.benchmark)) {
            self.trusted(cancel)?;
        }
        built
    }

    /// Builds the object that holds sizes, fills and the reference, on fibers.
    ///
    /// # Errors
    /// [`LabError::Usage`] when the benchmark file does not fit the original.
    pub(crate) fn trusted(&self, cancel: &Cancel) -> Result<PathBuf, LabError> {
        self.trusted_with(Barriers::Fibers, cancel)
    }

    fn trusted_with(&self, barriers: Barriers, cancel: &Cancel) -> Result<PathBuf, LabError> {
        let trusted = self.object(self.original, glue::trusted(self.benchmark), barriers, cancel);
        trusted.map(|object| object.path).map_err(|error| outcome::of_the_benchmark(error, self.benchmark))
    }

    /// Checks and times `source` at the chosen shapes.
    pub fn time(&self, source: &Source, sampling: &Sampling, cancel: &Cancel) -> Result<TimeReport, LabError> {
        let measured = self.run(source, None, sampling, cancel)?;
        outcome::time_report(self, sampling, &measured.joined)
    }

    /// Checks `baseline` and `candidate` and compares their times at the chosen shapes, interleaved in each of several
    /// processes.
    pub fn compare(
        &self,
        baseline: &Source,
        candidate: &Source,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Comparison, LabError> {
        let measured = self.run(baseline, Some(candidate), sampling, cancel)?;
        outcome::comparison(self, sampling, &measured.sittings, &measured.joined)
    }

    /// Runs `source` once at the chosen shapes, checks its results, and asks nothing of its times.
    pub(crate) fn check(&self, source: &Source, shapes: ShapeChoice, cancel: &Cancel) -> Result<(), LabError> {
        let everything = Sampling { seed: 0, budget: Duration::ZERO, half_width: 1.0, shapes };
        self.check_at(source, &self.chosen_shapes(&everything)?, rand::random(), cancel)
    }

    /// The same at shapes given by their numbers, on the inputs that follow from `seed`; nothing to do for no shape.
    pub(crate) fn check_at(
        &self,
        source: &Source,
        shapes: &[usize],
        seed: u64,
        cancel: &Cancel,
    ) -> Result<(), LabError> {
        if shapes.is_empty() {
            return Ok(());
        }
        let once = Sampling { seed, budget: Duration::ZERO, half_width: 1.0, shapes: ShapeChoice::All };
        let objects =
            Objects { trusted: self.trusted(cancel)?, baseline: self.build(source, cancel)?.path, candidate: None };
        self.sit(&objects, shapes, &once, sittings::once(), seed, cancel).map(drop)
    }

    fn run(
        &self,
        baseline: &Source,
        candidate: Option<&Source>,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Measured, LabError> {
        let shapes = self.chosen_shapes(sampling)?;
        let trusted = self.trusted(cancel)?;
        let baseline = self.build(baseline, cancel).map_err(|error| outcome::of_the_baseline(error, candidate))?;
        let candidate = candidate.map(|source| self.build(source, cancel)).transpose()?;
        let objects = Objects { trusted, baseline: baseline.path, candidate: candidate.map(|object| object.path) };
        // A machine that was held up while its clock and counter were calibrated looks like one whose clock was tampered
        // with, once; a tampered clock is seen again in the next process.
        match self.measure(&objects, &shapes, sampling, cancel) {
            Err(error) if plausible::is_about_the_clock(&error) => self.measure(&objects, &shapes, sampling, cancel),
            other => other,
        }
    }

    /// Everything that a measurement takes, and whether it can be true.
    fn measure(
        &self,
        objects: &Objects,
        shapes: &[usize],
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Measured, LabError> {
        let compares = objects.candidate.is_some();
        let sittings = if compares {
            // What is right in the first sitting agrees with fibers; the reference of the others may be quicker.
            let later = Objects { trusted: self.trusted_with(self.barriers, cancel)?, ..objects.clone() };
            sittings::compare(self, [objects, &later], shapes, sampling, cancel)?
        } else {
            vec![self.sit(objects, shapes, sampling, sittings::alone(sampling), sampling.seed, cancel)?]
        };
        let joined = report::Transcript::joined(&sittings);
        plausible::check(&outcome::Naming { bench: self, compares }, &joined)?;
        Ok(Measured { sittings, joined })
    }

    /// One process of the harness.
    fn sit(
        &self,
        objects: &Objects,
        shapes: &[usize],
        sampling: &Sampling,
        effort: plan::Effort,
        seed: u64,
        cancel: &Cancel,
    ) -> Result<report::Transcript, LabError> {
        let token = format!("{:032x}", rand::random::<u128>());
        let folder = self.builder.run_folder()?;
        let plan = plan::Plan {
            token: &token,
            seed,
            effort,
            half_width: sampling.half_width,
            benchmark: self.benchmark,
            sample_limit: self.limits.wall,
            shapes,
            trusted: &objects.trusted,
            baseline: &objects.baseline,
            candidate: objects.candidate.as_deref(),
        };
        let limits = self.process_limits(effort.budget, shapes.len());
        let mut command = Command::new(self.builder.harness(cancel)?, folder.path(), Policy::Candidate, limits);
        command.arguments = vec![plan.text().into()];
        command.readable = self.builder.readable();
        command.readable.extend([&objects.trusted, &objects.baseline].into_iter().chain(&objects.candidate).cloned());
        command.environment = self.builder.environment();
        command.report = true;
        let run = sandbox::run(&command, cancel)?;
        self.builder.has_run(folder.path());
        let expected = report::Expected { token: &token, shapes, compares: objects.candidate.is_some() };
        outcome::transcript(self, &run, &command.limits, &expected)
    }

    /// Builds `source` with `glue` behind it.
    fn object(&self, source: &Source, glue: String, barriers: Barriers, cancel: &Cancel) -> Result<Object, LabError> {
        let with_glue = source.with_text(format!("{}{glue}", source.text));
        let built = self.builder.object(&with_glue, self.benchmark, barriers, cancel);
        match built {
            Err(LabError::Code(Failure::DoesNotCompile { diagnostics })) => {
                let in_the_glue = diagnostics.iter().all(|diagnostic| diagnostic.file == self.benchmark.path);
                if in_the_glue {
                    // A brace missing in the source shows only in the glue: then the source alone fails too.
                    self.builder.object(source, self.benchmark, barriers, cancel)?;
                }
                Err(Failure::DoesNotCompile { diagnostics: outcome::in_the_file(diagnostics, &self.benchmark.path) }
                    .into())
            }
            other => other,
        }
    }

    /// Limits of the whole process. The harness keeps the limit of each sample itself and stops early when the budget is
    /// overdrawn; this is for code that gets in its way.
    fn process_limits(&self, budget: Duration, shapes: usize) -> Limits {
        let shapes = u32::try_from(shapes).unwrap_or(u32::MAX);
        Limits { wall: (4 * self.limits.wall).saturating_mul(shapes) + 10 * budget, ..self.limits }
    }

    fn require_entry(&self) -> Result<(), LabError> {
        match self.benchmark.entry {
            Some(_) => Ok(()),
            None => Err(LabError::Usage(format!(
                "{}: `entry` is missing; name the function or kernel to time",
                self.benchmark.path.display()
            ))),
        }
    }

    fn chosen_shapes(&self, sampling: &Sampling) -> Result<Vec<usize>, LabError> {
        self.require_entry()?;
        let path = self.benchmark.path.display();
        let shapes = self.benchmark.chosen(sampling.shapes);
        if shapes.is_empty() {
            return Err(LabError::Usage(format!(
                "{path}: no shape is held out; mark one with `held_out = true` to confirm on it"
            )));
        }
        Ok(shapes)
    }
}

#[cfg(test)]
mod cheat_tests;
#[cfg(test)]
mod fill_tests;
#[cfg(test)]
#[path = "harness/tests.rs"]
mod tests;
