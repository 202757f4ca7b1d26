//! `evolve FILE`: generations of experiments in the terminal, or as JSON lines.

mod lines;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lab::Source;
use lab::workbench::ShapeChoice;
use notebook::{Notebook, RunId};
use scientist::budget::Budget;
use scientist::catalog::Catalog;
use scientist::evolution::event::{EndState, Event, Finished};
use scientist::evolution::{Ended, Evolution, Stages};
use scientist::run::{RunError, RunRequest, Settings};
use serde_json::{Value, json};

use super::context::read_source;
use super::progress::Progress;
use super::provider::Provider;
use super::subject::{Subject, SubjectArgs, seconds};
use super::{CliError, Context};
use crate::forecasts::cured;

/// Arguments of `evolve`.
#[derive(Debug, clap::Args)]
pub struct EvolveArgs {
    /// HIP source file.
    file: PathBuf,
    /// Most generations.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    generations: u32,
    /// Most seconds, the confirmation of the winner included.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    max_time: Option<f64>,
    /// Who thinks up and writes the experiments [default: the settings' provider, else the rule-based catalog].
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Write the best version here; the original, when no version is confirmed to be faster.
    #[arg(long, value_name = "BEST")]
    out: Option<PathBuf>,
    /// Seed of the run [default: drawn anew].
    #[arg(long)]
    seed: Option<u64>,
    /// Go on with an unfinished run of this file: the latest, or the one named.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "0")]
    resume: Option<i64>,
    #[command(flatten)]
    subject: SubjectArgs,
}

/// Runs the command.
pub fn run(context: &Context, args: &EvolveArgs) -> Result<(), CliError> {
    let file = read_source(&args.file)?;
    let provider = Provider::choose(args.provider.as_deref(), &context.config(file.folder())?)?;
    super::require_kernel(&file, args.kernel.as_deref())?;
    let notebook = Notebook::open(&context.notebook_path()?)?;
    let unfinished = args.resume.map(|wanted| find_unfinished(&notebook, &file, wanted)).transpose()?;
    let original = match &unfinished {
        Some(unfinished) => file.with_text(unfinished.text.clone()),
        None => file.clone(),
    };
    let subject = Subject::open(context, &original, &args.subject, None)?;
    let best_path = best_path(args, &file)?;

    let resumed = unfinished.map(|unfinished| unfinished.run);
    let ended = evolve(context, args, provider, &subject, &notebook, resumed, best_path.as_deref())?;
    if !context.json() {
        let cured = ended.best_text.as_ref().map_or_else(String::new, |best| cured_lines(context, &subject, best));
        context.print(&lines::ending(&ended, &original, best_path.as_deref(), &cured))?;
    }
    match ended.finished.state {
        EndState::Completed => Ok(()),
        EndState::Cancelled => Err(CliError::Cancelled),
        EndState::Paused => Err(CliError::Unavailable(ended.finished.reason)),
        EndState::Failed => Err(CliError::Usage(ended.finished.reason)),
    }
}

/// A run to go on with, and the text that it began with.
struct Unfinished {
    run: RunId,
    text: Arc<str>,
}

fn find_unfinished(notebook: &Notebook, file: &Source, wanted: i64) -> Result<Unfinished, CliError> {
    let run = if wanted == 0 {
        notebook.unfinished_runs(&file.path)?.into_iter().next().ok_or_else(|| {
            CliError::Usage(format!(
                "{}: no unfinished run of this file is recorded; leave --resume out",
                file.path.display()
            ))
        })?
    } else {
        notebook.run(RunId(wanted))?
    };
    if run.file != file.path {
        return Err(CliError::Usage(format!(
            "run {} is one of {}, not of {}",
            run.id,
            run.file.display(),
            file.path.display()
        )));
    }
    Ok(Unfinished { run: run.id, text: notebook.text(&run.original)? })
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

fn evolve(
    context: &Context,
    args: &EvolveArgs,
    provider: Provider,
    subject: &Subject,
    notebook: &Notebook,
    resumed: Option<RunId>,
    best_path: Option<&Path>,
) -> Result<Ended, CliError> {
    let (mut selector, mut designer, mut writer) = match provider {
        Provider::Catalog => Catalog::load().fed_by(subject.workbench.benchmark()).stages(),
    };
    let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &mut writer };
    let evolution = Evolution::new(&subject.workbench, stages, notebook);
    let mut teller = Teller::new(context);
    let outcome = match resumed {
        Some(run) => evolution.resume(run, &context.cancel, &mut |event| teller.tell(event)),
        None => evolution.start(&request(args, provider, subject), &context.cancel, &mut |event| teller.tell(event)),
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

fn request(args: &EvolveArgs, provider: Provider, subject: &Subject) -> RunRequest {
    let source = &subject.source;
    RunRequest {
        file: source.path.clone(),
        text: source.text.clone(),
        kernel: args.kernel.clone(),
        provider: provider.name().into(),
        seed: args.seed.unwrap_or_else(rand::random),
        budget: Budget {
            generations: args.generations,
            wall: args.max_time.map(Duration::from_secs_f64),
            ..Budget::default()
        },
        settings: if subject.workbench.basis().is_some() { Settings::of_forecasts() } else { Settings::default() },
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

fn run_error(error: RunError) -> CliError {
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

impl<'a> Teller<'a> {
    fn new(context: &'a Context) -> Self {
        Self { context, progress: Progress::new(context), finished: None, broken: None }
    }

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
