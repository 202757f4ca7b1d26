//! Diagnostics: why the file or a candidate does not build, what sanitizers found, mistakes in a benchmark file.

use std::ops::Range;
use std::path::Path;

use hip_syntax::Lines;
use lab::benchmark::Benchmark;
use lab::sanitize::{Fault, Place};
use lab::{Failure, LabError};

use super::edits::lines_carried;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The code cannot be used as it is.
    Error,
    /// Something should be looked at.
    Warning,
    /// About an experiment, not about the code as it is.
    Information,
}

/// Something to show at a place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Bytes of the present text.
    pub range: Range<usize>,
    /// How bad it is.
    pub severity: Severity,
    /// What found it.
    pub code: &'static str,
    /// In words.
    pub message: String,
}

/// A text that was built and the present one: places of the first are shown in the second.
pub struct Places<'a> {
    path: &'a Path,
    now: &'a str,
    lines: Lines,
    carried: Box<dyn Fn(u32) -> u32 + 'a>,
}

impl<'a> Places<'a> {
    /// For a file at `path`.
    pub fn new(path: &'a Path, built: &str, now: &'a str) -> Self {
        let carried: Box<dyn Fn(u32) -> u32> =
            if built == now { Box::new(|line| line) } else { Box::new(lines_carried(built, now)) };
        Self { path, now, lines: Lines::new(now), carried }
    }

    /// Line and column from 1, in bytes; 0 where one is not known.
    fn range(&self, line: u32, column: u32) -> Range<usize> {
        let whole = |line: u32| self.lines.range_of(line, self.now);
        let line = (self.carried)(line.saturating_sub(1)) + 1;
        let Some(range) = whole(line).or_else(|| whole(self.lines.len() as u32)) else { return 0..0 };
        let text = &self.now[range.clone()];
        let mut start = (column.max(1) as usize - 1).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        if column == 0 {
            start = text.len() - text.trim_start().len();
            return range.start + start..range.end;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = text[start..].chars().take_while(|c| is_word(*c)).map(char::len_utf8).sum::<usize>();
        let length = if length == 0 { text[start..].chars().next().map_or(0, char::len_utf8) } else { length };
        range.start + start..range.start + start + length
    }

    fn is_here(&self, file: &Path) -> bool {
        file == self.path
    }
}

/// Why code failed: the compiler's messages at their lines, other failures at the top of `kernel`, which stands there in
/// the present text. `experiment` names the hypothesis where it is not the code as it is that failed.
pub fn of_failure(
    failure: &Failure,
    places: &Places<'_>,
    kernel: Range<usize>,
    experiment: Option<&str>,
) -> Vec<Finding> {
    let (severity, before) = match experiment {
        Some(title) => (Severity::Information, format!("hypothesis \"{title}\": ")),
        None => (Severity::Error, String::new()),
    };
    let Failure::DoesNotCompile { diagnostics } = failure else {
        return vec![Finding { range: kernel, severity, code: "run", message: format!("{before}{failure}") }];
    };
    let finding = |diagnostic: &lab::verdict::Diagnostic| {
        let severity =
            if diagnostic.severity == "warning" && experiment.is_none() { Severity::Warning } else { severity };
        if places.is_here(&diagnostic.file) && diagnostic.line > 0 {
            let range = places.range(diagnostic.line, diagnostic.column);
            Finding { range, severity, code: "build", message: format!("{before}{}", diagnostic.message) }
        } else {
            Finding { range: kernel.clone(), severity, code: "build", message: format!("{before}{diagnostic}") }
        }
    };
    if diagnostics.is_empty() {
        return vec![Finding { range: kernel, severity, code: "build", message: format!("{before}{failure}") }];
    }
    diagnostics.iter().map(finding).collect()
}

/// What sanitizers found.
pub fn of_faults(faults: &[Fault], places: &Places<'_>, kernel: Range<usize>) -> Vec<Finding> {
    let place = |place: &Place| format!("{}:{}: {}", place.file.display(), place.line, place.did);
    let finding = |fault: &Fault| {
        let here = fault.at.as_ref().filter(|at| places.is_here(&at.file));
        let range = here.map_or_else(|| kernel.clone(), |at| places.range(at.line, at.column));
        let mut message = format!("{}: {}", fault.kind, fault.message);
        if let (None, Some(at)) = (here, &fault.at) {
            message.push_str(&format!(" ({})", place(at)));
        }
        if let Some(other) = &fault.other {
            message.push_str(&format!("; the other access: {}", place(other)));
        }
        if fault.times > 1 {
            message.push_str(&format!(" ({} times)", fault.times));
        }
        Finding { range, severity: Severity::Warning, code: "sanitizer", message }
    };
    faults.iter().map(finding).collect()
}

/// Mistakes in a benchmark file.
pub fn of_benchmark_file(path: &Path, text: &str) -> Vec<Finding> {
    let Err(LabError::Usage(message)) = Benchmark::parse(path, text) else { return Vec::new() };
    let places = Places::new(path, text, text);
    // `FILE:LINE:COLUMN: MESSAGE`, or `FILE: MESSAGE` for the file as a whole.
    let rest = message.strip_prefix(&format!("{}:", path.display())).unwrap_or(&message);
    let mut parts = rest.splitn(3, ':');
    let located = (|| {
        let line = parts.next()?.parse().ok()?;
        let column: usize = parts.next()?.parse().ok()?;
        Some((line, column, parts.next()?.trim().to_owned()))
    })();
    let (range, message) = match located {
        Some((line, column, message)) => (places.range(line, byte_column(text, line, column)), message),
        None => (places.range(1, 0), rest.trim().to_owned()),
    };
    vec![Finding { range, severity: Severity::Error, code: "benchmark", message }]
}

/// A column that counts characters, in bytes; both from 1.
fn byte_column(text: &str, line: u32, column: usize) -> u32 {
    let lines = Lines::new(text);
    let line = lines.range_of(line, text).map_or("", |range| &text[range]);
    let before: usize = line.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
    before as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::verdict::Diagnostic;

    #[test]
    fn compiler_messages_follow_their_line() {
        let path = Path::new("/w/a.hip");
        let built = "int a;\nint b = oops;\n";
        let now = "// new\nint a;\nint b = oops;\n";
        let diagnostic = |file: &str, line, column| Diagnostic {
            file: file.into(),
            line,
            column,
            severity: "error".into(),
            message: "unknown".into(),
        };
        let failure =
            Failure::DoesNotCompile { diagnostics: vec![diagnostic("/w/a.hip", 2, 9), diagnostic("/w/b.h", 1, 1)] };
        let findings = of_failure(&failure, &Places::new(path, built, now), 3..6, None);
        assert_eq!(&now[findings[0].range.clone()], "oops");
        assert_eq!((findings[1].range.clone(), findings[1].message.as_str()), (3..6, "/w/b.h:1:1: error: unknown"));
        let tried = of_failure(&failure, &Places::new(path, built, now), 3..6, Some("unroll"));
        assert_eq!(tried[0].severity, Severity::Information);
        assert_eq!(tried[0].message, "hypothesis \"unroll\": unknown");
    }

    #[test]
    fn mistakes_in_a_benchmark_file_stand_at_their_place() {
        let path = Path::new("/w/größe.bench.toml");
        let text = "# größe\nentri = \"sum\"\n";
        let findings = of_benchmark_file(path, text);
        assert_eq!(findings.len(), 1);
        assert_eq!(&text[findings[0].range.clone()], "entri", "{findings:?}");
        assert!(findings[0].message.starts_with("unknown field"), "{findings:?}");
        assert!(of_benchmark_file(path, "[program]\nargs = [\"1\"]\n").is_empty());
    }
}
