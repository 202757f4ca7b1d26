//! Stores each row of a two-dimensional array in LDS in another order, so that a column lies in different banks.

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::value_everywhere;
use crate::catalog::code::{Code, of_kind};
use crate::catalog::edit::replace;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};

use super::lds_padding::{BANKS, element_bytes, is_indexed_twice, runs_down_columns};

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let (array, columns) = (place.capture("array")?, place.capture("columns")?);
    let name = code.of(array);
    let Some(width) = value_everywhere(code, kernel, columns) else {
        return Err(Refusal::RuledOut(format!("the size of `{name}` is not known from the text")));
    };
    let bytes = element_bytes(code.type_of(place.capture("declaration")?));
    if width < 16 || width & (width - 1) != 0 || width * bytes / 4 % (BANKS / 2) != 0 {
        return Err(Refusal::NotHere);
    }
    require(is_indexed_twice(code, kernel, name), format!("`{name}` is used as a whole or by a pointer into it"))?;
    require(runs_down_columns(code, kernel, name), format!("no access to `{name}` runs down a column"))?;
    let width = match columns.kind() {
        "identifier" | "number_literal" => code.of(columns).to_owned(),
        _ => format!("({})", code.of(columns)),
    };
    let edits: Result<Vec<Edit>, Refusal> = elements(code, place, name)
        .into_iter()
        .map(|(row, column)| swizzled(code, name, row, column, &width))
        .collect();
    let report = format!("The columns of `{name}` are permuted in each row; it needs no more LDS.");
    Ok(Offer::one(place, name, array, Change::new(edits?, report)))
}

/// Row and column of each element that is used.
fn elements<'c>(code: &'c Code, place: &Place<'c>, name: &str) -> Vec<(Node<'c>, Node<'c>)> {
    let index = |node: Node<'c>| node.child_by_field_name("indices").and_then(|list| list.named_child(0));
    let of_row = |row: Node<'c>| {
        let is_row = row.child_by_field_name("argument").is_some_and(|argument| code.of(argument) == name);
        let element = row.parent().filter(|element| element.kind() == "subscript_expression" && is_row)?;
        index(row).zip(index(element))
    };
    of_kind(place.kernel.body, "subscript_expression").into_iter().filter_map(of_row).collect()
}

fn swizzled(code: &Code, name: &str, row: Node<'_>, column: Node<'_>, width: &str) -> Result<Edit, Refusal> {
    let changes = ["update_expression", "assignment_expression", "call_expression"];
    let is_pure = |node: Node<'_>| changes.iter().all(|kind| of_kind(node, kind).is_empty());
    require(
        is_pure(row) && is_pure(column),
        format!("an index of `{name}` is the work of a function or changes something"),
    )?;
    let is_done = code.of(column).contains('^');
    require(
        !is_done && !code.mentions(row, name) && !code.mentions(column, name),
        format!("an index of `{name}` is permuted"),
    )?;
    Ok(replace(column, format!("({}) ^ ({}) % {width}", code.of(column), code.of(row))))
}
