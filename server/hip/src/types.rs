//! Sizes of types, for the bytes of `__shared__` arrays.

use std::ops::Range;

use crate::code::Code;
use crate::constants::Constants;
use crate::evaluate::{Limits, value};
use crate::lexer::Token;

/// Size and alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub size: u64,
    pub align: u64,
}

/// Layout of the type that `tokens` spell, where it is a builtin, a HIP vector type, or an alias or plain struct of the file.
pub(crate) fn layout(code: &Code, constants: &Constants, tokens: &[Token], limits: Limits) -> Option<Layout> {
    let limits = limits.descend()?;
    let words: Vec<&str> = tokens.iter().map(|t| t.text(&code.text)).collect();
    if words.last().is_some_and(|word| *word == "*") {
        return Some(Layout { size: 8, align: 8 });
    }
    let ignored =
        |word: &&&str| !matches!(**word, "const" | "volatile" | "typename" | "struct" | "std" | "::" | "signed");
    let words: Vec<&str> = words.iter().filter(ignored).copied().collect();
    match words.as_slice() {
        ["unsigned"] => builtin("int"),
        ["long", "long"] | ["unsigned", "long"] | ["long", "int"] | ["unsigned", "long", "long" | "int"] => {
            builtin("long")
        }
        ["short", "int"] => builtin("short"),
        ["unsigned", one] => builtin(one),
        [one] => builtin(one).or_else(|| vector(one)).or_else(|| defined(code, constants, one, limits)),
        _ => None,
    }
}

fn builtin(word: &str) -> Option<Layout> {
    let size = match word {
        "char" | "bool" | "int8_t" | "uint8_t" | "uchar" | "byte" | "__hip_fp8_e4m3_fnuz" | "__hip_fp8_e4m3" => 1,
        "short" | "half" | "__half" | "_Float16" | "int16_t" | "uint16_t" | "ushort" | "__hip_bfloat16"
        | "hip_bfloat16" | "bfloat16" | "__nv_bfloat16" => 2,
        "int" | "float" | "int32_t" | "uint32_t" | "uint" | "half2" | "__half2" | "__hip_bfloat162" => 4,
        "long" | "double" | "int64_t" | "uint64_t" | "size_t" | "ulong" | "ptrdiff_t" | "clock_t" => 8,
        "hipFloatComplex" | "hipComplex" => 8,
        "hipDoubleComplex" => 16,
        _ => return None,
    };
    let align = if word == "hipDoubleComplex" { 16 } else { size };
    Some(Layout { size, align })
}

/// `float4` and its kin: three components are not padded.
fn vector(word: &str) -> Option<Layout> {
    let (element, count) = word.split_at_checked(word.len().checked_sub(1)?)?;
    let count: u64 = count.parse().ok().filter(|count| (1..=4).contains(count))?;
    let element = match element {
        "longlong" | "ulonglong" => "long",
        "char" | "uchar" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" | "float" | "double" => element,
        _ => return None,
    };
    let element = builtin(element)?;
    let align = if count == 3 { element.align } else { (element.size * count).min(16) };
    Some(Layout { size: element.size * count, align })
}

/// A `using`, a `typedef`, a macro or a plain struct of the file.
fn defined(code: &Code, constants: &Constants, name: &str, limits: Limits) -> Option<Layout> {
    if let Some(at) = constants.type_definition(name) {
        return match code.word_before(at) {
            "using" => {
                let end = (at + 2..code.len()).find(|&end| code.word(end) == ";")?;
                layout(code, constants, &code.lexed.tokens[at + 2..end], limits)
            }
            "struct" => structure(code, constants, at + 1, limits),
            _ => layout(code, constants, &code.lexed.tokens[typedef_start(code, at)? + 1..at], limits),
        };
    }
    let define = code.macro_definitions(name).next()?;
    layout(code, constants, define.macro_body(&code.text), limits)
}

/// Whether the identifier at `at` is given a meaning as a type there.
pub(crate) fn defines_type(code: &Code, at: usize) -> bool {
    match code.word(at + 1) {
        "=" => code.word_before(at) == "using",
        "{" => code.word_before(at) == "struct",
        ";" => typedef_start(code, at).is_some(),
        _ => false,
    }
}

/// The `typedef` of `typedef unsigned long name;`.
fn typedef_start(code: &Code, name: usize) -> Option<usize> {
    let words = (name.saturating_sub(8)..name).rev().take_while(|&at| code.is_identifier(at) || code.word(at) == "::");
    words.into_iter().find(|&at| code.word(at) == "typedef")
}

/// A struct of plain members: `type name, name[N];` and nothing else.
fn structure(code: &Code, constants: &Constants, open: usize, limits: Limits) -> Option<Layout> {
    let close = code.close(open)?;
    let mut whole = Layout { size: 0, align: 1 };
    let mut at = open + 1;
    while at < close {
        let end = (at..close).find(|&end| code.word(end) == ";")?;
        if (at..end).any(|t| matches!(code.word(t), "(" | "{" | "static" | "using" | "=")) {
            return None;
        }
        let type_end = (at..end).take_while(|&t| !matches!(code.word(t), "," | "[")).last()?;
        let element = layout(code, constants, &code.lexed.tokens[at..type_end], limits)?;
        for declarator in code.split_commas(type_end..end) {
            let count = array_count(code, constants, declarator.start + 1..declarator.end, limits)?;
            whole.align = whole.align.max(element.align);
            whole.size = whole.size.next_multiple_of(element.align).checked_add(element.size.checked_mul(count)?)?;
        }
        at = end + 1;
    }
    whole.size = whole.size.next_multiple_of(whole.align);
    (whole.size > 0).then_some(whole)
}

/// Product of the dimensions `[A][B]` among `tokens`; 1 if there are none.
fn array_count(code: &Code, constants: &Constants, tokens: Range<usize>, limits: Limits) -> Option<u64> {
    let mut count = 1u64;
    let mut at = tokens.start;
    while at < tokens.end {
        if code.word(at) != "[" {
            return None;
        }
        let close = code.close(at)?;
        let dimension = value(code, constants, &code.lexed.tokens[at + 1..close], limits)?;
        count = count.checked_mul(u64::try_from(dimension).ok()?)?;
        at = close + 1;
    }
    Some(count)
}
