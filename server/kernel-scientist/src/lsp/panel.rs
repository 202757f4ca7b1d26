//! The panel's own requests: what a run has come to, with its lineage.
//!
//! `kernelScientist/population` `{uri, run?}` answers `{run, file, kernel, state, members: [...]}`; without `run` it is
//! the newest run of the document's file. `kernelScientist/runEvent` notifies of what happens in a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use notebook::{ExperimentOutcome, Notebook, NotebookError, RunId, RunState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::session::Session;

#[derive(Deserialize)]
struct Asked {
    uri: String,
    #[serde(default)]
    run: Option<i64>,
}

/// A run and its population.
#[derive(Debug, Serialize)]
struct Population {
    run: i64,
    file: PathBuf,
    kernel: Option<String>,
    device: String,
    provider: String,
    /// `open`, `paused`, `cancelled`, `failed` or `finished`.
    state: &'static str,
    spent_s: f64,
    spent_usd: f64,
    members: Vec<Member>,
}

/// One version.
#[derive(Debug, Serialize)]
struct Member {
    number: u32,
    parent: Option<u32>,
    reference: Option<u32>,
    generation: u32,
    summary: String,
    steps: Vec<String>,
    /// Speed against its parent, as measured by the experiment that made it.
    speed: Option<lab::SpeedRatio>,
    verdict: Option<lab::Verdict>,
    /// Expected gain in percent of speed, as predicted.
    predicted: Option<Value>,
    /// Median time of each shape in nanoseconds.
    times: Vec<(String, f64)>,
}

/// Answers a request for a population.
pub async fn population(session: &Arc<Session>, params: Value) -> Result<Value, String> {
    let asked: Asked = serde_json::from_value(params).map_err(|error| error.to_string())?;
    let path = session.state().documents.get(&asked.uri).map(|document| document.path.clone());
    let path = path.ok_or_else(|| format!("{} is not open", asked.uri))?;
    let notebook = session.world.notebook.clone();
    let read = tokio::task::spawn_blocking(move || read(&notebook, &path, asked.run));
    let population = read.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    serde_json::to_value(population).map_err(|error| error.to_string())
}

fn read(notebook: &Path, file: &Path, run: Option<i64>) -> Result<Option<Population>, NotebookError> {
    let Some(notebook) = Notebook::open_existing(notebook)? else { return Ok(None) };
    let run = match run {
        Some(run) => Some(notebook.run(RunId(run))?),
        None => notebook.runs(file)?.into_iter().next(),
    };
    let Some(run) = run else { return Ok(None) };
    let experiments = notebook.experiments(run.id)?;
    let spent = notebook.spent(run.id)?;
    let member = |candidate: notebook::Candidate| {
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
            speed: measured.map(|comparison| comparison.speed),
            verdict: measured.map(|comparison| comparison.verdict),
            predicted: experiment.and_then(|experiment| experiment.hypothesis.get("gain").cloned()),
            times: measured.map_or_else(Vec::new, |comparison| {
                let shown = comparison.shapes.iter().filter(|shape| !shape.held_out);
                shown.map(|shape| (shape.shape.clone(), shape.candidate.median_ns)).collect()
            }),
        }
    };
    Ok(Some(Population {
        run: run.id.0,
        state: match run.state {
            RunState::Open => "open",
            RunState::Paused(_) => "paused",
            RunState::Cancelled => "cancelled",
            RunState::Failed(_) => "failed",
            RunState::Finished(_) => "finished",
        },
        spent_s: spent.wall.as_secs_f64(),
        spent_usd: spent.usd,
        members: notebook.population(run.id)?.into_iter().map(member).collect(),
        file: run.file,
        kernel: run.kernel,
        device: run.device,
        provider: run.provider,
    }))
}
