//! Text to tokens: code tokens in one stream, preprocessor directives beside it.
//!
//! The lexer never fails: whatever it does not know becomes a one-character [`TokenKind::Punct`]. `<` and `>` are always
//! single tokens (they may be template brackets); the other operators are read whole, so that `a + ++b` and `a++ + b` differ.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Identifier or keyword.
    Ident,
    /// Number literal with its suffix.
    Number,
    /// String literal, raw ones included.
    Str,
    /// Character literal.
    Char,
    /// Operator or bracket.
    Punct,
}

/// One token: its kind and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
}

impl Token {
    /// The bytes it covers.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Its text.
    pub fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.range()]
    }
}

/// What a preprocessor line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectiveKind {
    Define,
    Undef,
    /// `#if`, `#ifdef`, `#ifndef`.
    If,
    /// `#elif`, `#else` and their kin.
    Else,
    Endif,
    Pragma,
    Include,
    Other,
}

/// One preprocessor line with its continuation lines.
#[derive(Clone, Debug)]
pub(crate) struct Directive {
    pub kind: DirectiveKind,
    /// From the `#` to the end of the logical line, the line break left out.
    pub range: Range<usize>,
    /// `define`, `if`, ...; none for a lone `#`.
    pub keyword: Option<Token>,
    /// What follows the keyword.
    pub tokens: Vec<Token>,
    /// Index of the first code token after the directive.
    pub before: usize,
}

impl Directive {
    /// Name of the macro that a `#define` or `#undef` is about.
    pub fn macro_name(&self) -> Option<Token> {
        match self.kind {
            DirectiveKind::Define | DirectiveKind::Undef => {
                self.tokens.first().copied().filter(|t| t.kind == TokenKind::Ident)
            }
            _ => None,
        }
    }

    /// Number of tokens that a `#define` spends on name and parameters, and whether it has parameters.
    pub fn macro_head(&self, text: &str) -> (usize, bool) {
        let bytes = text.as_bytes();
        let Some(name) = self.macro_name() else { return (0, false) };
        let function_like = bytes.get(name.end as usize) == Some(&b'(');
        if !function_like {
            return (1, false);
        }
        let close = self.tokens.iter().position(|t| t.text(text) == ")");
        (close.map_or(self.tokens.len(), |at| at + 1), true)
    }

    /// The tokens of a macro's replacement.
    pub fn macro_body(&self, text: &str) -> &[Token] {
        &self.tokens[self.macro_head(text).0..]
    }
}

/// All tokens of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexed {
    /// Code outside directives.
    pub tokens: Vec<Token>,
    /// Directives, in order.
    pub directives: Vec<Directive>,
}

const OPERATORS: [&str; 22] = [
    "...", "->*", "::", "->", "++", "--", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "##", ".*",
];

/// Splits `text` into tokens.
pub(crate) fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0 };
    let mut lexed = Lexed { tokens: Vec::with_capacity(text.len() / 5), directives: Vec::new() };
    while let Some((token, starts_line)) = lexer.next(false) {
        if starts_line && token.text(text) == "#" {
            let directive = lexer.directive(token, lexed.tokens.len());
            lexed.directives.push(directive);
        } else {
            lexed.tokens.push(token);
        }
    }
    lexed
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next token and whether nothing but white space and comments stood before it on its line. Within a directive the
    /// end of the logical line ends the stream.
    fn next(&mut self, in_directive: bool) -> Option<(Token, bool)> {
        let mut starts_line = self.at == 0;
        loop {
            match self.peek(0) {
                b'\n' if in_directive => return None,
                b'\n' => {
                    starts_line = true;
                    self.at += 1;
                }
                b'\\' if matches!(self.peek(1), b'\n') => self.at += 2,
                b'\\' if self.peek(1) == b'\r' && self.peek(2) == b'\n' => self.at += 3,
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.peek(1) == b'/' => self.skip_line_comment(),
                b'/' if self.peek(1) == b'*' => self.skip_block_comment(),
                0 if self.at >= self.bytes.len() => return None,
                _ => break,
            }
        }
        let start = self.at;
        let kind = self.scan();
        Some((Token { kind, start: start as u32, end: self.at as u32 }, starts_line))
    }

    fn directive(&mut self, hash: Token, before: usize) -> Directive {
        let mut tokens = Vec::new();
        let mut end = hash.end as usize;
        while let Some((token, _)) = self.next(true) {
            tokens.push(token);
            end = token.end as usize;
        }
        let kind = match tokens.first().map_or("", |t| t.text(self.text)) {
            "define" => DirectiveKind::Define,
            "undef" => DirectiveKind::Undef,
            "if" | "ifdef" | "ifndef" => DirectiveKind::If,
            "elif" | "else" | "elifdef" | "elifndef" => DirectiveKind::Else,
            "endif" => DirectiveKind::Endif,
            "pragma" => DirectiveKind::Pragma,
            "include" | "include_next" | "import" => DirectiveKind::Include,
            _ => DirectiveKind::Other,
        };
        let keyword = (!tokens.is_empty()).then(|| tokens.remove(0));
        Directive { kind, range: hash.start as usize..end, keyword, tokens, before }
    }

    fn skip_line_comment(&mut self) {
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\n' => return,
                b'\\' if self.peek(1) == b'\n' => self.at += 2,
                b'\\' if self.peek(1) == b'\r' && self.peek(2) == b'\n' => self.at += 3,
                _ => self.at += 1,
            }
        }
    }

    fn skip_block_comment(&mut self) {
        self.at += 2;
        while self.at < self.bytes.len() {
            if self.peek(0) == b'*' && self.peek(1) == b'/' {
                self.at += 2;
                return;
            }
            self.at += 1;
        }
    }

    /// Reads one token that starts here; always moves on.
    fn scan(&mut self) -> TokenKind {
        let first = self.peek(0);
        match first {
            b'"' => self.quoted(b'"', TokenKind::Str),
            b'\'' => self.quoted(b'\'', TokenKind::Char),
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            _ if is_identifier_byte(first) => self.identifier(),
            _ => self.operator(),
        }
    }

    fn identifier(&mut self) -> TokenKind {
        let start = self.at;
        while is_identifier_byte(self.peek(0)) {
            self.at += 1;
        }
        let prefix = &self.text[start..self.at];
        match (self.peek(0), prefix) {
            (b'"', "R" | "LR" | "uR" | "UR" | "u8R") => self.raw_string(),
            (b'"', "L" | "u" | "U" | "u8") => self.quoted(b'"', TokenKind::Str),
            (b'\'', "L" | "u" | "U" | "u8") => self.quoted(b'\'', TokenKind::Char),
            _ => TokenKind::Ident,
        }
    }

    fn raw_string(&mut self) -> TokenKind {
        let open = self.at + 1;
        let delimiter = self.bytes[open..].iter().take(18).position(|&b| b == b'(');
        let Some(length) = delimiter else { return self.quoted(b'"', TokenKind::Str) };
        let mut closing = vec![b')'];
        closing.extend_from_slice(&self.bytes[open..open + length]);
        closing.push(b'"');
        let body = open + length + 1;
        let found = self.bytes[body..].windows(closing.len()).position(|w| w == closing);
        self.at = found.map_or(self.bytes.len(), |at| body + at + closing.len());
        TokenKind::Str
    }

    /// A literal in quotes; an unclosed one ends with its line, so that half-typed text costs one line.
    fn quoted(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'\n' => return kind,
                b'\\' if self.at + 1 < self.bytes.len() => self.at += 2,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return kind;
                    }
                }
            }
        }
        self.at = self.at.min(self.bytes.len());
        kind
    }

    fn number(&mut self) -> TokenKind {
        self.at += 1;
        loop {
            let here = self.peek(0);
            let exponent = matches!(self.bytes[self.at - 1], b'e' | b'E' | b'p' | b'P');
            let separator = here == b'\'' && self.peek(1).is_ascii_alphanumeric();
            let hexadecimal_e = exponent && matches!(here, b'+' | b'-');
            if here == b'.' || here.is_ascii_alphanumeric() || here == b'_' || separator || hexadecimal_e {
                self.at += 1;
            } else {
                return TokenKind::Number;
            }
        }
    }

    fn operator(&mut self) -> TokenKind {
        let rest = &self.bytes[self.at..];
        let length = OPERATORS.iter().find(|o| rest.starts_with(o.as_bytes())).map_or(1, |o| o.len());
        self.at += length;
        TokenKind::Punct
    }
}

fn is_identifier_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        lex(text).tokens.iter().map(|t| t.text(text)).collect()
    }

    #[test]
    fn splits_code() {
        for (text, expect) in [
            ("a>>b", vec!["a", ">", ">", "b"]),
            ("a+++b", vec!["a", "++", "+", "b"]),
            ("x /* } */ y // {\nz", vec!["x", "y", "z"]),
            ("1'000u + 1.5e-3f", vec!["1'000u", "+", "1.5e-3f"]),
            ("R\"x(a\" )x\" b", vec!["R\"x(a\" )x\"", "b"]),
            ("'\\'' \"a\\\"b\"", vec!["'\\''", "\"a\\\"b\""]),
            ("\"open\nnext", vec!["\"open", "next"]),
            ("caf\u{e9} \u{1f600}", vec!["caf\u{e9}", "\u{1f600}"]),
        ] {
            assert_eq!(words(text), expect, "{text}");
        }
    }

    #[test]
    fn keeps_directives_apart() {
        let text = "int a;\n  #define F(x) \\\n  ((x) + 1) // c\nint b;\n#if 1\n#endif";
        let lexed = lex(text);
        assert_eq!(words(text), ["int", "a", ";", "int", "b", ";"]);
        assert_eq!(lexed.directives.len(), 3);
        let define = &lexed.directives[0];
        assert_eq!((define.kind, define.before), (DirectiveKind::Define, 3));
        assert_eq!(&text[define.range.clone()], "#define F(x) \\\n  ((x) + 1)");
        let body: Vec<_> = define.macro_body(text).iter().map(|t| t.text(text)).collect();
        assert_eq!(body, ["(", "(", "x", ")", "+", "1", ")"]);
    }
}
