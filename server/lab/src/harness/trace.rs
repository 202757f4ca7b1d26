//! Runs of a version that only record what its kernels do.
//!
//! The object of a version feeds itself: nothing is checked, so nobody has to be trusted. Where the version is not the
//! original, sizes and fills are the original's.

use std::ffi::OsString;

use super::{Bench, Object, glue, outcome, plan, report, sittings};
use crate::sandbox::{self, Command, Limits, Policy, Run};
use crate::{Cancel, LabError, Source};

/// The word that lines of a traced run's report begin with: no secret, since there is nothing to forge.
const TOKEN: &str = "traced";
/// Seed of the inputs: the same version has the same forecast.
const SEED: u64 = 0;

/// A run at one shape.
pub(crate) struct ShapeRun {
    /// The shape's number in the benchmark file.
    pub shape: usize,
    /// How it went.
    pub run: Run,
    /// What it was allowed.
    pub limits: Limits,
    /// What it wrote.
    pub written: Vec<u8>,
}

/// What a traced run needs besides the benchmark.
pub(crate) struct Recording<'a> {
    /// Variables for the tracing runtime.
    pub environment: Vec<(OsString, OsString)>,
    /// The file that it writes in the folder of its run.
    pub file: &'a str,
    /// Most bytes of that file.
    pub most_bytes: u64,
}

impl Bench<'_> {
    /// The source with the launches that the benchmark makes: what code generation needs to see, so that templates have
    /// their instances.
    pub(crate) fn with_launches(&self, source: &Source) -> Source {
        source.with_text(format!("{}{}", source.text, glue::run(self.benchmark)))
    }

    /// Builds `source` with all that a traced run of it needs.
    ///
    /// # Errors
    /// As [`Bench::build`].
    pub(crate) fn build_traced(&self, source: &Source, cancel: &Cancel) -> Result<Object, LabError> {
        let build = |source| self.object(source, glue::traced(self.benchmark), self.barriers, cancel);
        build(source).map_err(|error| match outcome::is_about_the_benchmark(&error, self.benchmark) {
            true => match build(self.original) {
                Err(error) => outcome::of_the_benchmark(error, self.benchmark),
                Ok(_) => error,
            },
            false => error,
        })
    }

    /// Runs what [`Bench::build_traced`] made of `source` once at each shape, in a process for each.
    ///
    /// # Errors
    /// [`LabError::Usage`] where the benchmark file asks for what cannot be had; the [`crate::Failure`] of a launch that the
    /// runtime refuses.
    pub(crate) fn trace(
        &self,
        source: &Source,
        shapes: &[usize],
        recording: &Recording<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<ShapeRun>, LabError> {
        self.require_entry()?;
        let object = self.build_traced(source, cancel)?;
        let feeding =
            if source.text == self.original.text { object.clone() } else { self.build_traced(self.original, cancel)? };
        shapes.iter().map(|shape| self.trace_shape(*shape, [&feeding, &object], recording, cancel)).collect()
    }

    fn trace_shape(
        &self,
        shape: usize,
        [feeding, object]: [&Object; 2],
        recording: &Recording<'_>,
        cancel: &Cancel,
    ) -> Result<ShapeRun, LabError> {
        let folder = self.builder.run_folder()?;
        let effort = sittings::once();
        let plan = plan::Plan {
            token: TOKEN,
            seed: SEED,
            effort,
            half_width: 1.0,
            benchmark: self.benchmark,
            sample_limit: self.limits.wall,
            shapes: &[shape],
            trusted: &feeding.path,
            baseline: &object.path,
            candidate: None,
        };
        let mut limits = self.process_limits(effort.budget, 1);
        limits.file_bytes = limits.file_bytes.max(recording.most_bytes);
        let mut command = Command::new(self.builder.harness(cancel)?, folder.path(), Policy::Candidate, limits);
        command.arguments = vec![plan.text().into()];
        command.readable = self.builder.readable();
        command.readable.extend([&feeding.path, &object.path].map(Clone::clone));
        command.environment = self.builder.environment();
        command.environment.extend(recording.environment.iter().cloned());
        command.report = true;
        let run = sandbox::run(&command, cancel)?;
        let expected = report::Expected { token: TOKEN, shapes: &[shape], compares: false };
        if let report::Reading::Failed(event) = report::read(&run.report, &expected) {
            return Err(outcome::Naming { bench: self, compares: false }.event(event));
        }
        // A run that was stopped early may not have opened the file.
        let written = std::fs::read(folder.path().join(recording.file)).unwrap_or_default();
        Ok(ShapeRun { shape, run, limits, written })
    }
}
