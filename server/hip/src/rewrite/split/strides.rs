//! Loops in which each work-item walks by a step that is the same for the block: `for (int i = threadIdx.x; i < n; i += 64)`.
//!
//! Taken by one work-item after another, such a loop jumps through memory. Turned inside out, all work-items take one turn
//! before any takes the next: neighbours read neighbouring memory, and clang vectorises across them. Each work-item still
//! goes through its own turns in their order, and between two barriers nothing says who of a block comes first.

use std::ops::Range;

use tree_sitter::Node;

use super::expressions::Allowed;
use super::locals::{Local, Shape};
use super::plan::{Fate, Plan, Planner};
use crate::lexer::TokenKind;

/// Types of which a loop's variable may be, whose sums do not depend on the order of additions.
const WHOLE: [&str; 14] = [
    "auto", "int", "unsigned", "signed", "long", "short", "uint", "size_t", "std", "::", "int32_t", "uint32_t",
    "int64_t", "uint64_t",
];

/// Smaller steps than this keep a work-item in the same line of the cache.
const SMALLEST_STEP: u32 = 16;

/// A loop that is turned inside out.
pub(super) struct Stride {
    /// From the keyword `for` to its closing parenthesis.
    pub head: Range<usize>,
    /// Index of the variable that walks.
    pub variable: usize,
    pub condition: Range<usize>,
    /// What is added to the variable in each turn, or taken from it.
    pub step: Range<usize>,
    pub backwards: bool,
    pub body: Range<usize>,
    /// The keywords `continue` and `break` that leave a turn.
    pub jumps: Vec<Range<usize>>,
}

impl Planner<'_> {
    /// Reads `node`, whose text may begin at `start` with comments, as a loop that can be turned inside out.
    pub(super) fn stride(&self, node: Node, start: usize, uniform: &[bool], again: &[bool]) -> Option<Stride> {
        let part = |name: &str| node.child_by_field_name(name);
        if node.kind() != "for_statement" {
            return None;
        }
        let (init, condition, update, body) =
            (part("initializer")?, part("condition")?, part("update")?, part("body")?);
        let mut declared =
            self.locals.all.iter().enumerate().filter(|(_, local)| local.declaration == init.byte_range());
        let (variable, local) = declared.next().filter(|_| declared.next().is_none())?;
        let close = self.code.tokens_in(&(update.end_byte()..body.start_byte())).next()?;
        let head = node.start_byte()..self.code.bytes(&(close..close + 1)).end;
        let is_bare =
            |range: Range<usize>| !["//", "/*", "#"].iter().any(|word| self.code.text[range.clone()].contains(word));
        let (step, backwards) = self.step(update, &local.name)?;
        let prints = |at: usize| matches!(self.code.word(at), "printf" | "puts" | "putchar");
        let fits = init.kind() == "declaration"
            && condition.kind() != "declaration"
            && self.code.word(close) == ")"
            && is_bare(head.clone())
            && !self.code.text[start..head.start].contains('#')
            && self.walks(local, uniform, again)
            && self.is_far(&step)
            && self.is_uniform_value(&step, uniform)
            && !self.changes(&condition.byte_range())
            && self.is_left_alone(variable, &update.byte_range())
            && !self.code.tokens_in(&node.byte_range()).any(prints);
        let mut jumps = Vec::new();
        own_jumps(body, false, &mut jumps);
        fits.then(|| Stride {
            head,
            variable,
            condition: condition.byte_range(),
            step,
            backwards,
            body: body.byte_range(),
            jumps,
        })
    }

    /// `i += STEP`, `i -= STEP`, `i = i + STEP`: the step, and whether it is taken away.
    fn step(&self, update: Node, name: &str) -> Option<(Range<usize>, bool)> {
        let text = |node: Node| &self.code.text[node.byte_range()];
        let operator = |node: Node| node.child_by_field_name("operator").map(text);
        if update.kind() != "assignment_expression" {
            return None;
        }
        let (left, right) = (update.child_by_field_name("left")?, update.child_by_field_name("right")?);
        let named = |node: Node| node.kind() == "identifier" && text(node) == name;
        match operator(update)? {
            "+=" if named(left) => Some((right.byte_range(), false)),
            "-=" if named(left) => Some((right.byte_range(), true)),
            "=" if named(left) && right.kind() == "binary_expression" && operator(right) == Some("+") => {
                let (first, second) = (right.child_by_field_name("left")?, right.child_by_field_name("right")?);
                named(first).then(|| (second.byte_range(), false))
            }
            _ => None,
        }
    }

    /// The loop's variable is a whole number that begins at a place of the work-item's own, which can be told in each turn.
    fn walks(&self, local: &Local, uniform: &[bool], again: &[bool]) -> bool {
        let code = self.code;
        let Some(first) = &local.initialiser else { return false };
        let known = |index: usize| again[index] || uniform[index];
        let allowed = Allowed { work_item: true, changes: false, division: false, local: &known };
        local.shape == Shape::Plain
            && code.tokens_in(&local.specifiers).all(|at| WHOLE.contains(&code.word(at)))
            && code.word(code.tokens_in(first).start) == "="
            && self.expressions.fits(first, &allowed)
            && !self.is_uniform_value(first, uniform)
    }

    fn is_uniform_value(&self, range: &Range<usize>, uniform: &[bool]) -> bool {
        let known = |index: usize| uniform[index];
        let allowed = Allowed { work_item: false, changes: false, division: false, local: &known };
        self.expressions.fits(range, &allowed)
    }

    fn is_far(&self, step: &Range<usize>) -> bool {
        let mut tokens = self.code.tokens_in(step).filter_map(|at| self.code.token(at));
        match (tokens.next(), tokens.next()) {
            (Some(only), None) if only.kind == TokenKind::Number => only
                .text(&self.code.text)
                .trim_end_matches(['u', 'U', 'l', 'L'])
                .parse()
                .is_ok_and(|n: u32| n >= SMALLEST_STEP),
            (first, _) => first.is_some(),
        }
    }

    /// Some variable is changed in `range`, or may be.
    fn changes(&self, range: &Range<usize>) -> bool {
        self.locals.mentions.iter().any(|mention| range.contains(&mention.at) && (mention.modifies || mention.exposes))
    }

    /// Nothing but `update` changes the variable, and nothing can know its address.
    fn is_left_alone(&self, variable: usize, update: &Range<usize>) -> bool {
        let elsewhere = self.locals.mentions_of(variable).filter(|mention| !update.contains(&mention.at));
        elsewhere.into_iter().all(|mention| !mention.modifies && !mention.exposes)
    }

    /// Whether a plan that turns loops inside out is no dearer than `whole`, which does not: what it keeps for each
    /// work-item is values alone.
    pub(super) fn is_cheap(&self, turned: &Plan, whole: &Plan) -> bool {
        let arrays = |stride: &Stride| {
            self.locals.mentioned_in(&stride.body).any(|index| {
                let local = &self.locals.all[index];
                let is_own = !stride.body.contains(&local.at) && !self.is_shared_array(index);
                is_own && local.shape == Shape::Array && turned.fates[index] != Fate::Block
            })
        };
        turned.fates.iter().zip(&whole.fates).all(|(turned, whole)| {
            turned == whole || matches!(turned, Fate::Region | Fate::Block | Fate::Again | Fate::Value)
        }) && !turned.regions.iter().filter_map(|region| region.stride.as_ref()).any(arrays)
    }
}

/// The keywords `break` and `continue` below `node` that leave the loop whose body it is. `in_switch`: a `break` does not.
fn own_jumps(node: Node, in_switch: bool, found: &mut Vec<Range<usize>>) {
    let keyword = |word: &str| node.start_byte()..node.start_byte() + word.len();
    match node.kind() {
        "break_statement" if !in_switch => found.push(keyword("break")),
        "continue_statement" => found.push(keyword("continue")),
        "for_statement" | "while_statement" | "do_statement" | "for_range_loop" | "lambda_expression" => {}
        _ => {
            let in_switch = in_switch || node.kind() == "switch_statement";
            let mut cursor = node.walk();
            node.named_children(&mut cursor).for_each(|child| own_jumps(child, in_switch, found));
        }
    }
}
