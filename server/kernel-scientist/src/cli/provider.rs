//! Who stands behind the three stages.

use std::path::PathBuf;

use llm::{Kind, LlmError, ModelName};
use scientist::stages::{Designer, Selector, Writer};

use super::CliError;
use crate::config::Config;
use crate::models::{ModelNames, Models, Reach};

/// Options of every command that asks the stages.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ProviderArgs {
    /// Who thinks up and writes experiments: catalog (rule-based, offline), openai (and every server that speaks its chat
    /// completions), anthropic, gemini, replay [default: the settings' provider, else the catalog].
    #[arg(long, value_name = "P")]
    pub provider: Option<String>,
    /// The model, as `PROVIDER:MODEL` or with --provider as `MODEL`; `replay:FILE` for a recorded run.
    #[arg(long, value_name = "PROVIDER:MODEL")]
    pub model: Option<String>,
    /// Address of the provider's server, such as http://localhost:11434/v1 [default: the settings' base_url, else the provider's
    /// own].
    #[arg(long, value_name = "URL", env = "KERNEL_SCIENTIST_BASE_URL")]
    pub base_url: Option<String>,
    /// Record questions and answers here, one a line, for `--model replay:FILE`.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

impl ProviderArgs {
    /// Where models are reached.
    pub fn reach(&self, skip: usize) -> Reach {
        Reach { base_url: self.base_url.clone(), record: self.record.clone(), skip, ..Reach::default() }
    }
}

/// The stages, ready to be asked.
pub type BoxedStages = (Box<dyn Selector>, Box<dyn Designer>, Box<dyn Writer>);

/// What stands behind the stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The offline catalog of rewrites.
    Catalog,
    /// Language models.
    Models(ModelNames),
}

impl Provider {
    /// The one asked for on the command line, else in the settings, else the catalog. Another one is never taken silently.
    pub fn choose(args: &ProviderArgs, config: &Config) -> Result<Self, CliError> {
        let settings = &config.scientist;
        let provider = args.provider.as_deref().or(match args.model.is_some() {
            // A model that was named in full does not go with another provider of the settings.
            true if names_provider(args.model.as_deref()) => None,
            _ => settings.provider.as_deref(),
        });
        let model = args.model.as_deref().or(match args.provider.is_some() && args.provider != settings.provider {
            true => None,
            false => settings.model.as_deref(),
        });
        let whole = match (provider, model) {
            (None, None) => None,
            (Some("catalog"), _) => return Ok(Self::Catalog),
            (_, Some(model)) if names_provider(Some(model)) => Some(model.to_owned()),
            (Some(provider), Some(model)) => Some(format!("{provider}:{model}")),
            (Some(provider), None) => Some(provider.to_owned()),
            (None, Some(model)) => {
                return Err(CliError::Usage(format!("`{model}` names no provider; write --model PROVIDER:{model}")));
            }
        };
        let stages = [&settings.selector, &settings.designer, &settings.writer];
        let whole = match whole {
            // A model on the command line stands behind every stage.
            Some(whole) if args.model.is_some() || stages.iter().all(|stage| stage.is_none()) => {
                return Ok(Self::Models(ModelNames::one(named(&whole)?)));
            }
            whole => whole,
        };
        let whole = whole.map(|whole| named(&whole)).transpose()?;
        let stage = |own: &Option<String>, what: &str| match own.as_deref() {
            Some("catalog") => Err(CliError::Usage(format!(
                "the {what} cannot be the catalog's where other stages have models; name a model for it, or set provider = \
                 \"catalog\" alone"
            ))),
            Some(own) if !own.contains(':') && own != "editor" => {
                Err(CliError::Usage(format!("`{own}` names no provider; write {what} = \"PROVIDER:{own}\"")))
            }
            Some(own) => named(own),
            None => whole.clone().ok_or_else(|| {
                CliError::Usage(format!("the settings name no model for the {what}; set provider and model as well"))
            }),
        };
        if whole.is_none() && stages.iter().all(|stage| stage.is_none()) {
            return Ok(Self::Catalog);
        }
        Ok(Self::Models(ModelNames {
            selector: stage(&settings.selector, "selector")?,
            designer: stage(&settings.designer, "designer")?,
            writer: stage(&settings.writer, "writer")?,
        }))
    }

    /// The one that a run was recorded with.
    pub fn recorded(name: &str) -> Result<Self, CliError> {
        match name {
            "catalog" => Ok(Self::Catalog),
            name => name.parse().map(Self::Models).map_err(CliError::Usage),
        }
    }

    /// Its name, as runs are recorded with.
    pub fn name(&self) -> String {
        match self {
            Self::Catalog => "catalog".into(),
            Self::Models(names) => names.to_string(),
        }
    }

    /// Whether it works by rules and not by a model; shown wherever its hypotheses are.
    pub fn is_rule_based(&self) -> bool {
        *self == Self::Catalog
    }

    /// Its models, set up; `None` for the catalog.
    pub fn connect(&self, reach: &Reach, config: &Config) -> Result<Option<Models>, CliError> {
        match self {
            Self::Catalog => Ok(None),
            Self::Models(names) => Ok(Some(Models::connect(names, reach, config)?)),
        }
    }
}

/// Whether a model's name begins with a provider's.
fn names_provider(model: Option<&str>) -> bool {
    let head = model.and_then(|model| model.split_once(':')).map(|(head, _)| head);
    head.is_some_and(|head| head.parse::<Kind>().is_ok()) || model == Some("editor")
}

fn named(text: &str) -> Result<ModelName, CliError> {
    text.parse().map_err(|error: String| match error.starts_with("there is no provider") {
        true => CliError::Usage(format!("{error}, catalog")),
        false => CliError::Usage(error),
    })
}

impl From<LlmError> for CliError {
    fn from(error: LlmError) -> Self {
        match error {
            LlmError::Cancelled => Self::Cancelled,
            LlmError::Setup(text) => Self::Usage(text),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is chosen, by its name, from provider and model of the command line and the settings.
    fn check(args: [Option<&str>; 2], settings: &str, expected: Result<&str, &str>) {
        let [provider, model] = args.map(|arg| arg.map(str::to_owned));
        let args = ProviderArgs { provider, model, ..ProviderArgs::default() };
        let config: Config = toml::from_str(&format!("[scientist]\n{settings}")).unwrap();
        let found = Provider::choose(&args, &config).map(|provider| provider.name()).map_err(|error| error.to_string());
        match (&found, expected) {
            (Ok(name), Ok(expected)) => assert_eq!(name, expected, "{args:?} {settings}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{args:?} {settings}: {error}"),
            _ => panic!("{args:?} {settings}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn a_provider_is_never_replaced_silently() {
        let anthropic = "provider = \"anthropic\"\nmodel = \"claude-x\"";
        check([None, None], "", Ok("catalog"));
        check([None, None], anthropic, Ok("anthropic:claude-x"));
        check([Some("catalog"), None], anthropic, Ok("catalog"));
        check([Some("openai"), None], anthropic, Err("names no model; write openai:MODEL"));
        check([Some("openai"), Some("qwen2.5-coder:7b")], anthropic, Ok("openai:qwen2.5-coder:7b"));
        check([None, Some("gemini:g")], anthropic, Ok("gemini:g"));
        check([None, Some("claude-y")], anthropic, Ok("anthropic:claude-y"));
        check([None, Some("m")], "", Err("names no provider"));
        check([Some("oracle"), None], "", Err("there is no provider `oracle`"));
        check([None, Some("replay:/a/run.jsonl")], "", Ok("replay:/a/run.jsonl"));
        check([None, None], "provider = \"openai\"", Err("names no model"));
    }

    #[test]
    fn stages_may_have_models_of_their_own() {
        let settings = "provider = \"openai\"\nmodel = \"large\"\nselector = \"openai:small\"";
        check([None, None], settings, Ok("selector openai:small, designer openai:large, writer openai:large"));
        check([None, Some("gemini:g")], settings, Ok("gemini:g"));
        check([Some("catalog"), None], settings, Ok("catalog"));
        check([None, None], "selector = \"openai:small\"", Err("name no model for the designer"));
        let with_selector = |selector: &str| settings.replace("openai:small", selector);
        check([None, None], &with_selector("catalog"), Err("the selector cannot be the catalog's"));
        check([None, None], &with_selector("gpt-5"), Err("write selector = \"PROVIDER:gpt-5\""));
    }

    #[test]
    fn a_recorded_name_reads_back() {
        for name in ["catalog", "openai:gpt-5", "selector openai:a, designer openai:b, writer openai:b"] {
            assert_eq!(Provider::recorded(name).unwrap().name(), name);
        }
    }
}
