//! Who stands behind the three stages.

use super::CliError;
use crate::config::Config;

/// A provider that this version has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The offline catalog of rewrites.
    Catalog,
}

impl Provider {
    /// The one asked for on the command line, else in the settings, else the catalog. Another one is never taken silently.
    pub fn choose(asked: Option<&str>, config: &Config) -> Result<Self, CliError> {
        match asked.or(config.scientist.provider.as_deref()) {
            None | Some("catalog") => Ok(Self::Catalog),
            Some(known @ ("openai" | "anthropic" | "gemini" | "editor" | "replay")) => Err(CliError::Unavailable(
                format!("provider {known} is not in this version; use the rule-based catalog: --provider catalog"),
            )),
            Some(other) => Err(CliError::Usage(format!("there is no provider {other}; this version has: catalog"))),
        }
    }

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
        }
    }

    /// Whether it works by rules and not by a model; shown wherever its hypotheses are.
    pub fn is_rule_based(self) -> bool {
        match self {
            Self::Catalog => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_that_is_not_there_is_never_replaced_silently() {
        let mut config = Config::default();
        assert_eq!(Provider::choose(None, &config).unwrap(), Provider::Catalog);
        config.scientist.provider = Some("anthropic".into());
        assert!(matches!(Provider::choose(None, &config), Err(CliError::Unavailable(_))));
        assert_eq!(Provider::choose(Some("catalog"), &config).unwrap(), Provider::Catalog);
        assert!(matches!(Provider::choose(Some("cat"), &config), Err(CliError::Usage(_))));
    }
}
