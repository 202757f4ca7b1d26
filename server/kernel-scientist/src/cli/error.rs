//! What ends a command early, and the exit status that says so.

use std::process::ExitCode;

use lab::{Failure, LabError};
use notebook::NotebookError;
use serde::Serialize;

use crate::recorded::BeginningError;

/// Why a command did not do what it was asked. The text says what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The code under test failed; its failure was already printed as the command's result. Exit status 1.
    #[error("{0}")]
    CodeFailed(Failure),
    /// A sanitizer found faults, which were already printed; results were not compared. Exit status 1.
    #[error("{0}")]
    Faults(String),
    /// The request or the configuration is wrong. Exit status 2.
    #[error("{0}")]
    Usage(String),
    /// A device or a model is not usable. Exit status 3.
    #[error("{0}")]
    Unavailable(String),
    /// The user stopped it. Exit status 130.
    #[error("cancelled")]
    Cancelled,
}

impl CliError {
    fn status(&self) -> u8 {
        match self {
            Self::CodeFailed(_) | Self::Faults(_) => 1,
            Self::Usage(_) => 2,
            Self::Unavailable(_) => 3,
            Self::Cancelled => 130,
        }
    }

    /// Prints the error to standard error and gives the exit status.
    pub fn report(&self) -> ExitCode {
        super::tell(&format!("kernel-scientist: {self}"));
        if let Self::CodeFailed(Failure::DoesNotCompile { diagnostics }) = self {
            for diagnostic in diagnostics.iter().skip(1).take(9) {
                super::tell(&format!("  {diagnostic}"));
            }
        }
        ExitCode::from(self.status())
    }
}

impl From<LabError> for CliError {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Code(failure) => Self::CodeFailed(failure),
            LabError::Usage(text) => Self::Usage(text),
            LabError::Unavailable(text) => Self::Unavailable(text),
            LabError::Cancelled => Self::Cancelled,
            LabError::Io { .. } => Self::Usage(error.to_string()),
        }
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self::CodeFailed(failure)
    }
}

impl From<BeginningError> for CliError {
    fn from(error: BeginningError) -> Self {
        match error {
            BeginningError::Notebook(error) => error.into(),
            BeginningError::Recording(error) => error.into(),
            BeginningError::Other(text) => Self::Usage(text),
        }
    }
}

impl From<NotebookError> for CliError {
    fn from(error: NotebookError) -> Self {
        Self::Usage(error.to_string())
    }
}

/// A failure of the code under test in a JSON answer: its fields, and the same in words.
#[derive(Serialize)]
pub struct FailureRow<'a> {
    message: String,
    #[serde(flatten)]
    failure: &'a Failure,
}

impl<'a> FailureRow<'a> {
    /// The row of a failure.
    pub fn of(failure: &'a Failure) -> Self {
        Self { message: failure.to_string(), failure }
    }
}
