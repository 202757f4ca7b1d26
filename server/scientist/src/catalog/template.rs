//! Rewrites that are data: texts filled with captures, under named conditions.

use hip_syntax::Edit;
use tree_sitter::Node;

use super::code::{around, of_kind, statements};
use super::edit::replace;
use super::entry::{Template, Where};
use super::loops::ForLoop;
use super::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    for condition in &place.entry.conditions {
        check(place, condition)?;
    }
    let values: Vec<Option<i64>> =
        if place.entry.search.is_empty() { vec![None] } else { place.entry.search.iter().copied().map(Some).collect() };
    let changes = values.into_iter().map(|value| change(place, value)).collect::<Result<_, _>>()?;
    let first = place.entry.edits.first().ok_or(Refusal::NotHere)?;
    let offer = Offer::several(place, &site(place), place.capture(&first.capture)?, changes);
    Ok(of_loops(place).into_iter().fold(offer, |offer, (name, word)| offer.word(&name, word)))
}

/// The site's text; a `for` loop stands in it with its variable and its number among the loops over that variable.
fn site(place: &Place<'_>) -> String {
    place.fill(&place.entry.site, &of_loops(place)).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_loops(place: &Place<'_>) -> Vec<(String, String)> {
    let Ok(node) = place.capture("loop") else { return Vec::new() };
    let name = ForLoop::read(place.code, node).map(|found| found.site(place.code, place.kernel.body));
    name.map(|name| ("loop".to_owned(), name)).into_iter().collect()
}

fn change(place: &Place<'_>, value: Option<i64>) -> Result<Change, Refusal> {
    let mut words = of_loops(place);
    words.extend(value.map(|value| ("value".to_owned(), value.to_string())));
    let edits = place.entry.edits.iter().map(|edit| fill(place, edit, &words)).collect::<Result<_, _>>()?;
    let change = Change::new(edits, place.fill(&place.entry.rubric, &words));
    Ok(match value {
        Some(value) => change.to(place.fill(&place.entry.constant, &words), value),
        None => change,
    })
}

fn fill(place: &Place<'_>, template: &Template, words: &[(String, String)]) -> Result<Edit, Refusal> {
    let node = place.capture(&template.capture)?;
    let text = place.fill(&template.text, words);
    let indent = place.code.indent(node.start_byte());
    Ok(match template.place {
        Where::Replace => replace(node, text),
        Where::Before => Edit::insert(node.start_byte(), format!("{text}\n{indent}")),
        Where::Remove => remove(place, node),
    })
}

fn remove(place: &Place<'_>, node: Node<'_>) -> Edit {
    let text = place.code.text();
    let start = text[..node.start_byte()].rfind('\n').map_or(0, |at| at + 1);
    let end = text[node.end_byte()..].find('\n').map_or(text.len(), |at| node.end_byte() + at + 1);
    let alone = text[start..node.start_byte()].trim().is_empty() && text[node.end_byte()..end].trim().is_empty();
    Edit { range: if alone { start..end } else { node.byte_range() }, text: String::new() }
}

/// Checks `CONDITION CAPTURE`.
fn check(place: &Place<'_>, condition: &str) -> Result<(), Refusal> {
    let (condition, capture) = condition.split_once(' ').ok_or(Refusal::NotHere)?;
    let node = place.capture(capture)?;
    let code = place.code;
    match condition {
        "innermost" => {
            let body = node.child_by_field_name("body").ok_or(Refusal::NotHere)?;
            let is_innermost = ["for_statement", "while_statement"].iter().all(|kind| of_kind(body, kind).is_empty());
            if is_innermost { Ok(()) } else { Err(Refusal::NotHere) }
        }
        "counted" => ForLoop::read(code, node).map(|_| ()).ok_or(Refusal::NotHere),
        "no-pragma" => match node.prev_named_sibling() {
            Some(before) if before.kind() == "preproc_call" => Err(Refusal::NotHere),
            _ => Ok(()),
        },
        "no-barrier" => require(
            !code.calls(node, "__syncthreads"),
            "a loop with a barrier in it gains nothing from unrolling alone",
        ),
        "worth-unrolling" => {
            let body = node.child_by_field_name("body").ok_or(Refusal::NotHere)?;
            require(statements(body).len() <= 8, "the loop's body is too long to unroll")
        }
        "float-variable" => {
            let name = code.of(node);
            let function = around(node, &["function_definition"]).ok_or(Refusal::NotHere)?;
            let local = code.local(function, name).map(|local| (code.type_of(local.declaration), local.shape.kind()));
            let param = code.params(&place.kernel).into_iter().find(|param| param.name == name && !param.is_pointer);
            let is_float =
                local == Some(("float", "identifier")) || param.is_some_and(|p| code.type_of(p.node) == "float");
            require(is_float, format!("`{name}` is not a plain float variable"))
        }
        other => ruled_out(format!("the condition `{other}` is not known")),
    }
}
