//! What a run may spend, what it will probably spend, and how good its model's predictions are.

use std::time::Duration;

use lab::Source;
use notebook::Notebook;
use scientist::budget::Budget;
use scientist::model::ModelScientist;

use super::EvolveArgs;
use crate::cli::CliError;
use crate::config::Config;
use crate::models::{self, ModelNames, Models};

/// Generations when nothing is said.
const GENERATIONS: u32 = 5;

/// Limits on what models may cost.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SpendingArgs {
    /// Most US dollars for models [default: the settings' max_usd].
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    max_usd: Option<f64>,
    /// Most tokens to and from models [default: the settings' max_tokens].
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Most calls of models [default: the settings' max_calls].
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..1e9).contains(&value) => Ok(value),
        _ => Err("expected an amount of dollars, from 0 up".into()),
    }
}

/// Whether the command line says anything of the budget.
pub(super) fn is_changed(args: &EvolveArgs) -> bool {
    args.generations.is_some() || args.max_time.is_some() || is_limited(args)
}

/// Whether the command line limits what models may cost.
pub(super) fn is_limited(args: &EvolveArgs) -> bool {
    let SpendingArgs { max_usd, max_tokens, max_calls } = args.spending;
    max_usd.is_some() || max_tokens.is_some() || max_calls.is_some()
}

/// The budget of a run: what the command line says, else what the run had, else the settings.
///
/// # Errors
/// When there is a limit in dollars and a model whose price is not known, or that costs something where nothing may.
pub(super) fn budget(
    args: &EvolveArgs,
    before: Option<Budget>,
    models: Option<&Models>,
    config: &Config,
) -> Result<Budget, CliError> {
    let settings = &config.scientist;
    let Some(models) = models else {
        return Ok(Budget { usd: None, tokens: None, calls: None, ..times(args, before) });
    };
    let had = before.unwrap_or_default();
    let is_new = before.is_none();
    let spending = &args.spending;
    let setting = |value: Option<u64>| value.filter(|_| is_new);
    let usd = spending.max_usd.or(had.usd).or(settings.max_usd.filter(|_| is_new));
    let usd = models.limit(usd).map_err(CliError::Usage)?;
    Ok(Budget {
        usd,
        tokens: spending.max_tokens.or(had.tokens).or(setting(settings.max_tokens)),
        calls: spending.max_calls.or(had.calls).or(setting(settings.max_calls)),
        ..times(args, before)
    })
}

/// What may be used up outside of a run: what the command line says, else the settings.
///
/// # Errors
/// As [`budget`].
pub(in crate::cli) fn outside_of_a_run(
    spending: &SpendingArgs,
    models: &Models,
    config: &Config,
) -> Result<Budget, CliError> {
    let settings = &config.scientist;
    Ok(Budget {
        generations: 0,
        wall: None,
        usd: models.limit(spending.max_usd.or(settings.max_usd)).map_err(CliError::Usage)?,
        tokens: spending.max_tokens.or(settings.max_tokens),
        calls: spending.max_calls.or(settings.max_calls),
    })
}

fn times(args: &EvolveArgs, before: Option<Budget>) -> Budget {
    let had = before.unwrap_or(Budget { generations: GENERATIONS, ..Budget::default() });
    Budget {
        generations: args.generations.unwrap_or(had.generations),
        wall: args.max_time.map(Duration::from_secs_f64).or(had.wall),
        ..had
    }
}

/// Says on standard error what a run will probably cost.
pub(super) fn tell_estimate(scientist: &ModelScientist, models: &Models, source: &Source, budget: &Budget) {
    crate::cli::tell(&models.estimate(scientist, &source.text, budget));
}

/// How often a model's predictions held, over all its runs.
///
/// # Errors
/// When the notebook cannot be read.
pub(super) fn record_of_predictions(notebook: &Notebook, names: &ModelNames) -> Result<String, CliError> {
    let found = models::predictions_of(notebook, names)?;
    Ok(found.map_or_else(String::new, |calibration| {
        format!("{}, over all its runs: {}\n", names.designer, crate::cli::figures::calibration(&calibration))
    }))
}
