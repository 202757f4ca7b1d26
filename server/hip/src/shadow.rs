//! The shadow of a text: the same length and lines, with what the grammar cannot read blanked by spaces.
//!
//! tree-sitter parses the shadow; everything that is blanked is read from the tokens of the real text.

use std::collections::HashSet;
use std::ops::Range;

use crate::code::Code;
use crate::lexer::{DirectiveKind, TokenKind};

/// Makes the shadow of `code`.
pub(crate) fn shadow(code: &Code) -> String {
    let mut shadow = code.text.as_bytes().to_vec();
    for range in blanks(code) {
        for byte in &mut shadow[range] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    // Whole characters are blanked, so the bytes are still UTF-8; should that ever fail, the text itself will do.
    String::from_utf8(shadow).unwrap_or_else(|_| code.text.to_string())
}

/// Macros that stand alone as statements or declarations.
const STATEMENTS: [&str; 3] = ["HIP_DYNAMIC_SHARED", "_Pragma", "__pragma"];

/// Attributes with arguments.
const CALLED: [&str; 6] =
    ["__attribute__", "__attribute", "__align__", "__launch_bounds__", "__cluster_dims__", "__maxnreg__"];

/// Attributes without arguments.
const PLAIN: [&str; 8] = [
    "CK_TILE_HOST_DEVICE",
    "CK_TILE_DEVICE",
    "CK_TILE_HOST",
    "__forceinline__",
    "__noinline__",
    "__grid_constant__",
    "__managed__",
    "__inline__",
];

/// Byte ranges to blank, in order of their starts.
fn blanks(code: &Code) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let macros = attribute_macros(code);
    for at in 0..code.len() {
        match code.kind(at) {
            Some(TokenKind::Ident) => found.extend(identifier_blank(code, at, &macros)),
            Some(TokenKind::Punct) => found.extend(punctuation_blank(code, at)),
            _ => {}
        }
    }
    found
}

fn identifier_blank(code: &Code, at: usize, macros: &HashSet<&str>) -> Option<Range<usize>> {
    let word = code.word(at);
    let is_call = code.word(at + 1) == "(";
    let whole_call = |at: usize| code.close(at + 1).map(|close| code.bytes(&(at..close + 1)));
    if is_call && (STATEMENTS.contains(&word) || CALLED.contains(&word) || word.contains("LAUNCH_BOUNDS")) {
        return whole_call(at);
    }
    if PLAIN.contains(&word) || macros.contains(word) {
        return if is_call && !PLAIN.contains(&word) { whole_call(at) } else { Some(code.bytes(&(at..at + 1))) };
    }
    // `[=] __device__ (...)`: markers of lambdas.
    let marks_lambda = matches!(word, "__device__" | "__host__")
        && (code.word_before(at) == "]"
            || (at > 1 && matches!(code.word(at - 1), "__device__" | "__host__") && code.word(at - 2) == "]"));
    if marks_lambda {
        return Some(code.bytes(&(at..at + 1)));
    }
    is_capital_marker(code, at, word).then(|| code.bytes(&(at..at + 1)))
}

/// `MY_API void f()`: a name in capitals directly before a word that starts a declaration.
fn is_capital_marker(code: &Code, at: usize, word: &str) -> bool {
    let capitals = word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let starts_declaration = matches!(
        code.word(at + 1),
        "void"
            | "static"
            | "inline"
            | "constexpr"
            | "auto"
            | "__global__"
            | "__device__"
            | "__host__"
            | "template"
            | "bool"
            | "int"
            | "float"
            | "namespace"
    );
    capitals && starts_declaration
}

/// Macros of the file that stand for nothing but attributes.
fn attribute_macros(code: &Code) -> HashSet<&str> {
    let is_attribute = |word: &str| CALLED.contains(&word) || PLAIN.contains(&word) || word == "inline";
    let defines = code.lexed.directives.iter().filter(|directive| directive.kind == DirectiveKind::Define);
    let attributes = defines.filter(|define| {
        let body = define.macro_body(&code.text);
        let mut words = body.iter().filter(|t| t.kind == TokenKind::Ident).map(|t| t.text(&code.text));
        words.next().is_some_and(is_attribute) && !body.iter().any(|t| matches!(t.text(&code.text), "{" | ";" | "="))
    });
    attributes.filter_map(|define| define.macro_name()).map(|name| name.text(&code.text)).collect()
}

/// `A<B<C, D>>>& x`: three closing brackets that end templates read as the end of a launch. The innermost arguments go.
fn punctuation_blank(code: &Code, at: usize) -> Option<Range<usize>> {
    let three =
        (0..3).all(|ahead| code.word(at + ahead) == ">") && code.word_before(at) != ">" && code.word(at + 3) != "(";
    if !three {
        return None;
    }
    let open = code.open_angle(at)?;
    // A launch's own brackets have no identifier before the third `<`.
    code.is_identifier(open.checked_sub(1)?).then(|| code.bytes(&(open..at + 1)))
}
