//! The session: all that the server knows, behind one lock that is only ever held for a moment.
//!
//! Handlers take a [`View`] and work on that. What changes the state is an [`Event`]; whatever takes time runs elsewhere
//! (`background` for readings, `work` for jobs) and comes back as one.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hip_syntax::{Change, PositionEncoding, Text};
use lab::Cancel;
use serde_json::Value;

use super::analysis::Analysis;
use super::background::Turns;
use super::code_actions::Untested;
use super::code_lens::Lens;
use super::commands::{Command, Target};
use super::diagnostics::Finding;
use super::documents::{Documents, Role, Standing};
use super::forecasting::{Forecasting, Made};
use super::from_proto::Abilities;
use super::history::FileHistory;
use super::jobs::Jobs;
use super::models::EditorModels;
use super::outbox::{Outbox, Refreshed, Tone};
use super::proposals::{Goal, Proposal, Proposals};
use super::protocol::RunEvent;
use super::settings::Settings;
use super::suggestions::{Shelf, Suggestions};
use super::to_proto::{EditAbilities, Publication, WorkspaceChange};
use super::view::View;
use super::work::{Outcome, Told};

/// Longest wait of a request for the first reading of a document: before it there is nothing to answer with.
const FIRST_PATIENCE: Duration = Duration::from_millis(1500);
/// Longest wait for a reading without which a hint would vanish. One of 8,000 lines takes 15 ms; who types faster than
/// texts are read is answered with what is known.
const LOST_PATIENCE: Duration = Duration::from_millis(40);

/// Where the server keeps things.
#[derive(Clone, Debug)]
pub struct World {
    /// Folder for builds, logs and diffs.
    pub cache: PathBuf,
    /// The notebook's file.
    pub notebook: PathBuf,
    /// What the log's level is set by.
    pub log: super::log::Level,
    /// The settings file that holds for every document, where one was named.
    pub config: Option<PathBuf>,
    /// The device of users who name none.
    pub device: String,
}

/// What changes the state from outside of a request.
pub enum Event {
    /// A text was read, or could not be.
    Read {
        /// Its document.
        uri: String,
        /// Which opening of the document.
        opening: u64,
        /// What was read, and whether a benchmark file lies beside it.
        read: Option<(Analysis, bool)>,
    },
    /// A file's history was read from the notebook.
    History {
        /// The file.
        path: PathBuf,
        /// Its history; `None` when it could not be read.
        history: Option<FileHistory>,
    },
    /// Hypotheses were looked for.
    Suggested {
        /// The document.
        uri: String,
        /// By the fingerprint of their kernel.
        found: HashMap<String, Arc<[scientist::stages::Hypothesis]>>,
    },
    /// A document was forecast, or could not be.
    Forecast {
        /// The document.
        uri: String,
        /// What came of it.
        made: Box<Made>,
    },
    /// A benchmark file was checked.
    BenchmarkFile {
        /// Its document.
        uri: String,
        /// Its mistakes.
        found: Vec<Finding>,
    },
    /// A job tells of its way.
    Told {
        /// Its number.
        job: u64,
        /// What it tells.
        told: Told,
    },
    /// A job has ended.
    Ended {
        /// Its number.
        job: u64,
        /// What it came to.
        outcome: Outcome,
    },
}

/// All that the server knows.
pub struct Session {
    state: Mutex<State>,
    pub(super) outbox: Outbox,
    pub(super) world: World,
    pub(super) shelf: Arc<Shelf>,
    pub(super) turns: Turns,
    /// The editor's models.
    pub(super) models: EditorModels,
    /// Set when the server ends.
    pub(super) ending: Cancel,
}

/// What is behind the lock.
pub(super) struct State {
    pub documents: Documents,
    pub jobs: Jobs,
    pub settings: Arc<Settings>,
    pub abilities: Abilities,
    pub histories: HashMap<PathBuf, Arc<FileHistory>>,
    /// Files whose history is being read, and whether it is to be read again.
    pub reading_history: HashMap<PathBuf, bool>,
    pub suggestions: Arc<Suggestions>,
    /// What ends a search for hypotheses in a document.
    pub looking: HashMap<String, Cancel>,
    pub proposals: Proposals,
    pub found: HashMap<String, Vec<Finding>>,
    pub forecasting: Forecasting,
    /// The lab's names of the devices of files, as the settings last said.
    pub devices: HashMap<PathBuf, String>,
    /// Messages on settings that were shown since they last changed.
    told: HashSet<String>,
    /// Documents with a benchmark file beside them.
    pub fed: HashSet<String>,
    /// Hash of what hints said when the client last asked.
    shown_hints: HashMap<String, u64>,
    /// The same of lenses.
    shown_lenses: HashMap<String, u64>,
    /// Files whose runs are being looked at for one to resume.
    pub offering: HashSet<PathBuf>,
    /// Runs that were offered for resuming.
    pub offered: BTreeSet<i64>,
    /// No job may begin any more.
    pub is_over: bool,
}

impl Session {
    /// A session that talks through `outbox`.
    pub fn new(world: World, outbox: Outbox) -> Arc<Self> {
        let abilities = Abilities {
            encoding: PositionEncoding::Utf16,
            refreshes_hints: false,
            refreshes_lenses: false,
            shows_progress: false,
            has_settings: false,
            watches_files: false,
            shows_documents: false,
            shows_images: false,
            shows_related: false,
            has_models: false,
            has_keys: false,
            shows_proposals: false,
            // Nobody has said so yet.
            is_trusted: false,
            edits: EditAbilities::default(),
        };
        let state = State {
            documents: Documents::default(),
            jobs: Jobs::default(),
            settings: Arc::new(Settings { device: world.device.clone(), ..Settings::default() }),
            abilities,
            histories: HashMap::new(),
            reading_history: HashMap::new(),
            suggestions: Arc::default(),
            looking: HashMap::new(),
            proposals: Proposals::default(),
            found: HashMap::new(),
            forecasting: Forecasting::default(),
            devices: HashMap::new(),
            told: HashSet::new(),
            fed: HashSet::new(),
            shown_hints: HashMap::new(),
            shown_lenses: HashMap::new(),
            offering: HashSet::new(),
            offered: BTreeSet::new(),
            is_over: false,
        };
        let (models, turns) = (EditorModels::new(outbox.clone()), Turns::default());
        let (state, shelf, ending) = (Mutex::new(state), Arc::default(), Cancel::new());
        Arc::new(Self { state, outbox, world, shelf, turns, models, ending })
    }

    /// The state. A panic elsewhere while it was held left it whole enough: each change of it is one step.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

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
        self.read(uri);
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
            if let Some(looking) = state.looking.remove(uri) {
                looking.cancel();
            }
            state.forget_unused_suggestions();
            (state.found.remove(uri).is_some(), state.abilities.encoding)
        };
        if cleared {
            let (text, found) = (Text::default(), Vec::new());
            let (uri, version, shows_related) = (uri.to_owned(), None, false);
            self.outbox.publish(Publication { uri, version, text, encoding, found, shows_related });
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

    /// The client has what hints say in this view.
    pub fn hints_were_shown(&self, uri: &str, view: &View) {
        let digest = super::background::hints_digest(view);
        let mut state = self.state();
        // It may have been closed meanwhile, and nothing is kept of what is closed.
        if state.documents.get(uri).is_some() {
            state.shown_hints.insert(uri.to_owned(), digest);
        }
    }

    /// The client has these lenses.
    pub fn lenses_were_shown(&self, uri: &str, lenses: &[Lens]) {
        let digest = super::background::lenses_digest(lenses);
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
        let hints = shows_hints.then(|| super::background::hints_digest(&view));
        let lenses = shows_lenses.then(|| super::background::lenses_digest(&super::code_lens::lenses(&view)));
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
        let drafts = self.shelf.catalog(&path).apply(&text, &untested.key).map_err(|error| error.to_string())?;
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

    /// As [`Session::execute`], with what takes more than a moment (texts read, files written) out of other messages' way.
    pub async fn executed(self: &Arc<Self>, command: Command) -> Option<Value> {
        let session = Arc::clone(self);
        let executed = tokio::task::spawn_blocking(move || session.execute(command)).await;
        executed.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The server is ending.
            Err(_) => None,
        })
    }

    /// Carries out a command. Long ones are jobs: the answer is their number, at once. Not to be called where messages are
    /// handled: see [`Session::executed`].
    pub fn execute(self: &Arc<Self>, command: Command) -> Option<Value> {
        match self.try_to(command) {
            Ok(answer) => answer,
            Err(why) => {
                self.outbox.message(Tone::Warning, why);
                None
            }
        }
    }

    /// Asks a job to stop.
    pub fn stop(&self, job: u64) -> bool {
        self.state().jobs.stop(job)
    }

    /// Asks all jobs to stop, and takes on no others.
    pub fn stop_all(&self) {
        self.ending.cancel();
        let mut state = self.state();
        state.is_over = true;
        state.jobs.stop_all();
        state.forecasting.stop_all();
        state.looking.values().for_each(Cancel::cancel);
    }

    /// Whether every job has ended, and nothing is forecast.
    pub fn is_idle(&self) -> bool {
        let state = self.state();
        state.jobs.is_empty() && state.forecasting.is_idle()
    }

    /// Whether no job may begin any more.
    pub(super) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// The one place where the state changes from outside of a request.
    pub fn apply(self: &Arc<Self>, event: Event) {
        match event {
            Event::Read { uri, opening, read } => self.was_read(&uri, opening, read),
            Event::History { path, history } => self.history_was_read(&path, history),
            Event::Suggested { uri, found } => self.were_suggested(&uri, found),
            Event::Forecast { uri, made } => self.was_forecast(&uri, *made),
            Event::BenchmarkFile { uri, found } => self.publish(&uri, found),
            Event::Told { job, told } => self.was_told(job, told),
            Event::Ended { job, outcome } => self.job_ended(job, outcome),
        }
    }

    fn was_told(&self, job: u64, told: Told) {
        match told {
            Told::Doing(doing, percent) => {
                tracing::debug!("job {job}: {doing}");
                let uri = {
                    let mut state = self.state();
                    let changed = state.jobs.note(job, &doing, percent);
                    changed.then(|| state.jobs.get(job).map(|job| job.target.uri.clone())).flatten()
                };
                if let Some(uri) = uri {
                    self.refresh_where_changed(&uri);
                }
            }
            Told::Event(event) => {
                let target = self.state().jobs.get(job).map(|job| job.target.clone());
                if let Some(Target { uri, kernel }) = target {
                    self.outbox.run_event(RunEvent { job, uri, kernel, event: *event });
                }
            }
        }
    }
}

/// Whether the client shows something else; it is asked once for each change, whether or not it asks again.
fn is_news(shown: &mut HashMap<String, u64>, uri: &str, now: u64) -> bool {
    shown.get_mut(uri).is_some_and(|shown| std::mem::replace(shown, now) != now)
}

impl State {
    fn nothing_is_shown(&mut self, uri: &str) {
        for shown in [&mut self.shown_hints, &mut self.shown_lenses] {
            shown.insert(uri.to_owned(), 0);
        }
    }

    /// Forgets hypotheses for kernels that are in no open document: each edit makes another kernel.
    pub fn forget_unused_suggestions(&mut self) {
        let analyses = self.documents.iter().filter_map(|(_, document)| document.analysis());
        let in_use: BTreeSet<&str> =
            analyses.flat_map(|analysis| analysis.kernels.iter().map(|kernel| kernel.fingerprint.as_str())).collect();
        Arc::make_mut(&mut self.suggestions).keep(&in_use);
    }

    /// Notes whether a benchmark file lies beside a document.
    pub fn note_benchmark_file(&mut self, uri: &str, is_there: bool) {
        if is_there {
            self.fed.insert(uri.to_owned());
        } else {
            self.fed.remove(uri);
        }
    }

    /// Whether a message on settings was not shown since they last changed.
    pub fn is_new(&mut self, message: &str) -> bool {
        self.told.insert(message.to_owned())
    }

    /// Settings have changed: nothing is known of devices, and mistakes are to be told again.
    pub fn settings_are_new(&mut self) {
        self.devices.clear();
        self.told.clear();
        self.forecasting.doubt();
    }

    /// A document as it is now; `None` where nothing was read yet.
    pub fn view(&self, uri: &str) -> Option<View> {
        let document = self.documents.get(uri)?;
        let known = self.forecasting.of(uri);
        Some(View {
            uri: uri.to_owned(),
            version: document.version,
            text: document.text.clone(),
            encoding: self.abilities.encoding,
            analysis: Arc::clone(document.analysis()?),
            splices: document.splices(),
            history: self.histories.get(&document.path).cloned().unwrap_or_default(),
            jobs: self.jobs.on(uri),
            suggestions: Arc::clone(&self.suggestions),
            settings: Arc::clone(&self.settings),
            has_benchmark_file: self.fed.contains(uri),
            device: self.devices.get(&document.path).unwrap_or(&self.settings.device).clone(),
            forecast: known.and_then(|known| known.shown.clone()),
            no_forecast: known.and_then(|known| known.failure.clone()),
            shows_images: self.abilities.shows_images,
        })
    }
}
