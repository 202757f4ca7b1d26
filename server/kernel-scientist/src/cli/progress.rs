//! A line of progress on a terminal; nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::Context;

/// What is being done right now, on standard error. The line goes away when this is dropped.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A line that is empty until something is said.
    pub(super) fn new(context: &Context) -> Self {
        if !context.draws_progress() || context.json() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed:.dim}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    /// Shows what is being done.
    pub(super) fn say(&self, doing: impl Into<String>) {
        self.0.set_message(doing.into());
    }

    /// Prints without tearing the line of progress.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    /// Takes the line away.
    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
