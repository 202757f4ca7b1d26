//! Writes the constants of single-precision arithmetic in single precision.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::code::{Code, Kernel, of_kind};
use crate::catalog::floats;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling};

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let literals: Vec<Node<'_>> =
        of_kind(kernel.body, "number_literal").into_iter().filter(|literal| promotes(code, kernel, *literal)).collect();
    let first = *literals.first().ok_or(Refusal::NotHere)?;
    let edits = literals.iter().map(|literal| Edit::insert(literal.end_byte(), "f")).collect();
    let report = format!(
        "Gave {} constants of `{}` the suffix `f`; sums and products with them round to single precision.",
        literals.len(),
        kernel.name
    );
    let offer = Offer::one(place, "", first, Change::new(edits, report));
    Ok(offer.word("literal", code.of(first)).word("count", literals.len().to_string()))
}

/// Whether a literal makes an operation on floats one on doubles, and the float of the same value will do.
///
/// A comparison must not change its outcome, so its literal must be the same number in single precision.
fn promotes(code: &Code, kernel: &Kernel<'_>, literal: Node<'_>) -> bool {
    let text = code.of(literal);
    let Some(parent) = literal.parent().filter(|_| floats::is_double_literal(text)) else { return false };
    if parent.kind() != "binary_expression" {
        return false;
    }
    let part = |name: &str| parent.child_by_field_name(name);
    let (Some(left), Some(right), Some(operator)) = (part("left"), part("right"), part("operator")) else {
        return false;
    };
    let other = if left == literal { right } else { left };
    let fits = match code.of(operator) {
        "+" | "-" | "*" | "/" => {
            text.parse::<f64>().is_ok_and(|value| (value as f32).is_finite() && (value == 0.0 || value as f32 != 0.0))
        }
        "<" | ">" | "<=" | ">=" | "==" | "!=" => {
            text.parse::<f64>().is_ok_and(|value| f64::from(value as f32) == value)
        }
        _ => false,
    };
    fits && floats::is_single(code, kernel, other) && floats::holds_float(code, kernel, other)
}
