//! What is put into documents and files: hypotheses, proposals, first benchmark files. The client does it; here it is worked out.

use std::sync::Arc;

use hip_syntax::{Syntax, Text};
use lab::benchmark::{self, Benchmark};

use super::code_actions::Untested;
use super::commands::Target;
use super::edits::TextEdit;
use super::outbox::Tone;
use super::proposals::{Goal, Proposal};
use super::session::Session;
use super::to_proto::{self, WorkspaceChange};

impl Session {
    /// What an untested hypothesis changes, as an edit of the version that it was offered on.
    pub async fn written(self: &Arc<Self>, untested: Untested) -> Result<WorkspaceChange, String> {
        let session = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || session.write(&untested));
        written.await.unwrap_or_else(|error| Err(format!("the change could not be written: {error}")))
    }

    fn write(&self, untested: &Untested) -> Result<WorkspaceChange, String> {
        let changed = || "the document was changed since; ask for code actions again".to_owned();
        let (path, text) = {
            let state = self.state();
            let document = state.documents.get(&untested.target.uri).ok_or_else(changed)?;
            if document.version != untested.version {
                return Err(changed());
            }
            (document.path.clone(), document.text.to_string())
        };
        let kernel = untested.target.kernel.as_deref();
        let drafts =
            self.shelf.catalog(&path).apply(&text, kernel, &untested.key).map_err(|error| error.to_string())?;
        let draft = drafts.into_iter().next().ok_or("the hypothesis has no draft")?;
        let proposal = Proposal {
            uri: untested.target.uri.clone(),
            path,
            base: text.into(),
            text: draft.text.into(),
            title: untested.title.clone(),
        };
        let change = proposal.change(self.goal(&proposal.uri), true)?;
        if change.version != Some(untested.version) {
            return Err(changed());
        }
        Ok(change)
    }

    /// A document as a change would find it.
    pub(super) fn goal(&self, uri: &str) -> Goal {
        let state = self.state();
        Goal {
            open: state.documents.get(uri).map(|document| (document.version, document.text.clone())),
            encoding: state.abilities.encoding,
            abilities: state.abilities.edits,
        }
    }

    pub(super) fn apply_proposal(&self, number: u64) -> Result<(), String> {
        let proposal = self.state().proposals.get(number)?.clone();
        let change = proposal.change(self.goal(&proposal.uri), false)?;
        if change.edits.is_empty() {
            self.outbox.message(Tone::Info, format!("{}: it is in the document already", change.label));
        } else {
            self.outbox.apply(change);
        }
        Ok(())
    }

    pub(super) fn show_diff(&self, number: u64) -> Result<(), String> {
        let (proposal, can_show) = {
            let state = self.state();
            (state.proposals.get(number)?.clone(), state.abilities.shows_documents)
        };
        let folder = self.world.cache.join("diffs");
        let path = folder.join(format!("{}-{number}.diff", std::process::id()));
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&path, proposal.diff()))
            .map_err(|error| format!("{}: the diff could not be written: {error}", path.display()))?;
        if can_show {
            self.outbox.show_document(&path);
        } else {
            self.outbox.message(Tone::Info, format!("The diff is in {}", path.display()));
        }
        Ok(())
    }

    pub(super) fn create_benchmark(&self, target: &Target) -> Result<(), String> {
        let source = self.state().documents.get(&target.uri).map(|document| document.path.clone());
        let closed = || format!("{} is not open; open it and create its benchmark then", target.uri);
        let source = source.ok_or_else(closed)?;
        let goal = self.goal(&target.uri);
        let (_, text) = goal.open.ok_or_else(closed)?;
        let path = Benchmark::path_for(&source);
        if path.exists() {
            return Err(format!("{} is there already", path.display()));
        }
        if !goal.abilities.creates || !goal.abilities.versions {
            return Err(format!(
                "this editor cannot make files for a server; run `kernel-scientist benchmark {} > {}`",
                source.display(),
                path.display()
            ));
        }
        let syntax = Syntax::without_tree(text.to_string());
        let text = benchmark::infer(&syntax, target.kernel.as_deref()).map_err(|error| error.to_string())?;
        self.outbox.apply(WorkspaceChange {
            label: "Create benchmark".into(),
            uri: to_proto::uri(&path).ok_or_else(|| format!("{}: no address for it", path.display()))?,
            version: None,
            text: Text::default(),
            encoding: goal.encoding,
            edits: vec![TextEdit { range: 0..0, text }],
            creates: true,
            abilities: goal.abilities,
            needs_confirmation: false,
        });
        Ok(())
    }
}
