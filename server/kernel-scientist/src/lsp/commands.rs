//! The commands that lenses, code actions and messages carry out, and how they are written down.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a command is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Target {
    /// The document.
    pub uri: String,
    /// One of its kernels; absent for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Check and time a kernel.
    Time(Target),
    /// List hypotheses and offer to test one.
    Suggest(Target),
    /// Run generations of experiments.
    Evolve(Target),
    /// Go on with a run that was interrupted, or that its budget ended.
    Resume {
        /// Its document.
        target: Target,
        /// Its number in the notebook.
        run: i64,
        /// With as much again as it began with.
        more: bool,
    },
    /// Write, check and time one hypothesis.
    Test {
        /// Its kernel.
        target: Target,
        /// Its key.
        key: String,
    },
    /// Look for races and accesses out of bounds.
    Check(Target),
    /// Write a first benchmark file.
    CreateBenchmark(Target),
    /// Put a tested or evolved version into the document.
    Apply {
        /// Its number in this session.
        proposal: u64,
    },
    /// Show what applying it would change.
    ShowDiff {
        /// Its number in this session.
        proposal: u64,
    },
    /// Say what a job is doing.
    ShowJob {
        /// Its number in this session.
        job: u64,
    },
    /// End a job and its processes.
    Stop {
        /// Its number in this session.
        job: u64,
    },
    /// Ask one of the editor's models for a word, so that the editor can ask its user for consent.
    TryModel {
        /// The model that is wished for; absent for the editor's choice.
        model: Option<String>,
    },
}

/// Names of all commands, for the client.
pub const NAMES: [&str; 12] = [
    "kernelScientist.time",
    "kernelScientist.suggest",
    "kernelScientist.evolve",
    "kernelScientist.resume",
    "kernelScientist.test",
    "kernelScientist.check",
    "kernelScientist.createBenchmark",
    "kernelScientist.apply",
    "kernelScientist.showDiff",
    "kernelScientist.showJob",
    "kernelScientist.stop",
    "kernelScientist.tryModel",
];

#[derive(Serialize, Deserialize)]
struct OfRun {
    #[serde(flatten)]
    target: Target,
    run: i64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

#[derive(Serialize, Deserialize)]
struct OfHypothesis {
    #[serde(flatten)]
    target: Target,
    key: String,
}

#[derive(Serialize, Deserialize)]
struct OfProposal {
    proposal: u64,
}

#[derive(Serialize, Deserialize)]
struct OfJob {
    job: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct OfModel {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

impl Command {
    /// Name and argument, as the client keeps them.
    pub fn written(&self) -> (&'static str, Value) {
        match self {
            Self::Time(target) => (NAMES[0], json!(target)),
            Self::Suggest(target) => (NAMES[1], json!(target)),
            Self::Evolve(target) => (NAMES[2], json!(target)),
            Self::Resume { target, run, more } => {
                (NAMES[3], json!(OfRun { target: target.clone(), run: *run, more: *more }))
            }
            Self::Test { target, key } => (NAMES[4], json!(OfHypothesis { target: target.clone(), key: key.clone() })),
            Self::Check(target) => (NAMES[5], json!(target)),
            Self::CreateBenchmark(target) => (NAMES[6], json!(target)),
            Self::Apply { proposal } => (NAMES[7], json!(OfProposal { proposal: *proposal })),
            Self::ShowDiff { proposal } => (NAMES[8], json!(OfProposal { proposal: *proposal })),
            Self::ShowJob { job } => (NAMES[9], json!(OfJob { job: *job })),
            Self::Stop { job } => (NAMES[10], json!(OfJob { job: *job })),
            Self::TryModel { model } => (NAMES[11], json!(OfModel { model: model.clone() })),
        }
    }

    /// Reads a command.
    ///
    /// # Errors
    /// Says what is wrong with it, for the client's log.
    pub fn read(name: &str, argument: Option<Value>) -> Result<Self, String> {
        let argument = argument.unwrap_or(Value::Null);
        Ok(match NAMES.iter().position(|known| *known == name) {
            Some(0) => Self::Time(read(name, argument)?),
            Some(1) => Self::Suggest(read(name, argument)?),
            Some(2) => Self::Evolve(read(name, argument)?),
            Some(3) => {
                let OfRun { target, run, more } = read(name, argument)?;
                Self::Resume { target, run, more }
            }
            Some(4) => {
                let OfHypothesis { target, key } = read(name, argument)?;
                Self::Test { target, key }
            }
            Some(5) => Self::Check(read(name, argument)?),
            Some(6) => Self::CreateBenchmark(read(name, argument)?),
            Some(7) => Self::Apply { proposal: read::<OfProposal>(name, argument)?.proposal },
            Some(8) => Self::ShowDiff { proposal: read::<OfProposal>(name, argument)?.proposal },
            Some(9) => Self::ShowJob { job: read::<OfJob>(name, argument)?.job },
            Some(10) => Self::Stop { job: read::<OfJob>(name, argument)?.job },
            Some(11) if argument.is_null() => Self::TryModel { model: None },
            Some(11) => Self::TryModel { model: read::<OfModel>(name, argument)?.model },
            _ => return Err(format!("there is no command {name}; known: {}", NAMES.join(", "))),
        })
    }
}

fn read<T: DeserializeOwned>(name: &str, argument: Value) -> Result<T, String> {
    serde_json::from_value(argument).map_err(|error| format!("{name}: its argument is not what it should be: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let target = Target { uri: "file:///a.hip".into(), kernel: Some("k".into()) };
        let all = [
            Command::Time(target.clone()),
            Command::Suggest(Target { kernel: None, ..target.clone() }),
            Command::Evolve(target.clone()),
            Command::Resume { target: target.clone(), run: 3, more: false },
            Command::Resume { target: target.clone(), run: 3, more: true },
            Command::Test { target: target.clone(), key: "unroll:k:7".into() },
            Command::Check(target.clone()),
            Command::CreateBenchmark(target),
            Command::Apply { proposal: 1 },
            Command::ShowDiff { proposal: 2 },
            Command::ShowJob { job: 3 },
            Command::Stop { job: 4 },
            Command::TryModel { model: None },
            Command::TryModel { model: Some("gpt".into()) },
        ];
        for command in all {
            let (name, argument) = command.written();
            assert_eq!(Command::read(name, Some(argument)).unwrap(), command);
        }
    }

    #[test]
    fn mistakes_name_the_command() {
        let unknown = Command::read("kernelScientist.tim", None).unwrap_err();
        assert!(unknown.contains("kernelScientist.tim;") && unknown.contains("kernelScientist.time"), "{unknown}");
        let missing = Command::read("kernelScientist.time", None).unwrap_err();
        assert!(missing.contains("kernelScientist.time") && missing.contains("argument"), "{missing}");
    }
}
