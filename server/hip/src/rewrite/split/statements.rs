//! The statements of a kernel around its barriers: the scopes, branches and loops that a split leaves standing, and the
//! statements between them.

use std::ops::Range;

use tree_sitter::Node;

use super::Refusal;
use crate::code::Code;
use crate::synchronises::BARRIER;

/// One statement of a split scope.
pub(super) enum Statement<'t> {
    /// `__syncthreads();`
    Barrier(Node<'t>),
    /// Holds no barrier and leaves no loop that does.
    Plain(Node<'t>),
    /// `break;` or `continue;` of a split loop.
    Jump,
    /// Declares for the whole block.
    Fixed,
    /// Braces.
    Scope(Scope<'t>),
    /// Its condition, and its branches.
    If(Node<'t>, Vec<Scope<'t>>),
    /// A loop.
    Loop(Loop<'t>),
}

/// Statements in a row that are split: between braces, or the single one of a branch.
pub(super) struct Scope<'t> {
    /// Where the first statement may be preceded by something.
    pub start: usize,
    /// It has braces.
    pub braced: bool,
    /// Its statements, comments and pragmas left out.
    pub statements: Vec<Placed<'t>>,
}

/// A statement and its bytes.
pub(super) struct Placed<'t> {
    pub range: Range<usize>,
    pub statement: Statement<'t>,
}

/// A loop whose body is split.
pub(super) struct Loop<'t> {
    /// The first part of a `for`.
    pub init: Option<Node<'t>>,
    /// Conditions and steps.
    pub header: Vec<Node<'t>>,
    pub body: Scope<'t>,
}

/// Reads the scope that `node` is. `in_loop`: a loop around it is split.
pub(super) fn scope<'t>(code: &Code, node: Node<'t>, in_loop: bool) -> Result<Scope<'t>, Refusal> {
    let braced = node.kind() == "compound_statement";
    let mut nodes = Vec::new();
    if braced {
        let mut cursor = node.walk();
        nodes.extend(node.named_children(&mut cursor).filter(|child| !is_silent(*child)));
    } else {
        nodes.push(node);
    }
    let placed = |node: Node<'t>| Ok(Placed { range: whole(code, node), statement: statement(code, node, in_loop)? });
    let mut statements = nodes.into_iter().map(placed).collect::<Result<Vec<_>, _>>()?;
    let start = if braced { node.start_byte() + 1 } else { node.start_byte() };
    if braced {
        let hidden = hidden(code, start..node.end_byte() - 1, &statements)?;
        statements.extend(hidden.into_iter().map(|range| Placed { range, statement: Statement::Fixed }));
        statements.sort_by_key(|placed| placed.range.start);
    }
    Ok(Scope { start, braced, statements })
}

/// The bytes of a statement: a type's definition ends with the semicolon after it.
fn whole(code: &Code, node: Node) -> Range<usize> {
    let range = node.byte_range();
    let next = code.tokens_in(&(range.end..code.text.len())).start;
    match node.kind().ends_with("_specifier") && code.word(next) == ";" {
        true => range.start..code.bytes(&(next..next + 1)).end,
        false => range,
    }
}

/// What stands between the statements and is no part of the tree: declarations of dynamic shared memory by macro.
fn hidden(code: &Code, inside: Range<usize>, statements: &[Placed]) -> Result<Vec<Range<usize>>, Refusal> {
    let mut found = Vec::new();
    let mut start = inside.start;
    for end in statements.iter().map(|placed| &placed.range).chain([&(inside.end..inside.end)]) {
        let mut tokens = code.tokens_in(&(start..end.start));
        while let Some(at) = tokens.next() {
            let close = code.close(at + 1).filter(|_| code.word(at) == "HIP_DYNAMIC_SHARED").ok_or(Refusal::Unread)?;
            found.push(code.bytes(&(at..close + 1)));
            tokens.start = close + 1;
        }
        start = end.end;
    }
    Ok(found)
}

fn statement<'t>(code: &Code, node: Node<'t>, in_loop: bool) -> Result<Statement<'t>, Refusal> {
    if is_barrier(code, node) {
        return Ok(Statement::Barrier(node));
    }
    if matches!(node.kind(), "break_statement" | "continue_statement") {
        return Ok(Statement::Jump);
    }
    let is_frame = holds_barrier(code, node) || in_loop && jumps_out(node, false);
    if !is_frame {
        return Ok(Statement::Plain(node));
    }
    let part = |name: &str| node.child_by_field_name(name).ok_or(Refusal::Unread);
    match node.kind() {
        "compound_statement" => Ok(Statement::Scope(scope(code, node, in_loop)?)),
        "if_statement" => {
            let mut branches = vec![scope(code, part("consequence")?, in_loop)?];
            if let Some(clause) = node.child_by_field_name("alternative") {
                let last = clause.named_child_count().checked_sub(1).and_then(|last| clause.named_child(last as u32));
                branches.push(scope(code, last.ok_or(Refusal::Unread)?, in_loop)?);
            }
            Ok(Statement::If(part("condition")?, branches))
        }
        "for_statement" | "while_statement" | "do_statement" => {
            let init = node.child_by_field_name("initializer");
            let header = ["condition", "update"].into_iter().filter_map(|name| node.child_by_field_name(name));
            let header = header.collect();
            Ok(Statement::Loop(Loop { init, header, body: scope(code, part("body")?, true)? }))
        }
        _ => Err(Refusal::Place),
    }
}

/// Comments, and pragmas, which stay with the statement that they precede.
fn is_silent(node: Node) -> bool {
    matches!(node.kind(), "comment" | "preproc_call")
}

fn is_barrier(code: &Code, node: Node) -> bool {
    let tokens = code.tokens_in(&node.byte_range());
    node.kind() == "expression_statement" && tokens.map(|at| code.word(at)).eq([BARRIER, "(", ")", ";"])
}

fn holds_barrier(code: &Code, node: Node) -> bool {
    code.tokens_in(&node.byte_range()).any(|at| code.word(at) == BARRIER)
}

/// Whether a `break` or `continue` in `node` leaves it. `in_switch`: a `break` does not.
fn jumps_out(node: Node, in_switch: bool) -> bool {
    match node.kind() {
        "break_statement" => return !in_switch,
        "continue_statement" => return true,
        "for_statement" | "while_statement" | "do_statement" | "for_range_loop" | "lambda_expression" => return false,
        _ => {}
    }
    let in_switch = in_switch || node.kind() == "switch_statement";
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| jumps_out(child, in_switch))
}
