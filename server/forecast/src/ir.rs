//! Reads LLVM's text of an optimised program, makes [`Code`] of its kernels and puts into the text what records a trace.
//!
//! A kernel is a function in the section `ks_kernel`, which the runtime's headers give it. It and all that it calls are
//! instrumented; functions that the text does not define (mathematics, waiting, exchanges) are operations by their name.
//! Operands are read as text: LLVM's form of each instruction is fixed, and what is not known here costs nothing or is a
//! call by its name, never silently an access.

mod assemble;
mod call;
mod classify;
mod divergence;
mod function;
mod instruction;
mod integers;
mod lines;
mod module;
mod order;
mod types;

use std::path::Path;

use crate::code::Code;

/// Why a program cannot be traced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IrError {
    /// Assembly of a GPU cannot be run, and nothing is known of what it costs.
    #[error("line {line}: inline assembly in {function} cannot be traced; write it in C++ or with builtins")]
    Assembly {
        /// Where it stands.
        line: u32,
        /// In which function.
        function: String,
    },
    /// Which function is called is known only when it is.
    #[error("line {line}: {function} calls a function through a pointer, which cannot be traced; call it by its name")]
    Pointer {
        /// Where it stands.
        line: u32,
        /// In which function.
        function: String,
    },
    /// Not what LLVM writes.
    #[error("LLVM's text cannot be read at {0:?}")]
    Malformed(String),
}

/// What decides what is made of a text, for those who keep [`Code`]: it is to be made anew where any of this has changed.
pub const SOURCES: [&str; 13] = [
    include_str!("ir.rs"),
    include_str!("code.rs"),
    include_str!("ir/assemble.rs"),
    include_str!("ir/call.rs"),
    include_str!("ir/classify.rs"),
    include_str!("ir/divergence.rs"),
    include_str!("ir/function.rs"),
    include_str!("ir/instruction.rs"),
    include_str!("ir/integers.rs"),
    include_str!("ir/lines.rs"),
    include_str!("ir/module.rs"),
    include_str!("ir/order.rs"),
    include_str!("ir/types.rs"),
];

/// Instruments the kernels of `text`, and all that they call. Adds what their blocks do to `code`, which holds those of the
/// program's other units, and returns LLVM's text for the compiler; it refers to the tracing runtime's `ks_trace_cursor` and
/// `ks_trace_limit`.
///
/// Lines are those of the file `main`, or else of that which the unit is named after; what was inlined from another one has
/// the line of the call.
pub fn instrument(text: &str, main: Option<&Path>, code: &mut Code) -> Result<String, IrError> {
    assemble::assemble(&module::Module::read(text, main)?, code)
}

#[cfg(test)]
mod tests;
