//! Calls: who is called with what.

use super::instruction::Instruction;
use super::types::{Type, end_of_name};

/// A call or invoke.
pub(super) struct Call<'a> {
    /// Who is called.
    pub callee: Callee<'a>,
    /// What it returns.
    pub result: Type,
    /// Each argument with its type and attributes.
    pub arguments: Vec<&'a str>,
}

/// Who is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee<'a> {
    /// A function, with its `@`.
    Named(&'a str),
    /// A pointer.
    Pointer,
    /// Inline assembly: its text.
    Assembly(&'a str),
}

impl<'a> Call<'a> {
    pub fn read(instruction: &Instruction<'a>) -> Self {
        let text = instruction.rest;
        let result = result_type(instruction.after_flags());
        if let Some(at) = text.find("asm ").filter(|at| text[..*at].find(['"', '@', '%']).is_none()) {
            let mut quoted = text[at..].split('"');
            return Self { callee: Callee::Assembly(quoted.nth(1).unwrap_or_default()), result, arguments: Vec::new() };
        }
        let named = text.find('@');
        let pointer = text
            .match_indices('%')
            .map(|(at, _)| at)
            .find(|at| text[*at + end_of_name(&text[*at..])..].starts_with('('));
        match (named, pointer) {
            (Some(named), pointer) if pointer.is_none_or(|pointer| named < pointer) => {
                let name = &text[named..][..end_of_name(&text[named..])];
                Self { callee: Callee::Named(name), result, arguments: arguments(&text[named + name.len()..]) }
            }
            _ => Self { callee: Callee::Pointer, result, arguments: Vec::new() },
        }
    }

    /// An argument's operand, as it can be used elsewhere.
    pub fn operand(&self, number: usize) -> Option<&'a str> {
        self.arguments.get(number).map(|argument| operand(argument))
    }
}

/// The type before the callee, behind its attributes.
fn result_type(text: &str) -> Type {
    Type::read(without_attributes(text)).0
}

/// The value of `ptr noundef nonnull align 4 %5`.
pub(super) fn operand(argument: &str) -> &str {
    without_attributes(Type::read(argument).1).trim()
}

/// Passes over words like `noundef`, `align 4`, `range(i32 0, 8)`.
fn without_attributes(text: &str) -> &str {
    const WORDS: [&str; 21] = [
        "noundef",
        "nonnull",
        "nocapture",
        "readonly",
        "writeonly",
        "readnone",
        "noalias",
        "signext",
        "zeroext",
        "returned",
        "inreg",
        "immarg",
        "nofree",
        "nest",
        "swiftself",
        "dead_on_unwind",
        "writable",
        "noext",
        "fastcc",
        "ccc",
        "coldcc",
    ];
    let mut rest = text.trim_start();
    loop {
        let end = rest.find([' ', '(']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if WORDS.contains(&word) {
            rest = after.trim_start();
        } else if word == "align" && after.starts_with(' ') {
            let after = after.trim_start();
            rest = after[after.find(' ').unwrap_or(after.len())..].trim_start();
        } else if after.starts_with('(')
            && [
                "align",
                "dereferenceable",
                "dereferenceable_or_null",
                "range",
                "nofpclass",
                "byval",
                "sret",
                "byref",
                "elementtype",
                "captures",
                "initializes",
            ]
            .contains(&word)
        {
            rest = after[closing(after)..].trim_start();
        } else {
            return rest;
        }
    }
}

/// Past the parenthesis that closes the first one.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// `(i32 1, ptr %x) #5` -> its parts.
fn arguments(text: &str) -> Vec<&str> {
    if !text.starts_with('(') {
        return Vec::new();
    }
    parts(&text[1..closing(text).saturating_sub(1).max(1)])
}

/// What stands between the commas that are in no bracket.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | '>' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if !text[begin..].trim().is_empty() {
        parts.push(text[begin..].trim());
    }
    parts
}
