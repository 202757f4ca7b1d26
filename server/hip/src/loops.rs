//! Loops of a kernel.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::ops::Range;

use crate::code::Code;
use crate::constants::Constants;
use crate::lexer::DirectiveKind;
use crate::lines::Lines;

/// Kind of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// `for (init; condition; step)`, or over a range.
    For,
    /// `while (condition)`.
    While,
    /// `do ... while (condition);`
    DoWhile,
}

/// `#pragma unroll` before a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unroll {
    /// The whole directive, without its line break.
    pub range: Range<usize>,
    /// The factor as written; `None` for a plain `#pragma unroll`, `nounroll` and clang's words.
    pub factor: Option<Range<usize>>,
    /// Value of the factor where it is computable.
    pub value: Option<i64>,
    /// It is `#pragma nounroll`, `#pragma clang loop unroll(disable)` or a factor of 1: unrolling is switched off.
    pub disabled: bool,
}

/// A loop. Ranges are bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// What kind.
    pub kind: LoopKind,
    /// From the keyword to the end of the body (of the condition, for `do`).
    pub range: Range<usize>,
    /// The body, with its braces if it has any.
    pub body: Range<usize>,
    /// First part of a `for`.
    pub init: Option<Range<usize>>,
    /// The condition.
    pub condition: Option<Range<usize>>,
    /// Last part of a `for`.
    pub step: Option<Range<usize>>,
    /// Name of the variable that a `for` counts, if it is of the usual form.
    pub variable: Option<String>,
    /// Number of turns, where start, bound and step are constants of the file.
    pub trip_count: Option<u64>,
    /// Number of loops around it in the kernel.
    pub depth: u32,
    /// Line of the keyword, from 1.
    pub line: u32,
    /// The pragma before it.
    pub unroll: Option<Unroll>,
}

impl Loop {
    pub(crate) fn ranges_mut(&mut self) -> impl Iterator<Item = &mut Range<usize>> {
        let unroll = self.unroll.as_mut().into_iter().flat_map(|u| std::iter::once(&mut u.range).chain(&mut u.factor));
        [&mut self.range, &mut self.body]
            .into_iter()
            .chain(&mut self.init)
            .chain(&mut self.condition)
            .chain(&mut self.step)
            .chain(unroll)
    }
}

/// The loops among `tokens`, in order of their keywords.
pub(crate) fn loops(code: &Code, lines: &Lines, tokens: Range<usize>, constants: &Constants) -> Vec<Loop> {
    let mut found: Vec<Loop> = Vec::new();
    let mut closing_whiles = HashSet::new();
    // Ends of the loops that begin before and have not ended, the next one first.
    let mut around = BinaryHeap::new();
    for at in tokens.clone() {
        let parts = match code.word(at) {
            "for" if code.word(at + 1) == "(" => for_loop(code, at, constants),
            "while" if code.word(at + 1) == "(" && !closing_whiles.contains(&at) => while_loop(code, at),
            "do" if code.is_identifier(at) => do_loop(code, at)
                .inspect(|(_, closing)| {
                    closing_whiles.insert(*closing);
                })
                .map(|d| d.0),
            _ => None,
        };
        let Some(mut found_loop) = parts else { continue };
        while around.peek().is_some_and(|Reverse(end)| *end <= found_loop.range.start) {
            around.pop();
        }
        found_loop.depth = around.len() as u32;
        around.push(Reverse(found_loop.range.end));
        found_loop.line = lines.line_of(found_loop.range.start);
        found_loop.unroll = unroll(code, at, constants);
        found.push(found_loop);
    }
    found
}

fn new_loop(code: &Code, kind: LoopKind, whole: Range<usize>, body: &Range<usize>) -> Loop {
    Loop {
        kind,
        range: code.bytes(&whole),
        body: code.bytes(body),
        init: None,
        condition: None,
        step: None,
        variable: None,
        trip_count: None,
        depth: 0,
        line: 0,
        unroll: None,
    }
}

/// Statements nested without braces are followed this far.
const MAX_NESTING: u32 = 64;

/// A statement longer than this many tokens is taken for broken text.
const MAX_STATEMENT: usize = 10_000;

/// The token after the statement that starts at `at`.
fn statement_end(code: &Code, at: usize) -> usize {
    nested_end(code, at, 0)
}

fn nested_end(code: &Code, at: usize, depth: u32) -> usize {
    if depth > MAX_NESTING {
        return at + 1;
    }
    match code.word(at) {
        "{" => code.close(at).map_or(at + 1, |close| close + 1),
        "for" | "while" | "switch" if code.word(at + 1) == "(" => {
            code.close(at + 1).map_or(at + 2, |close| nested_end(code, close + 1, depth + 1))
        }
        "if" => {
            let open = if code.word(at + 1) == "constexpr" { at + 2 } else { at + 1 };
            let end = code.close(open).map_or(open + 1, |close| nested_end(code, close + 1, depth + 1));
            if code.word(end) == "else" { nested_end(code, end + 1, depth + 1) } else { end }
        }
        "do" => simple_end(code, nested_end(code, at + 1, depth + 1)),
        _ => simple_end(code, at),
    }
}

fn simple_end(code: &Code, start: usize) -> usize {
    let mut at = start;
    while at < code.len() && at < start + MAX_STATEMENT {
        match code.word(at) {
            ";" => return at + 1,
            "}" => return at,
            _ => at = code.skip(at),
        }
    }
    at.min(code.len())
}

fn for_loop(code: &Code, at: usize, constants: &Constants) -> Option<Loop> {
    let open = at + 1;
    let close = code.close(open)?;
    let body = close + 1..statement_end(code, close + 1);
    let mut found = new_loop(code, LoopKind::For, at..body.end, &body);
    let semicolons: Vec<usize> = semicolons(code, open + 1, close);
    if let [first, second] = semicolons[..] {
        let part = |tokens: Range<usize>| (!tokens.is_empty()).then(|| code.bytes(&tokens));
        let (init, condition, step) = (open + 1..first, first + 1..second, second + 1..close);
        if let Some(counted) = Counted::read(code, &init, &condition, &step) {
            found.trip_count = counted.turns(code, constants);
            found.variable = Some(code.word(counted.variable).to_owned());
        }
        (found.init, found.condition, found.step) = (part(init), part(condition), part(step));
    }
    Some(found)
}

fn semicolons(code: &Code, mut at: usize, end: usize) -> Vec<usize> {
    let mut found = Vec::new();
    while at < end {
        if code.word(at) == ";" {
            found.push(at);
        }
        at = code.skip(at);
    }
    found
}

fn while_loop(code: &Code, at: usize) -> Option<Loop> {
    let close = code.close(at + 1)?;
    let body = close + 1..statement_end(code, close + 1);
    let mut found = new_loop(code, LoopKind::While, at..body.end, &body);
    found.condition = Some(code.bytes(&(at + 2..close)));
    Some(found)
}

/// The loop and the token of its closing `while`.
fn do_loop(code: &Code, at: usize) -> Option<(Loop, usize)> {
    if code.word(at) != "do" {
        return None;
    }
    let body = at + 1..statement_end(code, at + 1);
    let closing = body.end;
    if code.word(closing) != "while" || code.word(closing + 1) != "(" {
        return None;
    }
    let close = code.close(closing + 1)?;
    let mut found = new_loop(code, LoopKind::DoWhile, at..close + 1, &body);
    found.condition = Some(code.bytes(&(closing + 2..close)));
    Some((found, closing))
}

/// A `for` that counts one variable from a start to a bound by a step.
struct Counted {
    variable: usize,
    start: Range<usize>,
    comparison: &'static str,
    bound: Range<usize>,
    step: Step,
}

enum Step {
    By(Range<usize>, i64),
    One(i64),
    Times(Range<usize>),
    Over(Range<usize>, bool),
}

/// Turns beyond this are not counted one by one.
const MAX_TURNS: u64 = 1 << 20;

impl Counted {
    fn read(code: &Code, init: &Range<usize>, condition: &Range<usize>, step: &Range<usize>) -> Option<Self> {
        let equals = init.clone().find(|&at| code.word(at) == "=")?;
        let variable = equals.checked_sub(1).filter(|&at| at >= init.start && code.is_identifier(at))?;
        let name = code.word(variable);
        let start_end = init.clone().find(|&at| code.word(at) == ",").unwrap_or(init.end);
        if code.word(condition.start) != name {
            return None;
        }
        let comparison = match code.word(condition.start + 1) {
            "<" => "<",
            "<=" => "<=",
            ">" => ">",
            ">=" => ">=",
            "!=" => "!=",
            _ => return None,
        };
        let bound = condition.start + 2..condition.end;
        let step = read_step(code, step, name)?;
        Some(Self { variable, start: equals + 1..start_end, comparison, bound, step })
    }

    fn turns(&self, code: &Code, constants: &Constants) -> Option<u64> {
        let mut value = constants.evaluate(code, self.start.clone())?;
        let bound = constants.evaluate(code, self.bound.clone())?;
        let value_of = |tokens: &Range<usize>| constants.evaluate(code, tokens.clone());
        let advance: Box<dyn Fn(i64) -> Option<i64>> = match &self.step {
            Step::One(sign) => {
                let sign = *sign;
                Box::new(move |v| v.checked_add(sign))
            }
            Step::By(amount, sign) => {
                let by = value_of(amount)?.checked_mul(*sign)?;
                Box::new(move |v| v.checked_add(by))
            }
            Step::Times(factor) => {
                let by = value_of(factor)?;
                Box::new(move |v| v.checked_mul(by))
            }
            Step::Over(divisor, shift) => {
                let by = value_of(divisor)?;
                let shift = *shift;
                Box::new(move |v| if shift { v.checked_shr(u32::try_from(by).ok()?) } else { v.checked_div(by) })
            }
        };
        let mut turns = 0;
        while self.goes_on(value, bound) {
            turns += 1;
            let next = advance(value)?;
            if next == value || turns > MAX_TURNS {
                return None;
            }
            value = next;
        }
        Some(turns)
    }

    fn goes_on(&self, value: i64, bound: i64) -> bool {
        match self.comparison {
            "<" => value < bound,
            "<=" => value <= bound,
            ">" => value > bound,
            ">=" => value >= bound,
            _ => value != bound,
        }
    }
}

fn read_step(code: &Code, step: &Range<usize>, name: &str) -> Option<Step> {
    let words: Vec<&str> = step.clone().map(|at| code.word(at)).collect();
    let rest = |skip: usize| step.start + skip..step.end;
    match words.as_slice() {
        [v, "++"] | ["++", v] if *v == name => Some(Step::One(1)),
        [v, "--"] | ["--", v] if *v == name => Some(Step::One(-1)),
        [v, "+=", ..] if *v == name => Some(Step::By(rest(2), 1)),
        [v, "-=", ..] if *v == name => Some(Step::By(rest(2), -1)),
        [v, "*=", ..] if *v == name => Some(Step::Times(rest(2))),
        [v, "/=", ..] if *v == name => Some(Step::Over(rest(2), false)),
        [v, ">", ">=", ..] if *v == name => Some(Step::Over(rest(3), true)),
        [v, "=", w, "+", ..] if *v == name && *w == name => Some(Step::By(rest(4), 1)),
        [v, "=", w, "*", ..] if *v == name && *w == name => Some(Step::Times(rest(4))),
        [v, "=", w, "/", ..] if *v == name && *w == name => Some(Step::Over(rest(4), false)),
        _ => None,
    }
}

/// The unroll pragma that stands directly before the token at `at`.
fn unroll(code: &Code, at: usize, constants: &Constants) -> Option<Unroll> {
    let directives = &code.lexed.directives;
    let end = directives.partition_point(|d| d.before <= at);
    let directive =
        directives[..end].iter().rev().take_while(|d| d.before == at).find(|d| d.kind == DirectiveKind::Pragma)?;
    let words: Vec<&str> = directive.tokens.iter().map(|t| t.text(&code.text)).collect();
    let keyword = words.iter().position(|word| matches!(*word, "unroll" | "nounroll"))?;
    let arguments: Vec<_> =
        directive.tokens[keyword + 1..].iter().filter(|t| !matches!(t.text(&code.text), "(" | ")")).copied().collect();
    // `#pragma clang loop unroll(disable)`, and `full` and `enable`, which name no factor either.
    let first = arguments.first().map(|token| token.text(&code.text));
    let factor = match (arguments.first(), arguments.last()) {
        _ if matches!(first, Some("disable" | "enable" | "full")) => None,
        (Some(first), Some(last)) => Some(first.start as usize..last.end as usize),
        _ => None,
    };
    let value = factor.is_some().then(|| constants.evaluate_tokens(code, &arguments)).flatten();
    Some(Unroll {
        range: directive.range.clone(),
        disabled: words[keyword] == "nounroll" || first == Some("disable") || value == Some(1),
        factor,
        value,
    })
}
