//! Opening a notebook, and the transaction that every record goes through.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::durability::Syncer;
use crate::error::NotebookError;
use crate::schema::{self, APPLICATION_ID, VERSION};

/// How to open a notebook.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long to wait for another process' lock before giving up.
    pub lock_timeout: Duration,
}

impl Default for Options {
    /// Ten seconds: a transaction here takes milliseconds, so a longer wait means that something hangs.
    fn default() -> Self {
        Self { lock_timeout: Duration::from_secs(10) }
    }
}

/// An open notebook. Each thread or process that needs one opens its own.
#[derive(Debug)]
pub struct Notebook {
    pub(crate) connection: Connection,
    path: PathBuf,
    options: Options,
    /// From the first commit on; readers need none.
    syncer: OnceLock<Syncer>,
}

impl Notebook {
    /// Opens the notebook at `path`, making the file and its folder where they are missing and bringing an older format
    /// up to date.
    ///
    /// # Errors
    /// [`NotebookError`] says which of: full disk, read-only, not a notebook, damaged, locked, made by a newer program.
    pub fn open(path: &Path) -> Result<Self, NotebookError> {
        Self::open_with(path, Options::default())
    }

    /// Opens the notebook if its file exists; for readers that have nothing to say about an empty one.
    ///
    /// # Errors
    /// As [`Notebook::open`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>, NotebookError> {
        if path.exists() { Self::open(path).map(Some) } else { Ok(None) }
    }

    /// As [`Notebook::open`], with other limits.
    ///
    /// # Errors
    /// As [`Notebook::open`].
    pub fn open_with(path: &Path, options: Options) -> Result<Self, NotebookError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| NotebookError::CannotOpen {
                path: path.to_path_buf(),
                detail: format!("creating its folder: {error}"),
            })?;
        }
        let explain = |error| NotebookError::explain("opening", path, options.lock_timeout, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(explain)?;
        connection.busy_timeout(options.lock_timeout).map_err(explain)?;
        let notebook = Self { connection, path: path.to_path_buf(), options, syncer: OnceLock::new() };
        notebook.check_identity()?;
        notebook.configure()?;
        notebook.migrate()?;
        Ok(notebook)
    }

    /// Writes all of it, as it is now, to a new file, for whoever wants to go on with it without a trace in this one.
    ///
    /// # Errors
    /// When it cannot be read, or the file is there already or cannot be written.
    pub fn copy_to(&self, path: &Path) -> Result<(), NotebookError> {
        self.read("copying", |connection| connection.execute("VACUUM INTO ?1", [path.to_string_lossy()]).map(|_| ()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The format of the file and whether the file is a notebook at all, before anything is written to it.
    fn check_identity(&self) -> Result<i64, NotebookError> {
        // One statement, so that another process which makes the notebook at this moment has made all of it or nothing.
        let (version, application, objects): (i64, i64, i64) = self.read("opening", |connection| {
            connection.query_row(
                "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
                 FROM pragma_user_version, pragma_application_id",
                [],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
        })?;
        if application != APPLICATION_ID && (objects > 0 || application != 0) {
            let detail = "it is the database of another program".to_owned();
            return Err(NotebookError::Unreadable { doing: "opening", path: self.path.clone(), detail });
        }
        if version > VERSION {
            return Err(NotebookError::Newer { path: self.path.clone(), found: version, known: VERSION });
        }
        Ok(version)
    }

    /// WAL lets readers go on while a run records. Commits are synced behind them ([`crate::durability`]).
    fn configure(&self) -> Result<(), NotebookError> {
        let explain = |error| self.explain("opening", error);
        self.retry_while_locked(|| self.connection.pragma_update(None, "journal_mode", "WAL")).map_err(explain)?;
        self.connection.pragma_update(None, "synchronous", "NORMAL").map_err(explain)?;
        self.connection.pragma_update(None, "foreign_keys", true).map_err(explain)?;
        // Without this an INSERT OR REPLACE would delete rows without asking the append-only triggers.
        self.connection.pragma_update(None, "recursive_triggers", true).map_err(explain)
    }

    /// SQLite does not call its busy handler while it changes the journal mode, so two processes that make the same
    /// notebook at the same moment need this.
    fn retry_while_locked(&self, mut attempt: impl FnMut() -> rusqlite::Result<()>) -> rusqlite::Result<()> {
        let give_up = Instant::now() + self.options.lock_timeout;
        loop {
            match attempt() {
                Err(error)
                    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                        && Instant::now() < give_up =>
                {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => return other,
            }
        }
    }

    fn migrate(&self) -> Result<(), NotebookError> {
        if self.check_identity()? == VERSION {
            return Ok(());
        }
        let explain = |error| self.explain("bringing the format up to date", error);
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate).map_err(explain)?;
        // Asked again under the lock: another process may have done it in between.
        let version = self.check_identity()?;
        if version < VERSION {
            schema::migrate(&transaction, version).map_err(explain)?;
        }
        transaction.commit().map_err(explain)
    }

    /// Runs `work` as one transaction: all of it is on disk when this returns, or none of it.
    pub(crate) fn write<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, NotebookError> {
        let explain = |error| self.explain(doing, error);
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate).map_err(explain)?;
        let value = work(&transaction).map_err(explain)?;
        transaction.commit().map_err(explain)?;
        let synced = self.syncer.get_or_init(|| Syncer::start(&self.path)).committed();
        synced.map_err(|source| NotebookError::NotSynced { doing, path: self.path.clone(), source })?;
        Ok(value)
    }

    /// Runs a query.
    pub(crate) fn read<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, NotebookError> {
        work(&self.connection).map_err(|error| self.explain(doing, error))
    }

    pub(crate) fn explain(&self, doing: &'static str, error: rusqlite::Error) -> NotebookError {
        match error {
            rusqlite::Error::FromSqlConversionFailure(column, _, source) => NotebookError::Garbled {
                path: self.path.clone(),
                what: format!("column {column} while {doing}"),
                detail: source.to_string(),
            },
            other => NotebookError::explain(doing, &self.path, self.options.lock_timeout, other),
        }
    }
}

/// Milliseconds since 1970, in UTC.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// How a source file is kept: by the path that it has in whatever workspace it is opened in, as text, with what is not UTF-8
/// replaced.
pub(crate) fn path_text(file: &Path) -> String {
    lab::source::identity(file).to_string_lossy().into_owned()
}

/// For JSON columns: a value that cannot be read becomes an error that names its column.
pub(crate) fn from_json<T: serde::de::DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// For JSON columns: the text to keep.
pub(crate) fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_a_notebook_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one.db"), folder.path().join("other.db"));
        Notebook::open(&one).unwrap().copy_to(&other).unwrap();
        let copy = Notebook::open(&other).unwrap();
        assert_eq!(copy.check_identity().unwrap(), VERSION);
        assert!(Notebook::open(&one).unwrap().copy_to(&other).is_err(), "a file that is there is left alone");
    }

    #[test]
    fn every_error_of_sqlite_that_a_user_can_mend_says_how() {
        type Restrict = fn(&Connection) -> rusqlite::Result<()>;
        let cases: [(&str, Restrict, &str); 2] = [
            ("max_page_count", |c| c.pragma_update_and_check(None, "max_page_count", 1, |_| Ok(())), "free some space"),
            ("query_only", |c| c.pragma_update(None, "query_only", true), "Make the file and its folder writable"),
        ];
        for (name, restrict, advice) in cases {
            let folder = tempfile::tempdir().unwrap();
            let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
            restrict(&notebook.connection).unwrap();
            let error = notebook.keep_text(&"x".repeat(1 << 20), &[]).unwrap_err().to_string();
            assert!(error.contains(advice) && error.contains("notebook.db"), "{name}: {error}");
            // A transaction that failed leaves the notebook usable.
            assert!(notebook.connection.is_autocommit(), "{name}");
        }
    }
}
