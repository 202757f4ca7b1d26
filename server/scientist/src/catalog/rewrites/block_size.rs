//! Searches the number of threads in a block.

use hip_syntax::device_functions::is_exchange;
use tree_sitter::Node;

use crate::catalog::block::Extents;
use crate::catalog::code::{Code, Kernel, Launch, around, of_kind};
use crate::catalog::constant;
use crate::catalog::knob::{Knob, global_places, is_guarded};
use crate::catalog::loops::ForLoop;
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};
use crate::catalog::threads::Spread;

/// Calls whose writes do not depend on blocks, nor on the order in which they come.
const ATOMICS: [&str; 7] = ["atomicAdd", "atomicMax", "atomicMin", "atomicAnd", "atomicOr", "atomicXor", "atomicSub"];

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let code = place.code;
    let launches = code.launches_of(place.kernel.name);
    let first = launches.first().ok_or(Refusal::NotHere)?;
    let values = Extents::of_block(code, first).and_then(|block| block.values(code)).ok_or(Refusal::NotHere)?;
    if values[0] < 32 || values[1..] != [1, 1] {
        return Err(Refusal::NotHere);
    }
    let knob = Knob::of_block(code, &place.kernel, &launches)?;
    let may_grow = code.once(&knob.question("block size"), || Ok(vec![check_users(code, &knob)?.into()]))? == [1];

    let why_not = |value: i64| {
        let threads = values[0] * value / knob.value;
        if values[0] * value % knob.value != 0 || !(32..=1024).contains(&threads) {
            return Some("does not make a block of 32 to 1024 threads");
        }
        (!may_grow && knob.value % value != 0).then_some("may reach past an array or the problem's end")
    };
    let others = place.entry.search.iter().copied().filter(|value| *value != knob.value);
    let (values, refused): (Vec<i64>, Vec<i64>) = others.partition(|value| why_not(*value).is_none());
    let left_out = refused.into_iter().filter_map(|value| Some((value, why_not(value)?.to_owned())));
    require(!values.is_empty(), format!("no other value of `{}` is known to fit", knob.label))?;
    // A number is a poor name for itself: it changes.
    let site = knob.names.first().copied().unwrap_or("block");
    let change = |value| {
        let report = format!("Set the block size `{}` from {} to {value}.", knob.label, knob.value);
        Change::new(knob.set(code, value), report).to(site, value)
    };
    let offer = Offer::several(place, site, first.node, values.into_iter().map(change).collect());
    let offer = offer.from(site, knob.value).without(site, left_out);
    Ok(offer.word("constant", knob.label.clone()).word("present", knob.value.to_string()))
}

/// Checks every kernel that the knob means something to, and says whether it may be made larger for any problem.
fn check_users(code: &Code, knob: &Knob<'_>) -> Result<bool, Refusal> {
    let mut may_grow = true;
    for kernel in knob.users(code) {
        let launches = code.launches_of(kernel.name);
        knob.check_numbers(code, kernel.body)?;
        check_comparisons(code, &kernel)?;
        check_callees(code, &kernel, knob)?;
        // A smaller block uses less of an array; a larger one may reach past its end.
        may_grow &= knob.sizes_arrays(code, kernel.node);
        for launch in &launches {
            check_launch(code, launch, knob)?;
            knob.check_divisions(code, around(launch.node, &["function_definition"]).unwrap_or(launch.node))?;
        }
        let by_grid = launches.iter().filter(|launch| grid_follows(code, launch, knob)).count();
        if by_grid == 0 {
            check_fixed_grid(code, &kernel, knob)?;
        } else {
            require(by_grid == launches.len(), "some launches size the grid by the block and others do not")?;
            check_covering_grid(code, &kernel)?;
            may_grow &= knob.rounds_up(code) && is_guarded(code, &kernel);
        }
    }
    Ok(may_grow)
}

/// A grid made with the knob, or with `block.x`.
fn grid_follows(code: &Code, launch: &Launch<'_>, knob: &Knob<'_>) -> bool {
    let by_block = launch.block.kind() == "identifier"
        && crate::catalog::block::mentions_through(code, launch.grid, code.of(launch.block));
    knob.moves(code, launch.grid) || by_block
}

fn check_launch(code: &Code, launch: &Launch<'_>, knob: &Knob<'_>) -> Result<(), Refusal> {
    require(knob.moves(code, launch.block), format!("a launch does not use `{}` as its block", knob.label))?;
    let dynamic = launch.shared.filter(|shared| constant::value(code, *shared) != Some(0));
    let follows = dynamic.is_none_or(|shared| knob.moves(code, shared));
    require(follows, "the dynamic shared memory of a launch does not follow the block size")
}

/// Checks that the thread's number is compared with no number that a smaller block would not reach.
fn check_comparisons(code: &Code, function: &Kernel<'_>) -> Result<(), Refusal> {
    let is_large = |node: Node<'_>| constant::value(code, node).is_some_and(|value| value > 32);
    for comparison in of_kind(function.body, "binary_expression") {
        let part = |name: &str| comparison.child_by_field_name(name);
        let Some(((left, right), operator)) = part("left").zip(part("right")).zip(part("operator")) else { continue };
        let compares = ["<", ">", "<=", ">=", "==", "!=", "%", "/"].contains(&code.of(operator));
        let is_fixed = right.kind() == "number_literal" && is_large(right);
        let by_number = is_fixed && is_thread(code, function, left);
        require(!(compares && by_number), format!("`{}` counts on a number of threads", code.of(comparison)))?;
    }
    Ok(())
}

/// Whether an expression is the thread's number in its block itself.
fn is_thread(code: &Code, function: &Kernel<'_>, node: Node<'_>) -> bool {
    let value = code.local(function.body, code.of(node)).and_then(|local| local.value);
    code.of(node) == "threadIdx.x" || value.is_some_and(|value| code.of(value) == "threadIdx.x")
}

/// Functions of the file that know their thread may be given arrays in LDS, and nothing of global memory.
fn check_callees(code: &Code, kernel: &Kernel<'_>, knob: &Knob<'_>) -> Result<(), Refusal> {
    let params = code.params(kernel);
    let locals = code.locals(kernel.body);
    let is_pointer = |name: &str| {
        params.iter().any(|param| param.is_pointer && param.name == name)
            || locals.iter().any(|local| local.name == name && local.shape.kind() == "pointer_declarator")
    };
    for call in of_kind(kernel.body, "call_expression") {
        let called = call.child_by_field_name("function").map_or("", |function| code.of(function));
        let Some(function) = numbering::function_with_threads(code, called) else { continue };
        knob.check_numbers(code, function)?;
        let body = function.child_by_field_name("body").ok_or(Refusal::NotHere)?;
        check_comparisons(code, &Kernel { name: called, node: function, body })?;
        let arguments = call.child_by_field_name("arguments").ok_or(Refusal::NotHere)?;
        let global = of_kind(arguments, "identifier").into_iter().find(|name| is_pointer(code.of(*name)));
        if let Some(global) = global {
            return ruled_out(format!("`{called}` knows its thread and is given `{}`", code.of(global)));
        }
    }
    Ok(())
}

/// The grid covers the problem with blocks: what a thread does may depend on its global number alone.
fn check_covering_grid(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    let cooperates =
        code.of(kernel.body).contains("__shared__") || code.called(kernel.body).iter().any(|name| is_exchange(name));
    let thread = Spread::of(code, kernel, &["threadIdx"], &[]);
    let block = Spread::of(code, kernel, &["blockIdx"], &[]);
    let writes = code.writes(kernel.body);
    for place in global_places(code, kernel) {
        if is_atomic(code, place) {
            continue;
        }
        let written = writes.iter().any(|write| write.place == place);
        require(!(cooperates && written), "what a block writes depends on which threads are in it")?;
        let by_block = block.reaches(code, place) && !thread.reaches(code, place);
        require(!by_block, "it reads or writes one element for each block, so the number of blocks must stay")?;
    }
    Ok(())
}

/// The grid does not depend on the block size: each block must cover its part by loops that step by the block size.
fn check_fixed_grid(code: &Code, kernel: &Kernel<'_>, knob: &Knob<'_>) -> Result<(), Refusal> {
    let loops = of_kind(kernel.body, "for_statement").into_iter().filter_map(|node| ForLoop::read(code, node));
    let by_block = |node: Node<'_>| {
        let step = code.local(kernel.body, code.of(node)).and_then(|local| local.value).unwrap_or(node);
        code.of(step).contains("blockDim.x") || knob.names.iter().any(|name| code.mentions(step, name))
    };
    let strided: Vec<&str> = loops.filter(|found| found.step.is_some_and(by_block)).map(|found| found.name).collect();
    let covers = !strided.is_empty();
    require(covers, "no loop of the kernel steps by the block size, so another size would leave work undone")?;
    let thread = Spread::of(code, kernel, &["threadIdx"], &strided);
    let raw = global_places(code, kernel).into_iter().any(|place| thread.reaches(code, place));
    require(!raw, "a thread reads or writes an element by its own number, so the block size must stay")
}

fn is_atomic(code: &Code, place: Node<'_>) -> bool {
    around(place, &["call_expression"])
        .and_then(|call| call.child_by_field_name("function"))
        .is_some_and(|function| ATOMICS.contains(&code.of(function)))
}
