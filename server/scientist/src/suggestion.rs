//! What it cost to think hypotheses up outside of a run: kept as a run of its own that has come to its end and made no experiment, so
//! that no bill is lost. Lists of runs leave it out ([`Notebook::runs`]).

use std::path::Path;
use std::sync::Arc;

use notebook::{ModelCall, NewRun, Notebook, NotebookError, RunChange, RunId, Spent};
use serde_json::json;

use crate::evolution::{PROGRAM, kernels};

/// What was asked about.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The user's file, absolute.
    pub file: &'a Path,
    /// Its text, which may be unsaved.
    pub text: &'a Arc<str>,
    /// Only this kernel.
    pub kernel: Option<&'a str>,
    /// The lab's name of the device.
    pub device: &'a str,
    /// Who was asked, as runs are recorded with.
    pub provider: &'a str,
}

/// Keeps what calls have cost, with what came of them in words; nothing where there were none.
///
/// # Errors
/// When it cannot be written.
pub fn keep_cost(
    notebook: &Notebook,
    asked: &Asked<'_>,
    calls: &[ModelCall],
    outcome: &str,
) -> Result<Option<RunId>, NotebookError> {
    if calls.is_empty() {
        return Ok(None);
    }
    let run = notebook.start_run(&NewRun {
        file: asked.file,
        text: asked.text,
        kernels: &kernels(asked.text, None),
        kernel: asked.kernel,
        device: asked.device,
        provider: asked.provider,
        seed: 0,
        budget: json!({ "generations": 0 }),
        settings: json!({ "suggestion": true }),
        program: PROGRAM,
    })?;
    for call in calls {
        notebook.record_model_call(run, "suggest", call)?;
    }
    notebook.record_change(run, RunChange::Finished, outcome, &json!({ "reason": outcome }), &Spent::default())?;
    Ok(Some(run))
}
