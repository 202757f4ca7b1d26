//! What happens to each variable and each statement of a kernel that is split.

use std::ops::Range;

use tree_sitter::Node;

use super::expressions::{Allowed, Expressions};
use super::locals::{Local, Locals, Shape, is_plain};
use super::statements::{Scope, Statement};
use super::strides::Stride;
use super::{Refusal, hiding};
use crate::code::Code;

/// What happens to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// One for the block: the same for all work-items, and changed only where they all are.
    Block,
    /// Declared again in each region that needs it: a value that follows from the work-item's index.
    Again,
    /// Its value is kept for each work-item between the regions.
    Value,
    /// It lives in the kept storage: its address may be known.
    Place,
    /// As [`Fate::Value`], of the address that a reference stands for.
    Reference,
    /// Used in one region only.
    Region,
}

/// A run of statements that becomes a loop over the work-items.
pub(super) struct Region {
    /// From the first statement to the last.
    pub range: Range<usize>,
    /// Where what comes before it may be put.
    pub start: usize,
    /// It is the single statement of a branch without braces.
    pub unbraced: bool,
    /// `return` stands in it, at these bytes.
    pub returns: Vec<usize>,
    /// It is a loop that is turned inside out.
    pub stride: Option<Stride>,
}

/// How a kernel is split.
pub(super) struct Plan {
    pub fates: Vec<Fate>,
    pub regions: Vec<Region>,
    /// The bytes of the barriers.
    pub barriers: Vec<Range<usize>>,
}

/// Where the parts of a kernel stand that are run once for a block.
#[derive(Default)]
struct Frame<'t> {
    /// Plain statements between barriers, each with its node.
    plain: Vec<Node<'t>>,
    /// First parts of loops.
    inits: Vec<(Node<'t>, Range<usize>)>,
    /// Conditions and steps.
    headers: Vec<Node<'t>>,
    barriers: Vec<Range<usize>>,
}

fn frame<'t>(scope: &Scope<'t>, found: &mut Frame<'t>) {
    for placed in &scope.statements {
        match &placed.statement {
            Statement::Barrier(node) => found.barriers.push(node.byte_range()),
            Statement::Plain(node) => found.plain.push(*node),
            Statement::Jump | Statement::Fixed => {}
            Statement::Scope(inner) => frame(inner, found),
            Statement::If(condition, branches) => {
                found.headers.push(*condition);
                branches.iter().for_each(|branch| frame(branch, found));
            }
            Statement::Loop(inner) => {
                found.inits.extend(inner.init.map(|init| (init, placed.range.clone())));
                found.headers.extend(&inner.header);
                frame(&inner.body, found);
            }
        }
    }
}

/// What is known of each variable before the regions are made.
struct Known {
    /// It is one for the block.
    uniform: Vec<bool>,
    /// It belongs to a work-item, and is declared between the barriers themselves.
    split: Vec<bool>,
    /// It can be declared again.
    again: Vec<bool>,
}

pub(super) struct Planner<'a> {
    pub code: &'a Code,
    pub locals: &'a Locals,
    pub expressions: Expressions<'a>,
}

impl Planner<'_> {
    /// `turns`: loops that walk by a step of the block are turned inside out.
    pub fn plan(&self, body: &Scope, turns: bool) -> Result<Plan, Refusal> {
        let mut found = Frame::default();
        frame(body, &mut found);
        self.check_statements(&found)?;
        let uniform = self.uniform(&found);
        self.check_headers(&found, &uniform)?;
        self.check_names(body, &found)?;
        let split = self.split(&found, &uniform);
        let again = self.again(&found, &uniform, &split);
        let known = Known { uniform, split, again };
        let mut regions = Vec::new();
        self.regions(body, &known, turns, &mut regions)?;
        let fates = self.fates(&known, &regions)?;
        Ok(Plan { fates, regions, barriers: found.barriers })
    }

    fn has_word(&self, range: &Range<usize>, words: &[&str]) -> bool {
        self.code.tokens_in(range).any(|at| words.contains(&self.code.word(at)))
    }

    /// Statements that no split can hold.
    fn check_statements(&self, found: &Frame) -> Result<(), Refusal> {
        for node in &found.plain {
            if contains(*node, &["goto_statement", "labeled_statement", "try_statement", "ERROR"]) {
                return Err(Refusal::Statement);
            }
            if node.kind() == "declaration"
                && self.has_word(&node.byte_range(), &["static", "thread_local", "volatile"])
                && !self.has_word(&node.byte_range(), &["constexpr"])
            {
                return Err(Refusal::Declaration);
            }
        }
        Ok(())
    }

    /// What is declared again in another place must mean the same there.
    fn check_names(&self, body: &Scope, found: &Frame) -> Result<(), Refusal> {
        let stands = |local: &Local, node: &Node| node.byte_range() == local.declaration;
        let is_split = |local: &Local| {
            found.plain.iter().any(|node| declares(node, local))
                || found.inits.iter().any(|(node, _)| stands(local, node))
                || found.headers.iter().any(|node| node.byte_range().contains(&local.at))
        };
        let types: Vec<Node> = found.plain.iter().copied().filter(|node| self.is_fixed(*node)).collect();
        let end = body.statements.last().map_or(body.start, |last| last.range.end);
        match hiding::find(self.code, self.locals, &(body.start..end), &is_split, &types) {
            Some(at) => Err(Refusal::Hides(at)),
            None => Ok(()),
        }
    }

    /// Run once for the block whatever it names: `__shared__` variables, constants, types.
    fn is_fixed(&self, node: Node) -> bool {
        const KINDS: [&str; 8] = [
            "type_definition",
            "alias_declaration",
            "using_declaration",
            "static_assert_declaration",
            "struct_specifier",
            "class_specifier",
            "union_specifier",
            "enum_specifier",
        ];
        KINDS.contains(&node.kind())
            || node.kind() == "declaration"
                && self.has_word(&node.byte_range(), &["__shared__", "constexpr", "extern", "HIP_DYNAMIC_SHARED"])
    }

    /// For each variable, whether it is one for the block. Starts from all that could be and takes back what is not.
    fn uniform(&self, found: &Frame) -> Vec<bool> {
        let declared_by = |local: &Local| -> Option<bool> {
            let stands = |node: &Node| node.byte_range() == local.declaration;
            if found.inits.iter().any(|(init, _)| stands(init)) {
                return Some(true);
            }
            found.plain.iter().find(|node| declares(node, local)).map(|node| !self.is_fixed(*node))
        };
        let candidate = |local: &Local| {
            let is_value = match local.shape {
                Shape::Pointer => true,
                Shape::Plain => self.is_simple(local) || self.has_word(&local.specifiers, &["auto"]) || local.is_param,
                _ => false,
            };
            is_value && (local.is_param || declared_by(local) == Some(true))
        };
        let mut uniform: Vec<bool> = self.locals.all.iter().map(candidate).collect();
        loop {
            let before = uniform.clone();
            for index in 0..uniform.len() {
                uniform[index] = before[index] && self.stays_uniform(index, &before, found);
            }
            // The variables of one declaration go together.
            for (index, local) in self.locals.all.iter().enumerate().filter(|(_, local)| !local.is_param) {
                let together = |other: &(usize, &Local)| other.1.declaration == local.declaration;
                if self.locals.all.iter().enumerate().filter(together).any(|(other, _)| !uniform[other]) {
                    uniform[index] = false;
                }
            }
            if uniform == before {
                return uniform;
            }
        }
    }

    fn stays_uniform(&self, index: usize, uniform: &[bool], found: &Frame) -> bool {
        let local = &self.locals.all[index];
        let fits = |range: &Range<usize>, changes: bool| self.is_uniform(range, changes, uniform);
        local.initialiser.as_ref().is_none_or(|range| fits(range, false))
            && self.locals.mentions_of(index).all(|mention| {
                let stands = |node: &Node| node.byte_range().contains(&mention.at);
                let once_for_all = || {
                    let nodes = found.plain.iter().filter(|node| acts(node));
                    let inits = found.inits.iter().map(|(init, _)| init);
                    let mut nodes = nodes.chain(inits).chain(&found.headers);
                    nodes.any(|node| stands(node) && fits(&statement_range(*node), true))
                };
                !mention.exposes && (!mention.modifies || once_for_all())
            })
    }

    fn is_uniform(&self, range: &Range<usize>, changes: bool, uniform: &[bool]) -> bool {
        let local = |index: usize| uniform[index];
        let allowed = Allowed { work_item: false, changes, division: true, local: &local };
        self.expressions.fits(range, &allowed)
    }

    fn check_headers(&self, found: &Frame, uniform: &[bool]) -> Result<(), Refusal> {
        for (index, local) in self.locals.all.iter().enumerate() {
            let in_header = found.inits.iter().any(|(init, _)| init.byte_range() == local.declaration);
            if !uniform[index] && in_header {
                return Err(Refusal::Divergent(local.at));
            }
            if !uniform[index] && local.is_param {
                return Err(Refusal::Parameter(local.at));
            }
        }
        let inits = found.inits.iter().map(|(init, _)| init).filter(|init| init.kind() != "declaration");
        for node in inits.chain(&found.headers) {
            if !self.is_uniform(&statement_range(*node), true, uniform) {
                return Err(Refusal::Divergent(node.start_byte()));
            }
        }
        Ok(())
    }

    /// Whether a plain statement is run once for the block.
    fn is_once(&self, node: Node, uniform: &[bool]) -> bool {
        let range = node.byte_range();
        match node.kind() {
            _ if self.is_fixed(node) => true,
            "declaration" => {
                let mut declared = self.locals.all.iter().enumerate().filter(|(_, local)| local.declaration == range);
                declared.next().is_some_and(|(index, _)| uniform[index])
            }
            _ if acts(&node) => {
                let mut changed =
                    self.locals.mentions.iter().filter(|m| range.contains(&m.at) && m.modifies).peekable();
                changed.peek().is_some()
                    && changed.all(|mention| uniform[mention.local])
                    && self.is_uniform(&statement_range(node), true, uniform)
            }
            _ => false,
        }
    }

    fn regions(&self, scope: &Scope, known: &Known, turns: bool, found: &mut Vec<Region>) -> Result<(), Refusal> {
        let mut open: Option<Region> = None;
        let mut before = scope.start;
        for placed in &scope.statements {
            let item = match &placed.statement {
                Statement::Plain(node) if !self.is_once(*node, &known.uniform) => Some(*node),
                _ => None,
            };
            if let Some(node) = item {
                let stride = if turns { self.stride(node, before, &known.uniform, &known.again) } else { None };
                if stride.is_some() {
                    found.extend(open.take());
                }
                let region = open.get_or_insert(Region {
                    range: placed.range.clone(),
                    start: before,
                    unbraced: !scope.braced,
                    returns: Vec::new(),
                    stride: None,
                });
                region.range.end = placed.range.end;
                returns(node, &mut region.returns);
                if stride.is_some() {
                    region.stride = stride;
                    found.extend(open.take());
                }
            } else {
                found.extend(open.take());
                match &placed.statement {
                    Statement::Scope(inner) => self.regions(inner, known, turns, found)?,
                    Statement::If(_, branches) => {
                        branches.iter().try_for_each(|branch| self.regions(branch, known, turns, found))?;
                    }
                    Statement::Loop(inner) => self.regions(&inner.body, known, turns, found)?,
                    _ => {}
                }
            }
            before = placed.range.end;
        }
        found.extend(open);
        Ok(())
    }

    /// A number, a vector of numbers, or a template's type.
    fn is_simple(&self, local: &Local) -> bool {
        let code = self.code;
        let is_type_parameter = |at: usize| {
            self.expressions.template_params.iter().any(|param| param.is_type() && param.name == code.word(at))
        };
        is_plain(code, &local.specifiers)
            || code.tokens_in(&local.specifiers).all(|at| is_type_parameter(at) || code.word(at) == "const")
    }

    /// The variables of the work-items that are declared between the barriers themselves: only those can be known in
    /// several regions.
    fn split(&self, found: &Frame, uniform: &[bool]) -> Vec<bool> {
        let is_split = |local: &Local| found.plain.iter().any(|node| declares(node, local) && !self.is_fixed(*node));
        let all = self.locals.all.iter().zip(uniform);
        all.map(|(local, uniform)| !uniform && !local.is_param && is_split(local)).collect()
    }

    fn fates(&self, known: &Known, regions: &[Region]) -> Result<Vec<Fate>, Refusal> {
        let all = &self.locals.all;
        let Known { uniform, split, again } = known;
        let home = |byte: usize| regions.iter().position(|region| region.range.contains(&byte));
        let mut fates: Vec<Fate> =
            uniform.iter().map(|uniform| if *uniform { Fate::Block } else { Fate::Region }).collect();
        let checked = split.iter().enumerate().filter(|(_, split)| **split);
        checked.map(|(index, _)| index).try_for_each(|index| self.check_mentions(index, &home))?;
        let crosses = |index: usize| {
            let own = home(all[index].at);
            self.locals.mentions_of(index).any(|mention| home(mention.at) != own)
        };
        let mut kept: Vec<bool> = (0..all.len()).map(|index| split[index] && !again[index] && crosses(index)).collect();
        // Something that is kept may hold the address of a variable of the same work-item. Of `int *x[3]` only the `int` is simple.
        let carries = |local: &Local| match local.shape {
            Shape::Plain => !self.is_simple(local),
            Shape::Array => !self.is_simple(local) || self.has_word(&local.declarator, &["*", "&", "("]),
            _ => true,
        };
        let is_exposed = |index: usize| self.locals.mentions_of(index).any(|mention| mention.exposes);
        let may_be_pointed_to = |index: usize| {
            let local = &all[index];
            is_exposed(index)
                || !matches!(local.shape, Shape::Plain | Shape::Pointer)
                || !self.is_simple(local) && local.shape == Shape::Plain
        };
        // What is declared again needs what it is made of, and so does the type of an `auto`.
        let is_auto = |local: &Local| self.has_word(&local.specifiers, &["auto"]);
        loop {
            let mut more = Vec::new();
            if all.iter().zip(&kept).any(|(local, kept)| *kept && carries(local)) {
                more.extend(
                    (0..all.len())
                        .filter(|&index| split[index] && !again[index] && !kept[index] && may_be_pointed_to(index)),
                );
            }
            for (index, local) in all.iter().enumerate().filter(|(index, local)| kept[*index] && is_auto(local)) {
                let Some(initialiser) = &local.initialiser else { return Err(Refusal::Type(all[index].at)) };
                let needed = self.locals.mentioned_in(initialiser);
                more.extend(needed.filter(|&other| split[other] && !again[other] && !kept[other]));
            }
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|index| kept[index] = true);
        }
        for index in 0..all.len() {
            if again[index] {
                fates[index] = Fate::Again;
            } else if kept[index] {
                fates[index] = self.kept_as(index, is_exposed(index))?;
            }
        }
        Ok(fates)
    }

    fn kept_as(&self, index: usize, exposed: bool) -> Result<Fate, Refusal> {
        let local = &self.locals.all[index];
        let lambda = local.initialiser.as_ref().is_some_and(|range| {
            let first = self.code.tokens_in(range).find(|&at| self.code.word(at) != "=");
            first.is_some_and(|at| self.code.word(at) == "[")
        });
        let is_auto = self.has_word(&local.specifiers, &["auto"]);
        match local.shape {
            _ if lambda || self.has_comment(local) => Err(Refusal::Type(local.at)),
            Shape::Other => Err(Refusal::Type(local.at)),
            // One to a constant may extend the life of a temporary value.
            Shape::Reference
                if self.has_word(&local.specifiers, &["const"]) || self.has_word(&local.declarator, &["&&"]) =>
            {
                Err(Refusal::Type(local.at))
            }
            Shape::Reference => Ok(Fate::Reference),
            Shape::Plain | Shape::Pointer
                if !exposed && !is_auto && (local.shape == Shape::Pointer || self.is_simple(local)) =>
            {
                Ok(Fate::Value)
            }
            _ => {
                // It gets its place after the whole declaration: nothing in that may need it before.
                let used_at_once = self.locals.mentions_of(index).any(|m| local.declaration.contains(&m.at));
                if used_at_once { Err(Refusal::Type(local.at)) } else { Ok(Fate::Place) }
            }
        }
    }

    fn has_comment(&self, local: &Local) -> bool {
        let text = &self.code.text[local.declaration.clone()];
        text.contains("//") || text.contains("/*") || text.contains('#')
    }

    /// A variable of the work-items must not be named where the block alone acts.
    fn check_mentions(&self, index: usize, home: &impl Fn(usize) -> Option<usize>) -> Result<(), Refusal> {
        match self.locals.mentions_of(index).find(|mention| home(mention.at).is_none()) {
            Some(mention) => Err(Refusal::Divergent(mention.at)),
            None => Ok(()),
        }
    }

    /// The variables whose values follow from the work-item's index and from what does not change meanwhile.
    fn again(&self, found: &Frame, uniform: &[bool], split: &[bool]) -> Vec<bool> {
        let all = &self.locals.all;
        let candidate = |(index, local): (usize, &Local)| {
            split[index]
                && (local.shape == Shape::Pointer
                    || local.shape == Shape::Plain
                        && (self.is_simple(local) || self.has_word(&local.specifiers, &["auto"])))
                && local.initialiser.is_some()
                && !self.has_comment(local)
                && self.locals.mentions_of(index).all(|mention| !mention.modifies && !mention.exposes)
        };
        let mut again: Vec<bool> = all.iter().enumerate().map(candidate).collect();
        loop {
            let before = again.clone();
            for (index, local) in all.iter().enumerate().filter(|(index, _)| before[*index]) {
                let steady = |other: usize| {
                    before[other]
                        || uniform[other] && self.is_steady(other, local.at, found)
                        || self.is_shared_array(other)
                };
                let allowed = Allowed { work_item: true, changes: false, division: false, local: &steady };
                again[index] = local.initialiser.as_ref().is_some_and(|range| self.expressions.fits(range, &allowed));
            }
            if again == before {
                return again;
            }
        }
    }

    /// A `__shared__` array: its name is an address.
    pub(super) fn is_shared_array(&self, index: usize) -> bool {
        let local = &self.locals.all[index];
        local.shape == Shape::Array && self.has_word(&local.specifiers, &["__shared__"])
    }

    /// A variable of the block that is the same wherever a variable declared at `byte` is known: never changed, or only
    /// between the turns of a loop in which that is declared.
    fn is_steady(&self, index: usize, byte: usize, found: &Frame) -> bool {
        let local = &self.locals.all[index];
        let counted = found.inits.iter().find(|(init, _)| init.byte_range() == local.declaration);
        let in_header = |at: usize| found.headers.iter().any(|header| header.byte_range().contains(&at));
        let mut changes = self.locals.mentions_of(index).filter(|mention| mention.modifies).peekable();
        match counted {
            _ if changes.peek().is_none() => true,
            Some((_, whole)) => {
                whole.contains(&byte)
                    && changes.all(|mention| {
                        in_header(mention.at)
                            && whole.contains(&mention.at)
                            && !self.is_in_inner(mention.at, whole, found)
                    })
            }
            None => false,
        }
    }

    /// The byte stands in the header of a loop inside the loop `whole`.
    fn is_in_inner(&self, byte: usize, whole: &Range<usize>, found: &Frame) -> bool {
        let inside = |other: &Range<usize>| other.start > whole.start && other.end <= whole.end;
        let header = found.headers.iter().find(|header| header.byte_range().contains(&byte));
        let outermost = header.and_then(|header| header.parent()).map(|parent| parent.byte_range());
        outermost.is_some_and(|range| inside(&range))
    }
}

/// The node declares the variable for what follows; `for (T x : y)` declares it for itself.
fn declares(node: &Node, local: &Local) -> bool {
    node.kind() == "declaration" && node.byte_range() == local.declaration
}

/// The expression of a statement, without its semicolon.
fn statement_range(node: Node) -> Range<usize> {
    match node.kind() {
        "expression_statement" => node.named_child(0).map_or(node.byte_range(), |child| child.byte_range()),
        _ => node.byte_range(),
    }
}

/// A statement that does something by itself, and can do it once for the block.
fn acts(node: &Node) -> bool {
    const KINDS: [&str; 5] =
        ["expression_statement", "if_statement", "for_statement", "while_statement", "compound_statement"];
    KINDS.contains(&node.kind())
}

fn contains(node: Node, kinds: &[&str]) -> bool {
    let mut cursor = node.walk();
    node.is_missing()
        || kinds.contains(&node.kind())
        || node.named_children(&mut cursor).any(|child| contains(child, kinds))
}

/// The bytes of the keyword `return` below `node`, those of lambdas left out.
fn returns(node: Node, found: &mut Vec<usize>) {
    match node.kind() {
        "lambda_expression" => {}
        "return_statement" => found.push(node.start_byte()),
        _ => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).for_each(|child| returns(child, found));
        }
    }
}
