//! Stores results that a kernel does not read again past the caches.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::code::{Code, Kernel, Param, of_kind};
use crate::catalog::constant;
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, ruled_out};

/// Types that the builtin stores: those that are no classes.
const SCALARS: [&str; 14] = [
    "float",
    "double",
    "int",
    "unsigned int",
    "unsigned",
    "short",
    "unsigned short",
    "char",
    "unsigned char",
    "long",
    "uint32_t",
    "int32_t",
    "uint8_t",
    "size_t",
];

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let mut edits = Vec::new();
    let mut names = Vec::new();
    for param in code.params(kernel).into_iter().filter(|param| param.is_pointer) {
        let uses = code.uses(kernel.body, param.name);
        let stores: Option<Vec<_>> = uses.iter().map(|used| store(code, *used)).collect();
        let Some(stores) = stores.filter(|stores| stores.iter().any(|(_, element, _)| is_of_many(code, *element)))
        else {
            continue;
        };
        if !is_scalar(code, &param) {
            continue;
        }
        edits.extend(stores.into_iter().map(|(statement, element, value)| changed(code, statement, element, value)));
        names.push(param.name);
    }
    if names.is_empty() {
        return Err(Refusal::NotHere);
    }
    if let Some(hidden) = hidden(code, kernel, &names) {
        return ruled_out(format!("`{hidden}` is the name of a variable too"));
    }
    let report = format!("Stores to {} pass the caches by.", names.join(", "));
    let offer = Offer::one(place, "", kernel.node, Change::new(edits, report));
    Ok(offer.word("arrays", names.join("`, `")))
}

/// Whether an element is one of many, and not always the same.
fn is_of_many(code: &Code, element: Node<'_>) -> bool {
    let index = element.child_by_field_name("indices").and_then(|list| list.named_child(0));
    index.is_some_and(|index| constant::value(code, index).is_none())
}

fn is_scalar(code: &Code, param: &Param<'_>) -> bool {
    let is_plain = of_kind(param.node, "pointer_declarator").len() == 1 && !code.of(param.node).contains("volatile");
    is_plain && SCALARS.contains(&code.type_of(param.node))
}

/// `p[index] = value;` as statement, element and value, where a use of `p` is just that.
fn store<'c>(code: &'c Code, used: Node<'c>) -> Option<(Node<'c>, Node<'c>, Node<'c>)> {
    let element = used.parent().filter(|node| node.kind() == "subscript_expression")?;
    let is_array = element.child_by_field_name("argument") == Some(used);
    let assignment = element.parent().filter(|node| node.kind() == "assignment_expression")?;
    let is_target = assignment.child_by_field_name("left") == Some(element);
    let is_plain = code.of(assignment.child_by_field_name("operator")?) == "=";
    let value = assignment.child_by_field_name("right")?;
    let statement = assignment.parent().filter(|node| node.kind() == "expression_statement")?;
    let is_value = !["assignment_expression", "initializer_list", "comma_expression"].contains(&value.kind());
    (is_array && is_target && is_plain && is_value).then_some((statement, element, value))
}

fn changed(code: &Code, statement: Node<'_>, element: Node<'_>, value: Node<'_>) -> Edit {
    replace(statement, format!("__builtin_nontemporal_store({}, &{});", code.of(value), code.of(element)))
}

fn hidden<'n>(code: &Code, kernel: &Kernel<'_>, names: &[&'n str]) -> Option<&'n str> {
    let locals = code.locals(kernel.body);
    names.iter().copied().find(|name| locals.iter().any(|local| local.name == *name))
}
