//! Takes the operands of a plain matrix product through tiles in LDS.
//!
//! Each thread sums `a[.. row .. k ..] * b[.. k .. col ..]` over `k`. The threads of a square block need the same rows and
//! columns: they load a tile of each together, meet at a barrier, and read it from LDS. Terms are added in the same order.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::square_of;
use crate::catalog::code::{Code, Kernel, named_children, of_kind, statements};
use crate::catalog::constant;
use crate::catalog::edit::{moved, replace, within};
use crate::catalog::elementwise::{inner, leaves};
use crate::catalog::loops::ForLoop;
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};
use crate::catalog::stretches::BARRIER;
use crate::catalog::trees::squeezed;

use super::lds_padding::{LDS_BYTES, element_bytes};

/// Types of elements; a zero fills a tile where the problem ends.
const NUMBERS: [&str; 6] = ["float", "double", "int", "unsigned int", "unsigned", "_Float16"];

/// A kernel that is a plain matrix product.
struct Product<'c> {
    /// Statements before the guard.
    before: Vec<Node<'c>>,
    guard: Option<Guard<'c>>,
    /// Statements of the guarded part before the loop, the loop, and those after it.
    lead: Vec<Node<'c>>,
    counted: ForLoop<'c>,
    kind: &'c str,
    after: Vec<Node<'c>>,
    sum: &'c str,
    row: Operand<'c>,
    column: Operand<'c>,
}

/// `row < m && col < n`.
struct Guard<'c> {
    row_bound: Node<'c>,
    column_bound: Node<'c>,
}

/// `a[row * k_count + k]`.
struct Operand<'c> {
    array: &'c str,
    element: &'c str,
    node: Node<'c>,
}

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    if code.calls(kernel.body, BARRIER) || code.of(kernel.body).contains("__shared__") {
        return Err(Refusal::NotHere);
    }
    let (row, column) = (numbered(code, kernel, "y"), numbered(code, kernel, "x"));
    let (Some(row), Some(column)) = (row, column) else { return Err(Refusal::NotHere) };
    let product = Product::read(code, kernel, row, column).ok_or(Refusal::NotHere)?;
    product.check(code, kernel, [row, column])?;
    let side = square_of(code, kernel)?;
    let bytes = side * side * (element_bytes(product.row.element) + element_bytes(product.column.element));
    require(bytes <= LDS_BYTES, "its tiles would not fit LDS")?;
    let (a, b) = (tile_name(product.row.array), tile_name(product.column.array));
    let names = [a.as_str(), b.as_str(), "tile_start", "row_element", "column_element"];
    if let Some(taken) = names.iter().find(|name| code.mentions(kernel.node, name)) {
        return ruled_out(format!("the name `{taken}` is taken"));
    }
    let edits = vec![replace(kernel.body, product.tiled(code, kernel, [row, column], side))];
    let report = format!(
        "The sum over `{}` reads `{}` and `{}` from tiles of {side} by {side} in LDS, in the same order.",
        product.counted.name, product.row.array, product.column.array
    );
    let offer = Offer::one(place, product.sum, product.counted.node, Change::new(edits, report));
    Ok(offer.word("a", product.row.array).word("b", product.column.array).word("side", side.to_string()))
}

fn tile_name(array: &str) -> String {
    format!("{array}_tile")
}

/// The variable that holds the thread's number along an axis in the whole grid.
fn numbered<'c>(code: &'c Code, kernel: &Kernel<'c>, axis: &str) -> Option<&'c str> {
    let [block, extent, thread] = ["blockIdx", "blockDim", "threadIdx"].map(|part| format!("{part}.{axis}"));
    let forms = [
        format!("{block}*{extent}+{thread}"),
        format!("{extent}*{block}+{thread}"),
        format!("{thread}+{block}*{extent}"),
        format!("{thread}+{extent}*{block}"),
    ];
    let is_it = |value: Node<'_>| forms.contains(&squeezed(code.of(inner(value))));
    let locals = code.locals(kernel.body).into_iter();
    let mut found = locals.filter(|local| local.value.is_some_and(is_it)).map(|local| local.name);
    found.next().filter(|_| found.next().is_none())
}

impl<'c> Product<'c> {
    fn read(code: &'c Code, kernel: &Kernel<'c>, row: &str, column: &str) -> Option<Self> {
        let all = named_children(kernel.body);
        let is_guard = |node: &Node<'c>| node.kind() == "if_statement";
        let at =
            all.iter().position(is_guard).or_else(|| all.iter().position(|node| node.kind() == "for_statement"))?;
        let (before, rest) = all.split_at(at);
        let (guard, part) = match rest.first().filter(|node| is_guard(node)) {
            None => (None, rest.to_vec()),
            Some(branch) => {
                if branch.child_by_field_name("alternative").is_some() {
                    return None;
                }
                let then = statements(branch.child_by_field_name("consequence")?);
                let returns = matches!(then.as_slice(), [only] if only.kind() == "return_statement");
                let part = if returns { rest[1..].to_vec() } else { then };
                if !returns && rest.len() > 1 {
                    return None;
                }
                let condition = inner(branch.child_by_field_name("condition")?);
                (Some(Guard::read(code, condition, returns, row, column)?), part)
            }
        };
        let at = part.iter().position(|node| node.kind() == "for_statement")?;
        let counted = ForLoop::read(code, part[at])?;
        let zero = counted.first.and_then(|first| constant::value(code, first)) == Some(0);
        let (Some(kind), "<", None, true) = (counted.kind, counted.operator, counted.step, zero) else { return None };
        let [statement] = statements(counted.body)[..] else { return None };
        let assignment = statement.named_child(0).filter(|node| node.kind() == "assignment_expression")?;
        let (left, right) = (assignment.child_by_field_name("left")?, assignment.child_by_field_name("right")?);
        let is_sum = code.of(assignment.child_by_field_name("operator")?) == "+=" && left.kind() == "identifier";
        let is_product = right.kind() == "binary_expression" && code.of(right.child_by_field_name("operator")?) == "*";
        if !is_sum || !is_product {
            return None;
        }
        let operand = |side: &str| Operand::read(code, kernel, right.child_by_field_name(side)?, counted.name);
        let (one, other) = (operand("left")?, operand("right")?);
        let is_of = |operand: &Operand<'_>, name: &str| code.mentions(operand.node, name);
        let (row_operand, column_operand) = if is_of(&one, row) { (one, other) } else { (other, one) };
        let fits = is_of(&row_operand, row) && !is_of(&row_operand, column);
        let fits = fits && is_of(&column_operand, column) && !is_of(&column_operand, row);
        fits.then(|| Self {
            before: before.to_vec(),
            guard,
            lead: part[..at].to_vec(),
            counted,
            kind,
            after: part[at + 1..].to_vec(),
            sum: code.of(left),
            row: row_operand,
            column: column_operand,
        })
    }

    fn check(&self, code: &Code, kernel: &Kernel<'_>, numbers: [&str; 2]) -> Result<(), Refusal> {
        numbering::check(code, kernel)?;
        let parts = || self.before.iter().chain(&self.lead).chain(&self.after);
        require(!parts().any(|node| leaves(*node)), "it leaves early, or holds code that cannot be followed")?;
        let by_preprocessor = parts().chain([&self.counted.node]).any(|node| node.kind().starts_with("preproc"));
        require(!by_preprocessor, "the kernel's code depends on preprocessor lines")?;
        let writes = code.writes(kernel.body);
        let arrays = [self.row.array, self.column.array];
        require(!writes.iter().any(|write| arrays.contains(&write.name)), "an operand is written in the kernel")?;
        require(!writes.iter().any(|write| numbers.contains(&write.name)), "the thread's row or column is changed")?;
        // What is done before the sum is done by threads beyond the problem's end too.
        let is_plain = |node: &Node<'_>| {
            let reaches = ["subscript_expression", "call_expression", "pointer_expression"];
            node.kind() == "declaration" && reaches.iter().all(|kind| of_kind(*node, kind).is_empty())
        };
        let is_alike = |node: &Node<'_>| is_plain(node) || node.kind() == "comment";
        require(self.lead.iter().all(is_alike), "what it does before the sum may reach beyond the problem's end")?;
        require(
            self.guard.is_none() || self.before.iter().all(is_alike),
            "it does more than to number its threads first",
        )?;
        // All threads of a block must run the same rounds, for they meet in each.
        let bound = self.counted.bound;
        let is_given = ["subscript_expression", "call_expression"].iter().all(|kind| of_kind(bound, kind).is_empty());
        let params = code.params(kernel);
        let is_known = |name: Node<'_>| {
            let is_param = params.iter().any(|param| param.name == code.of(name) && !param.is_pointer);
            let is_changed = writes.iter().any(|write| write.name == code.of(name));
            (is_param && !is_changed) || constant::find(code, code.of(name), name).is_some()
        };
        let is_alike = is_given && of_kind(bound, "identifier").into_iter().all(is_known);
        require(is_alike, format!("the rounds over `{}` may differ from thread to thread", self.counted.name))
    }

    /// The kernel's new body.
    fn tiled(&self, code: &Code, kernel: &Kernel<'_>, [row, column]: [&str; 2], side: i64) -> String {
        let indent = format!("{}    ", code.indent(kernel.node.start_byte()));
        let as_it_was = |node: &Node<'_>| moved(code.of(*node), code.indent(node.start_byte()), &indent);
        let (a, b) = (tile_name(self.row.array), tile_name(self.column.array));
        let k = self.counted.name;
        let bound = match self.counted.bound.child_count() {
            0 => code.of(self.counted.bound).to_owned(),
            _ => format!("({})", code.of(self.counted.bound)),
        };
        let guarded = |name: &str, of: fn(&Guard<'c>) -> Node<'c>, number: &str| {
            let there = self.guard.as_ref().map(|guard| format!("{name} < {} && ", code.of(of(guard))));
            format!("{}{number} < {bound}", there.unwrap_or_default())
        };
        let load = |operand: &Operand<'_>, number: &str| {
            let edits: Vec<Edit> = code.uses(operand.node, k).into_iter().map(|used| replace(used, number)).collect();
            within(code.text(), operand.node.byte_range(), &edits)
        };
        let tile = |operand: &Operand<'_>| {
            format!("__shared__ {} {}[{side}][{side}];", operand.element, tile_name(operand.array))
        };
        let mut lines: Vec<String> = self.before.iter().map(as_it_was).collect();
        lines.extend([tile(&self.row), tile(&self.column)]);
        lines.extend(self.lead.iter().map(as_it_was));
        lines.extend([
            format!("for ({0} tile_start = 0; tile_start < {bound}; tile_start += {side}) {{", self.kind),
            format!("    const {} row_element = tile_start + threadIdx.x;", self.kind),
            format!("    const {} column_element = tile_start + threadIdx.y;", self.kind),
            format!(
                "    {a}[threadIdx.y][threadIdx.x] = {} ? {} : 0;",
                guarded(row, |guard| guard.row_bound, "row_element"),
                load(&self.row, "row_element")
            ),
            format!(
                "    {b}[threadIdx.y][threadIdx.x] = {} ? {} : 0;",
                guarded(column, |guard| guard.column_bound, "column_element"),
                load(&self.column, "column_element")
            ),
            format!("    {BARRIER}();"),
            format!(
                "    for (int {k} = 0; {k} < {side}; ++{k}) {} += {a}[threadIdx.y][{k}] * {b}[{k}][threadIdx.x];",
                self.sum
            ),
            format!("    {BARRIER}();"),
            "}".to_owned(),
        ]);
        match &self.guard {
            None => lines.extend(self.after.iter().map(as_it_was)),
            Some(guard) => {
                let (m, n) = (code.of(guard.row_bound), code.of(guard.column_bound));
                lines.push(format!("if ({row} < {m} && {column} < {n}) {{"));
                let deeper = format!("{indent}    ");
                let inside = |node: &Node<'_>| moved(code.of(*node), code.indent(node.start_byte()), &deeper);
                lines.extend(self.after.iter().map(|node| format!("    {}", inside(node))));
                lines.push("}".to_owned());
            }
        }
        let outer = code.indent(kernel.node.start_byte());
        let separator = format!("\n{indent}");
        format!("{{{separator}{}\n{outer}}}", lines.join(&separator))
    }
}

impl<'c> Guard<'c> {
    fn read(code: &'c Code, condition: Node<'c>, returns: bool, row: &str, column: &str) -> Option<Self> {
        let (joined, compared) = if returns { ("||", ">=") } else { ("&&", "<") };
        let part = |node: Node<'c>, name: &str| node.child_by_field_name(name);
        let operator = |node: Node<'c>| part(node, "operator").map_or("", |operator| code.of(operator));
        if condition.kind() != "binary_expression" || operator(condition) != joined {
            return None;
        }
        let bound = |side: &str, name: &str| {
            let comparison = inner(part(condition, side)?);
            let is_it = comparison.kind() == "binary_expression" && operator(comparison) == compared;
            (is_it && code.of(part(comparison, "left")?) == name).then(|| part(comparison, "right"))?
        };
        let straight = bound("left", row).zip(bound("right", column));
        let (row_bound, column_bound) = straight.or_else(|| bound("right", row).zip(bound("left", column)))?;
        let is_simple = |node: Node<'_>| ["identifier", "number_literal"].contains(&node.kind());
        (is_simple(row_bound) && is_simple(column_bound)).then_some(Self { row_bound, column_bound })
    }
}

impl<'c> Operand<'c> {
    fn read(code: &'c Code, kernel: &Kernel<'c>, node: Node<'c>, counter: &str) -> Option<Self> {
        let node = inner(node);
        let array = code.of(node.child_by_field_name("argument").filter(|_| node.kind() == "subscript_expression")?);
        let param = code.params(kernel).into_iter().find(|param| param.name == array && param.is_pointer)?;
        let element = code.type_of(param.node);
        let is_plain = of_kind(param.node, "pointer_declarator").len() == 1;
        let index = node.child_by_field_name("indices")?;
        let is_computed = ["subscript_expression", "call_expression", "update_expression", "assignment_expression"];
        let is_computed = is_computed.iter().all(|kind| of_kind(index, kind).is_empty());
        let fits = is_plain && is_computed && NUMBERS.contains(&element) && code.mentions(index, counter);
        fits.then_some(Self { array, element, node })
    }
}
