//! Commands: what begins jobs, and what is done with their results.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hip_syntax::Syntax;
use lab::{Cancel, Source};
use notebook::RunId;
use serde_json::{Value, json};

use super::commands::{Command, Target};
use super::guards::in_words;
use super::jobs::Job;
use super::keys::EditorKeys;
use super::memory;
use super::models::{ModelError, ModelQuestion};
use super::outbox::Tone;
use super::outcome::{Outcome, Told};
use super::protocol::{ModelMessage, ModelRole};
use super::session::{Event, Session};
use super::work::{Assignment, Work};

/// How long a job waits for one that was stopped to end, which takes it less than a second.
const MOMENT: Duration = Duration::from_secs(3);
/// How often it looks.
const TICK: Duration = Duration::from_millis(10);

impl Session {
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

    fn try_to(self: &Arc<Self>, command: Command) -> Result<Option<Value>, String> {
        match command {
            Command::Time(target) => self.start(target, Work::Time).map(Some),
            Command::Suggest(target) => self.start(target, Work::Suggest).map(Some),
            Command::Evolve(target) => self.start(target, Work::Evolve).map(Some),
            Command::Check(target) => self.start(target, Work::Check).map(Some),
            Command::Resume { target, run, more } => {
                self.start(target, Work::Resume { run: RunId(run), more }).map(Some)
            }
            Command::Test { target, key } => self.test(target, &key).map(Some),
            Command::Apply { proposal } => self.apply_proposal(proposal).map(|()| None),
            Command::ShowDiff { proposal } => self.show_diff(proposal).map(|()| None),
            Command::CreateBenchmark(target) => self.create_benchmark(&target).map(|()| None),
            Command::ShowJob { job } => {
                let state = self.state().jobs.view(job).map(|job| job.state());
                self.outbox.message(Tone::Info, state.unwrap_or_else(|| "It has ended.".into()));
                Ok(None)
            }
            Command::Stop { job } => Ok(Some(json!({ "stopped": self.stop(job) }))),
            Command::TryModel { model } => self.try_model(model).map(|()| None),
        }
    }

    fn test(self: &Arc<Self>, target: Target, key: &str) -> Result<Value, String> {
        let hypothesis = {
            let state = self.state();
            let analysis = state.documents.get(&target.uri).and_then(|document| document.analysis());
            let kernels = analysis.iter().flat_map(|analysis| &analysis.kernels);
            let of =
                |fingerprint: &str| state.suggestions.of(fingerprint).cloned().into_iter().flat_map(|all| all.to_vec());
            kernels.flat_map(|kernel| of(&kernel.fingerprint)).find(|hypothesis| hypothesis.key == key)
        };
        let hypothesis = hypothesis.ok_or_else(|| {
            format!("hypothesis {key} is not one for the kernel as it is now; ask for suggestions again")
        })?;
        self.start(target, Work::Test(Box::new(hypothesis)))
    }

    /// Asks one of the editor's models for a word. The editor asks its user for consent at that.
    fn try_model(self: &Arc<Self>, model: Option<String>) -> Result<(), String> {
        {
            let state = self.state();
            if !state.abilities.has_models {
                return Err(ModelError::Unsupported.to_string());
            }
            state.require_trust("The editor's model")?;
        }
        let text = "Answer with the single word: ready".to_owned();
        let question = ModelQuestion {
            model,
            messages: vec![ModelMessage { role: ModelRole::User, text }],
            tool: None,
            justification: "Hypotheses for GPU kernels, and the code that tries them".into(),
            is_of_user: true,
        };
        let session = Arc::clone(self);
        let work = move || {
            let began = Instant::now();
            match session.models.ask(question, &session.ending, &mut |_| {}) {
                Ok(answer) => {
                    let seconds = began.elapsed().as_secs_f64();
                    let text = format!("The editor's model {} answered in {seconds:.1} s", answer.model);
                    session.outbox.message(Tone::Info, text);
                }
                Err(ModelError::Cancelled) => {}
                Err(error) => session.outbox.message(Tone::Warning, error.to_string()),
            }
        };
        let spawned = std::thread::Builder::new().name("editor's model".into()).spawn(work);
        spawned.map(drop).map_err(|error| format!("no thread could be started: {error}"))
    }

    /// Takes on a job, on a thread of its own.
    fn start(self: &Arc<Self>, target: Target, work: Work) -> Result<Value, String> {
        let name = work.name();
        let (job, assignment) = self.assigned(target, work)?;
        let uri = job.target.uri.clone();
        let title = match &assignment.kernel {
            Some(kernel) => format!("{name} {kernel}"),
            None => format!("{name} {}", name_of(&assignment.source.path)),
        };
        let id = self.begun(name, job)?;
        if self.state().abilities.shows_progress {
            let progress = self.outbox.progress(id, title);
            self.state().jobs.show(id, progress);
        }
        self.refresh_where_changed(&uri);
        self.spawn(id, assignment)?;
        self.sweep_while_busy();
        Ok(json!({ "job": id }))
    }

    /// Gives memory back while jobs are under way: some steps take long without a word.
    fn sweep_while_busy(self: &Arc<Self>) {
        let session = Arc::clone(self);
        self.outbox.runtime().spawn(async move {
            while !session.state().jobs.is_empty() {
                tokio::time::sleep(memory::PAUSE).await;
                let sweeps = Arc::clone(&session);
                // It has nothing to say.
                let _ = tokio::task::spawn_blocking(move || sweeps.broom.sweep()).await;
            }
        });
    }

    /// The number of a job that is taken on. One that was stopped on the same kernel has a moment to end.
    fn begun(&self, name: &str, mut job: Job) -> Result<u64, String> {
        let began = Instant::now();
        loop {
            {
                let mut state = self.state();
                if state.is_over {
                    return Err(format!("{name}: the server is shutting down"));
                }
                state.require_trust(name)?;
                job = match state.jobs.begin(job) {
                    Ok(id) => {
                        if state.jobs.is_measuring() {
                            // Two programs that run at once time each other.
                            state.forecasting.stop_all();
                        }
                        return Ok(id);
                    }
                    Err((other, job)) if other.is_stopping() && began.elapsed() < MOMENT => *job,
                    Err((other, _)) => return Err(format!("{name}: already under way there: {}", other.state())),
                };
            }
            std::thread::sleep(TICK);
        }
    }

    /// A job on the document as it is now, with all that it needs.
    pub(super) fn assigned(&self, target: Target, work: Work) -> Result<(Job, Assignment), String> {
        let name = work.name();
        let (document, settings, keys) = {
            let state = self.state();
            let document = state.documents.get(&target.uri);
            let keys = state.abilities.has_keys.then(|| EditorKeys::new(self.outbox.clone()));
            (document.map(|document| (document.path.clone(), document.text.clone())), Arc::clone(&state.settings), keys)
        };
        let (path, text) = document.ok_or_else(|| {
            let uri = &target.uri;
            format!("{name}: no document of HIP or C++ is open at {uri}; open it, and save it first if it has no file")
        })?;
        let text: Arc<str> = text.to_string().into();
        let source = Source::new(path, text);
        // Read from this very text, which may be newer than what was last read in the background.
        let fingerprint = target.kernel.as_ref().and_then(|name| {
            let syntax = Syntax::without_tree(Arc::clone(&source.text));
            syntax.kernel(name).map(|kernel| kernel.fingerprint.resting_on(source.headers()).to_string())
        });
        if let (Some(kernel), None) = (&target.kernel, &fingerprint) {
            return Err(format!("{name}: there is no kernel {kernel} in the document as it is now"));
        }
        let assignment = Assignment {
            source,
            kernel: target.kernel.clone(),
            work,
            settings,
            config: self.world.config.clone(),
            cache: self.world.cache.clone(),
            notebook: self.world.notebook.clone(),
            shelf: Arc::clone(&self.shelf),
            models: self.models.clone(),
            keys,
            listener: None,
            cancel: Cancel::new(),
        };
        Ok((Job::new(target, &assignment, fingerprint), assignment))
    }

    fn spawn(self: &Arc<Self>, id: u64, mut assignment: Assignment) -> Result<(), String> {
        let (session, listening) = (Arc::clone(self), Arc::clone(self));
        assignment.listener = Some(Arc::new(move |heard| {
            if let Some(text) = scientist::evolution::event::Event::from(heard).of_models() {
                listening.apply(Event::Told { job: id, told: Told::OfModels(text) });
            }
        }));
        let work = move || {
            let mut tell = |told| session.apply(Event::Told { job: id, told });
            let done = || assignment.carry_out(&mut tell);
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(done)).unwrap_or_else(|panic| {
                Outcome::Error(format!("a mistake in this program ended it: {}", in_words(&*panic)))
            });
            session.apply(Event::Ended { job: id, outcome });
            drop(assignment);
            memory::give_back();
        };
        let spawned = std::thread::Builder::new().name(format!("job {id}")).spawn(work);
        spawned.map(drop).map_err(|error| {
            self.state().jobs.end(id);
            format!("no thread could be started: {error}")
        })
    }
}

/// The name of a file without its folders, as titles have it.
pub(super) fn name_of(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy()
}
