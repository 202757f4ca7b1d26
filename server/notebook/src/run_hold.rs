//! The hold on a run, by which two processes never work on the same one.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::NotebookError;
use crate::runs::RunId;
use crate::store::Notebook;

/// While this lives, no other process can hold the same run. A killed process lets go of it.
#[derive(Debug)]
pub struct RunHold {
    _file: File,
    path: PathBuf,
}

impl Drop for RunHold {
    fn drop(&mut self) {
        // Removed while still locked; whoever opened it before sees that the name is gone and opens it anew.
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "the lock file of a run stays");
        }
    }
}

impl Notebook {
    /// Takes hold of a run, so that two processes never work on the same one.
    ///
    /// # Errors
    /// [`NotebookError::RunInUse`] when another process holds it.
    pub fn hold_run(&self, run: RunId) -> Result<RunHold, NotebookError> {
        let mut name = self.path().as_os_str().to_owned();
        name.push(format!("-run{run}.lock"));
        let path = PathBuf::from(name);
        let refuse = |error: std::io::Error| NotebookError::CannotOpen {
            path: self.path().to_path_buf(),
            detail: format!("locking run {run} in {}: {error}", path.display()),
        };
        loop {
            let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(refuse)?;
            match file.try_lock() {
                Ok(()) if is_still_named(&file, &path) => return Ok(RunHold { _file: file, path }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(NotebookError::RunInUse { path: self.path().to_path_buf(), run: run.0 });
                }
                Err(TryLockError::Error(error)) => return Err(refuse(error)),
            }
        }
    }
}

/// Whether `path` still leads to the file that was opened; its former holder may have removed it in between.
#[cfg(unix)]
fn is_still_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(opened), Ok(named)) => opened.dev() == named.dev() && opened.ino() == named.ino(),
        _ => false,
    }
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_still_named(_: &File, _: &Path) -> bool {
    true
}
