//! The tokens of one text with their brackets: what every finder walks over.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::brackets::Brackets;
use crate::lexer::{Directive, DirectiveKind, Lexed, Token, TokenKind, lex};

/// How far a template bracket may be from its partner, in tokens.
const MAX_TEMPLATE_TOKENS: usize = 4000;

/// A text with its tokens. Token positions ("at") are indices into `lexed.tokens`.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub text: Arc<str>,
    pub lexed: Lexed,
    pub brackets: Brackets,
    /// `#define` directives by macro name.
    macros: HashMap<String, Vec<usize>>,
    /// The tokens in the order of their words, once somebody looks for one.
    by_word: OnceLock<Vec<u32>>,
}

impl Code {
    pub fn new(text: Arc<str>) -> Self {
        let lexed = lex(&text);
        let brackets = Brackets::new(&text, &lexed);
        let mut macros: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, directive) in lexed.directives.iter().enumerate() {
            if directive.kind == DirectiveKind::Define
                && let Some(name) = directive.macro_name()
            {
                macros.entry(name.text(&text).to_owned()).or_default().push(index);
            }
        }
        Self { text, lexed, brackets, macros, by_word: OnceLock::new() }
    }

    /// The tokens of a directive as code of their own; positions in bytes stay those of the text.
    pub fn of_directive(&self, directive: &Directive) -> Self {
        self.with_tokens(Lexed { tokens: directive.tokens.clone(), directives: Vec::new() })
    }

    /// Some tokens of the text as code of their own.
    pub fn with_tokens(&self, lexed: Lexed) -> Self {
        let brackets = Brackets::new(&self.text, &lexed);
        Self { text: self.text.clone(), lexed, brackets, macros: HashMap::new(), by_word: OnceLock::new() }
    }

    /// Number of code tokens.
    pub fn len(&self) -> usize {
        self.lexed.tokens.len()
    }

    pub fn token(&self, at: usize) -> Option<Token> {
        self.lexed.tokens.get(at).copied()
    }

    /// Text of the token at `at`; empty past the end.
    pub fn word(&self, at: usize) -> &str {
        self.token(at).map_or("", |t| t.text(&self.text))
    }

    /// `NAME;` at `at`, if a statement begins there: no jump, and nothing is done with the name.
    pub fn is_name_alone(&self, at: usize) -> bool {
        let jumps = matches!(self.word(at), "return" | "break" | "continue");
        self.is_identifier(at) && self.word(at + 1) == ";" && !jumps
    }

    /// Text of the token before `at`; empty at the start.
    pub fn word_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    /// Where `word` stands, in order. The first call costs about as much as the text's lexing, others hardly anything. Tokens begin at
    /// places of 32 bits, so their numbers fit as well.
    pub fn places(&self, word: &str) -> impl Iterator<Item = usize> {
        let by_word = self.by_word.get_or_init(|| {
            let mut tokens: Vec<u32> = (0..self.len() as u32).collect();
            // Stable: the places of one word stay in order.
            tokens.sort_by(|&one, &other| self.word(one as usize).cmp(self.word(other as usize)));
            tokens
        });
        let start = by_word.partition_point(|&at| self.word(at as usize) < word);
        let count = by_word[start..].partition_point(|&at| self.word(at as usize) == word);
        by_word[start..start + count].iter().map(|&at| at as usize)
    }

    pub fn kind(&self, at: usize) -> Option<TokenKind> {
        self.token(at).map(|t| t.kind)
    }

    pub fn is_identifier(&self, at: usize) -> bool {
        self.kind(at) == Some(TokenKind::Ident)
    }

    /// Bytes from the first to the last token of `tokens`; an empty range at the first one's start if there is none.
    pub fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        let start = self.token(tokens.start).map_or(self.text.len(), |t| t.start as usize);
        if tokens.is_empty() {
            return start..start;
        }
        let end = self.token(tokens.end - 1).map_or(self.text.len(), |t| t.end as usize);
        start..end
    }

    /// The text from the first to the last token of `tokens`.
    pub fn slice(&self, tokens: &Range<usize>) -> &str {
        &self.text[self.bytes(tokens)]
    }

    /// The closer of the bracket at `at`.
    pub fn close(&self, at: usize) -> Option<usize> {
        self.brackets.partner(at).filter(|&partner| partner > at)
    }

    /// The opener of the bracket at `at`.
    pub fn open(&self, at: usize) -> Option<usize> {
        self.brackets.partner(at).filter(|&partner| partner < at)
    }

    /// Steps over the bracket group at `at`, if one starts there; else over one token.
    pub fn skip(&self, at: usize) -> usize {
        match self.word(at) {
            "(" | "[" | "{" => self.close(at).map_or(at + 1, |close| close + 1),
            _ => at + 1,
        }
    }

    /// The `>` that closes the template bracket `<` at `at`.
    pub fn close_angle(&self, at: usize) -> Option<usize> {
        let mut depth = 0usize;
        let mut here = at;
        let limit = self.len().min(at + MAX_TEMPLATE_TOKENS);
        while here < limit {
            match self.word(here) {
                "<" => depth += 1,
                ">" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(here);
                    }
                }
                ";" | ")" | "]" | "}" => return None,
                _ => {}
            }
            here = self.skip(here);
        }
        None
    }

    /// The `<` that the template bracket `>` at `at` closes.
    pub fn open_angle(&self, at: usize) -> Option<usize> {
        let mut depth = 0usize;
        let mut here = at;
        let limit = at.saturating_sub(MAX_TEMPLATE_TOKENS);
        loop {
            match self.word(here) {
                ">" => depth += 1,
                "<" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(here);
                    }
                }
                ")" | "]" | "}" => here = self.open(here)?,
                ";" | "(" | "[" | "{" => return None,
                _ => {}
            }
            if here <= limit {
                return None;
            }
            here -= 1;
        }
    }

    /// Splits `tokens` at top-level commas. Template brackets count as brackets where they close.
    pub fn split_commas(&self, tokens: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        if tokens.is_empty() {
            return parts;
        }
        let mut start = tokens.start;
        let mut here = tokens.start;
        while here < tokens.end {
            match self.word(here) {
                "," => {
                    parts.push(start..here);
                    start = here + 1;
                    here += 1;
                }
                "<" if here > tokens.start && self.is_identifier(here - 1) => {
                    here = match self.close_angle(here) {
                        Some(close) if close < tokens.end => close + 1,
                        _ => here + 1,
                    };
                }
                _ => here = self.skip(here),
            }
        }
        parts.push(start..tokens.end);
        parts
    }

    /// The tokens whose bytes lie in `range`.
    pub fn tokens_in(&self, range: &Range<usize>) -> Range<usize> {
        let tokens = &self.lexed.tokens;
        let start = tokens.partition_point(|t| (t.start as usize) < range.start);
        let end = tokens.partition_point(|t| (t.end as usize) <= range.end);
        start..end.max(start)
    }

    /// `#define`s of `name`.
    pub fn macro_definitions(&self, name: &str) -> impl Iterator<Item = &Directive> {
        self.macros.get(name).into_iter().flatten().map(|&index| &self.lexed.directives[index])
    }

    /// Whether the file defines a macro of that name.
    pub fn is_macro(&self, name: &str) -> bool {
        self.macros.contains_key(name)
    }

    /// Directives that stand among `tokens`.
    pub fn directives_in(&self, tokens: &Range<usize>) -> &[Directive] {
        let directives = &self.lexed.directives;
        let start = directives.partition_point(|d| d.before <= tokens.start);
        let end = directives.partition_point(|d| d.before < tokens.end);
        &directives[start..end.max(start)]
    }
}
