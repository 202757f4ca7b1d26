//! Adds up in several variables, so that one addition need not wait for the other.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::code::{Code, everything, of_kind, statements};
use crate::catalog::constant;
use crate::catalog::edit::{replace, within};
use crate::catalog::loops::ForLoop;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};

/// Functions that only compute.
const PURE: [&str; 22] = [
    "fmaxf", "fminf", "fmax", "fmin", "max", "min", "fabsf", "fabs", "abs", "expf", "exp", "__expf", "logf", "log",
    "sqrtf", "sqrt", "rsqrtf", "fmaf", "fma", "__ldg", "float", "double",
];
/// Functions whose result does not change when they see a value twice or in another order.
const EXTREMES: [&str; 6] = ["fmaxf", "fminf", "fmax", "fmin", "max", "min"];
/// Types that may be added up in another order.
const NUMBERS: [&str; 8] = ["float", "double", "int", "unsigned", "unsigned int", "long", "size_t", "long long"];

/// A loop that does nothing but accumulate.
struct Accumulation<'c> {
    counted: ForLoop<'c>,
    first: Node<'c>,
    kind: &'c str,
    /// The variable added up in, with its type.
    sum: &'c str,
    sum_kind: &'c str,
    /// The statements of a round: declarations, and the one that adds up.
    statements: Vec<Node<'c>>,
    /// `fmaxf` and the like; `None` for `+=`.
    extreme: Option<&'c str>,
}

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let found = Accumulation::read(code, place.capture("loop")?, kernel.body)?;
    let rounds =
        constant::value(code, found.first).zip(constant::value(code, found.counted.bound)).map(|(first, bound)| {
            (bound - first) / found.counted.step.and_then(|step| constant::value(code, step)).unwrap_or(1).max(1)
        });
    let worth = |ways: &i64| rounds.is_none_or(|rounds| rounds >= 2 * ways);
    let ways: Vec<i64> = place.entry.search.iter().copied().filter(worth).collect();
    require(!ways.is_empty(), format!("the loop over `{}` has too few rounds", found.counted.name))?;
    let taken = (1..8).any(|number| code.text().contains(&format!("{}_{number}", found.sum)));
    require(!taken, format!("the names `{0}_1` to `{0}_7` are not free", found.sum))?;
    let name = format!("variables for {}", found.sum);
    let changes = ways.into_iter().map(|ways| {
        let report = format!(
            "The loop over `{}` adds up in {ways} variables, joined after it; sums may round differently.",
            found.counted.name
        );
        Change::new(vec![found.split(code, ways)], report).to(&name, ways)
    });
    let offer = Offer::several(place, found.sum, found.counted.node, changes.collect()).from(&name, 1);
    Ok(offer.word("sum", found.sum).word("loop", found.counted.name))
}

impl<'c> Accumulation<'c> {
    fn read(code: &'c Code, node: Node<'c>, body: Node<'c>) -> Result<Self, Refusal> {
        let counted = ForLoop::read(code, node).ok_or(Refusal::NotHere)?;
        let (Some(kind), Some(first), "<") = (counted.kind, counted.first, counted.operator) else {
            return Err(Refusal::NotHere);
        };
        let inner = statements(counted.body);
        let Some((statement, before)) = inner.split_last() else { return Err(Refusal::NotHere) };
        let is_declaration = |node: &Node<'_>| node.kind() == "declaration" && !code.of(*node).starts_with("static");
        if !before.iter().all(is_declaration) {
            return Err(Refusal::NotHere);
        }
        let assignment =
            statement.named_child(0).filter(|n| n.kind() == "assignment_expression").ok_or(Refusal::NotHere)?;
        let part = |name: &str| assignment.child_by_field_name(name).ok_or(Refusal::NotHere);
        let (left, right, operator) = (part("left")?, part("right")?, code.of(part("operator")?));
        if left.kind() != "identifier" {
            return Err(Refusal::NotHere);
        }
        let sum = code.of(left);
        let extreme = match operator {
            "+=" if !code.mentions(right, sum) => None,
            "=" => Some(extreme_of(code, right, sum).ok_or(Refusal::NotHere)?),
            _ => return Err(Refusal::NotHere),
        };
        let local = code.local(body, sum).filter(|local| local.shape.kind() == "identifier").ok_or(Refusal::NotHere)?;
        let sum_kind = code.type_of(local.declaration);
        let is_template = code.params_of_template(body).contains(&sum_kind);
        require(NUMBERS.contains(&sum_kind) || is_template, format!("`{sum}` is of type `{sum_kind}`"))?;
        let is_outside = local.declaration.end_byte() <= node.start_byte();
        let calls = code.called(right);
        let changes = everything(right).any(|n| ["update_expression", "assignment_expression"].contains(&n.kind()));
        require(is_outside && !changes, format!("the rounds over `{}` do more than add up", counted.name))?;
        require(
            calls.iter().all(|name| PURE.contains(name)),
            format!("`{}` may do more than compute", calls.join("`, `")),
        )?;
        let limits = [Some(counted.bound), counted.step];
        let is_simple = |node: &Node<'_>| {
            of_kind(*node, "call_expression").is_empty()
                && of_kind(*node, "subscript_expression").is_empty()
                && !code.mentions(*node, counted.name)
                && !code.mentions(*node, sum)
        };
        require(
            limits.iter().flatten().all(is_simple),
            format!("the rounds over `{}` are not counted by constants of the loop", counted.name),
        )?;
        Ok(Self { counted, first, kind, sum, sum_kind, statements: inner, extreme })
    }

    /// The loop with several sums, and the rest of its rounds after it.
    fn split(&self, code: &Code, ways: i64) -> Edit {
        let (name, bound) = (self.counted.name, code.of(self.counted.bound));
        let bound = if self.counted.bound.child_count() > 1 { format!("({bound})") } else { bound.to_owned() };
        let step = self.counted.step.map(|step| code.of(step));
        let times = |number: i64| match step {
            Some(step) => format!("{number} * ({step})"),
            None => number.to_string(),
        };
        let others: Vec<String> = (1..ways).map(|number| format!("{}_{number}", self.sum)).collect();
        let start = if self.extreme.is_some() { self.sum } else { "0" };
        let declared: Vec<String> = others.iter().map(|other| format!("{other} = {start}")).collect();
        let mut rounds = vec![self.round(code, self.sum, None)];
        rounds.extend(others.iter().zip(1..).map(|(other, number)| self.round(code, other, Some(&times(number)))));
        let joined = match self.extreme {
            None => format!("{} += {};", self.sum, others.join(" + ")),
            Some(function) => {
                let join = |other: &String| format!("{0} = {function}({0}, {other});", self.sum);
                others.iter().map(join).collect::<Vec<_>>().join(" ")
            }
        };
        let (outer, indent) = self.place(code);
        let one = step.map_or_else(|| format!("++{name}"), |step| format!("{name} += {step}"));
        let lines = [
            format!("{} {};", self.sum_kind, declared.join(", ")),
            "{".to_owned(),
            format!("    {} {name} = {};", self.kind, code.of(self.first)),
            format!(
                "    for (; {name} < {bound} && {bound} - {name} > {}; {name} += {}) {{",
                times(ways - 1),
                times(ways)
            ),
            rounds.iter().map(|round| format!("        {round}")).collect::<Vec<_>>().join(&format!("\n{indent}")),
            "    }".to_owned(),
            format!("    for (; {name} < {bound}; {one}) {{"),
            format!("        {}", self.round(code, self.sum, None)),
            "    }".to_owned(),
            "}".to_owned(),
            joined,
        ];
        Edit { range: outer, text: lines.join(&format!("\n{indent}")) }
    }

    /// A round for one of the sums, some rounds further on. Declarations of a round stand in a block of their own.
    fn round(&self, code: &Code, sum: &str, ahead: Option<&str>) -> String {
        let counter = ahead.map_or(self.counted.name.to_owned(), |ahead| format!("({} + {ahead})", self.counted.name));
        let edits = |node: Node<'_>| -> Vec<Edit> {
            let counters = code.uses(node, self.counted.name).into_iter().map(|used| replace(used, counter.clone()));
            counters.chain(code.uses(node, self.sum).into_iter().map(|used| replace(used, sum))).collect()
        };
        let written: Vec<String> =
            self.statements.iter().map(|node| within(code.text(), node.byte_range(), &edits(*node))).collect();
        if written.len() == 1 { written.concat() } else { format!("{{ {} }}", written.join(" ")) }
    }

    /// What is replaced (the loop, and a `#pragma unroll` that was meant for it) and its indentation.
    fn place<'t>(&self, code: &'t Code) -> (std::ops::Range<usize>, &'t str) {
        let node = self.counted.node;
        let before = node.prev_named_sibling().filter(|before| before.kind() == "preproc_call");
        let start = before.unwrap_or(node).start_byte();
        (start..node.end_byte(), code.indent(node.start_byte()))
    }
}

/// The function in `sum = fmaxf(sum, ..)`.
fn extreme_of<'c>(code: &'c Code, right: Node<'c>, sum: &str) -> Option<&'c str> {
    let function = code.of(right.child_by_field_name("function")?);
    let arguments = super::super::code::named_children(right.child_by_field_name("arguments")?);
    let [one, other] = arguments.as_slice() else { return None };
    let (is_one, is_other) = (code.of(*one) == sum, code.of(*other) == sum);
    let rest = if is_one { other } else { one };
    (EXTREMES.contains(&function) && is_one != is_other && !code.mentions(*rest, sum)).then_some(function)
}
