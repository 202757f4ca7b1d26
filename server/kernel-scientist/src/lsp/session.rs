//! The session: all that the server knows, behind one lock that is only ever held for a moment.
//!
//! Handlers take a [`View`] and work on that. What changes the state is an [`Event`]; whatever takes time runs elsewhere
//! (`background` for readings, `work` for jobs) and comes back as one.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hip_syntax::{Fingerprint, PositionEncoding};
use lab::Cancel;

use super::analysis::Analysis;
use super::background::Turns;
use super::commands::Target;
use super::diagnostics::Finding;
use super::documents::Documents;
use super::findings::{BenchmarkFailure, FoundIn};
use super::forecasting::{Forecasting, Made};
use super::from_proto::Abilities;
use super::history::FileHistory;
use super::jobs::Jobs;
use super::memory::Broom;
use super::models::EditorModels;
use super::outbox::Outbox;
use super::outcome::{Outcome, Told};
use super::proposals::Proposals;
use super::protocol::RunEvent;
use super::settings::Settings;
use super::suggestions::{Shelf, Suggestions};
use super::to_proto::EditAbilities;
use super::view::View;

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
    pub(super) broom: Broom,
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
    /// The files of documents, however they are reached.
    pub identities: HashMap<String, PathBuf>,
    /// What ends a search for hypotheses in a document.
    pub looking: HashMap<String, Cancel>,
    /// Fingerprints of what is no kernel in documents that were searched.
    pub looked_at: HashMap<String, Fingerprint>,
    pub proposals: Proposals,
    pub found: HashMap<String, Vec<Finding>>,
    /// The code that runs found things in, by document.
    pub found_in: HashMap<String, FoundIn>,
    /// What jobs found wrong with benchmark files, which only building with them shows.
    pub benchmark_failures: HashMap<PathBuf, BenchmarkFailure>,
    pub forecasting: Forecasting,
    /// The lab's names of the devices of files, as the settings last said.
    pub devices: HashMap<PathBuf, String>,
    /// Messages on settings that were shown since they last changed.
    told: HashSet<String>,
    /// Documents with a benchmark file beside them.
    pub fed: HashSet<String>,
    /// Hash of what hints said when the client last asked.
    pub shown_hints: HashMap<String, u64>,
    /// The same of lenses.
    pub shown_lenses: HashMap<String, u64>,
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
            identities: HashMap::new(),
            looking: HashMap::new(),
            looked_at: HashMap::new(),
            proposals: Proposals::default(),
            found: HashMap::new(),
            found_in: HashMap::new(),
            benchmark_failures: HashMap::new(),
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
        Arc::new(Self { state, outbox, world, shelf, turns, models, broom: Broom::default(), ending })
    }

    /// The state. A panic elsewhere while it was held left it whole enough: each change of it is one step.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks a job to stop.
    pub fn stop(&self, job: u64) -> bool {
        let (is_there, uris) = {
            let state = self.state();
            (state.jobs.stop(job), state.shown_on(job))
        };
        // Its lens says so.
        uris.iter().for_each(|uri| self.refresh_where_changed(uri));
        is_there
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
        self.broom.sweep();
        match told {
            Told::Doing(doing, percent) => {
                tracing::debug!("job {job}: {doing}");
                let uris = {
                    let mut state = self.state();
                    if state.jobs.note(job, &doing, percent) { state.shown_on(job) } else { Vec::new() }
                };
                uris.iter().for_each(|uri| self.refresh_where_changed(uri));
            }
            Told::OfModels(text) => self.state().jobs.show_beside(job, &text),
            Told::Event(event) => {
                let target = self.state().jobs.get(job).map(|job| job.target.clone());
                if let Some(Target { uri, kernel }) = target {
                    self.outbox.run_event(RunEvent { job, uri, kernel, event: *event });
                }
            }
        }
    }
}

impl State {
    /// Addresses of the documents that a job is shown on.
    pub fn shown_on(&self, job: u64) -> Vec<String> {
        let Some(job) = self.jobs.get(job) else { return Vec::new() };
        let others = self.identities.iter().filter(|(uri, file)| **uri != job.target.uri && *file == job.identity());
        let others = others.map(|(uri, _)| uri.clone());
        std::iter::once(job.target.uri.clone()).chain(others).collect()
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
            opening: document.opening,
            version: document.version,
            text: document.text.clone(),
            encoding: self.abilities.encoding,
            analysis: Arc::clone(document.analysis()?),
            splices: document.splices(),
            history: self.histories.get(&document.path).cloned().unwrap_or_default(),
            jobs: self.jobs.on(uri, self.identities.get(uri).map(PathBuf::as_path)),
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
