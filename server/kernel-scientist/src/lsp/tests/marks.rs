//! Texts with marks: a comment line of carets below a line says what stands there, `$0` where the cursor is.
//!
//! ```text
//! __global__ void k(int n) {
//!                       //^ 412 us
//! ```
//! Two slashes, blanks, carets, and the label; the first caret's column is the place. Several marks may follow one line.

/// A text without its marks, and what they say.
#[derive(Debug, PartialEq, Eq)]
pub struct Marked {
    /// The text.
    pub text: String,
    /// Byte of the cursor.
    pub cursor: Option<usize>,
    /// Each mark: bytes that the carets stand below, and the label.
    pub marks: Vec<(std::ops::Range<usize>, String)>,
}

/// Reads a marked-up text.
pub fn marked(source: &str) -> Marked {
    let mut text = String::new();
    let mut marks = Vec::new();
    let mut line_start = 0;
    for line in source.split_inclusive('\n') {
        match mark(line) {
            Some((columns, label)) => marks.push((line_start + columns.start..line_start + columns.end, label)),
            None => {
                line_start = text.len();
                text.push_str(line);
            }
        }
    }
    let cursor = text.find("$0");
    if let Some(at) = cursor {
        text.replace_range(at..at + 2, "");
    }
    Marked { text, cursor, marks }
}

/// A line that is nothing but a mark.
fn mark(line: &str) -> Option<(std::ops::Range<usize>, String)> {
    let rest = line.trim_start().strip_prefix("//")?.trim_start();
    let carets = rest.len() - rest.trim_start_matches('^').len();
    let start = line.len() - rest.len();
    (carets > 0).then(|| (start..start + carets, rest[carets..].trim().to_owned()))
}

#[test]
fn marks_stand_for_what_is_above_them() {
    let read = marked("int a;\n//  ^ name\nin$0t b;\n");
    assert_eq!(read.text, "int a;\nint b;\n");
    assert_eq!(read.marks, [(4..5, "name".to_owned())]);
    assert_eq!(read.cursor, Some(9));
}
