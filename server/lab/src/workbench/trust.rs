//! The net under kernels that are split at their barriers (`runtime/README.md`): a mistake in splitting must never show as
//! a result of the code.
//!
//! - Programs: what the baseline prints is compared once with what the same text prints on fibers.
//! - Benchmarks: the reference runs on fibers, so every check compares the split with that.
//! - What fails is done again on fibers: a right version is not lost. What a winner does on fibers is asked before it is
//!   called one ([`Workbench::confirm`]): a wrong version does not pass.
//!
//! Where fibers give another result, the build is not trusted from then on: it, and whatever is compared with it, runs on
//! fibers. The decision is kept with the build, and told with the result.

use std::sync::PoisonError;

use hip_syntax::rewrite::Barriers;

use super::{Build, Feed, Sampling, ShapeChoice, Workbench, of_another_workbench};
use crate::program::{self, Agreement};
use crate::toolchain::CompileOptions;
use crate::toolchain::cpu::BuiltProgram;
use crate::{Cancel, Comparison, Failure, LabError};

/// What the device note of a figure ends with where a split was not trusted.
const NOTE: &str = "; on fibers, since split at its barriers it gave another result";

/// A result, and whether it was had on fibers because a split was not trusted.
pub(super) struct Guarded<T> {
    value: T,
    on_fibers: bool,
}

impl<T> Guarded<T> {
    /// The result alone.
    pub(super) fn value(self) -> T {
        self.value
    }

    /// The result, with a remark in the device note that `note` finds in it.
    pub(super) fn noted(mut self, note: impl FnOnce(&mut T) -> &mut String) -> T {
        if self.on_fibers {
            let text = note(&mut self.value);
            // What names the clock stands at the end and is looked for there.
            let place = text.find(';').unwrap_or(text.len());
            text.insert_str(place, NOTE);
        }
        self.value
    }
}

impl Workbench {
    /// Does `act` with `builds` split at their barriers, and on fibers where that cannot be trusted.
    pub(super) fn guarded<T>(
        &self,
        builds: &[&Build],
        cancel: &Cancel,
        act: impl Fn(Barriers) -> Result<T, LabError>,
    ) -> Result<Guarded<T>, LabError> {
        let guarded = |on_fibers: bool| move |value| Guarded { value, on_fibers };
        if !builds.iter().any(|build| build.split) {
            return act(Barriers::Split).map(guarded(false));
        }
        if let (Feed::Program(_), Some(first)) = (&self.feed, builds.first()) {
            self.compare_with_fibers(first, cancel)?;
        }
        if builds.iter().filter_map(|build| self.doubt(build)).map(|doubt| self.tell(doubt)).count() > 0 {
            return act(Barriers::Fibers).map(guarded(true));
        }
        let first = act(Barriers::Split);
        let Err(LabError::Code(failure)) = &first else { return first.map(guarded(false)) };
        if !may_come_from_a_split(failure) {
            return first.map(guarded(false));
        }
        match act(Barriers::Fibers) {
            // Code that fails now and then is not let through because it passed at the second attempt.
            Ok(value) if act(Barriers::Split).is_err() => {
                self.keep_doubt(self.culprit(builds, cancel)?, &failure.to_string())?;
                Ok(Guarded { value, on_fibers: true })
            }
            // Fibers are slower, and what is wrong with the baseline there says nothing.
            Ok(_) | Err(LabError::Code(Failure::TimedOut { .. }) | LabError::Usage(_)) => first.map(guarded(false)),
            // As the code itself fails.
            Err(error) => Err(error),
        }
    }

    /// As [`Workbench::compare`], for a candidate that is about to be called the winner: what it does on fibers is asked first.
    ///
    /// # Errors
    /// As [`Workbench::compare`].
    pub fn confirm(
        &self,
        baseline: &Build,
        candidate: &Build,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Comparison, LabError> {
        self.compare_with_fibers(candidate, cancel)?;
        self.compare(baseline, candidate, sampling, cancel)
    }

    /// What the user should know of the results so far: which versions ran on fibers because they gave another result when
    /// they were split, and what could not be compared.
    pub fn remarks(&self) -> Vec<String> {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Builds the program of `build` so that its kernels run as `barriers` says.
    pub(super) fn program(&self, build: &Build, barriers: Barriers, cancel: &Cancel) -> Result<BuiltProgram, LabError> {
        match (barriers, &build.program) {
            (Barriers::Split, Some(built)) => Ok(built.clone()),
            (Barriers::Fibers, Some(_)) => self.cpu.build_program(&build.source, &self.whole(), cancel),
            (_, None) => Err(of_another_workbench()),
        }
    }

    /// The options of a build with whole kernels.
    pub(super) fn whole(&self) -> CompileOptions {
        CompileOptions { fibers: true, ..self.compile.clone() }
    }

    fn doubt(&self, build: &Build) -> Option<String> {
        build.split.then(|| self.cpu.doubt(&build.path)).flatten()
    }

    /// Compares a split build with the same text on fibers, once for each build and feed; nothing to do for others.
    fn compare_with_fibers(&self, build: &Build, cancel: &Cancel) -> Result<(), LabError> {
        let feed = self.feed_text();
        if !build.split || self.doubt(build).is_some() {
            return Ok(());
        }
        let remark = match self.cpu.compared(&build.path, &feed) {
            Some(known) => known,
            None => match self.agreement(build, cancel)? {
                Agreement::Same => String::new(),
                Agreement::Unknown(why) => why,
                Agreement::Differs(detail) => return self.keep_doubt(build, &detail),
            },
        };
        self.cpu.keep_compared(&build.path, &feed, &remark)?;
        if !remark.is_empty() {
            self.tell(format!(
                "{}: it could not be compared with the same on fibers, which shows mistakes in splitting kernels at their \
                 barriers: there it {remark}; smaller `check_args` under [program] in the benchmark file help",
                build.source.path.display()
            ));
        }
        Ok(())
    }

    fn agreement(&self, build: &Build, cancel: &Cancel) -> Result<Agreement, LabError> {
        match &self.feed {
            Feed::Program(arguments) => {
                let split = self.program(build, Barriers::Split, cancel)?;
                let whole = self.program(build, Barriers::Fibers, cancel)?;
                program::agreement(&self.cpu, &split, &whole, &self.run_options(&arguments.check), cancel)
            }
            Feed::Benchmark(benchmark) => {
                let checked = |barriers| {
                    self.bench(benchmark, barriers, |bench| bench.check(&build.source, ShapeChoice::All, cancel))
                };
                match checked(Barriers::Fibers) {
                    Ok(()) => Ok(Agreement::Same),
                    Err(LabError::Code(failure @ Failure::TimedOut { .. })) => {
                        Ok(Agreement::Unknown(failure.to_string()))
                    }
                    Err(LabError::Code(failure)) => Ok(Agreement::Differs(format!("on fibers: {failure}"))),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// The first of `builds` that fails by itself when it is split; else the last.
    fn culprit<'b>(&self, builds: &[&'b Build], cancel: &Cancel) -> Result<&'b Build, LabError> {
        let fails = |build: &&&Build| self.check_with(build, Barriers::Split, cancel).is_err();
        let found = builds.iter().filter(|build| build.split).find(fails);
        found.or(builds.last()).copied().ok_or_else(of_another_workbench)
    }

    fn keep_doubt(&self, build: &Build, detail: &str) -> Result<(), LabError> {
        let doubt = format!(
            "{}: its kernels run on fibers, which is slower: split at their barriers they gave another result ({detail}). If \
             `check --sanitize thread` finds no race in it, that is a mistake of kernel-scientist: please report it with \
             the file",
            build.source.path.display()
        );
        self.cpu.keep_doubt(&build.path, &doubt)?;
        self.tell(doubt);
        Ok(())
    }

    fn tell(&self, remark: String) {
        self.remarks.lock().unwrap_or_else(PoisonError::into_inner).insert(remark);
    }

    /// What the results depend on beside the build.
    fn feed_text(&self) -> String {
        match &self.feed {
            Feed::Program(arguments) => format!("{:?}", arguments.check),
            Feed::Benchmark(benchmark) => format!("{benchmark:?}"),
        }
    }
}

/// Whether a mistake in splitting a kernel could look like this.
fn may_come_from_a_split(failure: &Failure) -> bool {
    match failure {
        Failure::Wrong { .. } | Failure::Crashed { .. } | Failure::TimedOut { .. } => true,
        Failure::DoesNotCompile { .. } | Failure::Refused { .. } => false,
    }
}
