//! Experiments: a hypothesis, the code that was written for it, and what came of it.

use std::path::Path;
use std::time::Duration;

use lab::{Comparison, Failure};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::NotebookError;
use crate::measurements::{self, ComparisonId, MeasuredCode, StoredComparison, column};
use crate::runs::RunId;
use crate::store::{Notebook, from_json, now_ms, to_json};
use crate::texts::{self, TextHash};

/// Number of an experiment, unique in its notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExperimentId(pub i64);
column!(ExperimentId);

/// What an experiment was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExperimentKind {
    /// One of several drafts, measured briefly to find the best of them.
    Search,
    /// A draft against its base with the full sampling.
    Full,
    /// A finalist against the original, on the shapes that stages may see.
    Direct,
    /// A finalist against the original, with fresh seeds, on all shapes.
    Confirmation,
}

impl ExperimentKind {
    fn word(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Full => "full",
            Self::Direct => "direct",
            Self::Confirmation => "confirmation",
        }
    }
}

impl FromSql for ExperimentKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "search" => Ok(Self::Search),
            "full" => Ok(Self::Full),
            "direct" => Ok(Self::Direct),
            "confirmation" => Ok(Self::Confirmation),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// What came of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub enum ExperimentOutcome<M> {
    /// It ran, was right and was timed against its baseline.
    Measured(M),
    /// The code failed.
    Failed(Failure),
    /// The draft says the same as something that was tried before, which is named.
    Duplicate(String),
    /// It came to nothing: no draft could be written, or its base does not run any more; the text says why.
    NotWritten(String),
}

/// An experiment to record.
#[derive(Clone, Debug)]
pub struct NewExperiment<'a> {
    /// The run it belongs to.
    pub run: RunId,
    /// Its place in the run, unique there, such as `g2/p1/d0/r0`.
    pub step: &'a str,
    /// Generation, from 1; 0 outside of generations.
    pub generation: u32,
    /// What it was made for.
    pub kind: ExperimentKind,
    /// Candidate it was compared with.
    pub base: u32,
    /// Candidate that was the reference.
    pub reference: u32,
    /// The hypothesis' stable key.
    pub hypothesis_key: &'a str,
    /// The hypothesis.
    pub hypothesis: Value,
    /// The user's file.
    pub file: &'a Path,
    /// The base's code.
    pub baseline: MeasuredCode<'a>,
    /// The draft, if one was written.
    pub code: Option<MeasuredCode<'a>>,
    /// The writer's report.
    pub report: &'a str,
    /// What came of it.
    pub outcome: ExperimentOutcome<&'a Comparison>,
    /// How long it took.
    pub took: Duration,
    /// What the run had used up by then.
    pub spent: Duration,
}

/// An experiment as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its number.
    pub id: ExperimentId,
    /// Its place in the run.
    pub step: String,
    /// Generation, from 1; 0 outside of generations.
    pub generation: u32,
    /// What it was made for.
    pub kind: ExperimentKind,
    /// Candidate it was compared with.
    pub base: u32,
    /// Candidate that was the reference.
    pub reference: u32,
    /// The hypothesis' stable key.
    pub hypothesis_key: String,
    /// The hypothesis.
    pub hypothesis: Value,
    /// The draft's text, if one was written.
    pub text: Option<TextHash>,
    /// The writer's report.
    pub report: String,
    /// What came of it.
    pub outcome: ExperimentOutcome<StoredComparison>,
    /// How long it took.
    pub took: Duration,
    /// When: milliseconds since 1970, UTC.
    pub at_ms: i64,
}

impl Notebook {
    /// Records an experiment with all that was measured, in one transaction. A step is recorded once.
    ///
    /// # Errors
    /// When it cannot be written, or the step was recorded before.
    pub fn record_experiment(&self, experiment: &NewExperiment<'_>) -> Result<ExperimentId, NotebookError> {
        self.write("recording an experiment", |transaction| insert(transaction, experiment))
    }

    /// Every experiment of a run, in the order they were made.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn experiments(&self, run: RunId) -> Result<Vec<Experiment>, NotebookError> {
        self.read("reading the experiments of a run", |connection| {
            connection
                .prepare_cached(
                    "SELECT id, step, generation, kind, base, reference, hypothesis_key, hypothesis, text, report,
                            comparison, failure, duplicate_of, not_written, took_ms, at_ms
                     FROM experiments WHERE run = ?1 ORDER BY id",
                )?
                .query_map([run], |row| read(connection, row))?
                .collect()
        })
    }
}

fn insert(connection: &Connection, experiment: &NewExperiment<'_>) -> rusqlite::Result<ExperimentId> {
    let text = experiment.code.map(|code| texts::keep(connection, code.text, code.kernels)).transpose()?;
    let (mut comparison, mut failure, mut duplicate_of, mut not_written) = (None, None, None, None);
    match &experiment.outcome {
        ExperimentOutcome::Measured(measured) => {
            let code = experiment.code.unwrap_or(experiment.baseline);
            let (file, took) = (experiment.file, experiment.took);
            comparison =
                Some(measurements::insert_comparison(connection, file, experiment.baseline, code, measured, took)?);
        }
        ExperimentOutcome::Failed(reason) => failure = Some(to_json(reason)?),
        ExperimentOutcome::Duplicate(of) => duplicate_of = Some(of),
        ExperimentOutcome::NotWritten(why) => not_written = Some(why),
    }
    connection
        .prepare_cached(
            "INSERT INTO experiments (run, step, generation, kind, base, reference, hypothesis_key, hypothesis, text,
                                      report, comparison, failure, duplicate_of, not_written, took_ms, spent_ms, at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        )?
        .execute(params![
            experiment.run,
            experiment.step,
            experiment.generation,
            experiment.kind.word(),
            experiment.base,
            experiment.reference,
            experiment.hypothesis_key,
            to_json(&experiment.hypothesis)?,
            text,
            experiment.report,
            comparison,
            failure,
            duplicate_of,
            not_written,
            experiment.took.as_millis() as i64,
            experiment.spent.as_millis() as i64,
            now_ms()
        ])?;
    Ok(ExperimentId(connection.last_insert_rowid()))
}

fn read(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Experiment> {
    let hypothesis: String = row.get(7)?;
    Ok(Experiment {
        id: row.get(0)?,
        step: row.get(1)?,
        generation: row.get(2)?,
        kind: row.get(3)?,
        base: row.get(4)?,
        reference: row.get(5)?,
        hypothesis_key: row.get(6)?,
        hypothesis: from_json(7, &hypothesis)?,
        text: row.get(8)?,
        report: row.get(9)?,
        outcome: read_outcome(connection, row)?,
        took: Duration::from_millis(row.get::<_, i64>(14)?.max(0) as u64),
        at_ms: row.get(15)?,
    })
}

fn read_outcome(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<ExperimentOutcome<StoredComparison>> {
    if let Some(id) = row.get::<_, Option<ComparisonId>>(10)? {
        return Ok(ExperimentOutcome::Measured(measurements::read_comparison(connection, id)?));
    }
    if let Some(failure) = row.get::<_, Option<String>>(11)? {
        return Ok(ExperimentOutcome::Failed(from_json(11, &failure)?));
    }
    if let Some(of) = row.get(12)? {
        return Ok(ExperimentOutcome::Duplicate(of));
    }
    Ok(ExperimentOutcome::NotWritten(row.get(13)?))
}
