//! One sitting of a run: its state, and the steps that every part of the loop is made of.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use lab::workbench::{Sampling, ShapeChoice};
use lab::{Cancel, Comparison, LabError, SpeedRatio, Verdict};
use notebook::{
    Calibration, ExperimentId, ExperimentKind, ExperimentOutcome, KernelFingerprint, MeasuredCode, NewExperiment,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::event::{Event, ExperimentResult};
use super::identity::Identity;
use super::{CallLog, Stages};
use crate::budget::{Account, Watch};
use crate::evaluation::Evaluator;
use crate::findings;
use crate::run::{RunError, Settings, Stop};
use crate::run_record::RunRecord;
use crate::stages::{CandidateId, Finding, Hypothesis, Member, Population, Setting, StageError};

pub(crate) struct Session<'a, 'e, E: Evaluator> {
    pub(crate) evaluator: &'a E,
    pub(crate) stages: Stages<'a>,
    pub(crate) record: RunRecord<'a>,
    pub(crate) settings: Settings,
    pub(crate) account: Account,
    pub(crate) identify: Box<dyn Fn(&str) -> Identity + 'a>,
    pub(crate) calls: CallLog,
    pub(crate) events: &'e mut dyn FnMut(Event),
    pub(crate) outer: Cancel,
    pub(crate) watch: Watch,
    /// Kept back from the wall time in the present phase.
    pub(crate) reserve: Duration,
    pub(crate) population: Population,
    /// The kernels of each version of the population.
    pub(crate) kernels: Vec<Vec<KernelFingerprint>>,
    /// Of earlier runs on the same file and device, then of this run.
    pub(crate) findings: Vec<Finding>,
    /// How many are of earlier runs.
    pub(crate) recalled: usize,
    /// Plans tried, by the version they started from.
    pub(crate) tried: Vec<(CandidateId, Arc<Hypothesis>)>,
    /// Versions on which the designer has nothing left.
    pub(crate) exhausted: BTreeSet<CandidateId>,
    /// What was tried, by what it says ([`Identity::whole`]), with a name for it.
    pub(crate) known: HashMap<String, String>,
    pub(crate) counts: Counts,
    /// The generation whose beginning was told.
    pub(crate) announced: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) generations: u32,
    pub(crate) experiments: u32,
    pub(crate) failed: u32,
    pub(crate) duplicates: u32,
}

/// An experiment that is to be made, or to be found in the record.
pub(crate) struct Trial<'t> {
    pub(crate) step: String,
    pub(crate) generation: u32,
    pub(crate) kind: ExperimentKind,
    pub(crate) base: CandidateId,
    pub(crate) reference: CandidateId,
    pub(crate) about: About<'t>,
    pub(crate) code: Option<(&'t str, &'t Identity)>,
    pub(crate) report: &'t str,
    /// Which draft, from 1, and of how many.
    pub(crate) draft: (usize, usize),
    /// The draft's values in a search over constants.
    pub(crate) settings: &'t [Setting],
}

impl Trial<'_> {
    /// The hypothesis as it is kept, with the values of this very draft where it is one of a search.
    fn json(&self) -> Value {
        let mut about = self.about.json();
        if let (Value::Object(fields), false) = (&mut about, self.settings.is_empty()) {
            fields.insert("settings".into(), json!(self.settings));
        }
        about
    }
}

/// What a trial puts to the test.
#[derive(Clone, Copy)]
pub(crate) enum About<'t> {
    /// A plan against its base.
    Plan(&'t Hypothesis),
    /// A version of the population against the original.
    Finalist(CandidateId),
}

impl About<'_> {
    fn key(self) -> String {
        match self {
            Self::Plan(plan) => plan.key.clone(),
            Self::Finalist(candidate) => format!("candidate:{candidate}"),
        }
    }

    pub(crate) fn title(self) -> String {
        match self {
            Self::Plan(plan) => plan.title.clone(),
            Self::Finalist(candidate) => format!("candidate {candidate} against the original"),
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Plan(plan) => json!(plan),
            Self::Finalist(candidate) => json!({ "candidate": candidate }),
        }
    }
}

/// What came of a trial.
pub(crate) struct Done {
    pub(crate) id: ExperimentId,
    /// Whether it was made now, and not found in the record.
    pub(crate) fresh: bool,
    pub(crate) outcome: ExperimentOutcome<Comparison>,
}

impl<E: Evaluator> Session<'_, '_, E> {
    /// Whether the run may go on to something that is not in its record. `needs` is how long that will take.
    pub(crate) fn may_go_on(&self, needs: Duration) -> Result<(), Stop> {
        if self.outer.is_cancelled() {
            return Err(Stop::Cancelled);
        }
        let too_late = self.account.remaining().is_some_and(|remaining| remaining <= self.reserve + needs);
        if too_late || self.watch.cancel().is_cancelled() {
            return Err(Stop::OutOfTime);
        }
        Ok(())
    }

    /// Why something was interrupted: by the user, or by the watch.
    pub(crate) fn interrupted(&self) -> Stop {
        let asked = self.outer.is_cancelled() || !self.watch.cancel().is_cancelled();
        if asked { Stop::Cancelled } else { Stop::OutOfTime }
    }

    /// A stage found that no more may be used up. In the words of the whole run, since a stage knows of this sitting alone.
    pub(crate) fn overdrawn(&self, why: String) -> Stop {
        Stop::Overdrawn(self.account.overdrawn(0).unwrap_or(why))
    }

    /// Asks a stage, or finds its answer in the record; the flag says whether it was asked now. An answer that cannot be
    /// used is an answer too.
    pub(crate) fn ask<T: Serialize + DeserializeOwned>(
        &mut self,
        step: &str,
        stage: impl FnOnce(&mut Self) -> Result<T, StageError>,
    ) -> Result<(Result<T, String>, bool), Stop> {
        if let Some(answer) = self.record.answer(step)? {
            return Ok((answer, false));
        }
        self.may_go_on(Duration::ZERO)?;
        if let Some(why) = self.account.overdrawn(0) {
            return Err(Stop::Overdrawn(why));
        }
        let answered = stage(self);
        for call in (self.calls)() {
            self.record.notebook().record_model_call(self.record.run().id, step, &call)?;
        }
        let answer = match answered {
            Ok(answer) => Ok(answer),
            Err(StageError::Unusable(why)) => Err(why),
            Err(StageError::Unavailable(message)) => return Err(Stop::Paused(message)),
            Err(StageError::Overdrawn(why)) => return Err(self.overdrawn(why)),
            Err(StageError::Cancelled) => return Err(self.interrupted()),
        };
        let spent = self.account.spent();
        Ok((self.record.keep(step, &answer, &spent)?, true))
    }

    /// Makes an experiment and records it, or finds it in the record.
    pub(crate) fn experiment(
        &mut self,
        trial: &Trial<'_>,
        needs: Duration,
        make: impl FnOnce(&Self) -> Result<ExperimentOutcome<Comparison>, LabError>,
    ) -> Result<Done, Stop> {
        if let Some(done) = self.recorded(trial)? {
            return Ok(done);
        }
        self.may_go_on(needs)?;
        let began = self.account.spent().wall;
        let result = make(self);
        self.concluded(trial, began, result)
    }

    /// An experiment that is on record.
    pub(crate) fn recorded(&self, trial: &Trial<'_>) -> Result<Option<Done>, Stop> {
        let known = self.record.experiment(&trial.step, &trial.about.key())?;
        Ok(known.map(|done| Done { id: done.id, fresh: false, outcome: without_row(done.outcome.clone()) }))
    }

    /// Records an experiment that was made now; what only came to a stop is no outcome. `began` is the run's time at its begin.
    pub(crate) fn concluded(
        &mut self,
        trial: &Trial<'_>,
        began: Duration,
        result: Result<ExperimentOutcome<Comparison>, LabError>,
    ) -> Result<Done, Stop> {
        let outcome = match result {
            Ok(outcome) => outcome,
            // What was killed to make it stop did not fail by itself.
            Err(_) if self.watch.cancel().is_cancelled() => return Err(self.interrupted()),
            Err(LabError::Code(failure)) => ExperimentOutcome::Failed(failure),
            Err(LabError::Cancelled) => return Err(self.interrupted()),
            Err(LabError::Unavailable(message)) => return Err(Stop::Paused(message)),
            Err(other) => return Err(Stop::Failed(RunError::Lab(other))),
        };
        let spent = self.account.spent().wall;
        let took = spent.saturating_sub(began);
        let id = self.keep_experiment(trial, &outcome, took, spent)?;
        self.emit(Event::Experiment {
            generation: trial.generation,
            kind: trial.kind,
            key: trial.about.key(),
            title: trial.about.title(),
            draft: trial.draft.0,
            of: trial.draft.1,
            report: trial.report.to_owned(),
            settings: trial.settings.to_vec(),
            outcome: told(&outcome),
            took_s: took.as_secs_f64(),
        });
        Ok(Done { id, fresh: true, outcome })
    }

    fn keep_experiment(
        &mut self,
        trial: &Trial<'_>,
        outcome: &ExperimentOutcome<Comparison>,
        took: Duration,
        spent: Duration,
    ) -> Result<ExperimentId, Stop> {
        let base = Arc::clone(&self.member(trial.base).text);
        let run = self.record.run();
        let file = run.file.clone();
        let experiment = NewExperiment {
            run: run.id,
            step: &trial.step,
            generation: trial.generation,
            kind: trial.kind,
            base: trial.base,
            reference: trial.reference,
            hypothesis_key: &trial.about.key(),
            hypothesis: trial.json(),
            file: &file,
            baseline: MeasuredCode { text: &base, kernels: &self.kernels[trial.base as usize] },
            code: trial.code.map(|(text, identity)| MeasuredCode { text, kernels: &identity.kernels }),
            report: trial.report,
            outcome: borrowed(outcome),
            took,
            spent,
        };
        Ok(self.record.keep_experiment(&experiment)?)
    }

    /// How well this run's predictions agree with what came of them.
    pub(crate) fn calibration(&self) -> Calibration {
        findings::calibration(&self.findings[self.recalled..])
    }

    pub(crate) fn member(&self, id: CandidateId) -> &Member {
        &self.population.members[id as usize]
    }

    /// How to sample at one step. Each step has a seed of its own, which follows from the run's.
    pub(crate) fn sampling(&self, step: &str, budget: Duration, shapes: ShapeChoice) -> Sampling {
        let seed = step_seed(self.record.run().seed, step);
        Sampling { seed, budget, half_width: self.settings.half_width, shapes }
    }

    pub(crate) fn emit(&mut self, event: Event) {
        (self.events)(event);
    }

    /// For a progress line.
    pub(crate) fn working(&mut self, generation: u32, doing: String) {
        self.emit(Event::Working { generation, doing });
    }

    /// The best of [`Session::ranked`] and its speed against the original; the original at first.
    pub(crate) fn best(&self) -> (CandidateId, SpeedRatio) {
        let itself = SpeedRatio { ratio: 1.0, low: 1.0, high: 1.0 };
        // Asked in every generation, of however many versions: not all of them are sorted for it.
        let best = self.population.members.iter().filter(|member| runs(member)).min_by(|a, b| by_rank(a, b));
        best.map_or((0, itself), |member| (member.id, member.against_original.unwrap_or(itself)))
    }

    /// Every version that runs: those whose gain over their parent is proven first, the fastest against the original
    /// ahead, of equal ones the older. A step that proved nothing must not displace the version it was made from.
    pub(crate) fn ranked(&self) -> Vec<&Member> {
        let mut members: Vec<&Member> = self.population.members.iter().filter(|member| runs(member)).collect();
        members.sort_by(|a, b| by_rank(a, b));
        members
    }
}

/// The order of [`Session::ranked`].
fn by_rank(a: &Member, b: &Member) -> Ordering {
    let by_speed = speed_against_original(b).total_cmp(&speed_against_original(a));
    is_proven(b).cmp(&is_proven(a)).then(by_speed).then_with(|| a.id.cmp(&b.id))
}

/// Whether a version was measured to be faster than its parent. There is nothing to prove of the original.
pub(crate) fn is_proven(member: &Member) -> bool {
    member.id == 0 || member.verdict == Some(Verdict::Faster)
}

/// Whether a version can be built upon.
pub(crate) fn runs(member: &Member) -> bool {
    member.failure.is_none() && (member.id == 0 || member.against_original.is_some())
}

/// 1 for the original.
pub(crate) fn speed_against_original(member: &Member) -> f64 {
    member.against_original.map_or(1.0, |speed| speed.ratio)
}

/// Speed over two steps. The interval is that of the product's ends, which is wider than 99%: a guess that errs on the
/// safe side until the two are compared directly.
pub(crate) fn chained(first: Option<SpeedRatio>, second: SpeedRatio) -> SpeedRatio {
    first.map_or(second, |first| SpeedRatio {
        ratio: first.ratio * second.ratio,
        low: first.low * second.low,
        high: (first.high * second.high).min(f64::MAX),
    })
}

/// The seed of one step: a hash of the run's seed and the step's name, cut to 53 bits so that every reader of JSON
/// sees the same number.
pub(crate) fn step_seed(run: u64, step: &str) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&run.to_le_bytes());
    hasher.update(step.as_bytes());
    let mut head = [0; 8];
    head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(head) >> 11
}

fn without_row(outcome: ExperimentOutcome<notebook::StoredComparison>) -> ExperimentOutcome<Comparison> {
    match outcome {
        ExperimentOutcome::Measured(stored) => ExperimentOutcome::Measured(stored.comparison),
        ExperimentOutcome::Failed(failure) => ExperimentOutcome::Failed(failure),
        ExperimentOutcome::Duplicate(of) => ExperimentOutcome::Duplicate(of),
        ExperimentOutcome::NotWritten(why) => ExperimentOutcome::NotWritten(why),
    }
}

fn borrowed(outcome: &ExperimentOutcome<Comparison>) -> ExperimentOutcome<&Comparison> {
    match outcome {
        ExperimentOutcome::Measured(comparison) => ExperimentOutcome::Measured(comparison),
        ExperimentOutcome::Failed(failure) => ExperimentOutcome::Failed(failure.clone()),
        ExperimentOutcome::Duplicate(of) => ExperimentOutcome::Duplicate(of.clone()),
        ExperimentOutcome::NotWritten(why) => ExperimentOutcome::NotWritten(why.clone()),
    }
}

fn told(outcome: &ExperimentOutcome<Comparison>) -> ExperimentResult {
    match outcome {
        ExperimentOutcome::Measured(Comparison { speed, verdict, forecast, .. }) => match forecast {
            Some(basis) => ExperimentResult::Forecast { speed: *speed, verdict: *verdict, forecast: basis.clone() },
            None => ExperimentResult::Measured { speed: *speed, verdict: *verdict },
        },
        ExperimentOutcome::Failed(failure) => ExperimentResult::Failed { failure: failure.clone() },
        ExperimentOutcome::Duplicate(of) => ExperimentResult::Duplicate { of: of.clone() },
        ExperimentOutcome::NotWritten(why) => ExperimentResult::NotWritten { reason: why.clone() },
    }
}

/// A build's error, for an owner of its own; the build keeps the first.
pub(crate) fn same_error(error: &LabError) -> LabError {
    match error {
        LabError::Code(failure) => LabError::Code(failure.clone()),
        LabError::Usage(text) => LabError::Usage(text.clone()),
        LabError::Unavailable(text) => LabError::Unavailable(text.clone()),
        LabError::Cancelled => LabError::Cancelled,
        LabError::Io { action, path, source } => {
            let source = std::io::Error::new(source.kind(), source.to_string());
            LabError::Io { action, path: path.clone(), source }
        }
    }
}
