//! Definitions and declarations at namespace and class level: functions, types, variables.
//!
//! The walk needs no grammar: a head of tokens ends in `;` or in a brace group, and the head says what it is. It survives
//! unknown macros, `#if` branches and missing brackets, which is what a file under edit is made of.

use std::ops::Range;

use crate::code::Code;
use crate::heads::{Declared, FunctionHead, Head, classify, declared, is_attribute, templates};
use crate::lexer::TokenKind;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemKind {
    /// Function with a body.
    Function,
    /// Function without a body.
    Prototype,
    /// Class, struct, union, enum, typedef, alias.
    Type,
    /// Variable at namespace level.
    Variable,
    /// Explicit instantiation of a template.
    Instantiation,
    /// `using namespace`, `static_assert`, stray macros.
    Other,
}

/// One item; all positions are token indices.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub kind: ItemKind,
    /// Tokens of the name within the text; may be several for `operator+`.
    pub name: Range<usize>,
    /// Enclosing namespaces and classes, and qualifiers in the name itself.
    pub scope: Vec<String>,
    /// Whole item.
    pub tokens: Range<usize>,
    /// From the start to the body or the end.
    pub head: Range<usize>,
    /// The parentheses around the parameters.
    pub parameters: Option<(usize, usize)>,
    /// The braces of the body; the closer is missing in broken text.
    pub body: Option<(usize, Option<usize>)>,
    /// The `<` and `>` of the innermost `template <...>`.
    pub template: Option<(usize, usize)>,
    /// An explicit specialisation: `template <>`.
    pub specialisation: bool,
}

impl Item {
    /// A function in the scopes `outer`, whose head begins at the token `head`.
    fn function(function: FunctionHead, outer: &[String], head: usize, body: (usize, Option<usize>)) -> Self {
        let (brace, close) = body;
        Self {
            kind: ItemKind::Function,
            name: function.name,
            scope: outer.iter().cloned().chain(function.qualifiers).collect(),
            tokens: head..close.map_or(brace + 1, |close| close + 1),
            head: head..brace,
            parameters: Some(function.parameters),
            body: Some(body),
            specialisation: is_specialisation(&function.template),
            template: function.template.last().copied(),
        }
    }

    /// Name as written, without qualifiers.
    pub fn name<'a>(&self, code: &'a Code) -> &'a str {
        code.slice(&self.name)
    }

    /// Whether `word` stands in the head.
    pub fn head_has(&self, code: &Code, word: &str) -> bool {
        self.head.clone().any(|at| code.word(at) == word)
    }
}

/// All items of a text, in order.
pub(crate) fn items(code: &Code) -> Vec<Item> {
    let mut finder = Finder { code, items: Vec::new(), depth: 0 };
    finder.scope(0, code.len(), &[]);
    finder.lost_kernels();
    finder.items.sort_by_key(|item| item.tokens.start);
    finder.items
}

/// Tokens that the head of a definition may have.
const MAX_HEAD: usize = 5000;

/// Scopes nested deeper than this are not entered.
const MAX_SCOPES: usize = 100;

struct Finder<'a> {
    code: &'a Code,
    items: Vec<Item>,
    /// Number of scopes around the walk.
    depth: usize,
}

impl Finder<'_> {
    /// Walks the declarations from `start` to `end`, which lie in the scope `path`.
    fn scope(&mut self, start: usize, end: usize, path: &[String]) {
        if self.depth < MAX_SCOPES {
            self.depth += 1;
            self.declarations(start, end, path);
            self.depth -= 1;
        }
    }

    fn declarations(&mut self, start: usize, end: usize, path: &[String]) {
        let code = self.code;
        let mut head = start;
        let mut at = start;
        while at < end {
            match code.word(at) {
                ";" => {
                    self.declaration(head..at, at + 1, path);
                    at += 1;
                    head = at;
                }
                "{" => {
                    let after = self.braces(head, at, end, path);
                    // An initialiser or a type's body: the declaration goes on to its semicolon.
                    if after.ends_item {
                        head = after.next;
                    }
                    at = after.next;
                }
                "}" | ")" | "]" => {
                    at += 1;
                    head = at;
                }
                "public" | "private" | "protected" if code.word(at + 1) == ":" => {
                    at += 2;
                    head = at;
                }
                "template" if code.word(at + 1) == "<" => {
                    at = code.close_angle(at + 1).map_or(at + 2, |close| close + 1);
                }
                _ => at = code.skip(at),
            }
        }
    }

    fn braces(&mut self, head: usize, brace: usize, end: usize, path: &[String]) -> After {
        let code = self.code;
        let head = self.trim_head(head, brace);
        let close = code.close(brace).filter(|&close| close < end);
        let next = close.map_or(end, |close| close + 1);
        match classify(code, head, brace) {
            Head::Namespace(names) => {
                let inner: Vec<String> = path.iter().cloned().chain(names).collect();
                self.scope(brace + 1, close.unwrap_or(end), &inner);
                After { next, ends_item: true }
            }
            Head::Function(function) => {
                self.items.push(Item::function(function, path, head, (brace, close)));
                // The body of a function whose brace is never closed is searched for the definitions after it.
                After { next: if close.is_some() { next } else { brace + 1 }, ends_item: true }
            }
            Head::Type(name) => {
                let semicolon = close.map_or(brace, |close| self.statement_end(close + 1, end));
                let template = templates(code, head).0;
                let text = code.slice(&name).to_owned();
                self.items.push(Item {
                    kind: ItemKind::Type,
                    name,
                    scope: path.to_vec(),
                    tokens: head..(semicolon + 1).min(code.len()),
                    head: head..brace,
                    parameters: None,
                    body: Some((brace, close)),
                    template: template.last().copied(),
                    specialisation: is_specialisation(&template),
                });
                let inner: Vec<String> = path.iter().cloned().chain([text]).collect();
                self.scope(brace + 1, close.unwrap_or(end), &inner);
                After { next: if close.is_some() { semicolon + 1 } else { end }, ends_item: true }
            }
            // A long or unclosed head is broken text: each further brace would read it again.
            Head::Initialiser => After {
                next: close.map_or(brace + 1, |close| close + 1),
                ends_item: close.is_none() || brace - head > MAX_HEAD,
            },
            Head::Block => After { next: close.map_or(brace + 1, |close| close + 1), ends_item: true },
        }
    }

    /// The `;` that ends the statement at `at`, or the last token before a new item starts.
    fn statement_end(&self, mut at: usize, end: usize) -> usize {
        let from = at;
        while at < end && at < from + 64 {
            match self.code.word(at) {
                ";" => return at,
                "}" | "template" | "namespace" => break,
                _ => at = self.code.skip(at),
            }
        }
        from.saturating_sub(1)
    }

    fn declaration(&mut self, head: Range<usize>, end: usize, path: &[String]) {
        let code = self.code;
        let start = self.trim_head(head.start, head.end);
        let head = start..head.end;
        if head.is_empty() {
            return;
        }
        let Declared { kind, name, parameters, template } = declared(code, &head);
        self.items.push(Item {
            kind,
            name,
            scope: path.to_vec(),
            tokens: start..end,
            head,
            parameters,
            body: None,
            template: template.last().copied(),
            specialisation: is_specialisation(&template),
        });
    }

    /// Leaves out macros called without a semicolon before the declaration proper: `DECLARE(x)` on lines of its own.
    fn trim_head(&self, start: usize, end: usize) -> usize {
        let code = self.code;
        let mut head = start;
        while head + 2 < end && code.is_identifier(head) && !is_attribute(code.word(head)) && code.word(head + 1) == "("
        {
            let Some(close) = code.close(head + 1).filter(|&close| close + 1 < end) else { break };
            let starts_item = matches!(code.word(close + 1), "template" | "namespace" | "extern" | "static" | "using")
                || code.word(close + 1).starts_with("__global__");
            if !starts_item {
                break;
            }
            head = close + 1;
        }
        head
    }

    /// Kernels whose `__global__` no item covers: the walk lost its way, so each is read on its own.
    fn lost_kernels(&mut self) {
        let code = self.code;
        let mut covered: Vec<Range<usize>> = self
            .items
            .iter()
            .filter(|item| matches!(item.kind, ItemKind::Function | ItemKind::Prototype | ItemKind::Instantiation))
            .map(|item| item.head.clone())
            .collect();
        covered.sort_by_key(|head| head.start);
        for at in 0..code.len() {
            if code.word(at) != "__global__" {
                continue;
            }
            let before = covered.partition_point(|head| head.start <= at);
            if before > 0 && covered[before - 1].contains(&at) {
                continue;
            }
            if let Some(item) = self.lost_kernel(at) {
                self.items.push(item);
            }
        }
    }

    fn lost_kernel(&self, marker: usize) -> Option<Item> {
        let code = self.code;
        let mut brace = marker;
        while brace < code.len() && code.word(brace) != "{" {
            if matches!(code.word(brace), ";" | "}") {
                return None;
            }
            brace = code.skip(brace);
        }
        code.token(brace)?;
        let mut head = marker;
        while head > 0 && (code.is_identifier(head - 1) || code.kind(head - 1) == Some(TokenKind::Str)) {
            head -= 1;
        }
        while code.word_before(head) == ">"
            && let Some(open) = code.open_angle(head - 1)
            && code.word_before(open) == "template"
        {
            head = open - 1;
        }
        let Head::Function(function) = classify(code, head, brace) else { return None };
        let close = code.close(brace);
        Some(Item::function(function, &[], head, (brace, close)))
    }
}

struct After {
    next: usize,
    ends_item: bool,
}

fn is_specialisation(template: &[(usize, usize)]) -> bool {
    template.last().is_some_and(|(open, close)| open + 1 == *close)
}
