//! Differences between versions of the source, by line, with the changed part of a line marked.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::data::{CandidateFacts, ReportData};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// What one version changed of another.
#[derive(Debug, Serialize)]
pub struct Diff {
    heading: String,
    added: usize,
    removed: usize,
    hunks: Vec<Vec<DiffLine>>,
    is_open: bool,
}

#[derive(Debug, Serialize)]
struct DiffLine {
    kind: &'static str,
    mark: &'static str,
    old: String,
    new: String,
    /// The part before the change within the line.
    before: String,
    /// The part that changed; empty where the whole line did or none of it.
    changed: String,
    /// The part after it.
    after: String,
}

/// From the original to the shown candidate at once, and each step of its line where there is more than one.
pub fn diffs(report: &ReportData) -> Vec<Diff> {
    let Some(shown) = report.shown() else { return Vec::new() };
    let line = report.lineage(shown.number);
    let Some(original) = line.first() else { return Vec::new() };
    let whole = diff(format!("#{} → #{}: everything", original.number, shown.number), original, shown, true);
    let steps = line.windows(2).map(|pair| {
        diff(format!("#{} → #{}: {}", pair[0].number, pair[1].number, pair[1].title), pair[0], pair[1], false)
    });
    let steps: Vec<Diff> = if line.len() > 2 { steps.collect() } else { Vec::new() };
    std::iter::once(whole).chain(steps).collect()
}

fn diff(heading: String, old: &CandidateFacts, new: &CandidateFacts, is_open: bool) -> Diff {
    let text_diff = TextDiff::from_lines(old.text.as_ref(), new.text.as_ref());
    let mut hunks: Vec<Vec<DiffLine>> = Vec::new();
    for group in text_diff.grouped_ops(CONTEXT) {
        let lines: Vec<DiffLine> = group
            .iter()
            .flat_map(|operation| text_diff.iter_changes(operation))
            .map(|change| {
                let (kind, mark) = match change.tag() {
                    ChangeTag::Equal => ("same", " "),
                    ChangeTag::Delete => ("removed", "−"),
                    ChangeTag::Insert => ("added", "+"),
                };
                let number = |index: Option<usize>| index.map_or_else(String::new, |index| (index + 1).to_string());
                DiffLine {
                    kind,
                    mark,
                    old: number(change.old_index()),
                    new: number(change.new_index()),
                    before: change.value().trim_end_matches(['\n', '\r']).to_owned(),
                    changed: String::new(),
                    after: String::new(),
                }
            })
            .collect();
        hunks.push(lines);
    }
    hunks.iter_mut().for_each(|hunk| mark_changes(hunk));
    let count = |kind: &str| hunks.iter().flatten().filter(|line| line.kind == kind).count();
    Diff { heading, added: count("added"), removed: count("removed"), hunks, is_open }
}

/// Marks the changed part in each removed line that has an added one for it: as many of each, one block after the other.
fn mark_changes(lines: &mut [DiffLine]) {
    let mut at = 0;
    while at < lines.len() {
        let run = |from: usize, kind: &str| lines[from..].iter().take_while(|line| line.kind == kind).count();
        let removed = run(at, "removed");
        let added = run(at + removed, "added");
        if removed == added {
            for index in at..at + removed {
                let (old, new) = lines.split_at_mut(index + removed);
                mark_pair(&mut old[index], &mut new[0]);
            }
        }
        at += (removed + added).max(1);
    }
}

fn mark_pair(old: &mut DiffLine, new: &mut DiffLine) {
    let (a, b): (Vec<char>, Vec<char>) = (old.before.chars().collect(), new.before.chars().collect());
    let prefix = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let shorter = a.len().min(b.len()) - prefix;
    let suffix = a.iter().rev().zip(b.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
    let in_common =
        a[..prefix].iter().chain(&a[a.len() - suffix..]).filter(|character| !character.is_whitespace()).count();
    // Lines with little in common were replaced, not edited; marking nearly all of them would only be noise.
    if in_common * 3 < a.len().min(b.len()) {
        return;
    }
    for (line, characters) in [(old, a), (new, b)] {
        line.before = characters[..prefix].iter().collect();
        line.changed = characters[prefix..characters.len() - suffix].iter().collect();
        line.after = characters[characters.len() - suffix..].iter().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::Standing;
    use super::*;

    fn candidate(number: u32, text: &str) -> CandidateFacts {
        CandidateFacts {
            number,
            parent: number.checked_sub(1),
            reference: None,
            generation: number,
            title: String::new(),
            summary: String::new(),
            standing: Standing::Faster,
            verdict: String::new(),
            speed: None,
            times: Vec::new(),
            text: text.into(),
        }
    }

    fn rendered(old: &str, new: &str) -> Vec<String> {
        diff(String::new(), &candidate(0, old), &candidate(1, new), false)
            .hunks
            .into_iter()
            .flatten()
            .map(|line| format!("{}{}[{}]{}", line.mark, line.before, line.changed, line.after))
            .collect()
    }

    #[test]
    fn edited_lines_have_their_changed_part_marked() {
        let (old, new) = ("a\nfloat tile[16][16];\nb\n", "a\nfloat tile[16][17];\nb\n");
        assert_eq!(rendered(old, new), [" a[]", "−float tile[16][1[6]];", "+float tile[16][1[7]];", " b[]"]);
    }

    #[test]
    fn replaced_and_added_lines_are_marked_as_a_whole() {
        assert_eq!(rendered("one();\n", "x = two;\n"), ["−one();[]", "+x = two;[]"]);
        assert_eq!(rendered("a\n", "a\nb\nc\n"), [" a[]", "+b[]", "+c[]"]);
    }

    #[test]
    fn texts_without_a_last_line_end_and_empty_ones_work() {
        assert_eq!(rendered("", "a"), ["+a[]"]);
        assert_eq!(rendered("same", "same"), Vec::<String>::new());
    }
}
