//! Searches the constant that sets the size of tiles in LDS and of the block that fills them.

use crate::catalog::block::Extents;
use crate::catalog::code::{Code, Kernel, around, of_kind};
use crate::catalog::constant;
use crate::catalog::knob::{Knob, is_guarded};
use crate::catalog::place::{Change, Offer, Place, Refusal, Ruling, require};

use super::lds_padding::{LDS_BYTES, element_bytes};

pub(super) fn rewrite(place: &Place<'_>) -> Ruling {
    let (code, name) = (place.code, place.text("size")?);
    let constant = constant::find(code, name, place.capture("size")?).filter(|constant| constant.is_global);
    let knob = Knob::of_constant(&constant.ok_or(Refusal::NotHere)?);
    let verdicts = code.once(&knob.question("tile size"), || verdicts(code, &knob, &place.entry.search))?;
    let searched = place.entry.search.iter().copied().zip(verdicts).filter(|(value, _)| *value != knob.value);
    let (fitting, refused): (Vec<_>, Vec<_>) = searched.partition(|(_, verdict)| *verdict == FITS);
    require(!fitting.is_empty(), format!("no other value of `{name}` is known to fit"))?;
    let change = |(value, _)| {
        Change::new(knob.set(code, value), format!("Set `{name}` from {} to {value}.", knob.value)).to(name, value)
    };
    let offer = Offer::several(place, name, place.capture("size")?, fitting.into_iter().map(change).collect());
    let left_out = refused.into_iter().map(|(value, verdict)| (value, WHY_NOT[verdict as usize].to_owned()));
    let offer = offer.from(name, knob.value).without(name, left_out);
    Ok(offer.word("constant", name).word("present", knob.value.to_string()))
}

/// The verdict on a value that is known to be right and to fit.
const FITS: i64 = 0;
/// What the other verdicts say, by their numbers.
const WHY_NOT: [&str; 4] = [
    "fits",
    "does not make a block of 32 to 1024 threads",
    "does not fit LDS",
    "is larger, and the problem may not be a multiple of it",
];

/// The verdict on each value of `search`.
fn verdicts(code: &Code, knob: &Knob<'_>, search: &[i64]) -> Result<Vec<i64>, Refusal> {
    let users = knob.users(code);
    let mut sets_block = false;
    for kernel in &users {
        sets_block |= check_user(code, kernel, knob)?;
    }
    if !sets_block {
        return Err(Refusal::NotHere);
    }
    let is_general = knob.rounds_up(code) && users.iter().all(|kernel| is_guarded(code, kernel));
    let verdict = |value: &i64| {
        let of_users = users.iter().map(|kernel| fits(code, kernel, &knob.label, *value)).max().unwrap_or(FITS);
        let is_safe = is_general || knob.value % value == 0;
        if of_users == FITS && !is_safe { 3 } else { of_users }
    };
    Ok(search.iter().map(verdict).collect())
}

/// Checks that a kernel and its launches follow the constant, and says whether it sets the block.
fn check_user(code: &Code, kernel: &Kernel<'_>, knob: &Knob<'_>) -> Result<bool, Refusal> {
    knob.check_numbers(code, kernel.body)?;
    require(knob.sizes_arrays(code, kernel.node), format!("an array in LDS does not follow `{}`", knob.label))?;
    let launches = code.launches_of(kernel.name);
    require(!launches.is_empty(), "a kernel that uses it is not known to be launched by this file alone")?;
    let mut sets_block = false;
    for launch in &launches {
        let block = Extents::of_block(code, launch).filter(|block| block.values(code).is_some());
        let Some(block) = block else {
            return Err(Refusal::RuledOut("the block of a launch is not made of constants".into()));
        };
        let by_block = knob.moves(code, launch.block) && block.written.len() > 1;
        let by_grid = knob.moves(code, launch.grid);
        require(by_block && by_grid, format!("a launch does not follow `{}` with both grid and block", knob.label))?;
        sets_block |= by_block;
        knob.check_divisions(code, around(launch.node, &["function_definition"]).unwrap_or(launch.node))?;
        let dynamic = launch.shared.filter(|shared| constant::value(code, *shared) != Some(0));
        let follows = dynamic.is_none_or(|shared| knob.moves(code, shared));
        require(follows, "the dynamic shared memory of a launch does not follow it")?;
    }
    Ok(sets_block)
}

/// Whether blocks and LDS stay within what a device has, as a verdict.
fn fits(code: &Code, kernel: &Kernel<'_>, name: &str, value: i64) -> i64 {
    let blocks = code.launches_of(kernel.name).into_iter().all(|launch| {
        let Some(block) = Extents::of_block(code, &launch) else { return false };
        let extents: Option<Vec<i64>> =
            block.written.iter().map(|node| constant::value_if(code, *node, name, value)).collect();
        extents.is_some_and(|extents| {
            extents.iter().all(|extent| *extent > 0) && (32..=1024).contains(&extents.iter().product::<i64>())
        })
    });
    let arrays = of_kind(kernel.body, "declaration").into_iter().filter(|node| code.of(*node).contains("__shared__"));
    let bytes: Option<i64> = arrays
        .map(|declaration| {
            let sizes = of_kind(declaration, "array_declarator")
                .into_iter()
                .filter_map(|array| array.child_by_field_name("size"));
            let elements: Option<i64> = sizes.map(|size| constant::value_if(code, size, name, value)).product();
            elements.map(|elements| elements * element_bytes(code.type_of(declaration)))
        })
        .sum();
    match (blocks, bytes) {
        (false, _) => 1,
        (true, Some(bytes)) if bytes <= LDS_BYTES => FITS,
        _ => 2,
    }
}
