//! The text under test and where it stands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::LabError;

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

    /// Makes sure that compilers can be given `path`: in an overlay of files, in a `#line`, in a list of dependencies.
    ///
    /// # Errors
    /// [`LabError::Usage`] when it is not UTF-8 or holds a control character, a quote or a backslash.
    pub fn check_path(path: &Path) -> Result<(), LabError> {
        if path.to_str().is_some_and(|name| !name.contains(|c: char| c.is_control() || c == '\\' || c == '"')) {
            return Ok(());
        }
        Err(LabError::Usage(format!(
            "{}: its path is not UTF-8, or holds a control character, a quote or a backslash, which compilers do not take; \
             rename it",
            path.display()
        )))
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

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn paths_that_compilers_do_not_take_are_told() {
        for bad in [&b"/w/\xff.hip"[..], b"/w/a\nb.hip", b"/w/a\tb.hip", b"/w/a\\b.hip", b"/w/a\"b.hip"] {
            let error = Source::check_path(Path::new(OsStr::from_bytes(bad))).unwrap_err().to_string();
            assert!(error.contains("rename it"), "{error}");
        }
        Source::check_path(Path::new("/w w/größe 大.hip")).unwrap();
    }
}
