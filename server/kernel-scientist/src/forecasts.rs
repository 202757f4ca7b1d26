//! What is told of forecasts, on the command line and in editors alike: the account of a kernel, the few words for a line, the
//! lines that a change cures, and what a hypothesis gains.

pub mod account;
pub mod cured;
pub mod outlook;
pub mod remark;
