//! Takes the exponential from the hardware's power of two.

use crate::catalog::code::of_kind;
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling};

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let is_defined = !code.functions_named("expf").is_empty() || !code.constants_named("expf").is_empty();
    let calls =
        of_kind(kernel.body, "call_expression").into_iter().filter_map(|call| call.child_by_field_name("function"));
    let exact: Vec<_> = calls.filter(|function| code.of(*function) == "expf").collect();
    let first = *exact.first().filter(|_| !is_defined).ok_or(Refusal::NotHere)?;
    let edits = exact.iter().map(|function| replace(*function, "__expf")).collect();
    let report = format!(
        "{} of `expf` became `__expf`, whose result for x is off by up to about |x| * 6e-8 of itself.",
        if exact.len() == 1 { "A call".to_owned() } else { format!("{} calls", exact.len()) }
    );
    Ok(Offer::one(place, "", first, Change::new(edits, report)))
}
