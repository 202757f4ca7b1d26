//! Lets each thread of an elementwise kernel do four neighbouring elements, loaded and stored as one vector.
//!
//! It holds for any grid: a thread does those elements that the grid reached before, and no others, so that neither the
//! launch nor the problem's size has to change with it. Elements that do not fill a vector, and pointers that are not
//! aligned to one, are done one by one as before.

use std::collections::BTreeMap;

use hip_syntax::Edit;
use hip_syntax::device_functions::is_atomic;
use tree_sitter::Node;

use crate::catalog::code::{Code, Kernel, Param, around, everything, inside, of_kind};
use crate::catalog::edit::{moved, replace, within};
use crate::catalog::elementwise::{Elementwise, leaves};
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};
use crate::catalog::stretches::BARRIER;

/// Vector types of 16 bytes, with the number of their elements.
const VECTORS: [(&str, &str, usize); 6] = [
    ("float", "float4", 4),
    ("int", "int4", 4),
    ("int32_t", "int4", 4),
    ("unsigned int", "uint4", 4),
    ("unsigned", "uint4", 4),
    ("double", "double2", 2),
];
const PARTS: [&str; 4] = ["x", "y", "z", "w"];
/// Bytes of a vector.
const ALIGNMENT: usize = 16;

/// A pointer of which the work uses the thread's own element alone.
struct Vector<'c> {
    param: Param<'c>,
    kind: &'static str,
    is_written: bool,
    /// Whether its elements must be loaded first.
    is_read: bool,
}

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let found = Elementwise::read(code, kernel).ok_or(Refusal::NotHere)?;
    let (vectors, width) = vectors(code, kernel, &found)?;
    check_work(code, kernel, &found, &vectors)?;
    let names = ["in_grid", "first_thread", "addresses", "item"].map(str::to_owned).into_iter();
    let mut names = names.chain(vectors.iter().map(|vector| vector_name(vector.param.name, width)));
    if let Some(taken) = names.find(|name| code.mentions(kernel.node, name)) {
        return ruled_out(format!("the name `{taken}` is taken"));
    }
    let edits = vec![replace(kernel.body, body(code, kernel, &found, &vectors, width))];
    let listed: Vec<&str> = vectors.iter().map(|vector| vector.param.name).collect();
    let report = format!(
        "Each thread of `{}` does {width} neighbouring elements and moves those of {} as vectors of {ALIGNMENT} bytes; the \
         grid may stay, for threads beyond 1/{width} of it have nothing left to do.",
        kernel.name,
        listed.join(", ")
    );
    let offer = Offer::one(place, "", kernel.node, Change::new(edits, report));
    Ok(offer.word("width", width.to_string()).word("arrays", listed.join("`, `")))
}

fn vector_name(name: &str, width: usize) -> String {
    format!("{name}_{width}")
}

/// The pointers that can be moved as vectors, all of the same number of elements.
fn vectors<'c>(
    code: &'c Code,
    kernel: &Kernel<'c>,
    found: &Elementwise<'c>,
) -> Result<(Vec<Vector<'c>>, usize), Refusal> {
    let writes = code.writes(kernel.body);
    let mut by_width: BTreeMap<usize, Vec<Vector<'c>>> = BTreeMap::new();
    for param in code.params(kernel).into_iter().filter(|param| param.is_pointer) {
        let uses = code.uses(kernel.body, param.name);
        let own = |used: &Node<'c>| {
            let element = used.parent().filter(|element| found.is_own(code, *element));
            let outer = element.and_then(|element| element.parent());
            outer.is_some_and(|outer| !["pointer_expression", "sizeof_expression"].contains(&outer.kind()))
        };
        if uses.is_empty() || !uses.iter().all(own) {
            continue;
        }
        // `T* const* p` and `volatile T* p` are something else.
        let is_plain =
            of_kind(param.node, "pointer_declarator").len() == 1 && !code.of(param.node).contains("volatile");
        let element = code.type_of(param.node);
        let known = VECTORS.iter().find(|(name, ..)| *name == element).filter(|_| is_plain);
        let Some((_, kind, width)) = known else { continue };
        let is_written = writes.iter().any(|write| write.name == param.name);
        let is_read = !is_written || is_read_first(code, found, &param, &uses);
        by_width.entry(*width).or_default().push(Vector { param, kind, is_written, is_read });
    }
    match by_width.len() {
        0 => Err(Refusal::NotHere),
        1 => by_width.into_iter().map(|(width, vectors)| (vectors, width)).next().ok_or(Refusal::NotHere),
        _ => ruled_out("its arrays have elements of different sizes"),
    }
}

/// Whether an array that is written may have to be read before: unless the first thing done to it is a plain assignment
/// that is always done.
fn is_read_first(code: &Code, found: &Elementwise<'_>, param: &Param<'_>, uses: &[Node<'_>]) -> bool {
    let is_set = |used: &Node<'_>| {
        let element = used.parent()?;
        let assignment = element.parent().filter(|node| node.kind() == "assignment_expression")?;
        let statement = assignment.parent().filter(|node| node.kind() == "expression_statement")?;
        let is_target = assignment.child_by_field_name("left") == Some(element);
        let operator = assignment.child_by_field_name("operator")?;
        let reads_itself = code.uses(assignment, param.name).len() > 1;
        Some(is_target && code.of(operator) == "=" && !reads_itself && found.work.contains(&statement))
    };
    uses.first().is_none_or(|used| is_set(used) != Some(true))
}

fn check_work(
    code: &Code,
    kernel: &Kernel<'_>,
    found: &Elementwise<'_>,
    vectors: &[Vector<'_>],
) -> Result<(), Refusal> {
    numbering::check(code, kernel)?;
    let cooperates = code.calls(kernel.body, BARRIER) || code.of(kernel.body).contains("__shared__");
    let by_array = !of_kind(kernel.node, "abstract_array_declarator").is_empty()
        || code.params(kernel).iter().any(|param| !of_kind(param.node, "array_declarator").is_empty());
    if cooperates || by_array {
        return Err(Refusal::NotHere);
    }
    let words = ["threadIdx", "blockIdx", "blockDim", "gridDim"];
    let work = || found.work.iter().copied();
    let asks = work().any(|statement| words.iter().any(|word| code.mentions(statement, word)));
    require(!asks, "its work asks for more than the element's number")?;
    require(!work().any(leaves), "it leaves early, or holds code that cannot be followed")?;
    let called = code.all_called(kernel.body);
    require(!called.iter().any(|name| is_atomic(name)), "it uses atomics, which vectors cannot be used for")?;
    let macros = work().any(|node| everything(node).any(|part| part.kind().starts_with("preproc")));
    require(!macros, "the kernel's code depends on preprocessor lines")?;
    let index = found.index.name;
    require(!code.writes(kernel.body).iter().any(|write| write.name == index), format!("`{index}` is changed"))?;
    let bound = found.bound;
    let depends = code.mentions(bound, index)
        || ["subscript_expression", "call_expression"].iter().any(|kind| !of_kind(bound, kind).is_empty());
    require(!depends, "the number of elements is not the same for all threads")?;
    let is_vector = |name: &str| vectors.iter().any(|vector| vector.param.name == name);
    let params = code.params(kernel);
    let pointers = || params.iter().filter(|param| param.is_pointer);
    let locals = code.locals(kernel.body);
    let mut writes = code.writes(kernel.body);
    writes.retain(|write| !locals.iter().any(|local| local.name == write.name && local.shape.kind() == "identifier"));
    if let Some(write) = writes.iter().find(|write| !is_vector(write.name)) {
        return ruled_out(format!("`{}` is written at other places than the thread's own", write.name));
    }
    let Some(first) = writes.first() else { return Err(Refusal::NotHere) };
    let is_element = |used: &Node<'_>| {
        used.parent().is_some_and(|element| {
            element.kind() == "subscript_expression" && element.child_by_field_name("argument") == Some(*used)
        })
    };
    let others = || pointers().filter(|param| !is_vector(param.name));
    if let Some(param) = others().find(|param| !code.uses(kernel.body, param.name).iter().all(is_element)) {
        return ruled_out(format!("`{}` is handed on, and may be written", param.name));
    }
    let hidden =
        locals.iter().any(|local| is_vector(local.name) || (local.name == index && found.is_work(local.identifier)));
    require(!hidden, "a local name hides an array or the index")?;
    // Elements are loaded before the first of them is stored; a pointer that overlaps another would see the difference.
    let are_apart = pointers().all(|param| param.is_restrict);
    let late = |used: Node<'_>| used.start_byte() > first.node.end_byte() && !inside(used, first.node);
    let others = pointers().filter(|param| param.name != first.name);
    let seen = others.flat_map(|param| code.uses(kernel.body, param.name)).any(late);
    require(are_apart || !seen, "an array is used after another was written, and the two may overlap")
}

/// The kernel's new body.
fn body(code: &Code, kernel: &Kernel<'_>, found: &Elementwise<'_>, vectors: &[Vector<'_>], width: usize) -> String {
    let outer = code.indent(kernel.node.start_byte());
    let index = found.index;
    let declared = |value: &str| {
        let edits = index.value.map(|old| replace(old, value)).into_iter().collect::<Vec<_>>();
        within(code.text(), index.declaration.byte_range(), &edits)
    };
    let number = index.value.map_or("", |value| code.of(value));
    let last = width - 1;
    let mut lines = vec![
        "{".to_owned(),
        "    const unsigned int in_grid = gridDim.x * blockDim.x;".to_owned(),
        format!("    const unsigned int first_thread = {number};"),
        format!("    if (first_thread > (in_grid - 1) / {width}) return;"),
    ];
    let addresses: Vec<String> = vectors.iter().map(|vector| format!("(size_t){}", vector.param.name)).collect();
    lines.push(format!("    const size_t addresses = {};", addresses.join(" | ")));
    lines.push("    {".to_owned());
    lines.push(format!("        {}", declared(&format!("first_thread * {width}"))));
    let bound = match found.bound.child_count() {
        0 => code.of(found.bound).to_owned(),
        _ => format!("({})", code.of(found.bound)),
    };
    lines.push(format!(
        "        if (addresses % {ALIGNMENT} == 0 && first_thread * {width} + {last} < in_grid && {0} + {last} < {bound}) {{",
        index.name
    ));
    let indent = "            ";
    let deepest = format!("{outer}{indent}    ");
    for vector in vectors {
        let (name, local) = (vector.param.name, vector_name(vector.param.name, width));
        let constant = if vector.is_written { "" } else { "const " };
        let value = match vector.is_read {
            true => format!(" = *(const {}*)({name} + {})", vector.kind, index.name),
            false => String::new(),
        };
        lines.push(format!("{indent}{constant}{} {local}{value};", vector.kind));
    }
    for (number, part) in PARTS.iter().enumerate().take(width) {
        let work =
            found.work.iter().map(|statement| one(code, found, *statement, vectors, width, (number, part, &deepest)));
        let work: Vec<String> = work.collect();
        let is_plain = matches!(found.work.as_slice(), [only] if only.kind() == "expression_statement");
        lines.push(match is_plain {
            true => format!("{indent}{}", work.concat()),
            false => format!(
                "{indent}{{\n{outer}{indent}    {}\n{outer}{indent}}}",
                work.join(&format!("\n{outer}{indent}    "))
            ),
        });
    }
    for vector in vectors.iter().filter(|vector| vector.is_written) {
        let (name, local) = (vector.param.name, vector_name(vector.param.name, width));
        lines.push(format!("{indent}*({}*)({name} + {}) = {local};", vector.kind, index.name));
    }
    lines.push(format!("{indent}return;"));
    lines.extend(["        }".to_owned(), "    }".to_owned()]);
    lines.push(format!(
        "    for (unsigned int item = 0; item < {width} && first_thread * {width} + item < in_grid; ++item) {{"
    ));
    lines.push(format!("        {}", declared(&format!("first_thread * {width} + item"))));
    lines.push(format!("        if ({} >= {bound}) break;", index.name));
    let in_turn = |statement: &Node<'_>| {
        let was = code.indent(statement.start_byte());
        format!("        {}", moved(code.of(*statement), was, &format!("{outer}        ")))
    };
    lines.extend(found.work.iter().map(in_turn));
    lines.extend(["    }".to_owned(), "}".to_owned()]);
    lines.join(&format!("\n{outer}"))
}

/// A statement of the work for one element of the vectors.
fn one(
    code: &Code,
    found: &Elementwise<'_>,
    statement: Node<'_>,
    vectors: &[Vector<'_>],
    width: usize,
    (number, part, indent): (usize, &str, &str),
) -> String {
    let mut edits: Vec<Edit> = Vec::new();
    for used in code.uses(statement, found.index.name) {
        let element = around(used, &["subscript_expression"]).filter(|element| found.is_own(code, *element));
        let array = element.and_then(|element| element.child_by_field_name("argument"));
        let vector = array.and_then(|array| vectors.iter().find(|vector| vector.param.name == code.of(array)));
        match (element, vector) {
            (Some(element), Some(vector)) => {
                edits.push(replace(element, format!("{}.{part}", vector_name(vector.param.name, width))));
            }
            _ if number > 0 => edits.push(replace(used, format!("({} + {number})", found.index.name))),
            _ => {}
        }
    }
    let text = within(code.text(), statement.byte_range(), &edits);
    moved(&text, code.indent(statement.start_byte()), indent)
}
