//! Documents as the client opens, changes and closes them, and as they are when it asks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hip_syntax::{Change, Text};

use super::documents::{Document, Plan, Role, Standing};
use super::session::Session;
use super::to_proto::Publication;
use super::view::View;

/// Longest wait of a request for the first reading of a document: before it there is nothing to answer with.
const FIRST_PATIENCE: Duration = Duration::from_millis(1500);
/// Longest wait for a reading without which a hint would vanish. One of 8,000 lines takes 15 ms; who types faster than
/// texts are read is answered with what is known.
const LOST_PATIENCE: Duration = Duration::from_millis(40);
/// What a reading leaves to the questions that come with an edit: they are answered from what is known, and the two would be
/// in each other's way.
const READING_PAUSE: Duration = Duration::from_millis(20);

impl Session {
    /// A document was opened.
    pub fn open(self: &Arc<Self>, uri: &str, path: PathBuf, role: Role, version: i32, text: &str) {
        self.state().documents.open(uri, path.clone(), role, version, text);
        self.read(uri);
        if role == Role::Source {
            self.offer_unfinished(uri, path);
        }
    }

    /// A document was changed: its text is, when this returns; reading it follows.
    pub fn change(self: &Arc<Self>, uri: &str, version: i32, changes: &[Change]) {
        {
            let mut state = self.state();
            let encoding = state.abilities.encoding;
            let splices = state.documents.change(uri, version, changes, encoding);
            state.forecasting.edited(uri, &splices);
            state.carry_findings(uri, &splices);
            if let Some(looking) = state.looking.remove(uri) {
                looking.cancel();
            }
        }
        self.read_in_a_moment(uri);
    }

    /// Reads a document's present text once the questions after an edit are answered; at once where they cannot be before.
    pub(super) fn read_in_a_moment(self: &Arc<Self>, uri: &str) {
        let plan = self.state().documents.get_mut(uri).map_or(Plan::Nothing, Document::plan_reading);
        match plan {
            Plan::Nothing => {}
            Plan::Now => self.read(uri),
            Plan::Soon => {
                let (session, uri) = (Arc::clone(self), uri.to_owned());
                self.outbox.runtime().spawn(async move {
                    tokio::time::sleep(READING_PAUSE).await;
                    session.read(&uri);
                });
            }
        }
    }

    /// A document was saved: another program may have measured it.
    pub fn saved(self: &Arc<Self>, uri: &str) {
        let path = self.state().documents.get(uri).map(|document| document.path.clone());
        if let Some(path) = path {
            self.read_history(&path);
            self.forecast_after_a_pause(uri);
        }
    }

    /// A document was closed. Jobs on it go on: what they find is kept in the notebook.
    pub fn close(&self, uri: &str) {
        let (cleared, encoding) = {
            let mut state = self.state();
            if let Some(document) = state.documents.get(uri) {
                let path = document.path.clone();
                state.histories.remove(&path);
                state.devices.remove(&path);
            }
            state.forecasting.forget(uri);
            state.documents.close(uri);
            state.shown_hints.remove(uri);
            state.shown_lenses.remove(uri);
            state.fed.remove(uri);
            state.looked_at.remove(uri);
            state.identities.remove(uri);
            state.found_in.remove(uri);
            if let Some(looking) = state.looking.remove(uri) {
                looking.cancel();
            }
            state.forget_unused_suggestions();
            (state.found.remove(uri).is_some(), state.abilities.encoding)
        };
        if cleared {
            let (text, found) = (Text::default(), Vec::new());
            let (uri, version, shows_related, is_stale) = (uri.to_owned(), None, false, false);
            self.outbox.publish(Publication { uri, version, text, encoding, found, shows_related, is_stale });
        }
    }

    /// A document as it is now, at once: with what was last read, moved along with the edits since. Waits, and not for
    /// long, only where nothing was read yet or an edit took away the place of something that is shown.
    pub async fn view(&self, uri: &str) -> Option<View> {
        let start = Instant::now();
        loop {
            let (was_read, left) = {
                let mut state = self.state();
                let document = state.documents.get(uri).filter(|document| document.role == Role::Source)?;
                let patience = match document.standing() {
                    Standing::Known => Duration::ZERO,
                    Standing::Unread => FIRST_PATIENCE,
                    Standing::Lost => LOST_PATIENCE,
                };
                let left = patience.saturating_sub(start.elapsed());
                if left.is_zero() {
                    let view = state.view(uri);
                    if view.is_none() {
                        // Whoever asked shows nothing now, and is to ask again when there is something.
                        state.nothing_is_shown(uri);
                    }
                    return view;
                }
                (document.was_read().notified_owned(), left)
            };
            // Whether it was read or the time is up, the loop looks again.
            let _ = tokio::time::timeout(left, was_read).await;
        }
    }
}
