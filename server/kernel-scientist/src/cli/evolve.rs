//! `evolve FILE`: generations of experiments in the terminal, or as JSON lines.

pub(in crate::cli) mod cost;
mod lines;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lab::Source;
use lab::workbench::ShapeChoice;
use notebook::{Notebook, Run, RunChange, RunId};
use scientist::budget::Budget;
use scientist::catalog::Catalog;
use scientist::evolution::event::{EndState, Event, Finished};
use scientist::evolution::{Ended, Evolution, Identity, Stages};
use scientist::model::ModelScientist;
use scientist::run::{RunError, RunRequest, Settings};
use scientist::stages::Finding;
use serde_json::{Value, json};

use super::context::read_source;
use super::progress::Progress;
use super::provider::{BoxedStages, Provider, ProviderArgs};
use super::subject::{self, Subject, SubjectArgs, seconds};
use super::{CliError, Context, consent};
use crate::config::Config;
use crate::forecasts::cured;
use crate::models::{self, Models, Reach};
use crate::recorded::{self, About, Beginning};

/// Arguments of `evolve`.
#[derive(Debug, clap::Args)]
pub struct EvolveArgs {
    /// HIP source file.
    file: PathBuf,
    /// Most generations [default: 5; for a run that goes on: as it was started].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    generations: Option<u32>,
    /// Most seconds, the confirmation of the winner included.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    max_time: Option<f64>,
    #[command(flatten)]
    spending: cost::SpendingArgs,
    #[command(flatten)]
    provider: ProviderArgs,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Write the best version here; the original, when no version is confirmed to be faster.
    #[arg(long, value_name = "BEST")]
    out: Option<PathBuf>,
    /// Seed of the run [default: drawn anew].
    #[arg(long)]
    seed: Option<u64>,
    /// Go on with an unfinished run of this file: the latest, or the one named. With a larger budget (--generations, --max-usd
    /// and the like) a run that came to its end goes on too.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "0")]
    resume: Option<i64>,
    #[command(flatten)]
    subject: SubjectArgs,
}

/// Runs the command.
pub fn run(context: &Context, args: &EvolveArgs) -> Result<(), CliError> {
    let file = read_source(&args.file)?;
    let config = context.config(file.folder())?;
    super::require_kernel(&file, args.kernel.as_deref())?;
    let notebook = Notebook::open(&context.notebook_path()?)?;
    let unfinished = args.resume.map(|wanted| find_unfinished(&notebook, &file, wanted)).transpose()?;
    let provider = match &unfinished {
        Some(unfinished) => unfinished.provider(args)?,
        None => Provider::choose(&args.provider, &config)?,
    };
    let skip = match &unfinished {
        Some(unfinished) => models::answered(&notebook, unfinished.run)?,
        None => 0,
    };
    let run = unfinished.as_ref().map(|unfinished| notebook.run(unfinished.run)).transpose()?;
    let progress = Progress::hidden(context);
    let mut reach = Reach { listener: Some(progress.listener(context.json())), ..args.provider.reach(skip) };
    let (seed, recalled) = begins_with(context, args, &file, run.as_ref(), &provider, &notebook, &mut reach)?;
    // Before anything is built: a missing key is told at once.
    let models = provider.connect(&reach, &config)?;
    match (&models, &run) {
        (Some(models), Some(run)) => {
            models.go_on_at(run, &reach).map_err(CliError::Usage)?.iter().for_each(|note| super::tell(note));
            if models.begins_to_cost(run) && !cost::is_limited(args) {
                return Err(CliError::Usage(format!(
                    "run {} cost nothing so far, and calls may cost money where it would go on; give a limit (--max-usd, \
                     --max-tokens or --max-calls), or leave --base-url out",
                    run.id
                )));
            }
        }
        (models, _) => consent::require(&provider, &args.provider, &config, models.as_ref())?,
    }
    models.iter().flat_map(|models| &models.notes).for_each(|note| super::tell(note));
    let original = match &unfinished {
        Some(unfinished) => file.with_text(unfinished.text.clone()),
        None => file.clone(),
    };
    let subject = Subject::open(context, &original, &args.subject, None)?.drawing_from(seed);
    let best_path = best_path(args, &file)?;

    let resumed = unfinished.as_ref().map(|unfinished| unfinished.run);
    let budget = cost::budget(args, unfinished.as_ref().map(|unfinished| unfinished.budget), models.as_ref(), &config)?;
    let party = Party { provider, models, config, seed, recalled };
    let ended = evolve(context, args, &party, budget, &subject, &notebook, resumed, best_path.as_deref(), progress)?;
    if !context.json() {
        let cured = ended.best_text.as_ref().map_or_else(String::new, |best| cured_lines(context, &subject, best));
        context.print(&lines::ending(&ended, &original, best_path.as_deref(), &cured))?;
        if let Provider::Models(names) = &party.provider {
            context.print(&cost::record_of_predictions(&notebook, names)?)?;
        }
    }
    match ended.finished.state {
        EndState::Completed => Ok(()),
        EndState::Cancelled => Err(CliError::Cancelled),
        EndState::Paused => Err(CliError::Unavailable(ended.finished.reason)),
        EndState::Failed => Err(CliError::Usage(ended.finished.reason)),
    }
}

/// The run's seed, and what earlier runs have taught where models are to hear of it.
fn begins_with(
    context: &Context,
    args: &EvolveArgs,
    file: &Source,
    run: Option<&Run>,
    provider: &Provider,
    notebook: &Notebook,
    reach: &mut Reach,
) -> Result<(u64, Option<Vec<Finding>>), CliError> {
    let Provider::Models(names) = provider else {
        return Ok((run.map(|run| run.seed).or(args.seed).unwrap_or_else(recorded::seed), None));
    };
    let device = subject::find_device(context, file, &args.subject.device)?;
    let about = About { file: &file.path, device: &device, run, seed: args.seed };
    let Beginning { seed, findings, .. } = Beginning::of(&about, names, notebook, reach)?;
    Ok((seed, Some(findings)))
}

/// A run to go on with, and the text that it began with.
pub(super) struct Unfinished {
    pub(super) run: RunId,
    pub(super) text: Arc<str>,
    pub(super) provider: String,
    pub(super) budget: Budget,
}

impl Unfinished {
    /// Who the run was begun with. Another is not taken: its answers would not go with those on record.
    fn provider(&self, args: &EvolveArgs) -> Result<Provider, CliError> {
        let recorded = Provider::recorded(&self.provider)?;
        let asked = &args.provider;
        if asked.provider.is_some() || asked.model.is_some() {
            let asked = Provider::choose(asked, &Config::default())?;
            if asked != recorded {
                return Err(CliError::Usage(format!(
                    "run {} was begun with {} and cannot go on with {}; leave --provider and --model out, or start a new run",
                    self.run,
                    self.provider,
                    asked.name()
                )));
            }
        }
        Ok(recorded)
    }
}

/// Who stands behind the stages, with what that takes.
struct Party {
    provider: Provider,
    models: Option<Models>,
    config: Config,
    seed: u64,
    /// What earlier runs have taught; without it the notebook says it.
    recalled: Option<Vec<Finding>>,
}

impl Party {
    fn stages(&self, subject: &Subject) -> Result<(BoxedStages, Option<ModelScientist>), CliError> {
        let Some(models) = &self.models else {
            let (selector, designer, writer) = Catalog::load().fed_by(subject.workbench.benchmark()).stages();
            return Ok(((Box::new(selector), Box::new(designer), Box::new(writer)), None));
        };
        let scientist = models.scientist(&self.config, &subject.workbench).map_err(CliError::Usage)?;
        let (selector, designer, writer) = scientist.stages();
        Ok(((Box::new(selector), Box::new(designer), Box::new(writer)), Some(scientist)))
    }
}

/// The run of a file that is to go on: the latest unfinished one for 0.
pub(super) fn find_unfinished(notebook: &Notebook, file: &Source, wanted: i64) -> Result<Unfinished, CliError> {
    let run = if wanted == 0 {
        match notebook.unfinished_runs(&file.path)?.into_iter().next() {
            Some(run) => run,
            None => return Err(nothing_unfinished(notebook, file)?),
        }
    } else {
        notebook.run(RunId(wanted))?
    };
    run.require_of(&file.path).map_err(CliError::Usage)?;
    let budget = budget_of(notebook, &run)?;
    Ok(Unfinished { run: run.id, text: notebook.text(&run.original)?, provider: run.provider, budget })
}

/// Says how a run that came to its end goes on, where there is one.
fn nothing_unfinished(notebook: &Notebook, file: &Source) -> Result<CliError, CliError> {
    let path = file.path.display();
    let first_budget = |run: &Run| serde_json::from_value::<Budget>(run.budget.clone()).ok();
    let ended = notebook.runs(&file.path)?.into_iter().find(|run| first_budget(run).is_some_and(|b| b.generations > 0));
    Ok(CliError::Usage(match ended {
        Some(Run { id, .. }) => format!(
            "{path}: no unfinished run of this file is recorded; the latest, run {id}, came to its end: name it and give it \
             more to go on with it (--resume {id} --generations N), or leave --resume out"
        ),
        None => format!("{path}: no run of this file is recorded; leave --resume out"),
    }))
}

/// What a run may use up: what it was given last.
pub(crate) fn budget_of(notebook: &Notebook, run: &Run) -> Result<Budget, CliError> {
    let given = notebook.latest_change(run.id, RunChange::Resumed)?.filter(|detail| !detail.is_null());
    serde_json::from_value(given.unwrap_or_else(|| run.budget.clone()))
        .map_err(|error| CliError::Usage(format!("the budget of run {} cannot be read: {error}", run.id)))
}

/// Where the best version goes: absolute, its folder made sure of before hours are spent.
fn best_path(args: &EvolveArgs, source: &Source) -> Result<Option<PathBuf>, CliError> {
    let Some(out) = &args.out else { return Ok(None) };
    let path =
        std::path::absolute(out).map_err(|error| CliError::Usage(format!("--out {}: {error}", out.display())))?;
    if path.is_dir() {
        return Err(CliError::Usage(format!("--out {}: is a folder; name a file", out.display())));
    }
    if is_same_file(&path, &source.path) {
        return Err(CliError::Usage(format!(
            "--out {}: is the source itself, which is never written to; name another file",
            out.display()
        )));
    }
    match path.parent() {
        Some(folder) if folder.is_dir() => Ok(Some(path)),
        _ => Err(CliError::Usage(format!("--out {}: its folder does not exist; make it first", out.display()))),
    }
}

/// Whether two paths lead to one file, by whatever links.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let about = |path: &Path| std::fs::metadata(path).map(|about| (about.dev(), about.ino())).ok();
    one == other || about(one).is_some_and(|one| Some(one) == about(other))
}

#[expect(clippy::too_many_arguments, reason = "each is a thing of its own that one command brings together")]
fn evolve(
    context: &Context,
    args: &EvolveArgs,
    party: &Party,
    budget: Budget,
    subject: &Subject,
    notebook: &Notebook,
    resumed: Option<RunId>,
    best_path: Option<&Path>,
    progress: Progress,
) -> Result<Ended, CliError> {
    let ((mut selector, mut designer, writer), scientist) = party.stages(subject)?;
    let stages = Stages { selector: &mut *selector, designer: &mut *designer, writer: &*writer };
    let headers = subject.source.headers();
    let mut evolution =
        Evolution::new(&subject.workbench, stages, notebook).with_identity(move |text| Identity::of(text, headers));
    if let (Some(models), Some(scientist)) = (&party.models, &scientist) {
        evolution = evolution.with_meter(models.meter()).with_limiter(models.limiter()).with_calls(models.calls());
        cost::tell_estimate(scientist, models, &subject.source, &budget);
    }
    if let Some(findings) = &party.recalled {
        evolution = evolution.with_recalled(findings.clone());
    }
    progress.show();
    let mut teller = Teller { context, progress, finished: None, broken: None };
    let outcome = match resumed {
        Some(run) => {
            let evolution = if cost::is_changed(args) { evolution.with_budget(budget) } else { evolution };
            evolution.resume(run, &context.cancel, &mut |event| teller.tell(event))
        }
        None => {
            evolution.start(&request(args, party, budget, subject), &context.cancel, &mut |event| teller.tell(event))
        }
    };
    let written = match (&outcome, best_path) {
        (Ok(ended), Some(path)) if ended.finished.state == EndState::Completed => {
            let text = ended.best_text.as_ref().unwrap_or(&subject.source.text);
            write_whole(path, text).map(|()| Some(path))
        }
        _ => Ok(None),
    };
    teller.finish(written.as_ref().ok().copied().flatten())?;
    written?;
    outcome.map_err(run_error)
}

fn request(args: &EvolveArgs, party: &Party, budget: Budget, subject: &Subject) -> RunRequest {
    let source = &subject.source;
    let served_at = party.models.as_ref().and_then(|models| models.served_at.clone());
    RunRequest {
        file: source.path.clone(),
        text: source.text.clone(),
        kernel: args.kernel.clone(),
        provider: party.provider.name(),
        seed: party.seed,
        budget,
        settings: Settings { served_at, ..crate::devices::measuring(&subject.workbench) },
    }
}

/// The lines that the best version cures, by the forecasts of both; empty where times are measured.
fn cured_lines(context: &Context, subject: &Subject, best: &str) -> String {
    let bench = &subject.workbench;
    let forecast = |source: &Source| bench.forecast(source, ShapeChoice::Shown, &context.cancel);
    let original = bench.original();
    let best = original.with_text(best);
    match (bench.basis(), forecast(original), forecast(&best)) {
        (Some(basis), Ok(before), Ok(after)) => {
            let lines = cured::between(&original.text, &before, &best.text, &after);
            cured::text(&lines, &basis.title)
        }
        _ => String::new(),
    }
}

/// Writes a file whole or not at all: a reader never sees half of it, and a full disk leaves the old one.
fn write_whole(path: &Path, text: &str) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        // As open to others as any new file: the mask of the process takes its part.
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        let mut file =
            tempfile::Builder::new().prefix(".kernel-scientist-").permissions(permissions).tempfile_in(folder)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| {
        CliError::Usage(format!(
            "--out {}: the best version could not be written: {error}; it is kept in the notebook: see `report`",
            path.display()
        ))
    })
}

pub(super) fn run_error(error: RunError) -> CliError {
    match error {
        RunError::Original(failure) => CliError::CodeFailed(failure),
        RunError::Lab(error) => error.into(),
        error => CliError::Usage(error.to_string()),
    }
}

/// Tells events as they come, and the last one when the best version is written.
struct Teller<'a> {
    context: &'a Context,
    progress: Progress,
    finished: Option<Finished>,
    broken: Option<CliError>,
}

impl Teller<'_> {
    fn tell(&mut self, event: Event) {
        let told = match event {
            Event::Finished(finished) => {
                self.progress.end();
                self.finished = Some(finished);
                Ok(())
            }
            event if self.context.json() => self.context.print_json(&event),
            event => {
                if let Event::Working { generation, doing } = &event {
                    self.progress.say(match generation {
                        0 => doing.clone(),
                        generation => format!("generation {generation}: {doing}"),
                    });
                }
                match lines::line(&event) {
                    Some(line) => self.progress.suspend(|| self.context.print(&line)),
                    None => Ok(()),
                }
            }
        };
        // The run goes on when nobody reads: what it finds is kept in the notebook.
        if let Err(error) = told {
            self.broken.get_or_insert(error);
        }
    }

    fn finish(self, best: Option<&Path>) -> Result<(), CliError> {
        if let (true, Some(finished)) = (self.context.json(), &self.finished) {
            let candidate = finished.best;
            let mut line = serde_json::to_value(Event::Finished(finished.clone()))
                .map_err(|error| CliError::Usage(format!("the result could not be written as JSON: {error}")))?;
            if let Value::Object(fields) = &mut line {
                fields.insert("best".into(), json!(best));
                fields.insert("best_candidate".into(), json!(candidate));
            }
            self.context.print_json(&line)?;
        }
        self.broken.map_or(Ok(()), Err)
    }
}
