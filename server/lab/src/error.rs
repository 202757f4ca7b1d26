//! Why the lab could not answer.

use std::path::PathBuf;

use crate::verdict::Failure;

/// Errors of the lab, by who can mend them.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The code under test failed (exit status 1).
    #[error(transparent)]
    Code(#[from] Failure),
    /// The request or the configuration is wrong (exit status 2). The text says what, where and what to do.
    #[error("{0}")]
    Usage(String),
    /// The device or its toolchain is not usable (exit status 3). The text says what is missing and how to get it.
    #[error("{0}")]
    Unavailable(String),
    /// Somebody asked the job to stop (exit status 130).
    #[error("cancelled")]
    Cancelled,
    /// The lab's own files could not be read or written.
    #[error("{action} {}: {source}", .path.display())]
    Io {
        /// What was tried, such as `writing`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl LabError {
    /// For `map_err` on file operations.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
