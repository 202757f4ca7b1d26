//! What jobs tell on their way, and what they come to.

use std::sync::Arc;

use lab::sanitize::Fault;
use lab::{Failure, LabError, TimeReport};
use notebook::NotebookError;
use scientist::evolution::Ended;
use scientist::evolution::event::Event;
use scientist::run::RunError;
use scientist::stages::{Hypothesis, StageError};
use scientist::trial::{self, TrialError};

use crate::designed::DesignError;
use crate::forecasts::cured::Cured;
use crate::forecasts::outlook::Outlook;

/// What a job tells on its way.
#[derive(Clone, Debug)]
pub enum Told {
    /// What it is doing, and how far it is, in percent.
    Doing(String, Option<u32>),
    /// How far models are with what it waits for; it says nothing new of the job.
    OfModels(String),
    /// What happened in an evolution.
    Event(Box<Event>),
}

/// What a job came to.
#[derive(Debug)]
pub enum Outcome {
    /// Times, which are in the notebook.
    Timed(Box<TimeReport>),
    /// A hypothesis was tested.
    Tested(Box<Hypothesis>, Box<trial::Tested>),
    /// An evolution of this text came to its end; its best version cures these lines, by the forecasts of both.
    Evolved(Arc<str>, Box<Ended>, Vec<Cured>),
    /// Faults that sanitizers found, and how the run failed, if it did.
    Checked(Vec<Fault>, Option<Failure>),
    /// Hypotheses with what they gain by forecast, why there is no forecast where there could be one, and who thought them up.
    Suggested(Vec<(Hypothesis, Option<Outlook>)>, Option<String>, String),
    /// The code as it is in the editor fails.
    Failed(Failure),
    /// It could not be done; the text says why and what to do.
    Error(String),
    /// Somebody stopped it.
    Cancelled,
}

impl From<LabError> for Outcome {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Code(failure) => Self::Failed(failure),
            LabError::Cancelled => Self::Cancelled,
            other => Self::Error(other.to_string()),
        }
    }
}

impl From<NotebookError> for Outcome {
    fn from(error: NotebookError) -> Self {
        Self::Error(error.to_string())
    }
}

impl From<RunError> for Outcome {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Original(failure) => Self::Failed(failure),
            RunError::Lab(error) => error.into(),
            other => Self::Error(other.to_string()),
        }
    }
}

impl From<DesignError> for Outcome {
    fn from(error: DesignError) -> Self {
        match error {
            DesignError::Lab(error) => error.into(),
            DesignError::Notebook(error) => error.into(),
            DesignError::Stage(StageError::Cancelled) => Self::Cancelled,
            DesignError::Stage(error) => Self::Error(error.to_string()),
        }
    }
}

impl From<TrialError> for Outcome {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::NotWritten(why) => Self::Error(why),
            TrialError::Run(error) => error.into(),
            TrialError::Cancelled => Self::Cancelled,
        }
    }
}
