//! Reductions by a tree in LDS: what the rewrites of them ask alike.

use tree_sitter::Node;

use super::code::{Code, Kernel, around, inside, statements};
use super::place::{Refusal, require};

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
