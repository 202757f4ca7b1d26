//! Candidates: the population of a run.

use std::sync::Arc;

use rusqlite::params;

use crate::error::NotebookError;
use crate::experiments::ExperimentId;
use crate::runs::RunId;
use crate::store::{Notebook, from_json, now_ms, to_json};
use crate::texts::{self, KernelFingerprint, TextHash};

/// A candidate to record.
#[derive(Clone, Debug)]
pub struct NewCandidate<'a> {
    /// The run it belongs to.
    pub run: RunId,
    /// Its number in the population; the original is 0.
    pub number: u32,
    /// The version it was made from.
    pub parent: Option<u32>,
    /// The second parent.
    pub reference: Option<u32>,
    /// Generation; 0 for the original.
    pub generation: u32,
    /// The whole source.
    pub text: &'a str,
    /// Its kernels.
    pub kernels: &'a [KernelFingerprint],
    /// Keys of the hypotheses applied since the original, oldest first.
    pub steps: &'a [String],
    /// What was tried and what came of it.
    pub summary: &'a str,
    /// The experiment that decided about it; `None` for the original.
    pub experiment: Option<ExperimentId>,
}

/// A candidate as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its number in the population.
    pub number: u32,
    /// The version it was made from.
    pub parent: Option<u32>,
    /// The second parent.
    pub reference: Option<u32>,
    /// Generation; 0 for the original.
    pub generation: u32,
    /// Name of its text.
    pub hash: TextHash,
    /// The whole source.
    pub text: Arc<str>,
    /// Keys of the hypotheses applied since the original, oldest first.
    pub steps: Vec<String>,
    /// What was tried and what came of it.
    pub summary: String,
    /// The experiment that decided about it.
    pub experiment: Option<ExperimentId>,
    /// When it was recorded: milliseconds since 1970, UTC.
    pub at_ms: i64,
}

impl Notebook {
    /// Records a candidate. Recording the same number of a run again changes nothing: a run that is resumed just after
    /// the row was written comes to the same candidate once more.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_candidate(&self, candidate: &NewCandidate<'_>) -> Result<(), NotebookError> {
        self.write("recording a candidate", |transaction| {
            let text = texts::keep(transaction, candidate.text, candidate.kernels)?;
            transaction
                .prepare_cached(
                    "INSERT INTO candidates (run, number, parent, reference, generation, text, steps, summary, experiment,
                                             at_ms)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING",
                )?
                .execute(params![
                    candidate.run,
                    candidate.number,
                    candidate.parent,
                    candidate.reference,
                    candidate.generation,
                    text,
                    to_json(candidate.steps)?,
                    candidate.summary,
                    candidate.experiment,
                    now_ms()
                ])
                .map(|_| ())
        })
    }

    /// The population of a run, in order of the numbers.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn population(&self, run: RunId) -> Result<Vec<Candidate>, NotebookError> {
        self.read("reading the population of a run", |connection| {
            connection
                .prepare_cached(
                    "SELECT c.number, c.parent, c.reference, c.generation, c.text, t.text, c.steps, c.summary, c.experiment,
                            c.at_ms
                     FROM candidates c JOIN texts t ON t.hash = c.text WHERE c.run = ?1 ORDER BY c.number",
                )?
                .query_map([run], |row| {
                    let steps: String = row.get(6)?;
                    Ok(Candidate {
                        number: row.get(0)?,
                        parent: row.get(1)?,
                        reference: row.get(2)?,
                        generation: row.get(3)?,
                        hash: row.get(4)?,
                        text: row.get::<_, String>(5)?.into(),
                        steps: from_json(6, &steps)?,
                        summary: row.get(7)?,
                        experiment: row.get(8)?,
                        at_ms: row.get(9)?,
                    })
                })?
                .collect()
        })
    }
}
