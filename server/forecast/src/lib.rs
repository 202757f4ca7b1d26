//! A modelled GPU time without the GPU.
//!
//! A kernel is run on the CPU for some of its blocks with each memory access recorded ([`trace`]); its optimised code
//! ([`code`]) and the figures of a device ([`device`]) give the time that the blocks would take there, line by line.
//! Knows no lab, no model, no editor.

pub mod account;
pub mod code;
pub mod device;
pub mod forecast;
pub mod grid_cache;
pub mod ir;
pub mod machine;
pub mod odds;
pub mod registers;
pub mod schedule;
pub mod sites;
pub mod trace;
pub mod waves;

/// Version of the model.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
