//! Integer constants of a file: where they are defined, what they are worth, and where they are used.

use tree_sitter::Node;

use super::code::{Code, around, of_kind};
use super::edit::Edit;

/// A named integer that the file defines exactly once and never changes.
#[derive(Clone, Copy)]
pub(crate) struct Constant<'c> {
    pub(crate) name: &'c str,
    pub(crate) value: i64,
    /// The function that it is local to; `None` at file level.
    pub(crate) scope: Option<Node<'c>>,
    start: usize,
    end: usize,
}

impl Constant<'_> {
    /// Gives it another value.
    pub(crate) fn set(&self, value: i64) -> Edit {
        Edit { range: self.start..self.end, text: value.to_string() }
    }

    /// Where its value stands.
    pub(crate) fn defined_at(&self) -> usize {
        self.start
    }
}

/// Finds what a name stands for at a place: a `#define`, or a variable with an integer as its only value.
///
/// A name that is defined twice (`#ifdef`), assigned, or a template's parameter is no constant.
pub(crate) fn find<'c>(code: &'c Code, name: &str, at: Node<'c>) -> Option<Constant<'c>> {
    let function = around(at, &["function_definition"]);
    function.and_then(|function| in_function(code, name, function)).or_else(|| at_file_level(code, name))
}

fn in_function<'c>(code: &'c Code, name: &str, function: Node<'c>) -> Option<Constant<'c>> {
    let local = code.local(function, name)?;
    let changed = code.writes(function).iter().any(|write| write.name == name);
    let value = local.value.filter(|_| !changed)?;
    Some(Constant {
        name: local.name,
        value: literal(code.of(value))?,
        scope: Some(function),
        start: value.start_byte(),
        end: value.end_byte(),
    })
}

fn at_file_level<'c>(code: &'c Code, name: &str) -> Option<Constant<'c>> {
    let defined = of_kind(code.root(), "preproc_def").into_iter().filter_map(|node| defined(code, name, node));
    let declared = code.locals(code.root()).into_iter().filter_map(|local| {
        let fixed =
            local.name == name && around(local.declaration, &["function_definition", "parameter_list"]).is_none();
        let value = local.value.filter(|_| fixed && is_const(code, local.declaration))?;
        let (start, end) = (value.start_byte(), value.end_byte());
        Some(Constant { name: local.name, value: literal(code.of(value))?, scope: None, start, end })
    });
    let mut all = defined.chain(declared);
    let first = all.next()?;
    let again = all.next().is_some() || code.text().contains(&format!("#undef {name}"));
    let is_parameter =
        of_kind(code.root(), "template_parameter_list").into_iter().any(|list| code.mentions(list, name));
    (!again && !is_parameter).then_some(first)
}

fn defined<'c>(code: &'c Code, name: &str, node: Node<'c>) -> Option<Constant<'c>> {
    let found = node.child_by_field_name("name")?;
    let value = node.child_by_field_name("value").filter(|_| code.of(found) == name)?;
    let written = code.of(value).trim();
    let start = value.start_byte() + code.of(value).find(written)?;
    Some(Constant { name: code.of(found), value: literal(written)?, scope: None, start, end: start + written.len() })
}

fn is_const(code: &Code, declaration: Node<'_>) -> bool {
    of_kind(declaration, "type_qualifier").into_iter().any(|q| ["const", "constexpr"].contains(&code.of(q)))
}

/// The value of an integer literal such as `256`, `16u` or `0x20`.
pub(crate) fn literal(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// The value of an expression over literals and constants, if it has one.
pub(crate) fn value(code: &Code, node: Node<'_>) -> Option<i64> {
    evaluate(code, node, None)
}

/// The value that an expression would have if one constant had another value; `None` where a division leaves a rest.
pub(crate) fn value_if(code: &Code, node: Node<'_>, name: &str, becomes: i64) -> Option<i64> {
    evaluate(code, node, Some((name, becomes)))
}

fn evaluate(code: &Code, node: Node<'_>, instead: Option<(&str, i64)>) -> Option<i64> {
    match node.kind() {
        "number_literal" => literal(code.of(node)),
        "identifier" | "type_identifier" => match instead {
            Some((name, value)) if name == code.of(node) => Some(value),
            _ => find(code, code.of(node), node).map(|constant| constant.value),
        },
        "parameter_declaration" if node.named_child_count() == 1 => evaluate(code, node.named_child(0)?, instead),
        "parenthesized_expression" => evaluate(code, node.named_child(0)?, instead),
        "binary_expression" => {
            let left = evaluate(code, node.child_by_field_name("left")?, instead)?;
            let right = evaluate(code, node.child_by_field_name("right")?, instead)?;
            match code.of(node.child_by_field_name("operator")?) {
                "+" => left.checked_add(right),
                "-" => left.checked_sub(right),
                "*" => left.checked_mul(right),
                "/" if instead.is_some() && left.checked_rem(right)? != 0 => None,
                "/" => left.checked_div(right),
                "%" => left.checked_rem(right),
                "<<" => left.checked_shl(u32::try_from(right).ok()?),
                ">>" => left.checked_shr(u32::try_from(right).ok()?),
                _ => None,
            }
        }
        _ => None,
    }
}
