//! How a run is asked for, and what can end it early.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lab::{Failure, LabError};
use notebook::{NotebookError, RunId};
use serde::{Deserialize, Serialize};

use crate::budget::Budget;

/// A new run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The user's file, absolute.
    pub file: PathBuf,
    /// Its text, which may be unsaved.
    pub text: Arc<str>,
    /// Only this kernel, when the user named one.
    pub kernel: Option<String>,
    /// What stands behind the stages, such as `catalog`.
    pub provider: String,
    /// Every other seed of the run comes from this one.
    pub seed: u64,
    /// What it may use up.
    pub budget: Budget,
    /// How it measures.
    pub settings: Settings,
}

/// How a run measures. Kept with the run: a resumed one goes on with what it was started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Sampling time of an experiment, for all shapes together.
    pub experiment: Duration,
    /// Sampling time of the winner's confirmation, for all shapes together.
    pub confirmation: Duration,
    /// Sampling stops earlier when the half width of a ratio's interval is below this share.
    pub half_width: f64,
    /// Builds made at once.
    pub build_threads: usize,
    /// Finalists that are measured against the original, and of which at most so many are put up for confirmation. Few,
    /// because each further try gives chance another chance.
    pub finalists: usize,
    /// Drafts taken from one plan at most; a search over constants may not eat up the run.
    pub drafts: usize,
    /// How often a draft that failed is given back to its writer to be mended, where the writer mends.
    #[serde(default)]
    pub repairs: u32,
    /// Where the models behind the stages are served; a resumed run goes on there. `None` where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_at: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            experiment: Duration::from_secs(3),
            confirmation: Duration::from_secs(8),
            half_width: 0.005,
            build_threads: 2,
            finalists: 3,
            drafts: 27,
            repairs: 2,
            served_at: None,
        }
    }
}

impl Settings {
    /// For a device that is forecast for: a forecast takes as long as it takes, and a second one says the same.
    pub fn of_forecasts() -> Self {
        Self { experiment: Duration::from_millis(10), confirmation: Duration::from_secs(2), ..Self::default() }
    }

    /// Sampling time at the end of a run: each finalist against the original, and one confirmation.
    pub(crate) fn ending(&self) -> Duration {
        let finalists = u32::try_from(self.finalists).unwrap_or(u32::MAX);
        self.confirmation + self.experiment.saturating_mul(finalists)
    }
}

/// Why a run ended without an answer. What was recorded stays, and the run can be resumed where that makes sense.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The user's own code fails, so there is nothing to compare with.
    #[error("the file as it is cannot be used as the baseline: {0}")]
    Original(Failure),
    /// The lab refused the request, or its own files failed.
    #[error(transparent)]
    Lab(LabError),
    /// The notebook failed.
    #[error(transparent)]
    Notebook(#[from] NotebookError),
    /// The run belongs to another device.
    #[error(
        "run {run} was started on device `{recorded}` and cannot go on on `{given}`; name that device, or start a new run"
    )]
    OtherDevice {
        /// The run.
        run: RunId,
        /// Its device.
        recorded: String,
        /// The device it was resumed with.
        given: String,
    },
    /// The run was started by another version, which may take other steps.
    #[error(
        "run {run} was started by {recorded} and cannot go on with {given}, which may take other steps; start a new run"
    )]
    OtherProgram {
        /// The run.
        run: RunId,
        /// What started it.
        recorded: String,
        /// What it was resumed with.
        given: &'static str,
    },
    /// The run has come to its end.
    #[error(
        "run {0} has finished; to go on with it give it more than it had, such as more generations, or start a new run"
    )]
    AlreadyFinished(RunId),
    /// The new budget is used up already.
    #[error(
        "run {run} cannot go on with less than it has used up: {why}; give it more, or leave the limit out to keep what it had"
    )]
    TooLittle {
        /// The run.
        run: RunId,
        /// Which limit is reached.
        why: String,
    },
}

/// Why the loop stopped before its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Somebody asked for it.
    Cancelled,
    /// The wall time of the present phase is used up.
    OutOfTime,
    /// Money or tokens are used up.
    Overdrawn(String),
    /// A device or a provider is not usable now.
    Paused(String),
    /// An error.
    Failed(RunError),
}

impl From<NotebookError> for Stop {
    fn from(error: NotebookError) -> Self {
        Self::Failed(error.into())
    }
}
