//! Ends a reduction in LDS with shuffles within one wavefront.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::{Extents, value_at};
use crate::catalog::code::{Code, Kernel, statements};
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};
use crate::catalog::stretches::BARRIER;
use crate::catalog::trees::{Step, check_thread, check_uses, squeezed};

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
    require(!code.mentions(kernel.body, name), format!("the name `{name}` is taken"))?;

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
    Ok(Offer::one(place, array, tree.node, Change { edits, report }).word("array", array))
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

/// Element type of an array in LDS.
fn array_kind<'c>(code: &'c Code, kernel: &Kernel<'c>, name: &str) -> Option<&'c str> {
    let local = code.local(kernel.body, name)?;
    let is_row = local.shape.kind() == "array_declarator"
        && local.shape.child_by_field_name("declarator").is_some_and(|inner| inner.kind() == "identifier");
    (is_row && code.of(local.declaration).contains("__shared__")).then(|| code.type_of(local.declaration))
}

/// Each block must be a line of a power of two of threads, at least one wavefront, and the tree must start at its half.
fn check_blocks(code: &Code, kernel: &Kernel<'_>, tree: &Tree<'_>) -> Result<(), Refusal> {
    let launches = code.launches_of(kernel.name);
    require(!launches.is_empty(), "it is not known to be launched by this file alone, so its blocks are not known")?;
    for launch in &launches {
        let Some([threads, 1, 1]) = Extents::of_block(code, launch).and_then(|block| block.values(code)) else {
            return Err(Refusal::RuledOut("the block of a launch is not a line made of constants".into()));
        };
        let first = squeezed(code.of(tree.first));
        let starts_at_half = ["blockDim.x/2", "blockDim.x>>1"].contains(&first.as_str())
            || value_at(code, kernel, launch, tree.first) == Some(threads / 2);
        let is_power = threads >= 64 && (threads & (threads - 1)) == 0;
        require(
            starts_at_half && is_power,
            "the block is not a power of two of at least 64 threads, or the steps start elsewhere",
        )?;
    }
    Ok(())
}
