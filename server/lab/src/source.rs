//! The text under test and where it stands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One version of a source file: the text that is built, and the path that messages and includes refer to.
///
/// The text need not be what is on disk: an unsaved buffer and a candidate are sources too.
#[derive(Clone, Debug)]
pub struct Source {
    /// Absolute path of the file in the user's workspace.
    pub path: PathBuf,
    /// The whole text.
    pub text: Arc<str>,
}

impl Source {
    /// A source at `path` with `text`.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// The folder that relative includes are looked up in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// The same file with another text.
    pub fn with_text(&self, text: impl Into<Arc<str>>) -> Self {
        Self { path: self.path.clone(), text: text.into() }
    }
}
