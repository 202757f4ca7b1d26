//! One hypothesis put to the test, outside of a run of generations: written, checked, timed, mended where it fails and its
//! writer mends, remembered.
//!
//! It is kept in the notebook as a run of its own that has come to its end, so that histories and findings know of it. It
//! is recorded when it is over: a test that is cancelled or killed leaves nothing that could be resumed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lab::workbench::{Sampling, ShapeChoice};
use lab::{Cancel, Comparison, Failure, LabError, Source};
use notebook::{
    ExperimentId, ExperimentKind, ExperimentOutcome, KernelFingerprint, MeasuredCode, NewCandidate, NewExperiment,
    NewRun, Notebook, NotebookError, RunChange, RunId, Spent,
};
use serde_json::{Value, json};

use crate::evaluation::Evaluator;
use crate::evolution::{CallLog, kernels};
use crate::findings;
use crate::run::{RunError, Settings};
use crate::stages::{Draft, Finding, Hypothesis, Member, RepairBrief, StageError, WriteBrief, Writer};

/// What is put to the test.
#[derive(Clone, Debug)]
pub struct Request {
    /// The user's file, absolute.
    pub file: PathBuf,
    /// Its text, which may be unsaved.
    pub text: Arc<str>,
    /// The hypothesis, as it was suggested for this text.
    pub hypothesis: Hypothesis,
    /// Every other seed comes from this one.
    pub seed: u64,
    /// How it measures.
    pub settings: Settings,
}

/// Who writes it.
pub struct Author<'a> {
    /// Stage 3.
    pub writer: &'a dyn Writer,
    /// What stands behind it, as runs are recorded with.
    pub provider: String,
    /// The calls of models that it made.
    pub calls: CallLog,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Tested {
    /// The draft that the outcome is about: the fastest where there are several, the first where all fail.
    pub text: Arc<str>,
    /// What the writer says of it.
    pub report: String,
    /// Its comparison with the file as it is, or how it failed.
    pub outcome: Result<Comparison, Failure>,
    /// What was learnt.
    pub finding: Finding,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The hypothesis does not apply to the text (any more), or it could not be written; or its writer is not there now.
    #[error("{0}")]
    NotWritten(String),
    /// As for a run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Somebody asked it to stop.
    #[error("cancelled")]
    Cancelled,
}

impl From<LabError> for TrialError {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Cancelled => Self::Cancelled,
            other => Self::Run(RunError::Lab(other)),
        }
    }
}

impl From<NotebookError> for TrialError {
    fn from(error: NotebookError) -> Self {
        Self::Run(error.into())
    }
}

/// A draft and what came of it.
struct Attempt {
    kind: ExperimentKind,
    draft: usize,
    outcome: Result<Comparison, Failure>,
    took: Duration,
}

/// Writes the hypothesis, checks each draft and times it against the text; of several drafts the fastest is timed once
/// more, with the full sampling, and that is the outcome. `tell` hears what is being done.
///
/// # Errors
/// [`TrialError`]; a draft that fails is an outcome and no error.
pub fn test<E: Evaluator>(
    evaluator: &E,
    author: &Author<'_>,
    notebook: &Notebook,
    request: &Request,
    cancel: &Cancel,
    tell: &mut dyn FnMut(String),
) -> Result<Tested, TrialError> {
    let tested = put_to_the_test(evaluator, author, notebook, request, cancel, tell);
    let calls = (author.calls)();
    let run = match &tested {
        Ok((run, _)) => Some(*run),
        // What was paid is kept, whatever came of it.
        Err(error) if !calls.is_empty() => {
            Some(came_to_nothing(notebook, request, evaluator.device(), &author.provider, error)?)
        }
        Err(_) => None,
    };
    if let Some(run) = run {
        for call in &calls {
            notebook.record_model_call(run, "test", call)?;
        }
    }
    tested.map(|(_, tested)| tested)
}

/// A run that has only its cost.
fn came_to_nothing(
    notebook: &Notebook,
    request: &Request,
    device: &str,
    provider: &str,
    error: &TrialError,
) -> Result<RunId, NotebookError> {
    let original = Version::of(&request.file, &request.text);
    let run = start_run(notebook, request, &original, device, provider)?;
    // There is nothing to go on with.
    let summary = json!({ "tested": request.hypothesis.key, "reason": error.to_string() });
    notebook.record_change(run, RunChange::Finished, &error.to_string(), &summary, &Spent::default())?;
    Ok(run)
}

fn start_run(
    notebook: &Notebook,
    request: &Request,
    original: &Version<'_>,
    device: &str,
    provider: &str,
) -> Result<RunId, NotebookError> {
    notebook.start_run(&NewRun {
        file: &request.file,
        text: original.text,
        kernels: &original.kernels,
        kernel: Some(&request.hypothesis.kernel),
        device,
        provider,
        seed: request.seed,
        budget: json!({ "generations": 0 }),
        settings: json!(request.settings),
        program: crate::evolution::PROGRAM,
    })
}

fn put_to_the_test<E: Evaluator>(
    evaluator: &E,
    author: &Author<'_>,
    notebook: &Notebook,
    request: &Request,
    cancel: &Cancel,
    tell: &mut dyn FnMut(String),
) -> Result<(RunId, Tested), TrialError> {
    let began = Instant::now();
    let original = original(&request.text);
    let write = WriteBrief { base: &original, reference: &original, plan: &request.hypothesis };
    if request.hypothesis.author.is_some() {
        tell("writing it".into());
    }
    let drafts = author.writer.write(&write, cancel).map_err(not_written)?;
    tell("building the file as it is".into());
    let baseline = evaluator.build(&request.text, cancel).map_err(|error| match error {
        LabError::Code(failure) => TrialError::Run(RunError::Original(failure)),
        other => other.into(),
    })?;
    let mut trial = Trial { evaluator, request, drafts, cancel, baseline };
    let (mut attempts, mut decisive) = trial.measure(tell)?;
    if trial.drafts.len() == 1 && author.writer.mends() {
        decisive = trial.mend(author.writer, &write, &mut attempts, tell)?;
    }
    let attempt = &attempts[decisive];
    let draft = &trial.drafts[attempt.draft];
    let finding = match &attempt.outcome {
        Ok(comparison) => findings::measured(&request.hypothesis, comparison),
        Err(failure) => findings::failed(&request.hypothesis, failure),
    };
    let run = trial.record(notebook, &author.provider, &attempts, decisive, &finding, began.elapsed())?;
    let (text, report) = (draft.text.as_str().into(), draft.report.clone());
    Ok((run, Tested { text, report, outcome: attempt.outcome.clone(), finding }))
}

fn not_written(error: StageError) -> TrialError {
    match error {
        StageError::Cancelled => TrialError::Cancelled,
        other => TrialError::NotWritten(other.to_string()),
    }
}

/// The text as a version that nothing is known of.
fn original(text: &Arc<str>) -> Member {
    Member {
        id: 0,
        parent: None,
        reference: None,
        generation: 0,
        text: Arc::clone(text),
        steps: Vec::new(),
        summary: "the original".into(),
        times: Vec::new(),
        against_parent: None,
        against_original: None,
        verdict: None,
        failure: None,
    }
}

struct Trial<'a, E: Evaluator> {
    evaluator: &'a E,
    request: &'a Request,
    drafts: Vec<Draft>,
    cancel: &'a Cancel,
    baseline: E::Build,
}

impl<E: Evaluator> Trial<'_, E> {
    /// Every attempt, and which of them decides.
    fn measure(&self, tell: &mut dyn FnMut(String)) -> Result<(Vec<Attempt>, usize), TrialError> {
        let (count, full) = (self.drafts.len(), self.request.settings.experiment);
        let (kind, budget) = if count > 1 { (ExperimentKind::Search, full / 4) } else { (ExperimentKind::Full, full) };
        let mut attempts = Vec::new();
        let mut builds = Vec::new();
        for number in 0..count {
            tell(match count {
                1 => "building and timing it".into(),
                _ => format!("draft {} of {count}: building and timing it", number + 1),
            });
            let (attempt, build) = self.attempt(number, kind, budget)?;
            attempts.push(attempt);
            builds.push(build);
        }
        let Some(best) = fastest(&attempts) else { return Ok((attempts, 0)) };
        let (true, Some(build)) = (count > 1, &builds[best]) else { return Ok((attempts, best)) };
        tell(format!("timing the best of {count} drafts"));
        let start = Instant::now();
        let outcome = self.compare(build, full)?;
        attempts.push(Attempt { kind: ExperimentKind::Full, draft: best, outcome, took: start.elapsed() });
        let decisive = attempts.len() - 1;
        Ok((attempts, decisive))
    }

    /// Builds and measures a draft.
    fn attempt(
        &self,
        draft: usize,
        kind: ExperimentKind,
        budget: Duration,
    ) -> Result<(Attempt, Option<E::Build>), TrialError> {
        let start = Instant::now();
        let build = match self.evaluator.build(&self.drafts[draft].text, self.cancel) {
            Err(LabError::Code(failure)) => Err(failure),
            other => Ok(other?),
        };
        let outcome = match &build {
            Ok(build) => self.compare(build, budget)?,
            Err(failure) => Err(failure.clone()),
        };
        Ok((Attempt { kind, draft, outcome, took: start.elapsed() }, build.ok()))
    }

    /// Gives the only draft back to its writer as long as it fails and the settings allow; which attempt decides then.
    fn mend(
        &mut self,
        writer: &dyn Writer,
        write: &WriteBrief<'_>,
        attempts: &mut Vec<Attempt>,
        tell: &mut dyn FnMut(String),
    ) -> Result<usize, TrialError> {
        for turn in 1..=self.request.settings.repairs {
            let last = attempts.len() - 1;
            let Err(failure) = &attempts[last].outcome else { break };
            tell(format!("mending it: {failure}"));
            let draft = &self.drafts[attempts[last].draft].text;
            let faults = self.evaluator.faults(draft, failure, self.cancel);
            let brief = RepairBrief { write: write.clone(), draft, failure, faults: &faults, turn };
            let mended = match writer.repair(&brief, self.cancel) {
                Ok(mended) => mended,
                // An answer that cannot be used leaves the failure as it is.
                Err(StageError::Unusable(_)) => None,
                Err(error) => return Err(not_written(error)),
            };
            let Some(mended) = mended else { break };
            self.drafts.push(mended);
            let full = self.request.settings.experiment;
            attempts.push(self.attempt(self.drafts.len() - 1, ExperimentKind::Full, full)?.0);
        }
        Ok(attempts.len() - 1)
    }

    fn compare(&self, candidate: &E::Build, budget: Duration) -> Result<Result<Comparison, Failure>, TrialError> {
        let Settings { half_width, .. } = self.request.settings;
        let sampling = Sampling { seed: self.request.seed, budget, half_width, shapes: ShapeChoice::Shown };
        match self.evaluator.compare(&self.baseline, candidate, &sampling, self.cancel) {
            Err(LabError::Code(failure)) => Ok(Err(failure)),
            other => Ok(Ok(other?)),
        }
    }

    fn record(
        &self,
        notebook: &Notebook,
        provider: &str,
        attempts: &[Attempt],
        decisive: usize,
        finding: &Finding,
        took: Duration,
    ) -> Result<RunId, TrialError> {
        let request = self.request;
        let original = Version::of(&request.file, &request.text);
        let run = start_run(notebook, request, &original, self.evaluator.device(), provider)?;
        let mut decided = None;
        for (number, attempt) in attempts.iter().enumerate() {
            let id = self.record_attempt(notebook, run, number, attempt, &original)?;
            if number == decisive {
                decided = Some(id);
            }
        }
        self.record_candidates(notebook, run, &original, &attempts[decisive], decided, finding)?;
        if let Some(experiment) = decided {
            notebook.record_finding(&finding.row(run, experiment))?;
        }
        let spent = Spent { wall: took, ..Spent::default() };
        let summary = json!({ "tested": request.hypothesis.key, "finding": finding.text });
        notebook.record_change(run, RunChange::Finished, &finding.text, &summary, &spent)?;
        Ok(run)
    }

    fn record_attempt(
        &self,
        notebook: &Notebook,
        run: RunId,
        number: usize,
        attempt: &Attempt,
        original: &Version<'_>,
    ) -> Result<ExperimentId, NotebookError> {
        let draft = &self.drafts[attempt.draft];
        let version = Version::of(&self.request.file, &draft.text);
        let mut hypothesis = json!(self.request.hypothesis);
        if let (Value::Object(fields), false) = (&mut hypothesis, draft.settings.is_empty()) {
            fields.insert("settings".into(), json!(draft.settings));
        }
        notebook.record_experiment(&NewExperiment {
            run,
            step: &format!("test/{}", number + 1),
            generation: 1,
            kind: attempt.kind,
            base: 0,
            reference: 0,
            hypothesis_key: &self.request.hypothesis.key,
            hypothesis,
            file: &self.request.file,
            baseline: original.code(),
            code: Some(version.code()),
            report: &draft.report,
            outcome: match &attempt.outcome {
                Ok(comparison) => ExperimentOutcome::Measured(comparison),
                Err(failure) => ExperimentOutcome::Failed(failure.clone()),
            },
            took: attempt.took,
            spent: attempt.took,
        })
    }

    /// The original, and the draft that decided if it runs.
    fn record_candidates(
        &self,
        notebook: &Notebook,
        run: RunId,
        original: &Version<'_>,
        decisive: &Attempt,
        experiment: Option<ExperimentId>,
        finding: &Finding,
    ) -> Result<(), NotebookError> {
        let candidate = |number, version: &Version<'_>, steps: &[String], summary: &str, experiment| {
            notebook.record_candidate(&NewCandidate {
                run,
                number,
                parent: (number > 0).then_some(0),
                reference: None,
                generation: number,
                text: version.text,
                kernels: &version.kernels,
                steps,
                summary,
                experiment,
            })
        };
        candidate(0, original, &[], "the file as it was", None)?;
        if decisive.outcome.is_ok() {
            let version = Version::of(&self.request.file, &self.drafts[decisive.draft].text);
            candidate(1, &version, std::slice::from_ref(&self.request.hypothesis.key), &finding.text, experiment)?;
        }
        Ok(())
    }
}

/// A text with its kernels.
struct Version<'a> {
    text: &'a str,
    kernels: Vec<KernelFingerprint>,
}

impl<'a> Version<'a> {
    fn of(file: &Path, text: &'a str) -> Self {
        Self { text, kernels: kernels(text, Source::new(file, text).headers()) }
    }

    fn code(&self) -> MeasuredCode<'_> {
        MeasuredCode { text: self.text, kernels: &self.kernels }
    }
}

/// The attempt with the highest speed; `None` when all failed.
fn fastest(attempts: &[Attempt]) -> Option<usize> {
    let speed = |attempt: &Attempt| attempt.outcome.as_ref().ok().map(|comparison| comparison.speed.ratio);
    let measured = attempts.iter().enumerate().filter_map(|(at, attempt)| Some((at, speed(attempt)?)));
    measured.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}
