//! Searches the number of threads in a block where one constant sets it.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::{Extents, mentions_through};
use crate::catalog::code::{Code, Kernel, Launch, around, of_kind};
use crate::catalog::constant::{self, Constant};
use crate::catalog::loops::ForLoop;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};
use crate::catalog::threads::Spread;

/// Calls whose results depend on how threads stand in wavefronts, or whose writes do not depend on blocks.
const ATOMICS: [&str; 7] = ["atomicAdd", "atomicMax", "atomicMin", "atomicAnd", "atomicOr", "atomicXor", "atomicSub"];

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let code = place.code;
    let launches = code.launches_of(place.kernel.name);
    let first = launches.first().ok_or(Refusal::NotHere)?;
    let block = Extents::of_block(code, first).ok_or(Refusal::NotHere)?;
    let values = block.values(code).ok_or(Refusal::NotHere)?;
    if values[0] < 32 || values[1..] != [1, 1] {
        return Err(Refusal::NotHere);
    }
    let constant = the_constant(code, *block.written.first().ok_or(Refusal::NotHere)?)?;
    check_users(code, &constant)?;

    let allowed = |value: i64| {
        let threads = values[0] * value / constant.value;
        value != constant.value && values[0] * value % constant.value == 0 && (32..=1024).contains(&threads)
    };
    let changes = place.entry.search.iter().copied().filter(|value| allowed(*value));
    let changes = changes.map(|value| Change {
        edits: edits(code, &constant, value),
        report: format!("Set `{}` from {} to {value}.", constant.name, constant.value),
    });
    let offer = Offer::several(place, constant.name, first.node, changes.collect());
    Ok(offer.word("constant", constant.name).word("present", constant.value.to_string()))
}

/// The one constant that a block's extent is made of.
pub(super) fn the_constant<'c>(code: &'c Code, node: Node<'c>) -> Result<Constant<'c>, Refusal> {
    let mut found: Vec<Constant<'c>> = Vec::new();
    let mut waiting = vec![node];
    while let Some(next) = waiting.pop() {
        for identifier in ["identifier", "type_identifier"].iter().flat_map(|kind| of_kind(next, kind)) {
            let name = code.of(identifier);
            if let Some(constant) = constant::find(code, name, node) {
                found.push(constant);
            } else if let Some(function) = around(node, &["function_definition"]) {
                waiting.extend(code.local(function, name).and_then(|local| local.value));
            }
        }
    }
    found.dedup_by_key(|constant| constant.name);
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => ruled_out("the block size is written as a number, not as a constant"),
        _ => ruled_out("the block size is made of several constants"),
    }
}

fn edits(code: &Code, constant: &Constant<'_>, value: i64) -> Vec<Edit> {
    let bounds = code.syntax().kernels().iter().filter_map(|kernel| kernel.launch_bounds.as_ref()?.args.first());
    let stale = bounds.filter(|bound| constant::literal(&code.text()[(*bound).clone()]) == Some(constant.value));
    let stale = stale.map(|bound| Edit::replace(bound.clone(), value.to_string()));
    std::iter::once(constant.set(value)).chain(stale).collect()
}

/// Checks every kernel that the constant means something to.
fn check_users(code: &Code, constant: &Constant<'_>) -> Result<(), Refusal> {
    for kernel in code.kernels() {
        let launches = code.launches_of(kernel.name);
        let in_launch = |launch: &Launch<'_>| mentions_through(code, launch.node, constant.name);
        if !code.mentions(kernel.node, constant.name) && !launches.iter().any(in_launch) {
            continue;
        }
        check_literals(code, kernel.body, constant)?;
        for launch in &launches {
            check_launch(code, launch, constant)?;
            let function = around(launch.node, &["function_definition"]).unwrap_or(launch.node);
            check_divisions(code, function, constant)?;
        }
        let by_grid = launches.iter().filter(|launch| grid_follows(code, launch, constant.name)).count();
        match by_grid {
            0 => check_fixed_grid(code, &kernel, constant)?,
            all if all == launches.len() => check_covering_grid(code, &kernel)?,
            _ => return ruled_out("some launches size the grid by the block and others do not"),
        }
    }
    Ok(())
}

fn grid_follows(code: &Code, launch: &Launch<'_>, name: &str) -> bool {
    mentions_through(code, launch.grid, name) || mentions_block(code, launch)
}

/// A grid made with `block.x`.
fn mentions_block(code: &Code, launch: &Launch<'_>) -> bool {
    launch.block.kind() == "identifier" && mentions_through(code, launch.grid, code.of(launch.block))
}

/// A number equal to the block size may mean it.
pub(super) fn check_literals(code: &Code, node: Node<'_>, constant: &Constant<'_>) -> Result<(), Refusal> {
    let same = |node: &Node<'_>| constant::literal(code.of(*node)).is_some_and(|value| value == constant.value);
    let found = of_kind(node, "number_literal").into_iter().any(|node| same(&node));
    require(!found, format!("{} also stands as a number in the kernel and may mean the block size", constant.value))?;
    let twins = of_kind(node, "identifier").into_iter().filter(|node| code.of(*node) != constant.name);
    let twin =
        twins.filter_map(|node| constant::find(code, code.of(node), node)).find(|other| other.value == constant.value);
    match twin {
        Some(twin) => {
            ruled_out(format!("`{}` has the same value and may have to follow `{}`", twin.name, constant.name))
        }
        None => Ok(()),
    }
}

fn check_launch(code: &Code, launch: &Launch<'_>, constant: &Constant<'_>) -> Result<(), Refusal> {
    let Some(block) = Extents::of_block(code, launch) else {
        return ruled_out("a launch takes its block from where it cannot be followed");
    };
    require(block.mention(code, constant.name), format!("a launch does not use `{}` as its block", constant.name))?;
    let dynamic = launch.shared.filter(|shared| constant::value(code, *shared) != Some(0));
    let follows = dynamic.is_none_or(|shared| mentions_through(code, shared, constant.name));
    require(follows, "the dynamic shared memory of a launch does not follow the block size")
}

/// `/ 256` and `+ 255` in the host's code.
pub(super) fn check_divisions(code: &Code, function: Node<'_>, constant: &Constant<'_>) -> Result<(), Refusal> {
    let means_it = |node: Node<'_>| {
        let (Some(operator), Some(right)) = (node.child_by_field_name("operator"), node.child_by_field_name("right"))
        else {
            return false;
        };
        let value = constant::literal(code.of(right));
        match code.of(operator) {
            "/" | "%" => value == Some(constant.value),
            "+" | "-" | "&" => value == Some(constant.value - 1),
            _ => false,
        }
    };
    let found = of_kind(function, "binary_expression").into_iter().any(means_it);
    require(!found, format!("the host's code divides by the number {} beside `{}`", constant.value, constant.name))
}

/// The grid covers the problem with blocks: what a thread does may depend on its global number alone.
fn check_covering_grid(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    let cooperates = code.text()[kernel.body.byte_range()].contains("__shared__")
        || code.called(kernel.body).iter().any(|name| name.starts_with("__s") || name.starts_with("__ballot"));
    let thread = Spread::of(code, kernel, &["threadIdx"], &[]);
    let block = Spread::of(code, kernel, &["blockIdx"], &[]);
    for place in global_places(code, kernel) {
        if is_atomic(code, place) {
            continue;
        }
        let written = code.writes(kernel.body).iter().any(|write| write.place == place);
        require(!(cooperates && written), "what a block writes depends on which threads are in it")?;
        let by_block = block.reaches(code, place) && !thread.reaches(code, place);
        require(!by_block, "it reads or writes one element for each block, so the number of blocks must stay")?;
    }
    Ok(())
}

/// The grid does not depend on the block size: each block must cover its part by loops that step by the block size.
fn check_fixed_grid(code: &Code, kernel: &Kernel<'_>, constant: &Constant<'_>) -> Result<(), Refusal> {
    let loops = of_kind(kernel.body, "for_statement").into_iter().filter_map(|node| ForLoop::read(code, node));
    let by_block = |node: Node<'_>| {
        let local = code.local(kernel.body, code.of(node)).and_then(|local| local.value).unwrap_or(node);
        code.of(local).contains("blockDim.x") || code.mentions(local, constant.name)
    };
    let strided: Vec<&str> = loops.filter(|found| found.step.is_some_and(by_block)).map(|found| found.name).collect();
    require(
        !strided.is_empty(),
        "no loop of the kernel steps by the block size, so another size would leave work undone",
    )?;
    let thread = Spread::of(code, kernel, &["threadIdx"], &strided);
    let raw = global_places(code, kernel).into_iter().any(|place| thread.reaches(code, place));
    require(!raw, "a thread reads or writes an element by its own number, so the block size must stay")
}

/// The elements of pointer parameters that a kernel touches.
pub(super) fn global_places<'c>(code: &'c Code, kernel: &Kernel<'c>) -> Vec<Node<'c>> {
    let params = code.params(kernel);
    let is_global = |node: &Node<'c>| {
        code.base(*node).is_some_and(|base| params.iter().any(|param| param.is_pointer && param.name == base))
    };
    let places = ["subscript_expression", "pointer_expression"].iter().flat_map(|kind| of_kind(kernel.body, kind));
    places.filter(|node| !code.of(*node).starts_with('&')).filter(is_global).collect()
}

fn is_atomic(code: &Code, place: Node<'_>) -> bool {
    around(place, &["call_expression"])
        .and_then(|call| call.child_by_field_name("function"))
        .is_some_and(|function| ATOMICS.contains(&code.of(function)))
}
