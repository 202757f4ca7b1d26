//! Counted `for` loops.

use tree_sitter::Node;

use super::code::{Code, of_kind};

/// `for (TYPE name = first; name < bound; name += step)`, with the name and what it is compared to and stepped by.
#[derive(Clone, Copy)]
pub(crate) struct ForLoop<'c> {
    pub(crate) node: Node<'c>,
    pub(crate) name: &'c str,
    /// Type of the variable where the loop declares it.
    pub(crate) kind: Option<&'c str>,
    /// First value, where the loop gives one.
    pub(crate) first: Option<Node<'c>>,
    pub(crate) operator: &'c str,
    pub(crate) bound: Node<'c>,
    /// What is added in each round; `None` for 1.
    pub(crate) step: Option<Node<'c>>,
    pub(crate) body: Node<'c>,
}

impl<'c> ForLoop<'c> {
    /// Reads a loop that counts up by `++` or `+=` and changes its variable nowhere else.
    pub(crate) fn read(code: &'c Code, node: Node<'c>) -> Option<Self> {
        let condition = node.child_by_field_name("condition").filter(|n| n.kind() == "binary_expression")?;
        let operator = code.of(condition.child_by_field_name("operator")?);
        let name = code.of(condition.child_by_field_name("left").filter(|n| n.kind() == "identifier")?);
        let bound = condition.child_by_field_name("right")?;
        let body = node.child_by_field_name("body")?;
        let step = step(code, node.child_by_field_name("update")?, name)?;
        let changed = code.writes(body).iter().any(|write| write.name == name);
        let local = node.child_by_field_name("initializer").and_then(|initializer| code.local(initializer, name));
        let is_up = ["<", "<=", "!="].contains(&operator);
        (is_up && !changed).then_some(Self {
            node,
            name,
            kind: local.map(|local| code.type_of(local.declaration)),
            first: local.and_then(|local| local.value),
            operator,
            bound,
            step,
            body,
        })
    }

    /// A name for the loop in a kernel that survives edits elsewhere: its variable, and its number among the loops over a
    /// variable of that name (`k`, `k-2`).
    pub(crate) fn site(&self, code: &Code, body: Node<'_>) -> String {
        let same = |node: &Node<'_>| {
            ForLoop::read(code, *node).is_some_and(|found| found.name == self.name)
                && node.start_byte() <= self.node.start_byte()
        };
        match of_kind(body, "for_statement").iter().filter(|node| same(node)).count() {
            0 | 1 => self.name.to_owned(),
            number => format!("{}-{number}", self.name),
        }
    }
}

fn step<'c>(code: &'c Code, update: Node<'c>, name: &str) -> Option<Option<Node<'c>>> {
    match update.kind() {
        "update_expression" if code.mentions(update, name) && code.of(update).contains("++") => Some(None),
        "assignment_expression" => {
            let left = update.child_by_field_name("left")?;
            let operator = code.of(update.child_by_field_name("operator")?);
            (code.of(left) == name && operator == "+=").then_some(Some(update.child_by_field_name("right")?))
        }
        _ => None,
    }
}
