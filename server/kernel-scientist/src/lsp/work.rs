//! What jobs do, on threads of their own: build, run, time, and everything else that takes its time.

mod stages;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lab::sanitize::{Sanitized, Sanitizer};
use lab::workbench::{Sampling, ShapeChoice, Workbench, WorkbenchOptions};
use lab::{Cancel, Failure, LabError, Source};
use llm::editor::EditorProvider;
use llm::hearing::Listener;
use notebook::{MeasuredCode, Notebook, RunId};
use scientist::budget::Budget;
use scientist::catalog::Catalog;
use scientist::evolution::event::{EndState, Event};
use scientist::evolution::{self, Ended, Evolution, Identity, Stages};
use scientist::run::{RunRequest, Settings as Measuring};
use scientist::stages::Hypothesis;
use scientist::trial;

use super::keys::EditorKeys;
use super::models::EditorModels;
use super::outcome::{Outcome, Told};
use super::pace::Pace;
use super::settings::Settings;
use super::suggestions::Shelf;
use crate::cli::CliError;
use crate::cli::provider::{Provider, ProviderArgs};
use crate::config::Config;
use crate::devices::{self, CPU};
use crate::forecasts::cured::{self, Cured};
use crate::forecasts::outlook::{self, Outlook};
use crate::models::{self, Models, OfEditor, OfKeys, Reach};
use crate::recorded;
use stages::with_more;

/// What is done where the runtime is not there yet.
pub const BUILDING: &str = "building the HIP runtime for this machine, once; it takes a minute or two";

/// What a job does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Check and time.
    Time,
    /// Write, check and time one hypothesis.
    Test(Box<Hypothesis>),
    /// Run generations of experiments.
    Evolve,
    /// Go on with an interrupted run, or with one that its budget ended.
    Resume {
        /// The run.
        run: RunId,
        /// With as much again as it began with.
        more: bool,
    },
    /// Look for races and accesses out of bounds.
    Check,
    /// Look for hypotheses.
    Suggest,
}

impl Work {
    /// As it is called in lenses and messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Time => "Time",
            Self::Test(_) => "Test",
            Self::Evolve | Self::Resume { .. } => "Evolve",
            Self::Check => "Check",
            Self::Suggest => "Suggest",
        }
    }
}

fn told(error: CliError) -> Outcome {
    match error {
        CliError::Cancelled => Outcome::Cancelled,
        error => Outcome::Error(error.to_string()),
    }
}

/// A job with all that it needs.
pub struct Assignment {
    /// The text as it is in the editor, saved or not.
    pub source: Source,
    /// The kernel it is about.
    pub kernel: Option<String>,
    /// What is to be done.
    pub work: Work,
    /// The user's settings.
    pub settings: Arc<Settings>,
    /// The settings file that was named, instead of the nearest one.
    pub config: Option<PathBuf>,
    /// Folder for builds.
    pub cache: PathBuf,
    /// The notebook's file.
    pub notebook: PathBuf,
    /// The catalog.
    pub shelf: Arc<Shelf>,
    /// The editor's models.
    pub models: EditorModels,
    /// The keys that the editor keeps, where it keeps any.
    pub keys: Option<EditorKeys>,
    /// Who hears how far models' answers are.
    pub listener: Option<Listener>,
    /// Ends it.
    pub cancel: Cancel,
}

impl Assignment {
    /// Does it. `tell` hears of the way.
    pub fn carry_out(&self, tell: &mut dyn FnMut(Told)) -> Outcome {
        let done = match &self.work {
            Work::Time => self.time(tell),
            Work::Test(hypothesis) => self.test(hypothesis, tell),
            Work::Evolve => self.evolve(None, false, tell),
            Work::Resume { run, more } => self.evolve(Some(*run), *more, tell),
            Work::Check => self.check(tell),
            Work::Suggest => self.suggest(tell),
        };
        match done {
            // Whatever else came of it, somebody wanted it to stop.
            Err(_) if self.cancel.is_cancelled() => Outcome::Cancelled,
            Ok(outcome) | Err(outcome) => outcome,
        }
    }

    /// The settings file that holds for the source.
    pub(super) fn config(&self) -> Result<Config, Outcome> {
        Config::load(self.config.as_deref(), self.source.folder()).map_err(|error| Outcome::Error(error.to_string()))
    }

    /// Who thinks hypotheses up: the user's word, else the project's, else the catalog.
    pub(super) fn provider(&self) -> Result<Provider, Outcome> {
        let args = ProviderArgs { provider: self.settings.provider.clone(), ..ProviderArgs::default() };
        Provider::choose(&args, &self.config()?).map_err(told)
    }

    /// Where models are reached, the editor's own among them.
    pub(super) fn reach(&self, skip: usize) -> Reach {
        let models = self.models.clone();
        let editor: OfEditor = Arc::new(move |name| {
            let name = (!name.is_empty()).then(|| name.to_owned());
            Box::new(EditorProvider::new(models.clone(), name))
        });
        let keys = self.keys.clone().map(|keys| -> OfKeys { Arc::new(move |kind| keys.ask(kind)) });
        let (listener, cancel) = (self.listener.clone(), Some(self.cancel.clone()));
        Reach { skip, editor: Some(editor), keys, listener, cancel, ..Reach::default() }
    }

    /// The lab's name of the device that the user works with; a run goes on with the one that it began with, and checks are
    /// made on the CPU whatever times are for.
    fn device(&self) -> Result<String, Outcome> {
        match &self.work {
            Work::Check => Ok(CPU.to_owned()),
            Work::Resume { run, .. } => Ok(Notebook::open(&self.notebook)?.run(*run)?.device),
            _ => devices::find(&self.config()?, &self.settings.device)
                .map_err(|error| Outcome::Error(format!("kernelScientist.device: {error}"))),
        }
    }

    /// Whether it takes times on this machine: whatever else runs there would be in them.
    pub fn is_measuring(&self) -> bool {
        let takes_times = match &self.work {
            Work::Time | Work::Test(_) | Work::Evolve | Work::Resume { .. } => true,
            Work::Check | Work::Suggest => false,
        };
        takes_times && self.device().is_ok_and(|device| device == CPU)
    }

    fn open(&self, source: &Source, kernel: Option<&str>, tell: &mut dyn FnMut(Told)) -> Result<Workbench, Outcome> {
        let device = self.device()?;
        let is_ready = Workbench::is_ready(&device, &self.cache, &self.cancel);
        tell(Told::Doing(if is_ready { "opening the device" } else { BUILDING }.into(), None));
        Source::check_path(&source.path)?;
        let options = WorkbenchOptions {
            device,
            cache: self.cache.clone(),
            benchmark: None,
            program_args: None,
            kernel: kernel.map(str::to_owned),
            timeout: Duration::from_secs_f64(self.settings.timeout_seconds),
            memory_bytes: self.settings.memory_mib << 20,
        };
        Ok(Workbench::open(source, options, &self.cancel)?)
    }

    /// As [`Assignment::open`] for all that the source's benchmark runs, or for the job's kernel where its signature feeds it.
    fn open_whole(&self, source: &Source, tell: &mut dyn FnMut(Told)) -> Result<Workbench, Outcome> {
        let whole = self.open(source, None, tell)?;
        match (&self.kernel, whole.note()) {
            (Some(kernel), Some(_)) => self.open(source, Some(kernel), tell),
            _ => Ok(whole),
        }
    }

    fn time(&self, tell: &mut dyn FnMut(Told)) -> Result<Outcome, Outcome> {
        // First: a notebook that cannot be written is told before the work, whose result would be lost.
        let notebook = Notebook::open(&self.notebook)?;
        let bench = self.open(&self.source, self.kernel.as_deref(), tell)?;
        let start = Instant::now();
        let (building, doing) = match bench.basis() {
            Some(_) => ("building, checking and forecasting", "forecasting"),
            None => ("building", "timing"),
        };
        tell(Told::Doing(building.into(), None));
        let build = bench.build(&self.source, &self.cancel)?;
        tell(Told::Doing(doing.into(), None));
        let sampling = Sampling {
            seed: rand::random(),
            budget: Duration::from_millis(600),
            half_width: 0.005,
            shapes: ShapeChoice::Shown,
        };
        let report = bench.time(&build, &sampling, &self.cancel)?;
        let kernels = evolution::kernels(&self.source.text, self.source.headers());
        let code = MeasuredCode { text: &self.source.text, kernels: &kernels };
        notebook.record_times(&self.source.path, code, &report, sampling.seed, start.elapsed())?;
        Ok(Outcome::Timed(Box::new(report)))
    }

    fn test(&self, hypothesis: &Hypothesis, tell: &mut dyn FnMut(Told)) -> Result<Outcome, Outcome> {
        let bench = self.open_whole(&self.source, tell)?;
        let notebook = Notebook::open(&self.notebook)?;
        let author = self.author(hypothesis, &bench)?;
        let request = trial::Request {
            file: self.source.path.clone(),
            text: Arc::clone(&self.source.text),
            hypothesis: hypothesis.clone(),
            seed: recorded::seed(),
            settings: devices::measuring(&bench),
        };
        let mut say = |doing| tell(Told::Doing(doing, None));
        let tested = trial::test(&bench, &author.by(), &notebook, &request, &self.cancel, &mut say)?;
        Ok(Outcome::Tested(Box::new(hypothesis.clone()), Box::new(tested)))
    }

    fn evolve(&self, resumed: Option<RunId>, more: bool, tell: &mut dyn FnMut(Told)) -> Result<Outcome, Outcome> {
        let notebook = Notebook::open(&self.notebook)?;
        let resumed = resumed.map(|run| notebook.run(run)).transpose()?;
        if let Some(run) = &resumed {
            let refused = |why| Outcome::Error(format!("{why}; resume it from its own file"));
            run.require_of(&self.source.path).map_err(refused)?;
        }
        let budget = resumed.as_ref().filter(|_| more).map(|run| with_more(&notebook, run)).transpose()?;
        // A run goes on with whom it was begun with: other answers would not go with those on record.
        let (provider, skip) = match &resumed {
            Some(run) => (Provider::recorded(&run.provider).map_err(told)?, models::answered(&notebook, run.id)?),
            None => (self.provider()?, 0),
        };
        let config = self.config()?;
        let mut reach = self.reach(skip);
        let (seed, recalled) = self.begins_with(&notebook, &provider, resumed.as_ref(), &mut reach)?;
        let models = provider.connect(&reach, &config).map_err(told)?;
        models.iter().flat_map(|models| &models.notes).for_each(|note| tracing::warn!("{note}"));
        if let (Some(models), Some(run)) = (&models, &resumed) {
            models.go_on_at(run, &reach).map_err(Outcome::Error)?;
        }
        let source = match &resumed {
            // A run goes on with the text that it began with, whatever became of the file.
            Some(run) => self.source.with_text(notebook.text(&run.original)?),
            None => self.source.clone(),
        };
        let mut bench = self.open_whole(&source, tell)?;
        bench.draw_from(seed);
        let (mut selector, mut designer, writer) = self.stages(models.as_ref(), &config, &bench)?;
        let stages = Stages { selector: &mut *selector, designer: &mut *designer, writer: &*writer };
        let headers = source.headers();
        let mut evolution =
            Evolution::new(&bench, stages, &notebook).with_identity(move |text| Identity::of(text, headers));
        if let Some(models) = &models {
            evolution = evolution.with_meter(models.meter()).with_limiter(models.limiter()).with_calls(models.calls());
        }
        if let Some(findings) = recalled {
            evolution = evolution.with_recalled(findings);
        }
        if let Some(budget) = budget {
            evolution = evolution.with_budget(budget);
        }
        let mut pace = Pace::default();
        // What earlier sittings cost, and this one so far.
        let before = resumed.as_ref().map(|run| notebook.spent(run.id)).transpose()?.unwrap_or_default().usd;
        let mut hear = |event: Event| {
            if let Some(models) = &models {
                pace.spent(before + models.ledger.spent().usd);
            }
            if let Some((doing, percent)) = pace.of(&event) {
                tell(Told::Doing(doing, percent));
            }
            tell(Told::Event(Box::new(event)));
        };
        let ended = match resumed {
            Some(run) => evolution.resume(run.id, &self.cancel, &mut hear),
            None => evolution.start(&self.request(&bench, &provider, models.as_ref(), seed)?, &self.cancel, &mut hear),
        }?;
        match ended.finished.state {
            EndState::Cancelled => Err(Outcome::Cancelled),
            EndState::Paused | EndState::Failed => Err(Outcome::Error(ended.finished.reason)),
            EndState::Completed => {
                let cured = self.cured(&bench, &source, &ended);
                Ok(Outcome::Evolved(source.text, Box::new(ended), cured))
            }
        }
    }

    /// The lines that the best version cures, where the device is forecast for and both versions have their forecasts.
    fn cured(&self, bench: &Workbench, original: &Source, ended: &Ended) -> Vec<Cured> {
        let Some(best) = ended.best_text.as_ref().filter(|_| bench.basis().is_some()) else { return Vec::new() };
        let forecast = |source: &Source| bench.forecast(source, ShapeChoice::Shown, &self.cancel);
        match (forecast(original), forecast(&original.with_text(Arc::clone(best)))) {
            (Ok(before), Ok(after)) => cured::between(&original.text, &before, best, &after),
            _ => Vec::new(),
        }
    }

    fn request(
        &self,
        bench: &Workbench,
        provider: &Provider,
        models: Option<&Models>,
        seed: u64,
    ) -> Result<RunRequest, Outcome> {
        Ok(RunRequest {
            file: self.source.path.clone(),
            text: Arc::clone(&self.source.text),
            kernel: self.kernel.clone(),
            provider: provider.name(),
            seed,
            budget: self.budget(&self.config()?, models)?,
            settings: Measuring {
                served_at: models.and_then(|models| models.served_at.clone()),
                ..devices::measuring(bench)
            },
        })
    }

    fn budget(&self, config: &Config, models: Option<&Models>) -> Result<Budget, Outcome> {
        let (settings, scientist) = (&self.settings, &config.scientist);
        let usd = settings.max_usd.or(scientist.max_usd);
        Ok(Budget {
            generations: settings.generations,
            wall: settings.max_seconds.map(Duration::from_secs_f64),
            usd: models.map(|models| models.limit(usd)).transpose().map_err(Outcome::Error)?.flatten(),
            tokens: models.and(scientist.max_tokens),
            calls: models.and(scientist.max_calls),
        })
    }

    /// What an evolution with these models will probably cost, in words.
    pub(super) fn estimate(&self, config: &Config, models: &Models) -> Result<String, Outcome> {
        let bench = self.open_whole(&self.source, &mut |_| {})?;
        let scientist = models.scientist(config, &bench).map_err(Outcome::Error)?;
        Ok(models.estimate(&scientist, &self.source.text, &self.budget(config, Some(models))?))
    }

    fn check(&self, tell: &mut dyn FnMut(Told)) -> Result<Outcome, Outcome> {
        let bench = self.open(&self.source, self.kernel.as_deref(), tell)?;
        let mut faults = Vec::new();
        let mut failure = None;
        for (sanitizer, what) in [(Sanitizer::Address, "accesses out of bounds"), (Sanitizer::Thread, "races")] {
            let first =
                if bench.is_ready_to_sanitize(sanitizer) { "" } else { " (the first time its runtime is built)" };
            tell(Told::Doing(format!("looking for {what}{first}"), None));
            let found = match bench.sanitize(&self.source, sanitizer, &self.cancel) {
                Err(LabError::Code(failure @ Failure::DoesNotCompile { .. })) => return Err(Outcome::Failed(failure)),
                Err(LabError::Code(failure)) => Sanitized { faults: Vec::new(), failure: Some(failure) },
                other => other?,
            };
            faults.extend(found.faults);
            failure = failure.or(found.failure);
        }
        Ok(Outcome::Checked(faults, failure))
    }

    fn suggest(&self, tell: &mut dyn FnMut(Told)) -> Result<Outcome, Outcome> {
        let provider = self.provider()?;
        if let Some(models) = self.connect(&provider)? {
            return self.designed(&provider, &models, tell);
        }
        let by = "rule-based".to_owned();
        tell(Told::Doing("looking for hypotheses".into(), None));
        let catalog = self.shelf.catalog(&self.source.path);
        let found = catalog.suggest_until(&self.source.text, self.kernel.as_deref(), &self.cancel);
        let hypotheses = found.map_err(|_| Outcome::Cancelled)?;
        match self.outlooks(&catalog, &hypotheses, tell) {
            Ok(outlooks) => Ok(Outcome::Suggested(hypotheses.into_iter().zip(outlooks).collect(), None, by)),
            Err(Outcome::Cancelled) => Err(Outcome::Cancelled),
            // The catalog's word stands alone then.
            Err(Outcome::Error(why)) => Ok(Outcome::Suggested(unforeseen(hypotheses), Some(why), by)),
            Err(Outcome::Failed(failure)) => {
                Ok(Outcome::Suggested(unforeseen(hypotheses), Some(failure.to_string()), by))
            }
            Err(other) => Err(other),
        }
    }

    /// What each hypothesis gains by forecast; nothing on a device that is measured.
    fn outlooks(
        &self,
        catalog: &Catalog,
        hypotheses: &[Hypothesis],
        tell: &mut dyn FnMut(Told),
    ) -> Result<Vec<Option<Outlook>>, Outcome> {
        if hypotheses.is_empty() || !lab::forecast::is_device(&self.device()?) {
            return Ok(vec![None; hypotheses.len()]);
        }
        let bench = self.open_whole(&self.source, tell)?;
        tell(Told::Doing(format!("checking and forecasting {} hypotheses", hypotheses.len()), None));
        Ok(outlook::of_all(&bench, catalog, hypotheses, &self.cancel)?)
    }
}

fn unforeseen(hypotheses: Vec<Hypothesis>) -> Vec<(Hypothesis, Option<Outlook>)> {
    hypotheses.into_iter().map(|hypothesis| (hypothesis, None)).collect()
}
