//! The files of the catalog and the rewrites that they name.

mod block_size;
mod coarsen;

use super::{Rewrite, template};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each file in `queries/catalog/`.
        pub(super) const FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../queries/catalog/", $name, ".toml")))),*];
    };
}

files!["block-size", "coarsen", "redundant-barrier", "unroll"];

/// The rewrite that an entry asks for.
pub(super) fn named(name: &str) -> Option<Rewrite> {
    Some(match name {
        "template" => template::rewrite,
        "block-size" => block_size::rewrite,
        "coarsen" => coarsen::rewrite,
        _ => return None,
    })
}
