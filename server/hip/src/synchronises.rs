//! Whether a kernel's work-items may wait for each other or exchange values.
//!
//! The answer is conservative: `false` only where everything that the kernel can reach is in the file or is known to concern
//! one work-item alone. Calls are resolved by name, all overloads, specialisations and macros of that name together.

use std::collections::HashSet;

use crate::code::Code;
use crate::device_functions::{is_atomic, is_exchange, is_independent, is_keyword, is_type};
use crate::fingerprint::{Part, Uses};
use crate::items::{Item, ItemKind};
use crate::kernels::template_params;
use crate::lexer::{Lexed, Token, TokenKind};
use crate::lines::Lines;
use crate::loops::{LoopKind, loops};

/// Whether the kernel at item `index` may synchronise.
pub(crate) fn synchronises(code: &Code, lines: &Lines, items: &[Item], uses: &Uses, index: usize) -> bool {
    let parts = uses.closure(index);
    let mut atomics_elsewhere = false;
    let mut waits_on_calls = false;
    for &part in &parts {
        match part {
            Part::Directive(directive) => {
                let define = &code.lexed.directives[directive];
                let body = define.macro_body(&code.text);
                let parameters = &define.tokens[..define.macro_head(&code.text).0];
                let text = |token: &Token| token.text(&code.text).to_owned();
                let view = View::new(code, uses, body.to_vec(), parameters.iter().map(text).collect());
                if view.exchanges() || (view.has_atomics() && view.has_word(&["while", "for", "do"])) {
                    return true;
                }
                atomics_elsewhere |= view.has_atomics();
            }
            Part::Item(item_index) => {
                let item = &items[item_index];
                if item.kind == ItemKind::Function && !may_run_on_device(code, item) {
                    continue;
                }
                let tokens = without_host_methods(code, items, uses, part, item);
                let view = View::new(code, uses, tokens, type_parameters(code, items, item));
                if view.exchanges() {
                    return true;
                }
                match spinning(code, lines, item, uses) {
                    Spin::OnAtomics => return true,
                    Spin::OnCalls => waits_on_calls = true,
                    Spin::No => {}
                }
                atomics_elsewhere |= item_index != index && view.has_atomics();
            }
        }
    }
    waits_on_calls && atomics_elsewhere
}

/// A device function, or one of which it cannot be told: markers may hide in macros.
fn may_run_on_device(code: &Code, item: &Item) -> bool {
    item.head.clone().any(|at| {
        let word = code.word(at);
        let capitals = word.len() > 1 && code.is_identifier(at) && !word.contains(|c: char| c.is_ascii_lowercase());
        matches!(word, "__device__" | "__global__" | "constexpr")
            || (capitals && at < item.name.start)
            || code.is_macro(word)
    })
}

/// Tokens of a part, bodies of host-only methods left out.
fn without_host_methods(code: &Code, items: &[Item], uses: &Uses, part: Part, item: &Item) -> Vec<Token> {
    let mut tokens = uses.tokens(part);
    if item.kind == ItemKind::Type {
        let inside = |other: &&Item| {
            other.kind == ItemKind::Function
                && other.tokens.start > item.tokens.start
                && other.tokens.end <= item.tokens.end
        };
        for method in items.iter().filter(inside).filter(|method| !may_run_on_device(code, method)) {
            let range = code.bytes(&method.tokens);
            tokens.retain(|token| !range.contains(&(token.start as usize)));
        }
    }
    tokens
}

/// Names of the type parameters of an item and of the templates around it.
fn type_parameters(code: &Code, items: &[Item], item: &Item) -> HashSet<String> {
    let around = items.iter().filter(|other| {
        other.template.is_some() && other.tokens.start <= item.tokens.start && other.tokens.end >= item.tokens.end
    });
    let params = around.flat_map(|other| template_params(code, other.template));
    params.filter(|param| param.is_type()).map(|param| param.name).collect()
}

enum Spin {
    No,
    OnAtomics,
    OnCalls,
}

/// Whether an open-ended loop of the item turns until an atomic, or a function of the file, says so.
fn spinning(code: &Code, lines: &Lines, item: &Item, uses: &Uses) -> Spin {
    let Some((open, Some(close))) = item.body else { return Spin::No };
    let mut spin = Spin::No;
    for found in loops(code, lines, open + 1..close, &crate::constants::Constants::default()) {
        let open_ended = found.kind != LoopKind::For || (found.condition.is_none() && found.init.is_none());
        if !open_ended {
            continue;
        }
        for at in code.tokens_in(&found.range) {
            let word = code.word(at);
            if is_atomic(word) {
                return Spin::OnAtomics;
            }
            if code.is_identifier(at) && code.word(at + 1) == "(" && !uses.parts_of(word).is_empty() {
                spin = Spin::OnCalls;
            }
        }
    }
    spin
}

/// The tokens of one part as code of their own.
struct View<'a> {
    code: Code,
    uses: &'a Uses<'a>,
    type_parameters: HashSet<String>,
}

impl<'a> View<'a> {
    fn new(code: &Code, uses: &'a Uses<'a>, tokens: Vec<Token>, type_parameters: HashSet<String>) -> Self {
        let lexed = Lexed { tokens, directives: Vec::new() };
        Self { code: code.with_tokens(lexed), uses, type_parameters }
    }

    fn has_atomics(&self) -> bool {
        (0..self.code.len()).any(|at| is_atomic(self.code.word(at)))
    }

    fn has_word(&self, words: &[&str]) -> bool {
        (0..self.code.len()).any(|at| words.contains(&self.code.word(at)))
    }

    fn exchanges(&self) -> bool {
        (0..self.code.len()).any(|at| match self.code.kind(at) {
            Some(TokenKind::Ident) => {
                let word = self.code.word(at);
                is_exchange(word) || (word == "cg" && self.code.word(at + 1) == "::") || self.calls_unknown(at)
            }
            Some(TokenKind::Punct) => self.calls_value(at),
            _ => false,
        })
    }

    /// `fns[i](x)` and `(*f)(x)`: a call of whatever the value is.
    fn calls_value(&self, at: usize) -> bool {
        let code = &self.code;
        if code.word(at) != "(" || at == 0 {
            return false;
        }
        match code.word(at - 1) {
            "]" => code.open(at - 1).is_some_and(|open| {
                open > 0
                    && (code.is_identifier(open - 1) && code.word(open - 1) != "return"
                        || matches!(code.word(open - 1), ")" | "]"))
            }),
            ")" => code.open(at - 1).is_some_and(|open| code.word(open + 1) == "*"),
            _ => false,
        }
    }

    /// The identifier at `at` is called, and what it does is neither in the file nor known.
    fn calls_unknown(&self, at: usize) -> bool {
        let code = &self.code;
        let word = code.word(at);
        let called = match code.word(at + 1) {
            "(" => true,
            "<" => code.close_angle(at + 1).is_some_and(|close| code.word(close + 1) == "("),
            _ => false,
        };
        if !called || is_keyword(word) || is_type(word) || is_independent(word) {
            return false;
        }
        if !self.uses.parts_of(word).is_empty() || self.type_parameters.contains(word) || self.is_local_lambda(word) {
            return false;
        }
        !self.declares(at)
    }

    /// `Type name(...)` declares a variable, if the type is known.
    fn declares(&self, at: usize) -> bool {
        let code = &self.code;
        let Some(mut before) = at.checked_sub(1) else { return false };
        if code.word(before) == ">" {
            match code.open_angle(before) {
                Some(open) if open > 0 => before = open - 1,
                _ => return false,
            }
        }
        let ty = code.word(before);
        code.is_identifier(before)
            && !matches!(ty, "return" | "else" | "throw" | "new" | "do" | "case")
            && (is_type(ty)
                || ty == "auto"
                || ty == "dim3"
                || self.type_parameters.contains(ty)
                || !self.uses.parts_of(ty).is_empty())
    }

    /// `auto word = [...]` stands in this part, so that its body is searched with it.
    fn is_local_lambda(&self, word: &str) -> bool {
        let code = &self.code;
        (1..code.len()).any(|at| {
            code.word(at) == word
                && code.word_before(at) == "auto"
                && code.word(at + 1) == "="
                && code.word(at + 2) == "["
        })
    }
}
