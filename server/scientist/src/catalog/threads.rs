//! Which variables of a kernel depend on which thread runs it.

use std::collections::HashSet;

use tree_sitter::Node;

use super::code::{Code, Kernel, around, everything, inside};

/// The variables of a kernel whose value depends on something, such as `threadIdx.y`: by what they are given, or by
/// whether they are given it.
pub(crate) struct Spread<'c> {
    seeds: Vec<String>,
    names: HashSet<&'c str>,
}

impl<'c> Spread<'c> {
    /// Follows the seeds (`threadIdx`, `blockIdx.x`) through a kernel. `barred` variables pass nothing on.
    pub(crate) fn of(code: &'c Code, kernel: &Kernel<'c>, seeds: &[&str], barred: &[&str]) -> Self {
        let mut spread = Self { seeds: seeds.iter().map(|seed| (*seed).to_owned()).collect(), names: HashSet::new() };
        let (params, locals, writes) = (code.params(kernel), code.locals(kernel.body), code.writes(kernel.body));
        loop {
            let before = spread.names.len();
            for local in &locals {
                if !barred.contains(&local.name) && local.value.is_some_and(|value| spread.reaches(code, value)) {
                    spread.names.insert(local.name);
                }
            }
            for write in &writes {
                // What is stored in global memory is not followed; a load counts by its index.
                if write.place.kind() != "identifier" && params.iter().any(|param| param.name == write.name) {
                    continue;
                }
                if barred.contains(&write.name) {
                    continue;
                }
                if spread.reaches(code, write.node) || spread.decides(code, write.node, kernel.body) {
                    spread.names.insert(write.name);
                }
            }
            if spread.names.len() == before {
                return spread;
            }
        }
    }

    /// Whether a node's value depends on a seed.
    pub(crate) fn reaches(&self, code: &Code, node: Node<'_>) -> bool {
        everything(node).any(|part| match part.kind() {
            "identifier" => self.names.contains(code.of(part)) || self.is_seed(code.of(part)),
            "field_expression" => self.is_seed(code.of(part)),
            _ => false,
        })
    }

    /// Whether work-items that are neighbours in the seed reach neighbouring elements by a `subscript_expression`: what
    /// depends on it is added to the index and multiplied with nothing.
    pub(crate) fn adjoins(&self, code: &Code, access: Node<'_>) -> bool {
        let Some(index) = access.child_by_field_name("indices") else { return false };
        let is_number = |part: &Node<'_>| ["identifier", "field_expression"].contains(&part.kind());
        let parts = everything(index).filter(|part| is_number(part) && self.reaches(code, *part));
        let all: Vec<Node<'_>> = parts.collect();
        !all.is_empty() && all.into_iter().all(|part| !is_scaled(code, part, index))
    }

    /// Whether a variable depends on a seed.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether a statement runs or not by a seed: a branch or loop around it asks for one.
    pub(crate) fn decides(&self, code: &Code, node: Node<'_>, within: Node<'_>) -> bool {
        let mut inner = node;
        let branching = [
            "if_statement",
            "for_statement",
            "while_statement",
            "do_statement",
            "switch_statement",
            "conditional_expression",
        ];
        while let Some(outer) = around(inner, &branching).filter(|outer| inside(*outer, within)) {
            if outer.child_by_field_name("condition").is_some_and(|condition| self.reaches(code, condition)) {
                return true;
            }
            inner = outer;
        }
        false
    }

    fn is_seed(&self, text: &str) -> bool {
        self.seeds.iter().any(|seed| seed == text)
    }
}

fn is_scaled(code: &Code, part: Node<'_>, index: Node<'_>) -> bool {
    let mut outer = part.parent();
    while let Some(node) = outer.filter(|node| inside(*node, index)) {
        let operator = node.child_by_field_name("operator").map(|operator| code.of(operator));
        if operator.is_some_and(|operator| ["*", "/", "%", "<<", ">>"].contains(&operator)) {
            return true;
        }
        outer = node.parent();
    }
    false
}
