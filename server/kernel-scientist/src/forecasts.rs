//! What is told of forecasts, on the command line and in editors alike: the account of a kernel, the few words for a line, the
//! lines that a change cures, and what a hypothesis gains.

pub mod account;
pub mod cured;
pub mod outlook;
pub mod remark;

use lab::{Failure, LabError};

/// Whether what failed may go well another time with the same code: a tool was missing, a file could not be written, or the
/// machine was too busy.
pub fn may_pass(error: &LabError) -> bool {
    match error {
        LabError::Code(Failure::TimedOut { .. }) | LabError::Unavailable(_) | LabError::Io { .. } => true,
        LabError::Code(_) | LabError::Usage(_) | LabError::Cancelled => false,
    }
}
