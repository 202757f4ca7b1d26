//! Whether the models of the settings answer.

use std::time::Duration;

use llm::connect::Patience;
use llm::{Caller, Kind, LlmError, Model};
use notebook::Notebook;

use super::Check;
use crate::cli::Context;
use crate::cli::figures;
use crate::cli::provider::{Provider, ProviderArgs};
use crate::config::Config;
use crate::models::{self, ModelNames, Models, Reach};

/// A server that does not answer a word within this time is not usable now.
const PATIENCE: Duration = Duration::from_secs(30);

/// What stands behind the stages, and each of its models.
pub(super) fn all(context: &Context, config: &Config, args: &ProviderArgs) -> Vec<Check> {
    let names = match Provider::choose(args, config) {
        Ok(Provider::Catalog) => return vec![Check::good("provider catalog", "built in and offline; rule-based")],
        Ok(Provider::Models(names)) => names,
        Err(error) => {
            return vec![Check::limited("provider", error.to_string(), "mend the settings, or what was named")];
        }
    };
    if names == ModelNames::one(names.writer.clone()) && names.writer.kind == Kind::Editor {
        return vec![Check::limited("provider editor", "asked in the editor alone", "start the run there")];
    }
    let patience = Patience { connect: Duration::from_secs(10), silence: PATIENCE, whole: PATIENCE * 2 };
    let reach = Reach { patience: Some(patience), attempts: Some(0), ..args.reach(0) };
    let models = match Models::connect(&names, &reach, config) {
        Ok(models) => models,
        Err(error) => return vec![broken(&names.to_string(), &error)],
    };
    let mut checks: Vec<Check> = Vec::new();
    for model in models.each() {
        let name = format!("model {}", model.name());
        if checks.iter().all(|check| check.name != name) {
            checks.push(of_model(context, model));
        }
    }
    checks.extend(predictions(context, &names));
    checks
}

fn of_model(context: &Context, model: &Model) -> Check {
    let is_cancelled = || context.cancel.is_cancelled();
    let name = model.name().to_string();
    if model.name().kind == Kind::Replay {
        return Check::good(format!("model {name}"), "a recorded run");
    }
    let answered = model.check(&mut Caller::new(&is_cancelled, &mut |_| ()));
    let price = match model.price() {
        Some(llm::Price { input: 0.0, output: 0.0, .. }) => "costs nothing".to_owned(),
        Some(price) => format!("{} and {} US dollars per million tokens sent and received", price.input, price.output),
        None => "its price is not known: no limit in dollars can be kept".to_owned(),
    };
    match answered {
        Ok(took) => Check::good(format!("model {name}"), format!("answers ({:.1} s); {price}", took.as_secs_f64())),
        Err(error) => broken(&name, &error),
    }
}

fn broken(name: &str, error: &LlmError) -> Check {
    let remedy = match error {
        LlmError::NoKey { .. } => "give it a key, or use --provider catalog",
        LlmError::Unreachable { .. } => "start the server, or correct base_url; --provider catalog works without",
        _ => "mend what it names, or use --provider catalog",
    };
    Check::limited(format!("model {name}"), format!("does not answer: {error}"), remedy)
}

/// How good the model's predictions were so far.
fn predictions(context: &Context, names: &ModelNames) -> Option<Check> {
    let path = context.notebook_path().ok().filter(|path| path.is_file())?;
    let calibration = models::predictions_of(&Notebook::open(&path).ok()?, names).ok()??;
    Some(Check::good(format!("predictions of {}", names.designer), figures::calibration(&calibration)))
}
