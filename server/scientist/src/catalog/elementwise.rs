//! Kernels in which each thread does one element: `int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { .. }`.

use tree_sitter::Node;

use super::code::{Code, Kernel, Local, inside, named_children, of_kind, statements};
use super::trees::squeezed;

/// Types of an index.
const INDICES: [&str; 10] =
    ["int", "unsigned", "unsigned int", "size_t", "long", "long long", "uint32_t", "int32_t", "int64_t", "uint64_t"];

/// A kernel whose threads do an element each, numbered along x over the whole grid.
pub(crate) struct Elementwise<'c> {
    /// The declaration of the index, the kernel's first statement.
    pub(crate) index: Local<'c>,
    /// `n` in `i < n`, which elements that are there fulfil.
    pub(crate) bound: Node<'c>,
    /// What is done for an element.
    pub(crate) work: Vec<Node<'c>>,
}

impl<'c> Elementwise<'c> {
    /// Reads a kernel that consists of the index, the guard and the work.
    pub(crate) fn read(code: &'c Code, kernel: &Kernel<'c>) -> Option<Self> {
        let all = named_children(kernel.body);
        let (first, rest) = all.split_first()?;
        let [index] = code.locals(*first).try_into().ok()?;
        let kind = code.type_of(index.declaration);
        if first.kind() != "declaration" || !INDICES.contains(&kind) || !is_number_in_grid(code, index.value?) {
            return None;
        }
        let (second, after) = rest.split_first()?;
        let branch = Some(*second).filter(|branch| branch.kind() == "if_statement")?;
        if branch.child_by_field_name("alternative").is_some() {
            return None;
        }
        let condition = inner(branch.child_by_field_name("condition")?);
        let part = |name: &str| condition.child_by_field_name(name);
        let operator = code.of(part("operator").filter(|_| condition.kind() == "binary_expression")?);
        if code.of(part("left")?) != index.name {
            return None;
        }
        let bound = part("right")?;
        let then = statements(branch.child_by_field_name("consequence")?);
        let returns = matches!(then.as_slice(), [only] if only.kind() == "return_statement");
        let (expected, work) = if returns { (">=", after.to_vec()) } else { ("<", then) };
        let is_whole = returns || after.is_empty();
        (operator == expected && is_whole && !work.is_empty()).then_some(Self { index, bound, work })
    }

    /// Whether an element is the one that the thread does: `[i]`.
    pub(crate) fn is_own(&self, code: &Code, element: Node<'_>) -> bool {
        let index = element.child_by_field_name("indices").and_then(|list| list.named_child(0));
        element.kind() == "subscript_expression" && index.is_some_and(|index| code.of(index) == self.index.name)
    }

    /// Whether a node is part of the work.
    pub(crate) fn is_work(&self, node: Node<'_>) -> bool {
        self.work.iter().any(|statement| inside(node, *statement))
    }
}

/// Whether an expression is the number of a thread along x in the whole grid.
pub(crate) fn is_number_in_grid(code: &Code, node: Node<'_>) -> bool {
    let text = squeezed(code.of(inner(node)));
    let blocks = ["blockIdx.x*blockDim.x", "blockDim.x*blockIdx.x"];
    blocks.iter().any(|block| {
        let forms = [
            format!("{block}+threadIdx.x"),
            format!("threadIdx.x+{block}"),
            format!("({block})+threadIdx.x"),
            format!("threadIdx.x+({block})"),
        ];
        forms.contains(&text)
    })
}

/// An expression without the parentheses around it.
pub(crate) fn inner(node: Node<'_>) -> Node<'_> {
    match node.named_child(0) {
        Some(child) if ["parenthesized_expression", "condition_clause"].contains(&node.kind()) => inner(child),
        _ => node,
    }
}

/// Whether code leaves by other ways than its end: what is done for several elements in turn must not.
pub(crate) fn leaves(node: Node<'_>) -> bool {
    let ways_out = ["return_statement", "goto_statement", "lambda_expression", "asm_statement", "gnu_asm_expression"];
    ways_out.iter().any(|kind| !of_kind(node, kind).is_empty())
}
