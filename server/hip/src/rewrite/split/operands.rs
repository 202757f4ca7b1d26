//! What the expression around a variable's name may do to the variable, read from the tokens: more may count as changed
//! than is.

use crate::code::Code;
use crate::device_functions::{is_independent, is_keyword, is_type};

/// A variable's name with the members and elements that follow it, as token positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    /// The first token.
    pub start: usize,
    /// Past the last token.
    pub end: usize,
}

impl Operand {
    /// The name at `at`. The elements of a pointer are no part of it.
    pub fn new(code: &Code, at: usize, is_pointer: bool) -> Self {
        let mut end = at + 1;
        loop {
            match code.word(end) {
                "." => end += 2,
                "[" if !is_pointer => end = code.close(end).map_or(end + 1, |close| close + 1),
                _ => break,
            }
        }
        Self { start: at, end }
    }

    /// Nothing is done with it in its place but to hand it on.
    pub fn is_alone(self, code: &Code) -> bool {
        matches!(code.word_before(self.start), "(" | "{" | "," | "?" | ":" | "=" | "return" | "[")
            && matches!(code.word(self.end), ")" | "}" | "," | ":" | ";" | "]")
    }

    /// It is assigned to: itself, or what it is in parentheses, casts, `c ? x : y` and what calls give back.
    pub fn is_assigned(mut self, code: &Code) -> bool {
        loop {
            let before = code.word_before(self.start);
            let is_cast_to_reference = before == ")" && self.start > 1 && code.word(self.start - 2) == "&";
            if matches!(before, "++" | "--") || assigns(code, self.end) || is_cast_to_reference {
                return true;
            }
            if !self.is_alone(code) {
                return false;
            }
            let Some(around) = self.around(code) else { return false };
            self = around;
            while code.word(self.end) == "." {
                self.end += 2;
                if code.word(self.end) == "(" {
                    return true;
                }
            }
        }
    }

    /// The parenthesis around it, with the name of the function or type before.
    fn around(self, code: &Code) -> Option<Self> {
        let mut open = self.start;
        loop {
            open = open.checked_sub(1)?;
            match code.word(open) {
                ")" | "}" | "]" => open = code.open(open)?,
                "(" | "{" => break,
                ";" | "[" => return None,
                _ => {}
            }
        }
        let end = code.close(open)? + 1;
        let Some(callee) = callee(code, open) else {
            return (code.word(open) == "(" && code.word_before(open) != "*").then_some(Self { start: open, end });
        };
        let word = code.word(callee);
        let is_statement = is_keyword(word) && !word.ends_with("_cast");
        if is_statement || code.is_macro(word) {
            return None;
        }
        let mut start = callee;
        while start > 1 && code.word(start - 1) == "::" {
            start -= if code.is_identifier(start - 2) { 2 } else { 1 };
        }
        (code.word_before(start) != "*").then_some(Self { start, end })
    }
}

/// An assignment, `++` or `--` follows at the token `at`.
pub(super) fn assigns(code: &Code, at: usize) -> bool {
    let word = code.word(at);
    let shifts = matches!((word, code.word(at + 1)), ("<", "<=") | (">", ">="));
    let equals = word != "==" && word != "<=" && word != ">=" && word != "!=" && word.ends_with('=');
    shifts || equals || matches!(word, "++" | "--")
}

/// The name before the parenthesis or brace at `at`, with template arguments stepped over.
pub(super) fn callee(code: &Code, at: usize) -> Option<usize> {
    let mut before = at.checked_sub(1)?;
    if code.word(before) == ">" {
        before = code.open_angle(before)?.checked_sub(1)?;
    }
    code.is_identifier(before).then_some(before)
}

/// The parenthesis or brace at `at` holds the arguments of a call through an expression, or of a cast or call whose template
/// arguments name a reference.
pub(super) fn is_open_call(code: &Code, at: usize) -> bool {
    match code.word_before(at) {
        ">" => {
            let open = code.open_angle(at - 1);
            open.is_some_and(|open| (open..at).any(|inside| code.word(inside) == "&"))
        }
        "}" | "]" => code.word(at) == "(",
        ")" => {
            // `(float)(x)` is a cast.
            let open = code.open(at - 1).unwrap_or(at - 1);
            let is_cast = open + 2 == at - 1
                || (open + 1..at - 1).all(|inside| is_type(code.word(inside)) || code.word(inside) == "*");
            let called = open > 0 && code.is_identifier(open - 1) && !is_keyword(code.word(open - 1));
            code.word(at) == "(" && (!is_cast || called)
        }
        _ => false,
    }
}

/// A function of no file that changes its arguments, or gives them back to be changed.
pub(super) fn gives_references(word: &str) -> bool {
    matches!(word, "swap" | "exchange" | "forward" | "move" | "get" | "ref" | "tie")
}

/// Whether an object of the type may hold a reference to what it is made of: types of the file say so, others may.
pub(super) fn may_refer(code: &Code, name: &str) -> bool {
    if is_type(name) || is_keyword(name) || is_independent(name) {
        return false;
    }
    let mut known = false;
    for at in code.places(name) {
        let body = match code.word_before(at) {
            "struct" | "class" | "union" => (at..code.len()).find(|&to| matches!(code.word(to), "{" | ";" | ">" | ",")),
            "typename" => {
                known = true;
                continue;
            }
            "using" if code.word(at + 1) == "=" => Some(at + 1),
            _ => continue,
        };
        let Some(open) = body else { continue };
        let end = match code.word(open) {
            "{" => code.close(open).unwrap_or(code.len()),
            "=" => (open..code.len()).find(|&to| code.word(to) == ";").unwrap_or(code.len()),
            _ => open,
        };
        if (open..end).any(|inside| code.word(inside) == "&") {
            return true;
        }
        known |= code.word(open) != ";";
    }
    !known
}

/// The file hides references behind names, or has operators that change what they are given, beside the assigning ones.
/// `elsewhere` tells tokens in the bodies of other functions: names and lambdas are known there alone, and what a function does
/// to its arguments shows in its parameters.
pub(super) fn hides_references(code: &Code, elsewhere: impl Fn(usize) -> bool) -> bool {
    let statement_end = |from: usize| (from..code.len()).find(|&at| code.word(at) == ";").unwrap_or(code.len());
    // Those that the arms below tell apart.
    let words = ["using", "typedef", "operator", "->", "and_eq", "or_eq", "xor_eq", "bitand"];
    words.into_iter().flat_map(|word| code.places(word)).any(|at| match code.word(at) {
        "using" | "typedef" | "->" | "and_eq" | "or_eq" | "xor_eq" | "bitand" if elsewhere(at) => false,
        "using" if code.word(at + 2) == "=" => {
            let end = statement_end(at);
            code.word_before(end) == "&"
        }
        "typedef" => (at..statement_end(at)).last().is_some_and(|name| code.word_before(name) == "&"),
        "operator" => {
            let open = (at + 1..(at + 4).min(code.len())).find(|&to| code.word(to) == "(");
            let Some((open, close)) = open.and_then(|open| Some((open, code.close(open)?))) else { return false };
            let changes = |inside: usize| {
                code.word(inside) == "&"
                    && is_type(code.word(inside - 1))
                    && code.word_before(inside - 1) != "const"
                    && code.word(inside - 2) != "const"
            };
            let converts = code.is_identifier(at + 1) && open + 1 == close && code.word(close + 1) != "const";
            open > at + 1 && (converts || !assigns(code, at + 1) && (open + 2..close).any(changes))
        }
        // `[&]() -> int & { return x; }`; of functions with a name their results are looked at.
        "->" => {
            let body = (at + 1..at + 8).find(|&to| code.word(to) == "{");
            let parameters = if code.word_before(at) == ")" { code.open(at - 1) } else { None };
            let is_named = parameters.is_some_and(|open| open > 0 && code.is_identifier(open - 1));
            !is_named && body.is_some_and(|open| code.word_before(open) == "&")
        }
        // `x or_eq y` is an assignment, `bitand x` an address.
        "and_eq" | "or_eq" | "xor_eq" | "bitand" => true,
        _ => false,
    })
}

/// Whether the member named `name` may be an array, whose name alone is an address. `None`: no type of the file has it.
pub(super) fn member_is_array(code: &Code, name: &str) -> Option<bool> {
    let mut found = None;
    for at in code.places(name).filter(|&at| at > 0) {
        let declares =
            code.is_identifier(at - 1) && code.word(at - 1) != "return" || matches!(code.word(at - 1), "*" | ">" | ",");
        match code.word(at + 1) {
            "[" if declares => return Some(true),
            ";" | "," | "=" | "{" if declares => found = Some(false),
            _ => {}
        }
    }
    found
}
