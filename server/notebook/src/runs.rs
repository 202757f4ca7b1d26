//! Runs of the method: how they were started, what became of them, and what their stages answered.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::NotebookError;
use crate::store::{Notebook, from_json, now_ms, path_text, to_json};
use crate::texts::{self, KernelFingerprint, TextHash};

/// Number of a run, unique in its notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunId(pub i64);

impl std::fmt::Display for RunId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

impl ToSql for RunId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for RunId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

/// What a run starts from.
#[derive(Clone, Debug)]
pub struct NewRun<'a> {
    /// The user's file.
    pub file: &'a Path,
    /// The source as it was at the start.
    pub text: &'a str,
    /// Its kernels.
    pub kernels: &'a [KernelFingerprint],
    /// The one kernel to work on, if the user named one.
    pub kernel: Option<&'a str>,
    /// The device's name.
    pub device: &'a str,
    /// What stands behind the stages, such as `catalog`.
    pub provider: &'a str,
    /// Seed that every other seed of the run comes from.
    pub seed: u64,
    /// The budget, as its owner writes it.
    pub budget: Value,
    /// Other settings, as their owner writes them.
    pub settings: Value,
    /// Name and version of the program.
    pub program: &'a str,
}

/// A run as it was started, and its state now.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// The user's file.
    pub file: PathBuf,
    /// The one kernel to work on, if the user named one.
    pub kernel: Option<String>,
    /// The device's name.
    pub device: String,
    /// What stands behind the stages.
    pub provider: String,
    /// Its seed.
    pub seed: u64,
    /// The budget.
    pub budget: Value,
    /// Other settings.
    pub settings: Value,
    /// The source as it was at the start.
    pub original: TextHash,
    /// Name and version of the program that started it.
    pub program: String,
    /// When it was started: milliseconds since 1970, UTC.
    pub started_ms: i64,
    /// What became of it.
    pub state: RunState,
}

impl Run {
    /// Refuses a run of another file: what it found would be taken for this one's.
    ///
    /// # Errors
    /// Says whose it is.
    pub fn require_of(&self, file: &Path) -> Result<(), String> {
        if self.file == file || self.file == lab::source::identity(file) {
            return Ok(());
        }
        Err(format!("run {} is one of {}, not of {}", self.id, self.file.display(), file.display()))
    }
}

/// What became of a run, by its last event.
#[derive(Clone, Debug, PartialEq)]
pub enum RunState {
    /// No end was recorded: it is running now, or its process was killed.
    Open,
    /// Its device or provider was not usable; the message says what to do.
    Paused(String),
    /// Somebody asked it to stop.
    Cancelled,
    /// An error ended it.
    Failed(String),
    /// It came to its end; the value is what its owner recorded about it.
    Finished(Value),
}

/// An event in a run's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunChange {
    /// It goes on after a pause, a cancellation or a kill.
    Resumed,
    /// Its device or provider is not usable.
    Paused,
    /// Somebody asked it to stop.
    Cancelled,
    /// An error ended it.
    Failed,
    /// It came to its end.
    Finished,
}

impl RunChange {
    fn word(self) -> &'static str {
        match self {
            Self::Resumed => "resumed",
            Self::Paused => "paused",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Finished => "finished",
        }
    }
}

/// What a run has used up since its start, over all its resumptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Time at work.
    pub wall: Duration,
    /// Money paid to a provider, in US dollars.
    pub usd: f64,
    /// Tokens sent to and received from a provider.
    pub tokens: u64,
}

impl Spent {
    /// The columns `spent_ms`, `usd` and `tokens`, in this order.
    fn columns(&self) -> (i64, f64, i64) {
        (self.wall.as_millis() as i64, self.usd, self.tokens as i64)
    }

    /// The same columns, read.
    fn from_columns(row: &Row<'_>) -> rusqlite::Result<Self> {
        let part = |value: i64| u64::try_from(value).unwrap_or(0);
        Ok(Self { wall: Duration::from_millis(part(row.get(0)?)), usd: row.get(1)?, tokens: part(row.get(2)?) })
    }
}

/// What a stage answered at one step of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStep {
    /// The step's name, unique in the run, such as `g2/design`.
    pub step: String,
    /// The answer.
    pub detail: Value,
}

impl Notebook {
    /// Records the start of a run.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn start_run(&self, run: &NewRun<'_>) -> Result<RunId, NotebookError> {
        self.write("recording the start of a run", |transaction| {
            let original = texts::keep(transaction, run.text, run.kernels)?;
            transaction.execute(
                "INSERT INTO runs (file, kernel, device, provider, seed, budget, settings, original, program, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    path_text(run.file),
                    run.kernel,
                    run.device,
                    run.provider,
                    run.seed as i64,
                    to_json(&run.budget)?,
                    to_json(&run.settings)?,
                    original,
                    run.program,
                    now_ms()
                ],
            )?;
            let id = RunId(transaction.last_insert_rowid());
            insert_change(transaction, id, "started", "", &Value::Null, &Spent::default())?;
            Ok(id)
        })
    }

    /// Records an event in a run's life.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_change(
        &self,
        run: RunId,
        change: RunChange,
        message: &str,
        detail: &Value,
        spent: &Spent,
    ) -> Result<(), NotebookError> {
        self.write("recording what became of a run", |transaction| {
            insert_change(transaction, run, change.word(), message, detail, spent)
        })
    }

    /// The detail of the latest change of a kind; `None` when there was none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn latest_change(&self, run: RunId, change: RunChange) -> Result<Option<Value>, NotebookError> {
        self.read("reading what became of a run", |connection| {
            connection
                .prepare_cached(
                    "SELECT detail FROM run_changes WHERE run = ?1 AND change = ?2 ORDER BY id DESC LIMIT 1",
                )?
                .query_row(params![run, change.word()], |row| json_at(row, 0))
                .optional()
        })
    }

    /// Records what a stage answered. A step is recorded once.
    ///
    /// # Errors
    /// When it cannot be written, or the step was recorded before.
    pub fn record_step(&self, run: RunId, step: &str, detail: &Value, spent: &Spent) -> Result<(), NotebookError> {
        let (spent_ms, usd, tokens) = spent.columns();
        self.write("recording a step of a run", |transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO run_steps (run, step, detail, spent_ms, usd, tokens, at_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![run, step, to_json(detail)?, spent_ms, usd, tokens, now_ms()])
                .map(|_| ())
        })
    }

    /// Everything the stages answered, in the order it was recorded.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn steps(&self, run: RunId) -> Result<Vec<RunStep>, NotebookError> {
        self.read("reading the steps of a run", |connection| {
            connection
                .prepare_cached("SELECT step, detail FROM run_steps WHERE run = ?1 ORDER BY rowid")?
                .query_map([run], |row| Ok(RunStep { step: row.get(0)?, detail: json_at(row, 1)? }))?
                .collect()
        })
    }

    /// What a run has used up so far.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn spent(&self, run: RunId) -> Result<Spent, NotebookError> {
        self.read("reading what a run has used up", |connection| {
            connection.query_row(
                "SELECT coalesce(max(spent_ms), 0), coalesce(max(usd), 0.0), coalesce(max(tokens), 0) FROM (
                     SELECT spent_ms, usd, tokens FROM run_steps WHERE run = ?1
                     UNION ALL SELECT spent_ms, usd, tokens FROM run_changes WHERE run = ?1
                     UNION ALL SELECT spent_ms, 0.0, 0 FROM experiments WHERE run = ?1
                     -- A call is recorded before the step that it belongs to.
                     UNION ALL SELECT 0, coalesce(sum(usd), 0.0), coalesce(sum(input + output), 0)
                               FROM model_calls WHERE run = ?1)",
                [run],
                Spent::from_columns,
            )
        })
    }

    /// One run.
    ///
    /// # Errors
    /// [`NotebookError::Missing`] when there is no such run.
    pub fn run(&self, run: RunId) -> Result<Run, NotebookError> {
        self.read("reading a run", |connection| {
            connection
                .query_row(&format!("{SELECT_RUN} WHERE id = ?1"), [run], read_run)
                .optional()?
                .map(|run| with_state(connection, run))
                .transpose()
        })?
        .ok_or_else(|| NotebookError::Missing { path: self.path().to_path_buf(), what: format!("run {run}") })
    }

    /// Every run of a file, newest first. What was only asked for hypotheses (`suggestion` in its settings) is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn runs(&self, file: &Path) -> Result<Vec<Run>, NotebookError> {
        self.read("reading the runs of a file", |connection| {
            connection
                .prepare_cached(&format!("{SELECT_RUN} WHERE file = ?1 AND {IS_RUN} ORDER BY id DESC"))?
                .query_map([path_text(file)], read_run)?
                .collect::<rusqlite::Result<Vec<_>>>()?
                .into_iter()
                .map(|run| with_state(connection, run))
                .collect()
        })
    }

    /// The newest runs of all files, newest first, at most so many; as [`Notebook::runs`].
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn latest_runs(&self, limit: u32) -> Result<Vec<Run>, NotebookError> {
        self.read("reading the runs of all files", |connection| {
            connection
                .prepare_cached(&format!("{SELECT_RUN} WHERE {IS_RUN} ORDER BY id DESC LIMIT ?1"))?
                .query_map([limit], read_run)?
                .collect::<rusqlite::Result<Vec<_>>>()?
                .into_iter()
                .map(|run| with_state(connection, run))
                .collect()
        })
    }

    /// The runs of a file that did not come to their end, newest first: those that can be resumed, and those that another
    /// process is working on ([`Notebook::hold_run`] tells them apart).
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn unfinished_runs(&self, file: &Path) -> Result<Vec<Run>, NotebookError> {
        let mut runs = self.runs(file)?;
        runs.retain(|run| !matches!(run.state, RunState::Finished(_)));
        Ok(runs)
    }
}

fn insert_change(
    connection: &Connection,
    run: RunId,
    change: &str,
    message: &str,
    detail: &Value,
    spent: &Spent,
) -> rusqlite::Result<()> {
    let (spent_ms, usd, tokens) = spent.columns();
    connection
        .execute(
            "INSERT INTO run_changes (run, change, message, detail, spent_ms, usd, tokens, at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![run, change, message, to_json(detail)?, spent_ms, usd, tokens, now_ms()],
        )
        .map(|_| ())
}

const SELECT_RUN: &str =
    "SELECT id, file, kernel, device, provider, seed, budget, settings, original, program, at_ms FROM runs";

const IS_RUN: &str = "json_extract(settings, '$.suggestion') IS NULL";

fn read_run(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: row.get(0)?,
        file: PathBuf::from(row.get::<_, String>(1)?),
        kernel: row.get(2)?,
        device: row.get(3)?,
        provider: row.get(4)?,
        seed: row.get::<_, i64>(5)? as u64,
        budget: json_at(row, 6)?,
        settings: json_at(row, 7)?,
        original: row.get(8)?,
        program: row.get(9)?,
        started_ms: row.get(10)?,
        state: RunState::Open,
    })
}

fn with_state(connection: &Connection, mut run: Run) -> rusqlite::Result<Run> {
    run.state = connection
        .prepare_cached("SELECT change, message, detail FROM run_changes WHERE run = ?1 ORDER BY id DESC LIMIT 1")?
        .query_row([run.id], |row| {
            Ok(match row.get::<_, String>(0)?.as_str() {
                "paused" => RunState::Paused(row.get(1)?),
                "cancelled" => RunState::Cancelled,
                "failed" => RunState::Failed(row.get(1)?),
                "finished" => RunState::Finished(json_at(row, 2)?),
                _ => RunState::Open,
            })
        })?;
    Ok(run)
}

/// The JSON in a column.
fn json_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Value> {
    from_json(column, &row.get::<_, String>(column)?)
}
