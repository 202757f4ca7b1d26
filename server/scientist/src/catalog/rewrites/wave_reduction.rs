//! Ends a reduction in LDS with shuffles within one wavefront.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::Extents;
use crate::catalog::code::{Code, Kernel, inside, named_children, statements};
use crate::catalog::constant;
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};
use crate::catalog::stretches::BARRIER;

/// Types that a shuffle can hand over.
const SHUFFLED: [&str; 6] = ["float", "double", "int", "unsigned", "unsigned int", "long long"];

/// `for (s = n / 2; s > 0; s >>= 1) { if (tid < s) a[tid] += a[tid + s]; __syncthreads(); }`
struct Tree<'c> {
    node: Node<'c>,
    condition: Node<'c>,
    stride: &'c str,
    first: Node<'c>,
    thread: &'c str,
    array: &'c str,
    /// `fmaxf` and the like; `None` for `+=`.
    function: Option<&'c str>,
}

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let tree = Tree::read(code, place.capture("loop")?).ok_or(Refusal::NotHere)?;
    let kind = array_kind(code, kernel, tree.array).ok_or(Refusal::NotHere)?;
    require(SHUFFLED.contains(&kind), format!("values of type `{kind}` cannot be shuffled"))?;
    check_thread(code, kernel, tree.thread)?;
    check_blocks(code, kernel, &tree)?;
    check_uses(code, kernel, &tree)?;
    let name = "wave_value";
    require(!code.mentions(kernel.body, name), format!("the name `{name}` is taken"))?;

    let (array, thread) = (tree.array, tree.thread);
    let shuffled = format!("__shfl_down({name}, offset)");
    let step = match tree.function {
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
        if squeezed(code.of(barrier)) != format!("{BARRIER}();") || branch.kind() != "if_statement" {
            return None;
        }
        let guard = squeezed(code.of(branch.child_by_field_name("condition")?));
        let thread = code.of(first_operand(branch.child_by_field_name("condition")?)?);
        let [step] = statements(branch.child_by_field_name("consequence")?)[..] else { return None };
        if guard != format!("({thread}<{stride})") || branch.child_by_field_name("alternative").is_some() {
            return None;
        }
        let assignment = step.named_child(0).filter(|n| n.kind() == "assignment_expression")?;
        let array = code.base(assignment.child_by_field_name("left")?)?;
        let written = squeezed(code.of(step));
        let (near, far) = (format!("{array}[{thread}]"), format!("{array}[{thread}+{stride}]"));
        let sums = [format!("{near}+={far};"), format!("{near}={near}+{far};")];
        let function = assignment
            .child_by_field_name("right")
            .and_then(|right| right.child_by_field_name("function"))
            .map(|function| code.of(function))
            .filter(|name| ["fmaxf", "fminf", "fmax", "fmin", "max", "min"].contains(name));
        let extreme = function.is_some_and(|name| written == format!("{near}={name}({near},{far});"));
        (sums.contains(&written) || extreme).then_some(Self { node, condition, stride, first, thread, array, function })
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

fn first_operand(condition: Node<'_>) -> Option<Node<'_>> {
    named_children(condition).into_iter().find(|n| n.kind() == "binary_expression")?.child_by_field_name("left")
}

/// Element type of an array in LDS.
fn array_kind<'c>(code: &'c Code, kernel: &Kernel<'c>, name: &str) -> Option<&'c str> {
    let local = code.local(kernel.body, name)?;
    let is_row = local.shape.kind() == "array_declarator"
        && local.shape.child_by_field_name("declarator").is_some_and(|inner| inner.kind() == "identifier");
    (is_row && code.of(local.declaration).contains("__shared__")).then(|| code.type_of(local.declaration))
}

fn check_thread(code: &Code, kernel: &Kernel<'_>, thread: &str) -> Result<(), Refusal> {
    let is_number = thread == "threadIdx.x"
        || code
            .local(kernel.body, thread)
            .and_then(|local| local.value)
            .is_some_and(|value| code.of(value) == "threadIdx.x");
    let is_changed = code.writes(kernel.body).iter().any(|write| write.name == thread);
    require(is_number && !is_changed, format!("`{thread}` is not the thread's number"))
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
            || constant::value(code, tree.first) == Some(threads / 2);
        let is_power = threads >= 64 && (threads & (threads - 1)) == 0;
        require(
            starts_at_half && is_power,
            "the block is not a power of two of at least 64 threads, or the steps start elsewhere",
        )?;
    }
    Ok(())
}

/// After the tree only the first element may be read, and before it each element must be set.
fn check_uses(code: &Code, kernel: &Kernel<'_>, tree: &Tree<'_>) -> Result<(), Refusal> {
    let is_fine = |used: &Node<'_>| {
        if inside(*used, tree.node) || used.parent().is_some_and(|parent| parent.kind() == "array_declarator") {
            return true;
        }
        let element = used.parent().filter(|parent| parent.kind() == "subscript_expression");
        let Some(element) = element else { return false };
        let is_first = squeezed(code.of(element)) == format!("{}[0]", tree.array);
        let assignment = element.parent().filter(|parent| parent.kind() == "assignment_expression");
        let is_set = assignment.is_some_and(|assignment| {
            assignment.child_by_field_name("left") == Some(element)
                && assignment.child_by_field_name("operator").is_some_and(|operator| code.of(operator) == "=")
        });
        if used.start_byte() < tree.node.start_byte() { is_set } else { is_first && !is_set }
    };
    let fine = code.uses(kernel.body, tree.array).iter().all(is_fine);
    require(fine, format!("other elements of `{}` than the first are used beside the reduction", tree.array))
}
