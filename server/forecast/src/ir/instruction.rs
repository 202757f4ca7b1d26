//! One instruction, cut into its parts.

use super::types::{end_of_name, names};

/// An instruction's text, which may have been several lines.
pub(super) struct Instruction<'a> {
    /// The value's name, with its `%`.
    pub result: Option<&'a str>,
    /// `add`, `load`, `call`.
    pub opcode: &'a str,
    /// What follows the opcode, without what is attached to the instruction.
    pub rest: &'a str,
    /// The number of its `DILocation`.
    pub location: Option<u32>,
}

impl<'a> Instruction<'a> {
    /// `None` for what is no instruction: empty lines, comments, debug records.
    pub fn read(text: &'a str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text.starts_with(';') || text.starts_with("#dbg") {
            return None;
        }
        let (result, body) = match text.starts_with('%') {
            true => {
                let end = end_of_name(text);
                (Some(&text[..end]), text[end..].strip_prefix(" = ")?)
            }
            false => (None, text),
        };
        let body = ["tail ", "musttail ", "notail "].iter().find_map(|word| body.strip_prefix(word)).unwrap_or(body);
        let end = body.find(' ').unwrap_or(body.len());
        let (opcode, rest) = body.split_at(end);
        let attached = attachments(rest);
        let location = rest[attached..].split("!dbg !").nth(1).and_then(|number| {
            let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
            number[..end].parse().ok()
        });
        Some(Self { result, opcode, rest: rest[..attached].trim(), location })
    }

    /// The values and labels that it names.
    pub fn operands(&self) -> impl Iterator<Item = &'a str> {
        names(self.rest, '%')
    }

    /// Whether the word stands among the flags after the opcode (`contract`).
    pub fn has_flag(&self, flag: &str) -> bool {
        self.rest.split(' ').take_while(|word| is_flag(word)).any(|word| word == flag)
    }

    /// What follows the flags.
    pub fn after_flags(&self) -> &'a str {
        let mut rest = self.rest;
        while let Some((word, after)) = rest.split_once(' ') {
            if !is_flag(word) {
                break;
            }
            rest = after;
        }
        rest
    }
}

fn is_flag(word: &str) -> bool {
    matches!(
        word,
        "nuw"
            | "nsw"
            | "exact"
            | "disjoint"
            | "nneg"
            | "samesign"
            | "inbounds"
            | "nusw"
            | "fast"
            | "nnan"
            | "ninf"
            | "nsz"
            | "arcp"
            | "contract"
            | "afn"
            | "reassoc"
            | "volatile"
            | "atomic"
            | "weak"
            | "inrange"
    )
}

/// Where `, !name ...` begins. Commas within quotes do not count.
fn attachments(text: &str) -> usize {
    let mut quoted = false;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted && bytes[at..].starts_with(b", !") => return at,
            _ => {}
        }
    }
    text.len()
}
