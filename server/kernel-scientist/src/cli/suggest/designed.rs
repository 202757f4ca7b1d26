//! Hypotheses of a model: what its designer would try on the file as it is.

use lab::Source;
use notebook::Notebook;
use scientist::stages::{Hypothesis, StageError};

use super::SuggestArgs;
use crate::cli::progress::Progress;
use crate::cli::subject::Subject;
use crate::cli::{CliError, Context};
use crate::config::Config;
use crate::designed::{self, DesignError};
use crate::models::Models;

/// Builds, checks and times the file, and asks the designer.
pub(super) fn by(
    context: &Context,
    args: &SuggestArgs,
    source: &Source,
    config: &Config,
    models: &Models,
    progress: &Progress,
) -> Result<Vec<Hypothesis>, CliError> {
    models.limit(config.scientist.max_usd).map_err(CliError::Usage)?;
    let subject = Subject::open(context, source, &args.subject, args.kernel.as_deref())?;
    let scientist = models.scientist(config, &subject.workbench).map_err(CliError::Usage)?;
    let notebook = Notebook::open_existing(&context.notebook_path()?)?;
    progress.show();
    let mut say = |doing: &str| progress.say(doing.to_owned());
    let (bench, kernel) = (&subject.workbench, args.kernel.as_deref());
    let found = designed::hypotheses(bench, &scientist, notebook.as_ref(), kernel, &context.cancel, &mut say);
    progress.end();
    let found = found.map_err(|error| match error {
        DesignError::Lab(error) => error.into(),
        DesignError::Notebook(error) => error.into(),
        DesignError::Stage(StageError::Cancelled) => CliError::Cancelled,
        DesignError::Stage(error) => CliError::Unavailable(error.to_string()),
    })?;
    let spent = models.ledger.spent();
    let (calls, tokens, usd) = (spent.calls, spent.tokens(), spent.usd);
    crate::cli::tell(&format!("spent: {calls} calls, {tokens} tokens, {usd:.4} US dollars"));
    Ok(found)
}
