//! The files of the catalog and the rewrites that they name.

mod block_size;
mod coarsen;
mod launch_bounds;
mod lds_padding;
mod register_accumulator;
mod restrict;
mod split_accumulator;
mod wave_reduction;

use super::{Rewrite, template};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each file in `queries/catalog/`.
        pub(super) const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../queries/catalog/", $name, ".toml")))),*];
    };
}

files![
    "block-size",
    "coarsen",
    "launch-bounds",
    "lds-padding",
    "redundant-barrier",
    "register-accumulator",
    "restrict",
    "split-accumulator",
    "unroll",
    "wave-reduction",
];

/// The rewrite that an entry asks for.
pub(super) fn named(name: &str) -> Option<Rewrite> {
    Some(match name {
        "template" => template::rewrite,
        "block-size" => block_size::rewrite,
        "coarsen" => coarsen::rewrite,
        "launch-bounds" => launch_bounds::rewrite,
        "lds-padding" => lds_padding::rewrite,
        "register-accumulator" => register_accumulator::rewrite,
        "restrict" => restrict::rewrite,
        "split-accumulator" => split_accumulator::rewrite,
        "wave-reduction" => wave_reduction::rewrite,
        _ => return None,
    })
}
