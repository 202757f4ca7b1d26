//! What runs in the background without anybody asking: reading texts, reading histories, looking for hypotheses. Of each
//! kind one at a time on a document, and of those that can wait one at a time at all, however many messages come in.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lab::Cancel;
use lab::benchmark::Benchmark;
use notebook::{Notebook, RunState};
use scientist::stages::Hypothesis;

use super::analysis::Analysis;
use super::commands::{Command, Target};
use super::diagnostics::{self, Finding};
use super::documents::Role;
use super::forecasts::rest;
use super::history::FileHistory;
use super::outbox::Tone;
use super::session::{Event, Session};
use super::suggestions;

/// How long the user must have paused before hypotheses are looked for.
const PAUSE: Duration = Duration::from_millis(400);

/// What is done one at a time, whatever number of documents want it.
#[derive(Default)]
pub(super) struct Turns {
    looking: tokio::sync::Mutex<()>,
    pub(super) forecasting: tokio::sync::Mutex<()>,
    offering: tokio::sync::Mutex<()>,
}

impl Session {
    /// Reads a document's present text in the background, unless that is done or under way: one reading a document at a
    /// time, of the newest text.
    pub(super) fn read(self: &Arc<Self>, uri: &str) {
        let (text, edit, opening, path, role) = {
            let mut state = self.state();
            let Some(document) = state.documents.get_mut(uri) else { return };
            let Some((text, edit)) = document.begin_reading() else { return };
            (text, edit, document.opening, document.path.clone(), document.role)
        };
        let (session, uri) = (Arc::clone(self), uri.to_owned());
        tokio::task::spawn_blocking(move || {
            let reading = || {
                session.identify(&uri, opening, &path);
                if role == Role::BenchmarkFile {
                    let found = session.mistakes_of_benchmark(&path, &text.to_string());
                    session.apply(Event::BenchmarkFile { uri: uri.clone(), found });
                }
                (Analysis::read_at(&path, &text, edit), Benchmark::path_for(&path).is_file())
            };
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(reading));
            let read = read
                .inspect_err(|panic| tracing::error!("{uri} could not be read: {}", super::guards::in_words(&**panic)))
                .ok();
            session.apply(Event::Read { uri, opening, read });
        });
    }

    /// Finds out which file a document is, unless that is known.
    fn identify(&self, uri: &str, opening: u64, path: &Path) {
        if self.state().identities.contains_key(uri) {
            return;
        }
        let file = lab::source::identity(path);
        let mut state = self.state();
        if state.documents.get(uri).is_some_and(|document| document.opening == opening) {
            state.identities.insert(uri.to_owned(), file);
        }
    }

    /// Mistakes in a benchmark file, in itself or with the source beside it.
    pub(super) fn mistakes_of_benchmark(&self, path: &Path, text: &str) -> Vec<Finding> {
        let mut found = diagnostics::of_benchmark_file(path, text);
        if found.is_empty() {
            found = self.benchmark_failure(path, text);
        }
        if !found.is_empty() {
            return found;
        }
        let name = path.to_string_lossy();
        let Some(stem) = name.strip_suffix(Benchmark::ENDING) else { return found };
        let sources = ["hip", "cpp", "cu", "cc"].map(|ending| PathBuf::from(format!("{stem}.{ending}")));
        let open = |source: &PathBuf| {
            let state = self.state();
            state.documents.iter().find(|(_, document)| document.path == *source).map(|(_, it)| it.text.to_string())
        };
        let read = |source: PathBuf| {
            let text = open(&source).or_else(|| lab::settings_text::read(&source).ok())?;
            Some((source, text))
        };
        let beside = sources.into_iter().find_map(read);
        beside.map_or(found, |(source, of_source)| diagnostics::of_entry(path, text, &source, &of_source))
    }

    pub(super) fn was_read(self: &Arc<Self>, uri: &str, opening: u64, read: Option<(Analysis, bool)>) {
        let failed = read.is_none();
        let (path, is_source) = {
            let mut state = self.state();
            let Some(document) = state.documents.get_mut(uri).filter(|document| document.opening == opening) else {
                return;
            };
            let (analysis, is_fed) = read.unzip();
            document.end_reading(analysis);
            let known = (document.path.clone(), document.role == Role::Source);
            if let Some(is_fed) = is_fed {
                state.note_benchmark_file(uri, is_fed);
            }
            known
        };
        if failed {
            // The same text would fail again; the next change is another text.
            return;
        }
        self.read_in_a_moment(uri);
        if is_source {
            self.find_device(&path);
            self.compare_findings(uri);
            self.read_history_of_new_kernels(uri, &path);
            self.refresh_where_changed(uri);
            self.look_after_a_pause(uri);
            self.forecast_after_a_pause(uri);
        }
    }

    fn read_history_of_new_kernels(self: &Arc<Self>, uri: &str, path: &Path) {
        let is_new = {
            let state = self.state();
            let Some(analysis) = state.documents.get(uri).and_then(|document| document.analysis()) else { return };
            let history = state.histories.get(path);
            let is_known = |name: &String| history.is_some_and(|history| history.kernels.contains_key(name));
            analysis.kernels.iter().any(|kernel| !is_known(&kernel.qualified_name))
        };
        if is_new {
            self.read_history(path);
        }
    }

    /// Reads what the notebook says of a file, one reading a file at a time.
    pub(super) fn read_history(self: &Arc<Self>, path: &Path) {
        let mut names = BTreeSet::new();
        {
            let mut state = self.state();
            if let Some(again) = state.reading_history.get_mut(path) {
                *again = true;
                return;
            }
            let documents = state.documents.iter().filter(|(_, document)| document.path == path);
            for analysis in documents.filter_map(|(_, document)| document.analysis()) {
                names.extend(analysis.kernels.iter().map(|kernel| kernel.qualified_name.clone()));
            }
            state.reading_history.insert(path.to_path_buf(), false);
        }
        let (session, path) = (Arc::clone(self), path.to_path_buf());
        // Jobs call this from threads of their own.
        self.outbox.runtime().spawn_blocking(move || {
            let history = FileHistory::read(&session.world.notebook, &path, &names)
                .inspect_err(|error| tracing::warn!("the history of {} could not be read: {error}", path.display()))
                .ok();
            session.apply(Event::History { path, history });
        });
    }

    pub(super) fn history_was_read(self: &Arc<Self>, path: &Path, history: Option<FileHistory>) {
        let (again, uris) = {
            let mut state = self.state();
            let again = state.reading_history.remove(path).unwrap_or(false);
            let uris: Vec<String> = {
                let open = state.documents.iter().filter(|(_, document)| document.path == path);
                open.map(|(uri, _)| uri.clone()).collect()
            };
            if let (Some(history), false) = (history, uris.is_empty()) {
                state.histories.insert(path.to_path_buf(), Arc::new(history));
            }
            (again, uris)
        };
        for uri in &uris {
            self.refresh_where_changed(uri);
        }
        if again && !uris.is_empty() {
            self.read_history(path);
        }
    }

    /// Looks for hypotheses once the user has paused; a change ends the search.
    fn look_after_a_pause(self: &Arc<Self>, uri: &str) {
        let cancel = Cancel::new();
        {
            let mut state = self.state();
            if !state.documents.get(uri).is_some_and(|document| document.is_read()) {
                return;
            }
            if let Some(before) = state.looking.insert(uri.to_owned(), cancel.clone()) {
                before.cancel();
            }
        }
        let (session, uri) = (Arc::clone(self), uri.to_owned());
        self.outbox.runtime().spawn(async move {
            // A pause takes no thread: readings, which requests wait for, need them.
            tokio::time::sleep(PAUSE).await;
            let _turn = session.turns.looking.lock().await;
            if !cancel.is_cancelled() {
                let looks = Arc::clone(&session);
                // It says itself what went wrong.
                let _ = tokio::task::spawn_blocking(move || looks.look(&uri, &cancel)).await;
            }
        });
    }

    /// Looks for hypotheses for kernels that nobody has looked at as they are, or for all where something else has changed that
    /// they depend on: launches, above all.
    fn look(self: &Arc<Self>, uri: &str, cancel: &Cancel) {
        let Some((path, analysis)) = ({
            let state = self.state();
            let document = state.documents.get(uri);
            document.and_then(|document| Some((document.path.clone(), Arc::clone(document.analysis()?))))
        }) else {
            return;
        };
        let rest = rest(&analysis);
        let kernels: Vec<(String, String)> = {
            let mut state = self.state();
            let is_same = state.looked_at.insert(uri.to_owned(), rest) == Some(rest);
            let is_known = |fingerprint: &str| is_same && state.suggestions.of(fingerprint).is_some();
            let new = analysis.kernels.iter().filter(|kernel| !is_known(&kernel.fingerprint));
            new.map(|kernel| (kernel.name.clone(), kernel.fingerprint.clone())).collect()
        };
        if kernels.is_empty() {
            return;
        }
        let look = || suggestions::look(&self.shelf.catalog(&path), &analysis.text, &kernels, cancel);
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(look));
        if !matches!(found, Ok(Some(_))) {
            self.state().looked_at.remove(uri);
        }
        match found {
            Ok(Some(found)) => self.apply(Event::Suggested { uri: uri.to_owned(), found }),
            Ok(None) => {}
            Err(panic) => tracing::error!("no hypotheses for {uri}: {}", super::guards::in_words(&*panic)),
        }
        super::memory::give_back();
    }

    pub(super) fn were_suggested(&self, uri: &str, found: HashMap<String, Arc<[Hypothesis]>>) {
        let mut state = self.state();
        state.looking.remove(uri);
        state.forget_unused_suggestions();
        Arc::make_mut(&mut state.suggestions).learn(found);
    }

    /// Offers to go on with runs of a file that were cut off: their process was killed, or the machine went down.
    pub(super) fn offer_unfinished(self: &Arc<Self>, uri: &str, path: PathBuf) {
        {
            let mut state = self.state();
            if !state.is_trusted() || !state.offering.insert(path.clone()) {
                return;
            }
        }
        let (session, uri) = (Arc::clone(self), uri.to_owned());
        self.outbox.runtime().spawn(async move {
            let _turn = session.turns.offering.lock().await;
            let looks = Arc::clone(&session);
            let _ = tokio::task::spawn_blocking(move || looks.offer_if_cut_off(&uri, &path)).await;
        });
    }

    fn offer_if_cut_off(self: &Arc<Self>, uri: &str, path: &Path) {
        let found = cut_off(&self.world.notebook, path)
            .inspect_err(|error| tracing::warn!("unfinished runs could not be looked up: {error}"));
        self.state().offering.remove(path);
        let Ok(Some((run, kernel))) = found else { return };
        if self.state().offered.insert(run) {
            self.offer(uri, run, kernel, path);
        }
    }

    fn offer(self: &Arc<Self>, uri: &str, run: i64, kernel: Option<String>, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = format!("Evolution run {run} of {name} was cut off before its end. It can go on where it was.");
        let session = Arc::clone(self);
        let target = Target { uri: uri.to_owned(), kernel };
        self.outbox.ask(Tone::Info, text, vec!["Resume".into(), "Not now".into()], move |taken| {
            if taken == Some(0) {
                session.execute(Command::Resume { target, run, more: false });
            }
        });
    }
}

/// The newest run of a file that is neither over nor cancelled, and that no process holds.
fn cut_off(notebook: &Path, file: &Path) -> Result<Option<(i64, Option<String>)>, notebook::NotebookError> {
    let Some(notebook) = Notebook::open_existing(notebook)? else { return Ok(None) };
    let runs = notebook.unfinished_runs(file)?;
    let run = runs.into_iter().find(|run| run.state == RunState::Open && notebook.hold_run(run.id).is_ok());
    Ok(run.map(|run| (run.id.0, run.kernel)))
}
