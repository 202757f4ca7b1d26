//! Settings of a folder that choose models which are paid: they hold once the user has named the file.
//!
//! A folder may be anybody's, and with it what stands in its settings file. That its owner chose a model is no reason to send
//! this user's code there, with this user's key. The files that were named are kept beside the notebooks, each with the models
//! that it chose then: with others it is asked for again.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::CliError;
use super::provider::{Provider, ProviderArgs};
use crate::config::Config;
use crate::models::Models;

/// Refuses paid models that a file chose which nobody named. A file that is named is remembered.
///
/// # Errors
/// Says which file chose what, and how to name it.
pub(super) fn require(
    provider: &Provider,
    args: &ProviderArgs,
    config: &Config,
    models: Option<&Models>,
) -> Result<(), CliError> {
    require_in(kept_at().as_deref(), provider, args, config, models)
}

fn require_in(
    kept: Option<&Path>,
    provider: &Provider,
    args: &ProviderArgs,
    config: &Config,
    models: Option<&Models>,
) -> Result<(), CliError> {
    let (Some(models), Some(path)) = (models, &config.path) else { return Ok(()) };
    let is_chosen_here = args.provider.is_some() || args.model.is_some();
    if is_chosen_here || config.is_chosen_by_user() || models.are_free() {
        return Ok(());
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.clone());
    let entry = format!("{}\t{}", provider.name(), path.display());
    let is_known =
        kept.is_some_and(|kept| std::fs::read_to_string(kept).is_ok_and(|text| text.lines().any(|line| line == entry)));
    match (is_known, config.is_named, kept) {
        (true, ..) | (_, true, None) => Ok(()),
        (false, true, Some(kept)) => {
            if let Err(error) = remember(kept, &entry) {
                tracing::warn!("{}: {error}; --config has to be given again the next time", kept.display());
            }
            Ok(())
        }
        (false, false, _) => Err(CliError::Usage(format!(
            "{} chooses {}, which gets your code and may cost you money, and you have not named that file so far; name it once \
             (--config {0}) and it holds from then on, or choose with --model or --provider (catalog works offline)",
            path.display(),
            provider.name()
        ))),
    }
}

fn kept_at() -> Option<PathBuf> {
    dirs::data_dir().map(|folder| folder.join("kernel-scientist").join("named-settings"))
}

fn remember(kept: &Path, entry: &str) -> std::io::Result<()> {
    if let Some(folder) = kept.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(kept)?;
    file.write_all(format!("{entry}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::models::{OfKeys, Reach};

    #[test]
    fn a_folders_choice_of_a_paid_model_holds_once_its_file_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, file) = (folder.path().join("data/named"), folder.path().join("kernel-scientist.toml"));
        std::fs::write(&file, "").unwrap();
        let try_with = |settings: &str, is_named: bool, model: Option<&str>| {
            let read: Config = toml::from_str(&format!("[scientist]\n{settings}")).unwrap();
            let config = Config { path: Some(file.clone()), is_named, ..read };
            let args = ProviderArgs { model: model.map(str::to_owned), ..ProviderArgs::default() };
            let provider = Provider::choose(&args, &config).unwrap();
            let keys: OfKeys = Arc::new(|_| Some("sk-1".into()));
            let models = provider.connect(&Reach { keys: Some(keys), ..Reach::default() }, &config).unwrap();
            require_in(Some(&kept), &provider, &args, &config, models.as_ref()).map_err(|error| error.to_string())
        };
        let (paid, other) = ("provider = \"openai\"\nmodel = \"gpt-5\"", "provider = \"anthropic\"\nmodel = \"m\"");
        let refused = try_with(paid, false, None).unwrap_err();
        assert!(
            refused.contains("kernel-scientist.toml chooses openai:gpt-5") && refused.contains("--config"),
            "{refused}"
        );
        // What is named on the command line is the user's choice, and says nothing of the file.
        assert_eq!(try_with(paid, false, Some("openai:gpt-5")), Ok(()));
        assert!(try_with(paid, false, None).is_err());
        for free in
            ["provider = \"catalog\"", "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\""]
        {
            assert_eq!(try_with(free, false, None), Ok(()), "{free}");
        }
        assert_eq!(try_with(paid, true, None), Ok(()));
        assert_eq!(try_with(paid, false, None), Ok(()), "it was named");
        assert!(try_with(other, false, None).unwrap_err().contains("chooses anthropic:m"), "another model");
        assert!(try_with("provider = \"openai:gpt-5\"\nwriter = \"openai:x\"", false, None).is_err(), "one stage more");
    }
}
