//! The method: select a base, design experiments, write them, measure them, learn.
//!
//! Invariants:
//! - Knows nothing of editors and uses no protocol type.
//! - Every number in a hypothesis' outcome comes from the lab; a stage only ever predicts.
//! - Held-out shapes, seeds and the harness never reach a stage.
//! - A run is a function of what it recorded: resumed after a kill, it comes to the end it would have come to.
//!
//! Tests: `cargo nextest run -p scientist`. Those of the loop (`tests/`) run on a scripted lab with scripted stages, which
//! count their calls and stop the run wherever a test wants it stopped.
#![warn(missing_docs)]

pub mod budget;
pub mod catalog;
pub mod designer;
pub mod evaluation;
pub mod evolution;
pub mod findings;
pub mod knowledge;
pub mod model;
pub mod run;
mod run_record;
pub mod selector;
pub mod stages;
pub mod suggestion;
pub mod symptoms;
pub mod task;
pub mod trial;
pub mod writer;
