//! Whether two versions of a source say the same.

use hip_syntax::{Fingerprint, Syntax};
use notebook::KernelFingerprint;

/// What a version of a source is, apart from its formatting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Equal for two texts that differ in nothing but comments and white space. Covers the whole file: a changed launch
    /// changes no kernel, and is a change worth measuring.
    pub whole: String,
    /// The kernels, each with the fingerprint that binds its times to it.
    pub kernels: Vec<KernelFingerprint>,
}

impl Identity {
    /// Of a text that includes headers with this fingerprint.
    pub fn of(text: &str, headers: Option<Fingerprint>) -> Self {
        let whole = blake3::hash(without_formatting(text).as_bytes()).to_hex().to_string();
        Self { whole, kernels: kernels(text, headers) }
    }
}

/// The kernels of a text that includes headers with this fingerprint, as the notebook keeps them.
pub fn kernels(text: &str, headers: Option<Fingerprint>) -> Vec<KernelFingerprint> {
    let fingerprint = |kernel: &hip_syntax::Kernel| KernelFingerprint {
        kernel: kernel.qualified_name.clone(),
        fingerprint: kernel.fingerprint.resting_on(headers).to_string(),
    };
    Syntax::without_tree(text).kernels().iter().map(fingerprint).collect()
}

/// A text without comments and with every run of white space as one blank; a line break stays a line break, because
/// preprocessor lines end there. What stands in quotation marks stays as it is.
pub(crate) fn without_formatting(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '/' if rest.starts_with("//") => comment_line(rest),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' | '\'' => {
                let length = quoted(rest, next, out.ends_with('R'));
                out.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            c if c.is_whitespace() => c.len_utf8(),
            c => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        separate(&mut out, next == '\n');
        rest = &rest[length..];
    }
    out.trim_end().to_owned()
}

/// Puts one blank or, for a line's end, one line break.
fn separate(out: &mut String, line_ends: bool) {
    if line_ends {
        out.truncate(out.trim_end_matches(' ').len());
        if !out.ends_with('\n') && !out.is_empty() {
            out.push('\n');
        }
    } else if !out.ends_with([' ', '\n']) && !out.is_empty() {
        out.push(' ');
    }
}

/// Length of a `//` comment, without the line break that ends it; a backslash at the line's end carries it on.
fn comment_line(text: &str) -> usize {
    let mut from = 0;
    while let Some(end) = text[from..].find('\n').map(|end| from + end) {
        if !text[..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
    text.len()
}

/// Length of the literal that `text` starts with. A `'` between digits is no literal but is closed or ended by its line
/// all the same: at worst a line's white space counts.
fn quoted(text: &str, quote: char, raw: bool) -> usize {
    if raw && quote == '"' {
        let delimiter = text[1..].split('(').next().unwrap_or_default();
        let close = format!("){delimiter}\"");
        return text.find(&close).map_or(text.len(), |end| end + close.len());
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_does_not_count_and_code_does() {
        let check = |a: &str, b: &str, same: bool| {
            let (left, right) = (without_formatting(a), without_formatting(b));
            assert_eq!(left == right, same, "{left:?} and {right:?}");
        };
        check("int a = 1;  // one\n", "int a =\t1;\n", true);
        check("int a;\n\n\nint b;", "int a;\r\nint b;\n", true);
        check("a /* x\n y */ b", "a b", true);
        check("a /* unclosed", "a", true);
        check("// only\n#define N 4\n", "#define N 4", true);
        check("// carried \\\n on\nint a;", "int a;", true);
        check("#define N 4\nint a;", "#define N 8\nint a;", false);
        check("#define A\nint a;", "#define A int a;", false);
        check("k<<<g, 256>>>();", "k<<<g, 512>>>();", false);
        check("s = \"a  // b\";", "s = \"a // b\";", false);
        check("s = \"a\\\" // b\";", "s = \"a\\\" // c\";", false);
        check("s = R\"x(a // \" )\" b)x\";  ", "s = R\"x(a // \" )\" b)x\"; // c", true);
        check("c = '\"'; // x", "c = '\"';", true);
        check("n = 1'000; // x", "n = 1'000; // y", false);
        check("", "  \n// nothing\n", true);
        check("ab", "a b", false);
    }
}
