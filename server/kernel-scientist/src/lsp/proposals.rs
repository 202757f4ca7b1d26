//! Versions of a document that were measured and can be put into it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hip_syntax::{PositionEncoding, Text};

use super::edits::{carried_over, unified};
use super::execute::name_of;
use super::to_proto::{EditAbilities, WorkspaceChange};

/// Proposals that are kept; older ones can be found in the notebook.
const MOST: usize = 64;

/// A version that can be applied.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The document.
    pub uri: String,
    /// Its file.
    pub path: PathBuf,
    /// The text that the version was made of.
    pub base: Arc<str>,
    /// The version.
    pub text: Arc<str>,
    /// What it is, in one line.
    pub title: String,
}

/// The proposals of a session, by number.
#[derive(Debug, Default)]
pub struct Proposals {
    kept: BTreeMap<u64, Proposal>,
    last: u64,
}

impl Proposals {
    /// Keeps one and gives its number.
    pub fn keep(&mut self, proposal: Proposal) -> u64 {
        self.last += 1;
        self.kept.insert(self.last, proposal);
        if self.kept.len() > MOST {
            self.kept.pop_first();
        }
        self.last
    }

    /// One of them.
    pub fn get(&self, number: u64) -> Result<&Proposal, String> {
        self.kept.get(&number).ok_or_else(|| {
            "that version is not at hand any more; `kernel-scientist report FILE` has what was recorded of it"
                .to_owned()
        })
    }
}

/// The document that a change is made for, as it is now.
pub struct Goal {
    /// Its version and its text, where it is open.
    pub open: Option<(i32, Text)>,
    /// How the client counts columns.
    pub encoding: PositionEncoding,
    /// What the client can do with a change.
    pub abilities: EditAbilities,
}

impl Proposal {
    /// What applying it changes in the document as it is now, or in its file where it is closed.
    ///
    /// # Errors
    /// When the same lines were changed since, or the file cannot be read.
    pub fn change(&self, goal: Goal, needs_confirmation: bool) -> Result<WorkspaceChange, String> {
        let (version, text) = match goal.open {
            Some((version, text)) => (Some(version), text),
            None => {
                let text = std::fs::read_to_string(&self.path);
                (None, Text::new(&text.map_err(|error| format!("{}: cannot be read: {error}", self.path.display()))?))
            }
        };
        let edits = carried_over(&self.base, &self.text, &text.to_string())
            .map_err(|conflict| format!("{}: {conflict}", name_of(&self.path)))?;
        Ok(WorkspaceChange {
            label: self.title.clone(),
            uri: self.uri.clone(),
            version,
            text,
            encoding: goal.encoding,
            edits,
            creates: false,
            abilities: goal.abilities,
            needs_confirmation,
        })
    }

    /// What it changes of the text that it was made of, as a unified diff.
    pub fn diff(&self) -> String {
        unified(&self.path.display().to_string(), &self.base, &self.text)
    }
}
