//! Toolchains: how a source becomes something that runs.

pub mod clang;
pub mod clangd;
pub(crate) mod confinement;
pub mod cpu;
pub(crate) mod diagnostics;
pub mod forecast;
pub(crate) mod includes;
pub mod options;

pub use confinement::Confinement;
pub use options::CompileOptions;
