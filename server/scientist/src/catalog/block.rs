//! The block and grid that a launch asks for, followed from the launch to where they are written.

use tree_sitter::Node;

use super::code::{Code, Launch, around, named_children};
use super::constant;

/// The three extents of a `dim3` as they are written; a missing one is 1.
#[derive(Clone)]
pub(crate) struct Extents<'c> {
    /// The expressions for x, y and z, as far as they are given.
    pub(crate) written: Vec<Node<'c>>,
    /// Whether the launch names a `dim3` rather than a number.
    pub(crate) is_dim3: bool,
}

impl<'c> Extents<'c> {
    /// The block of a launch; `None` where it cannot be followed (a parameter, a changed variable).
    pub(crate) fn of_block(code: &'c Code, launch: &Launch<'c>) -> Option<Self> {
        follow(code, launch.block)
    }

    /// The grid of a launch.
    pub(crate) fn of_grid(code: &'c Code, launch: &Launch<'c>) -> Option<Self> {
        follow(code, launch.grid)
    }

    /// The extents as numbers, where all of them are constants.
    pub(crate) fn values(&self, code: &Code) -> Option<[i64; 3]> {
        let mut values = [1; 3];
        for (value, node) in values.iter_mut().zip(&self.written) {
            *value = constant::value(code, *node)?;
        }
        Some(values)
    }

    /// Whether a name is used in any of the extents.
    pub(crate) fn mention(&self, code: &Code, name: &str) -> bool {
        self.written.iter().any(|node| mentions_through(code, *node, name))
    }
}

/// Whether an expression uses a name, itself or through the variables it is made of.
pub(crate) fn mentions_through(code: &Code, node: Node<'_>, name: &str) -> bool {
    mentions_within(code, node, name, 6)
}

fn mentions_within(code: &Code, node: Node<'_>, name: &str, depth: u8) -> bool {
    if code.mentions(node, name) {
        return true;
    }
    let Some(function) = around(node, &["function_definition"]).filter(|_| depth > 0) else { return false };
    super::code::of_kind(node, "identifier").into_iter().any(|identifier| {
        let local =
            code.local(function, code.of(identifier)).filter(|local| !super::code::inside(node, local.declarator));
        // The whole declarator is looked at, for `dim3 block(TILE, TILE)` has no value of its own.
        local.is_some_and(|local| mentions_within(code, local.declarator, name, depth - 1))
    })
}

fn follow<'c>(code: &'c Code, node: Node<'c>) -> Option<Extents<'c>> {
    match node.kind() {
        "parenthesized_expression" => follow(code, node.named_child(0)?),
        "call_expression" if code.of(node.child_by_field_name("function")?) == "dim3" => {
            Some(dim3(node.child_by_field_name("arguments")?))
        }
        "compound_literal_expression" if code.of(node).starts_with("dim3") => {
            Some(dim3(node.child_by_field_name("value")?))
        }
        "identifier" => variable(code, node),
        _ => Some(Extents { written: vec![node], is_dim3: false }),
    }
}

fn dim3(list: Node<'_>) -> Extents<'_> {
    Extents { written: named_children(list), is_dim3: true }
}

fn variable<'c>(code: &'c Code, node: Node<'c>) -> Option<Extents<'c>> {
    let name = code.of(node);
    if constant::find(code, name, node).is_some() {
        return Some(Extents { written: vec![node], is_dim3: false });
    }
    let function = around(node, &["function_definition"])?;
    let local = code.local(function, name)?;
    if code.writes(function).iter().any(|write| write.name == name) {
        return None;
    }
    let is_dim3 = code.type_of(local.declaration).ends_with("dim3");
    match (is_dim3, local.value) {
        (true, Some(value)) if ["argument_list", "initializer_list"].contains(&value.kind()) => Some(dim3(value)),
        (true, Some(value)) => follow(code, value).map(|found| Extents { is_dim3: true, ..found }),
        (true, None) => local.shape.child_by_field_name("parameters").map(dim3),
        (false, Some(_)) => Some(Extents { written: vec![node], is_dim3: false }),
        (false, None) => None,
    }
}
