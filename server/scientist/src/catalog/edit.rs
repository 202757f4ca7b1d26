//! Edits by nodes of the tree.

use std::ops::Range;

use hip_syntax::Edit;
use hip_syntax::rewrite;
use tree_sitter::Node;

/// Replaces what a node stands for.
pub(crate) fn replace(node: Node<'_>, text: impl Into<String>) -> Edit {
    Edit::replace(node.byte_range(), text)
}

/// A text of several lines as it stands under another indentation: lines after the first are moved from `was` to `now`.
pub(crate) fn moved(text: &str, was: &str, now: &str) -> String {
    let line = |(number, line): (usize, &str)| match line.strip_prefix(was) {
        Some(rest) if number > 0 && !line.trim().is_empty() => format!("{now}{rest}"),
        _ => line.to_owned(),
    };
    text.split('\n').enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// The part of a text in a range, with those edits applied that lie inside it; as it was where two of them overlap.
pub(crate) fn within(text: &str, range: Range<usize>, edits: &[Edit]) -> String {
    let inside = edits.iter().filter(|edit| range.start <= edit.range.start && edit.range.end <= range.end);
    let moved =
        inside.map(|edit| Edit::replace(edit.range.start - range.start..edit.range.end - range.start, &*edit.text));
    let part = &text[range.clone()];
    rewrite::apply(part, &moved.collect::<Vec<_>>()).unwrap_or_else(|_| part.to_owned())
}
