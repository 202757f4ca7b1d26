//! Keeps a sum in a register that a loop adds up in global memory.

use hip_syntax::Edit;
use hip_syntax::device_functions::{is_atomic, is_exchange};
use tree_sitter::Node;

use crate::catalog::code::{Code, everything, of_kind};
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let (target, node) = (place.capture("target")?, place.capture("loop")?);
    let array = code.base(target).ok_or(Refusal::NotHere)?;
    let params = code.params(kernel);
    let Some(param) = params.iter().find(|param| param.name == array && param.is_pointer) else {
        return Err(Refusal::NotHere);
    };
    let first = first_store(code, node, target)?;
    require(is_fixed(code, target, node), format!("the index of `{}` changes in the loop", code.of(target)))?;
    let others =
        code.uses(node, array).into_iter().filter(|used| !everything(target).any(|part| part == *used)).count();
    let targets =
        of_kind(node, "subscript_expression").into_iter().filter(|found| code.of(*found) == code.of(target)).count();
    require(others == targets - 1, format!("the loop uses `{array}` in other places too"))?;
    require(param.is_restrict, format!("other pointers may overlap `{array}` as long as it is not `__restrict__`"))?;
    let calls = code.called(node);
    let shares = calls.iter().any(|name| is_exchange(name) || is_atomic(name) || name.starts_with("__threadfence"));
    require(!shares, "the loop exchanges values with other threads")?;

    let kind = code.of(param.node).split(['*', '&']).next().unwrap_or_default();
    let kind = kind.split_whitespace().filter(|word| *word != "const").collect::<Vec<_>>().join(" ");
    let name = free_name(code, kernel.body, array)?;
    let indent = code.indent(node.start_byte());
    let mut edits = vec![Edit::insert(first.start_byte(), format!("{kind} "))];
    let both = of_kind(node, "subscript_expression").into_iter().chain(first.child_by_field_name("left"));
    edits.extend(both.filter(|found| code.of(*found) == code.of(target)).map(|found| replace(found, name.clone())));
    edits.push(Edit::insert(node.end_byte(), format!("\n{indent}{} = {name};", code.of(target))));
    let report = format!("`{}` is added up in `{name}` and stored once after the loop.", code.of(target));
    Ok(Offer::one(place, array, target, Change::new(edits, report)))
}

/// The store to the same element right before the loop, which makes sure that the element is there.
fn first_store<'c>(code: &'c Code, node: Node<'c>, target: Node<'c>) -> Result<Node<'c>, Refusal> {
    let mut before = node.prev_named_sibling();
    while let Some(comment) = before.filter(|before| ["comment", "preproc_call"].contains(&before.kind())) {
        before = comment.prev_named_sibling();
    }
    let store =
        before.and_then(|statement| statement.named_child(0)).filter(|store| store.kind() == "assignment_expression");
    let is_it = |store: &Node<'c>| {
        let operator = store.child_by_field_name("operator").map(|operator| code.of(operator));
        operator == Some("=") && store.child_by_field_name("left").is_some_and(|left| code.of(left) == code.of(target))
    };
    store.filter(is_it).ok_or_else(|| {
        Refusal::RuledOut(format!("`{}` is not set right before the loop, which might run no round", code.of(target)))
    })
}

/// Whether nothing in an element's index changes in a loop.
fn is_fixed(code: &Code, target: Node<'_>, node: Node<'_>) -> bool {
    let mut changed: Vec<&str> =
        code.writes(node).iter().filter(|w| w.place.kind() == "identifier").map(|w| w.name).collect();
    changed.extend(code.locals(node).iter().map(|local| local.name));
    let index = everything(target).filter(|part| part.kind() == "identifier");
    let loads = of_kind(target, "subscript_expression").len() > 1 || !of_kind(target, "call_expression").is_empty();
    !loads && index.into_iter().all(|part| !changed.contains(&code.of(part)))
}

/// `NAME_sum`, if that is not in use.
fn free_name(code: &Code, body: Node<'_>, array: &str) -> Result<String, Refusal> {
    let name = format!("{array}_sum");
    require(!code.mentions(body, &name), format!("the name `{name}` is taken"))?;
    Ok(name)
}
