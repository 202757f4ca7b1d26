//! Divides once before a loop instead of in every round.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::code::{Code, named_children};
use crate::catalog::edit::replace;
use crate::catalog::floats;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let (node, division, divisor) = (place.capture("loop")?, place.capture("division")?, place.capture("divisor")?);
    let name = code.of(divisor);
    let kind = float_kind(code, place, name).ok_or(Refusal::NotHere)?;
    let left = division.child_by_field_name("left").ok_or(Refusal::NotHere)?;
    let is_changed = code.writes(node).iter().any(|write| write.name == name);
    let is_inner = code.locals(node).iter().any(|local| local.name == name);
    if is_changed || is_inner {
        return Err(Refusal::NotHere);
    }
    let is_single = kind == "double" || floats::is_single(code, &place.kernel, left);
    require(is_single, format!("`{}` may be of a wider type than `{name}`", code.of(left)))?;
    let inverse = format!("{name}_inverse");
    require(!code.mentions(kernel.body, &inverse), format!("the name `{inverse}` is taken"))?;

    let one = if kind == "float" { "1.0f" } else { "1.0" };
    let operator = division.child_by_field_name("operator").ok_or(Refusal::NotHere)?;
    let times = code.of(operator).replace('/', "*");
    let mut edits = vec![before(code, node, &format!("const {kind} {inverse} = {one} / {name};"))];
    edits.extend([replace(operator, times), replace(divisor, inverse.clone())]);
    let report = format!(
        "Multiplies by `{inverse}` in the loop; results may differ by one rounding, and where 1 / {name} overflows."
    );
    Ok(Offer::one(place, name, division, Change::new(edits, report)).word("divisor", name))
}

/// A line before a loop and before what belongs to it.
fn before(code: &Code, node: Node<'_>, line: &str) -> Edit {
    let pragma = node.prev_named_sibling().filter(|before| before.kind() == "preproc_call");
    let start = pragma.unwrap_or(node).start_byte();
    Edit::insert(start, format!("{line}\n{}", code.indent(node.start_byte())))
}

/// `float` or `double` where the variable is a plain one of the kernel.
fn float_kind<'c>(code: &'c Code, place: &Place<'c>, name: &str) -> Option<&'c str> {
    let local = code.local(place.kernel.body, name).filter(|local| local.shape.kind() == "identifier");
    let local = local.map(|local| code.type_of(local.declaration));
    let param = code.params(&place.kernel).into_iter().find(|param| param.name == name && !param.is_pointer);
    let param = param.filter(|param| named_children(param.node).last().is_some_and(|last| last.kind() == "identifier"));
    local.or(param.map(|param| code.type_of(param.node))).filter(|kind| ["float", "double"].contains(kind))
}
