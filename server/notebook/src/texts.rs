//! Source texts, each kept once, and the fingerprints of the kernels in them.

use std::fmt;
use std::sync::Arc;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::error::NotebookError;
use crate::store::Notebook;

/// The BLAKE3 hash of a text, in hexadecimal: its name in the notebook.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TextHash(String);

impl TextHash {
    /// The hash of `text`.
    pub fn of(text: &str) -> Self {
        Self(blake3::hash(text.as_bytes()).to_hex().to_string())
    }
}

impl fmt::Display for TextHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl ToSql for TextHash {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for TextHash {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        String::column_result(value).map(Self)
    }
}

/// One kernel of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFingerprint {
    /// The kernel's name with its namespaces, without template arguments.
    pub kernel: String,
    /// Hash over the tokens of the kernel and of what it uses in the file.
    pub fingerprint: String,
}

impl Notebook {
    /// Keeps a text and the fingerprints of its kernels; keeping the same text again changes nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_text(&self, text: &str, kernels: &[KernelFingerprint]) -> Result<TextHash, NotebookError> {
        self.write("keeping a version of the source", |transaction| keep(transaction, text, kernels))
    }

    /// A text by its hash.
    ///
    /// # Errors
    /// [`NotebookError::Missing`] when there is none of that hash.
    pub fn text(&self, hash: &TextHash) -> Result<Arc<str>, NotebookError> {
        let found: Option<String> = self.read("reading a version of the source", |connection| {
            connection.query_row("SELECT text FROM texts WHERE hash = ?1", [hash], |row| row.get(0)).optional()
        })?;
        found
            .map(Arc::from)
            .ok_or_else(|| NotebookError::Missing { path: self.path().to_path_buf(), what: format!("text {hash}") })
    }

    /// The fingerprints recorded for a text.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn kernels(&self, hash: &TextHash) -> Result<Vec<KernelFingerprint>, NotebookError> {
        self.read("reading fingerprints", |connection| {
            connection
                .prepare_cached("SELECT kernel, fingerprint FROM text_kernels WHERE text = ?1 ORDER BY kernel")?
                .query_map([hash], |row| Ok(KernelFingerprint { kernel: row.get(0)?, fingerprint: row.get(1)? }))?
                .collect()
        })
    }
}

/// Keeps a text inside the caller's transaction.
pub(crate) fn keep(connection: &Connection, text: &str, kernels: &[KernelFingerprint]) -> rusqlite::Result<TextHash> {
    let hash = TextHash::of(text);
    connection
        .prepare_cached("INSERT INTO texts (hash, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
        .execute(params![hash, text])?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO text_kernels (text, kernel, fingerprint) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for kernel in kernels {
        insert.execute(params![hash, kernel.kernel, kernel.fingerprint])?;
    }
    Ok(hash)
}
