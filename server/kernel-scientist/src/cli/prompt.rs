//! `prompt STAGE FILE`: exactly what a stage's model would be asked next, with nobody asked and nothing recorded.

use std::path::PathBuf;

use lab::Source;
use llm::{Request, Role};
use notebook::{Notebook, RunId};
use scientist::budget::Budget;
use scientist::catalog::Catalog;
use scientist::evolution::{Ended, Evolution, Identity, Stages};
use scientist::findings;
use scientist::model::{Inquiry, Preview, Stage};
use scientist::run::{RunError, RunRequest};

use super::context::read_source;
use super::evolve::{Unfinished, find_unfinished, run_error};
use super::progress::Progress;
use super::provider::{Provider, ProviderArgs};
use super::subject::{self, Subject, SubjectArgs};
use super::{CliError, Context};
use crate::models::{self, Reach};
use crate::recorded::{self, About, Beginning};

/// Arguments of `prompt`.
#[derive(Debug, clap::Args)]
pub struct PromptArgs {
    /// Which stage.
    stage: StageName,
    /// HIP source file.
    file: PathBuf,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// What a run of this file would ask when it goes on: the latest unfinished one, or the one named [default: what a new run
    /// would ask]. Answers that it has no record of, before the question, are the catalog's.
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "0")]
    resume: Option<i64>,
    #[command(flatten)]
    subject: SubjectArgs,
}

/// A stage, as it is named on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum StageName {
    /// Chooses what the next experiments start from.
    Selector,
    /// Lists avenues and works out plans.
    Designer,
    /// Writes a plan's code.
    Writer,
}

impl From<StageName> for Stage {
    fn from(name: StageName) -> Self {
        match name {
            StageName::Selector => Self::Selector,
            StageName::Designer => Self::Designer,
            StageName::Writer => Self::Writer,
        }
    }
}

/// Runs the command.
pub fn run(context: &Context, args: &PromptArgs) -> Result<(), CliError> {
    let file = read_source(&args.file)?;
    let config = context.config(file.folder())?;
    super::require_kernel(&file, args.kernel.as_deref())?;
    let folder = tempfile::tempdir().map_err(|error| CliError::Usage(format!("no temporary folder: {error}")))?;
    let copy = folder.path().join("notebook.db");
    if let Some(notebook) = Notebook::open_existing(&context.notebook_path()?)? {
        notebook.copy_to(&copy)?;
    }
    let notebook = Notebook::open(&copy)?;
    let unfinished = args.resume.map(|wanted| find_unfinished(&notebook, &file, wanted)).transpose()?;
    let original = match &unfinished {
        Some(Unfinished { text, .. }) => file.with_text(text.clone()),
        None => file.clone(),
    };
    let provider = match &unfinished {
        Some(unfinished) => Provider::recorded(&unfinished.provider)?,
        None => Provider::choose(&ProviderArgs::default(), &config)?,
    };
    let beginning = begins_with(context, args, &file, &notebook, unfinished.as_ref(), &provider)?;
    let subject = Subject::open(context, &original, &args.subject, None)?.drawing_from(beginning.seed);
    let designer = match provider {
        Provider::Models(names) => names.designer.to_string(),
        Provider::Catalog => String::new(),
    };
    let inquiry = models::inquiry(&config, &subject.workbench).map_err(CliError::Usage)?;
    let inquiry = Inquiry { designer, ..inquiry };
    let preview = Preview::new(inquiry, args.stage.into());
    let progress = Progress::new(context);
    let ended = go_on(context, args, &subject, &notebook, &preview, unfinished.as_ref(), beginning, &progress);
    progress.end();
    let ended = ended.map_err(run_error)?;
    match preview.question() {
        Some(Ok(question)) if context.json() => context.print_json(&question),
        Some(Ok(question)) => context.print(&in_words(&question)),
        Some(Err(error)) => Err(CliError::Usage(error.to_string())),
        None => Err(CliError::Usage(format!("nothing would be asked: {}", ended.finished.reason))),
    }
}

/// What the run begins with, or began with.
fn begins_with(
    context: &Context,
    args: &PromptArgs,
    file: &Source,
    notebook: &Notebook,
    unfinished: Option<&Unfinished>,
    provider: &Provider,
) -> Result<Beginning, CliError> {
    let device = subject::find_device(context, file, &args.subject.device)?;
    let run = unfinished.map(|unfinished| notebook.run(unfinished.run)).transpose()?;
    let about = About { file: &file.path, device: &device, run: run.as_ref(), seed: None };
    match provider {
        Provider::Models(names) => Ok(Beginning::of(&about, names, notebook, &mut Reach::default())?),
        Provider::Catalog => {
            let seed = run.as_ref().map_or_else(recorded::seed, |run| run.seed);
            let before = run.as_ref().map_or(RunId(i64::MAX), |run| run.id);
            let found = notebook.findings_before(before, &file.path, &device)?;
            Ok(Beginning { seed, findings: found.into_iter().map(findings::recalled).collect(), device })
        }
    }
}

/// A run on the copy of the notebook, up to the question.
#[expect(clippy::too_many_arguments, reason = "each is a thing of its own that one command brings together")]
fn go_on(
    context: &Context,
    args: &PromptArgs,
    subject: &Subject,
    notebook: &Notebook,
    preview: &std::sync::Arc<Preview>,
    unfinished: Option<&Unfinished>,
    beginning: Beginning,
    progress: &Progress,
) -> Result<Ended, RunError> {
    let bench = &subject.workbench;
    let (mut selector, mut designer, writer) = preview.stages(Catalog::load().fed_by(bench.benchmark()));
    let stages = Stages { selector: &mut selector, designer: &mut designer, writer: &writer };
    let headers = subject.source.headers();
    let evolution = Evolution::new(bench, stages, notebook).with_identity(move |text| Identity::of(text, headers));
    let evolution = evolution.with_recalled(beginning.findings);
    let mut hear = |event| {
        if let scientist::evolution::event::Event::Working { doing, .. } = event {
            progress.say(doing);
        }
    };
    match unfinished {
        Some(Unfinished { run, budget, .. }) => {
            let more = Budget { generations: budget.generations + 1, ..Budget::default() };
            evolution.with_budget(more).resume(*run, &context.cancel, &mut hear)
        }
        None => {
            let request = RunRequest {
                file: subject.source.path.clone(),
                text: subject.source.text.clone(),
                kernel: args.kernel.clone(),
                provider: "nobody".into(),
                seed: beginning.seed,
                budget: Budget { generations: 1, ..Budget::default() },
                settings: crate::devices::measuring(&subject.workbench),
            };
            evolution.start(&request, &context.cancel, &mut hear)
        }
    }
}

/// Part after part, as a person reads it.
fn in_words(question: &Request) -> String {
    let mut parts = vec![format!("# system\n\n{}", question.system)];
    parts.extend(question.messages.iter().map(|message| {
        let who = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        format!("# {who}\n\n{}", message.text)
    }));
    parts.extend(question.schema.as_ref().map(|schema| format!("# JSON schema of the answer\n\n{schema:#}\n")));
    parts.join("\n")
}
