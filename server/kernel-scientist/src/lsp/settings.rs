//! The user's settings, from `initializationOptions`, `workspace/configuration` and defaults.
//!
//! What `kernel-scientist.toml` says is the project's: devices, and who thinks hypotheses up. Where the user sets the same in
//! the editor, that holds: the nearer to the person, the stronger.

use serde::Deserialize;
use serde_json::Value;

use crate::devices;

/// Name of the section in the client's settings.
pub const SECTION: &str = "kernelScientist";

/// Settings; everything has a default.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The device that times are for, as the user names it.
    pub device: String,
    /// Who thinks hypotheses up; `None` for what `kernel-scientist.toml` says, else the rule-based catalog.
    pub provider: Option<String>,
    /// Dollars that an evolution may cost at most; `None` for what `kernel-scientist.toml` says.
    pub max_usd: Option<f64>,
    /// Generations of an evolution at most.
    pub generations: u32,
    /// Seconds of an evolution at most.
    pub max_seconds: Option<f64>,
    /// Seconds that one run of the code may take.
    pub timeout_seconds: f64,
    /// MiB of memory that one run of the code may take.
    pub memory_mib: u64,
    /// Whether figures are shown as inlay hints.
    pub inlay_hints: bool,
    /// Whether lenses are shown.
    pub code_lens: bool,
    /// Whether hints of single lines are shown.
    pub line_hints: bool,
    /// Whether open files are built, run and forecast in the background.
    pub forecasts: bool,
    /// What goes to the log.
    pub log: LogLevel,
}

/// What goes to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// What failed.
    Error,
    /// What is odd, too.
    Warn,
    /// What is done, too.
    Info,
    /// Details, too.
    Debug,
    /// Everything.
    Trace,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            device: devices::DEFAULT.into(),
            provider: None,
            max_usd: None,
            generations: 5,
            max_seconds: None,
            timeout_seconds: 30.0,
            memory_mib: 4096,
            inlay_hints: true,
            code_lens: true,
            line_hints: true,
            forecasts: true,
            log: LogLevel::Info,
        }
    }
}

impl Settings {
    /// Reads the client's section over `defaults`. What is wrong keeps its default and is named, each once.
    pub fn read(section: &Value, defaults: Self) -> (Self, Vec<String>) {
        let mut settings = defaults;
        let mut wrong = Vec::new();
        let Value::Object(fields) = section else {
            if !section.is_null() {
                wrong.push(format!("{SECTION} is not an object"));
            }
            return (settings, wrong);
        };
        for (name, value) in fields {
            // Clients send what they have no value for, too.
            if value.is_null() {
                continue;
            }
            if let Err(expected) = settings.set(name, value) {
                wrong.push(format!("{SECTION}.{name} is {value}; expected {expected}"));
            }
        }
        (settings, wrong)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), &'static str> {
        match name {
            "device" => {
                let name = value.as_str().filter(|name| !name.is_empty());
                self.device = name.ok_or("the name of a device, such as mi300x")?.to_owned();
            }
            "provider" => {
                let name = value.as_str().filter(|name| !name.is_empty());
                self.provider = Some(name.ok_or("the name of a provider, such as catalog")?.to_owned());
            }
            "maxUsd" => {
                let amount = value.as_f64().filter(|amount| (0.0..f64::INFINITY).contains(amount));
                self.max_usd = Some(amount.ok_or("an amount of dollars, from 0 up")?);
            }
            "generations" => {
                let number = value.as_u64().filter(|number| (1..=1000).contains(number));
                self.generations = number.ok_or("a number from 1 to 1000")? as u32;
            }
            "maxSeconds" => self.max_seconds = Some(seconds(value)?),
            "timeoutSeconds" => self.timeout_seconds = seconds(value)?,
            "memoryMiB" => {
                let number = value.as_u64().filter(|number| (64..=1 << 20).contains(number));
                self.memory_mib = number.ok_or("a number of MiB from 64 up")?;
            }
            "inlayHints" => self.inlay_hints = value.as_bool().ok_or(BOOLEAN)?,
            "codeLens" => self.code_lens = value.as_bool().ok_or(BOOLEAN)?,
            "lineHints" => self.line_hints = value.as_bool().ok_or(BOOLEAN)?,
            "forecasts" => self.forecasts = value.as_bool().ok_or(BOOLEAN)?,
            "logLevel" => {
                self.log = LogLevel::deserialize(value).map_err(|_| "error, warn, info, debug or trace")?;
            }
            _ => {
                return Err("one of device, provider, maxUsd, generations, maxSeconds, timeoutSeconds, memoryMiB, \
                            inlayHints, codeLens, lineHints, forecasts, logLevel");
            }
        }
        Ok(())
    }
}

const BOOLEAN: &str = "true or false";

fn seconds(value: &Value) -> Result<f64, &'static str> {
    value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0).ok_or("seconds, above 0 and at most 86400")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(section: &Value) -> (Settings, Vec<String>) {
        Settings::read(section, Settings::default())
    }

    #[test]
    fn what_is_wrong_is_named_and_the_rest_is_taken() {
        let (settings, wrong) =
            read(&json!({ "generations": 3, "timeoutSeconds": -1, "codeLense": true, "device": null, "maxUsd": -2 }));
        assert_eq!(settings.generations, 3);
        assert_eq!(settings.timeout_seconds, 30.0);
        assert_eq!((settings.device.as_str(), settings.max_usd), ("mi300x", None));
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(wrong.iter().any(|text| text.starts_with("kernelScientist.timeoutSeconds is -1; expected seconds")));
        assert!(wrong.iter().any(|text| text.contains("codeLense") && text.contains("codeLens,")));
    }

    #[test]
    fn nothing_means_the_defaults() {
        assert_eq!(read(&Value::Null), (Settings::default(), vec![]));
        assert_eq!(read(&json!([1])).1, ["kernelScientist is not an object"]);
    }
}
