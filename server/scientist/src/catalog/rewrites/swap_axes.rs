//! Exchanges the roles of x and y in a kernel whose neighbouring threads reach elements far apart.

use std::ops::Range;

use hip_syntax::Edit;
use tree_sitter::Node;

use crate::catalog::block::Extents;
use crate::catalog::code::{Code, Kernel, Launch, named_children, of_kind};
use crate::catalog::edit::replace;
use crate::catalog::numbering;
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};
use crate::catalog::threads::Spread;

const NUMBERS: [&str; 4] = ["threadIdx", "blockIdx", "blockDim", "gridDim"];

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, kernel) = (place.code, &place.kernel);
    let [along_x, along_y] = [contiguous(code, kernel, "threadIdx.x"), contiguous(code, kernel, "threadIdx.y")];
    if along_y <= along_x {
        return Err(Refusal::NotHere);
    }
    numbering::check(code, kernel)?;
    require(
        !code.of(kernel.body).contains("__shared__"),
        "it exchanges values in LDS, which would have to be turned too",
    )?;
    let launches = code.launches_of(kernel.name);
    require(
        !launches.is_empty(),
        "it is not known to be launched by this file alone, so its grid cannot be turned with it",
    )?;

    let mut edits: Vec<Edit> =
        of_kind(kernel.body, "field_expression").into_iter().filter_map(|n| swapped(code, n)).collect();
    for launch in &launches {
        edits.extend(turned(code, launch)?);
    }
    let report = format!("x and y of `{}` have changed roles, in the kernel and in its launches.", kernel.name);
    let offer = Offer::one(place, "", kernel.node, Change::new(edits, report));
    Ok(offer.word("good", along_y.to_string()).word("now", along_x.to_string()))
}

fn swapped(code: &Code, node: Node<'_>) -> Option<Edit> {
    let (of, field) = (node.child_by_field_name("argument")?, node.child_by_field_name("field")?);
    let other = match code.of(field) {
        "x" => "y",
        "y" => "x",
        _ => return None,
    };
    NUMBERS.contains(&code.of(of)).then(|| replace(field, other))
}

/// Number of accesses to global memory in which neighbours along an axis reach neighbouring elements.
fn contiguous(code: &Code, kernel: &Kernel<'_>, seed: &str) -> usize {
    let spread = Spread::of(code, kernel, &[seed], &[]);
    let params = code.params(kernel);
    let is_global =
        |node: &Node<'_>| params.iter().any(|p| p.is_pointer && code.base(*node).is_some_and(|base| base == p.name));
    let accesses = of_kind(kernel.body, "subscript_expression");
    accesses.into_iter().filter(|node| is_global(node) && spread.adjoins(code, *node)).count()
}

/// The launch with x and y of grid and block exchanged.
fn turned(code: &Code, launch: &Launch<'_>) -> Result<Vec<Edit>, Refusal> {
    let (grid, block) = (Extents::of_grid(code, launch), Extents::of_block(code, launch));
    let both = grid.zip(block).filter(|(grid, block)| grid.is_dim3 && block.is_dim3);
    let Some((grid, block)) = both else {
        return Err(Refusal::RuledOut("a launch takes its grid or block from where it cannot be followed".into()));
    };
    Ok([(launch.grid, grid), (launch.block, block)]
        .into_iter()
        .flat_map(|(node, extents)| turn(code, node, &extents))
        .collect())
}

fn turn(code: &Code, node: Node<'_>, extents: &Extents<'_>) -> Vec<Edit> {
    let same = matches!(extents.written.as_slice(), [x, y, ..] if code.of(*x) == code.of(*y));
    if same {
        return Vec::new();
    }
    let direct = node.child_by_field_name("arguments").or(node.child_by_field_name("value")).map(named_children);
    match direct.as_deref() {
        Some([x, y, ..]) => vec![replace(*x, code.of(*y)), replace(*y, code.of(*x))],
        Some([x]) => vec![Edit { range: at(x.start_byte()), text: "1, ".into() }],
        _ => {
            let name = code.of(node);
            vec![replace(node, format!("dim3({name}.y, {name}.x, {name}.z)"))]
        }
    }
}

fn at(byte: usize) -> Range<usize> {
    byte..byte
}
