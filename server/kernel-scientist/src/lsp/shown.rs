//! What the client shows of hints and lenses: it is asked to ask again where it would be told something else now, and only there.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::code_lens::{self, Brief, Lens};
use super::commands::Command;
use super::inlay_hints::{self, Hint};
use super::outbox::Refreshed;
use super::session::{Session, State};

impl Session {
    /// The client has what these hints of a whole document say, as far as it asked for them.
    pub fn hints_were_shown(&self, uri: &str, hints: &[Hint]) {
        let digest = hints_digest(hints);
        let mut state = self.state();
        // It may have been closed meanwhile, and nothing is kept of what is closed.
        if state.documents.get(uri).is_some() {
            state.shown_hints.insert(uri.to_owned(), digest);
        }
    }

    /// The client has these lenses.
    pub fn lenses_were_shown(&self, uri: &str, lenses: &[Lens]) {
        let digest = lenses_digest(lenses);
        let mut state = self.state();
        if state.documents.get(uri).is_some() {
            state.shown_lenses.insert(uri.to_owned(), digest);
        }
    }

    /// Asks the client to ask again where it shows something else than it would be told now.
    pub(super) fn refresh_where_changed(&self, uri: &str) {
        let (view, shows_hints, shows_lenses) = {
            let state = self.state();
            let Some(view) = state.view(uri) else { return };
            let abilities = &state.abilities;
            let shows_hints = abilities.refreshes_hints && state.shown_hints.contains_key(uri);
            (view, shows_hints, abilities.refreshes_lenses && state.shown_lenses.contains_key(uri))
        };
        // Worked out with the state free for others: in a large file it takes a moment.
        let hints = shows_hints.then(|| hints_digest(&inlay_hints::hints(&view, &(0..usize::MAX))));
        let lenses = shows_lenses.then(|| lenses_digest(&code_lens::lenses(&view)));
        let (hints, lenses) = {
            let mut state = self.state();
            let hints = hints.is_some_and(|hints| is_news(&mut state.shown_hints, uri, hints));
            (hints, lenses.is_some_and(|lenses| is_news(&mut state.shown_lenses, uri, lenses)))
        };
        if hints {
            self.refresh(Refreshed::Hints);
        }
        if lenses {
            self.refresh(Refreshed::Lenses);
        }
    }

    pub(super) fn refresh(&self, what: Refreshed) {
        let can = {
            let state = self.state();
            match what {
                Refreshed::Hints => state.abilities.refreshes_hints,
                Refreshed::Lenses => state.abilities.refreshes_lenses,
            }
        };
        if can {
            self.outbox.refresh(what);
        }
    }

    /// What a lens says now and what a click on it does; `None` where its document is closed.
    pub fn lens(&self, brief: &Brief) -> Option<(String, Command)> {
        let state = self.state();
        let (uri, _) = state.documents.iter().find(|(_, document)| document.opening == brief.opening)?;
        let job = brief.lens.job().and_then(|job| state.jobs.view(job));
        Some((brief.lens.title(job.map(|job| job.state())), brief.lens.command(uri)))
    }
}

impl State {
    /// The client was given nothing, and is to ask again when there is something.
    pub fn nothing_is_shown(&mut self, uri: &str) {
        for shown in [&mut self.shown_hints, &mut self.shown_lenses] {
            shown.insert(uri.to_owned(), 0);
        }
    }
}

/// Whether the client shows something else; it is asked once for each change, whether or not it asks again.
fn is_news(shown: &mut HashMap<String, u64>, uri: &str, now: u64) -> bool {
    shown.get_mut(uri).is_some_and(|shown| std::mem::replace(shown, now) != now)
}

/// What hints say, wherever they stand.
fn hints_digest(hints: &[Hint]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for hint in hints {
        (&hint.label, &hint.tooltip).hash(&mut hasher);
    }
    hasher.finish()
}

/// What lenses say, wherever they stand.
fn lenses_digest(lenses: &[Lens]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for lens in lenses {
        (&lens.title, &lens.which).hash(&mut hasher);
    }
    hasher.finish()
}
