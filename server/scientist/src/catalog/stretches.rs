//! A kernel as stretches of code between barriers, and the same kernel with several items a thread.

mod printer;

use std::collections::HashSet;

use tree_sitter::Node;

use super::code::{Code, Kernel, Local, everything, named_children};
use super::place::{Refusal, ruled_out};
use super::threads::Spread;
use printer::Printer;

/// The barrier of a block.
pub(crate) const BARRIER: &str = "__syncthreads";

/// Names for the number of an item, the first free one is taken.
const ITEMS: [&str; 2] = ["item", "item_2"];

/// An axis of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    pub(crate) fn name(self) -> &'static str {
        ["x", "y", "z"][self.index()]
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

/// A kernel whose barriers all stand where every thread passes, with the variables that each item needs for itself.
pub(crate) struct Stretches<'c> {
    code: &'c Code,
    kernel: Kernel<'c>,
    axis: Axis,
    spread: Spread<'c>,
    /// What the number of an item is called.
    item: &'static str,
    /// Variables of the code between stretches.
    declared: HashSet<&'c str>,
    /// Those of them that differ from item to item.
    private: HashSet<&'c str>,
}

impl<'c> Stretches<'c> {
    /// Reads a kernel.
    ///
    /// # Errors
    /// Ruled out where a barrier stands under a condition that may depend on the thread, or where a variable's
    /// declaration cannot be made an array.
    pub(crate) fn read(code: &'c Code, kernel: &Kernel<'c>, axis: Axis) -> Result<Self, Refusal> {
        let seed = format!("threadIdx.{}", axis.name());
        let spread = Spread::of(code, kernel, &[&seed], &[]);
        let Some(item) = ITEMS.into_iter().find(|name| !code.mentions(kernel.body, name)) else {
            return ruled_out("the names for the numbers of its items are taken");
        };
        let (declared, private) = (HashSet::new(), HashSet::new());
        let mut stretches = Self { code, kernel: *kernel, axis, spread, item, declared, private };
        let mut outer = Vec::new();
        stretches.outer(kernel.body, &mut outer);
        let declared: Vec<Local<'c>> = outer
            .iter()
            .filter(|node| node.kind() == "declaration" && !stretches.is_shared(**node))
            .flat_map(|node| code.locals(*node))
            .collect();
        stretches.declared = declared.iter().map(|local| local.name).collect();
        stretches.find_private(&declared, &outer);
        let all = code.locals(kernel.body);
        let is_double = |name: &str| all.iter().filter(|local| local.name == name).count() > 1;
        if let Some(name) = stretches.private.iter().find(|name| is_double(name)) {
            return ruled_out(format!("`{name}` names more than one variable"));
        }
        Ok(stretches)
    }

    /// The kernel's body with `factor` items a thread.
    ///
    /// # Errors
    /// As [`Stretches::read`].
    pub(crate) fn coarsened(&self, factor: i64) -> Result<String, Refusal> {
        Printer::new(self, factor).body()
    }

    /// The statements that every thread passes between stretches or begins one with, and the headers of loops around
    /// barriers.
    fn outer(&self, block: Node<'c>, found: &mut Vec<Node<'c>>) {
        for statement in named_children(block) {
            found.push(statement);
            if !self.has_barrier(statement) {
                continue;
            }
            if statement.kind() == "compound_statement" {
                self.outer(statement, found);
            }
            for part in ["initializer", "condition", "update"] {
                found.extend(statement.child_by_field_name(part));
            }
            for part in ["body", "consequence", "alternative"] {
                if let Some(body) = statement.child_by_field_name(part) {
                    self.outer(body, found);
                }
            }
        }
    }

    /// Starts from what surely differs between items and adds whatever is made from it.
    fn find_private(&mut self, declared: &[Local<'c>], outer: &[Node<'c>]) {
        let all_writes = self.code.writes(self.kernel.body);
        loop {
            let before = self.private.len();
            for local in declared {
                let starts_alike = local.value.is_none_or(|value| self.is_alike(value));
                let mut writes = all_writes.iter().filter(|write| write.name == local.name);
                let mut written = false;
                let stays_alike = writes.all(|write| {
                    written = true;
                    write.place.kind() == "identifier" && self.is_alike(write.node) && is_outer(write.node, outer)
                });
                let is_plain = local.shape.kind() == "identifier" || !written;
                let has_value = local.value.is_some() || written;
                if !(starts_alike && stays_alike && is_plain && has_value) || self.spread.holds(local.name) {
                    self.private.insert(local.name);
                }
            }
            if self.private.len() == before {
                return;
            }
        }
    }

    /// Whether an expression has the same value for all items: it asks for no thread, no memory and no function.
    fn is_alike(&self, node: Node<'_>) -> bool {
        let depends = everything(node).any(|part| match part.kind() {
            "identifier" => self.private.contains(self.code.of(part)),
            "subscript_expression" | "call_expression" | "pointer_expression" => true,
            _ => false,
        });
        !depends && !self.spread.reaches(self.code, node)
    }

    fn has_barrier(&self, node: Node<'_>) -> bool {
        self.code.calls(node, BARRIER)
    }

    fn is_shared(&self, statement: Node<'_>) -> bool {
        let text = self.code.of(statement);
        text.contains("__shared__") || text.starts_with("HIP_DYNAMIC_SHARED")
    }
}

/// Whether a change is made once by every thread: it is a statement between stretches, or part of a header there.
fn is_outer(write: Node<'_>, outer: &[Node<'_>]) -> bool {
    let is_it = |node: &Node<'_>| {
        *node == write || (node.kind() == "expression_statement" && node.named_child(0) == Some(write))
    };
    outer.iter().any(is_it)
}
