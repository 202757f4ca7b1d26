//! Turns a block's square of elements around in LDS, where loads run along rows and the store runs along columns, or the
//! other way round.
//!
//! Each thread computes one value and stores it. In the new kernel it hands the value to its mirror image in the square
//! block, `(x, y)` to `(y, x)`, which stores it where it belongs: so both the loads and the store can run along `x`.

use tree_sitter::Node;

use crate::catalog::block::square_of;
use crate::catalog::code::{Code, Kernel, named_children, of_kind, statements};
use crate::catalog::edit::{moved, replace, within};
use crate::catalog::elementwise::inner;
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};
use crate::catalog::stretches::BARRIER;
use crate::catalog::threads::Spread;

use super::lds_padding::{LDS_BYTES, element_bytes};

/// The tile's name.
const TILE: &str = "turned";
/// Types of elements that may be kept in LDS: an array of them has no constructor.
const NUMBERS: [&str; 16] = [
    "float",
    "double",
    "int",
    "unsigned",
    "unsigned int",
    "short",
    "char",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "_Float16",
    "size_t",
    "long",
];

/// A kernel whose threads store one value each.
struct Single<'c> {
    /// Numbers of the thread: declarations that read no memory.
    numbers: Vec<Node<'c>>,
    guard: Option<Guard<'c>>,
    /// Further such declarations under the guard.
    inner_numbers: Vec<Node<'c>>,
    /// Declarations of what is loaded, and of what is made of it.
    values: Vec<Node<'c>>,
    store: Node<'c>,
    loads: Vec<Node<'c>>,
    value: Node<'c>,
    array: &'c str,
    element: &'c str,
}

/// The condition under which a thread has an element.
struct Guard<'c> {
    condition: Node<'c>,
    /// Whether it is the condition for having none: `if (..) return;`.
    returns: bool,
}

/// Which half of the work is done by the mirror image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Far {
    Loads,
    Store,
}

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    if code.calls(kernel.body, BARRIER) || code.of(kernel.body).contains("__shared__") {
        return Err(Refusal::NotHere);
    }
    let single = Single::read(code, kernel).ok_or(Refusal::NotHere)?;
    let far = single.far(code, kernel).ok_or(Refusal::NotHere)?;
    numbering::check(code, kernel)?;
    require(!code.mentions(kernel.node, TILE), format!("the name `{TILE}` is taken"))?;
    require(NUMBERS.contains(&single.element), format!("elements of type `{}` are not known", single.element))?;
    let side = square_of(code, kernel)?;
    require(side * (side + 1) * element_bytes(single.element) <= LDS_BYTES, "its square would not fit LDS")?;
    let name = single.array;
    let edits = vec![replace(kernel.body, single.turned(code, kernel, far, side))];
    let report = format!("`{name}` is stored through a tile of {side} by {side} in LDS; each access runs along x.");
    let offer = Offer::one(place, name, single.store, Change::new(edits, report));
    Ok(offer.word("array", name).word("side", side.to_string()))
}

impl<'c> Single<'c> {
    fn read(code: &'c Code, kernel: &Kernel<'c>) -> Option<Self> {
        let all = named_children(kernel.body);
        let is_number = |node: &Node<'_>| node.kind() == "declaration" && is_pure(*node);
        let (numbers, rest) = all.split_at(all.iter().take_while(|node| is_number(node)).count());
        let (first, after) = rest.split_first()?;
        let (guard, part) = if first.kind() == "if_statement" {
            if first.child_by_field_name("alternative").is_some() {
                return None;
            }
            let condition = inner(first.child_by_field_name("condition")?);
            let then = statements(first.child_by_field_name("consequence")?);
            let returns = matches!(then.as_slice(), [only] if only.kind() == "return_statement");
            if !is_pure(condition) || !(returns || after.is_empty()) {
                return None;
            }
            (Some(Guard { condition, returns }), if returns { after.to_vec() } else { then })
        } else {
            (None, rest.to_vec())
        };
        let (last, lead) = part.split_last()?;
        let assignment = last.named_child(0).filter(|node| node.kind() == "assignment_expression")?;
        let is_plain =
            last.kind() == "expression_statement" && code.of(assignment.child_by_field_name("operator")?) == "=";
        let (store, value) = (assignment.child_by_field_name("left")?, assignment.child_by_field_name("right")?);
        let split = lead.iter().take_while(|node| is_number(node)).count();
        let (inner_numbers, values) = lead.split_at(split);
        let params = code.params(kernel);
        let array =
            code.of(store.child_by_field_name("argument").filter(|_| store.kind() == "subscript_expression")?);
        let param = params.iter().find(|param| param.name == array && param.is_pointer)?;
        let is_pointer = of_kind(param.node, "pointer_declarator").len() == 1;
        let only_reads = |node: Node<'_>| ACTS.iter().all(|kind| of_kind(node, kind).is_empty());
        let are_values = values.iter().all(|node| node.kind() == "declaration" && only_reads(*node));
        let loads = values.iter().chain([&value]).flat_map(|node| of_kind(*node, "subscript_expression")).collect();
        // The mirror image knows where to store by the numbers alone.
        let where_to = store.child_by_field_name("indices")?;
        let made = values.iter().flat_map(|node| code.locals(*node));
        let by_numbers = is_pure(where_to) && made.into_iter().all(|local| !code.mentions(where_to, local.name));
        let fits = is_plain && is_pointer && are_values && only_reads(value) && by_numbers;
        fits.then(|| Self {
            numbers: numbers.to_vec(),
            guard,
            inner_numbers: inner_numbers.to_vec(),
            values: values.to_vec(),
            store,
            loads,
            value,
            array,
            element: code.type_of(param.node),
        })
    }

    /// The half whose accesses run along y, while the other's run along x.
    fn far(&self, code: &Code, kernel: &Kernel<'_>) -> Option<Far> {
        let [along_x, along_y] = ["threadIdx.x", "threadIdx.y"].map(|seed| Spread::of(code, kernel, &[seed], &[]));
        let is_near = |access: &Node<'_>| along_x.adjoins(code, *access);
        let is_far = |access: &Node<'_>| !is_near(access) && along_y.adjoins(code, *access);
        match (self.loads.iter().any(is_far), self.loads.iter().any(is_near)) {
            (false, true) if is_far(&self.store) => Some(Far::Store),
            (true, false) if is_near(&self.store) => Some(Far::Loads),
            _ => None,
        }
    }

    /// The kernel's new body.
    fn turned(&self, code: &Code, kernel: &Kernel<'_>, far: Far, side: i64) -> String {
        let outer = code.indent(kernel.node.start_byte());
        let indent = format!("{outer}    ");
        let tile = |mirrored: bool| {
            let (row, column) = if mirrored { ("x", "y") } else { ("y", "x") };
            format!("{TILE}[threadIdx.{row}][threadIdx.{column}]")
        };
        let put = |mirrored: bool| {
            let mut lines: Vec<String> = self.values.iter().map(|node| self.as_is(code, *node, mirrored)).collect();
            lines.push(format!("{} = {};", tile(mirrored), self.as_is(code, self.value, mirrored)));
            self.half(code, lines, mirrored)
        };
        let take = |mirrored: bool| {
            let line = format!("{} = {};", self.as_is(code, self.store, mirrored), tile(mirrored));
            self.half(code, vec![line], mirrored)
        };
        let mut lines = vec![format!("__shared__ {} {TILE}[{side}][{}];", self.element, side + 1)];
        lines.extend(put(far == Far::Loads));
        lines.push(format!("{BARRIER}();"));
        lines.extend(take(far == Far::Store));
        let separator = format!("\n{indent}");
        format!("{{{separator}{}\n{outer}}}", lines.join(&separator))
    }

    /// One half of the work in a scope of its own, by the thread itself or by its mirror image.
    fn half(&self, code: &Code, work: Vec<String>, mirrored: bool) -> Vec<String> {
        let numbers = |nodes: &[Node<'c>]| -> Vec<String> {
            nodes.iter().map(|node| self.as_is(code, *node, mirrored)).collect()
        };
        let mut lines = numbers(&self.numbers);
        let mut part = numbers(&self.inner_numbers);
        part.extend(work);
        match &self.guard {
            None => lines.extend(part),
            Some(guard) => {
                let condition = self.as_is(code, guard.condition, mirrored);
                lines.push(if guard.returns {
                    format!("if (!({condition})) {{")
                } else {
                    format!("if ({condition}) {{")
                });
                lines.extend(part.into_iter().map(|line| format!("    {line}")));
                lines.push("}".to_owned());
            }
        }
        let inside = lines.into_iter().map(|line| format!("    {line}"));
        ["{".to_owned()].into_iter().chain(inside).chain(["}".to_owned()]).collect()
    }

    /// A node's text, with the thread's x and y exchanged where the mirror image does it.
    fn as_is(&self, code: &Code, node: Node<'_>, mirrored: bool) -> String {
        let swapped = |name: &str| match name {
            "threadIdx.x" => Some("threadIdx.y"),
            "threadIdx.y" => Some("threadIdx.x"),
            _ => None,
        };
        let fields = of_kind(node, "field_expression").into_iter().filter(|_| mirrored);
        let edits: Vec<_> =
            fields.filter_map(|field| swapped(code.of(field)).map(|other| replace(field, other))).collect();
        let text = within(code.text(), node.byte_range(), &edits);
        moved(&text, code.indent(node.start_byte()), "")
    }
}

/// What changes something, or may.
const ACTS: [&str; 6] = [
    "call_expression",
    "assignment_expression",
    "update_expression",
    "lambda_expression",
    "pointer_expression",
    "gnu_asm_expression",
];

/// Whether code reads no memory and changes nothing: it may be done twice, by another thread.
fn is_pure(node: Node<'_>) -> bool {
    ACTS.iter().chain(&["subscript_expression"]).all(|kind| of_kind(node, kind).is_empty())
}
