//! A run in the notebook, as the loop sees it: each step is answered from the record, or made and recorded.
//!
//! This is what makes a run resumable. The loop is a function of the answers to its steps; a resumed run goes through it
//! from the start and finds every answer that was recorded before, so it comes to the very state it had, and no stage is
//! asked and no experiment made a second time.

use std::collections::HashMap;

use notebook::{Experiment, ExperimentId, NewExperiment, Notebook, NotebookError, Run, RunHold, RunId, Spent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) struct RunRecord<'n> {
    notebook: &'n Notebook,
    run: Run,
    /// With their places in the record.
    steps: HashMap<String, (usize, Value)>,
    experiments: HashMap<String, Experiment>,
    _hold: RunHold,
}

impl<'n> RunRecord<'n> {
    /// Takes hold of a run and reads what it has recorded.
    pub(crate) fn open(notebook: &'n Notebook, run: RunId) -> Result<Self, NotebookError> {
        let hold = notebook.hold_run(run)?;
        let steps =
            notebook.steps(run)?.into_iter().enumerate().map(|(at, step)| (step.step, (at, step.detail))).collect();
        let experiments = notebook.experiments(run)?.into_iter().map(|done| (done.step.clone(), done)).collect();
        Ok(Self { notebook, run: notebook.run(run)?, steps, experiments, _hold: hold })
    }

    pub(crate) fn notebook(&self) -> &'n Notebook {
        self.notebook
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// The generations that were begun.
    pub(crate) fn generations(&self) -> u32 {
        let of = |step: &String| step.strip_prefix('g')?.split_once('/')?.0.parse().ok();
        self.steps.keys().filter_map(of).max().unwrap_or(0)
    }

    /// The recorded answer to a step.
    pub(crate) fn answer<T: DeserializeOwned>(&self, step: &str) -> Result<Option<T>, NotebookError> {
        Ok(self.answer_with_place(step)?.map(|(_, answer)| answer))
    }

    /// The same with its place in the record, for answers that came in an order of their own.
    pub(crate) fn answer_with_place<T: DeserializeOwned>(
        &self,
        step: &str,
    ) -> Result<Option<(usize, T)>, NotebookError> {
        let Some((at, detail)) = self.steps.get(step) else { return Ok(None) };
        Ok(Some((*at, self.parse(step, detail)?)))
    }

    /// Records an answer, and gives it back as a resumed run will read it.
    pub(crate) fn keep<T: Serialize + DeserializeOwned>(
        &self,
        step: &str,
        answer: &T,
        spent: &Spent,
    ) -> Result<T, NotebookError> {
        let detail = serde_json::to_value(answer).map_err(|error| self.garbled(step, &error))?;
        self.notebook.record_step(self.run.id, step, &detail, spent)?;
        self.parse(step, &detail)
    }

    /// Whether a step has an answer on record.
    pub(crate) fn has_answer(&self, step: &str) -> bool {
        self.steps.contains_key(step)
    }

    /// Whether the experiment of a step is on record.
    pub(crate) fn has_experiment(&self, step: &str) -> bool {
        self.experiments.contains_key(step)
    }

    /// The recorded experiment of a step, which must be about `key`.
    pub(crate) fn experiment(&self, step: &str, key: &str) -> Result<Option<&Experiment>, NotebookError> {
        let Some(found) = self.experiments.get(step) else { return Ok(None) };
        if found.hypothesis_key == key {
            return Ok(Some(found));
        }
        Err(NotebookError::Garbled {
            path: self.notebook.path().to_path_buf(),
            what: format!("experiment {step} of run {}", self.run.id),
            detail: format!("it is about `{}`, and the run's own steps lead to `{key}`", found.hypothesis_key),
        })
    }

    pub(crate) fn keep_experiment(&self, experiment: &NewExperiment<'_>) -> Result<ExperimentId, NotebookError> {
        self.notebook.record_experiment(experiment)
    }

    /// Reads JSON of the run.
    pub(crate) fn parse<T: DeserializeOwned>(&self, what: &str, detail: &Value) -> Result<T, NotebookError> {
        T::deserialize(detail).map_err(|error| self.garbled(what, &error))
    }

    fn garbled(&self, what: &str, error: &serde_json::Error) -> NotebookError {
        NotebookError::Garbled {
            path: self.notebook.path().to_path_buf(),
            what: format!("{what} of run {}", self.run.id),
            detail: error.to_string(),
        }
    }
}
