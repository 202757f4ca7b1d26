//! Fingerprints: hashes of a kernel's tokens and of all that it uses in the file.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use crate::code::Code;
use crate::items::{Item, ItemKind};
use crate::lexer::{Directive, DirectiveKind, Token};

/// Hash of the tokens (no comments, no white space) of a kernel and of what it uses in the file: functions, types,
/// macros, constants, globals, and the conditions they stand under.
///
/// Formatting keeps it; a changed constant or helper changes it; an unrelated function does not.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// Of any bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::from(&blake3::hash(bytes))
    }

    /// Of code that rests on more than what this was read from, such as the headers that its file includes.
    #[must_use]
    pub fn resting_on(self, further: Option<Self>) -> Self {
        match further {
            Some(further) => Self::of_bytes(&[self.0, further.0].concat()),
            None => self,
        }
    }

    /// The 16 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl From<&blake3::Hash> for Fingerprint {
    fn from(hash: &blake3::Hash) -> Self {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.as_bytes()[..16]);
        Self(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// Hash of all tokens and directives of a text, whoever uses them.
pub(crate) fn of_all(code: &Code) -> Fingerprint {
    let mut hasher = blake3::Hasher::new();
    let update = |hasher: &mut blake3::Hasher, token: &Token| {
        hasher.update(token.text(&code.text).as_bytes());
        hasher.update(b"\0");
    };
    code.lexed.tokens.iter().for_each(|token| update(&mut hasher, token));
    for directive in &code.lexed.directives {
        let (head, function_like) = directive.macro_head(&code.text);
        directive_tokens(directive).for_each(|token| update(&mut hasher, &token));
        // Where it stands among the tokens decides what it is for.
        let before = code.lexed.tokens.partition_point(|token| (token.start as usize) < directive.range.start);
        hasher.update(&[u8::from(function_like), head as u8]);
        hasher.update(&before.to_le_bytes());
    }
    Fingerprint::from(&hasher.finalize())
}

/// A part of the file that a name can stand for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Part {
    Item(usize),
    Directive(usize),
}

/// Number of a name that the file gives a meaning.
type NameId = usize;

/// What a part uses: names, each standing for all parts of that name, and parts that no name leads to.
struct Mentioned {
    names: Vec<NameId>,
    parts: Vec<Part>,
}

/// What each name of the file stands for, and what each part uses.
pub(crate) struct Uses<'a> {
    code: &'a Code,
    items: &'a [Item],
    by_name: HashMap<&'a str, NameId>,
    /// What each name stands for, by its number.
    parts: Vec<Vec<Part>>,
    operators: Vec<usize>,
    conditionals: Vec<Conditional>,
    /// What each part mentions, and the hash of each: many kernels share their helpers.
    mentioned: RefCell<HashMap<Part, Rc<Mentioned>>>,
    digests: RefCell<HashMap<Part, blake3::Hash>>,
}

/// An `#if` group: the tokens it spans and its conditions.
struct Conditional {
    range: Range<usize>,
    directives: Vec<usize>,
}

impl<'a> Uses<'a> {
    pub fn new(code: &'a Code, items: &'a [Item]) -> Self {
        let mut by_name: HashMap<&str, Vec<Part>> = HashMap::new();
        let mut operators = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let name = item.name(code);
            if item.kind == ItemKind::Other || item.kind == ItemKind::Instantiation || name.is_empty() {
                continue;
            }
            if name.starts_with("operator") {
                operators.push(index);
            }
            by_name.entry(name).or_default().push(Part::Item(index));
            for other in further_names(code, item) {
                by_name.entry(other).or_default().push(Part::Item(index));
            }
        }
        for (index, directive) in code.lexed.directives.iter().enumerate() {
            if let Some(name) = directive.macro_name() {
                by_name.entry(name.text(&code.text)).or_default().push(Part::Directive(index));
            }
        }
        let mut parts = Vec::with_capacity(by_name.len());
        let mut numbered = HashMap::with_capacity(by_name.len());
        for (name, named) in by_name {
            numbered.insert(name, parts.len());
            parts.push(named);
        }
        let (mentioned, digests) = Default::default();
        let conditionals = conditionals(code);
        Self { code, items, by_name: numbered, parts, operators, conditionals, mentioned, digests }
    }

    /// What `name` stands for in the file.
    pub fn parts_of(&self, name: &str) -> &[Part] {
        self.by_name.get(name).map_or(&[], |&name| &self.parts[name])
    }

    /// Whether the file has what a call of `name` runs: a body, a macro or a type, not only a declaration.
    pub fn has_body(&self, name: &str) -> bool {
        self.parts_of(name).iter().any(|part| match part {
            Part::Directive(_) => true,
            Part::Item(index) => matches!(self.items[*index].kind, ItemKind::Function | ItemKind::Type),
        })
    }

    /// The item and everything in the file that it can reach through names.
    pub fn closure(&self, start: usize) -> BTreeSet<Part> {
        let mut seen = BTreeSet::from([Part::Item(start)]);
        let mut seen_names = vec![false; self.parts.len()];
        let mut open = vec![Part::Item(start)];
        while let Some(part) = open.pop() {
            let mentioned = self.mentioned(part);
            open.extend(mentioned.parts.iter().copied().filter(|&part| seen.insert(part)));
            for &name in &mentioned.names {
                if !std::mem::replace(&mut seen_names[name], true) {
                    open.extend(self.parts[name].iter().copied().filter(|&part| seen.insert(part)));
                }
            }
        }
        seen
    }

    /// Everything that a part names, and the conditions it stands under name.
    fn mentioned(&self, part: Part) -> Rc<Mentioned> {
        if let Some(known) = self.mentioned.borrow().get(&part) {
            return known.clone();
        }
        let mut names: BTreeSet<NameId> = BTreeSet::new();
        let mut note = |tokens: &[Token]| {
            names.extend(tokens.iter().filter_map(|token| self.by_name.get(token.text(&self.code.text))));
        };
        note(&self.tokens(part));
        for directive in self.conditions(part) {
            note(&self.code.lexed.directives[directive].tokens);
        }
        let mut parts = self.classes_around(part);
        if matches!(part, Part::Item(index) if self.items[index].kind == ItemKind::Type) {
            parts.extend(self.operators_on(part));
        }
        let mentioned = Rc::new(Mentioned { names: names.into_iter().collect(), parts });
        self.mentioned.borrow_mut().insert(part, mentioned.clone());
        mentioned
    }

    /// The fingerprint of the item at `index` with its `closure`: its own hash, then those of what it reaches, in the order of the text.
    pub fn fingerprint(&self, index: usize, closure: &BTreeSet<Part>) -> Fingerprint {
        let own = Part::Item(index);
        let reached = closure.iter().copied().filter(|&part| part != own);
        let mut parts: Vec<(usize, Part)> = reached.map(|part| (self.start(part), part)).collect();
        parts.sort_unstable();
        let mut hasher = blake3::Hasher::new();
        for part in std::iter::once(own).chain(parts.into_iter().map(|(_, part)| part)) {
            hasher.update(self.digest(part).as_bytes());
        }
        Fingerprint::from(&hasher.finalize())
    }

    fn digest(&self, part: Part) -> blake3::Hash {
        *self.digests.borrow_mut().entry(part).or_insert_with(|| {
            let mut hasher = blake3::Hasher::new();
            self.hash(part, &mut hasher);
            hasher.finalize()
        })
    }

    fn hash(&self, part: Part, hasher: &mut blake3::Hasher) {
        for directive in self.conditions(part) {
            let tokens: Vec<Token> = directive_tokens(&self.code.lexed.directives[directive]).collect();
            self.hash_tokens(&tokens, hasher);
        }
        match part {
            Part::Item(_) => self.hash_tokens(&self.tokens(part), hasher),
            Part::Directive(index) => {
                // `#define F(x)` and `#define F (x)` differ only in white space.
                let (head, function_like) = self.code.lexed.directives[index].macro_head(&self.code.text);
                hasher.update(&[u8::from(function_like), head as u8]);
                self.hash_tokens(&self.code.lexed.directives[index].tokens, hasher);
            }
        }
    }

    fn hash_tokens(&self, tokens: &[Token], hasher: &mut blake3::Hasher) {
        for token in tokens {
            hasher.update(token.text(&self.code.text).as_bytes());
            hasher.update(b"\0");
        }
    }

    fn start(&self, part: Part) -> usize {
        match part {
            Part::Item(index) => self.code.bytes(&self.items[index].tokens).start,
            Part::Directive(index) => self.code.lexed.directives[index].range.start,
        }
    }

    /// Tokens of a part in order; directives within an item are among them.
    pub fn tokens(&self, part: Part) -> Vec<Token> {
        match part {
            Part::Directive(index) => self.code.lexed.directives[index].tokens.clone(),
            Part::Item(index) => {
                let span = self.items[index].tokens.clone();
                let mut tokens = self.code.lexed.tokens[span.clone()].to_vec();
                let inner = self.code.directives_in(&span);
                if !inner.is_empty() {
                    tokens.extend(inner.iter().flat_map(directive_tokens));
                    tokens.sort_by_key(|token| token.start);
                }
                tokens
            }
        }
    }

    /// Directives whose conditions decide whether the part is compiled.
    fn conditions(&self, part: Part) -> Vec<usize> {
        let start = self.start(part);
        let around = self.conditionals.iter().filter(|c| c.range.start < start && start < c.range.end);
        around
            .flat_map(|c| c.directives.iter().copied())
            .filter(|&at| self.code.lexed.directives[at].range.start < start)
            .collect()
    }

    /// The classes that the part is a member of.
    fn classes_around(&self, part: Part) -> Vec<Part> {
        let Part::Item(index) = part else { return Vec::new() };
        let is_class = |part: &&Part| matches!(part, Part::Item(other) if self.items[*other].kind == ItemKind::Type);
        let named = self.items[index].scope.iter().flat_map(|name| self.parts_of(name));
        named.filter(is_class).copied().collect()
    }

    /// Operators whose parameters mention the type.
    fn operators_on(&self, part: Part) -> Vec<Part> {
        let Part::Item(index) = part else { return Vec::new() };
        let name = self.items[index].name(self.code);
        let mentions = |&&operator: &&usize| {
            let parameters = self.items[operator].parameters;
            parameters.is_some_and(|(open, close)| (open..close).any(|at| self.code.word(at) == name))
        };
        self.operators.iter().filter(mentions).map(|&operator| Part::Item(operator)).collect()
    }
}

/// Keyword and tokens of a directive: `#ifdef` turned into `#ifndef` is a change.
fn directive_tokens(directive: &Directive) -> impl Iterator<Item = Token> {
    directive.keyword.into_iter().chain(directive.tokens.iter().copied())
}

/// Names besides the first that an item introduces: enumerators, further declarators, `typedef struct {...} name`.
fn further_names<'a>(code: &'a Code, item: &Item) -> Vec<&'a str> {
    let identifiers = |tokens: Range<usize>| tokens.filter(|&at| code.is_identifier(at)).map(|at| code.word(at));
    match (item.kind, item.body) {
        (ItemKind::Type, Some((open, Some(close)))) => {
            let is_enum = item.head_has(code, "enum");
            let enumerators = if is_enum { open + 1..close } else { close..close };
            identifiers(enumerators).chain(identifiers(close + 1..item.tokens.end)).collect()
        }
        (ItemKind::Variable, _) => {
            let after_comma = item.tokens.clone().filter(|&at| code.word_before(at) == "," && code.is_identifier(at));
            after_comma.map(|at| code.word(at)).collect()
        }
        _ => Vec::new(),
    }
}

fn conditionals(code: &Code) -> Vec<Conditional> {
    let mut found = Vec::new();
    let mut open: Vec<Conditional> = Vec::new();
    for (index, directive) in code.lexed.directives.iter().enumerate() {
        match directive.kind {
            DirectiveKind::If => {
                open.push(Conditional { range: directive.range.start..code.text.len(), directives: vec![index] });
            }
            DirectiveKind::Else => {
                if let Some(conditional) = open.last_mut() {
                    conditional.directives.push(index);
                }
            }
            DirectiveKind::Endif => {
                if let Some(mut conditional) = open.pop() {
                    conditional.range.end = directive.range.start;
                    found.push(conditional);
                }
            }
            _ => {}
        }
    }
    found.extend(open);
    found
}
