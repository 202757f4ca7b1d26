//! Hypotheses of a model: what its designer would try on the file as it is.

use lab::Source;
use notebook::Notebook;
use scientist::stages::{Hypothesis, StageError};

use super::SuggestArgs;
use crate::cli::evolve::cost;
use crate::cli::progress::Progress;
use crate::cli::provider::Provider;
use crate::cli::subject::Subject;
use crate::cli::{CliError, Context};
use crate::config::Config;
use crate::designed::{self, DesignError, Who};
use crate::models::Models;

/// Builds, checks and times the file, and asks the designer.
pub(super) fn by(
    context: &Context,
    args: &SuggestArgs,
    source: &Source,
    config: &Config,
    provider: &Provider,
    models: &Models,
    progress: &Progress,
) -> Result<Vec<Hypothesis>, CliError> {
    models.keep_to(&cost::outside_of_a_run(&args.spending, models, config)?);
    // First: what is paid for is kept there.
    let notebook = Notebook::open(&context.notebook_path()?)?;
    let subject = Subject::open(context, source, &args.subject, args.kernel.as_deref())?;
    let scientist = models.scientist(config, &subject.workbench).map_err(CliError::Usage)?;
    progress.show();
    let mut say = |doing: &str| progress.say(doing.to_owned());
    let (bench, kernel) = (&subject.workbench, args.kernel.as_deref());
    let who = Who { models, scientist: &scientist, provider: &provider.name() };
    let found = designed::hypotheses(bench, &who, &notebook, kernel, &context.cancel, &mut say);
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
