//! Tells the compiler the largest block that a kernel is launched with.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::{Extents, blocks_of};
use crate::catalog::code::{Code, Kernel};
use crate::catalog::constant;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling};

use super::coarsen::WAVEFRONT;

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    if code.text()[kernel.node.start_byte()..kernel.body.start_byte()].contains("__launch_bounds__")
        || is_declared(code, kernel)
    {
        return Err(Refusal::NotHere);
    }
    let largest = blocks_of(code, kernel)?.iter().map(|block| block.iter().product()).max().ok_or(Refusal::NotHere)?;
    // A compiler takes 1024 for granted, and less than a wavefront changes nothing.
    if !(WAVEFRONT..1024).contains(&largest) {
        return Err(Refusal::NotHere);
    }
    let written = by_constant(code, kernel, largest).unwrap_or_else(|| largest.to_string());
    let declarator = kernel.node.child_by_field_name("declarator").ok_or(Refusal::NotHere)?;
    let edit = Edit::insert(declarator.start_byte(), format!("__launch_bounds__({written}) "));
    let others = match code.outside(kernel.name) {
        Some(_) => " The benchmark file launches it so, and other callers must not launch larger blocks.",
        None => "",
    };
    let report = format!("Declared `{}` with `__launch_bounds__({written})`.{others}", kernel.name);
    Ok(Offer::one(place, "", kernel.node, Change::new(vec![edit], report)).word("threads", written))
}

/// Whether the kernel is declared elsewhere too, where other files may take it from.
fn is_declared(code: &Code, kernel: &Kernel<'_>) -> bool {
    let is_head = |used: &Node<'_>| {
        used.parent().is_some_and(|head| {
            head.kind() == "function_declarator" && head.child_by_field_name("declarator") == Some(*used)
        })
    };
    code.uses(code.root(), kernel.name).iter().filter(|used| is_head(used)).count() > 1
}

/// A one-dimensional block by its constant, so that the bound follows the constant.
fn by_constant(code: &Code, kernel: &Kernel<'_>, largest: i64) -> Option<String> {
    let launches = code.launches_of(kernel.name);
    let [launch] = launches.as_slice() else { return None };
    let block = Extents::of_block(code, launch)?;
    let [extent] = block.written.as_slice() else { return None };
    let constant = constant::find(code, code.of(*extent), *extent)?;
    let is_seen = constant.is_global && constant.range.start < kernel.node.start_byte();
    (is_seen && constant.value == largest).then(|| constant.name.to_owned())
}
