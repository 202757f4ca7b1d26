//! The compiler's remarks on the resources of each function, read from its messages.

use std::path::PathBuf;

/// What marks a line of a remark, before and after its text.
const SEVERITY: &str = ": remark: ";
const FLAG: &str = " [-Rpass-analysis=kernel-resource-usage]";

/// The remark about one function, a kernel or a device function.
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

/// Every remark in the compiler's output, which was asked for with `-Rpass-analysis=kernel-resource-usage`.
pub(super) fn parse(output: &str) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for line in output.lines() {
        let Some((place, label, value)) = parse_line(line) else { continue };
        if label == "Function Name" {
            let (file, line) = split_place(place);
            remarks.push(Remark { symbol: value.to_owned(), file, line, fields: Vec::new() });
        } else if let Some(remark) = remarks.last_mut() {
            remark.fields.push((label.to_owned(), value.to_owned()));
        }
    }
    remarks
}

/// Splits `PLACE: remark:   LABEL: VALUE [FLAG]`.
fn parse_line(line: &str) -> Option<(&str, &str, &str)> {
    let (place, text) = line.strip_suffix(FLAG)?.split_once(SEVERITY)?;
    let (label, value) = text.split_once(": ")?;
    Some((place, label.trim(), value.trim()))
}

/// Splits `FILE:LINE:COLUMN` from the right, since a file's name may hold colons.
fn split_place(place: &str) -> (PathBuf, u32) {
    let mut parts = place.rsplitn(3, ':');
    let (_, line, file) = (parts.next(), parts.next(), parts.next());
    match (file, line.and_then(|line| line.parse().ok())) {
        (Some(file), Some(line)) => (file.into(), line),
        _ => (place.into(), 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_gathered_by_function() {
        let line = |text: &str| format!("/a:b/k.hip:13:1: remark: {text}{FLAG}\n");
        let output = [
            "/a:b/k.hip:1:1: warning: something else\n".to_owned(),
            line("Function Name: _Z5plainPfi"),
            line("    VGPRs: 77"),
            line("    Occupancy [waves/SIMD]: 6"),
            line("Function Name: k"),
        ];
        let remarks = parse(&output.concat());
        let [plain, other] = remarks.as_slice() else { panic!("{remarks:?}") };
        assert_eq!((plain.symbol.as_str(), plain.file.to_str(), plain.line), ("_Z5plainPfi", Some("/a:b/k.hip"), 13));
        assert_eq!(
            (plain.figure("VGPRs"), plain.figure("Occupancy"), plain.figure("AGPRs")),
            (Some(77), Some(6), None)
        );
        assert_eq!((other.symbol.as_str(), other.figure("VGPRs")), ("k", None));
    }
}
