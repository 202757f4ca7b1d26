//! Edits of a text, and the rewrites that are made of them.

use std::ops::Range;
use std::sync::Arc;

use tree_sitter::Node;

use crate::syntax::Syntax;

mod cpu;
mod split;

pub use cpu::{Barriers, CpuSource, cpu, cpu_with, why_on_fibers};
pub use split::Refusal;

/// Replaces bytes of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub text: String,
}

impl Edit {
    /// Replaces `range` by `text`.
    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    /// Puts `text` before the byte at `at`.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at..at, text)
    }
}

/// Why edits cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// Two edits replace the same bytes.
    #[error("the edits at bytes {first:?} and {second:?} overlap; apply them one after the other")]
    Overlap {
        /// The earlier one.
        first: Range<usize>,
        /// The later one.
        second: Range<usize>,
    },
    /// An edit reaches past the text or splits a character.
    #[error(
        "the edit at bytes {range:?} does not lie on character borders of the text ({length} bytes); it was made for another version"
    )]
    Outside {
        /// The edit's range.
        range: Range<usize>,
        /// Length of the text.
        length: usize,
    },
    /// The result has syntax errors that the original does not have.
    #[error("line {line} of the rewritten text does not parse: {near:?}; the rewrite does not fit this code")]
    Broken {
        /// Line of the first new error, from 1.
        line: u32,
        /// The text there.
        near: String,
    },
}

/// Applies `edits`, in any order; insertions at one place keep theirs.
///
/// Fails if two of them overlap or one does not fit the text.
pub fn apply(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut result = String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut done = 0;
    let mut last: Option<&Edit> = None;
    for edit in sorted {
        let Range { start, end } = edit.range;
        if start > end || !text.is_char_boundary(start) || !text.is_char_boundary(end) {
            return Err(EditError::Outside { range: edit.range.clone(), length: text.len() });
        }
        if let Some(first) = last.filter(|_| start < done) {
            return Err(EditError::Overlap { first: first.range.clone(), second: edit.range.clone() });
        }
        result.push_str(&text[done..start]);
        result.push_str(&edit.text);
        done = end;
        last = Some(edit);
    }
    result.push_str(&text[done..]);
    Ok(result)
}

/// Applies `edits` to `syntax` and parses the result; refuses one that has more syntax errors than before, or brackets
/// that no longer match.
pub fn apply_checked(syntax: &Syntax, edits: &[Edit]) -> Result<Syntax, EditError> {
    Before::of(syntax).apply(edits)
}

/// What has to be known of a text to check edits of it, without its tree: where many are checked one after the other, there is
/// one tree at a time.
#[derive(Clone, Debug)]
pub struct Before {
    text: Arc<str>,
    /// What stands where the tree has errors.
    errors: Vec<String>,
    is_balanced: bool,
}

impl Before {
    /// Of a text that was parsed.
    pub fn of(syntax: &Syntax) -> Self {
        let errors = errors(syntax).into_iter().map(|range| syntax.text()[range].to_owned()).collect();
        Self { text: Arc::clone(syntax.text()), errors, is_balanced: syntax.is_balanced() }
    }

    /// As [`apply_checked`].
    ///
    /// # Errors
    /// [`EditError`].
    pub fn apply(&self, edits: &[Edit]) -> Result<Syntax, EditError> {
        let result = Syntax::parse(apply(&self.text, edits)?);
        let after = errors(&result);
        if after.len() > self.errors.len() || (self.is_balanced && !result.is_balanced()) {
            let is_new =
                |range: &&Range<usize>| self.errors.iter().all(|known| *known != result.text()[(*range).clone()]);
            let at = after.iter().find(is_new).or(after.first()).cloned().unwrap_or(0..0);
            let near = result.text()[at.clone()].chars().take(60).collect();
            return Err(EditError::Broken { line: result.line_of(at.start), near });
        }
        Ok(result)
    }
}

/// Bytes of the ERROR and MISSING nodes of the tree, outermost only.
fn errors(syntax: &Syntax) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<Node<'_>> = vec![syntax.tree().root_node()];
    while let Some(node) = open.pop() {
        if node.is_error() || node.is_missing() {
            found.push(node.byte_range());
        } else if node.has_error() {
            let mut cursor = node.walk();
            open.extend(node.children(&mut cursor));
        }
    }
    found.sort_by_key(|range| range.start);
    found
}
