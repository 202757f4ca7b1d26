//! What language models were asked in a run, and what that cost. Neither questions nor answers are kept here: what a stage
//! made of an answer is the step's.

use std::time::Duration;

use rusqlite::params;

use crate::error::NotebookError;
use crate::runs::RunId;
use crate::store::{Notebook, now_ms};

/// One call that was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// What it was for, such as `designer`.
    pub label: String,
    /// The model that answered, as its provider names it.
    pub model: String,
    /// Tokens sent.
    pub input: u64,
    /// Of those, read from the provider's cache.
    pub cached: u64,
    /// Tokens received.
    pub output: u64,
    /// Whether the tokens are estimates.
    pub estimated: bool,
    /// US dollars; `None` when the price is not known.
    pub usd: Option<f64>,
    /// From the question to the end of the answer.
    pub took: Duration,
}

/// What all calls of one step of a run cost.
#[derive(Clone, Debug, PartialEq)]
pub struct StepCost {
    /// The step, such as `g1/p0/write`.
    pub step: String,
    /// US dollars, as far as prices are known.
    pub usd: f64,
    /// Tokens sent and received.
    pub tokens: u64,
}

impl Notebook {
    /// Records a call of the stage at `step`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_model_call(&self, run: RunId, step: &str, call: &ModelCall) -> Result<(), NotebookError> {
        self.write("recording a call of a model", |transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO model_calls (run, step, label, model, input, cached, output, estimated, usd, took_ms, at_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                )?
                .execute(params![
                    run,
                    step,
                    call.label,
                    call.model,
                    call.input as i64,
                    call.cached as i64,
                    call.output as i64,
                    call.estimated,
                    call.usd,
                    call.took.as_millis() as i64,
                    now_ms()
                ])
                .map(|_| ())
        })
    }

    /// The calls of a run, oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn model_calls(&self, run: RunId) -> Result<Vec<ModelCall>, NotebookError> {
        self.read("reading the calls of models", |connection| {
            connection
                .prepare_cached(
                    "SELECT label, model, input, cached, output, estimated, usd, took_ms FROM model_calls
                     WHERE run = ?1 ORDER BY id",
                )?
                .query_map([run], |row| {
                    let count = |at: usize| row.get::<_, i64>(at).map(|value| u64::try_from(value).unwrap_or(0));
                    Ok(ModelCall {
                        label: row.get(0)?,
                        model: row.get(1)?,
                        input: count(2)?,
                        cached: count(3)?,
                        output: count(4)?,
                        estimated: row.get(5)?,
                        usd: row.get(6)?,
                        took: Duration::from_millis(count(7)?),
                    })
                })?
                .collect()
        })
    }

    /// What each step of a run cost, in order of the steps' names.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn step_costs(&self, run: RunId) -> Result<Vec<StepCost>, NotebookError> {
        self.read("reading what the calls of models cost", |connection| {
            connection
                .prepare_cached(
                    "SELECT step, coalesce(sum(usd), 0.0), sum(input + output) FROM model_calls
                     WHERE run = ?1 GROUP BY step ORDER BY step",
                )?
                .query_map([run], |row| {
                    let tokens = u64::try_from(row.get::<_, i64>(2)?).unwrap_or(0);
                    Ok(StepCost { step: row.get(0)?, usd: row.get(1)?, tokens })
                })?
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::runs::NewRun;

    #[test]
    fn calls_read_as_they_were_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
        let run = notebook
            .start_run(&NewRun {
                file: Path::new("/a.hip"),
                text: "x",
                kernels: &[],
                kernel: None,
                device: "d",
                provider: "openai:m",
                seed: 1,
                budget: serde_json::Value::Null,
                settings: serde_json::Value::Null,
                program: "p",
            })
            .unwrap();
        let call = ModelCall {
            label: "designer".into(),
            model: "m-1".into(),
            input: 100,
            cached: 40,
            output: 20,
            estimated: false,
            usd: Some(0.25),
            took: Duration::from_millis(1500),
        };
        let other = ModelCall { usd: None, estimated: true, ..call.clone() };
        notebook.record_model_call(run, "g1/select", &call).unwrap();
        notebook.record_model_call(run, "g1/select", &other).unwrap();
        notebook.record_model_call(run, "g1/p0/write", &other).unwrap();
        assert_eq!(notebook.model_calls(run).unwrap(), [call, other.clone(), other]);
        // What has no known price counts its tokens alone.
        let costs = notebook.step_costs(run).unwrap();
        let told: Vec<_> = costs.iter().map(|cost| (cost.step.as_str(), cost.usd, cost.tokens)).collect();
        assert_eq!(told, [("g1/p0/write", 0.0, 120), ("g1/select", 0.25, 240)]);
    }
}
