//! Promises that a kernel's pointers do not overlap, where its launches keep the promise.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::code::{Code, Launch, Param, around, of_kind};
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let params = code.params(kernel);
    let pointers: Vec<(usize, &Param<'_>)> = params.iter().enumerate().filter(|(_, param)| param.is_pointer).collect();
    let open: Vec<&Param<'_>> = pointers.iter().map(|(_, param)| *param).filter(|param| !param.is_restrict).collect();
    if open.is_empty() || pointers.len() < 2 {
        return Err(Refusal::NotHere);
    }
    // A benchmark file gives each buffer an allocation of its own.
    let is_outside = code.outside(kernel.name).is_some();
    let here = code.syntax().launches().iter().any(|launch| launch.kernel == kernel.name);
    let launches = code.launches_of(kernel.name);
    require(
        !launches.is_empty() || (is_outside && !here),
        "it is not known to be launched by this file alone, so what it is given is not known",
    )?;
    for launch in &launches {
        let arguments: Vec<Node<'_>> =
            pointers.iter().filter_map(|(index, _)| launch.arguments.get(*index).copied()).collect();
        require(arguments.len() == pointers.len(), "a launch does not give all of its arguments")?;
        check(code, launch, &arguments)?;
    }
    let edits = open.iter().map(|param| Edit::insert(param.identifier.start_byte(), "__restrict__ ")).collect();
    let names: Vec<&str> = open.iter().map(|param| param.name).collect();
    let given_by = if is_outside { "the benchmark file gives" } else { "the launches of this file give" };
    let report = format!(
        "Declared {} `__restrict__`; {given_by} different buffers, and other callers must do so too.",
        names.join(", ")
    );
    Ok(Offer::one(place, "", kernel.node, Change::new(edits, report)).word("pointers", names.join(", ")))
}

/// Checks that a launch gives buffers which are told apart by name, none of them a part of another.
fn check(code: &Code, launch: &Launch<'_>, arguments: &[Node<'_>]) -> Result<(), Refusal> {
    let mut seen: Vec<&str> = Vec::new();
    for argument in arguments {
        let text = code.of(*argument);
        let is_name = ["identifier", "field_expression", "subscript_expression"].contains(&argument.kind());
        require(is_name, format!("a launch gives `{text}`, which may be a part of another argument"))?;
        require(!seen.contains(&text), format!("a launch gives `{text}` twice"))?;
        require(!is_derived(code, launch, *argument), format!("`{text}` is made from another pointer"))?;
        seen.push(text);
    }
    Ok(())
}

/// Whether a pointer got its value from another pointer rather than from an allocation.
fn is_derived(code: &Code, launch: &Launch<'_>, argument: Node<'_>) -> bool {
    let Some(function) = around(launch.node, &["function_definition"]) else { return true };
    if argument.kind() != "identifier" {
        return false;
    }
    let name = code.of(argument);
    let from_other = |value: Node<'_>| {
        let is_allocation = of_kind(value, "call_expression").iter().any(|call| code.of(*call).contains("alloc"));
        !is_allocation && !["nullptr", "NULL", "0", "{}"].contains(&code.of(value))
    };
    let initial = code.locals(function).into_iter().filter(|local| local.name == name).filter_map(|local| local.value);
    let assigned =
        code.writes(function).into_iter().filter(|write| write.place.kind() == "identifier" && write.name == name);
    initial.chain(assigned.filter_map(|write| write.node.child_by_field_name("right"))).any(from_other)
}
