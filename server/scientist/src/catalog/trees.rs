//! Reductions by a tree in LDS: what the rewrites of them ask alike.

use tree_sitter::Node;

use super::block::{blocks_of, value_at};
use super::code::{Code, Kernel, Launch, around, inside, named_children, of_kind, statements};
use super::constant;
use super::place::{Refusal, require, ruled_out};
use super::stretches::BARRIER;

/// Functions that a tree may join values with, beside `+`.
const JOINING: [&str; 6] = ["fmaxf", "fminf", "fmax", "fmin", "max", "min"];

/// `if (..) a[t] += a[t + s];`
#[derive(Clone, Copy)]
pub(crate) struct Step<'c> {
    pub(crate) array: &'c str,
    pub(crate) thread: &'c str,
    /// `fmaxf` and the like; `None` for `+`.
    pub(crate) function: Option<&'c str>,
}

impl<'c> Step<'c> {
    /// Reads the branch of a tree's loop over `stride`.
    pub(crate) fn read(code: &'c Code, branch: Node<'c>, stride: &str) -> Option<Self> {
        if branch.kind() != "if_statement" || branch.child_by_field_name("alternative").is_some() {
            return None;
        }
        let [step] = statements(branch.child_by_field_name("consequence")?)[..] else { return None };
        let assignment = step.named_child(0).filter(|n| n.kind() == "assignment_expression")?;
        let left = assignment.child_by_field_name("left").filter(|left| left.kind() == "subscript_expression")?;
        let array = code.base(left)?;
        let thread = code.of(left.child_by_field_name("indices")?.named_child(0)?);
        let written = squeezed(code.of(step));
        let near = format!("{array}[{thread}]");
        let fars = [format!("{array}[{thread}+{stride}]"), format!("{array}[{stride}+{thread}]")];
        let is_sum = |far: &String| written == format!("{near}+={far};") || written == format!("{near}={near}+{far};");
        let right = assignment.child_by_field_name("right")?;
        let function = right.child_by_field_name("function").map(|function| code.of(function));
        let function = function.filter(|name| JOINING.contains(name));
        let joins = |far: &String| function.is_some_and(|name| written == format!("{near}={name}({near},{far});"));
        fars.iter().any(|far| is_sum(far) || joins(far)).then_some(Self { array, thread, function })
    }
}

/// The trees over an array in one function have a site each: the array, and the loop's number among those that use it.
pub(crate) fn site(code: &Code, function: &Kernel<'_>, tree: Node<'_>, array: &str) -> String {
    let loops = of_kind(function.body, "for_statement").into_iter().filter(|node| code.mentions(*node, array));
    match loops.filter(|node| code.calls(*node, BARRIER) && node.start_byte() <= tree.start_byte()).count() {
        0 | 1 => array.to_owned(),
        number => format!("{array}-{number}"),
    }
}

/// Element type of an array in LDS that a function declares, or is given by callers that only hand it on.
pub(crate) fn array_kind<'c>(code: &'c Code, function: &Kernel<'c>, name: &str) -> Option<&'c str> {
    let Some(local) = code.local(function.body, name) else { return given_kind(code, function, name) };
    let is_row = local.shape.kind() == "array_declarator"
        && local.shape.child_by_field_name("declarator").is_some_and(|inner| inner.kind() == "identifier");
    (is_row && code.of(local.declaration).contains("__shared__")).then(|| code.type_of(local.declaration))
}

fn given_kind<'c>(code: &'c Code, function: &Kernel<'c>, name: &str) -> Option<&'c str> {
    let params = code.params(function);
    let index = params.iter().position(|param| param.name == name && param.is_pointer)?;
    let call_of = |used: Node<'c>| {
        used.parent()
            .filter(|call| call.kind() == "call_expression" && call.child_by_field_name("function") == Some(used))
    };
    let calls: Vec<_> = code.uses(code.root(), function.name).into_iter().filter_map(call_of).collect();
    let hands_on = |call: &Node<'c>| {
        let argument = named_children(call.child_by_field_name("arguments")?).get(index).copied()?;
        let caller = around(*call, &["function_definition"])?.child_by_field_name("body")?;
        let local = code.local(caller, code.of(argument))?;
        let is_fine = |used: &Node<'_>| {
            inside(*used, local.declaration) || used.parent().is_some_and(|parent| parent.kind() == "argument_list")
        };
        let hidden = code.uses(caller, local.name).iter().all(is_fine);
        Some(hidden && code.of(local.declaration).contains("__shared__"))
    };
    let all = !calls.is_empty() && calls.iter().all(|call| hands_on(call) == Some(true));
    all.then(|| code.type_of(params[index].node))
}

/// A kernel that runs a function, a launch of it where the file has that, and the threads of its blocks.
pub(crate) type Ran<'c> = (Kernel<'c>, Option<Launch<'c>>, i64);

/// The blocks that a function runs in: the threads of each launch of each kernel that reaches it, with the launch.
///
/// # Errors
/// Ruled out where a kernel may be launched from elsewhere, or with a block that is no line of known length.
pub(crate) fn blocks<'c>(code: &'c Code, function: &Kernel<'c>) -> Result<Vec<Ran<'c>>, Refusal> {
    let mut blocks = Vec::new();
    for kernel in code.kernels_that_reach(function) {
        let extents = blocks_of(code, &kernel)?;
        let mut launches = code.launches_of(kernel.name).into_iter();
        for block in extents {
            let [threads, 1, 1] = block else { return ruled_out("the block of a launch is not a line") };
            blocks.push((kernel, launches.next(), threads));
        }
    }
    Ok(blocks)
}

/// The value of an expression of a function at a launch of a kernel that reaches it.
pub(crate) fn value_of(
    code: &Code,
    function: &Kernel<'_>,
    kernel: &Kernel<'_>,
    launch: Option<&Launch<'_>>,
    node: Node<'_>,
) -> Option<i64> {
    // A device function's own template parameters are not followed, nor those of a launch outside the file.
    match launch.filter(|_| kernel.node == function.node) {
        Some(launch) => value_at(code, kernel, launch, node),
        None => constant::value(code, node),
    }
}

/// A text without blanks.
pub(crate) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Checks that an expression is the thread's number along x, and stays so.
pub(crate) fn check_thread(code: &Code, kernel: &Kernel<'_>, thread: &str) -> Result<(), Refusal> {
    let value = code.local(kernel.body, thread).and_then(|local| local.value);
    let is_number = thread == "threadIdx.x" || value.is_some_and(|value| code.of(value) == "threadIdx.x");
    let is_changed = code.writes(kernel.body).iter().any(|write| write.name == thread);
    require(is_number && !is_changed, format!("`{thread}` is not the thread's number"))
}

/// Checks that nobody sees which elements a tree leaves behind: after it only the first one is read until each thread sets
/// its own again, and where the tree stands in a loop, each round begins by setting them.
pub(crate) fn check_uses(code: &Code, kernel: &Kernel<'_>, tree: Node<'_>, step: &Step<'_>) -> Result<(), Refusal> {
    let is_declared = |used: &Node<'_>| used.parent().is_some_and(|parent| parent.kind() == "array_declarator");
    let uses: Vec<_> = code.uses(kernel.body, step.array).into_iter().filter(|used| !is_declared(used)).collect();
    let is_first = |used: &Node<'_>| squeezed(code.of(used.parent().unwrap_or(*used))) == format!("{}[0]", step.array);
    let after = uses.iter().filter(|used| used.start_byte() >= tree.end_byte());
    let hidden = after.take_while(|used| !is_set(code, **used, step)).all(is_first);
    let again =
        around(tree, &["for_statement", "while_statement", "do_statement"]).filter(|outer| inside(*outer, kernel.body));
    let fresh = again.is_none_or(|outer| {
        uses.iter().find(|used| inside(**used, outer)).is_some_and(|used| is_set(code, *used, step))
    });
    require(hidden && fresh, format!("other elements of `{}` than the first are used beside the reduction", step.array))
}

/// Whether a use is `array[thread] = ..`, done by every thread.
fn is_set(code: &Code, used: Node<'_>, step: &Step<'_>) -> bool {
    let Some(element) = used.parent() else { return false };
    let is_own = squeezed(code.of(element)) == format!("{}[{}]", step.array, step.thread);
    let is_assigned = element.parent().is_some_and(|parent| {
        parent.kind() == "assignment_expression"
            && parent.child_by_field_name("left") == Some(element)
            && parent.child_by_field_name("operator").is_some_and(|operator| code.of(operator) == "=")
    });
    is_own && is_assigned && around(used, &["if_statement", "switch_statement", "conditional_expression"]).is_none()
}
