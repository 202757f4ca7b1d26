//! Gives each thread the work of several, in blocks of fewer threads.
//!
//! A block's threads are numbered along one axis. With a factor of 4, thread `t` does what `t`, `t + n`, `t + 2n` and
//! `t + 3n` did, `n` being a quarter of the old extent. Between two barriers nothing orders the threads of a block, so
//! running four of them one after the other is an order that the original may take as well: each stretch without a
//! barrier becomes a loop over items, variables that live across stretches become arrays with one element an item, and
//! barriers stay where they are, with a quarter of the threads to wait for.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::Extents;
use crate::catalog::code::{Code, Kernel, Launch, named_children, of_kind};
use crate::catalog::edit::replace;
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};
use crate::catalog::stretches::{Axis, BARRIER, Stretches};

/// Threads of a wavefront on CDNA3; a block must keep at least one.
pub(super) const WAVEFRONT: i64 = 64;

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, place.kernel);
    if !code.calls(kernel.body, BARRIER) {
        return Err(Refusal::NotHere);
    }
    let launches = code.launches_of(kernel.name);
    require(
        !launches.is_empty(),
        "it is not known to be launched by this file alone, so its block cannot be changed with it",
    )?;
    check_kernel(code, &kernel)?;
    let blocks = blocks(code, &launches)?;
    let factors = |axis: Axis| -> Vec<i64> {
        let fits = |factor: &i64| blocks.iter().all(|block| fits(block, axis, *factor));
        place.entry.search.iter().copied().filter(fits).collect()
    };
    let is_open = |axis: &Axis| !is_coarsened(code, &kernel, *axis) && !factors(*axis).is_empty();
    let Some(axis) = [Axis::Y, Axis::X].into_iter().find(is_open) else {
        return Err(Refusal::RuledOut("its blocks have too few threads to be divided (further)".into()));
    };
    let factors = factors(axis);

    let stretches = Stretches::read(code, &kernel, axis)?;
    let name = format!("items along {}", axis.name());
    let changes = factors.into_iter().map(|factor| {
        let mut edits = vec![replace(kernel.body, stretches.coarsened(factor)?)];
        edits.extend(launches.iter().map(|launch| divide(code, launch, axis, factor)));
        let report = format!(
            "Each thread of `{}` does the work of {factor} along {}; blocks have {factor} times fewer threads and the grid stays.",
            kernel.name,
            axis.name()
        );
        Ok(Change::new(edits, report).to(&name, factor))
    });
    let changes = changes.collect::<Result<Vec<_>, Refusal>>()?;
    Ok(Offer::several(place, axis.name(), kernel.node, changes).from(&name, 1).word("axis", axis.name()))
}

fn check_kernel(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    numbering::check(code, kernel)?;
    let ways_out = ["return_statement", "goto_statement", "lambda_expression", "asm_statement", "gnu_asm_expression"];
    let leaves = ways_out.iter().any(|kind| !of_kind(kernel.body, kind).is_empty());
    require(!leaves, "it leaves early, or holds code that cannot be followed")?;
    let timed = code.called(kernel.body).iter().any(|name| name.contains("clock"));
    require(!timed, "it reads a clock")
}

/// Whether a block can be divided along an axis: evenly, with more than one thread and a wavefront left.
fn fits(block: &[i64; 3], axis: Axis, factor: i64) -> bool {
    let extent = block[axis.index()];
    extent % factor == 0 && extent > factor && block.iter().product::<i64>() / factor >= WAVEFRONT
}

/// Whether a kernel's threads do several items along an axis already.
fn is_coarsened(code: &Code, kernel: &Kernel<'_>, axis: Axis) -> bool {
    code.of(kernel.body).contains(&format!("(threadIdx.{} + item", axis.name()))
}

fn blocks(code: &Code, launches: &[Launch<'_>]) -> Result<Vec<[i64; 3]>, Refusal> {
    let values = |launch| Extents::of_block(code, launch)?.values(code);
    let blocks: Option<Vec<_>> = launches.iter().map(values).collect();
    blocks.ok_or_else(|| Refusal::RuledOut("the block of a launch is not made of constants".into()))
}

/// Divides the block of a launch.
fn divide(code: &Code, launch: &Launch<'_>, axis: Axis, factor: i64) -> Edit {
    let is_dim3 = Extents::of_block(code, launch).is_some_and(|extents| extents.is_dim3);
    let block = launch.block;
    let direct = block.child_by_field_name("arguments").or(block.child_by_field_name("value"));
    let extent = direct.and_then(|list| named_children(list).get(axis.index()).copied());
    match (is_dim3, extent) {
        (true, Some(extent)) => replace(extent, divided(code, extent, factor)),
        (true, None) => {
            let part = |other: Axis| {
                let divisor = if other == axis { format!(" / {factor}") } else { String::new() };
                format!("{}.{}{divisor}", code.of(block), other.name())
            };
            replace(block, format!("dim3({}, {}, {})", part(Axis::X), part(Axis::Y), part(Axis::Z)))
        }
        (false, _) => replace(block, divided(code, block, factor)),
    }
}

fn divided(code: &Code, node: Node<'_>, factor: i64) -> String {
    match node.kind() {
        "identifier" | "number_literal" | "field_expression" => format!("{} / {factor}", code.of(node)),
        _ => format!("({}) / {factor}", code.of(node)),
    }
}
