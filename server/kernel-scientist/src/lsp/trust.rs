//! Trust: what is in a workspace that its user does not trust is read and shown, and nothing of it is built, run or sent.

use std::path::PathBuf;
use std::sync::Arc;

use super::documents::Role;
use super::session::{Session, State};

impl Session {
    /// The user trusts the workspace, or does not any more.
    pub(super) fn trust(self: &Arc<Self>, is_trusted: bool) {
        let sources: Vec<(String, PathBuf)> = {
            let mut state = self.state();
            if std::mem::replace(&mut state.abilities.is_trusted, is_trusted) == is_trusted {
                return;
            }
            if !is_trusted {
                state.jobs.stop_all();
                state.forecasting.stop_all();
                return;
            }
            let sources = state.documents.iter().filter(|(_, document)| document.role == Role::Source);
            sources.map(|(uri, document)| (uri.clone(), document.path.clone())).collect()
        };
        // What would have been done when they were opened.
        for (uri, path) in sources {
            self.forecast_after_a_pause(&uri);
            self.offer_unfinished(&uri, path);
        }
    }
}

impl State {
    /// Whether what is in the workspace may be built, run and sent.
    pub fn is_trusted(&self) -> bool {
        self.abilities.is_trusted
    }

    /// To be asked before anything is built, run or sent for `name`.
    ///
    /// # Errors
    /// Says that the workspace is not trusted, and what to do.
    pub fn require_trust(&self, name: &str) -> Result<(), String> {
        if self.is_trusted() {
            return Ok(());
        }
        Err(format!(
            "{name}: the workspace is not trusted, so nothing in it is built, run or sent to a model. Trust it in the editor \
             (Visual Studio Code: Workspaces: Manage Workspace Trust) and try again"
        ))
    }
}
