//! Parameters of functions and templates.

use std::ops::Range;

use crate::code::Code;
use crate::lexer::TokenKind;

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The type as written, qualifiers included, without the name.
    pub ty: String,
    /// The name; empty if there is none.
    pub name: String,
    /// The whole parameter.
    pub range: Range<usize>,
    /// The name within the text, if there is one.
    pub name_range: Option<Range<usize>>,
    /// It is a pointer (or an array, which decays to one).
    pub is_pointer: bool,
    /// What it points to, or itself if it is no pointer, is `const`.
    pub is_const: bool,
    /// It carries `__restrict__` or a synonym.
    pub restrict: bool,
}

/// A template parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateParam {
    /// `typename`, `class`, `int`, `template <typename> class`, ...
    pub kind: String,
    /// The name; empty if there is none.
    pub name: String,
    /// The name within the text, if there is one.
    pub name_range: Option<Range<usize>>,
    /// The whole parameter.
    pub range: Range<usize>,
    /// Bytes of the default, if there is one.
    pub default: Option<Range<usize>>,
}

impl TemplateParam {
    /// Whether it stands for a type.
    pub fn is_type(&self) -> bool {
        self.kind.starts_with("typename") || self.kind.starts_with("class")
    }
}

/// Parameters between the tokens of a pair of parentheses.
pub(crate) fn params(code: &Code, tokens: Range<usize>) -> Vec<Param> {
    let parts = code.split_commas(tokens);
    let only_void = parts.len() == 1 && code.slice(&parts[0]) == "void";
    if only_void {
        return Vec::new();
    }
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| param(code, part)).collect()
}

fn param(code: &Code, tokens: Range<usize>) -> Param {
    let declarator =
        top_level(code, &tokens).find(|&at| code.word(at) == "=").map_or(tokens.clone(), |e| tokens.start..e);
    let name = param_name(code, &declarator);
    let words: Vec<usize> = top_level(code, &declarator).collect();
    let star = words.iter().position(|&at| code.word(at) == "*" || code.word(at) == "[");
    let name_is_pointer = name.is_some_and(|at| code.word_before(at) == "*");
    let is_pointer = star.is_some() || name_is_pointer;
    let pointee = star.map_or(words.as_slice(), |star| &words[..star]);
    let ty_tokens = declarator.clone().filter(|at| Some(*at) != name);
    Param {
        ty: join(code, ty_tokens),
        name: name.map_or(String::new(), |at| code.word(at).to_owned()),
        range: code.bytes(&tokens),
        name_range: name.map(|at| code.bytes(&(at..at + 1))),
        is_pointer,
        is_const: pointee.iter().any(|&at| code.word(at) == "const"),
        restrict: declarator.clone().any(|at| is_restrict(code.word(at))),
    }
}

/// Whether `word` is a spelling of `restrict`.
pub(crate) fn is_restrict(word: &str) -> bool {
    matches!(word, "__restrict__" | "__restrict" | "restrict" | "RESTRICT" | "GGML_CUDA_RESTRICT")
}

const TYPE_WORDS: [&str; 20] = [
    "const",
    "volatile",
    "unsigned",
    "signed",
    "int",
    "long",
    "short",
    "char",
    "float",
    "double",
    "bool",
    "void",
    "auto",
    "typename",
    "struct",
    "class",
    "enum",
    "size_t",
    "half",
    "constexpr",
];

fn param_name(code: &Code, tokens: &Range<usize>) -> Option<usize> {
    // `type (*name)(...)` and `type (&name)[n]`.
    if let Some(open) =
        top_level(code, tokens).find(|&at| code.word(at) == "(" && matches!(code.word(at + 1), "*" | "&"))
    {
        let close = code.close(open)?;
        return (open + 1..close).rev().find(|&at| code.is_identifier(at));
    }
    let last = top_level(code, tokens).filter(|&at| code.is_identifier(at)).last()?;
    let word = code.word(last);
    let qualifies = code.word_before(last) == "::" || TYPE_WORDS.contains(&word) || is_restrict(word);
    (last > tokens.start && !qualifies).then_some(last)
}

/// Positions in `tokens` that stand in no bracket, template brackets included; openers are positions too.
fn top_level<'a>(code: &'a Code, tokens: &Range<usize>) -> impl Iterator<Item = usize> + 'a {
    let (mut at, end) = (tokens.start, tokens.end);
    std::iter::from_fn(move || {
        (at < end).then(|| {
            let here = at;
            at = match code.word(here) {
                "<" => code.close_angle(here).filter(|&close| close < end).map_or(here + 1, |close| close + 1),
                _ => code.skip(here),
            };
            here
        })
    })
}

/// Words joined as C++ is usually written.
pub(crate) fn join(code: &Code, tokens: impl Iterator<Item = usize>) -> String {
    let mut text = String::new();
    let mut after_word = false;
    for at in tokens {
        let word = code.word(at);
        let is_word = matches!(code.kind(at), Some(TokenKind::Ident | TokenKind::Number));
        if after_word && (is_word || matches!(word, "*" | "&" | "&&"))
            || (is_word && text.ends_with(['*', '&', '>', ',']))
        {
            text.push(' ');
        }
        text.push_str(word);
        after_word = is_word || word == ">";
    }
    text
}

/// Parameters of `template <...>`.
pub(crate) fn template_params(code: &Code, template: Option<(usize, usize)>) -> Vec<TemplateParam> {
    let Some((open, close)) = template else { return Vec::new() };
    let parts = code.split_commas(open + 1..close);
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| template_param(code, part)).collect()
}

fn template_param(code: &Code, tokens: Range<usize>) -> TemplateParam {
    let equals = top_level(code, &tokens).find(|&at| code.word(at) == "=");
    let declarator = tokens.start..equals.unwrap_or(tokens.end);
    let name = top_level(code, &declarator)
        .filter(|&at| code.is_identifier(at))
        .last()
        .filter(|&at| at > declarator.start && code.word_before(at) != "::" && !TYPE_WORDS.contains(&code.word(at)));
    TemplateParam {
        kind: join(code, declarator.clone().filter(|at| Some(*at) != name)),
        name: name.map_or(String::new(), |at| code.word(at).to_owned()),
        name_range: name.map(|at| code.bytes(&(at..at + 1))),
        range: code.bytes(&tokens),
        default: equals.map(|at| code.bytes(&(at + 1..tokens.end))),
    }
}
