//! What a comparison or a run came to.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome of comparing a candidate with its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval of the speed ratio lies above the band that counts as the same.
    Faster,
    /// The whole interval lies below it.
    Slower,
    /// The whole interval lies inside it.
    Same,
    /// The interval is too wide to say.
    Inconclusive,
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        })
    }
}

/// A message of the compiler, in the user's own file and lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// File the message is about.
    pub file: PathBuf,
    /// Line, from 1; 0 where the compiler named none.
    pub line: u32,
    /// Column, from 1; 0 where the compiler named none.
    pub column: u32,
    /// `error`, `fatal error` or `warning`.
    pub severity: String,
    /// The compiler's words.
    pub message: String,
    /// What the compiler adds at other places of the user's files: where something is declared, who asked for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
}

/// A remark of the compiler on one of its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// File the remark is about.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in bytes; 0 where the compiler named none.
    pub column: u32,
    /// The compiler's words.
    pub message: String,
}

impl Diagnostic {
    /// Both say the same of the same place, whatever was added.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        (&self.file, self.line, self.column, &self.severity, &self.message)
            == (&other.file, other.line, other.column, &other.severity, &other.message)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}: {}: {}", self.file.display(), self.line, self.column, self.severity, self.message)
    }
}

/// Why code under test has no time. Every variant ends the run with exit status 1 at the command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// The compiler refused it.
    #[error("does not compile: {}", first_diagnostic(.diagnostics))]
    DoesNotCompile {
        /// The compiler's messages, errors first.
        diagnostics: Vec<Diagnostic>,
    },
    /// It ran and its result is not the expected one.
    #[error("wrong result: {detail}")]
    Wrong {
        /// Which output, which element, got and expected; or the failed self-check's last lines.
        detail: String,
    },
    /// It ended by a signal or a failed allocation.
    #[error("crashed: {detail}")]
    Crashed {
        /// Signal and what is known of the place.
        detail: String,
    },
    /// It did not end within its wall-clock limit and was killed.
    #[error("timed out after {:.1} s and was stopped; raise the limit with --timeout if it needs longer", .limit.as_secs_f64())]
    TimedOut {
        /// The limit that was in force.
        limit: Duration,
    },
    /// It tried what the sandbox does not allow, or the harness caught it cheating.
    #[error("refused: {detail}")]
    Refused {
        /// What it tried.
        detail: String,
    },
}

fn first_diagnostic(diagnostics: &[Diagnostic]) -> String {
    match diagnostics {
        [] => "the compiler gave no reason".into(),
        [one] => one.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}

impl Failure {
    /// The short name shown in tables: `does not compile`, `wrong`, `crashed`, `timed out`, `refused`.
    pub fn label(&self) -> &'static str {
        match self {
            Self::DoesNotCompile { .. } => "does not compile",
            Self::Wrong { .. } => "wrong",
            Self::Crashed { .. } => "crashed",
            Self::TimedOut { .. } => "timed out",
            Self::Refused { .. } => "refused",
        }
    }
}
