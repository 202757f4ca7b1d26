//! Code lenses: Time, Suggest and Evolve over each kernel; while something is under way, what it is, and Stop.

use std::ops::Range;

use super::commands::{Command, Target};
use super::view::View;

/// A lens.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    /// The kernel's name in the present text.
    pub at: Range<usize>,
    /// What it says.
    pub title: String,
    /// What a click does.
    pub command: Command,
}

/// The lenses of a document, in order.
pub fn lenses(view: &View) -> Vec<Lens> {
    let mut lenses = Vec::new();
    for kernel in &view.analysis.kernels {
        let Some(at) = view.range_now(&kernel.name_range) else { continue };
        let mut lens = |title: String, command| lenses.push(Lens { at: at.clone(), title, command });
        match view.job_on(kernel) {
            Some(job) => {
                lens(job.state(), Command::ShowJob { job: job.id });
                lens("Stop".into(), Command::Stop { job: job.id });
            }
            None => {
                let target = Target { uri: view.uri.clone(), kernel: Some(kernel.name.clone()) };
                lens("Time".into(), Command::Time(target.clone()));
                lens("Suggest".into(), Command::Suggest(target.clone()));
                lens("Evolve".into(), Command::Evolve(target));
            }
        }
    }
    lenses
}
