//! HIP source text to kernels, launches, fingerprints and rewrites.
//!
//! Pure: no files, no processes, no protocol types. Every function takes text and gives data back.
//!
//! **How it reads.** The text is split into tokens (`lexer`), brackets are paired across `#if` branches (`brackets`), and
//! definitions are found by walking heads and bodies (`items`). That needs no grammar and survives unknown macros and
//! half-typed code. Beside it stands the tree-sitter tree of the *shadow* text (`shadow`), for the queries of the hypothesis
//! catalog and for everything that wants structure.
//!
//! **Invariants**
//! - No text makes anything here panic; broken text keeps what can be kept.
//! - Ranges are bytes of the text, lines count from 1, [`Position`]s (an editor's) from 0.
//! - [`Syntax`] never changes; [`Document`] makes a new one with every change.
//!
//! Tests: `cargo nextest run -p hip-syntax`. How many kernels of real code are found: `cargo run --release -p hip-syntax
//! --example corpus -- FOLDER...`; how long a change takes: `--example did_change`.

#![warn(missing_docs)]

mod brackets;
mod code;
mod constants;
pub mod device_functions;
pub mod document;
mod evaluate;
mod fingerprint;
mod heads;
mod items;
mod kernels;
mod language;
mod launches;
mod lexer;
mod lines;
mod loops;
mod params;
mod position;
pub mod query;
pub mod rewrite;
mod shadow;
mod shared;
mod synchronises;
mod syntax;
pub mod text;
mod types;

pub use constants::{Constant, ConstantKind};
pub use document::Document;
pub use fingerprint::Fingerprint;
pub use kernels::{Function, Kernel, LaunchBounds};
pub use language::Language;
pub use launches::{Launch, LaunchKind};
pub use lines::Lines;
pub use loops::{Loop, LoopKind, Unroll};
pub use params::{Param, TemplateParam};
pub use position::{Position, PositionEncoding};
pub use query::{Match, Query, QueryError};
pub use rewrite::{CpuSource, Edit, EditError};
pub use shared::SharedArray;
pub use synchronises::Waiting;
pub use syntax::Syntax;
pub use text::{Change, Splice, Text};
