//! Toolchains: how a source becomes something that runs.

pub mod clang;
pub mod clangd;
pub mod cpu;
mod diagnostics;
mod includes;
mod options;

pub use options::CompileOptions;
