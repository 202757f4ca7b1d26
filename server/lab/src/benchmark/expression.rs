//! C++ expressions of a benchmark file.

/// A piece of C++ and the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// The text.
    pub text: String,
    /// Line in the benchmark file, from 1; the compiler's messages about the text name it.
    pub line: u32,
}

/// Why `text` cannot stand as one expression in the middle of generated code, or `None` when it can.
///
/// The compiler judges the rest; this keeps mistakes from spilling over into the code around.
pub(super) fn fault(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("the expression is empty".into());
    }
    if text.contains('\n') {
        return Some("an expression stands on one line".into());
    }
    if text.contains("//") || text.contains("/*") {
        return Some("an expression holds no comment; write it behind a `#` of the file".into());
    }
    match scan(text) {
        Err(fault) => Some(fault),
        Ok(outside) => outside.chars().find_map(|letter| match letter {
            ';' => Some("an expression holds no `;`".into()),
            '{' | '}' => Some("an expression holds no braces outside of parentheses".into()),
            ',' => Some("a comma outside of parentheses would make two expressions of one".into()),
            '#' => Some("an expression holds no `#`".into()),
            _ => None,
        }),
    }
}

/// Why `text` cannot stand as statements in a function body.
pub(super) fn code_fault(text: &str) -> Option<String> {
    scan(text).err()
}

/// Checks brackets and quotes; returns what stands outside of them (`;`, braces and `#` count wherever they are).
fn scan(text: &str) -> Result<String, String> {
    let mut open = Vec::new();
    let mut outside = String::new();
    let mut letters = text.chars().peekable();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        if let Some(mark) = quote {
            match letter {
                '\\' => drop(letters.next()),
                _ if letter == mark => quote = None,
                _ => (),
            }
            continue;
        }
        match letter {
            '/' if letters.peek() == Some(&'/') => {
                letters.by_ref().find(|letter| *letter == '\n');
            }
            '"' | '\'' => quote = Some(letter),
            '(' | '[' | '{' => open.push(letter),
            ')' | ']' | '}' => {
                let opening = match letter {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if open.pop() != Some(opening) {
                    return Err(format!("`{letter}` has no `{opening}` before it"));
                }
            }
            _ => (),
        }
        if open.is_empty() || matches!(letter, ';' | '{' | '}' | '#') {
            outside.push(letter);
        }
    }
    match (quote, open.last()) {
        (Some(mark), _) => Err(format!("{mark} is not closed")),
        (None, Some(opening)) => Err(format!("`{opening}` is not closed")),
        (None, None) => Ok(outside),
    }
}

/// Whether `text` is a C++ identifier.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Whether `text` names a function: an identifier, perhaps qualified, perhaps with template arguments.
pub(super) fn is_function_name(text: &str) -> bool {
    let (name, rest) = text.split_at(text.find('<').unwrap_or(text.len()));
    let name = name.trim().trim_start_matches("::");
    (rest.is_empty() || rest.trim_end().ends_with('>'))
        && fault(text).is_none_or(|_| rest.contains(','))
        && !name.is_empty()
        && name.split("::").all(is_identifier)
}
