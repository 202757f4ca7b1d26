//! From the notebook's rows to what a report shows.

use std::path::Path;
use std::time::Duration;

use hip_syntax::Syntax;
use lab::{Comparison, Failure};
use notebook::{
    Calibration, Candidate, Experiment, ExperimentKind, ExperimentOutcome, Notebook, NotebookError, Run, RunState,
    Spent, StoredComparison, StoredFinding,
};
use serde_json::Value;

use crate::cli::figures;
use crate::cli::versus::{self, Versus};

use super::data::{
    CandidateFacts, Confirmation, ExperimentFacts, FindingFacts, Outcome, Predictor, ReportData, RunFacts, Standing,
};
use super::{charts, moment};

/// Most messages of a compiler that are shown for one experiment.
const MOST_DIAGNOSTICS: usize = 5;

/// Everything that the notebook holds of a run.
pub fn gather(notebook: &Notebook, run: &Run) -> Result<ReportData, NotebookError> {
    let rows = Rows::read(notebook, run)?;
    let predictors = predictors(notebook, &rows.findings)?;
    Ok(ReportData { versus: versus(notebook, run)?, predictors, ..rows.report(run) })
}

/// Everybody whose predictions were ever put to the test; those who made the run's first.
fn predictors(notebook: &Notebook, of_run: &[StoredFinding]) -> Result<Vec<Predictor>, NotebookError> {
    let predictor = |(model, calibration): (String, Calibration)| Predictor {
        is_of_run: of_run.iter().any(|finding| finding.author == model),
        share: calibration.score(),
        in_words: figures::calibration(&calibration),
        model,
        calibration,
    };
    let mut all: Vec<Predictor> = notebook.calibrations()?.into_iter().map(predictor).collect();
    all.sort_by_key(|predictor| !predictor.is_of_run);
    Ok(all)
}

/// The notebook's rows of a run.
pub struct Rows {
    /// The versions.
    pub population: Vec<Candidate>,
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// What they taught.
    pub findings: Vec<StoredFinding>,
    /// What the run has used up.
    pub spent: Spent,
}

impl Rows {
    /// Reads them.
    pub fn read(notebook: &Notebook, run: &Run) -> Result<Self, NotebookError> {
        Ok(Self {
            population: notebook.population(run.id)?,
            experiments: notebook.experiments(run.id)?,
            findings: notebook.findings(run.id)?,
            spent: notebook.spent(run.id)?,
        })
    }

    /// What a report says of them, but for times that were forecast and measured: those are the file's, not the run's.
    pub fn report(&self, run: &Run) -> ReportData {
        let Self { population, experiments, findings, spent } = self;
        let teaches = |experiment: &Experiment| findings.iter().any(|finding| finding.experiment == experiment.id);
        let facts = experiments.iter().map(|experiment| experiment_facts(experiment, population, teaches(experiment)));
        let mut facts: Vec<ExperimentFacts> = facts.collect();
        shorten(&mut facts, &run.file);
        let predictions =
            findings.iter().map(|finding| (finding.min_percent, finding.max_percent, finding.gain_percent()));
        let finding =
            |finding: &StoredFinding| FindingFacts { about: finding.about.clone(), text: finding.text.clone() };
        ReportData {
            forecast: experiments.iter().rev().find_map(comparison).and_then(|last| last.forecast.clone()),
            versus: Vec::new(),
            predictors: Vec::new(),
            path: run.file.display().to_string(),
            name: run.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            run: run_facts(run, experiments, spent.wall, spent.usd),
            outcome: outcome(run, experiments, population),
            candidates: population.iter().map(|candidate| candidate_facts(candidate, experiments)).collect(),
            calibration: Calibration::of(predictions),
            experiments: facts,
            findings: findings.iter().map(finding).collect(),
        }
    }
}

/// Every kernel of the original that was both forecast and measured.
fn versus(notebook: &Notebook, run: &Run) -> Result<Vec<Versus>, NotebookError> {
    let text = notebook.text(&run.original)?;
    let mut all = Vec::new();
    for kernel in Syntax::without_tree(text).kernels() {
        let name = &kernel.qualified_name;
        all.extend(versus::pairs(name, &notebook.forecasts(&run.file, name)?, &notebook.history(&run.file, name)?));
    }
    Ok(all)
}

/// Takes out what is said already: the folder of the user's file in errors, and the reasons of a plan's further drafts.
fn shorten(experiments: &mut [ExperimentFacts], file: &Path) {
    let folder = file.parent().map(|folder| format!("{}/", folder.display())).unwrap_or_default();
    let mut before: Option<(u32, String)> = None;
    for facts in experiments {
        if folder.len() > 1 {
            facts.errors.iter_mut().for_each(|line| *line = line.replace(&folder, ""));
        }
        let plan = (facts.generation, facts.title.clone());
        facts.repeats = before.as_ref() == Some(&plan);
        before = Some(plan);
    }
}

/// A ratio as an uplift in percent: 1.2 is 20.
pub fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

fn run_facts(run: &Run, experiments: &[Experiment], spent: Duration, usd: f64) -> RunFacts {
    let measured = experiments.iter().find_map(comparison);
    RunFacts {
        id: run.id.0,
        started: moment::utc(run.started_ms),
        state: match &run.state {
            RunState::Open => "running, or interrupted".into(),
            RunState::Paused(why) => format!("paused: {why}"),
            RunState::Cancelled => "cancelled".into(),
            RunState::Failed(why) => format!("failed: {why}"),
            RunState::Finished(_) => "finished".into(),
        },
        device: run.device.clone(),
        device_note: measured.map_or_else(String::new, |comparison| comparison.device_note.clone()),
        toolchain: measured.map_or_else(String::new, |comparison| comparison.toolchain.clone()),
        provider: match run.provider.as_str() {
            "catalog" => "catalog (rule-based)".into(),
            other => other.into(),
        },
        seed: run.seed,
        spent: moment::duration(spent),
        cost: if usd > 0.0 { format!("${usd:.2}") } else { String::new() },
        program: run.program.clone(),
    }
}

fn comparison(experiment: &Experiment) -> Option<&Comparison> {
    stored(experiment).map(|stored| &stored.comparison)
}

fn stored(experiment: &Experiment) -> Option<&StoredComparison> {
    match &experiment.outcome {
        ExperimentOutcome::Measured(stored) => Some(stored),
        _ => None,
    }
}

/// The winner is the one that the run ended with; of a run that has not ended, the confirmed one with the best lower end.
fn outcome(run: &Run, experiments: &[Experiment], population: &[Candidate]) -> Outcome {
    let number_of = |stored: &StoredComparison| {
        population.iter().find(|candidate| candidate.hash == stored.candidate).map(|found| found.number)
    };
    let told = match &run.state {
        RunState::Finished(detail) => detail.get("best").and_then(Value::as_u64).filter(|best| *best != 0),
        _ => None,
    };
    let confirmations: Vec<&StoredComparison> = experiments
        .iter()
        .filter(|experiment| experiment.kind == ExperimentKind::Confirmation)
        .filter_map(stored)
        .collect();
    let best = confirmations
        .iter()
        .filter(|stored| stored.comparison.verdict == lab::Verdict::Faster)
        .filter(|stored| told.is_none_or(|told| number_of(stored).is_some_and(|number| u64::from(number) == told)))
        .max_by(|a, b| a.comparison.speed.low.total_cmp(&b.comparison.speed.low));
    match best {
        Some(best) => Outcome::Confirmed(Confirmation {
            candidate: number_of(best),
            speed: best.comparison.speed,
            shapes: best.comparison.shapes.clone(),
            seed: best.comparison.seed,
        }),
        None => Outcome::Unconfirmed(why_unconfirmed(run, confirmations.last().copied(), experiments.is_empty())),
    }
}

/// The run's own words where it has any.
fn why_unconfirmed(run: &Run, last: Option<&StoredComparison>, is_empty: bool) -> String {
    if let RunState::Finished(detail) = &run.state
        && let Some(reason) = detail.get("reason").and_then(Value::as_str)
    {
        return reason.to_owned();
    }
    match (&run.state, last, is_empty) {
        (_, Some(last), _) => format!(
            "The best candidate was timed against the original in a fresh process and did not hold: {}, {:.2}× ({}).",
            last.comparison.verdict,
            last.comparison.speed.ratio,
            charts::interval(&last.comparison.speed)
        ),
        (_, None, true) => "No experiment was made yet.".into(),
        (RunState::Finished(_), None, false) => "No candidate was faster than the original.".into(),
        (_, None, false) => "The run did not come to its end, so nothing was confirmed.".into(),
    }
}

fn candidate_facts(candidate: &Candidate, experiments: &[Experiment]) -> CandidateFacts {
    let made_by = experiments.iter().find(|experiment| Some(experiment.id) == candidate.experiment);
    let measured = made_by.and_then(comparison);
    let times = match measured {
        Some(comparison) => {
            comparison.shapes.iter().map(|shape| (shape.shape.clone(), shape.candidate.clone())).collect()
        }
        None if candidate.number == 0 => original_times(experiments),
        None => Vec::new(),
    };
    let (standing, verdict) = match (candidate.number, made_by.map(result)) {
        (0, _) => (Standing::Original, "original".to_owned()),
        (_, Some((standing, verdict, _))) => (standing, verdict),
        (_, None) => (Standing::NotRun, "no time".to_owned()),
    };
    CandidateFacts {
        number: candidate.number,
        parent: candidate.parent,
        reference: candidate.reference.filter(|reference| Some(*reference) != candidate.parent),
        generation: candidate.generation,
        title: match made_by {
            Some(experiment) => title_of(experiment),
            None => "original".into(),
        },
        summary: candidate.summary.clone(),
        standing,
        verdict,
        speed: measured.map(|comparison| comparison.speed),
        times,
        text: candidate.text.clone(),
    }
}

/// The original was never a candidate; its times are those it had as a baseline, the first for each shape.
fn original_times(experiments: &[Experiment]) -> Vec<(String, lab::Figure)> {
    let mut times: Vec<(String, lab::Figure)> = Vec::new();
    let in_generations = experiments.iter().filter(|experiment| experiment.base == 0 && experiment.generation > 0);
    for shape in in_generations.filter_map(comparison).flat_map(|comparison| &comparison.shapes) {
        if !times.iter().any(|(known, _)| *known == shape.shape) {
            times.push((shape.shape.clone(), shape.baseline.clone()));
        }
    }
    times
}

fn experiment_facts(experiment: &Experiment, population: &[Candidate], judges_prediction: bool) -> ExperimentFacts {
    let hypothesis = &experiment.hypothesis;
    let speed = comparison(experiment).map(|comparison| comparison.speed);
    let (standing, verdict, errors) = result(experiment);
    ExperimentFacts {
        generation: experiment.generation,
        purpose: match experiment.kind {
            ExperimentKind::Search => "search",
            ExperimentKind::Full => "experiment",
            ExperimentKind::Direct => "comparison",
            ExperimentKind::Confirmation => "confirmation",
        },
        base: experiment.base,
        candidate: population
            .iter()
            .find(|candidate| candidate.experiment == Some(experiment.id))
            .map(|found| found.number),
        title: title_of(experiment),
        reason: text_of(hypothesis, "reason", ""),
        source: text_of(hypothesis, "source", ""),
        gain: gain(hypothesis),
        innovation: hypothesis.get("innovation").and_then(Value::as_u64),
        standing,
        verdict,
        speed,
        errors,
        report: experiment.report.clone(),
        judges_prediction,
        repeats: false,
    }
}

/// How an experiment stands, in words too, and what went wrong.
fn result(experiment: &Experiment) -> (Standing, String, Vec<String>) {
    match &experiment.outcome {
        ExperimentOutcome::Measured(stored) => {
            (stored.comparison.verdict.into(), stored.comparison.verdict.to_string(), Vec::new())
        }
        ExperimentOutcome::Failed(failure) => (Standing::Failed, failure.label().to_owned(), error_lines(failure)),
        ExperimentOutcome::Duplicate(of) => {
            (Standing::NotRun, "repeats an earlier one".to_owned(), vec![format!("same text as {of}")])
        }
        ExperimentOutcome::NotWritten(why) => (Standing::NotRun, "not written".to_owned(), vec![why.clone()]),
    }
}

fn error_lines(failure: &Failure) -> Vec<String> {
    match failure {
        Failure::DoesNotCompile { diagnostics } if !diagnostics.is_empty() => {
            let mut lines: Vec<_> = diagnostics.iter().take(MOST_DIAGNOSTICS).map(ToString::to_string).collect();
            if diagnostics.len() > MOST_DIAGNOSTICS {
                lines.push(format!("and {} more", diagnostics.len() - MOST_DIAGNOSTICS));
            }
            lines
        }
        other => vec![other.to_string()],
    }
}

fn gain(hypothesis: &Value) -> Option<(f64, f64)> {
    let gain = hypothesis.get("gain")?;
    Some((gain.get("min_percent")?.as_f64()?, gain.get("max_percent")?.as_f64()?))
}

/// What an experiment is about: its hypothesis, or the finalist that it puts to the test.
fn title_of(experiment: &Experiment) -> String {
    match experiment.hypothesis.get("candidate").and_then(Value::as_u64) {
        Some(candidate) => format!("Candidate #{candidate} against the original"),
        None => text_of(&experiment.hypothesis, "title", &experiment.hypothesis_key),
    }
}

fn text_of(hypothesis: &Value, field: &str, otherwise: &str) -> String {
    hypothesis.get(field).and_then(Value::as_str).unwrap_or(otherwise).to_owned()
}
