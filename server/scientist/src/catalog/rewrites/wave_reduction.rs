//! Ends a reduction in LDS with shuffles within one wavefront.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::code::{Code, Kernel, statements};
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};
use crate::catalog::stretches::BARRIER;
use crate::catalog::trees::{Step, array_kind, blocks, check_thread, check_uses, site, squeezed, value_of};

use super::coarsen::WAVEFRONT;

/// Types that a shuffle can hand over.
const SHUFFLED: [&str; 6] = ["float", "double", "int", "unsigned", "unsigned int", "long long"];

/// `for (s = n / 2; s > 0; s >>= 1) { if (tid < s) a[tid] += a[tid + s]; __syncthreads(); }`
struct Tree<'c> {
    node: Node<'c>,
    condition: Node<'c>,
    stride: &'c str,
    first: Node<'c>,
    step: Step<'c>,
}

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let tree = Tree::read(code, place.capture("loop")?).ok_or(Refusal::NotHere)?;
    let Step { array, thread, function } = tree.step;
    let kind = array_kind(code, kernel, array).ok_or(Refusal::NotHere)?;
    require(SHUFFLED.contains(&kind), format!("values of type `{kind}` cannot be shuffled"))?;
    check_thread(code, kernel, thread)?;
    check_blocks(code, kernel, &tree)?;
    check_uses(code, kernel, tree.node, &tree.step)?;
    let name = "wave_value";

    let shuffled = format!("__shfl_down({name}, offset)");
    let step = match function {
        None => format!("{name} += {shuffled};"),
        Some(function) => format!("{name} = {function}({name}, {shuffled});"),
    };
    let lines = [
        String::new(),
        format!("if ({thread} < warpSize) {{"),
        format!("    {kind} {name} = {array}[{thread}];"),
        "    for (int offset = warpSize / 2; offset > 0; offset >>= 1) {".to_owned(),
        format!("        {step}"),
        "    }".to_owned(),
        format!("    if ({thread} == 0) {array}[0] = {name};"),
        "}".to_owned(),
        format!("{BARRIER}();"),
    ];
    let indent = code.indent(tree.node.start_byte());
    let edits = vec![
        replace(tree.condition, format!("{} >= warpSize", tree.stride)),
        Edit::insert(tree.node.end_byte(), lines.join(&format!("\n{indent}"))),
    ];
    let report = format!("The last steps over `{array}` are shuffles within a wavefront.");
    let site = site(code, kernel, tree.node, array);
    Ok(Offer::one(place, &site, tree.node, Change::new(edits, report)).word("array", array))
}

impl<'c> Tree<'c> {
    fn read(code: &'c Code, node: Node<'c>) -> Option<Self> {
        let initializer = node.child_by_field_name("initializer")?;
        let [counter] = code.locals(initializer)[..] else { return None };
        let (stride, first) = (counter.name, counter.value?);
        let condition = node.child_by_field_name("condition")?;
        let update = squeezed(code.of(node.child_by_field_name("update")?));
        let halves = [
            format!("{stride}>>=1"),
            format!("{stride}/=2"),
            format!("{stride}={stride}/2"),
            format!("{stride}={stride}>>1"),
        ];
        let ends = [format!("{stride}>0"), format!("{stride}>=1"), format!("{stride}!=0")];
        if !halves.contains(&update) || !ends.contains(&squeezed(code.of(condition))) {
            return None;
        }
        let [branch, barrier] = statements(node.child_by_field_name("body")?)[..] else { return None };
        if squeezed(code.of(barrier)) != format!("{BARRIER}();") {
            return None;
        }
        let step = Step::read(code, branch, stride)?;
        let guard = squeezed(code.of(branch.child_by_field_name("condition")?));
        (guard == format!("({}<{stride})", step.thread)).then_some(Self { node, condition, stride, first, step })
    }
}

/// Each block must be a line of a power of two of threads, at least one wavefront, and the tree must start at its half.
fn check_blocks(code: &Code, function: &Kernel<'_>, tree: &Tree<'_>) -> Result<(), Refusal> {
    for (kernel, launch, threads) in blocks(code, function)? {
        let first = squeezed(code.of(tree.first));
        let starts_at_half = ["blockDim.x/2", "blockDim.x>>1"].contains(&first.as_str())
            || value_of(code, function, &kernel, launch.as_ref(), tree.first) == Some(threads / 2);
        let is_power = threads >= WAVEFRONT && (threads & (threads - 1)) == 0;
        let fits = starts_at_half && is_power;
        require(fits, "the block is not a power of two of at least 64 threads, or the steps start elsewhere")?;
    }
    Ok(())
}
