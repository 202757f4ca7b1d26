//! A text as the words that guesses are made from.

/// Identifiers, numbers and operators of `text`, without comments, strings and spaces. Operators of two letters are one
/// word where guesses depend on it.
pub(super) fn words(text: &str) -> Vec<&str> {
    const PAIRS: [&str; 19] = [
        "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "++", "--", "->", "::", "&&", "||",
        "<<",
    ];
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' || first == '\'' {
            quoted(rest, first)
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '.');
            let end = if first.is_ascii_digit() { end } else { rest.find(|c: char| !c.is_alphanumeric() && c != '_') };
            let end = end.unwrap_or(rest.len());
            words.push(&rest[..end]);
            end
        } else {
            let end = if PAIRS.iter().any(|pair| rest.starts_with(pair)) { 2 } else { first.len_utf8() };
            words.push(&rest[..end]);
            end
        };
        rest = &rest[length..];
    }
    words
}

/// Length of the string or character that `text` starts with.
fn quoted(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == mark => return at + 1,
            _ => (),
        }
    }
    text.len()
}

/// Whether a word is an identifier.
pub(super) fn is_identifier(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// Index of the bracket that closes the one at `open`, or the last word.
pub(super) fn closing(words: &[&str], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, word) in words.iter().enumerate().skip(open) {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => (),
        }
    }
    words.len().saturating_sub(1)
}
