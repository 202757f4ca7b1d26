//! The lab builds, sandboxes, runs, checks and times kernels, and says what the times are worth.
//!
//! Invariants:
//! - The lab calls no model and knows no editor protocol; it works on text, a benchmark and a device.
//! - No code under test runs inside this process or with its environment: each run is a sandboxed child in a process
//!   group of its own, under limits that are enforced ([`sandbox`]).
//! - A verdict comes from an interval, never from a single number ([`statistics`]).
//! - Nothing is written beside the user's files: builds live in the cache and in temporary folders.
#![warn(missing_docs)]

pub mod benchmark;
pub mod cache;
pub mod cancel;
pub mod clock;
pub mod codegen;
pub mod error;
pub mod forecast;
pub mod harness;
pub mod measurement;
mod paths;
pub mod program;
mod runtime_files;
pub mod sandbox;
pub mod sanitize;
pub mod settings_text;
pub mod source;
pub mod statistics;
pub mod toolchain;
pub mod turn;
pub mod verdict;
pub mod workbench;

pub use cancel::Cancel;
pub use clock::Clock;
pub use error::LabError;
pub use measurement::{Comparison, Figure, KernelTiming, ShapeComparison, SpeedRatio, TimeReport};
pub use source::Source;
pub use toolchain::cpu::DEVICE as CPU_DEVICE;
pub use verdict::{Diagnostic, Failure, Verdict};
