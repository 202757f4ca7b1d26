//! Whether a kernel's work-items may wait for each other or exchange values.
//!
//! The answer is conservative: `false` only where everything that the kernel can reach is in the file or is known to concern
//! one work-item alone. Calls are resolved by name, all overloads, specialisations and macros of that name together.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::code::Code;
use crate::device_functions::{is_atomic, is_exchange, is_independent, is_keyword, is_type};
use crate::fingerprint::{Part, Uses};
use crate::items::{Item, ItemKind};
use crate::lexer::{Directive, DirectiveKind, Lexed, Token, TokenKind};
use crate::lines::Lines;
use crate::loops::{LoopKind, loops};
use crate::params::template_params;

/// The barrier that a kernel can be split at.
pub(crate) const BARRIER: &str = "__syncthreads";

/// Whether a kernel's work-items may wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// It, or a function that it can reach, may synchronise or exchange values between work-items.
    pub synchronises: bool,
    /// All that it can wait at are `__syncthreads();` in its own body: nothing that it calls waits or exchanges.
    pub is_at_own_barriers: bool,
}

impl Waiting {
    /// What is assumed where nothing is known.
    pub(crate) const ASSUMED: Self = Self { synchronises: true, is_at_own_barriers: false };
}

/// What one part of the file does, whoever uses it.
#[derive(Clone, Copy, Default)]
struct Conduct {
    /// It synchronises, exchanges, spins on an atomic or calls what is not known.
    synchronises: bool,
    /// It uses atomics.
    has_atomics: bool,
    /// It has an open-ended loop that calls functions of the file.
    waits_on_calls: bool,
}

/// Judges the kernels of one file; each part is looked at once.
pub(crate) struct Judge<'a> {
    code: &'a Code,
    lines: &'a Lines,
    items: &'a [Item],
    uses: &'a Uses<'a>,
    known: HashMap<Part, Conduct>,
}

impl<'a> Judge<'a> {
    pub fn new(code: &'a Code, lines: &'a Lines, items: &'a [Item], uses: &'a Uses<'a>) -> Self {
        Self { code, lines, items, uses, known: HashMap::new() }
    }

    /// How the kernel at item `index` waits.
    pub fn waiting(&mut self, index: usize) -> Waiting {
        let closure = self.uses.closure(index);
        let synchronises = self.synchronises(index, &closure);
        Waiting { synchronises, is_at_own_barriers: synchronises && self.waits_at_own_barriers(index, &closure) }
    }

    /// Whether the kernel at item `index`, which can reach `closure`, may synchronise.
    fn synchronises(&mut self, index: usize, closure: &BTreeSet<Part>) -> bool {
        let mut atomics_elsewhere = false;
        let mut waits_on_calls = false;
        for &part in closure {
            let conduct = self.conduct(part);
            if conduct.synchronises {
                return true;
            }
            atomics_elsewhere |= conduct.has_atomics && part != Part::Item(index);
            waits_on_calls |= conduct.waits_on_calls;
        }
        waits_on_calls && atomics_elsewhere
    }

    /// Whether all that the kernel at item `index` can wait at are statements `__syncthreads();` of its own.
    fn waits_at_own_barriers(&mut self, index: usize, closure: &BTreeSet<Part>) -> bool {
        if !self.uses.parts_of(BARRIER).is_empty() {
            return false;
        }
        let own = self.without_barriers(index);
        let others = closure.iter().filter(|&&part| part != Part::Item(index));
        let (mut has_atomics, mut synchronises) = (false, own.synchronises);
        for &part in others {
            let conduct = self.conduct(part);
            has_atomics |= conduct.has_atomics;
            synchronises |= conduct.synchronises || conduct.waits_on_calls;
        }
        !(synchronises || own.waits_on_calls && has_atomics)
    }

    fn conduct(&mut self, part: Part) -> Conduct {
        if let Some(known) = self.known.get(&part) {
            return *known;
        }
        let conduct = match part {
            Part::Directive(index) => self.of_macro(index),
            Part::Item(index) => self.of_item(index),
        };
        self.known.insert(part, conduct);
        conduct
    }

    fn of_macro(&self, index: usize) -> Conduct {
        let code = self.code;
        let define = &code.lexed.directives[index];
        let parameters = &define.tokens[..define.macro_head(&code.text).0];
        let parameters = parameters.iter().map(|token| token.text(&code.text).to_owned()).collect();
        let view = View::new(code, self.uses, define.macro_body(&code.text).to_vec(), parameters);
        let has_atomics = view.has_atomics();
        let spins = has_atomics && view.has_word(&["while", "for", "do"]);
        Conduct { synchronises: spins || view.exchanges(), has_atomics, waits_on_calls: false }
    }

    fn of_item(&self, index: usize) -> Conduct {
        let (code, items) = (self.code, self.items);
        let item = &items[index];
        if item.kind == ItemKind::Function && !may_run_on_device(code, item) {
            return Conduct::default();
        }
        self.of_tokens(index, without_host_methods(code, items, self.uses, Part::Item(index), item))
    }

    /// The kernel at item `index` as it would be without its statements `__syncthreads();`.
    fn without_barriers(&self, index: usize) -> Conduct {
        let word = |token: &Token| token.text(&self.code.text);
        let tokens = without_advice(self.code, self.uses.tokens(Part::Item(index)));
        let mut kept = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at..].iter().map(word).take(4).eq([BARRIER, "(", ")", ";"]) {
                at += 4;
            } else {
                kept.push(tokens[at]);
                at += 1;
            }
        }
        self.of_tokens(index, kept)
    }

    fn of_tokens(&self, index: usize, tokens: Vec<Token>) -> Conduct {
        let (code, items) = (self.code, self.items);
        let item = &items[index];
        let view = View::new(code, self.uses, tokens, type_parameters(code, items, item));
        let spin = spinning(code, self.lines, item, self.uses);
        Conduct {
            synchronises: matches!(spin, Spin::OnAtomics) || view.exchanges(),
            has_atomics: view.has_atomics(),
            waits_on_calls: matches!(spin, Spin::OnCalls),
        }
    }
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

/// Tokens of an item without those of pragmas that only advise the compiler: the `unroll(disable)` in one is no call.
fn without_advice(code: &Code, mut tokens: Vec<Token>) -> Vec<Token> {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return tokens };
    let advice = |directive: &&Directive| {
        let first = directive.tokens.first().map_or("", |token| token.text(&code.text));
        directive.kind == DirectiveKind::Pragma
            && matches!(first, "unroll" | "nounroll" | "unroll_and_jam" | "clang" | "GCC" | "STDC")
    };
    let span = first.start as usize..last.end as usize;
    let inside = code.lexed.directives.iter().filter(|directive| span.contains(&directive.range.start));
    for range in inside.filter(advice).map(|directive| directive.range.clone()) {
        tokens.retain(|token| !range.contains(&(token.start as usize)));
    }
    tokens
}

/// Tokens of a part, bodies of host-only methods left out.
fn without_host_methods(code: &Code, items: &[Item], uses: &Uses, part: Part, item: &Item) -> Vec<Token> {
    let mut tokens = without_advice(code, uses.tokens(part));
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
        // A `for` that counts ends by itself, unless its condition asks others.
        let open_ended = found.kind != LoopKind::For || found.condition.is_none() || found.step.is_none();
        let Some(asks) = (if open_ended { Some(found.range) } else { found.condition }) else { continue };
        for at in code.tokens_in(&asks) {
            let word = code.word(at);
            if is_atomic(word) {
                return Spin::OnAtomics;
            }
            let called = code.is_identifier(at) && code.word(at + 1) == "(";
            if called && !uses.parts_of(word).is_empty() {
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
                is_exchange(word)
                    || (word == "cg" && self.code.word(at + 1) == "::")
                    || self.calls_unknown(at)
                    || self.is_unknown_statement(at)
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
        if self.uses.has_body(word) || self.type_parameters.contains(word) || self.is_local_lambda(word) {
            return false;
        }
        !self.declares(at)
    }

    /// `NAME;`, which the file does not define: a macro of some header, which may be a barrier.
    fn is_unknown_statement(&self, at: usize) -> bool {
        let code = &self.code;
        let begins = match code.word_before(at) {
            "" | ";" | "{" | "}" | "else" | "do" => true,
            // `if (n) NAME;`, not `(void)n;`.
            ")" => code.open(at - 1).is_some_and(|open| matches!(code.word_before(open), "if" | "for" | "while")),
            _ => false,
        };
        begins && code.is_name_alone(at) && self.uses.parts_of(code.word(at)).is_empty()
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
