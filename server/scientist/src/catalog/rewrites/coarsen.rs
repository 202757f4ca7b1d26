//! Gives each thread the work of several, in blocks of fewer threads.
//!
//! A block's threads are numbered along one axis. With a factor of 4, thread `t` does what `t`, `t + n`, `t + 2n` and
//! `t + 3n` did, `n` being a quarter of the old extent. Between two barriers nothing orders the threads of a block, so
//! running four of them one after the other is an order that the original may take as well: each stretch without a
//! barrier becomes a loop over items, variables that live across stretches become arrays with one element an item, and
//! barriers stay where they are, with a quarter of the threads to wait for.

use tree_sitter::Node;

use crate::catalog::block::Extents;
use crate::catalog::code::{Code, Kernel, Launch, everything, of_kind};
use crate::catalog::edit::Edit;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};
use crate::catalog::stretches::{Axis, BARRIER, Stretches};

/// What a kernel may not use: how its threads stand in wavefronts, or ways out of it that skip a barrier.
const FORBIDDEN: [&str; 15] = [
    "__shfl",
    "__ballot",
    "__any",
    "__all",
    "__activemask",
    "__syncwarp",
    "__syncthreads_",
    "__builtin_amdgcn",
    "cooperative_groups",
    "warpSize",
    "__lane_id",
    "hipThreadIdx",
    "hipBlockDim",
    "volatile",
    "clock",
];

/// Threads of a block that must be left: one wavefront.
const WAVEFRONT: i64 = 64;

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, place.kernel);
    if !code.calls(kernel.body, BARRIER) {
        return Err(Refusal::NotHere);
    }
    let launches = code.launches_of(kernel.name);
    require(!launches.is_empty(), "it is not launched in this file, so its block cannot be changed with it")?;
    check_kernel(code, &kernel)?;
    let blocks = blocks(code, &launches)?;
    let axis = if blocks.iter().all(|block| block[1] > 1) { Axis::Y } else { Axis::X };
    let fits = |factor: i64| {
        blocks.iter().all(|block| {
            block[axis.index()] % factor == 0
                && block[axis.index()] > factor
                && block.iter().product::<i64>() / factor >= WAVEFRONT
        })
    };
    let factors: Vec<i64> = place.entry.search.iter().copied().filter(|factor| fits(*factor)).collect();
    require(!factors.is_empty(), format!("its blocks have too few threads along {} to be divided", axis.name()))?;

    let stretches = Stretches::read(code, &kernel, axis)?;
    let changes = factors.into_iter().map(|factor| {
        let mut edits = vec![Edit::replace(kernel.body, stretches.coarsened(factor)?)];
        edits.extend(launches.iter().map(|launch| divide(code, launch, axis, factor)));
        let report = format!(
            "Each thread of `{}` does the work of {factor} along {}; blocks have {factor} times fewer threads and the grid stays.",
            kernel.name,
            axis.name()
        );
        Ok(Change { edits, report })
    });
    let changes = changes.collect::<Result<Vec<_>, Refusal>>()?;
    Ok(Offer::several(place, axis.name(), kernel.node, changes).word("axis", axis.name()))
}

fn check_kernel(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    let text = code.of(kernel.body);
    if let Some(word) = FORBIDDEN.iter().find(|word| text.contains(**word)) {
        return ruled_out(format!("it uses `{word}`, which depends on how its threads are numbered or run"));
    }
    let ways_out = ["return_statement", "goto_statement", "lambda_expression", "asm_statement", "gnu_asm_expression"];
    require(
        ways_out.iter().all(|kind| of_kind(kernel.body, kind).is_empty()),
        "it leaves early, or holds code that cannot be followed",
    )?;
    let bare = |name: &str| {
        code.uses(kernel.body, name).iter().any(|n| n.parent().is_none_or(|p| p.kind() != "field_expression"))
    };
    require(!bare("threadIdx") && !bare("blockDim"), "it hands on `threadIdx` or `blockDim` as a whole")?;
    require(!code.mentions(kernel.body, "item"), "its threads already do several items, or the name `item` is taken")?;
    for called in code.called(kernel.body) {
        require(!knows_threads(code, called), format!("`{called}` asks for the thread's number or synchronises"))?;
    }
    for definition in ["preproc_def", "preproc_function_def"].iter().flat_map(|kind| of_kind(code.root(), kind)) {
        let name = definition.child_by_field_name("name").map_or("", |name| code.of(name));
        let knows = ["threadIdx", "blockDim", BARRIER].iter().any(|word| code.of(definition).contains(word));
        require(
            !(knows && text.contains(name)),
            format!("the macro `{name}` asks for the thread's number or synchronises"),
        )?;
    }
    Ok(())
}

/// Whether a function of the file depends on which thread runs it.
fn knows_threads(code: &Code, name: &str) -> bool {
    of_kind(code.root(), "function_definition").into_iter().any(|function| {
        let is_it = function.child_by_field_name("declarator").is_some_and(|declarator| {
            of_kind(declarator, "function_declarator")
                .first()
                .and_then(|declarator| declarator.child_by_field_name("declarator"))
                .is_some_and(|found| code.of(found) == name)
        });
        let words = || everything(function).into_iter().filter(|node| node.kind() == "identifier");
        is_it
            && words().any(|word| {
                let word = code.of(word);
                ["threadIdx", "blockDim", BARRIER].contains(&word)
                    || FORBIDDEN.iter().any(|forbidden| word.starts_with(forbidden))
            })
    })
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
    let extent = direct.and_then(|list| super::super::code::named_children(list).get(axis.index()).copied());
    match (is_dim3, extent) {
        (true, Some(extent)) => Edit::replace(extent, divided(code, extent, factor)),
        (true, None) => {
            let part = |other: Axis| {
                let divisor = if other == axis { format!(" / {factor}") } else { String::new() };
                format!("{}.{}{divisor}", code.of(block), other.name())
            };
            Edit::replace(block, format!("dim3({}, {}, {})", part(Axis::X), part(Axis::Y), part(Axis::Z)))
        }
        (false, _) => Edit::replace(block, divided(code, block, factor)),
    }
}

fn divided(code: &Code, node: Node<'_>, factor: i64) -> String {
    match node.kind() {
        "identifier" | "number_literal" => format!("{} / {factor}", code.of(node)),
        _ => format!("({}) / {factor}", code.of(node)),
    }
}
