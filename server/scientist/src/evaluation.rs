//! What the evolution loop needs of a lab: build, compare, time.

use lab::forecast::KernelForecast;
use lab::sanitize::{Fault, Sanitizer};
use lab::workbench::{Build, Sampling, ShapeChoice, Workbench};
use lab::{Cancel, Comparison, Failure, LabError, TimeReport};

/// One subject on one device, behind which the lab stands; tests put a script there.
///
/// Every call returns [`LabError::Cancelled`] within a fraction of a second after `cancel` was set, and:
/// - [`LabError::Code`] when the code under test failed, which the loop records as the experiment's outcome;
/// - [`LabError::Unavailable`] when the device or its toolchain is not usable now, which pauses the run;
/// - any other error ends the run.
pub trait Evaluator: Sync {
    /// Code that is ready to run.
    type Build: Send + Sync;

    /// The device's name, as shown with every figure.
    fn device(&self) -> &str;

    /// Whether building slows down what is being timed, because both happen on the same processor. Then nothing is built
    /// while something is timed.
    fn builds_disturb_timing(&self) -> bool {
        true
    }

    /// Whether times are forecast: the same for the same code, so that looking twice shows nothing new.
    fn forecasts(&self) -> bool {
        false
    }

    /// What the kernels of a build spend their time on, where times are forecast; of the shapes that stages may see.
    fn account(&self, _build: &Self::Build) -> Vec<KernelForecast> {
        Vec::new()
    }

    /// What sanitizers find in a version that failed, for whoever mends it; at shapes that stages may see. Nothing where they are not
    /// to be had.
    fn faults(&self, _text: &str, _failure: &Failure, _cancel: &Cancel) -> Vec<Fault> {
        Vec::new()
    }

    /// Builds a version of the source. Called from several threads at once.
    ///
    /// # Errors
    /// As said for the trait.
    fn build(&self, text: &str, cancel: &Cancel) -> Result<Self::Build, LabError>;

    /// Checks and times a candidate against a baseline, in a process of its own that ends with the call: two calls share
    /// no state that code under test could have left behind. The loop makes one such call at a time; processes that
    /// share a device are kept apart by whoever implements this.
    ///
    /// # Errors
    /// As said for the trait.
    fn compare(
        &self,
        baseline: &Self::Build,
        candidate: &Self::Build,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Comparison, LabError>;

    /// As [`Evaluator::compare`], for a candidate that is about to be called the winner: whoever implements this may check it
    /// by further means.
    ///
    /// # Errors
    /// As said for the trait.
    fn confirm(
        &self,
        baseline: &Self::Build,
        candidate: &Self::Build,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Comparison, LabError> {
        self.compare(baseline, candidate, sampling, cancel)
    }

    /// Checks and times one version. One at a time, as [`Evaluator::compare`].
    ///
    /// # Errors
    /// As said for the trait.
    fn time(&self, build: &Self::Build, sampling: &Sampling, cancel: &Cancel) -> Result<TimeReport, LabError>;
}

impl Evaluator for Workbench {
    type Build = Build;

    fn device(&self) -> &str {
        Workbench::device(self)
    }

    fn forecasts(&self) -> bool {
        self.basis().is_some()
    }

    fn account(&self, build: &Build) -> Vec<KernelForecast> {
        // What is shown to stages was forecast when the build was made.
        let shapes = self.forecasts_of(build, ShapeChoice::Shown, &Cancel::new()).unwrap_or_default();
        shapes.into_iter().flat_map(|shape| shape.kernels).collect()
    }

    fn faults(&self, text: &str, failure: &Failure, cancel: &Cancel) -> Vec<Fault> {
        // What is likelier first: the other is not asked for when the first finds something.
        let sanitizers = match failure {
            Failure::Crashed { .. } => [Sanitizer::Address, Sanitizer::Thread],
            Failure::Wrong { .. } => [Sanitizer::Thread, Sanitizer::Address],
            _ => return Vec::new(),
        };
        let source = self.original().with_text(text);
        let look =
            |sanitizer| self.sanitize_smallest(&source, sanitizer, cancel).ok().flatten().map(|found| found.faults);
        sanitizers.into_iter().filter_map(look).find(|faults| !faults.is_empty()).unwrap_or_default()
    }

    fn build(&self, text: &str, cancel: &Cancel) -> Result<Build, LabError> {
        Workbench::build(self, &self.original().with_text(text), cancel)
    }

    fn compare(
        &self,
        baseline: &Build,
        candidate: &Build,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Comparison, LabError> {
        Workbench::compare(self, baseline, candidate, sampling, cancel)
    }

    fn confirm(
        &self,
        baseline: &Build,
        candidate: &Build,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Comparison, LabError> {
        Workbench::confirm(self, baseline, candidate, sampling, cancel)
    }

    fn time(&self, build: &Build, sampling: &Sampling, cancel: &Cancel) -> Result<TimeReport, LabError> {
        Workbench::time(self, build, sampling, cancel)
    }
}
