//! `__shared__` variables.

use std::ops::Range;

use crate::code::Code;
use crate::constants::Constants;
use crate::evaluate::size_of;
use crate::lines::Lines;
use crate::params::join;

/// One `__shared__` variable. Ranges are bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedArray {
    /// Its name.
    pub name: String,
    /// The element type as written.
    pub element_type: String,
    /// The dimensions as written, `[TILE][TILE + 1]`; empty for a single variable.
    pub dims_text: String,
    /// Bytes of each dimension's expression, between its brackets.
    pub dims: Vec<Range<usize>>,
    /// Value of each dimension where it is computable.
    pub dim_values: Vec<Option<i64>>,
    /// Size of the element where it is known.
    pub element_bytes: Option<u64>,
    /// Size of the whole where element and dimensions are known; 0 for dynamic ones.
    pub static_bytes: Option<u64>,
    /// Its size is given at the launch (`extern __shared__`, `HIP_DYNAMIC_SHARED`).
    pub dynamic: bool,
    /// The declaration from its first token to its semicolon.
    pub range: Range<usize>,
    /// The name within the text.
    pub name_range: Range<usize>,
    /// Line of the name, from 1.
    pub line: u32,
}

impl SharedArray {
    pub(crate) fn ranges_mut(&mut self) -> impl Iterator<Item = &mut Range<usize>> {
        [&mut self.range, &mut self.name_range].into_iter().chain(&mut self.dims)
    }
}

/// The `__shared__` variables declared among `tokens`.
pub(crate) fn shared_arrays(
    code: &Code,
    lines: &Lines,
    tokens: Range<usize>,
    constants: &Constants,
) -> Vec<SharedArray> {
    let mut found = Vec::new();
    for at in tokens.clone() {
        match code.word(at) {
            "__shared__" => found.extend(declaration(code, lines, at, tokens.end, constants)),
            "HIP_DYNAMIC_SHARED" if code.word(at + 1) == "(" => found.extend(dynamic_macro(code, lines, at)),
            _ => {}
        }
    }
    found
}

/// What a `__shared__` declaration is made of, in tokens.
pub(crate) struct SharedDeclaration {
    /// From the first specifier to the semicolon.
    pub whole: Range<usize>,
    /// `extern` stands before or after `__shared__`.
    pub is_extern: bool,
    /// Tokens of the element type (and its attributes).
    pub element: Vec<usize>,
    /// Each declarator from its name to before the comma or semicolon.
    pub declarators: Vec<Range<usize>>,
}

/// Reads the declaration around the `__shared__` at `marker`.
pub(crate) fn shared_declaration(code: &Code, marker: usize, limit: usize) -> Option<SharedDeclaration> {
    let specifier = |at: usize| matches!(code.word(at), "extern" | "static" | "volatile" | "const" | "__shared__");
    let mut start = marker;
    while start > 0 && specifier(start - 1) {
        start -= 1;
    }
    let mut end = marker;
    while end < limit && code.word(end) != ";" {
        end = code.skip(end);
    }
    if code.word(end) != ";" {
        return None;
    }
    let name = declarator_name(code, marker + 1, end)?;
    let is_extern = (start..name).any(|at| code.word(at) == "extern");
    let element = (start..name).filter(|&at| !matches!(code.word(at), "extern" | "static" | "__shared__")).collect();
    let declarators = code.split_commas(name..end);
    Some(SharedDeclaration { whole: start..end + 1, is_extern, element, declarators })
}

/// The first name that is followed by `[`, `;`, `,`, `=` or `{`.
fn declarator_name(code: &Code, start: usize, end: usize) -> Option<usize> {
    let mut at = start;
    while at < end {
        if code.is_identifier(at) && at > start && matches!(code.word(at + 1), "[" | ";" | "," | "=" | "{") {
            return Some(at);
        }
        at = match code.word(at) {
            "<" => code.close_angle(at).unwrap_or(at) + 1,
            _ => code.skip(at),
        };
    }
    None
}

fn declaration(code: &Code, lines: &Lines, marker: usize, limit: usize, constants: &Constants) -> Vec<SharedArray> {
    let Some(declaration) = shared_declaration(code, marker, limit) else { return Vec::new() };
    let is_type_word = |at: &&usize| !is_attribute_token(code, **at);
    let element: Vec<usize> = declaration.element.iter().filter(is_type_word).copied().collect();
    let element_tokens: Vec<_> = element.iter().filter_map(|&at| code.token(at)).collect();
    let element_bytes = size_of(code, constants, &element_tokens);
    let range = code.bytes(&declaration.whole);
    let array = |declarator: &Range<usize>| {
        let name = declarator.start;
        let dims = dimensions(code, declarator);
        let dims_end = dims.last().map_or(name + 1, |last| last.end + 1);
        let dynamic = declaration.is_extern;
        let dim_values: Vec<Option<i64>> = dims.iter().map(|dim| constants.evaluate(code, dim.clone())).collect();
        let static_bytes = dim_values.iter().try_fold(element_bytes, |bytes, dim| {
            let dim = u64::try_from((*dim)?).ok()?;
            Some(bytes.and_then(|bytes| bytes.checked_mul(dim)))
        });
        SharedArray {
            name: code.word(name).to_owned(),
            element_type: join(code, element.iter().copied()),
            dims_text: code.slice(&(name + 1..dims_end)).to_owned(),
            dim_values,
            dims: dims.iter().map(|dim| code.bytes(dim)).collect(),
            element_bytes,
            static_bytes: if dynamic { Some(0) } else { static_bytes.flatten() },
            dynamic,
            range: range.clone(),
            name_range: code.bytes(&(name..name + 1)),
            line: lines.line_of(code.bytes(&(name..name + 1)).start),
        }
    };
    let named = declaration.declarators.iter().filter(|declarator| code.is_identifier(declarator.start));
    named.map(array).collect()
}

/// `alignas(16)`, `__align__(16)`, `__attribute__((...))`: name and parentheses.
fn is_attribute_token(code: &Code, at: usize) -> bool {
    let named = |at: usize| matches!(code.word(at), "alignas" | "__align__" | "__attribute__");
    named(at) || enclosing_open(code, at).is_some_and(|open| open > 0 && named(open - 1))
}

/// The outermost parenthesis in reach that is or holds the token at `at`.
fn enclosing_open(code: &Code, at: usize) -> Option<usize> {
    let low = at.saturating_sub(16);
    (low..=at).find(|&open| code.word(open) == "(" && code.close(open).is_some_and(|close| close >= at))
}

/// Tokens between the brackets of each dimension.
fn dimensions(code: &Code, declarator: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = declarator.start + 1;
    while at < declarator.end && code.word(at) == "[" {
        let Some(close) = code.close(at) else { break };
        found.push(at + 1..close);
        at = close + 1;
    }
    found
}

/// `HIP_DYNAMIC_SHARED(type, name)`.
fn dynamic_macro(code: &Code, lines: &Lines, at: usize) -> Option<SharedArray> {
    let close = code.close(at + 1)?;
    let args = code.split_commas(at + 2..close);
    let [element, name] = args.as_slice() else { return None };
    let name_range = code.bytes(name);
    let end = if code.word(close + 1) == ";" { close + 2 } else { close + 1 };
    Some(SharedArray {
        name: code.slice(name).to_owned(),
        element_type: join(code, element.clone()),
        dims_text: "[]".to_owned(),
        dims: Vec::new(),
        dim_values: Vec::new(),
        element_bytes: None,
        static_bytes: Some(0),
        dynamic: true,
        range: code.bytes(&(at..end)),
        line: lines.line_of(name_range.start),
        name_range,
    })
}
