//! Integer expressions of C++ over a file's constants, as far as sizes and trip counts need them.

use crate::code::Code;
use crate::constants::Constants;
use crate::lexer::{Token, TokenKind};
use crate::types::size_of_type;

/// Definitions that refer to each other are followed this far.
const MAX_DEPTH: u32 = 24;

/// A recursive-descent reader of one expression. Everything it does not know makes the value unknown.
pub(crate) struct Evaluator<'a> {
    code: &'a Code,
    constants: &'a Constants,
    tokens: &'a [Token],
    at: usize,
    depth: u32,
}

/// Binary operators by rising precedence.
const LEVELS: [&[&str]; 9] =
    [&["||"], &["&&"], &["|"], &["^"], &["&"], &["==", "!="], &["<=", ">=", "<", ">"], &["<<", ">>"], &["+", "-"]];
const PRODUCTS: &[&str] = &["*", "/", "%"];

impl<'a> Evaluator<'a> {
    pub fn new(code: &'a Code, constants: &'a Constants, tokens: &'a [Token], depth: u32) -> Self {
        Self { code, constants, tokens, at: 0, depth }
    }

    /// Value of the whole expression.
    pub fn value(mut self) -> Option<i64> {
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = self.conditional()?;
        (self.at == self.tokens.len()).then_some(value)
    }

    fn word(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |t| t.text(&self.code.text))
    }

    fn take(&mut self, word: &str) -> Option<()> {
        (self.word(0) == word).then(|| self.at += 1)
    }

    fn conditional(&mut self) -> Option<i64> {
        let condition = self.binary(0)?;
        if self.take("?").is_none() {
            return Some(condition);
        }
        // The branch that is not taken may be unknown or wrong, but it has to be stepped over.
        let yes = self.conditional();
        self.take(":")?;
        let no = self.conditional();
        if condition != 0 { yes } else { no }
    }

    /// The operator of `level` that stands here; `<<` and `>>` are two tokens without a gap.
    fn operator(&self, level: usize) -> Option<&'static str> {
        let (first, second) = (self.tokens.get(self.at)?, self.tokens.get(self.at + 1));
        let adjoining = second.is_some_and(|s| s.start == first.end);
        let word = self.word(0);
        let doubled = adjoining && matches!(word, "<" | ">") && self.word(1) == word;
        let choices = LEVELS.get(level).copied().unwrap_or(PRODUCTS);
        let spelled = if doubled { if word == "<" { "<<" } else { ">>" } } else { word };
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
        match self.word(0) {
            "-" => {
                self.at += 1;
                self.unary()?.checked_neg()
            }
            "+" => {
                self.at += 1;
                self.unary()
            }
            "!" => {
                self.at += 1;
                Some(i64::from(self.unary()? == 0))
            }
            "~" => {
                self.at += 1;
                Some(!self.unary()?)
            }
            _ => self.primary(),
        }
    }

    fn primary(&mut self) -> Option<i64> {
        let token = *self.tokens.get(self.at)?;
        let word = self.word(0);
        match token.kind {
            TokenKind::Number => {
                self.at += 1;
                number(word)
            }
            TokenKind::Punct if word == "(" => self.parenthesised(),
            TokenKind::Ident => self.named(token),
            _ => None,
        }
    }

    fn parenthesised(&mut self) -> Option<i64> {
        let close = self.closing(self.at)?;
        let inner = &self.tokens[self.at + 1..close];
        let is_cast = !inner.is_empty() && inner.iter().all(|t| is_cast_word(t.text(&self.code.text)));
        self.at = close + 1;
        if is_cast {
            return self.unary();
        }
        Evaluator::new(self.code, self.constants, inner, self.depth + 1).value()
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
                size_of_type(self.code, self.constants, inner).map(|layout| layout.size as i64)
            }
            ("static_cast", "<") => {
                while self.at < self.tokens.len() && self.word(0) != "(" {
                    self.at += 1;
                }
                self.parenthesised()
            }
            ("max" | "min", "(") => {
                let inner = self.group()?;
                let comma = top_level_comma(self.code, inner)?;
                let value = |tokens| Evaluator::new(self.code, self.constants, tokens, self.depth + 1).value();
                let (left, right) = (value(&inner[..comma])?, value(&inner[comma + 1..])?);
                Some(if word == "max" { left.max(right) } else { left.min(right) })
            }
            (_, "(") if is_cast_word(word) => self.parenthesised(),
            (_, "(" | "<" | "." | "->" | "[") if !self.at_comparison() => None,
            _ => {
                let definition = self.constants.lookup(word, at)?;
                Evaluator::new(self.code, self.constants, &definition.value, self.depth + 1).value()
            }
        }
    }

    /// `N < 4`: the `<` after a name compares.
    fn at_comparison(&self) -> bool {
        self.word(0) == "<"
            && !self.tokens[self.at..].iter().any(|t| t.text(&self.code.text) == ">" && self.word(1) != "<")
            || (self.word(0) == "<" && self.word(1) == "<")
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
