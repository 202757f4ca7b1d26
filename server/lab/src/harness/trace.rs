//! Runs of a version that only record what its kernels do.

use std::ffi::OsString;

use super::{Bench, Objects, plan, sittings};
use crate::sandbox::{self, Command, Limits, Policy, Run};
use crate::workbench::{Sampling, ShapeChoice};
use crate::{Cancel, LabError, Source};

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
    /// Runs `source`, whose objects record, once at each chosen shape, in a process for each.
    pub(crate) fn trace(
        &self,
        source: &Source,
        shapes: ShapeChoice,
        recording: &Recording<'_>,
        cancel: &Cancel,
    ) -> Result<Vec<ShapeRun>, LabError> {
        let once = Sampling { shapes, ..Sampling::once() };
        let objects =
            Objects { trusted: self.trusted(cancel)?, baseline: self.build(source, cancel)?.path, candidate: None };
        let chosen = self.chosen_shapes(&once)?;
        chosen.into_iter().map(|shape| self.trace_shape(shape, &objects, &once, recording, cancel)).collect()
    }

    fn trace_shape(
        &self,
        shape: usize,
        objects: &Objects,
        sampling: &Sampling,
        recording: &Recording<'_>,
        cancel: &Cancel,
    ) -> Result<ShapeRun, LabError> {
        let folder = self.builder.run_folder()?;
        let effort = sittings::once();
        let plan = plan::Plan {
            token: "traced",
            seed: sampling.seed,
            effort,
            half_width: sampling.half_width,
            benchmark: self.benchmark,
            sample_limit: self.limits.wall,
            shapes: &[shape],
            trusted: &objects.trusted,
            baseline: &objects.baseline,
            candidate: None,
        };
        let mut limits = self.process_limits(effort.budget, 1);
        limits.file_bytes = limits.file_bytes.max(recording.most_bytes);
        let mut command = Command::new(self.builder.harness(cancel)?, folder.path(), Policy::Candidate, limits);
        command.arguments = vec![plan.text().into()];
        command.readable = self.builder.readable();
        command.readable.extend([objects.trusted.clone(), objects.baseline.clone()]);
        command.environment = self.builder.environment();
        command.environment.extend(recording.environment.iter().cloned());
        command.report = true;
        let run = sandbox::run(&command, cancel)?;
        // A run that was stopped early may not have opened the file.
        let written = std::fs::read(folder.path().join(recording.file)).unwrap_or_default();
        Ok(ShapeRun { shape, run, limits, written })
    }
}
