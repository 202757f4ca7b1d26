//! A line of progress on a terminal; nothing elsewhere.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use llm::hearing::Listener;
use scientist::evolution::event::Event;

use super::{Context, context};

/// What is being done right now, on standard error. The line goes away when this is dropped.
pub(super) struct Progress {
    line: Line,
    is_drawn: bool,
}

/// The line, for whoever else has something to say in it.
#[derive(Clone)]
struct Line {
    bar: ProgressBar,
    doing: Arc<Mutex<String>>,
}

impl Line {
    fn say(&self, doing: String) {
        let doing = llm::foreign::one_line(&doing);
        self.bar.set_message(doing.clone());
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = doing;
    }

    /// Adds something of the moment to what is being done.
    fn beside(&self, text: &str) {
        let doing = self.doing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.bar.set_message(if doing.is_empty() { text.to_owned() } else { format!("{doing} · {text}") });
    }
}

impl Progress {
    /// A line that is empty until something is said.
    pub(super) fn new(context: &Context) -> Self {
        let progress = Self::hidden(context);
        progress.show();
        progress
    }

    /// The same, not to be seen before [`Progress::show`].
    pub(super) fn hidden(context: &Context) -> Self {
        let line = Line { bar: ProgressBar::hidden(), doing: Arc::default() };
        Self { line, is_drawn: context.draws_progress() && !context.json() }
    }

    /// Begins to draw it.
    pub(super) fn show(&self) {
        if !self.is_drawn {
            return;
        }
        let bar = &self.line.bar;
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed:.dim}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
    }

    /// Shows what is being done.
    pub(super) fn say(&self, doing: impl Into<String>) {
        self.line.say(doing.into());
    }

    /// Shows how far models' answers are, and prints what they wait for; as events of a run in JSON where `as_events` says so.
    pub(super) fn listener(&self, as_events: bool) -> Listener {
        let line = self.line.clone();
        Arc::new(move |heard| {
            let event = Event::from(heard);
            if as_events {
                // Whoever does not read any more does not miss it.
                let _ = context::print_json(&event);
                return;
            }
            match (&event, event.of_models()) {
                (Event::Waiting { .. }, Some(text)) => line.bar.suspend(|| super::tell(&text)),
                (_, Some(text)) => line.beside(&text),
                _ => {}
            }
        })
    }

    /// Prints without tearing the line of progress.
    pub(super) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.line.bar.suspend(print)
    }

    /// Takes the line away.
    pub(super) fn end(&self) {
        self.line.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
