//! Messages about a benchmark file, with line and column.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::LabError;

/// A file's text, to turn offsets into lines.
pub(super) struct Located<'a> {
    path: &'a Path,
    text: &'a str,
}

impl<'a> Located<'a> {
    pub(super) fn new(path: &'a Path, text: &'a str) -> Self {
        Self { path, text }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }

    /// Line and column of a byte offset, both from 1; the column counts characters.
    fn line_column(&self, offset: usize) -> (u32, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() as u32 + 1, before[line_start..].chars().count() + 1)
    }

    pub(super) fn line(&self, span: &Range<usize>) -> u32 {
        self.line_column(span.start).0
    }

    /// Whether the value at `span` is written in triple quotes with a line break behind the opening ones.
    pub(super) fn opens_a_multi_line_string(&self, span: &Range<usize>) -> bool {
        let value = self.text.get(span.clone()).unwrap_or_default();
        ["\"\"\"\n", "\"\"\"\r\n", "'''\n", "'''\r\n"].iter().any(|quotes| value.starts_with(quotes))
    }

    /// `FILE:LINE:COLUMN: MESSAGE`.
    pub(super) fn error(&self, span: &Range<usize>, message: impl AsRef<str>) -> LabError {
        let (line, column) = self.line_column(span.start);
        LabError::Usage(format!("{}:{line}:{column}: {}", self.path.display(), message.as_ref()))
    }

    /// An error of the file as a whole.
    pub(super) fn whole(&self, message: impl AsRef<str>) -> LabError {
        LabError::Usage(format!("{}: {}", self.path.display(), message.as_ref()))
    }

    /// What the TOML reader found, with a suggestion for a misspelt name.
    pub(super) fn toml_error(&self, error: &toml::de::Error) -> LabError {
        let message = error.message().replace('\n', ", ");
        let mut quoted = message.split('`').skip(1).step_by(2);
        let hint = match quoted.next() {
            Some(unknown) if message.starts_with("unknown") => did_you_mean(unknown, quoted),
            _ => String::new(),
        };
        match error.span() {
            Some(span) => self.error(&span, format!("{message}{hint}")),
            None => self.whole(format!("{message}{hint}")),
        }
    }
}

/// `; did you mean X?` for the nearest of `known`, or nothing where none is near.
pub(super) fn did_you_mean<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> String {
    let unknown = unknown.to_lowercase();
    known
        .map(|name| (distance(&unknown, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= 1 + name.len().min(unknown.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map_or(String::new(), |(_, name)| format!("; did you mean `{name}`?"))
}

/// Levenshtein's distance between two words.
fn distance(first: &str, second: &str) -> usize {
    let second: Vec<char> = second.chars().collect();
    let mut row: Vec<usize> = (0..=second.len()).collect();
    for (index, letter) in first.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in second.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[second.len()]
}
