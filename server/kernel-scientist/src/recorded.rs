//! What a run begins with that its questions depend on, so that who replays a recording asks the same to the letter: it stands in the
//! recording's first line, and no stage and no version ever sees it.

use std::path::Path;

use llm::{Kind, LlmError, replay};
use notebook::{Notebook, NotebookError, Run, RunId};
use scientist::findings;
use scientist::stages::Finding;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::models::{ModelNames, Reach};

/// What a run begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// The seed of the run: inputs of checks follow from it, and so do the values that a wrong version is told of.
    pub seed: u64,
    /// The lab's name of its device.
    pub device: String,
    /// What earlier runs on the same file and device had taught. The author of the designer's own has no name there: a recording
    /// goes by another.
    pub findings: Vec<Finding>,
}

/// A run that is about to begin or to go on.
pub struct About<'a> {
    /// The user's file.
    pub file: &'a Path,
    /// The lab's name of its device.
    pub device: &'a str,
    /// The run that goes on.
    pub run: Option<&'a Run>,
    /// The seed that the user asks for.
    pub seed: Option<u64>,
}

/// Why it is not known what a run begins with.
#[derive(Debug, thiserror::Error)]
pub enum BeginningError {
    /// The notebook cannot be read.
    #[error(transparent)]
    Notebook(#[from] NotebookError),
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] LlmError),
    /// The recording that is to be written has another run in it.
    #[error("{0}")]
    Other(String),
}

impl Beginning {
    /// What a run of `models` begins with, as its recording says where it is a recorded one. `reach` learns what its own recording
    /// begins with, and whether anything may differ: forecasts are the same each time, and times are not.
    ///
    /// # Errors
    /// [`BeginningError`].
    pub fn of(
        about: &About<'_>,
        models: &ModelNames,
        notebook: &Notebook,
        reach: &mut Reach,
    ) -> Result<Self, BeginningError> {
        let designer = models.designer.to_string();
        let recorded = of_recording(models)?;
        let asked = about.run.map(|run| run.seed).or(about.seed);
        let seed = asked.or(recorded.as_ref().map(|recorded| recorded.seed)).unwrap_or_else(seed);
        let findings = match &recorded {
            Some(recorded) => recorded.findings.clone(),
            None if is_recorded(models) => Vec::new(),
            None => {
                let run = about.run.map_or(RunId(i64::MAX), |run| run.id);
                let found = notebook.findings_before(run, about.file, about.device)?;
                found.into_iter().map(findings::recalled).map(|finding| renamed(finding, &designer, "")).collect()
            }
        };
        let beginning = Self { seed, device: about.device.to_owned(), findings };
        if let Some(record) = &reach.record {
            beginning.require_own(record)?;
        }
        reach.to_the_letter = lab::forecast::is_device(about.device)
            && recorded.is_some_and(|recorded| recorded.seed == seed && recorded.device == about.device);
        reach.began_with = serde_json::to_value(&beginning).ok();
        let findings = beginning.findings.into_iter().map(|finding| renamed(finding, "", &designer)).collect();
        Ok(Self { findings, ..beginning })
    }

    /// Refuses to add to the recording of another run: its answers would be taken for answers to this one's questions.
    fn require_own(&self, record: &Path) -> Result<(), BeginningError> {
        let is_new = std::fs::metadata(record).map_or(true, |about| about.is_file() && about.len() == 0);
        let begun = if is_new { None } else { read(record)? };
        match begun {
            Some(begun) if begun.seed != self.seed => Err(BeginningError::Other(format!(
                "{}: holds the recording of another run; name another file with --record",
                record.display()
            ))),
            _ => Ok(()),
        }
    }
}

fn renamed(finding: Finding, from: &str, to: &str) -> Finding {
    match finding.author.as_deref() {
        Some(author) if author == from => Finding { author: Some(to.to_owned()), ..finding },
        _ => finding,
    }
}

fn is_recorded(models: &ModelNames) -> bool {
    models.each().iter().any(|name| name.kind == Kind::Replay)
}

/// What the recording behind the stages says; nothing where they have several.
fn of_recording(models: &ModelNames) -> Result<Option<Beginning>, BeginningError> {
    let [first, others @ ..] = models.each();
    if first.kind != Kind::Replay || others.iter().any(|other| *other != first) {
        return Ok(None);
    }
    read(Path::new(&first.model))
}

fn read(recording: &Path) -> Result<Option<Beginning>, BeginningError> {
    let said: Option<Value> = replay::began_with(recording)?;
    let unread = |error: serde_json::Error| {
        LlmError::Setup(format!("{}: line 1: what the run began with cannot be read: {error}", recording.display()))
    };
    Ok(said.map(serde_json::from_value).transpose().map_err(unread)?)
}

/// A seed that every reader of JSON sees as the same number.
pub fn seed() -> u64 {
    rand::random::<u64>() >> 11
}
