//! The panel's own requests: the runs of a file, and what a run has come to, with its lineage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use notebook::{Candidate, Experiment, ExperimentOutcome, Notebook, NotebookError, RunId};
use scientist::evolution::event::ShapeTime;
use scientist::stages::GainRange;
use serde_json::Value;

use super::protocol::{DeadEnd, Member, Population, PopulationParams, Run, RunsParams};
use super::session::Session;

/// Answers a request for a population.
pub async fn population(session: &Arc<Session>, params: PopulationParams) -> Result<Option<Population>, String> {
    let path = path_of(session, &params.uri)?;
    in_notebook(session, move |notebook| read(&notebook, &path, params.run)).await.map(Option::flatten)
}

/// Answers a request for the runs of a file, the newest first.
pub async fn runs(session: &Arc<Session>, params: RunsParams) -> Result<Vec<Run>, String> {
    let path = path_of(session, &params.uri)?;
    let run = |run: notebook::Run| Run {
        run: run.id.0,
        kernel: run.kernel,
        device: run.device,
        provider: run.provider,
        state: (&run.state).into(),
        at_ms: run.started_ms,
    };
    let runs = in_notebook(session, move |notebook| notebook.runs(&path)).await?;
    Ok(runs.unwrap_or_default().into_iter().map(run).collect())
}

fn path_of(session: &Session, uri: &str) -> Result<PathBuf, String> {
    let path = session.state().documents.get(uri).map(|document| document.path.clone());
    path.ok_or_else(|| format!("{uri} is not open"))
}

/// Reads something from the notebook, which may take its time; `None` where there is no notebook yet.
async fn in_notebook<T: Send + 'static>(
    session: &Session,
    read: impl FnOnce(Notebook) -> Result<T, NotebookError> + Send + 'static,
) -> Result<Option<T>, String> {
    let path: PathBuf = session.world.notebook.clone();
    let read = move || Notebook::open_existing(&path)?.map(read).transpose();
    let done = tokio::task::spawn_blocking(read).await.map_err(|error| error.to_string())?;
    done.map_err(|error| error.to_string())
}

fn read(notebook: &Notebook, file: &Path, run: Option<i64>) -> Result<Option<Population>, NotebookError> {
    let run = match run {
        Some(run) => Some(notebook.run(RunId(run))?),
        None => notebook.runs(file)?.into_iter().next(),
    };
    let Some(run) = run else { return Ok(None) };
    let experiments = notebook.experiments(run.id)?;
    let spent = notebook.spent(run.id)?;
    let candidates = notebook.population(run.id)?;
    Ok(Some(Population {
        run: run.id.0,
        state: (&run.state).into(),
        spent_s: spent.wall.as_secs_f64(),
        spent_usd: spent.usd,
        members: candidates.into_iter().map(|candidate| member(candidate, &experiments)).collect(),
        dead_ends: experiments.iter().filter_map(dead_end).collect(),
        file: run.file,
        kernel: run.kernel,
        device: run.device,
        provider: run.provider,
    }))
}

fn member(candidate: Candidate, experiments: &[Experiment]) -> Member {
    let experiment = experiments.iter().find(|experiment| Some(experiment.id) == candidate.experiment);
    let measured = experiment.and_then(|experiment| match &experiment.outcome {
        ExperimentOutcome::Measured(stored) => Some(&stored.comparison),
        _ => None,
    });
    Member {
        number: candidate.number,
        parent: candidate.parent,
        reference: candidate.reference,
        generation: candidate.generation,
        summary: candidate.summary,
        steps: candidate.steps,
        hypothesis: experiment.and_then(title),
        speed: measured.map(|comparison| comparison.speed),
        verdict: measured.map(|comparison| comparison.verdict),
        forecast: measured.and_then(|comparison| comparison.forecast.clone()),
        predicted: experiment.and_then(predicted),
        times: measured.map_or_else(Vec::new, |comparison| {
            let shown = comparison.shapes.iter().filter(|shape| !shape.held_out);
            shown.map(|shape| ShapeTime { shape: shape.shape.clone(), median_ns: shape.candidate.median_ns }).collect()
        }),
    }
}

/// An experiment that came to nothing.
fn dead_end(experiment: &Experiment) -> Option<DeadEnd> {
    let reason = match &experiment.outcome {
        ExperimentOutcome::Measured(_) => return None,
        ExperimentOutcome::Failed(failure) => failure.to_string(),
        ExperimentOutcome::Duplicate(of) => format!("says the same as {of}"),
        ExperimentOutcome::NotWritten(why) => why.clone(),
    };
    Some(DeadEnd {
        base: experiment.base,
        generation: experiment.generation,
        hypothesis: title(experiment).unwrap_or_else(|| experiment.hypothesis_key.clone()),
        reason,
    })
}

fn title(experiment: &Experiment) -> Option<String> {
    experiment.hypothesis.get("title").and_then(Value::as_str).map(str::to_owned)
}

fn predicted(experiment: &Experiment) -> Option<GainRange> {
    serde_json::from_value(experiment.hypothesis.get("gain")?.clone()).ok()
}
