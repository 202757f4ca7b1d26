//! What the tokens before a `{` or a `;` introduce: namespaces, functions, types, variables.

use std::ops::Range;

use crate::code::Code;
use crate::items::ItemKind;
use crate::lexer::TokenKind;

/// Names that may stand before `(` in a head without being the function's name.
const ATTRIBUTES: [&str; 14] = [
    "__launch_bounds__",
    "__attribute__",
    "__attribute",
    "__declspec",
    "alignas",
    "__align__",
    "noexcept",
    "decltype",
    "requires",
    "throw",
    "__cluster_dims__",
    "__maxnreg__",
    "explicit",
    "static_assert",
];

const CONTROL: [&str; 12] =
    ["if", "for", "while", "switch", "do", "else", "return", "catch", "sizeof", "try", "case", "default"];

pub(crate) fn is_attribute(word: &str) -> bool {
    ATTRIBUTES.contains(&word) || word.contains("LAUNCH_BOUNDS") || CONTROL.contains(&word)
}

/// What the tokens before a `{` introduce.
pub(crate) enum Head {
    Namespace(Vec<String>),
    Function(FunctionHead),
    Type(Range<usize>),
    Initialiser,
    Block,
}

pub(crate) struct FunctionHead {
    pub name: Range<usize>,
    pub qualifiers: Vec<String>,
    pub parameters: (usize, usize),
    pub template: Vec<(usize, usize)>,
}

/// The `template <...>` prefixes at `head` and the first token after them.
pub(crate) fn templates(code: &Code, mut head: usize) -> (Vec<(usize, usize)>, usize) {
    let mut found = Vec::new();
    while code.word(head) == "template"
        && code.word(head + 1) == "<"
        && let Some(close) = code.close_angle(head + 1)
    {
        found.push((head + 1, close));
        head = close + 1;
    }
    (found, head)
}

pub(crate) fn classify(code: &Code, head: usize, brace: usize) -> Head {
    let (template, start) = templates(code, head);
    let first = code.word(start);
    if first == "extern" && code.kind(brace - 1) == Some(TokenKind::Str) {
        return Head::Namespace(Vec::new());
    }
    let namespace = (start..brace).find(|&at| code.word(at) == "namespace");
    if let Some(at) = namespace.filter(|&at| at <= start + 3) {
        let names = (at + 1..brace).filter(|&at| code.is_identifier(at) && !is_attribute(code.word(at)));
        return Head::Namespace(names.map(|at| code.word(at).to_owned()).collect());
    }
    if let Some((name, parameters)) = function_name(code, start, brace) {
        let qualifiers = qualifiers(code, name.start);
        return Head::Function(FunctionHead { name, qualifiers, parameters, template });
    }
    if let Some(name) = type_name(code, start, brace) {
        return Head::Type(name);
    }
    if start == brace || CONTROL.contains(&code.word(start)) {
        return Head::Block;
    }
    Head::Initialiser
}

/// `A` and `B` of `A::B<int>::name`, read backwards from the name.
fn qualifiers(code: &Code, name: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = name;
    while code.word_before(at) == "::" && at >= 2 {
        let mut qualifier = at - 2;
        if code.word(qualifier) == ">" {
            match code.open_angle(qualifier) {
                Some(open) if open > 0 => qualifier = open - 1,
                _ => break,
            }
        }
        if !code.is_identifier(qualifier) {
            break;
        }
        found.insert(0, code.word(qualifier).to_owned());
        at = qualifier;
    }
    found
}

/// A parenthesised group of a head with the name before it.
struct Candidate {
    name: Range<usize>,
    open: usize,
    close: usize,
}

/// Name and parameters of the function that the head `start..end` declares.
fn function_name(code: &Code, start: usize, end: usize) -> Option<(Range<usize>, (usize, usize))> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut at = start;
    while at < end {
        match code.word(at) {
            "(" => {
                let close = code.close(at).filter(|&close| close < end)?;
                if let Some(name) = candidate_name(code, start, at) {
                    candidates.push(Candidate { name, open: at, close });
                }
                at = close + 1;
            }
            "operator" => {
                // `operator()(...)`: the first parentheses belong to the name.
                at += 1;
                while at < end && (code.word(at) != "(" || code.word_before(at) == "operator") {
                    at = code.skip(at);
                }
            }
            ":" | "->" if !candidates.is_empty() => break,
            "=" => break,
            "<" if code.is_identifier(at.wrapping_sub(1)) => at = code.close_angle(at).map_or(at + 1, |c| c + 1),
            _ => at = code.skip(at),
        }
    }
    let mut chosen = candidates.pop()?;
    // `type name(...) ATTRIBUTE(...)`: the earlier one is the name if what stands before it can be a type.
    while let Some(earlier) = candidates.pop() {
        let adjacent = earlier.close + 1 == chosen.name.start;
        if !adjacent || !follows_type(code, start, earlier.name.start) {
            break;
        }
        chosen = earlier;
    }
    Some((chosen.name, (chosen.open, chosen.close)))
}

fn follows_type(code: &Code, start: usize, name: usize) -> bool {
    if name <= start {
        return false;
    }
    let before = code.word(name - 1);
    let marker = before.starts_with("__") || matches!(before, "inline" | "static" | "extern" | "constexpr");
    matches!(before, "*" | "&" | ">") || (code.is_identifier(name - 1) && !marker)
}

/// The name before the parenthesis at `open`, if it can be a function's.
fn candidate_name(code: &Code, start: usize, open: usize) -> Option<Range<usize>> {
    let mut last = open.checked_sub(1).filter(|&at| at >= start)?;
    if let Some(operator) = (start..open).rev().take(6).find(|&at| code.word(at) == "operator") {
        return Some(operator..open);
    }
    match code.word(last) {
        // `name<int>(...)`: an explicit specialisation.
        ">" => {
            let angle = code.open_angle(last)?;
            last = angle.checked_sub(1).filter(|&at| at >= start)?;
        }
        // `NAME(kernel, 4)(...)`: a macro makes the name.
        ")" => {
            let inner = code.open(last)?;
            let makes_name = inner > start && code.is_identifier(inner - 1) && !is_attribute(code.word(inner - 1));
            return makes_name.then_some(inner - 1..open);
        }
        _ => {}
    }
    (code.is_identifier(last) && !is_attribute(code.word(last))).then_some(last..last + 1)
}

/// Name of the class, struct, union or enum that the head introduces.
fn type_name(code: &Code, start: usize, end: usize) -> Option<Range<usize>> {
    let keyword = (start..end).find(|&at| matches!(code.word(at), "class" | "struct" | "union" | "enum"))?;
    let mut name = None;
    let mut at = keyword + 1;
    while at < end {
        match code.word(at) {
            ":" | "<" => break,
            "final" | "class" | "struct" => {}
            word if code.is_identifier(at) && !is_attribute(word) => name = Some(at..at + 1),
            _ => {}
        }
        at = code.skip(at);
    }
    Some(name.unwrap_or(keyword..keyword))
}

pub(crate) struct Declared {
    pub kind: ItemKind,
    pub name: Range<usize>,
    pub parameters: Option<(usize, usize)>,
    pub template: Vec<(usize, usize)>,
}

/// What a declaration that ends in `;` declares.
pub(crate) fn declared(code: &Code, head: &Range<usize>) -> Declared {
    let (template, start) = templates(code, head.start);
    let last_identifier = |range: Range<usize>| range.rev().find(|&at| code.is_identifier(at)).map(|at| at..at + 1);
    let nothing = head.start..head.start;
    let named = |kind, name: Option<Range<usize>>| Declared {
        kind,
        name: name.unwrap_or(nothing.clone()),
        parameters: None,
        template: template.clone(),
    };
    match code.word(start) {
        "typedef" => {
            let pointer = (start..head.end).find(|&at| code.word(at) == "(" && code.word(at + 1) == "*");
            let plain = (start..head.end).find(|&at| code.word(at) == "[").unwrap_or(head.end);
            named(ItemKind::Type, pointer.map(|at| at + 2..at + 3).or_else(|| last_identifier(start..plain)))
        }
        "using" if code.word(start + 1) == "namespace" => named(ItemKind::Other, last_identifier(head.clone())),
        "using" => {
            let equals = (start..head.end).find(|&at| code.word(at) == "=");
            match equals {
                Some(_) => named(ItemKind::Type, Some(start + 1..start + 2)),
                None => named(ItemKind::Type, last_identifier(head.clone())),
            }
        }
        "template" => {
            let name = function_name(code, start + 1, head.end);
            named(ItemKind::Instantiation, name.map(|(name, _)| name).or_else(|| last_identifier(head.clone())))
        }
        "extern" if code.word(start + 1) == "template" => {
            named(ItemKind::Instantiation, function_name(code, start + 2, head.end).map(|(name, _)| name))
        }
        "static_assert" | "namespace" => named(ItemKind::Other, None),
        "class" | "struct" | "union" | "enum" if head.end <= start + 3 => {
            named(ItemKind::Other, last_identifier(head.clone()))
        }
        _ => match function_name(code, start, head.end) {
            Some((name, parameters)) if !is_variable(code, &(start..name.start)) => {
                Declared { kind: ItemKind::Prototype, name, parameters: Some(parameters), template }
            }
            _ => named(ItemKind::Variable, variable_name(code, start..head.end)),
        },
    }
}

fn is_variable(code: &Code, before_name: &Range<usize>) -> bool {
    before_name.clone().any(|at| matches!(code.word(at), "__constant__" | "__shared__"))
}

/// Name of the first declarator: the identifier before `=`, `[`, `{`, `,` or the end.
fn variable_name(code: &Code, head: Range<usize>) -> Option<Range<usize>> {
    let mut at = head.start;
    let mut name = None;
    while at < head.end {
        match code.word(at) {
            "=" | "[" | "{" | "," => break,
            "<" => at = code.close_angle(at).unwrap_or(at),
            _ if code.is_identifier(at) && !is_attribute(code.word(at)) => name = Some(at..at + 1),
            _ => {}
        }
        at = code.skip(at);
    }
    name
}
