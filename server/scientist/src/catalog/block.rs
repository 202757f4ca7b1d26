//! The block and grid that a launch asks for, followed from the launch to where they are written.

use tree_sitter::Node;

use super::code::{Code, Kernel, Launch, around, named_children, of_kind};
use super::constant;
use super::place::{Refusal, require};

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
}

/// Whether an expression uses a name, itself or through the variables it is made of.
pub(crate) fn mentions_through(code: &Code, node: Node<'_>, name: &str) -> bool {
    through(code, node).into_iter().any(|part| code.mentions(part, name))
}

/// An expression and the declarators of the local variables that it is made of.
pub(crate) fn through<'c>(code: &'c Code, node: Node<'c>) -> Vec<Node<'c>> {
    let mut parts = vec![node];
    let Some(function) = around(node, &["function_definition"]) else { return parts };
    let mut next = 0;
    while let Some(part) = parts.get(next).copied() {
        for identifier in of_kind(part, "identifier") {
            // The whole declarator is looked at, for `dim3 block(TILE, TILE)` has no value of its own.
            let local = code.local(function, code.of(identifier)).map(|local| local.declarator);
            parts.extend(local.filter(|declarator| !parts.contains(declarator)).into_iter().collect::<Vec<_>>());
        }
        next += 1;
    }
    parts
}

/// What `block.y` is given as: `Some(None)` where the `dim3` leaves it at 1, `None` where that is not known.
pub(crate) fn extent<'c>(code: &'c Code, node: Node<'c>) -> Option<Option<Node<'c>>> {
    let index =
        ["x", "y", "z"].iter().position(|axis| *axis == code.of(node.child_by_field_name("field").unwrap_or(node)))?;
    let extents = variable(code, node.child_by_field_name("argument")?).filter(|extents| extents.is_dim3)?;
    Some(extents.written.get(index).copied())
}

/// The value of an expression in a kernel at one of its launches: template parameters stand for the launch's arguments.
pub(crate) fn value_at(code: &Code, kernel: &Kernel<'_>, launch: &Launch<'_>, node: Node<'_>) -> Option<i64> {
    let about = code.about(kernel)?;
    let arguments = about.template_params.iter().zip(&launch.template_arguments);
    let bound = |(param, argument): (&hip_syntax::TemplateParam, &Node<'_>)| {
        let argument = constant::value(code, *argument).filter(|_| code.mentions(node, &param.name))?;
        constant::value_if(code, node, &param.name, argument)
    };
    arguments.filter_map(bound).next().or_else(|| constant::value(code, node))
}

/// The blocks that a kernel is launched in, by the file and by the benchmark file that feeds it.
///
/// # Errors
/// Ruled out where it may be launched from elsewhere, or in blocks whose extents are not known.
pub(crate) fn blocks_of(code: &Code, kernel: &Kernel<'_>) -> Result<Vec<[i64; 3]>, Refusal> {
    let unknown = || Refusal::RuledOut("the block of a launch is not made of constants".into());
    // A kernel that a benchmark file launches is offered to be launched by others: those of the file are among them.
    if let Some(outside) = code.outside(kernel.name) {
        let is_alone = code.syntax().launches().iter().all(|launch| launch.kernel != kernel.name);
        require(is_alone, "both this file and the benchmark file launch it")?;
        return outside.block.map(|block| vec![block]).ok_or_else(unknown);
    }
    let launches = code.launches_of(kernel.name);
    require(!launches.is_empty(), "it is not known to be launched by this file alone, so its blocks are not known")?;
    launches
        .iter()
        .map(|launch| Extents::of_block(code, launch)?.values(code))
        .collect::<Option<_>>()
        .ok_or_else(unknown)
}

/// The extent of a kernel's blocks, which must be squares of one size.
///
/// # Errors
/// Ruled out where they are not, or where [`blocks_of`] does not know them.
pub(crate) fn square_of(code: &Code, kernel: &Kernel<'_>) -> Result<i64, Refusal> {
    let blocks = blocks_of(code, kernel)?;
    let side = blocks.first().map_or(0, |block| block[0]);
    let is_square = blocks.iter().all(|block| *block == [side, side, 1]) && (4..=32).contains(&side);
    require(is_square, "its blocks are not squares of one size")?;
    Ok(side)
}

/// The value of an expression in a kernel, where all of its launches give it the same.
pub(crate) fn value_everywhere(code: &Code, kernel: &Kernel<'_>, node: Node<'_>) -> Option<i64> {
    let launches = code.launches_of(kernel.name);
    // Which template arguments an outer launch gives is not read.
    if code.outside(kernel.name).is_some_and(|outside| outside.is_template) {
        return None;
    }
    let first =
        launches.first().map_or_else(|| constant::value(code, node), |launch| value_at(code, kernel, launch, node))?;
    launches.iter().all(|launch| value_at(code, kernel, launch, node) == Some(first)).then_some(first)
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
