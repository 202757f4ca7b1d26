//! Toolchains: how a source becomes something that runs.

pub mod clang;
pub mod clangd;
pub mod cpu;
pub(crate) mod diagnostics;
pub mod forecast;
pub(crate) mod includes;
pub mod options;

pub use options::CompileOptions;
