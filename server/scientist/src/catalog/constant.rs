//! Integer constants of a file: where they are defined, what they are worth, and where they are used.

use std::ops::Range;

use hip_syntax::ConstantKind;
use tree_sitter::Node;

use super::block::extent;
use super::code::{Code, around};

/// A named integer that the file defines exactly once and never changes.
#[derive(Clone)]
pub(crate) struct Constant<'c> {
    pub(crate) name: &'c str,
    pub(crate) value: i64,
    /// Whether it holds for the whole file.
    pub(crate) is_global: bool,
    /// Where its value stands.
    pub(crate) range: Range<usize>,
}

/// Finds what a name stands for at a place: a `#define`, or a variable with an integer as its only value.
///
/// A name that is defined twice (`#ifdef`), assigned, or a template's parameter is no constant.
pub(crate) fn find<'c>(code: &'c Code, name: &str, at: Node<'c>) -> Option<Constant<'c>> {
    let here = |scope: &Option<Range<usize>>| scope.as_ref().is_none_or(|scope| scope.contains(&at.start_byte()));
    let named = code.constants_named(name).into_iter().filter(|constant| here(&constant.scope));
    let width = |constant: &hip_syntax::Constant| constant.scope.as_ref().map_or(usize::MAX, |scope| scope.len());
    let all: Vec<_> = named.collect();
    let Some(narrowest) = all.iter().map(|constant| width(constant)).min() else {
        return around(at, &["function_definition"]).and_then(|function| in_function(code, name, function));
    };
    let nearest: Vec<_> = all.into_iter().filter(|constant| width(constant) == narrowest).collect();
    let [constant] = nearest.as_slice() else { return None };
    let is_name = matches!(constant.kind, ConstantKind::Variable | ConstantKind::Define);
    let is_undefined = constant.kind == ConstantKind::Define && code.is_undefined(name);
    (is_name && constant.is_literal && !is_undefined).then(|| Constant {
        name: &constant.name,
        value: constant.value,
        is_global: constant.scope.is_none(),
        range: constant.value_range.clone(),
    })
}

/// A variable of a function that is not declared constant and yet never changed.
fn in_function<'c>(code: &'c Code, name: &str, function: Node<'c>) -> Option<Constant<'c>> {
    let local = code.local(function, name)?;
    let changed = code.writes(function).iter().any(|write| write.name == name);
    let value = local.value.filter(|_| !changed)?;
    Some(Constant { name: local.name, value: literal(code.of(value))?, is_global: false, range: value.byte_range() })
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
        "field_expression" => match extent(code, node)? {
            Some(written) => evaluate(code, written, instead),
            None => Some(1),
        },
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
