//! Proposals as a client shows them: told as they come up, made of the versions of a run, and looked at before they are applied.

use std::sync::Arc;

use notebook::{Notebook, RunId};

use super::jobs::Job;
use super::panel::{in_notebook, path_of};
use super::proposals::Proposal;
use super::protocol::{Preview, PreviewParams, ProposalNumber, ProposeParams, Proposed};
use super::session::Session;

impl Session {
    /// Offers a version to the user: the client does where it can, else the server asks.
    pub(super) fn offer_version(self: &Arc<Self>, job: &Job, text: String, proposal: u64, run: Option<RunId>) {
        let title = {
            let state = self.state();
            let kept = state.proposals.get(proposal).map(|kept| kept.title.clone());
            kept.ok().filter(|_| state.abilities.shows_proposals)
        };
        let Some(title) = title else { return self.ask_about(text, proposal) };
        let (uri, kernel) = (job.target.uri.clone(), job.target.kernel.clone());
        self.outbox.proposed(Proposed { proposal, uri, kernel, title, text, run: run.map(|run| run.0) });
    }
}

/// Makes a version of a run a proposal.
pub async fn propose(session: &Arc<Session>, params: ProposeParams) -> Result<ProposalNumber, String> {
    let ProposeParams { uri, run, candidate } = params;
    let path = path_of(session, &uri)?;
    let read = move |notebook: Notebook| {
        let found = notebook.run(RunId(run))?;
        let original = notebook.text(&found.original)?;
        let version = notebook.population(found.id)?.into_iter().find(|version| version.number == candidate);
        Ok((found, original, version))
    };
    let missing = || format!("run {run} has no version {candidate}");
    let (found, base, version) = in_notebook(session, read).await?.ok_or_else(missing)?;
    let version = version.ok_or_else(missing)?;
    found.require_of(&path)?;
    let title = format!("Version {candidate} of run {run}");
    let proposal = Proposal { uri, path, base, text: version.text, title };
    Ok(ProposalNumber { proposal: session.state().proposals.keep(proposal) })
}

/// Answers what a proposal makes of the document as it is now.
pub async fn preview(session: &Arc<Session>, params: PreviewParams) -> Result<Preview, String> {
    let session = Arc::clone(session);
    let work = move || {
        let proposal = session.state().proposals.get(params.proposal)?.clone();
        let change = proposal.change(session.goal(&proposal.uri), false)?;
        let mut text = change.text.to_string();
        // From the end, so that the places of the others stay what they are.
        for edit in change.edits.iter().rev() {
            text.replace_range(edit.range.clone(), &edit.text);
        }
        Ok(Preview { uri: proposal.uri, title: proposal.title, text })
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}
