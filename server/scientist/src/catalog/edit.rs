//! Changes of a text by byte ranges of the text before the change.

use std::ops::Range;

use tree_sitter::Node;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Edit {
    pub(crate) fn replace(node: Node<'_>, text: impl Into<String>) -> Self {
        Self { range: node.byte_range(), text: text.into() }
    }

    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }
}

/// Applies edits that do not overlap, in whatever order they are given; `None` when two overlap.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> Option<String> {
    apply_within(text, 0..text.len(), edits)
}

/// The part of a text in a range, with the edits that lie inside it applied.
pub(crate) fn apply_within(text: &str, range: Range<usize>, edits: &[Edit]) -> Option<String> {
    let mut ordered: Vec<&Edit> =
        edits.iter().filter(|edit| range.start <= edit.range.start && edit.range.end <= range.end).collect();
    ordered.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut result = String::with_capacity(range.len());
    let mut done = range.start;
    for edit in ordered {
        result.push_str(text.get(done..edit.range.start)?);
        result.push_str(&edit.text);
        done = edit.range.end;
    }
    result.push_str(text.get(done..range.end)?);
    Some(result)
}
