//! The notebook keeps what was tried and measured: SQLite in WAL mode, append-only.
//!
//! What it is for: every figure shown to a user can be followed to its row here (samples, device, toolchain, code, time),
//! and a run of the method that was killed goes on from what it had recorded.
//!
//! Invariants:
//! - Nothing recorded is ever changed or removed: triggers refuse `UPDATE` and `DELETE` on every table, and what changes
//!   over time (a run's state) is a list of events.
//! - A call that recorded something returns after the row is in the file; killing the process then loses nothing. A row that
//!   took longer to come about than a sync of the disk takes is on disk by then, so that a power cut loses nothing either.
//! - Any number of processes may use one notebook at once.
//! - It knows no stage, no editor and no model: hypotheses are JSON to it.
//! - Only measurements are kept as measurements: a forecast has a table of its own, with the versions of the model and of
//!   the device's table.
//!
//! The tests beside the code run on temporary folders; `tests/` kills writers, fills disks and races processes.
#![warn(missing_docs)]

mod candidates;
mod durability;
mod error;
mod experiments;
mod findings;
mod forecasts;
mod history;
mod measurements;
mod model_calls;
mod run_hold;
mod runs;
mod schema;
mod store;
mod texts;

pub use candidates::{Candidate, NewCandidate};
pub use error::NotebookError;
pub use experiments::{Experiment, ExperimentId, ExperimentKind, ExperimentOutcome, NewExperiment};
pub use findings::{Calibration, NewFinding, StoredFinding};
pub use forecasts::{Forecast, ForecastId, ForecastPoint};
pub use history::HistoryPoint;
pub use measurements::{ComparisonId, MeasuredCode, Measurement, MeasurementId, StoredComparison};
pub use model_calls::{ModelCall, StepCost};
pub use run_hold::RunHold;
pub use runs::{NewRun, Run, RunChange, RunId, RunState, RunStep, Spent};
pub use schema::VERSION;
pub use store::{Notebook, Options};
pub use texts::{KernelFingerprint, TextHash};
