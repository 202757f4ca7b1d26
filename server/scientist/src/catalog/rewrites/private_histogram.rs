//! Counts in LDS first and adds the block's counts to global memory once.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::{Extents, blocks_of};
use crate::catalog::code::{Code, Kernel, Param, around, named_children, of_kind};
use crate::catalog::constant;
use crate::catalog::edit::replace;
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};
use crate::catalog::stretches::BARRIER;

/// Counters that a block may keep in LDS: 32 KiB of them, so that two blocks share a compute unit.
const MOST_BINS: i64 = 8192;
/// Types whose sums do not depend on the order.
const INTEGERS: [&str; 5] = ["int", "unsigned", "unsigned int", "uint32_t", "int32_t"];

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let bins = place.text("bins")?;
    let params = code.params(kernel);
    let param = params.iter().find(|param| param.is_pointer && param.name == bins).ok_or(Refusal::NotHere)?;
    let kind = code.type_of(param.node);
    require(INTEGERS.contains(&kind), format!("`{bins}` does not count in integers of 32 bits"))?;
    check_kernel(code, kernel)?;
    let (targets, count) = targets(code, kernel, bins, &params)?;

    let local = format!("{bins}_of_block");
    require(
        !code.mentions(kernel.body, &local) && !code.mentions(kernel.body, "bin_number"),
        "a name that it needs is taken",
    )?;
    let indent = format!("{}    ", code.indent(kernel.node.start_byte()));
    let each_bin = format!("for (int bin_number = threadIdx.x; bin_number < {count}; bin_number += blockDim.x)");
    let before = [
        String::new(),
        format!("__shared__ {kind} {local}[{count}];"),
        format!("{each_bin} {local}[bin_number] = 0;"),
        format!("{BARRIER}();"),
    ];
    let after = [
        format!("    {BARRIER}();"),
        format!("{each_bin} {{"),
        format!("    if ({local}[bin_number] != 0) atomicAdd(&{bins}[bin_number], {local}[bin_number]);"),
        "}".to_owned(),
    ];
    let closing = kernel.body.end_byte() - 1;
    let mut edits: Vec<Edit> = targets.into_iter().map(|target| replace(target, local.clone())).collect();
    edits.push(Edit::insert(kernel.body.start_byte() + 1, before.join(&format!("\n{indent}"))));
    edits.push(Edit::insert(closing, format!("{}\n", after.join(&format!("\n{indent}")))));
    let report = format!("Each block counts in {count} counters in LDS and adds those above zero to `{bins}`.");
    Ok(Offer::one(place, bins, param.node, Change::new(edits, report)).word("count", count))
}

fn check_kernel(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    let text = code.of(kernel.body);
    require(!text.contains("__shared__"), "it uses LDS already")?;
    require(
        of_kind(kernel.body, "return_statement").is_empty(),
        "some threads leave before the counts could be joined",
    )?;
    numbering::check_macros(code, kernel)?;
    if code.outside(kernel.name).is_some() {
        let is_line = |block: &[i64; 3]| block[1..] == [1, 1];
        return require(blocks_of(code, kernel)?.iter().all(is_line), "its blocks are not lines of threads");
    }
    let launches = code.launches_of(kernel.name);
    require(!launches.is_empty(), "it is not known to be launched by this file alone, so its blocks are not known")?;
    let is_line = |launch| Extents::of_block(code, launch).is_some_and(|block| block.written.len() == 1);
    require(launches.iter().all(is_line), "its blocks are not known to be lines of threads")
}

/// The uses of the counters, all of them `atomicAdd(&bins[index], ..)` with an index below the same bound.
fn targets<'c>(
    code: &'c Code,
    kernel: &Kernel<'c>,
    bins: &str,
    params: &[Param<'c>],
) -> Result<(Vec<Node<'c>>, String), Refusal> {
    let mut targets = Vec::new();
    let mut bound: Option<(i64, String)> = None;
    for used in code.uses(kernel.body, bins) {
        let element = used.parent().filter(|parent| parent.kind() == "subscript_expression");
        let address = element.and_then(|element| element.parent()).filter(|parent| code.of(*parent).starts_with('&'));
        let call = address.and_then(|address| around(address, &["call_expression"]));
        let is_sum =
            call.and_then(|call| call.child_by_field_name("function")).is_some_and(|name| code.of(name) == "atomicAdd");
        let unused = call.and_then(|call| call.parent()).is_some_and(|parent| parent.kind() == "expression_statement");
        let index =
            element.and_then(|element| element.child_by_field_name("indices")).and_then(|list| list.named_child(0));
        let Some(index) = index.filter(|_| is_sum && unused) else {
            return ruled_out(format!("`{bins}` is used for more than counting"));
        };
        let Some(found) = bound_of(code, kernel, index, params, 4) else {
            return ruled_out(format!("the number of counters in `{bins}` is not known from the text"));
        };
        require(bound.as_ref().is_none_or(|bound| *bound == found), "its indices have different bounds")?;
        bound = Some(found);
        targets.push(used);
    }
    match bound {
        Some((count, written)) if (1..=MOST_BINS).contains(&count) => Ok((targets, written)),
        Some(_) => ruled_out(format!("`{bins}` has too many counters for LDS")),
        None => Err(Refusal::NotHere),
    }
}

/// What an index stays below, as a number and as it is to be written.
fn bound_of(
    code: &Code,
    kernel: &Kernel<'_>,
    index: Node<'_>,
    params: &[Param<'_>],
    depth: u8,
) -> Option<(i64, String)> {
    if depth == 0 {
        return None;
    }
    let again = |node| bound_of(code, kernel, node, params, depth - 1);
    match index.kind() {
        "parenthesized_expression" => again(index.named_child(0)?),
        "cast_expression" => again(index.child_by_field_name("value")?),
        "identifier" => {
            let local = code.local(kernel.body, code.of(index))?;
            let is_changed = code.writes(kernel.body).iter().any(|write| write.name == local.name);
            again(local.value.filter(|_| !is_changed)?)
        }
        "subscript_expression" => {
            let base = code.base(index)?;
            let param = params.iter().find(|param| param.name == base)?;
            let is_byte = ["unsigned char", "uint8_t"].contains(&code.type_of(param.node));
            is_byte.then(|| (256, "256".to_owned()))
        }
        "binary_expression" => {
            let right = index.child_by_field_name("right")?;
            let value = constant::value(code, right)?;
            match code.of(index.child_by_field_name("operator")?) {
                "%" => Some((value, code.of(right).to_owned())),
                "&" => Some((value + 1, (value + 1).to_string())),
                _ => None,
            }
        }
        "call_expression" => {
            // `min(index, LAST)` keeps it below LAST + 1.
            let is_min = index.child_by_field_name("function").is_some_and(|function| code.of(function) == "min");
            let arguments = named_children(index.child_by_field_name("arguments")?);
            let value = constant::value(code, *arguments.get(1).filter(|_| is_min)?)?;
            Some((value + 1, (value + 1).to_string()))
        }
        _ => None,
    }
}
