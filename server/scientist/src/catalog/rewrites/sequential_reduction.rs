//! Turns a reduction tree in LDS around, so that the threads at work stand side by side.
//!
//! The original adds `a[t + s]` to `a[t]` for every `2s`-th thread with `s` going up; this one for the first `s` threads
//! with `s` going down. Both add up the same elements, in another order.

use tree_sitter::Node;

use crate::catalog::code::{Code, statements};
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};
use crate::catalog::stretches::BARRIER;
use crate::catalog::trees::{Step, array_kind, blocks, check_thread, check_uses, site, squeezed, value_of};

/// `for (s = 1; s < n; s *= 2) { if (t % (2 * s) == 0) a[t] += a[t + s]; __syncthreads(); }`
struct Upward<'c> {
    stride: &'c str,
    first: Node<'c>,
    bound: Node<'c>,
    condition: Node<'c>,
    update: Node<'c>,
    guard: Node<'c>,
    step: Step<'c>,
}

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let node = place.capture("loop")?;
    let tree = Upward::read(code, node).ok_or(Refusal::NotHere)?;
    let Step { array, thread, .. } = tree.step;
    check_thread(code, kernel, thread)?;
    check_uses(code, kernel, node, &tree.step)?;
    array_kind(code, kernel, array).ok_or(Refusal::NotHere)?;
    for (owner, launch, threads) in blocks(code, kernel)? {
        let is_whole = squeezed(code.of(tree.bound)) == "blockDim.x"
            || value_of(code, kernel, &owner, launch.as_ref(), tree.bound) == Some(threads);
        let is_power = threads > 1 && (threads & (threads - 1)) == 0;
        require(is_whole && is_power, "the steps do not cover a block of a power of two of threads")?;
    }
    let (stride, bound) = (tree.stride, code.of(tree.bound));
    let edits = vec![
        replace(tree.first, format!("{bound} / 2")),
        replace(tree.condition, format!("{stride} > 0")),
        replace(tree.update, format!("{stride} >>= 1")),
        replace(tree.guard, format!("({thread} < {stride})")),
    ];
    let report = format!("The steps over `{array}` go from wide to narrow; its elements are added in another order.");
    let site = site(code, kernel, node, array);
    Ok(Offer::one(place, &site, node, Change::new(edits, report)).word("array", array))
}

impl<'c> Upward<'c> {
    fn read(code: &'c Code, node: Node<'c>) -> Option<Self> {
        let [counter] = code.locals(node.child_by_field_name("initializer")?)[..] else { return None };
        let (stride, first) = (counter.name, counter.value.filter(|value| code.of(*value) == "1")?);
        let condition = node.child_by_field_name("condition").filter(|n| n.kind() == "binary_expression")?;
        let bound = condition.child_by_field_name("right")?;
        let update = node.child_by_field_name("update")?;
        let doubles = [format!("{stride}*=2"), format!("{stride}<<=1"), format!("{stride}={stride}*2")];
        if squeezed(code.of(condition)) != format!("{stride}<{}", squeezed(code.of(bound)))
            || !doubles.contains(&squeezed(code.of(update)))
        {
            return None;
        }
        let [branch, barrier] = statements(node.child_by_field_name("body")?)[..] else { return None };
        if squeezed(code.of(barrier)) != format!("{BARRIER}();") {
            return None;
        }
        let step = Step::read(code, branch, stride)?;
        let guard = branch.child_by_field_name("condition")?;
        let thread = step.thread;
        let turns = [
            format!("({thread}%(2*{stride})==0)"),
            format!("({thread}%({stride}*2)==0)"),
            format!("(({thread}%(2*{stride}))==0)"),
        ];
        turns.contains(&squeezed(code.of(guard))).then_some(Self {
            stride,
            first,
            bound,
            condition,
            update,
            guard,
            step,
        })
    }
}
