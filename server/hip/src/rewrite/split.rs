//! Splits a kernel at its barriers: each stretch between two of them becomes a loop over the work-items of the block, so
//! that no work-item has to wait and clang can vectorise across them.
//!
//! That is the same only where all work-items reach the same barriers. A kernel is split if its barriers stand at its top
//! level or in loops and branches whose conditions are provably equal for the whole block; what cannot be shown is refused
//! and runs on fibers. The loops and branches around barriers are then run once for the block, with the variables in their
//! conditions. Loops that walk by a step of the block are turned inside out ([`strides`]), in kernels without barriers too.
//! Of the work-items' own variables, those that follow from the index are declared again where they are
//! needed; others that live across a barrier are kept for each work-item (`ks/regions.h` of the runtime).

use std::ops::Range;

use super::Edit;
use crate::code::Code;
use crate::kernels::Kernel;
use crate::lexer::DirectiveKind;
use crate::synchronises::Waiting;
use crate::syntax::Syntax;

mod expressions;
mod hiding;
mod locals;
mod operands;
mod plan;
mod statements;
mod strides;
mod text;

use expressions::Expressions;
use locals::Locals;
use plan::Planner;

/// Why a kernel is not split. Bytes are those of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has no barrier, and nothing to gain from being split.
    #[error("it waits nowhere")]
    NoBarrier,
    /// What it calls may wait or exchange values.
    #[error("it waits or exchanges values elsewhere than at its own __syncthreads()")]
    Calls,
    /// It cannot be read with certainty.
    #[error("it cannot be read with certainty")]
    Unread,
    /// Preprocessor branches or definitions stand in it.
    #[error("preprocessor lines stand in it")]
    Directive,
    /// A barrier stands in a statement other than blocks, `if` and loops.
    #[error("a barrier stands in a statement that cannot be split")]
    Place,
    /// `goto`, labels, `try`.
    #[error("it has statements that cannot be split")]
    Statement,
    /// `static` or `volatile` variables.
    #[error("it has static or volatile variables")]
    Declaration,
    /// A condition around a barrier may differ between work-items.
    #[error("a condition around a barrier may differ between work-items, by what stands at byte {0}")]
    Divergent(usize),
    /// A variable hides another one, or a name of the file, that is used elsewhere in the kernel.
    #[error("the name at byte {0} hides another one")]
    Hides(usize),
    /// A parameter is changed for each work-item.
    #[error("the parameter at byte {0} may be changed by each work-item")]
    Parameter(usize),
    /// A variable that lives across a barrier has a type that cannot be kept.
    #[error("the variable at byte {0} cannot be kept across a barrier")]
    Type(usize),
}

/// The edits that split `kernel`, or why it is left as it is.
pub(super) fn split(syntax: &Syntax, kernel: &Kernel) -> Result<Vec<Edit>, Refusal> {
    let waiting = syntax.waiting(kernel);
    let edits = edits(syntax, kernel, waiting);
    if waiting.synchronises { edits } else { edits.map_err(|_| Refusal::NoBarrier) }
}

fn edits(syntax: &Syntax, kernel: &Kernel, waiting: Waiting) -> Result<Vec<Edit>, Refusal> {
    if waiting.synchronises && !waiting.is_at_own_barriers {
        return Err(Refusal::Calls);
    }
    let code = syntax.code();
    // Of this kernel alone: a tree of the whole text takes a kilobyte a line, and texts are built side by side.
    let tree = syntax.tree_of(&kernel.range).filter(|_| kernel.complete).ok_or(Refusal::Unread)?;
    let body = tree.root_node().descendant_for_byte_range(kernel.body.start, kernel.body.end);
    let body = body.filter(|node| node.kind() == "compound_statement" && node.byte_range() == kernel.body);
    let body = body.filter(|node| !node.has_error()).ok_or(Refusal::Unread)?;
    if kernel.params.is_empty() && !parameters_are_empty(syntax, &kernel.params_range) {
        return Err(Refusal::Unread);
    }
    let directives = code.directives_in(&code.tokens_in(&kernel.body));
    if directives.iter().any(|directive| directive.kind != DirectiveKind::Pragma) {
        return Err(Refusal::Directive);
    }
    let tokens = code.tokens_in(&kernel.body);
    if tokens.clone().any(|at| code.is_identifier(at) && hides_statement(code, code.word(at), 0)) {
        return Err(Refusal::Statement);
    }
    // A name alone: a macro of some header, which may be anything.
    if tokens.clone().any(|at| {
        matches!(code.word_before(at), ";" | "{" | "}") && code.is_name_alone(at) && !code.is_macro(code.word(at))
    }) {
        return Err(Refusal::Statement);
    }
    let elsewhere: Vec<_> = syntax.functions().iter().map(|function| &function.body).collect();
    if operands::hides_references(code, |at| {
        elsewhere.iter().any(|body| **body != kernel.body && body.contains(&code.bytes(&(at..at + 1)).start))
    }) {
        return Err(Refusal::Unread);
    }
    let scope = statements::scope(code, body, false)?;
    let locals = Locals::read(code, kernel, body, syntax.functions());
    let expressions =
        Expressions { code, locals: &locals, template_params: &kernel.template_params, functions: syntax.functions() };
    let planner = Planner { code, locals: &locals, expressions };
    let whole = planner.plan(&scope, false)?;
    let turned = planner.plan(&scope, true).ok().filter(|turned| planner.is_cheap(turned, &whole));
    let plan = match turned {
        Some(turned) => turned,
        None => whole,
    };
    // Without barriers a kernel is a loop over the work-items already.
    if !waiting.synchronises && plan.regions.iter().all(|region| region.stride.is_none()) {
        return Err(Refusal::NoBarrier);
    }
    Ok(text::edits(code, &locals, &plan, kernel.body.start + 1))
}

/// Whether a macro of that name leaves a kernel or a loop, or declares what outlives a block of statements.
fn hides_statement(code: &Code, name: &str, depth: u32) -> bool {
    const WORDS: [&str; 7] = ["return", "break", "continue", "goto", "static", "__shared__", "asm"];
    code.macro_definitions(name).any(|define| {
        let body = define.macro_body(&code.text);
        let mut words = body.iter().map(|token| token.text(&code.text));
        depth > 8 || words.any(|word| WORDS.contains(&word) || word != name && hides_statement(code, word, depth + 1))
    })
}

fn parameters_are_empty(syntax: &Syntax, range: &Range<usize>) -> bool {
    matches!(syntax.text()[range.clone()].trim(), "" | "void")
}
