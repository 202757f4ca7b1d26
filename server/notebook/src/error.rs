//! What can go wrong with a notebook: what happened, where, and what to do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;

/// Errors of the notebook. Each names the file and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum NotebookError {
    /// The disk (or the quota) has no room left.
    #[error(
        "{doing} in the notebook {}: the disk is full. Everything recorded before is safe; free some space, or name a notebook on another disk",
        .path.display()
    )]
    Full {
        /// What was tried, such as `recording an experiment`.
        doing: &'static str,
        /// The notebook.
        path: PathBuf,
    },
    /// The file or its folder cannot be written.
    #[error("{doing} in the notebook {}: it is read-only. Make the file and its folder writable, or name another notebook", .path.display())]
    ReadOnly {
        /// What was tried.
        doing: &'static str,
        /// The notebook.
        path: PathBuf,
    },
    /// The file is damaged or was never a database.
    #[error(
        "{doing} in the notebook {}: {detail}. Move the file away (it is not touched) and a new notebook is started in its place",
        .path.display()
    )]
    Unreadable {
        /// What was tried.
        doing: &'static str,
        /// The notebook.
        path: PathBuf,
        /// SQLite's words, or what was found instead of a notebook.
        detail: String,
    },
    /// Another process held the lock for too long.
    #[error(
        "{doing} in the notebook {}: another process has kept it locked for {:.1} s. Try again; if nothing else should be using it, look for a process that hangs",
        .path.display(), .waited.as_secs_f64()
    )]
    Locked {
        /// What was tried.
        doing: &'static str,
        /// The notebook.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The file was made by a newer program.
    #[error(
        "the notebook {} has format {found} and this program knows formats up to {known}. Update kernel-scientist, or name another notebook; the file was not touched",
        .path.display()
    )]
    Newer {
        /// The notebook.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format this program knows.
        known: i64,
    },
    /// The file or its folder cannot be opened or created.
    #[error("opening the notebook {}: {detail}. See that its folder can be created and written, or name another notebook", .path.display())]
    CannotOpen {
        /// The notebook.
        path: PathBuf,
        /// The system's words.
        detail: String,
    },
    /// A live process is working on the run.
    #[error("run {run} in the notebook {} is being worked on by another process. Wait for it to end, or stop it, and try again", .path.display())]
    RunInUse {
        /// The notebook.
        path: PathBuf,
        /// The run's number.
        run: i64,
    },
    /// There is no such row.
    #[error("the notebook {} has no {what}. `kernel-scientist history FILE` lists what there is", .path.display())]
    Missing {
        /// The notebook.
        path: PathBuf,
        /// What was looked for, such as `run 7`.
        what: String,
    },
    /// A row cannot be understood.
    #[error(
        "reading {what} in the notebook {}: {detail}. The row was written by a different or a faulty version; name another notebook and keep this one for a report",
        .path.display()
    )]
    Garbled {
        /// The notebook.
        path: PathBuf,
        /// Which row.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The disk did not take what was recorded.
    #[error("{doing} in the notebook {}: it may not be on disk: {source}. See that the disk works and has room", .path.display())]
    NotSynced {
        /// What was recorded.
        doing: &'static str,
        /// The notebook.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// Anything else that SQLite reports.
    #[error("{doing} in the notebook {}: {source}. See that the disk works and has room", .path.display())]
    Sqlite {
        /// What was tried.
        doing: &'static str,
        /// The notebook.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

/// "I/O error while enlarging the shared-memory file": SQLite's documentation says that the volume is out of space.
const IOERR_SHMSIZE: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

impl NotebookError {
    /// Sorts an error of SQLite by what the user can do about it.
    pub(crate) fn explain(doing: &'static str, path: &Path, waited: Duration, source: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let extended = source.sqlite_error().map_or(0, |error| error.extended_code);
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full { doing, path },
            Some(ErrorCode::SystemIoFailure) if extended == IOERR_SHMSIZE => Self::Full { doing, path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { doing, path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { doing, path, waited },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::CannotOpen { path, detail: source.to_string() }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Unreadable { doing, path, detail: source.to_string() }
            }
            _ => Self::Sqlite { doing, path, source },
        }
    }
}
