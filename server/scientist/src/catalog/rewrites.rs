//! The files of the catalog and the rewrites that they name.

mod block_coarsening;
mod block_size;
mod coarsen;
mod fast_exponential;
mod float_literals;
mod launch_bounds;
mod lds_padding;
mod lds_swizzle;
mod lds_tiling;
mod lds_transpose;
mod nontemporal_stores;
mod private_histogram;
mod reciprocal;
mod register_accumulator;
mod restrict;
mod sequential_reduction;
mod split_accumulator;
mod swap_axes;
mod tile_size;
mod vector_loads;
mod wave_atomics;
mod wave_reduction;

use super::place::Refusal;
use super::{Rewrite, template};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each file in `queries/catalog/`.
        pub(super) const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../queries/catalog/", $name, ".toml")))),*];
    };
}

files![
    "block-coarsening",
    "block-size",
    "coarsen",
    "fast-exponential",
    "float-literals",
    "joint",
    "launch-bounds",
    "lds-padding",
    "lds-swizzle",
    "lds-tiling",
    "lds-transpose",
    "nontemporal-stores",
    "private-histogram",
    "reciprocal",
    "reciprocal-root",
    "redundant-barrier",
    "register-accumulator",
    "restrict",
    "sequential-reduction",
    "split-accumulator",
    "square-power",
    "swap-axes",
    "tile-size",
    "unroll",
    "vector-loads",
    "wave-atomics",
    "wave-reduction",
];

/// The rewrite that an entry asks for.
pub(super) fn named(name: &str) -> Option<Rewrite> {
    Some(match name {
        "template" => template::rewrite,
        "block-size" => block_size::rewrite,
        "coarsen" => coarsen::rewrite,
        "float-literals" => float_literals::rewrite,
        "launch-bounds" => launch_bounds::rewrite,
        "lds-padding" => lds_padding::rewrite,
        "private-histogram" => private_histogram::rewrite,
        "reciprocal" => reciprocal::rewrite,
        "register-accumulator" => register_accumulator::rewrite,
        "restrict" => restrict::rewrite,
        "sequential-reduction" => sequential_reduction::rewrite,
        "split-accumulator" => split_accumulator::rewrite,
        "swap-axes" => swap_axes::rewrite,
        "tile-size" => tile_size::rewrite,
        "wave-reduction" => wave_reduction::rewrite,
        "vector-loads" => vector_loads::rewrite,
        "block-coarsening" => block_coarsening::rewrite,
        // The searches that it joins are found by others.
        "joint" => |_| Err(Refusal::NotHere),
        "lds-tiling" => lds_tiling::rewrite,
        "lds-transpose" => lds_transpose::rewrite,
        "wave-atomics" => wave_atomics::rewrite,
        "nontemporal-stores" => nontemporal_stores::rewrite,
        "lds-swizzle" => lds_swizzle::rewrite,
        "fast-exponential" => fast_exponential::rewrite,
        _ => return None,
    })
}
