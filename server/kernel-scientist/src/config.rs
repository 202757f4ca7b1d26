//! `kernel-scientist.toml`: devices and the scientist's settings.

mod own;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// Name of the settings file, looked up in the source's folder and above.
pub const FILE_NAME: &str = "kernel-scientist.toml";

/// Settings; everything has a default, so no file is needed. A folder's file holds for the sources in it and below; what it leaves
/// open is taken from `kernel-scientist/kernel-scientist.toml` in the user's folder of settings (`$XDG_CONFIG_HOME`, `~/.config`).
/// Keys stand in none.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Devices by name, besides the built-in `cpu`.
    #[serde(default)]
    pub device: BTreeMap<String, DeviceConfig>,
    /// Settings of the scientist.
    #[serde(default)]
    pub scientist: ScientistConfig,
    /// The file that this was read from.
    #[serde(skip)]
    pub path: Option<PathBuf>,
    /// Whether the user named that file, and it was not found in the source's folder or above: what costs or gives away
    /// something is only done for a file that was named (paid models: once, see `cli::consent`).
    #[serde(skip)]
    pub is_named: bool,
    /// What the user's own file says.
    #[serde(skip)]
    pub own: ScientistConfig,
}

/// One device.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Device")]
pub struct DeviceConfig {
    /// How code for it is built and run.
    pub toolchain: Toolchain,
    /// GPU architecture, such as `gfx942`.
    pub arch: Option<String>,
    /// Machine to run on, as for ssh.
    pub ssh: Option<String>,
    /// Slurm resources to ask for.
    pub slurm: Option<BTreeMap<String, String>>,
}

/// How code is built and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Toolchain {
    /// HIP on the CPU.
    Cpu,
    /// A modelled GPU time.
    Forecast,
    /// hipcc on an AMD GPU.
    Hip,
    /// nvcc on an NVIDIA GPU.
    Cuda,
}

/// Settings of the scientist.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scientist")]
pub struct ScientistConfig {
    /// Who designs and writes: `catalog` (rule-based, offline) is the default.
    #[serde(default)]
    #[schemars(schema_with = "providers")]
    pub provider: Option<String>,
    /// Model, for providers that have several.
    pub model: Option<String>,
    /// Base URL of an OpenAI-compatible server, for models of `openai`.
    pub base_url: Option<String>,
    /// Base URL of a server that speaks Anthropic's API, for models of `anthropic`.
    pub anthropic_base_url: Option<String>,
    /// Base URL of a server that speaks Gemini's API, for models of `gemini`.
    pub gemini_base_url: Option<String>,
    /// Most dollars a run may cost; 0 allows nothing that costs money.
    #[serde(default, deserialize_with = "dollars")]
    #[schemars(range(min = 0.0))]
    pub max_usd: Option<f64>,
    /// Most tokens a run may send and receive.
    pub max_tokens: Option<u64>,
    /// Most calls a run may make.
    pub max_calls: Option<u64>,
    /// Calls under way at once.
    pub max_calls_at_once: Option<usize>,
    /// Most tokens of one answer.
    pub max_output_tokens: Option<u32>,
    /// A shell command that prints the key, where no environment variable has it. Only in the user's own file or one that the
    /// user names.
    pub api_key_command: Option<String>,
    /// `PROVIDER:MODEL` for stage 1 alone.
    pub selector: Option<String>,
    /// `PROVIDER:MODEL` for stage 2 alone.
    pub designer: Option<String>,
    /// `PROVIDER:MODEL` for stage 3 alone.
    pub writer: Option<String>,
    /// Folder with templates that take the place of those built in; relative to the settings file.
    pub prompts: Option<PathBuf>,
    /// Folder with further notes on the hardware; relative to the settings file.
    pub knowledge: Option<PathBuf>,
    /// Tokens of notes in one question at most.
    pub knowledge_tokens: Option<usize>,
    /// Prices that count before those that ship.
    #[serde(default)]
    pub price: Vec<llm::price::Row>,
}

/// The JSON schema of the settings file, for editors.
#[cfg(test)]
fn schema() -> Schema {
    let mut schema = schemars::schema_for!(Config);
    schema.insert("title".into(), format!("Settings of GPU Kernel Scientist ({FILE_NAME})").into());
    schema
}

/// Editors offer the words; a word may be followed by a colon and the name of a model.
fn providers(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = std::iter::once("catalog").chain(llm::Kind::ALL.map(llm::Kind::word)).collect();
    json_schema!({ "anyOf": [{ "enum": words }, { "type": "string" }] })
}

/// An amount of money, from 0 up.
fn dollars<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    match Option::deserialize(input)? {
        Some(value) if !(0.0..f64::INFINITY).contains(&value) => {
            Err(serde::de::Error::custom(format!("max_usd is {value}; expected an amount of dollars, from 0 up")))
        }
        amount => Ok(amount),
    }
}

/// Why the settings could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{}: {message}", .path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        message: String,
    },
}

impl ScientistConfig {
    /// Where a provider's models are served, if not at its own address.
    pub fn base_url_of(&self, kind: llm::Kind) -> Option<&str> {
        let url = match kind {
            llm::Kind::OpenAi => &self.base_url,
            llm::Kind::Anthropic => &self.anthropic_base_url,
            llm::Kind::Gemini => &self.gemini_base_url,
            llm::Kind::Editor | llm::Kind::Replay => &None,
        };
        url.as_deref()
    }
}

impl Config {
    /// Reads `explicit`, or the nearest [`FILE_NAME`] in `folder` or above; what it leaves open is taken from the user's own
    /// file ([`own`]), then from the defaults.
    ///
    /// # Errors
    /// When one of them cannot be read, is not what it should be, or holds a key.
    pub fn load(explicit: Option<&Path>, folder: &Path) -> Result<Self, ConfigError> {
        Self::load_over(explicit, folder, own::path().as_deref())
    }

    fn load_over(explicit: Option<&Path>, folder: &Path, own: Option<&Path>) -> Result<Self, ConfigError> {
        let found = explicit
            .map(Path::to_path_buf)
            .or_else(|| folder.ancestors().map(|above| above.join(FILE_NAME)).find(|candidate| candidate.is_file()));
        let mut config = found.as_deref().map(Self::read).transpose()?.unwrap_or_default();
        config.is_named = explicit.is_some();
        match own.filter(|own| own.is_file() && found.as_deref() != Some(own)) {
            Some(own) => Ok(config.over(Self::read(own)?)),
            None => Ok(config),
        }
    }

    /// Reads one file.
    fn read(path: &Path) -> Result<Self, ConfigError> {
        let path = path.to_path_buf();
        let text =
            lab::settings_text::read(&path).map_err(|source| ConfigError::Read { path: path.clone(), source })?;
        // First: the message about a line that is not understood shows the line.
        if let Some(name) = own::key_in(&text) {
            let message = format!(
                "`{name}`: a key does not belong in a settings file, which is copied and committed; take it out, and set the \
                 provider's environment variable (such as OPENAI_API_KEY), or `api_key_command` for a command that prints it"
            );
            return Err(ConfigError::Parse { path, message });
        }
        let config: Self = toml::from_str(&text)
            .map_err(|error| ConfigError::Parse { path: path.clone(), message: error.to_string() })?;
        Ok(Self { path: Some(path), ..config })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE_NAME), text).unwrap();
        let inner = folder.path().join("src/kernels");
        std::fs::create_dir_all(&inner).unwrap();
        Config::load_over(None, &inner, None).map_err(|error| error.to_string())
    }

    #[test]
    fn found_above_the_source() {
        let config = load("[device.mi300]\ntoolchain = \"hip\"\narch = \"gfx942\"\nssh = \"user@host\"\n").unwrap();
        assert_eq!(config.device["mi300"].toolchain, Toolchain::Hip);
        assert_eq!(config.device["mi300"].ssh.as_deref(), Some("user@host"));
    }

    #[test]
    fn mistakes_name_the_file_the_line_and_what_is_allowed() {
        for (text, expected) in [
            ("[device.x]\ntoolchain = \"hipp\"\n", "expected one of `cpu`, `forecast`, `hip`, `cuda`"),
            ("[scientist]\nprovidr = \"catalog\"\n", "unknown field `providr`"),
            ("[scientist\n", "line 1"),
            ("[scientist]\nmax_usd = -1\n", "max_usd is -1; expected an amount of dollars, from 0 up"),
            ("[scientist]\nmax_usd = nan\n", "line 2"),
            ("[scientist]\nmax_usd = inf\n", "max_usd is inf"),
        ] {
            let error = load(text).unwrap_err();
            assert!(error.contains(expected) && error.contains(FILE_NAME), "{text}: {error}");
        }
    }

    #[test]
    fn the_schema_that_ships_is_the_schema_of_the_types() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/kernel-scientist.schema.json");
        let now = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
        if std::env::var_os("KS_BLESS").is_some() {
            std::fs::write(&path, &now).unwrap();
        }
        let shipped = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(shipped, now, "set KS_BLESS=1 and run this test to write {}", path.display());
    }

    #[test]
    fn editors_and_the_program_accept_the_same() {
        let validator = jsonschema::validator_for(&serde_json::to_value(schema()).unwrap()).unwrap();
        for (text, is_right) in [
            ("", true),
            ("[device.mi300]\ntoolchain = \"hip\"\narch = \"gfx942\"\nslurm = { partition = \"mi300\" }\n", true),
            ("[scientist]\nprovider = \"anthropic\"\nmodel = \"m\"\nmax_usd = 5.0\nmax_calls_at_once = 2\n", true),
            ("[scientist]\nmax_usd = 0\n", true),
            ("[scientist]\nprovider = \"openai:gpt\"\nprompts = \"prompts\"\n", true),
            ("[[scientist.price]]\nmodel = \"m\"\ninput = 1.0\noutput = 2.0\n", true),
            ("[device.mi300]\narch = \"gfx942\"\n", false),
            ("[device.mi300]\ntoolchain = \"HIP\"\n", false),
            ("[scientist]\nprovidr = \"catalog\"\n", false),
            ("[scientist]\nmax_usd = -1\n", false),
            ("[scientist]\nmax_tokens = -1\n", false),
            ("[scientist]\nmodel = 3\n", false),
            ("[[scientist.price]]\nmodel = \"m\"\ninput = 1.0\n", false),
            ("path = \"x\"\n", false),
        ] {
            let value: toml::Value = toml::from_str(text).unwrap();
            let value = serde_json::to_value(value).unwrap();
            let mistakes: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
            assert_eq!((load(text).is_ok(), mistakes.is_empty()), (is_right, is_right), "{text}{mistakes:?}");
        }
    }

    #[test]
    fn amounts_of_money_are_numbers_from_0_up() {
        for (text, expected) in [("5", Some(5.0)), ("0", Some(0.0)), ("2.5", Some(2.5))] {
            assert_eq!(load(&format!("[scientist]\nmax_usd = {text}\n")).unwrap().scientist.max_usd, expected);
        }
        assert_eq!(load("[scientist]\n").unwrap().scientist.max_usd, None);
    }

    #[test]
    fn no_file_means_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Config::load_over(None, folder.path(), None).unwrap(), Config::default());
    }

    #[test]
    fn the_users_own_file_holds_where_no_other_says_otherwise() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = home.path().join(FILE_NAME);
        std::fs::write(&own, "[scientist]\nprovider = \"openai:mine\"\nmax_calls = 3\n").unwrap();
        let load = || Config::load_over(None, project.path(), Some(&own)).map_err(|error| error.to_string());
        let found = load().unwrap();
        assert_eq!((found.scientist.provider.as_deref(), found.path.as_deref()), (Some("openai:mine"), Some(&*own)));
        assert!(!found.is_named);
        let theirs = project.path().join(FILE_NAME);
        std::fs::write(&theirs, "[scientist]\nprovider = \"catalog\"\n").unwrap();
        let found = load().unwrap();
        assert_eq!((found.scientist.provider.as_deref(), found.scientist.max_calls), (Some("catalog"), Some(3)));
        assert_eq!(found.path.as_deref(), Some(&*theirs));
        // A key is in neither, and what stands there is not repeated.
        for file in [&theirs, &own] {
            std::fs::write(file, "[scientist]\napi_key = \"sk-secret\"\n").unwrap();
            let error = load().unwrap_err();
            assert!(
                error.contains("a key does not belong in a settings file") && !error.contains("sk-secret"),
                "{error}"
            );
            assert!(error.contains(&file.display().to_string()), "{error}");
            std::fs::write(file, "").unwrap();
        }
    }
}
