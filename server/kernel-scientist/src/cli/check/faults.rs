//! Faults that a sanitizer found, as a compiler would print them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lab::Source;
use lab::sanitize::{Fault, Place};

/// The texts of the user's files, for the lines that are shown.
struct Texts<'a> {
    source: &'a Source,
    /// The source as the user named it.
    named: &'a Path,
}

impl Texts<'_> {
    fn line(&self, place: &Place) -> Option<String> {
        let text = if place.file == self.source.path {
            self.source.text.to_string()
        } else {
            fs::read_to_string(&place.file).ok()?
        };
        text.lines().nth(place.line.checked_sub(1)? as usize).map(str::to_owned)
    }

    fn name(&self, place: &Place) -> PathBuf {
        if place.file == self.source.path { self.named.to_owned() } else { place.file.clone() }
    }

    fn position(&self, place: &Place) -> String {
        format!("{}:{}:{}", self.name(place).display(), place.line, place.column)
    }

    /// The line with a mark below the column.
    fn excerpt(&self, place: &Place, out: &mut String) {
        let Some(line) = self.line(place) else { return };
        let column = (place.column as usize).saturating_sub(1).min(line.len());
        // Tabs are kept so that the mark stands where a terminal shows the column.
        let indent: String = line
            .char_indices()
            .take_while(|(at, _)| *at < column)
            .map(|(_, letter)| if letter == '\t' { '\t' } else { ' ' })
            .collect();
        let _ = writeln!(out, "{:>6} | {line}\n       | {indent}^ {}", place.line, place.did);
    }
}

/// How many faults of one kind between the same two lines are shown. A line with several accesses that lacks a barrier has a
/// fault for each pair of them, and one barrier mends them all.
const SHOWN_OF_A_PAIR_OF_LINES: usize = 2;

/// The faults, each with its places. `named` is the source as the user named it.
pub fn text(faults: &[Fault], source: &Source, named: &Path) -> String {
    let texts = Texts { source, named };
    let mut out = String::new();
    let mut seen: HashMap<_, usize> = HashMap::new();
    for fault in faults {
        let earlier = seen.entry(lines(fault)).or_default();
        *earlier += 1;
        if fault.at.is_some() && *earlier > SHOWN_OF_A_PAIR_OF_LINES {
            continue;
        }
        match &fault.at {
            Some(place) => {
                let _ = writeln!(out, "{}: {}: {}", texts.position(place), words(&fault.kind), fault.message);
                texts.excerpt(place, &mut out);
            }
            None => {
                let _ = writeln!(out, "{}: {}: {}", named.display(), words(&fault.kind), fault.message);
            }
        }
        if let Some(other) = &fault.other {
            let _ = writeln!(out, "{}: {}", texts.position(other), other.did);
            texts.excerpt(other, &mut out);
        }
        let _ = writeln!(out, "  {}\n", circumstances(fault));
    }
    let left_out: usize = seen
        .iter()
        .filter(|((_, at, _), _)| at.is_some())
        .map(|(_, count)| count.saturating_sub(SHOWN_OF_A_PAIR_OF_LINES))
        .sum();
    if left_out > 0 {
        let _ = writeln!(out, "{left_out} more in the same lines; --json has them all\n");
    }
    out
}

/// A file's line.
type Line<'a> = (&'a Path, u32);

/// What a reader would call the same fault: its kind and the two lines.
fn lines(fault: &Fault) -> (&str, Option<Line<'_>>, Option<Line<'_>>) {
    (&fault.kind, fault.at.as_ref().map(line), fault.other.as_ref().map(line))
}

fn line(place: &Place) -> Line<'_> {
    (&place.file, place.line)
}

/// The kind as it is read: `out of bounds`.
fn words(kind: &str) -> String {
    match kind {
        "block_race" => "race between blocks".into(),
        "uninitialised_shared" => "uninitialised shared memory".into(),
        kind => kind.replace('_', " "),
    }
}

/// `in kernel k, block (1,0,0), work-items (3,0,0) and (4,0,0); 12 times`.
fn circumstances(fault: &Fault) -> String {
    let triple = |[x, y, z]: &[u64; 3]| format!("({x},{y},{z})");
    let mut text = match &fault.kernel {
        Some(kernel) => format!("in kernel {kernel}"),
        None => "in host code".to_owned(),
    };
    let other_block = fault.other.as_ref().and_then(|place| place.block).filter(|other| Some(*other) != fault.block);
    if let Some(block) = &fault.block {
        text.push_str(&match other_block {
            Some(other) => format!(", blocks {} and {}", triple(block), triple(&other)),
            None => format!(", block {}", triple(block)),
        });
    }
    let items: Vec<String> = fault.work_items.iter().map(triple).collect();
    match items.as_slice() {
        [] => {}
        [one] => text.push_str(&format!(", work-item {one}")),
        all => text.push_str(&format!(", work-items {}", all.join(" and "))),
    }
    if fault.times > 1 {
        text.push_str(&format!("; {} times in all", fault.times));
    }
    text
}
