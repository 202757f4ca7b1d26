//! A line of progress on a terminal; nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use scientist::evolution::event::Event;

use crate::cli::Context;

/// What is being done right now, on standard error.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(context: &Context) -> Self {
        if !context.draws_progress() || context.json() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    pub(super) fn show(&self, event: &Event) {
        if let Event::Working { generation, doing } = event {
            self.0.set_message(match generation {
                0 => doing.clone(),
                generation => format!("generation {generation}: {doing}"),
            });
        }
    }

    /// Prints without tearing the line of progress.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    pub(super) fn end(&self) {
        self.0.finish_and_clear();
    }
}
