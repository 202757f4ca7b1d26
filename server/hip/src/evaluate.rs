//! Integer expressions of C++ over a file's constants, as far as sizes and trip counts need them.

use std::cell::Cell;

use crate::code::Code;
use crate::constants::Constants;
use crate::lexer::{Token, TokenKind};
use crate::types::layout;

/// Nested expressions and definitions are followed this far.
const MAX_DEPTH: u32 = 24;

/// Steps that one value may take: definitions that double each other would take for ever.
const MAX_STEPS: u32 = 20_000;

/// What bounds one evaluation.
#[derive(Clone, Copy)]
pub(crate) struct Limits<'a> {
    depth: u32,
    steps: &'a Cell<u32>,
}

impl Limits<'_> {
    /// One level deeper and one step on; `None` where either is used up.
    pub fn descend(self) -> Option<Self> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        (self.depth < MAX_DEPTH).then_some(Self { depth: self.depth + 1, ..self })
    }
}

/// Value of the expression `tokens`, whose names are looked up from where it stands.
pub(crate) fn evaluate(code: &Code, constants: &Constants, tokens: &[Token]) -> Option<i64> {
    let steps = Cell::new(MAX_STEPS);
    value(code, constants, tokens, Limits { depth: 0, steps: &steps })
}

/// Size in bytes of the type that `tokens` spell.
pub(crate) fn size_of(code: &Code, constants: &Constants, tokens: &[Token]) -> Option<u64> {
    let steps = Cell::new(MAX_STEPS);
    layout(code, constants, tokens, Limits { depth: 0, steps: &steps }).map(|layout| layout.size)
}

/// Value of a whole expression within an evaluation.
pub(crate) fn value(code: &Code, constants: &Constants, tokens: &[Token], limits: Limits) -> Option<i64> {
    let limits = limits.descend()?;
    if let Some((condition, yes, no)) = conditional(code, tokens) {
        // Only the branch that is taken has to be known.
        let taken = if value(code, constants, condition, limits)? != 0 { yes } else { no };
        return value(code, constants, taken, limits);
    }
    let mut evaluator = Evaluator { code, constants, tokens, at: 0, limits };
    let value = evaluator.binary(0)?;
    (evaluator.at == tokens.len()).then_some(value)
}

/// The parts of `condition ? yes : no`.
fn conditional<'t>(code: &Code, tokens: &'t [Token]) -> Option<(&'t [Token], &'t [Token], &'t [Token])> {
    let mut depth = 0;
    let mut open = 0;
    let mut question = None;
    for (at, token) in tokens.iter().enumerate() {
        match token.text(&code.text) {
            "(" => depth += 1,
            ")" => depth -= 1,
            "?" if depth == 0 => {
                question.get_or_insert(at);
                open += 1;
            }
            ":" if depth == 0 => {
                open -= 1;
                if open == 0 {
                    return question
                        .map(|question| (&tokens[..question], &tokens[question + 1..at], &tokens[at + 1..]));
                }
            }
            _ => {}
        }
    }
    None
}

/// A recursive-descent reader of one expression. Everything it does not know makes the value unknown.
struct Evaluator<'a> {
    code: &'a Code,
    constants: &'a Constants,
    tokens: &'a [Token],
    at: usize,
    limits: Limits<'a>,
}

/// Binary operators by rising precedence.
const LEVELS: [&[&str]; 9] =
    [&["||"], &["&&"], &["|"], &["^"], &["&"], &["==", "!="], &["<=", ">=", "<", ">"], &["<<", ">>"], &["+", "-"]];
const PRODUCTS: &[&str] = &["*", "/", "%"];

impl<'a> Evaluator<'a> {
    fn word(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |t| t.text(&self.code.text))
    }

    fn value(&self, tokens: &[Token]) -> Option<i64> {
        value(self.code, self.constants, tokens, self.limits)
    }

    /// The operator of `level` that stands here; `<<` and `>>` are two tokens without a gap.
    fn operator(&self, level: usize) -> Option<&'static str> {
        let (first, second) = (self.tokens.get(self.at)?, self.tokens.get(self.at + 1));
        let adjoining = second.is_some_and(|s| s.start == first.end);
        let word = self.word(0);
        let doubled = adjoining && matches!(word, "<" | ">") && self.word(1) == word;
        let choices = LEVELS.get(level).copied().unwrap_or(PRODUCTS);
        let spelled = match (doubled, word) {
            (true, "<") => "<<",
            (true, _) => ">>",
            (false, word) => word,
        };
        choices.iter().find(|&&choice| choice == spelled).copied()
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let lower = |this: &mut Self| if level < LEVELS.len() { this.binary(level + 1) } else { this.unary() };
        let mut left = lower(self)?;
        while let Some(operator) = self.operator(level) {
            self.at += if matches!(operator, "<<" | ">>") { 2 } else { 1 };
            let right = lower(self)?;
            left = apply(operator, left, right)?;
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        let start = self.at;
        while matches!(self.word(0), "-" | "+" | "!" | "~") || self.at_cast() {
            self.at = if self.word(0) == "(" { self.closing(self.at)? + 1 } else { self.at + 1 };
        }
        let operators = start..self.at;
        let mut value = self.primary()?;
        for token in self.tokens[operators].iter().rev() {
            value = match token.text(&self.code.text) {
                "-" => value.checked_neg()?,
                "!" => i64::from(value == 0),
                "~" => !value,
                _ => value,
            };
        }
        Some(value)
    }

    /// `(int)`, `(unsigned long)`.
    fn at_cast(&self) -> bool {
        let inner = (self.word(0) == "(").then(|| self.closing(self.at)).flatten().map(|close| self.at + 1..close);
        inner.is_some_and(|inner| {
            !inner.is_empty() && self.tokens[inner].iter().all(|t| is_cast_word(t.text(&self.code.text)))
        })
    }

    fn primary(&mut self) -> Option<i64> {
        let token = *self.tokens.get(self.at)?;
        let word = self.word(0);
        match token.kind {
            TokenKind::Number => {
                self.at += 1;
                number(word)
            }
            TokenKind::Punct if word == "(" => {
                let inner = self.group()?;
                self.value(inner)
            }
            TokenKind::Ident => self.named(token),
            _ => None,
        }
    }

    fn named(&mut self, token: Token) -> Option<i64> {
        let mut word = self.word(0);
        let mut at = token.start as usize;
        self.at += 1;
        while self.word(0) == "::" {
            word = self.word(1);
            at = self.tokens.get(self.at + 1)?.start as usize;
            self.at += 2;
        }
        match (word, self.word(0)) {
            ("true", _) => Some(1),
            ("false", _) => Some(0),
            ("sizeof", "(") => {
                let inner = self.group()?;
                let layout = layout(self.code, self.constants, inner, self.limits)?;
                i64::try_from(layout.size).ok()
            }
            ("static_cast", "<") => {
                while self.at < self.tokens.len() && self.word(0) != "(" {
                    self.at += 1;
                }
                let inner = self.group()?;
                self.value(inner)
            }
            ("max" | "min", "(") => {
                let inner = self.group()?;
                let comma = top_level_comma(self.code, inner)?;
                let (left, right) = (self.value(&inner[..comma])?, self.value(&inner[comma + 1..])?);
                Some(if word == "max" { left.max(right) } else { left.min(right) })
            }
            (_, "(") if is_cast_word(word) => {
                let inner = self.group()?;
                self.value(inner)
            }
            (_, "(" | "." | "->" | "[") => None,
            (_, "<") if self.at_template() => None,
            _ => {
                let definition = self.constants.lookup(word, at)?;
                self.value(&definition.value)
            }
        }
    }

    /// The `<` after a name opens template arguments rather than compares.
    fn at_template(&self) -> bool {
        let closes = self.tokens[self.at..].iter().any(|t| t.text(&self.code.text) == ">");
        closes && self.word(1) != "<"
    }

    /// The tokens in the parentheses that start here; steps over them.
    fn group(&mut self) -> Option<&'a [Token]> {
        let close = self.closing(self.at)?;
        let inner = &self.tokens[self.at + 1..close];
        self.at = close + 1;
        Some(inner)
    }

    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.text(&self.code.text) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }
}

fn top_level_comma(code: &Code, tokens: &[Token]) -> Option<usize> {
    let mut depth = 0;
    tokens.iter().position(|token| {
        match token.text(&code.text) {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," => return depth == 0,
            _ => {}
        }
        false
    })
}

fn is_cast_word(word: &str) -> bool {
    matches!(word, "int" | "unsigned" | "long" | "short" | "size_t" | "uint" | "const")
        || (word.ends_with("_t") && word.contains("int"))
}

fn apply(operator: &str, left: i64, right: i64) -> Option<i64> {
    let truth = |condition: bool| Some(i64::from(condition));
    let shift = u32::try_from(right).ok();
    match operator {
        "||" => truth(left != 0 || right != 0),
        "&&" => truth(left != 0 && right != 0),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "&" => Some(left & right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "<<" => left.checked_shl(shift?),
        ">>" => left.checked_shr(shift?),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        _ => None,
    }
}

/// Value of an integer literal: decimal, hexadecimal, octal, binary, with separators and suffixes.
pub(crate) fn number(word: &str) -> Option<i64> {
    let plain = word.replace('\'', "");
    let plain = plain.trim_end_matches(['u', 'U', 'l', 'L', 'z', 'Z']);
    let lower = plain.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        i64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = lower.strip_prefix("0b") {
        i64::from_str_radix(digits, 2).ok()
    } else if lower.len() > 1 && lower.starts_with('0') {
        i64::from_str_radix(&lower, 8).ok()
    } else {
        lower.parse().ok()
    }
}
