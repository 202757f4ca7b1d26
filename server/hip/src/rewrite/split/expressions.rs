//! Which expressions have the same value for all work-items of a block, and which can be evaluated again at any time.

use std::ops::Range;

use crate::code::Code;
use crate::device_functions::{is_keyword, is_type};
use crate::kernels::Function;
use crate::lexer::{Token, TokenKind};
use crate::params::TemplateParam;

use super::locals::{Locals, Shape};

/// What an expression may hold.
pub(super) struct Allowed<'a> {
    /// threadIdx.
    pub work_item: bool,
    /// Assignments; to which variables is asked elsewhere.
    pub changes: bool,
    /// Divisions by what is no constant, which are dear to repeat.
    pub division: bool,
    /// Which variables.
    pub local: &'a dyn Fn(usize) -> bool,
}

/// Functions of values alone.
const PURE: &str = "min max umin umax abs labs llabs fabs fabsf fmin fminf fmax fmaxf ceil ceilf floor floorf sqrt sqrtf \
    log2 log2f exp2 exp2f round roundf trunc truncf __popc __popcll __clz __clzll __ffs __ffsll __mul24 __umul24 \
    __builtin_popcount __builtin_clz __builtin_ctz std";

/// Names that are the same for a block.
const BLOCK: &str = "blockIdx blockDim gridDim warpSize hipBlockIdx_x hipBlockIdx_y hipBlockIdx_z hipBlockDim_x \
    hipBlockDim_y hipBlockDim_z hipGridDim_x hipGridDim_y hipGridDim_z true false nullptr NULL INFINITY NAN FLT_MAX FLT_MIN \
    DBL_MAX INT_MAX INT_MIN UINT_MAX __AMDGCN_WAVEFRONT_SIZE";

const WORK_ITEM: &str = "threadIdx hipThreadIdx_x hipThreadIdx_y hipThreadIdx_z";

fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|other| other == word)
}

/// Judges expressions of one kernel.
pub(super) struct Expressions<'a> {
    pub code: &'a Code,
    pub locals: &'a Locals,
    pub template_params: &'a [TemplateParam],
    /// The file's.
    pub functions: &'a [Function],
}

impl Expressions<'_> {
    /// Whether the bytes `range` hold nothing but what is allowed. No memory is read in any case: another work-item may
    /// have written to it in between.
    pub fn fits(&self, range: &Range<usize>, allowed: &Allowed) -> bool {
        let tokens: Vec<Token> = self.code.tokens_in(range).filter_map(|at| self.code.token(at)).collect();
        let tokens = match tokens.first() {
            Some(first) if first.text(&self.code.text) == "=" => &tokens[1..],
            _ => &tokens[..],
        };
        self.tokens_fit(tokens, &[], range.start, allowed, 0)
    }

    /// As [`Expressions::fits`], for tokens that stand at the byte `at` or are put there by a macro with `parameters`.
    fn tokens_fit(&self, tokens: &[Token], parameters: &[&str], at: usize, allowed: &Allowed, depth: u32) -> bool {
        let word = |index: usize| tokens.get(index).map_or("", |token: &Token| token.text(&self.code.text));
        let before = |index: usize| index.checked_sub(1).map_or("", word);
        depth < 8
            && tokens.iter().enumerate().all(|(index, token)| match token.kind {
                TokenKind::Number | TokenKind::Char => true,
                TokenKind::Str => false,
                TokenKind::Punct => self.operator_fits(tokens, index, allowed),
                TokenKind::Ident => {
                    let name = word(index);
                    let called = word(index + 1) == "(";
                    if before(index) == "." {
                        return !called;
                    }
                    if parameters.contains(&name) {
                        return true;
                    }
                    // Before types: `half` and `pair` are names that variables bear, too.
                    if let Some(local) = self.locals.resolve(name, if depth == 0 { token.start as usize } else { at }) {
                        return !called && ((allowed.local)(local) || self.is_constexpr(local));
                    }
                    if is_keyword(name) || is_type(name) {
                        return !matches!(name, "new" | "delete" | "throw" | "co_return" | "operator" | "return");
                    }
                    holds(BLOCK, name) && !called
                        || holds(WORK_ITEM, name) && allowed.work_item
                        || holds(PURE, name) && !self.is_of_the_file(name)
                        || self.template_params.iter().any(|param| param.name == name)
                        || !called && self.is_constant(name)
                        || self.macro_fits(name, at, allowed, depth)
                }
            })
    }

    fn operator_fits(&self, tokens: &[Token], index: usize, allowed: &Allowed) -> bool {
        let word = |index: usize| tokens.get(index).map_or("", |token: &Token| token.text(&self.code.text));
        let kind = |index: usize| tokens.get(index).map(|token| token.kind);
        let after_value = index > 0
            && (word(index - 1) == ")" || matches!(kind(index - 1), Some(TokenKind::Ident | TokenKind::Number)));
        match word(index) {
            "[" | "]" | "->" | "->*" | ".*" | "#" | "##" => false,
            ";" => allowed.changes,
            // After a parenthesis it may be a cast that is followed by a read of memory: then the operand is a name.
            "*" => {
                after_value && (word(index - 1) != ")" || self.is_value(tokens, index - 1)) || word(index + 1) == ")"
            }
            "&" => after_value && word(index - 1) != ")",
            "/" | "%" => {
                allowed.division
                    || kind(index + 1) == Some(TokenKind::Number)
                    || kind(index + 1) == Some(TokenKind::Ident) && self.names_constant(word(index + 1))
            }
            "++" | "--" => allowed.changes,
            "<" | ">" if matches!(word(index + 1), "<=" | ">=") => allowed.changes,
            "==" | "!=" | "<=" | ">=" => true,
            operator if operator.ends_with('=') => allowed.changes,
            _ => true,
        }
    }

    /// The parenthesis that closes at `close` holds a value, not the type of a cast.
    fn is_value(&self, tokens: &[Token], close: usize) -> bool {
        let mut depth = 0;
        let mut open = close;
        loop {
            match tokens[open].text(&self.code.text) {
                ")" => depth += 1,
                "(" => depth -= 1,
                _ => {}
            }
            if depth == 0 || open == 0 {
                break;
            }
            open -= 1;
        }
        let called = open > 0 && tokens[open - 1].kind == TokenKind::Ident;
        let types = |token: &Token| {
            let word = token.text(&self.code.text);
            is_type(word)
                || word == "*"
                || self.template_params.iter().any(|param| param.name == word && param.is_type())
        };
        called
            || tokens[open + 1..close].iter().any(|token| token.kind == TokenKind::Number)
            || tokens[open + 1..close].iter().any(|token| {
                self.locals.resolve(token.text(&self.code.text), token.start as usize).is_some()
                    || holds(BLOCK, token.text(&self.code.text))
                    || holds(WORK_ITEM, token.text(&self.code.text))
            }) && !tokens[open + 1..close].iter().any(types)
    }

    fn is_of_the_file(&self, name: &str) -> bool {
        let code = self.code;
        // `T max(T a, T b)`, with or without a body.
        let declares = |at: usize| is_type(code.word(at)) || code.is_identifier(at) && !is_keyword(code.word(at));
        code.is_macro(name)
            || self.functions.iter().any(|function| function.name == name)
            || code.places(name).any(|at| at > 0 && code.word(at + 1) == "(" && declares(at - 1))
    }

    fn names_constant(&self, name: &str) -> bool {
        self.is_constant(name)
            || self.template_params.iter().any(|param| param.name == name)
            || self
                .code
                .macro_definitions(name)
                .any(|define| matches!(define.macro_body(&self.code.text), [one] if one.kind == TokenKind::Number))
    }

    /// The file declares a `const`, `constexpr` or enumerator of that name with its value, and nothing else of it.
    fn is_constant(&self, name: &str) -> bool {
        let code = self.code;
        let mut found = false;
        for at in code.places(name) {
            let declares =
                at > 0 && (code.is_identifier(at - 1) || matches!(code.word(at - 1), "*" | "&" | ">" | "{" | ","));
            if declares && matches!(code.word(at + 1), "=" | "{" | "," | "}" | ";" | "[" | "(") {
                let mut start = at;
                while start > 0 && !matches!(code.word(start - 1), ";" | "{" | "}" | "(") {
                    start -= 1;
                }
                let enumerates = code.word_before(start) == "{"
                    && start > 1
                    && (start.saturating_sub(6)..start).any(|head| code.word(head) == "enum");
                let fixed = (start..at).any(|head| matches!(code.word(head), "const" | "constexpr"))
                    && !(start..at).any(|head| code.word(head) == "*" || code.word(head) == "&");
                match code.word(at + 1) {
                    "=" | "{" if fixed || enumerates => found = true,
                    "," | "}" if enumerates => found = true,
                    // `int other, name;`
                    "," | ";" | "[" if code.word(at - 1) == "," && self.begins_declaration(start) => return false,
                    // A use in a list, or in a call.
                    "," | "}" | "(" | ";" | "[" if !code.is_identifier(at - 1) => {}
                    _ if code.word(at - 1) == "return" => {}
                    _ => return false,
                }
            }
        }
        found
    }

    /// A number that the compiler knows: declared once for the block, and the same wherever its name is known.
    fn is_constexpr(&self, local: usize) -> bool {
        let local = &self.locals.all[local];
        local.shape == Shape::Plain
            && self.code.tokens_in(&local.specifiers).any(|at| self.code.word(at) == "constexpr")
    }

    /// The statement at the token `start` begins with a type or a qualifier and a name, as declarations do.
    fn begins_declaration(&self, start: usize) -> bool {
        let code = self.code;
        code.is_identifier(start) && (code.is_identifier(start + 1) || matches!(code.word(start + 1), "*" | "<" | "::"))
    }

    fn macro_fits(&self, name: &str, at: usize, allowed: &Allowed, depth: u32) -> bool {
        let code = self.code;
        code.is_macro(name)
            && code.macro_definitions(name).all(|define| {
                let (head, _) = define.macro_head(&code.text);
                let parameters: Vec<&str> = define.tokens[1..head].iter().map(|token| token.text(&code.text)).collect();
                let plain = Allowed { changes: false, ..*allowed };
                self.tokens_fit(define.macro_body(&code.text), &parameters, at, &plain, depth + 1)
            })
    }
}
