//! Lets a block do the work of several neighbouring ones, one after the other.
//!
//! It holds for any grid: block `b` does what the blocks `4b` to `4b + 3` did as far as the grid reaches, and those beyond
//! a quarter of the grid have nothing left to do. The launch stays as it is, whoever launches.

use hip_syntax::Edit;
use hip_syntax::device_functions::is_atomic;
use tree_sitter::Node;

use crate::catalog::code::{Code, Kernel, around, inside, of_kind};
use crate::catalog::edit::{replace, within};
use crate::catalog::elementwise::is_number_in_grid;
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require, ruled_out};
use crate::catalog::stretches::BARRIER;

/// What the number of a block in turn is called.
const BLOCK: &str = "block_number";
const SETTING: &str = "blocks in turn";

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let uses_barrier = code.calls(kernel.body, BARRIER)
        || code.of(kernel.body).contains("__shared__")
        || code.calls(kernel.body, "HIP_DYNAMIC_SHARED");
    let numbered = of_kind(kernel.body, "declaration").into_iter().flat_map(|declaration| code.locals(declaration));
    let mut numbered = numbered.filter(|local| local.value.is_some_and(|value| is_number_in_grid(code, value)));
    let is_taken = [BLOCK, "item"].iter().any(|name| code.mentions(kernel.node, name));
    // A grid-stride loop does several elements a thread already.
    let strides = code.mentions(kernel.body, "gridDim");
    if uses_barrier || strides || numbered.next().is_none() || is_taken {
        return Err(Refusal::NotHere);
    }
    check_kernel(code, kernel)?;
    let changes: Vec<Change> = place.entry.search.iter().map(|factor| change(code, kernel, *factor)).collect();
    Ok(Offer::several(place, "", kernel.node, changes).from(SETTING, 1))
}

fn check_kernel(code: &Code, kernel: &Kernel<'_>) -> Result<(), Refusal> {
    numbering::check(code, kernel)?;
    let others = ["goto_statement", "lambda_expression", "asm_statement", "gnu_asm_expression", "labeled_statement"];
    let is_followed = others.iter().all(|kind| of_kind(kernel.body, kind).is_empty());
    require(is_followed, "it holds code that cannot be followed")?;
    let called = code.all_called(kernel.body);
    require(!called.iter().any(|name| name.contains("clock")), "it reads a clock")?;
    // A parameter that one block's work has changed would be changed for the next one.
    let params = code.params(kernel);
    let writes = code.writes(kernel.body);
    let mut changed = writes.iter().filter(|write| write.place.kind() == "identifier");
    let changed = changed.find(|write| params.iter().any(|param| param.name == write.name));
    require(changed.is_none(), "it changes a parameter, which the next block's work would see")?;
    // What waits for another thread must run beside it.
    let loops = ["while_statement", "do_statement", "for_statement"].iter().flat_map(|kind| of_kind(kernel.body, kind));
    let waits = loops.into_iter().any(|node| code.called(node).iter().any(|name| is_atomic(name)));
    require(!waits, "a loop with atomics in it may wait for another block")?;
    let by_preprocessor = of_kind(kernel.body, "preproc_if").len() + of_kind(kernel.body, "preproc_ifdef").len();
    require(by_preprocessor == 0, "the kernel's code depends on preprocessor lines")?;
    let mut deep = of_kind(kernel.body, "return_statement").into_iter().filter(|node| is_in_loop(*node, kernel.body));
    match deep.next() {
        Some(_) => ruled_out("it leaves the kernel from within a loop"),
        None => Ok(()),
    }
}

fn is_in_loop(node: Node<'_>, body: Node<'_>) -> bool {
    let loops = ["for_statement", "while_statement", "do_statement", "switch_statement", "for_range_loop"];
    around(node, &loops).is_some_and(|outer| inside(outer, body))
}

fn change(code: &Code, kernel: &Kernel<'_>, factor: i64) -> Change {
    let outer = code.indent(kernel.node.start_byte());
    let numbers = of_kind(kernel.body, "field_expression").into_iter().filter(|node| code.of(*node) == "blockIdx.x");
    let mut edits: Vec<Edit> = numbers.map(|node| replace(node, BLOCK)).collect();
    edits.extend(of_kind(kernel.body, "return_statement").into_iter().map(|node| replace(node, "continue;")));
    let body = kernel.body.byte_range();
    let inner = within(code.text(), body.start + 1..body.end - 1, &edits);
    let lines: Vec<String> = inner.trim_matches('\n').trim_end().lines().map(indented).collect();
    let text = [
        "{".to_owned(),
        format!("{outer}    if (blockIdx.x > (gridDim.x - 1) / {factor}) return;"),
        format!("{outer}    for (unsigned int item = 0; item < {factor}; ++item) {{"),
        format!("{outer}        const unsigned int {BLOCK} = blockIdx.x * {factor} + item;"),
        format!("{outer}        if ({BLOCK} >= gridDim.x) break;"),
        lines.join("\n"),
        format!("{outer}    }}"),
        format!("{outer}}}"),
    ];
    let report = format!(
        "A block of `{}` does the work of {factor}; the grid may stay, for blocks beyond 1/{factor} of it have nothing left \
         to do.",
        kernel.name
    );
    Change::new(vec![replace(kernel.body, text.join("\n"))], report).to(SETTING, factor)
}

fn indented(line: &str) -> String {
    // Preprocessor lines and empty ones stay where they are.
    if line.trim().is_empty() || line.starts_with('#') { line.to_owned() } else { format!("    {line}") }
}
