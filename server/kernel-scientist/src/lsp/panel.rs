//! The panel's own requests: the runs of a file, what a run has come to, with its lineage, and the texts of its versions.
//! What a run came to is told in the words of `kernel-scientist report`.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use lab::forecast::Basis;
use lab::{ShapeComparison, SpeedRatio};
use notebook::{Notebook, NotebookError, RunId, RunState, StepCost};
use scientist::evolution::event::ShapeSpeed;
use scientist::stages::GainRange;
use serde::Deserialize;
use serde_json::Value;

use super::from_proto;
use super::outcomes::brief_speed;
use super::protocol::{
    Experiment, Member, Population, PopulationParams, Run, RunsParams, Version, VersionOf, VersionParams, VersionTime,
    Winner,
};
use super::session::Session;
use crate::cli::figures;
use crate::cli::report::data::{CandidateFacts, Confirmation, ExperimentFacts, Outcome};
use crate::cli::report::gather::Rows;
use crate::cli::report::render;
use crate::devices;

/// Runs in an answer about all files.
const MOST_RUNS: u32 = 200;

/// Answers a request for a population.
pub async fn population(session: &Arc<Session>, params: PopulationParams) -> Result<Option<Population>, String> {
    let path = path_of(session, &params.uri)?;
    let read = move |notebook: Notebook| {
        let run = match params.run {
            Some(run) => Some(notebook.run(RunId(run))?),
            None => notebook.runs(&path)?.into_iter().next(),
        };
        run.map(|run| read_population(&notebook, &run)).transpose()
    };
    in_notebook(session, read).await.map(Option::flatten)
}

/// Answers a request for runs, the newest first.
pub async fn runs(session: &Arc<Session>, params: RunsParams) -> Result<Vec<Run>, String> {
    let path = params.uri.map(|uri| path_of(session, &uri)).transpose()?;
    let read = move |notebook: Notebook| {
        let runs = match &path {
            Some(path) => notebook.runs(path)?,
            None => notebook.latest_runs(MOST_RUNS)?,
        };
        runs.into_iter().map(|run| in_few_words(&notebook, run)).collect()
    };
    in_notebook(session, read).await.map(Option::unwrap_or_default)
}

/// Answers a request for a text of a run.
pub async fn version(session: &Arc<Session>, params: VersionParams) -> Result<Version, String> {
    let VersionParams { run, of } = params;
    let read = move |notebook: Notebook| {
        let file = notebook.run(RunId(run))?.file;
        let text = match of {
            VersionOf::Candidate(number) => {
                let all = notebook.population(RunId(run))?;
                all.into_iter().find(|candidate| candidate.number == number).map(|candidate| candidate.text)
            }
            VersionOf::Experiment(id) => {
                let all = notebook.experiments(RunId(run))?;
                let text = all.into_iter().find(|experiment| experiment.id.0 == id).and_then(|found| found.text);
                text.map(|text| notebook.text(&text)).transpose()?
            }
        };
        Ok(text.map(|text| Version { file, text: text.to_string() }))
    };
    in_notebook(session, read).await?.flatten().ok_or_else(|| match of {
        VersionOf::Candidate(number) => format!("run {run} has no version {number}"),
        VersionOf::Experiment(id) => format!("run {run} has no text of experiment {id}"),
    })
}

pub(super) fn path_of(session: &Session, uri: &str) -> Result<PathBuf, String> {
    let path = session.state().documents.get(uri).map(|document| document.path.clone());
    path.or_else(|| from_proto::path_of(uri)).ok_or_else(|| format!("{uri} is no file"))
}

/// Reads something from the notebook, which may take its time; `None` where there is no notebook yet.
pub(super) async fn in_notebook<T: Send + 'static>(
    session: &Session,
    read: impl FnOnce(Notebook) -> Result<T, NotebookError> + Send + 'static,
) -> Result<Option<T>, String> {
    let path: PathBuf = session.world.notebook.clone();
    let read = move || Notebook::open_existing(&path)?.map(read).transpose();
    let done = tokio::task::spawn_blocking(read).await.map_err(|error| error.to_string())?;
    done.map_err(|error| error.to_string())
}

/// The end of a run as it was recorded, as far as it is shown in a list.
#[derive(Deserialize)]
struct Ending {
    speedup: f64,
    speedup_low: f64,
    speedup_high: f64,
    confirmed: bool,
    #[serde(default)]
    out_of_budget: bool,
    #[serde(default)]
    forecast: Option<Basis>,
}

impl Ending {
    fn in_words(&self) -> String {
        let (ratio, low, high) = (self.speedup, self.speedup_low, self.speedup_high);
        match &self.forecast {
            _ if !self.confirmed => "no confirmed speedup".into(),
            Some(basis) => brief_speed(ratio, Some(basis)),
            None => figures::speed(&SpeedRatio { ratio, low, high }),
        }
    }
}

/// Whether somebody is at work on a run.
fn is_held(notebook: &Notebook, run: &notebook::Run) -> bool {
    !matches!(run.state, RunState::Finished(_)) && notebook.hold_run(run.id).is_err()
}

/// Whether a run's budget ended it.
fn is_out_of_budget(run: &notebook::Run) -> bool {
    let RunState::Finished(detail) = &run.state else { return false };
    Ending::deserialize(detail).is_ok_and(|ending| ending.out_of_budget)
}

fn in_few_words(notebook: &Notebook, run: notebook::Run) -> Result<Run, NotebookError> {
    let spent = notebook.spent(run.id)?;
    let (why, ending) = match &run.state {
        RunState::Paused(why) | RunState::Failed(why) => (Some(why.clone()), None),
        // What is written by another version of this program may lack something, and then says nothing here.
        RunState::Finished(detail) => (None, Ending::deserialize(detail).ok()),
        RunState::Open | RunState::Cancelled => (None, None),
    };
    Ok(Run {
        run: run.id.0,
        state: (&run.state).into(),
        why,
        is_held: is_held(notebook, &run),
        out_of_budget: is_out_of_budget(&run),
        result: ending.as_ref().map(Ending::in_words),
        is_confirmed: ending.is_some_and(|ending| ending.confirmed),
        file: run.file,
        kernel: run.kernel,
        device: run.device,
        provider: run.provider,
        at_ms: run.started_ms,
        spent_s: spent.wall.as_secs_f64(),
        spent_usd: spent.usd,
    })
}

fn read_population(notebook: &Notebook, run: &notebook::Run) -> Result<Population, NotebookError> {
    let rows = Rows::read(notebook, run)?;
    let costs = notebook.step_costs(run.id)?;
    let report = rows.report(run);
    let (headline, sentence) = render::summary(&report);
    let members = rows.population.iter().zip(&report.candidates);
    let experiments = rows.experiments.iter().zip(&report.experiments);
    let mut is_paid = HashSet::new();
    Ok(Population {
        run: run.id.0,
        file: run.file.clone(),
        kernel: run.kernel.clone(),
        device: run.device.clone(),
        device_title: devices::shown(&run.device),
        device_note: report.run.device_note.clone(),
        provider: run.provider.clone(),
        state: (&run.state).into(),
        state_words: report.run.state.clone(),
        is_held: is_held(notebook, run),
        out_of_budget: is_out_of_budget(run),
        at_ms: run.started_ms,
        spent_s: rows.spent.wall.as_secs_f64(),
        spent_usd: rows.spent.usd,
        spent_tokens: rows.spent.tokens,
        headline,
        sentence,
        winner: match &report.outcome {
            Outcome::Confirmed(confirmation) => Some(winner(confirmation)),
            Outcome::Unconfirmed(_) => None,
        },
        members: members.map(|(candidate, facts)| member(candidate, facts, &rows.experiments)).collect(),
        experiments: experiments
            .map(|(experiment, facts)| {
                let plan = plan_of(&experiment.step);
                let is_first = is_paid.insert(plan.to_owned());
                row(experiment, facts, costs.iter().filter(|cost| is_first && plan_of(&cost.step) == plan))
            })
            .collect(),
        calibration: report.calibration,
        forecast: report.forecast,
    })
}

fn winner(confirmation: &Confirmation) -> Winner {
    let shape = |shape: &ShapeComparison| ShapeSpeed {
        shape: shape.shape.clone(),
        held_out: shape.held_out,
        speed: shape.speed,
        verdict: shape.verdict,
    };
    Winner {
        number: confirmation.candidate,
        speed: confirmation.speed,
        shapes: confirmation.shapes.iter().map(shape).collect(),
    }
}

fn member(candidate: &notebook::Candidate, facts: &CandidateFacts, experiments: &[notebook::Experiment]) -> Member {
    let experiment = experiments.iter().find(|experiment| Some(experiment.id) == candidate.experiment);
    let measured = experiment.and_then(comparison);
    Member {
        number: candidate.number,
        parent: candidate.parent,
        reference: candidate.reference,
        generation: candidate.generation,
        title: facts.title.clone(),
        summary: candidate.summary.clone(),
        steps: candidate.steps.clone(),
        hypothesis: experiment.and_then(title),
        standing: facts.standing,
        outcome: facts.verdict.clone(),
        speed: facts.speed,
        verdict: measured.map(|comparison| comparison.verdict),
        forecast: measured.and_then(|comparison| comparison.forecast.clone()),
        predicted: experiment.and_then(predicted),
        times: facts
            .times
            .iter()
            .map(|(shape, figure)| VersionTime {
                shape: shape.clone(),
                median_ns: figure.median_ns,
                low_ns: figure.low_ns,
                high_ns: figure.high_ns,
            })
            .collect(),
    }
}

fn comparison(experiment: &notebook::Experiment) -> Option<&lab::Comparison> {
    match &experiment.outcome {
        notebook::ExperimentOutcome::Measured(stored) => Some(&stored.comparison),
        _ => None,
    }
}

/// The part of a step's name that all drafts of a plan have in common: `g2/p1` of `g2/p1/d0/r0` and of `g2/p1/write`.
fn plan_of(step: &str) -> &str {
    step.match_indices('/').nth(1).map_or(step, |(at, _)| &step[..at])
}

fn row<'a>(
    experiment: &notebook::Experiment,
    facts: &ExperimentFacts,
    costs: impl Iterator<Item = &'a StepCost>,
) -> Experiment {
    let forecast = comparison(experiment).and_then(|comparison| comparison.forecast.as_ref());
    let (usd, tokens) = costs.fold((0.0, 0), |(usd, tokens), cost| (usd + cost.usd, tokens + cost.tokens));
    Experiment {
        id: experiment.id.0,
        generation: facts.generation,
        kind: experiment.kind,
        base: facts.base,
        candidate: facts.candidate,
        key: experiment.hypothesis_key.clone(),
        title: facts.title.clone(),
        reason: facts.reason.clone(),
        source: facts.source.clone(),
        predicted: facts.gain.map(|(min_percent, max_percent)| GainRange { min_percent, max_percent }),
        innovation: facts.innovation,
        standing: facts.standing,
        outcome: facts.verdict.clone(),
        speed: facts.speed,
        is_forecast: forecast.is_some(),
        odds: forecast.and_then(|basis| basis.odds),
        errors: facts.errors.clone(),
        report: facts.report.clone(),
        judges_prediction: facts.judges_prediction,
        repeats: facts.repeats,
        has_text: experiment.text.is_some(),
        took_s: experiment.took.as_secs_f64(),
        usd,
        tokens,
    }
}

fn title(experiment: &notebook::Experiment) -> Option<String> {
    experiment.hypothesis.get("title").and_then(Value::as_str).map(str::to_owned)
}

fn predicted(experiment: &notebook::Experiment) -> Option<GainRange> {
    serde_json::from_value(experiment.hypothesis.get("gain")?.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::plan_of;

    #[test]
    fn all_steps_of_a_plan_have_one_name() {
        for (step, plan) in [
            ("g2/p1/d0/r0", "g2/p1"),
            ("g2/p1/write", "g2/p1"),
            ("g12/p10/repair1", "g12/p10"),
            ("g1/select", "g1/select"),
            ("g1/b0/design", "g1/b0"),
            ("confirm", "confirm"),
        ] {
            assert_eq!(plan_of(step), plan);
        }
    }
}
