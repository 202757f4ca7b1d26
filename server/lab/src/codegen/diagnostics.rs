//! Clang's messages on standard error, read back: errors and warnings, and the resource remarks.

use std::path::PathBuf;

use crate::verdict::Diagnostic;

/// The flag that marks a resource remark's lines.
const REMARK_FLAG: &str = " [-Rpass-analysis=kernel-resource-usage]";

/// What the compiler said.
#[derive(Debug, Default)]
pub(super) struct Messages {
    diagnostics: Vec<Diagnostic>,
    /// One for each function with code, kernels and device functions alike.
    pub remarks: Vec<Remark>,
}

/// The compiler's remark about one function's resources.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remark {
    /// Linker name.
    pub symbol: String,
    /// File of the function's body.
    pub file: PathBuf,
    /// Line where the function's body opens, from 1.
    pub line: u32,
    /// The figures as `(label, value)`, such as `("Occupancy [waves/SIMD]", "8")`.
    fields: Vec<(String, String)>,
}

impl Remark {
    /// The figure whose label begins with `label`.
    pub fn figure(&self, label: &str) -> Option<u32> {
        self.fields.iter().find(|(name, _)| name.starts_with(label))?.1.parse().ok()
    }
}

impl Messages {
    /// Reads everything that clang wrote with `-fno-caret-diagnostics -fno-color-diagnostics`.
    pub fn parse(stderr: &str) -> Self {
        let mut messages = Self::default();
        for line in stderr.lines() {
            let Some(diagnostic) = parse_line(line) else { continue };
            match diagnostic.severity.as_str() {
                "remark" => messages.add_remark_line(diagnostic),
                "error" | "fatal error" | "warning" => messages.diagnostics.push(diagnostic),
                _ => {}
            }
        }
        messages
    }

    /// Errors alone.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity != "warning")
    }

    /// All messages, errors first.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let warnings = self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == "warning");
        self.errors().chain(warnings).cloned().collect()
    }

    fn add_remark_line(&mut self, diagnostic: Diagnostic) {
        let Some((label, value)) = diagnostic.message.strip_suffix(REMARK_FLAG).and_then(|text| text.split_once(": "))
        else {
            return;
        };
        let (label, value) = (label.trim(), value.trim());
        if label == "Function Name" {
            self.remarks.push(Remark {
                symbol: value.to_owned(),
                file: diagnostic.file,
                line: diagnostic.line,
                fields: Vec::new(),
            });
        } else if let Some(remark) = self.remarks.last_mut() {
            remark.fields.push((label.to_owned(), value.to_owned()));
        }
    }
}

/// Reads `FILE:LINE:COLUMN: SEVERITY: MESSAGE`, or the driver's `clang-19: SEVERITY: MESSAGE`.
fn parse_line(line: &str) -> Option<Diagnostic> {
    let (position, place, severity) = ["fatal error", "error", "warning", "remark", "note"]
        .into_iter()
        .filter_map(|severity| {
            let at = line.find(&format!(": {severity}: "))?;
            Some((at, &line[..at], severity))
        })
        .min_by_key(|(at, ..)| *at)?;
    let message = line[position + severity.len() + 4..].to_owned();
    let (file, line, column) = split_place(place);
    Some(Diagnostic { file, line, column, severity: severity.to_owned(), message })
}

/// Splits `FILE:LINE:COLUMN` from the right, since a file's name may hold colons.
fn split_place(place: &str) -> (PathBuf, u32, u32) {
    let mut parts = place.rsplitn(3, ':');
    let (column, line, file) = (parts.next(), parts.next(), parts.next());
    let number = |part: Option<&str>| part.and_then(|text| text.parse().ok());
    match (file, number(line), number(column)) {
        (Some(file), Some(line), Some(column)) => (file.into(), line, column),
        _ => (place.into(), 0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_into_place_severity_and_message() {
        for (line, expected) in [
            (
                "/a/k.hip:2:33: error: local memory (80000) exceeds limit",
                Some(("/a/k.hip", 2, 33, "error", "local memory (80000) exceeds limit")),
            ),
            (
                "/a:b/k.hip:2:3: fatal error: 'x: error: y.h' file not found",
                Some(("/a:b/k.hip", 2, 3, "fatal error", "'x: error: y.h' file not found")),
            ),
            (
                "clang-19: error: unknown argument: '--bogus'",
                Some(("clang-19", 0, 0, "error", "unknown argument: '--bogus'")),
            ),
            (
                "/a/k.hip:5:40: note: in instantiation of 'bad<5>' requested here",
                Some(("/a/k.hip", 5, 40, "note", "in instantiation of 'bad<5>' requested here")),
            ),
            ("In file included from /a/k.hip:1:", None),
            ("1 warning generated when compiling for gfx942.", None),
            ("", None),
        ] {
            let got = parse_line(line);
            let got = got.as_ref().map(|d| (d.file.to_str().unwrap(), d.line, d.column, &*d.severity, &*d.message));
            assert_eq!(got, expected, "{line}");
        }
    }

    #[test]
    fn errors_come_before_warnings_and_notes_are_left_out() {
        let messages = Messages::parse("a.hip:1:1: warning: w\na.hip:2:1: note: n\na.hip:3:1: error: e\n");
        let severities: Vec<_> = messages.diagnostics().into_iter().map(|d| d.severity).collect();
        assert_eq!(severities, ["error", "warning"]);
    }

    #[test]
    fn remarks_are_gathered_by_function() {
        let line = |text: &str| format!("k.hip:13:1: remark: {text}{REMARK_FLAG}\n");
        let text = [
            line("Function Name: _Z5plainPfi"),
            line("    VGPRs: 77"),
            line("    Occupancy [waves/SIMD]: 6"),
            line("Function Name: k"),
        ];
        let messages = Messages::parse(&text.concat());
        let [plain, other] = messages.remarks.as_slice() else { panic!("{messages:?}") };
        assert_eq!((plain.symbol.as_str(), plain.line), ("_Z5plainPfi", 13));
        assert_eq!(
            (plain.figure("VGPRs"), plain.figure("Occupancy"), plain.figure("AGPRs")),
            (Some(77), Some(6), None)
        );
        assert_eq!(other.figure("VGPRs"), None);
    }
}
