//! Whether a kernel's threads may be numbered anew: whether it asks for a thread's number only where that can be seen.

use tree_sitter::Node;

use super::code::{Code, Kernel, everything, of_kind};
use super::place::{Refusal, require, ruled_out};
use super::stretches::BARRIER;

/// Words that tell how threads stand in wavefronts, or that number threads in a way of their own.
const FORBIDDEN: [&str; 14] = [
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
];

/// Checks that a kernel reads `threadIdx` and `blockDim` by their parts and in its own body alone, and that nothing in it
/// depends on wavefronts.
pub(crate) fn check(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    let text = code.of(kernel.body);
    if let Some(word) = FORBIDDEN.iter().find(|word| text.contains(**word)) {
        return ruled_out(format!("it uses `{word}`, which depends on how its threads are numbered or run"));
    }
    let is_part = |node: &Node<'_>| node.parent().is_some_and(|parent| parent.kind() == "field_expression");
    let bare = |name: &str| !code.uses(kernel.body, name).iter().all(is_part);
    let whole = ["threadIdx", "blockDim", "blockIdx", "gridDim"].into_iter().any(bare);
    require(!whole, "it hands on `threadIdx` or one of its kin as a whole")?;
    for called in code.called(kernel.body) {
        require(!knows_threads(code, called), format!("`{called}` asks for the thread's number or synchronises"))?;
    }
    for definition in ["preproc_def", "preproc_function_def"].iter().flat_map(|kind| of_kind(code.root(), kind)) {
        let name = definition.child_by_field_name("name").map_or("", |name| code.of(name));
        let knows =
            ["threadIdx", "blockDim", "blockIdx", BARRIER].iter().any(|word| code.of(definition).contains(word));
        let used = text.contains(name);
        require(!(knows && used), format!("the macro `{name}` asks for the thread's number or synchronises"))?;
    }
    Ok(())
}

/// Whether a function of the file depends on which thread runs it.
fn knows_threads(code: &Code, name: &str) -> bool {
    function_with_threads(code, name).is_some()
}

/// The function of the file by that name, if it depends on which thread runs it.
pub(crate) fn function_with_threads<'c>(code: &'c Code, name: &str) -> Option<Node<'c>> {
    of_kind(code.root(), "function_definition").into_iter().find(|function| {
        let declared = function.child_by_field_name("declarator").and_then(|declarator| {
            let declarator = of_kind(declarator, "function_declarator").first().copied()?;
            declarator.child_by_field_name("declarator")
        });
        let is_it = declared.is_some_and(|found| code.of(found) == name);
        let mut words = everything(*function).into_iter().filter(|node| node.kind() == "identifier");
        is_it
            && words.any(|word| {
                let word = code.of(word);
                let numbers = ["threadIdx", "blockDim", "blockIdx", "gridDim", BARRIER].contains(&word);
                numbers || FORBIDDEN.iter().any(|forbidden| word.starts_with(forbidden))
            })
    })
}
