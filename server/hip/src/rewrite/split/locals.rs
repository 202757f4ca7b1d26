//! The local variables of a kernel: where each is declared, where its name stands, and what is done to it there.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::Node;

use super::operands::{Operand, assigns, callee, gives_references, is_open_call, may_refer, member_is_array};
use crate::code::Code;
use crate::device_functions::is_keyword;
use crate::kernels::{Function, Kernel};

/// How a variable is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `T x`
    Plain,
    /// `T *x`
    Pointer,
    /// `T &x`
    Reference,
    /// `T x[n]`
    Array,
    /// Anything else.
    Other,
}

/// A variable of the kernel.
pub(super) struct Local {
    pub name: String,
    /// Where its name is declared, in bytes.
    pub at: usize,
    /// From there to the end of the scope that it is declared in.
    pub known: Range<usize>,
    /// It is a parameter of the kernel.
    pub is_param: bool,
    pub shape: Shape,
    /// The declaration with its semicolon; of a parameter, the parameter.
    pub declaration: Range<usize>,
    /// `const float` of `const float *p = a;`
    pub specifiers: Range<usize>,
    /// `*p` of `const float *p = a;`
    pub declarator: Range<usize>,
    /// `= a` of `const float *p = a;`
    pub initialiser: Option<Range<usize>>,
}

/// A place at which a variable's name stands, but for its declaration.
pub(super) struct Mention {
    /// Byte.
    pub at: usize,
    /// Index of the variable.
    pub local: usize,
    /// It may be changed there.
    pub modifies: bool,
    /// Its address may be taken there.
    pub exposes: bool,
}

/// The variables and mentions of a kernel.
pub(super) struct Locals {
    pub all: Vec<Local>,
    pub mentions: Vec<Mention>,
}

impl Locals {
    pub fn read(code: &Code, kernel: &Kernel, body: Node, functions: &[Function]) -> Self {
        let mut all = Vec::new();
        for param in &kernel.params {
            let Some(name) = &param.name_range else { continue };
            all.push(Local {
                name: param.name.clone(),
                at: body.start_byte(),
                known: body.byte_range(),
                is_param: true,
                shape: if param.ty.contains('&') {
                    Shape::Reference
                } else if param.is_pointer {
                    Shape::Pointer
                } else {
                    Shape::Plain
                },
                declaration: param.range.clone(),
                specifiers: param.range.start..name.start,
                declarator: name.clone(),
                initialiser: None,
            });
        }
        collect(code, body, &mut all);
        let mut locals = Self { all, mentions: Vec::new() };
        Finder { code, functions, locals: &locals }.mentions(body).into_iter().for_each(|m| locals.mentions.push(m));
        locals
    }

    /// The variable that `name` means at the byte `at`.
    pub fn resolve(&self, name: &str, at: usize) -> Option<usize> {
        let here = |(_, local): &(usize, &Local)| local.name == name && local.known.contains(&at);
        self.all.iter().enumerate().filter(here).max_by_key(|(_, local)| local.at).map(|(index, _)| index)
    }

    pub fn mentions_of(&self, local: usize) -> impl Iterator<Item = &Mention> {
        self.mentions.iter().filter(move |mention| mention.local == local)
    }

    /// The variables whose names stand in `range`.
    pub fn mentioned_in(&self, range: &Range<usize>) -> impl Iterator<Item = usize> {
        self.mentions.iter().filter(move |mention| range.contains(&mention.at)).map(|mention| mention.local)
    }
}

/// Collects what is declared below `node`.
fn collect(code: &Code, node: Node, all: &mut Vec<Local>) {
    let declares = match node.kind() {
        "declaration" => !is_operation(code, node, all),
        "for_range_loop" => true,
        "parameter_declaration" | "optional_parameter_declaration" => is_of_lambda(node),
        _ => false,
    };
    if declares {
        let mut cursor = node.walk();
        let declarators: Vec<Node> = node.children_by_field_name("declarator", &mut cursor).collect();
        let first = declarators.first().map_or(node.end_byte(), Node::start_byte);
        for declarator in declarators {
            let whole = declarator.byte_range();
            let inner = match declarator.kind() {
                "init_declarator" => declarator.child_by_field_name("declarator").unwrap_or(declarator),
                _ => declarator,
            };
            names(inner, &mut |name, shape| {
                all.push(Local {
                    name: code.text[name.byte_range()].to_owned(),
                    at: name.start_byte(),
                    known: name.start_byte()..scope_end(node),
                    is_param: false,
                    shape,
                    declaration: node.byte_range(),
                    specifiers: node.start_byte()..first,
                    declarator: inner.byte_range(),
                    initialiser: (inner.end_byte() < whole.end).then_some(inner.end_byte()..whole.end),
                });
            });
        }
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        collect(code, child, all);
    }
}

/// `x & y;` and `x * y;` read as declarations of `y`, although `x` is a variable.
fn is_operation(code: &Code, node: Node, known: &[Local]) -> bool {
    let ty = node.child_by_field_name("type").filter(|ty| ty.kind() == "type_identifier");
    ty.is_some_and(|ty| {
        let name = &code.text[ty.byte_range()];
        known.iter().any(|local| local.name == name && local.known.contains(&ty.start_byte()))
    })
}

/// A parameter that can be used: of a lambda. `(f(x & y)) - z` reads as a cast to a function's type with a parameter `y`, and
/// parameters of such types declare nothing.
fn is_of_lambda(parameter: Node) -> bool {
    let list = parameter.parent().filter(|list| list.kind() == "parameter_list");
    let around = list.and_then(|list| list.parent()?.parent());
    around.is_some_and(|around| around.kind() == "lambda_expression")
}

/// The names that a declarator declares. What is nearest to the name says what it is: `*x[3]` is an array.
fn names<'t>(declarator: Node<'t>, found: &mut impl FnMut(Node<'t>, Shape)) {
    if declarator.kind() == "identifier" {
        let shape = match declarator.parent().map(|parent| parent.kind()) {
            Some("pointer_declarator") => Shape::Pointer,
            Some("reference_declarator") => Shape::Reference,
            Some("array_declarator") => Shape::Array,
            Some("init_declarator" | "declaration" | "parameter_declaration" | "for_range_loop") => Shape::Plain,
            _ => Shape::Other,
        };
        return found(declarator, shape);
    }
    if declarator.kind() == "structured_binding_declarator" {
        let mut cursor = declarator.walk();
        declarator.named_children(&mut cursor).for_each(|name| found(name, Shape::Other));
        return;
    }
    let inner = declarator.child_by_field_name("declarator").or_else(|| {
        let mut cursor = declarator.walk();
        declarator
            .named_children(&mut cursor)
            .find(|child| child.kind().ends_with("declarator") || child.kind() == "identifier")
    });
    if let Some(inner) = inner {
        names(inner, found);
    }
}

/// The end of the scope in which the declaration `node` stands.
pub(super) fn scope_end(node: Node) -> usize {
    if node.kind() == "for_range_loop" {
        return node.end_byte();
    }
    let mut around = node.parent();
    while let Some(scope) = around {
        if matches!(
            scope.kind(),
            "compound_statement"
                | "for_statement"
                | "for_range_loop"
                | "if_statement"
                | "while_statement"
                | "do_statement"
                | "switch_statement"
                | "lambda_expression"
        ) {
            return scope.end_byte();
        }
        around = scope.parent();
    }
    node.end_byte()
}

/// Finds names and what is done to them, by the tokens around: more may count as changed or exposed than is.
struct Finder<'a> {
    code: &'a Code,
    functions: &'a [Function],
    locals: &'a Locals,
}

impl Finder<'_> {
    fn mentions(&self, body: Node) -> Vec<Mention> {
        let code = self.code;
        let mut found = Vec::new();
        let mut around: Vec<Bracket> = Vec::new();
        let mut known: HashMap<&str, Takes> = HashMap::new();
        for at in code.tokens_in(&body.byte_range()) {
            around.retain(|bracket| at < bracket.end);
            if matches!(code.word(at), "(" | "{" | "[") {
                let subscript =
                    code.word(at) == "[" && at > 0 && (is_operand(code, at - 1) || code.word(at - 1) == ")");
                let callee = callee(code, at).filter(|_| !subscript);
                let takes = match callee {
                    _ if !subscript && is_open_call(code, at) => Some(Takes::Any),
                    Some(callee) => {
                        let word = code.word(callee);
                        Some(known.entry(word).or_insert_with(|| self.takes(word, callee)).clone())
                    }
                    None => None,
                };
                let end = code.close(at).unwrap_or(usize::MAX);
                around.push(Bracket { open: at, end, subscript, takes: takes.unwrap_or_default() });
            }
            let Some(byte) = code.is_identifier(at).then(|| code.bytes(&(at..at + 1)).start) else { continue };
            if code.is_macro(code.word(at)) {
                self.of_macro(code.word(at), byte, 0, &mut found);
            } else if !matches!(code.word_before(at), "." | "->" | "::")
                && let Some(local) = self.locals.resolve(code.word(at), byte)
                && self.locals.all[local].at != byte
            {
                // Of an index only the value counts, and of a pointer that is followed, too.
                let within = || around.iter().rev().take_while(|bracket| !bracket.subscript);
                let index = around.iter().rev().find(|bracket| bracket.subscript);
                let index = index.map(|bracket| code.bytes(&(bracket.open..bracket.open + 1)).start);
                let followed =
                    self.locals.all[local].shape == Shape::Pointer && matches!(code.word(at + 1), "[" | "->");
                let passed: Vec<Taken> =
                    within().filter(|_| !followed).map(|bracket| self.taken(bracket, at)).collect();
                let changed = passed.contains(&Taken::ToChange);
                let bound = !followed && self.binds_reference(at, byte, index);
                let captured = around.last().is_some_and(|bracket| self.is_captured(at, bracket));
                let aliased = captured || !followed && self.is_ranged_over(at, local, around.last());
                let exposes = changed
                    || aliased
                    || passed.contains(&Taken::ToKeep)
                    || bound
                    || self.decays(at, local)
                    || !followed
                        && (self.takes_address(at) || within().any(|bracket| self.is_choice_with_address(bracket)));
                found.push(Mention {
                    at: byte,
                    local,
                    modifies: changed || aliased || self.modifies(at, local),
                    exposes,
                });
            }
        }
        found
    }

    /// Names in the bodies of macros. What a macro does to them is not looked at.
    fn of_macro(&self, name: &str, byte: usize, depth: u32, found: &mut Vec<Mention>) {
        let code = self.code;
        for define in code.macro_definitions(name).filter(|_| depth < 16) {
            for token in define.macro_body(&code.text) {
                let word = token.text(&code.text);
                if let Some(local) = self.locals.resolve(word, byte) {
                    found.push(Mention { at: byte, local, modifies: true, exposes: true });
                } else if word != name && code.is_macro(word) {
                    self.of_macro(word, byte, depth + 1, found);
                }
            }
        }
    }

    /// What a call of `word` may do to its arguments: functions of the file say so, of objects that are called it is not
    /// known.
    fn takes(&self, word: &str, at: usize) -> Takes {
        let code = self.code;
        let byte = code.bytes(&(at..at + 1)).start;
        if let Some(local) = self.locals.resolve(word, byte) {
            let local = &self.locals.all[local];
            let may = !is_plain(code, &local.specifiers) && local.shape == Shape::Plain;
            return if may { Takes::Any } else { Takes::default() };
        }
        let is_function = self.functions.iter().any(|function| function.name == word);
        if self.macro_changes(word, 0)
            || gives_references(word)
            || !is_function && !code.is_macro(word) && may_refer(code, word)
        {
            return Takes::Any;
        }
        let mut by_position = Vec::new();
        for function in self.functions.iter().filter(|function| function.name == word) {
            let returned = &code.text[function.range.start..function.name_range.start];
            let may_keep = returned.contains(['*', '&']) || returned.contains("auto") || returned.trim().is_empty();
            for (position, param) in function.params.iter().enumerate() {
                let taken = match param.ty.contains('&') {
                    true if !param.is_const => Taken::ToChange,
                    true if may_keep => Taken::ToKeep,
                    _ => Taken::AsValue,
                };
                by_position.resize(by_position.len().max(position + 1), Taken::AsValue);
                by_position[position] = by_position[position].max(taken);
            }
        }
        Takes::Positions(by_position)
    }

    /// What happens to the argument of `bracket` in which the token `at` stands.
    fn taken(&self, bracket: &Bracket, at: usize) -> Taken {
        match &bracket.takes {
            Takes::Any => Taken::ToChange,
            Takes::Positions(taken) if taken.iter().all(|taken| *taken == Taken::AsValue) => Taken::AsValue,
            Takes::Positions(taken) => {
                let arguments = self.code.split_commas(bracket.open + 1..bracket.end);
                let position = arguments.iter().position(|argument| argument.contains(&at));
                // A pack of arguments has one parameter.
                position
                    .and_then(|position| taken.get(position.min(taken.len() - 1)))
                    .copied()
                    .unwrap_or(Taken::ToChange)
            }
        }
    }

    fn function_takes_reference(&self, word: &str) -> bool {
        let mut named = self.functions.iter().filter(|function| function.name == word);
        named.any(|function| function.params.iter().any(|param| param.ty.contains('&')))
    }

    /// Whether a macro of that name may change what it is given, or take its address.
    fn macro_changes(&self, name: &str, depth: u32) -> bool {
        let code = self.code;
        code.macro_definitions(name).any(|define| {
            depth > 8
                || define.macro_body(&code.text).iter().map(|token| token.text(&code.text)).any(|word| {
                    matches!(word, "++" | "--" | "&" | "asm" | "##")
                        || word.ends_with('=') && !matches!(word, "==" | "!=" | "<=" | ">=")
                        || self.function_takes_reference(word)
                        || word != name && self.macro_changes(word, depth + 1)
                })
        })
    }

    /// The name at token `at` is followed by an assignment, perhaps to a part of it, or stands beside `++` or `--`.
    fn modifies(&self, at: usize, local: usize) -> bool {
        let code = self.code;
        if matches!(code.word_before(at), "++" | "--") {
            return true;
        }
        let is_pointer = self.locals.all[local].shape == Shape::Pointer;
        let operand = Operand::new(code, at, is_pointer);
        let next = operand.end;
        let calls_method = next > at + 1 && code.word(next) == "(";
        // `*p = 1` changes what the pointer points to.
        if is_pointer && next == at + 1 && code.word_before(at) == "*" && !matches!(code.word(next), "++" | "--") {
            return false;
        }
        calls_method || assigns(code, next) || operand.is_assigned(code)
    }

    /// The name stands in a list of captures where references are made: `[&r = x]`.
    fn is_captured(&self, at: usize, bracket: &Bracket) -> bool {
        let code = self.code;
        let has = |word: &str| (bracket.open..bracket.end).any(|inside| code.word(inside) == word);
        code.word(bracket.open) == "[" && !bracket.subscript && code.word_before(at) != "&" && has("=") && has("&")
    }

    /// `for (int &v : x)`
    fn is_ranged_over(&self, at: usize, local: usize, bracket: Option<&Bracket>) -> bool {
        let code = self.code;
        let operand = Operand::new(code, at, self.locals.all[local].shape == Shape::Pointer);
        let ranges = |bracket: &Bracket| {
            code.word_before(bracket.open) == "for"
                && operand.end == bracket.end
                && (bracket.open..at).any(|inside| code.word(inside) == "&")
        };
        code.word_before(at) == ":" && bracket.is_some_and(ranges)
    }

    /// The member that is named may be an array, which is an address here.
    fn decays(&self, at: usize, local: usize) -> bool {
        let code = self.code;
        let local = &self.locals.all[local];
        let is_constant = code.tokens_in(&local.specifiers).any(|word| code.word(word) == "const");
        if local.shape != Shape::Plain || is_constant || is_plain(code, &local.specifiers) || code.word(at + 1) != "." {
            return false;
        }
        let operand = Operand::new(code, at, false);
        let ends_with_member = code.is_identifier(operand.end - 1);
        match member_is_array(code, code.word(operand.end - 1)) {
            _ if !ends_with_member => false,
            Some(is_array) => is_array,
            None => operand.is_alone(code),
        }
    }

    /// `&x`, where the `&` is no operator between two values. After `)` there may stand either: `(char *)&x`.
    fn takes_address(&self, at: usize) -> bool {
        let code = self.code;
        let mut before = at;
        while before > 0 && code.word(before - 1) == "(" {
            before -= 1;
        }
        if code.word_before(before) != "&" {
            return false;
        }
        let operand = before
            .checked_sub(2)
            .is_some_and(|left| is_operand(code, left) || code.word(left) == ")" && !self.may_be_cast(left));
        !operand
    }

    /// The parenthesis that closes at `close` may hold a type: words alone that are no variables, and perhaps a `*` or `&` at
    /// its end.
    fn may_be_cast(&self, close: usize) -> bool {
        let code = self.code;
        let Some(open) = code.open(close) else { return true };
        let is_called = open > 0 && code.is_identifier(open - 1) && !is_keyword(code.word(open - 1));
        let is_variable = |at: usize| self.locals.resolve(code.word(at), code.bytes(&(at..at + 1)).start).is_some();
        let of_type = |at: usize| {
            code.is_identifier(at) && !is_variable(at) || matches!(code.word(at), "::" | "<" | ">" | "," | "*" | "&")
        };
        let to_array = (open + 1..close).any(|at| code.word(at) == "*" && code.word(at + 1) == ")");
        !is_called && (to_array || matches!(code.word(close - 1), "*" | "&" | ">") || (open + 1..close).all(of_type))
    }

    /// `&(c ? x : y)`, `&(x += 1)`: the address of one of the variables in the parentheses.
    fn is_choice_with_address(&self, bracket: &Bracket) -> bool {
        let code = self.code;
        let chooses = |at: usize| matches!(code.word(at), "?" | ",") || assigns(code, at);
        code.word(bracket.open) == "("
            && self.takes_address(bracket.open)
            && (bracket.open + 1..bracket.end).any(chooses)
    }

    /// The name at token `at`, byte `byte`, stands in the initialiser of a reference, and not in a subscript that opens there
    /// at `index`; or it is what a variable is made of whose type may hold a reference to it.
    fn binds_reference(&self, at: usize, byte: usize, index: Option<usize>) -> bool {
        let code = self.code;
        let binds = |local: &Local| {
            let initialiser = local.initialiser.as_ref().filter(|range| range.contains(&byte));
            let is_index = || initialiser.is_some_and(|range| index.is_some_and(|open| range.contains(&open)));
            let refers = || {
                local.shape == Shape::Reference
                    || Operand::new(code, at, false).is_alone(code) && self.may_hold_reference(local)
            };
            initialiser.is_some() && !is_index() && refers()
        };
        self.locals.all.iter().any(binds)
    }

    fn may_hold_reference(&self, local: &Local) -> bool {
        let code = self.code;
        let words = |range: &Range<usize>| code.tokens_in(range);
        local.shape == Shape::Other
            || words(&local.declarator).any(|at| code.word(at) == "&")
            || words(&local.specifiers).any(|at| {
                let word = code.word(at);
                let fixed = matches!(word, "auto" | "const" | "constexpr" | "std" | "__shared__" | "__restrict__");
                word == "decltype" || word == "&" || code.is_identifier(at) && !fixed && may_refer(code, word)
            })
    }
}

/// An open bracket around a name.
struct Bracket {
    /// Token that opens it.
    open: usize,
    /// Token that closes it.
    end: usize,
    /// It holds an index.
    subscript: bool,
    /// It holds the arguments of a call, which does this to them.
    takes: Takes,
}

/// What a call does to one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Taken {
    AsValue,
    /// Its address may come out of the call.
    ToKeep,
    /// It may be changed, and its address come out.
    ToChange,
}

/// What a call does to its arguments.
#[derive(Clone, Debug)]
enum Takes {
    Any,
    Positions(Vec<Taken>),
}

impl Default for Takes {
    fn default() -> Self {
        Self::Positions(Vec::new())
    }
}

/// A value certainly ends with the token at `at`.
fn is_operand(code: &Code, at: usize) -> bool {
    code.is_identifier(at) && code.word(at) != "return"
        || code.word(at) == "]"
        || code.word(at).starts_with(|c: char| c.is_ascii_digit())
}

/// Whether the specifiers name a type of the language or a vector of it, which has no members that could keep an address.
pub(super) fn is_plain(code: &Code, specifiers: &Range<usize>) -> bool {
    code.tokens_in(specifiers).all(|at| {
        let word = code.word(at);
        matches!(word, "const" | "constexpr" | "typename" | "__restrict__" | "__restrict" | "std" | "::" | "dim3" | "*")
            || crate::device_functions::is_type(word) && !matches!(word, "pair" | "tuple" | "array")
    })
}
