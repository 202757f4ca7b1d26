//! Tunable constants, and the value of integer expressions over them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::code::Code;
use crate::evaluate::evaluate;
use crate::items::{Item, ItemKind};
use crate::launches::Launch;
use crate::lexer::{DirectiveKind, Token, TokenKind};
use crate::lines::Lines;
use crate::params::template_params;
use crate::types::defines_type;

/// Where a constant comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstantKind {
    /// `constexpr int N = 4;`, `static const int N = 4;`, `const int N = 4;`
    Variable,
    /// `#define N 4`
    Define,
    /// A template argument of a launch or an explicit instantiation: `kernel<4>`.
    TemplateArgument,
    /// The default of a template parameter: `template <int N = 4>`.
    TemplateDefault,
}

/// An integer constant that could have another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Where it comes from.
    pub kind: ConstantKind,
    /// Its name; for template arguments the parameter's name where the template is in the file, else empty.
    pub name: String,
    /// The kernel or function whose template argument or default it is.
    pub of: Option<String>,
    /// The value as an integer.
    pub value: i64,
    /// Bytes of the value's text: what an edit replaces.
    pub value_range: Range<usize>,
    /// The value is one literal, so that replacing it cannot break an expression.
    pub is_literal: bool,
    /// Bytes in which the name stands for it; `None` for the whole file.
    pub scope: Option<Range<usize>>,
    /// Bytes of every use of the name in scope, the definition left out.
    pub uses: Vec<Range<usize>>,
    /// Line of the value, from 1.
    pub line: u32,
}

/// How a name gets its value.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub name: String,
    pub kind: ConstantKind,
    pub of: Option<String>,
    pub value: Vec<Token>,
    /// Bytes in which it holds.
    pub scope: Option<Range<usize>>,
    /// Byte at which the name is declared.
    pub declared: usize,
}

/// All names with a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants {
    definitions: Vec<Definition>,
    by_name: HashMap<String, Vec<usize>>,
    /// Tokens at which a name is defined as a type.
    types: HashMap<String, Vec<usize>>,
}

impl Constants {
    /// Definitions in `code`; `launches` give template parameters their values where all launches agree.
    pub fn new(code: &Code, items: &[Item], launches: &[Launch]) -> Self {
        let mut definitions = macros(code);
        definitions.extend(variables(code));
        for item in items {
            definitions.extend(template_defaults(code, item));
        }
        definitions.extend(template_arguments(code, items, launches));
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, definition) in definitions.iter().enumerate() {
            by_name.entry(definition.name.clone()).or_default().push(index);
        }
        let mut types: HashMap<String, Vec<usize>> = HashMap::new();
        for at in (0..code.len()).filter(|&at| code.is_identifier(at) && defines_type(code, at)) {
            types.entry(code.word(at).to_owned()).or_default().push(at);
        }
        Self { definitions, by_name, types }
    }

    /// Token at which `name` is defined as a type, if that happens once.
    pub fn type_definition(&self, name: &str) -> Option<usize> {
        match self.types.get(name)?.as_slice() {
            [at] => Some(*at),
            _ => None,
        }
    }

    /// Value of the expression made of the code tokens `tokens`.
    pub fn evaluate(&self, code: &Code, tokens: Range<usize>) -> Option<i64> {
        self.evaluate_tokens(code, code.lexed.tokens.get(tokens)?)
    }

    /// Value of the expression `tokens`, whose names are looked up from where it stands.
    pub fn evaluate_tokens(&self, code: &Code, tokens: &[Token]) -> Option<i64> {
        evaluate(code, self, tokens)
    }

    /// The definition that `name` has at byte `at`: the innermost scope wins, then the last before `at`. Where template
    /// arguments disagree there is none.
    pub fn lookup(&self, name: &str, at: usize) -> Option<&Definition> {
        let candidates = self.by_name.get(name)?.iter().map(|&index| &self.definitions[index]);
        let in_scope = candidates.filter(|d| d.scope.as_ref().is_none_or(|scope| scope.contains(&at)));
        let width = |d: &Definition| d.scope.as_ref().map_or(usize::MAX, |scope| scope.len());
        let ranked: Vec<&Definition> = in_scope.collect();
        let narrowest = ranked.iter().map(|d| width(d)).min()?;
        let mut best: Vec<&Definition> = ranked.into_iter().filter(|d| width(d) == narrowest).collect();
        if best.iter().any(|d| d.kind == ConstantKind::TemplateArgument) {
            best.retain(|d| d.kind == ConstantKind::TemplateArgument);
            return (best.len() == 1).then(|| best[0]);
        }
        let position = |d: &Definition| d.value.first().map_or(0, |t| t.start as usize);
        best.iter().rev().find(|d| position(d) <= at).or(best.first()).copied()
    }

    /// The constants with their uses.
    pub fn list(&self, code: &Code, lines: &Lines) -> Vec<Constant> {
        let mut found: Vec<Constant> = self.definitions.iter().filter_map(|d| self.constant(code, lines, d)).collect();
        let declared: HashSet<usize> = self.definitions.iter().map(|d| d.declared).collect();
        let mut uses: HashMap<usize, Vec<Range<usize>>> = HashMap::new();
        let in_directives = code.lexed.directives.iter().flat_map(|d| d.tokens.iter());
        for token in code.lexed.tokens.iter().chain(in_directives).filter(|t| t.kind == TokenKind::Ident) {
            let at = token.start as usize;
            if !declared.contains(&at)
                && let Some(definition) = self.lookup(token.text(&code.text), at)
                && let Some(value) = definition.value.first()
            {
                uses.entry(value.start as usize).or_default().push(token.range());
            }
        }
        for constant in &mut found {
            constant.uses = uses.remove(&constant.value_range.start).unwrap_or_default();
            constant.uses.sort_by_key(|range| range.start);
        }
        found.sort_by_key(|constant| constant.value_range.start);
        found.dedup_by(|a, b| a.value_range == b.value_range && a.name == b.name);
        found
    }

    fn constant(&self, code: &Code, lines: &Lines, definition: &Definition) -> Option<Constant> {
        let (first, last) = (definition.value.first()?, definition.value.last()?);
        let value = self.evaluate_tokens(code, &definition.value)?;
        Some(Constant {
            kind: definition.kind,
            name: definition.name.clone(),
            of: definition.of.clone(),
            value,
            value_range: first.start as usize..last.end as usize,
            is_literal: definition.value.len() == 1 && first.kind == TokenKind::Number,
            scope: definition.scope.clone(),
            uses: Vec::new(),
            line: lines.line_of(first.start as usize),
        })
    }
}

fn macros(code: &Code) -> Vec<Definition> {
    let defines = code.lexed.directives.iter().filter(|d| d.kind == DirectiveKind::Define);
    let plain = defines.filter(|d| !d.macro_head(&code.text).1);
    plain
        .filter_map(|directive| {
            let name = directive.macro_name()?;
            let value = directive.macro_body(&code.text).to_vec();
            (!value.is_empty()).then(|| Definition {
                name: name.text(&code.text).to_owned(),
                kind: ConstantKind::Define,
                of: None,
                value,
                scope: None,
                declared: name.start as usize,
            })
        })
        .collect()
}

/// `constexpr` and `const` integer variables, at every level.
fn variables(code: &Code) -> Vec<Definition> {
    let mut found = Vec::new();
    let mut blocks = Vec::new();
    for at in 0..code.len() {
        match code.word(at) {
            "{" => blocks.push(at),
            "}" => {
                blocks.pop();
            }
            "constexpr" | "const" => {
                let Some(equals) = integer_declaration(code, at) else { continue };
                let scope = blocks.last().and_then(|&open| scope_of(code, open));
                found.extend(declarators(code, equals, scope));
            }
            _ => {}
        }
    }
    found
}

/// Bytes of the block that the brace at `open` starts; `None` for a namespace, whose names hold for the file.
fn scope_of(code: &Code, open: usize) -> Option<Range<usize>> {
    let is_namespace = (open.saturating_sub(8)..open)
        .rev()
        .take_while(|&at| code.is_identifier(at) || code.word(at) == "::" || code.kind(at) == Some(TokenKind::Str))
        .any(|at| matches!(code.word(at), "namespace" | "extern"));
    if is_namespace {
        return None;
    }
    let close = code.close(open)?;
    Some(code.bytes(&(open..close + 1)))
}

/// Position of the first name's `=` if a declaration of integer constants starts after `at`.
fn integer_declaration(code: &Code, at: usize) -> Option<usize> {
    let mut here = at + 1;
    let mut integer = false;
    while code.is_identifier(here) || code.word(here) == "::" {
        match code.word(here) {
            "float" | "double" | "char" | "half" => return None,
            _ => integer |= is_integer_type(code.word(here)),
        }
        here += 1;
    }
    let name_stands = here >= at + 3 && code.is_identifier(here - 1);
    (integer && name_stands && matches!(code.word(here), "=" | "{")).then_some(here)
}

fn is_integer_type(word: &str) -> bool {
    matches!(
        word,
        "int" | "unsigned" | "long" | "short" | "size_t" | "auto" | "uint" | "bool" | "index_t" | "ptrdiff_t"
    ) || (word.ends_with("_t") && word.contains("int"))
}

/// `a = 1, b = 2;` from the first `=` on.
fn declarators(code: &Code, mut equals: usize, scope: Option<Range<usize>>) -> Vec<Definition> {
    let mut found = Vec::new();
    loop {
        let name = code.word_before(equals).to_owned();
        let declared = code.bytes(&(equals - 1..equals)).start;
        let braced = code.word(equals) == "{";
        let start = equals + 1;
        let mut end = start;
        if braced {
            end = code.close(equals).unwrap_or(start);
        } else {
            while end < code.len() && !matches!(code.word(end), ";" | "," | "}" | ")") {
                end = match code.word(end) {
                    "<" => code.close_angle(end).unwrap_or(end) + 1,
                    _ => code.skip(end),
                };
            }
        }
        let value = code.lexed.tokens.get(start..end).unwrap_or_default().to_vec();
        found.push(Definition { name, kind: ConstantKind::Variable, of: None, value, scope: scope.clone(), declared });
        let next = if braced { end + 1 } else { end };
        let goes_on = code.word(next) == "," && code.is_identifier(next + 1) && code.word(next + 2) == "=";
        if !goes_on {
            return found;
        }
        equals = next + 2;
    }
}

fn template_defaults(code: &Code, item: &Item) -> Vec<Definition> {
    let scope = code.bytes(&item.tokens);
    template_params(code, item.template)
        .into_iter()
        .filter(|param| !param.is_type())
        .filter_map(|param| {
            let tokens = code.tokens_in(&param.default?);
            Some(Definition {
                name: param.name,
                kind: ConstantKind::TemplateDefault,
                of: Some(item.name(code).to_owned()),
                value: code.lexed.tokens[tokens].to_vec(),
                scope: Some(scope.clone()),
                declared: param.name_range.map_or(0, |name| name.start),
            })
        })
        .collect()
}

/// Non-type template arguments at launches and explicit instantiations of the file's templates.
fn template_arguments(code: &Code, items: &[Item], launches: &[Launch]) -> Vec<Definition> {
    let mut given: Vec<(String, Vec<Range<usize>>)> = launches
        .iter()
        .filter(|launch| !launch.in_macro)
        .map(|launch| (launch.kernel.clone(), launch.template_args.clone()))
        .collect();
    given.extend(items.iter().filter(|item| item.kind == ItemKind::Instantiation).filter_map(|item| {
        let open = item.name.end;
        let close = (code.word(open) == "<").then(|| code.close_angle(open)).flatten()?;
        let args = code.split_commas(open + 1..close);
        Some((item.name(code).to_owned(), args.iter().map(|arg| code.bytes(arg)).collect()))
    }));
    let mut found = Vec::new();
    for (name, args) in given {
        let templates = items.iter().filter(|item| {
            item.kind == ItemKind::Function
                && !item.specialisation
                && item.template.is_some()
                && item.name(code) == name
        });
        for template in templates {
            let scope = code.bytes(&template.tokens);
            for (param, arg) in template_params(code, template.template).into_iter().zip(&args) {
                let value = code.lexed.tokens[code.tokens_in(arg)].to_vec();
                if param.is_type() || value.is_empty() {
                    continue;
                }
                let (kind, scope) = (ConstantKind::TemplateArgument, Some(scope.clone()));
                let declared = param.name_range.map_or(0, |name| name.start);
                found.push(Definition { name: param.name, kind, of: Some(name.clone()), value, scope, declared });
            }
        }
    }
    found
}
