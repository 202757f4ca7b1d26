//! Diagnostics: why the file or a candidate does not build, what sanitizers found, mistakes in a benchmark file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hip_syntax::{Lines, Splice, Syntax};
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

/// What found a mistake that the compiler told.
pub const BUILD: &str = "build";

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
    /// Other places that have to do with it.
    pub related: Vec<Related>,
}

impl Finding {
    /// The text was edited.
    pub fn carry(&mut self, splice: &Splice) {
        let carry = |range: &mut Range<usize>| *range = splice.clamp(range.start)..splice.clamp(range.end);
        carry(&mut self.range);
        for related in &mut self.related {
            if let RelatedPlace::Here(range) = &mut related.place {
                carry(range);
            }
        }
    }
}

/// A place that has to do with a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where.
    pub place: RelatedPlace,
    /// What is there.
    pub message: String,
}

/// Where something related is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelatedPlace {
    /// In the same document, in bytes of the present text.
    Here(Range<usize>),
    /// In another file.
    Elsewhere {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u32,
        /// Column, from 1; 0 for the whole line.
        column: u32,
    },
}

impl std::fmt::Display for Related {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            RelatedPlace::Here(_) => out.write_str(&self.message),
            RelatedPlace::Elsewhere { path, line, .. } => write!(out, "{}:{line}: {}", path.display(), self.message),
        }
    }
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
        // A string is marked as a whole, as a word is.
        if let Some(end) = text[start..].strip_prefix('"').and_then(|rest| rest.find('"')) {
            return range.start + start..range.start + start + end + 2;
        }
        let length = text[start..].chars().take_while(|c| is_word(*c)).map(char::len_utf8).sum::<usize>();
        let length = if length == 0 { text[start..].chars().next().map_or(0, char::len_utf8) } else { length };
        range.start + start..range.start + start + length
    }

    fn is_here(&self, file: &Path) -> bool {
        file == self.path
    }

    fn related(&self, file: &Path, line: u32, column: u32, message: String) -> Related {
        let place = if self.is_here(file) {
            RelatedPlace::Here(self.range(line, column))
        } else {
            RelatedPlace::Elsewhere { path: file.to_owned(), line, column }
        };
        Related { place, message }
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
        let message = format!("{before}{failure}");
        return vec![Finding { range: kernel, severity, code: "run", message, related: Vec::new() }];
    };
    let finding = |diagnostic: &lab::verdict::Diagnostic| {
        let severity =
            if diagnostic.severity == "warning" && experiment.is_none() { Severity::Warning } else { severity };
        let notes = diagnostic.notes.iter();
        let related =
            notes.map(|note| places.related(&note.file, note.line, note.column, note.message.clone())).collect();
        let (range, words) = if places.is_here(&diagnostic.file) && diagnostic.line > 0 {
            (places.range(diagnostic.line, diagnostic.column), diagnostic.message.clone())
        } else {
            (kernel.clone(), diagnostic.to_string())
        };
        Finding { range, severity, code: BUILD, message: format!("{before}{words}"), related }
    };
    if diagnostics.is_empty() {
        let message = format!("{before}{failure}");
        return vec![Finding { range: kernel, severity, code: BUILD, message, related: Vec::new() }];
    }
    diagnostics.iter().map(finding).collect()
}

/// What sanitizers found.
pub fn of_faults(faults: &[Fault], places: &Places<'_>, kernel: Range<usize>) -> Vec<Finding> {
    let related = |place: &Place| places.related(&place.file, place.line, place.column, place.did.clone());
    let finding = |fault: &Fault| {
        let here = fault.at.as_ref().filter(|at| places.is_here(&at.file));
        let range = here.map_or_else(|| kernel.clone(), |at| places.range(at.line, at.column));
        let mut message = format!("{}: {}", fault.kind, fault.message);
        if fault.times > 1 {
            message.push_str(&format!(" ({} times)", fault.times));
        }
        // Where it was noticed in another file, that place is one to go to as well.
        let noticed = fault.at.as_ref().filter(|_| here.is_none());
        let related = noticed.into_iter().chain(&fault.other).map(related).collect();
        Finding { range, severity: Severity::Warning, code: "sanitizer", message, related }
    };
    faults.iter().map(finding).collect()
}

/// Mistakes in a benchmark file.
pub fn of_benchmark_file(path: &Path, text: &str) -> Vec<Finding> {
    match Benchmark::parse(path, text) {
        Err(LabError::Usage(message)) => of_what_is_said(path, text, &message),
        _ => Vec::new(),
    }
}

/// Whether a message is about a file, which it names as `FILE:`.
pub fn names(path: &Path, message: &str) -> bool {
    message.contains(&format!("{}:", path.display()))
}

/// What a message says of a benchmark file: a line for each thing, as `FILE:LINE:COLUMN: MESSAGE`, `FILE:LINE: MESSAGE` or
/// `FILE: MESSAGE`. Compilers say how bad it is before the message, and their columns are those of what was made of the file.
pub fn of_what_is_said(path: &Path, text: &str, message: &str) -> Vec<Finding> {
    let places = Places::new(path, text, text);
    let name = format!("{}:", path.display());
    let mut found: Vec<Finding> = Vec::new();
    for said in message.lines() {
        let Some((_, rest)) = said.split_once(&name) else {
            // It goes on on the next line.
            if let Some(last) = found.last_mut() {
                last.message.push('\n');
                last.message.push_str(said);
            }
            continue;
        };
        let (line, rest) = number_before_colon(rest);
        let (column, rest) = number_before_colon(rest);
        let rest = rest.trim();
        let (severity, words) = match rest.split_once(": ") {
            Some(("error" | "fatal error", words)) => (Some(Severity::Error), words),
            Some(("warning", words)) => (Some(Severity::Warning), words),
            _ => (None, rest),
        };
        let range = match (line, column, severity) {
            (Some(line), Some(column), None) => places.range(line, byte_column(text, line, column as usize)),
            (line, ..) => places.range(line.unwrap_or(1), 0),
        };
        let (severity, message) = (severity.unwrap_or(Severity::Error), words.to_owned());
        found.push(Finding { range, severity, code: "benchmark", message, related: Vec::new() });
    }
    found
}

/// `12` and what follows, of `12: more`.
fn number_before_colon(text: &str) -> (Option<u32>, &str) {
    let number = text.split_once(':').and_then(|(number, rest)| Some((number.trim().parse().ok()?, rest)));
    number.map_or((None, text), |(number, rest)| (Some(number), rest))
}

/// What a benchmark file calls and the source beside it does not even name. A source that includes files of its own may have
/// it there.
pub fn of_entry(path: &Path, text: &str, source: &Path, source_text: &str) -> Vec<Finding> {
    let Ok(Benchmark { entry: Some(entry), .. }) = Benchmark::parse(path, text) else { return Vec::new() };
    let called = entry.name().split('<').next().unwrap_or_default().trim();
    let called = called.rsplit("::").next().unwrap_or(called);
    let syntax = Syntax::without_tree(source_text);
    let functions = syntax.functions().iter().map(|function| function.name.as_str());
    let names: BTreeSet<&str> = functions.chain(syntax.kernels().iter().map(|kernel| kernel.name.as_str())).collect();
    let includes_own = source_text.lines().any(|line| {
        let directive = line.trim_start().strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix("include"));
        directive.is_some_and(|file| file.trim_start().starts_with('"'))
    });
    // A macro may make a function of the name.
    let is_named = source_text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == called);
    if includes_own || is_named {
        return Vec::new();
    }
    let quoted = format!("\"{}\"", entry.name());
    let start = text.find(&quoted).unwrap_or_default();
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let known = if names.is_empty() { "nothing".to_owned() } else { Vec::from_iter(names).join(", ") };
    let message = format!("{name} has no function or kernel {called} that could be called; it has {known}");
    let range = start..start + if text[start..].starts_with(&quoted) { quoted.len() } else { 0 };
    vec![Finding { range, severity: Severity::Error, code: "benchmark", message, related: Vec::new() }]
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
    use hip_syntax::{Change, Position, PositionEncoding, Text};
    use lab::verdict::{Diagnostic, Note};

    use super::*;

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
            notes: vec![Note { file: "/w/a.hip".into(), line: 1, column: 5, message: "declared here".into() }],
        };
        let failure =
            Failure::DoesNotCompile { diagnostics: vec![diagnostic("/w/a.hip", 2, 9), diagnostic("/w/b.h", 1, 1)] };
        let findings = of_failure(&failure, &Places::new(path, built, now), 3..6, None);
        assert_eq!(&now[findings[0].range.clone()], "oops");
        let RelatedPlace::Here(declared) = &findings[0].related[0].place else { panic!("{findings:?}") };
        assert_eq!((&now[declared.clone()], findings[0].related[0].message.as_str()), ("a", "declared here"));
        assert_eq!((findings[1].range.clone(), findings[1].message.as_str()), (3..6, "/w/b.h:1:1: error: unknown"));
        let tried = of_failure(&failure, &Places::new(path, built, now), 3..6, Some("unroll"));
        assert_eq!(tried[0].severity, Severity::Information);
        assert_eq!(tried[0].message, "hypothesis \"unroll\": unknown");
    }

    #[test]
    fn words_and_strings_are_marked_as_a_whole() {
        let text = "type = \"flaot\" # what\ncount = \"no end\n";
        let places = Places::new(Path::new("/w/a.bench.toml"), text, text);
        for (line, column, marked) in [(1, 1, "type"), (1, 8, "\"flaot\""), (1, 9, "flaot"), (2, 9, "\"")] {
            assert_eq!(&text[places.range(line, column)], marked);
        }
    }

    #[test]
    fn findings_stay_at_what_they_are_about() {
        let mut text = Text::new("int a;\nint b = oops;\n");
        let related = Related { place: RelatedPlace::Here(4..5), message: "declared here".into() };
        let (range, message, related) = (15..19, "unknown".to_owned(), vec![related]);
        let mut finding = Finding { range, severity: Severity::Error, code: BUILD, message, related };
        let at = Position::new(0, 0);
        let change = Change { range: Some(at..at), text: "// new\n".into() };
        finding.carry(&text.change(&change, PositionEncoding::Utf8));
        let now = text.to_string();
        let RelatedPlace::Here(declared) = &finding.related[0].place else { panic!("{finding:?}") };
        assert_eq!((&now[finding.range.clone()], &now[declared.clone()]), ("oops", "a"));
    }

    #[test]
    fn both_accesses_of_a_race_are_places_to_go_to() {
        let path = Path::new("/w/a.hip");
        let text = "t[x] = 1;\ny = t[x + 1];\n";
        let place = |file: &str, line, did: &str| Place {
            file: file.into(),
            line,
            column: 1,
            did: did.into(),
            block: None,
            work_item: None,
        };
        let fault = Fault {
            kind: "race".into(),
            message: "two work-items use one element without a barrier between them".into(),
            kernel: Some("k".into()),
            at: Some(place("/w/a.hip", 2, "read here")),
            other: Some(place("/w/a.hip", 1, "written here")),
            block: None,
            work_items: Vec::new(),
            times: 3,
        };
        let in_header = Fault { at: Some(place("/w/h.h", 7, "read here")), times: 1, ..fault.clone() };
        let findings = of_faults(&[fault, in_header], &Places::new(path, text, text), 0..1);
        assert_eq!(&text[findings[0].range.clone()], "y");
        assert!(findings[0].message.ends_with("(3 times)"), "{findings:?}");
        let RelatedPlace::Here(written) = &findings[0].related[0].place else { panic!("{findings:?}") };
        assert_eq!(&text[written.clone()], "t");
        let told: Vec<String> = findings[1].related.iter().map(ToString::to_string).collect();
        assert_eq!(told, ["/w/h.h:7: read here", "written here"]);
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

    #[test]
    fn what_jobs_say_of_a_benchmark_file_stands_at_its_lines() {
        let path = Path::new("/w/a.bench.toml");
        let text = "entry = \"k\"\n  count = \"m\"\n[cost]\nflops = \"1\"\n";
        let said = "/w/a.bench.toml:2:11: error: unknown name m\n/w/a.bench.toml:4: a block of 0 is not possible\n\
                    /w/a.bench.toml: every element is NaN;\nchoose another fill";
        assert!(names(path, said) && !names(Path::new("/w/b.bench.toml"), said));
        let found = of_what_is_said(path, text, said);
        let told: Vec<(&str, &str)> =
            found.iter().map(|one| (&text[one.range.clone()], one.message.as_str())).collect();
        assert_eq!(
            told,
            [
                ("count = \"m\"", "unknown name m"),
                ("flops = \"1\"", "a block of 0 is not possible"),
                ("entry = \"k\"", "every element is NaN;\nchoose another fill")
            ]
        );
    }

    #[test]
    fn a_benchmark_file_that_calls_what_is_not_there_is_told_at_that_name() {
        let (path, source) = (Path::new("/w/a.bench.toml"), Path::new("/w/a.hip"));
        let text = "entry = \"launch\"\nargument = [{ name = \"x\", kind = \"inout\", type = \"float\", count = \"n\" }]\n\
                    shape = [{ n = 64 }]\n";
        assert_eq!(of_benchmark_file(path, text), []);
        let of = |source_text: &str| of_entry(path, text, source, source_text);
        let found = of("__global__ void k(float* x) {}\nvoid lunch(float* x) {}\n");
        assert_eq!(&text[found[0].range.clone()], "\"launch\"");
        assert_eq!(found[0].message, "a.hip has no function or kernel launch that could be called; it has k, lunch");
        assert_eq!(of("void launch(float* x) {}\n"), []);
        for elsewhere in ["#include \"launches.h\"\n", "#  include \"launches.h\"\n", "LAUNCHER(launch)\n"] {
            assert_eq!(of(elsewhere), [], "it may be there");
        }
    }
}
