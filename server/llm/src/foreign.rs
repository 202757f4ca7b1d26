//! Words that come from elsewhere: a server's, a model's. They end up in terminals and tables.

use std::borrow::Cow;

use serde_json::Value;

/// Whether a character does something to a terminal or to the order of the text, and shows nothing: control characters other
/// than line feed and tab, and those that turn the direction of writing.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without its hidden characters ([`is_hidden`]).
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(is_hidden) { text.replace(is_hidden, "").into() } else { text.into() }
}

/// The text on one line, with single blanks and without hidden characters.
pub fn one_line(text: &str) -> String {
    let words: Vec<Cow<'_, str>> = text.split_whitespace().map(visible).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Takes the hidden characters out of every text in a JSON value; names of fields are checked by schema.
pub(crate) fn clean(value: &mut Value) {
    match value {
        Value::String(text) => {
            if text.contains(is_hidden) {
                *text = text.replace(is_hidden, "");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_a_terminal_is_left_out() {
        for (text, expected, line) in [
            ("plain words", "plain words", "plain words"),
            ("a\tb\n c", "a\tb\n c", "a b c"),
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", "[31mred]0;title", "[31mred]0;title"),
            ("a\rb\u{8}c\u{7f}", "abc", "a bc"),
            ("\u{9b}31m\u{85}x", "31mx", "31m x"),
            ("a\u{202e}b\u{2066}c", "abc", "abc"),
            ("one\u{2028}two\u{2029}", "one\u{2028}two\u{2029}", "one two"),
            ("ä € 😀", "ä € 😀", "ä € 😀"),
        ] {
            assert_eq!((visible(text).as_ref(), one_line(text).as_str()), (expected, line), "{text:?}");
        }
        let mut value = serde_json::json!({ "a": ["\u{1b}x", 1, { "b": "y\u{7}" }] });
        clean(&mut value);
        assert_eq!(value, serde_json::json!({ "a": ["x", 1, { "b": "y" }] }));
    }
}
