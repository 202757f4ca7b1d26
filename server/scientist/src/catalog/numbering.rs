//! Whether a kernel's threads may be numbered anew: whether it asks for a thread's number only where that can be seen.

use hip_syntax::device_functions::knows_numbering;
use tree_sitter::Node;

use super::code::{Code, Kernel, everything};
use super::place::{Refusal, require, ruled_out};
use super::stretches::BARRIER;

/// What a work-item's number is made of.
const PARTS: [&str; 4] = ["threadIdx", "blockDim", "blockIdx", "gridDim"];

/// Checks that a kernel reads `threadIdx` and `blockDim` by their parts and in its own body alone, and that nothing in it
/// depends on wavefronts.
pub(crate) fn check(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    if let Some(word) = words(code, kernel.body).find(|word| knows_numbering(word)) {
        return ruled_out(format!("it uses `{word}`, which depends on how its threads are numbered or run"));
    }
    let is_part = |node: &Node<'_>| node.parent().is_some_and(|parent| parent.kind() == "field_expression");
    let bare = |name: &str| !code.uses(kernel.body, name).iter().all(is_part);
    let whole = PARTS.into_iter().any(bare);
    require(!whole, "it hands on `threadIdx` or one of its kin as a whole")?;
    let mut called = code.all_called(kernel.body).into_iter().filter(|called| knows_threads(code, called));
    if let Some(called) = called.next() {
        return ruled_out(format!("`{called}` asks for the thread's number or synchronises"));
    }
    require(!code.has_methods_with_threads(), "a type of the file asks for the thread's number in its methods")?;
    check_macros(code, kernel)?;
    let mut macros = code.macros_with_threads().iter().filter(|name| code.mentions(kernel.body, name));
    match macros.next() {
        Some(name) => ruled_out(format!("the macro `{name}` asks for the thread's number or synchronises")),
        None => Ok(()),
    }
}

/// Checks that no macro takes a thread out of a kernel or a loop unseen.
pub(crate) fn check_macros(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    match code.macro_that_leaves(kernel) {
        Some(name) => ruled_out(format!("the macro `{name}` may make some threads leave")),
        None => Ok(()),
    }
}

/// The words of a node's code: names and keywords, without comments and literals.
fn words<'c>(code: &'c Code, node: Node<'c>) -> impl Iterator<Item = &'c str> {
    let is_word = |node: &Node<'c>| node.child_count() == 0 && !node.kind().contains("comment");
    everything(node).filter(is_word).map(|node| code.of(node))
}

/// Whether a word asks for a work-item's number, or synchronises.
pub(crate) fn asks_for_threads(word: &str) -> bool {
    PARTS.contains(&word) || word == BARRIER || knows_numbering(word)
}

/// Whether a function of the file depends on which thread runs it.
fn knows_threads(code: &Code, name: &str) -> bool {
    function_with_threads(code, name).is_some()
}

/// The function of the file by that name, if it depends on which thread runs it.
pub(crate) fn function_with_threads<'c>(code: &'c Code, name: &str) -> Option<Node<'c>> {
    code.functions_named(name).into_iter().find(|function| words(code, *function).any(asks_for_threads))
}
