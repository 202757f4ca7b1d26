//! Joins what the lanes of a wavefront add to one place, and adds it by one atomic.

use tree_sitter::Node;

use crate::catalog::block::blocks_of;
use crate::catalog::code::{Code, Kernel, of_kind};
use crate::catalog::edit::replace;
use crate::catalog::elementwise::inner;
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};
use crate::catalog::threads::Spread;

use super::coarsen::WAVEFRONT;

/// Types that a shuffle hands over and an atomic adds.
const SUMMED: [&str; 5] = ["float", "double", "int", "unsigned int", "unsigned"];

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let (statement, target, value) = (place.capture("statement")?, place.capture("target")?, place.capture("value")?);
    let (outer, condition) = reached_by_all(code, kernel, statement).ok_or(Refusal::NotHere)?;
    let Some((name, kind)) = counter(code, kernel, target) else { return Err(Refusal::NotHere) };
    let by_thread = Spread::of(code, kernel, &["threadIdx", "threadIdx.x"], &[]);
    if by_thread.reaches(code, target) || condition.is_some_and(|condition| picks_one(code, &by_thread, condition)) {
        return Err(Refusal::NotHere);
    }
    require(SUMMED.contains(&kind), format!("`{name}` is of type `{kind}`, which a shuffle does not hand over"))?;
    let is_pure = |node: Node<'_>| {
        let changes = ["update_expression", "assignment_expression", "lambda_expression"];
        code.called(node).is_empty() && changes.iter().all(|kind| of_kind(node, kind).is_empty())
    };
    let is_simple = is_pure(value) && is_pure(target) && condition.is_none_or(is_pure);
    require(is_simple, "what it adds, or when, is the work of a function or changes something")?;
    let leaves = !of_kind(kernel.body, "return_statement").is_empty();
    require(!leaves, "some threads leave before their lanes could be joined")?;
    numbering::check_macros(code, kernel)?;
    for block in blocks_of(code, kernel)? {
        let is_whole = block[1..] == [1, 1] && block[0] % WAVEFRONT == 0;
        require(is_whole, "its blocks are not lines of whole wavefronts")?;
    }
    if code.mentions(kernel.body, "wave_value") {
        return ruled_out("the name `wave_value` is taken");
    }

    let (target, value) = (code.of(target), code.of(value));
    let given = match condition {
        Some(condition) => format!("{} ? ({kind})({value}) : ({kind})0", parenthesised(code, condition)),
        None => value.to_owned(),
    };
    let lines = [
        "{".to_owned(),
        format!("    {kind} wave_value = {given};"),
        "    for (int offset = warpSize / 2; offset > 0; offset >>= 1) {".to_owned(),
        "        wave_value += __shfl_down(wave_value, offset);".to_owned(),
        "    }".to_owned(),
        format!("    if (threadIdx.x % warpSize == 0) atomicAdd({target}, wave_value);"),
        "}".to_owned(),
    ];
    let text = lines.join(&format!("\n{}", code.indent(outer.start_byte())));
    let report =
        format!("A wavefront joins what it adds to `{target}` and adds it at once; sums may round differently.");
    Ok(Offer::one(place, name, statement, Change::new(vec![replace(outer, text)], report)).word("name", name))
}

/// The statement with the one `if` that may stand around it, and that one's condition; `None` where not all threads of a
/// block come there together.
fn reached_by_all<'c>(
    code: &'c Code,
    kernel: &Kernel<'c>,
    statement: Node<'c>,
) -> Option<(Node<'c>, Option<Node<'c>>)> {
    let parent = statement.parent()?;
    if parent == kernel.body {
        return Some((statement, None));
    }
    let is_block = parent.kind() == "compound_statement";
    if is_block && super::super::code::named_children(parent).len() != 1 {
        return None;
    }
    let branch = if is_block { parent.parent()? } else { parent };
    let is_alone = branch.kind() == "if_statement" && branch.child_by_field_name("alternative").is_none();
    let condition = inner(branch.child_by_field_name("condition")?);
    let is_declared = condition.kind().contains("declaration") || code.of(condition).contains(';');
    (is_alone && !is_declared && branch.parent() == Some(kernel.body)).then_some((branch, Some(condition)))
}

/// The pointer parameter that a target is, or is an element of, with its elements' type.
fn counter<'c>(code: &'c Code, kernel: &Kernel<'c>, target: Node<'c>) -> Option<(&'c str, &'c str)> {
    let is_element = target.kind() == "pointer_expression" && code.of(target).starts_with('&');
    let name = match target.kind() {
        "identifier" => code.of(target),
        _ if is_element => code.base(target)?,
        _ => return None,
    };
    let param = code.params(kernel).into_iter().find(|param| param.name == name && param.is_pointer)?;
    (of_kind(param.node, "pointer_declarator").len() == 1).then(|| (name, code.type_of(param.node)))
}

/// Whether a condition holds for few threads, so that there is nothing to join: it compares the thread for equality.
fn picks_one(code: &Code, by_thread: &Spread<'_>, condition: Node<'_>) -> bool {
    of_kind(condition, "binary_expression").into_iter().any(|comparison| {
        let part = |name: &str| comparison.child_by_field_name(name);
        let is_equal = part("operator").is_some_and(|operator| code.of(operator) == "==");
        let left = part("left").map(inner);
        let reads = left.is_some_and(|left| !of_kind(left, "subscript_expression").is_empty());
        is_equal && !reads && left.is_some_and(|left| by_thread.reaches(code, left))
    })
}

fn parenthesised(code: &Code, condition: Node<'_>) -> String {
    format!("({})", code.of(condition))
}
