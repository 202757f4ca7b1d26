//! A version of a text put into another: what a candidate changes, as edits of the text as it is by now.

use std::ops::Range;

use similar::{DiffTag, TextDiff};

/// One edit: bytes of the present text, and what stands there afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced.
    pub range: Range<usize>,
    /// By what.
    pub text: String,
}

/// The user changed the same lines in the meantime.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("lines {}..{} were changed since; undo that, or measure the text as it is now", .0.start + 1, .0.end.max(.0.start + 1))]
pub struct Conflict(pub Range<usize>);

/// A run of lines that differ.
#[derive(Clone, Debug)]
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
}

/// The edits that carry what `wanted` changed of `base` over to `now`, which is `base` with changes of its own.
///
/// # Errors
/// [`Conflict`] with lines of `base`, from 0, where both changed the same or adjoining lines.
pub fn carried_over(base: &str, wanted: &str, now: &str) -> Result<Vec<TextEdit>, Conflict> {
    let wanted_diff = TextDiff::from_lines(base, wanted);
    let now_diff = TextDiff::from_lines(base, now);
    let (wanted_hunks, now_hunks) = (hunks(&wanted_diff), hunks(&now_diff));
    let wanted_lines = wanted_diff.new_slices();
    let now_starts = starts(now_diff.new_slices());
    let mut edits = Vec::new();
    for hunk in &wanted_hunks {
        let mut shift = 0isize;
        for other in &now_hunks {
            if other.old.start <= hunk.old.end && hunk.old.start <= other.old.end {
                let touches = other.old.start < hunk.old.end && hunk.old.start < other.old.end;
                if touches || other.old.is_empty() && hunk.old.is_empty() && other.old == hunk.old {
                    return Err(Conflict(hunk.old.clone()));
                }
            }
            if other.old.end <= hunk.old.start {
                shift += other.new.len() as isize - other.old.len() as isize;
            }
        }
        let line = |line: usize| now_starts.get((line as isize + shift).max(0) as usize).copied().unwrap_or(now.len());
        edits.push(TextEdit {
            range: line(hunk.old.start)..line(hunk.old.end),
            text: wanted_lines[hunk.new.clone()].concat(),
        });
    }
    Ok(edits)
}

/// For each line of `old` (from 0) the line of `new` that it became, or the next one that is there.
pub fn lines_carried(old: &str, new: &str) -> impl Fn(u32) -> u32 + use<> {
    let hunks = hunks(&TextDiff::from_lines(old, new));
    move |line| {
        let mut shift = 0i64;
        for hunk in &hunks {
            if (line as usize) < hunk.old.start {
                break;
            }
            if (line as usize) < hunk.old.end {
                let within = (line as usize - hunk.old.start).min(hunk.new.len().saturating_sub(1));
                return (hunk.new.start + within) as u32;
            }
            shift += hunk.new.len() as i64 - hunk.old.len() as i64;
        }
        (i64::from(line) + shift).max(0) as u32
    }
}

/// A change as a unified diff, for people.
pub fn unified(name: &str, old: &str, new: &str) -> String {
    TextDiff::from_lines(old, new).unified_diff().header(name, name).to_string()
}

fn hunks(diff: &TextDiff<'_, '_, '_, str>) -> Vec<Hunk> {
    let changes = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    changes.map(|op| Hunk { old: op.old_range(), new: op.new_range() }).collect()
}

/// Where each line begins, in bytes.
fn starts(lines: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let mut starts = Vec::with_capacity(lines.len());
    for line in lines {
        starts.push(at);
        at += line.len();
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, wanted: &str, now: &str) -> Result<String, Conflict> {
        let mut text = now.to_owned();
        for edit in carried_over(base, wanted, now)?.iter().rev() {
            text.replace_range(edit.range.clone(), &edit.text);
        }
        Ok(text)
    }

    #[test]
    fn an_unchanged_text_becomes_the_candidate() {
        let (base, wanted) = ("a\nb\nc\n", "a\nB\nc\nd\n");
        assert_eq!(merged(base, wanted, base).unwrap(), wanted);
        assert_eq!(merged("a\r\nb\r\n", "a\r\nB\r\n", "a\r\nb\r\n").unwrap(), "a\r\nB\r\n");
        assert_eq!(merged("a", "b", "a").unwrap(), "b");
    }

    #[test]
    fn changes_elsewhere_stay() {
        assert_eq!(
            merged("a\nb\nc\nd\ne\n", "a\nb\nc\nD\ne\n", "top\na\nb\nc\nd\ne\n").unwrap(),
            "top\na\nb\nc\nD\ne\n"
        );
        assert_eq!(merged("a\nb\nc\nd\ne\n", "a\nB\nc\nd\ne\n", "a\nb\nc\nd\n").unwrap(), "a\nB\nc\nd\n");
    }

    #[test]
    fn changes_of_the_same_lines_are_refused() {
        assert_eq!(merged("a\nb\nc\n", "a\nB\nc\n", "a\nx\nc\n"), Err(Conflict(1..2)));
        assert_eq!(merged("a\nb\n", "a\nnew\nb\n", "a\nmine\nb\n"), Err(Conflict(1..1)));
    }

    #[test]
    fn lines_follow_their_text() {
        let carried = lines_carried("a\nb\nc\n", "top\na\nB\nB2\nc\n");
        assert_eq!([0, 1, 2].map(carried), [1, 2, 4]);
    }
}
