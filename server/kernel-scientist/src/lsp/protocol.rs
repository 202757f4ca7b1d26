//! What client and server say to each other beyond the Language Server Protocol: the panel's requests, the events of runs, and
//! the editor's models. `vscode-extension/src/protocol.ts` is written from these types; a test holds the two together.

use std::path::PathBuf;

use lab::forecast::Basis;
use lab::{SpeedRatio, Verdict};
use schemars::JsonSchema;
use scientist::evolution::event::{Event, ShapeTime};
use scientist::stages::GainRange;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Request of the client: a run and its population.
pub const POPULATION: &str = "kernelScientist/population";
/// Request of the client: the runs of a file.
pub const RUNS: &str = "kernelScientist/runs";
/// Notification of the server: something happened in a run.
pub const RUN_EVENT: &str = "kernelScientist/runEvent";
/// Request of the server: an answer of one of the editor's models. It is given up by `$/cancelRequest`.
pub const MODEL: &str = "kernelScientist/model";
/// Notification of the client: a part of such an answer, as soon as it is there.
pub const MODEL_PART: &str = "kernelScientist/modelPart";

/// Fields of `initializationOptions` that say what a client can do; all others are settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientAbilities {
    /// It answers `kernelScientist/model`.
    #[serde(default)]
    pub editor_models: bool,
}

/// Parameters of `kernelScientist/population`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PopulationParams {
    /// The document.
    pub uri: String,
    /// Number of the run; without it the newest one of the document's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<i64>,
}

/// Parameters of `kernelScientist/runs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunsParams {
    /// The document.
    pub uri: String,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Under way, or cut off.
    Open,
    /// A device or a provider was missing; it can be resumed.
    Paused,
    /// Somebody stopped it; it can be resumed.
    Cancelled,
    /// An error ended it.
    Failed,
    /// It came to its end.
    Finished,
}

impl From<&notebook::RunState> for RunState {
    fn from(state: &notebook::RunState) -> Self {
        match state {
            notebook::RunState::Open => Self::Open,
            notebook::RunState::Paused(_) => Self::Paused,
            notebook::RunState::Cancelled => Self::Cancelled,
            notebook::RunState::Failed(_) => Self::Failed,
            notebook::RunState::Finished(_) => Self::Finished,
        }
    }
}

/// A run in few words: an element of the answer of `kernelScientist/runs`, the newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its number in the notebook.
    pub run: i64,
    /// The kernel that it is about; absent for all of the file.
    pub kernel: Option<String>,
    /// The device.
    pub device: String,
    /// Who thought hypotheses up; `catalog` is rule-based.
    pub provider: String,
    /// How it stands.
    pub state: RunState,
    /// When it began: milliseconds since 1970, UTC.
    pub at_ms: i64,
}

/// A run and its population; the answer of `kernelScientist/population`, which is `null` for a file without runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Population {
    /// The run's number in the notebook.
    pub run: i64,
    /// The file.
    pub file: PathBuf,
    /// The kernel that it is about; absent for all of the file.
    pub kernel: Option<String>,
    /// The device.
    pub device: String,
    /// Who thought hypotheses up; `catalog` is rule-based.
    pub provider: String,
    /// How it stands.
    pub state: RunState,
    /// Seconds at work.
    pub spent_s: f64,
    /// Dollars.
    pub spent_usd: f64,
    /// The versions, in order of their numbers; 0 is the original.
    pub members: Vec<Member>,
    /// Experiments that made no member, in order.
    pub dead_ends: Vec<DeadEnd>,
}

/// One version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Member {
    /// Its number.
    pub number: u32,
    /// The version that it was made from; absent for the original.
    pub parent: Option<u32>,
    /// The second parent.
    pub reference: Option<u32>,
    /// The generation that it was made in; 0 for the original.
    pub generation: u32,
    /// What was tried and what came of it.
    pub summary: String,
    /// Keys of the hypotheses from the original to here, oldest first.
    pub steps: Vec<String>,
    /// The hypothesis behind the last step, in one line.
    pub hypothesis: Option<String>,
    /// Speed against its parent.
    pub speed: Option<SpeedRatio>,
    /// What that says.
    pub verdict: Option<Verdict>,
    /// What the speed rests on where it is a forecast; absent where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Basis>,
    /// Expected gain in percent of speed.
    pub predicted: Option<GainRange>,
    /// The median of each shape that stages may see.
    pub times: Vec<ShapeTime>,
}

/// An experiment that made no version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeadEnd {
    /// The version that it began with.
    pub base: u32,
    /// The generation.
    pub generation: u32,
    /// The hypothesis, in one line.
    pub hypothesis: String,
    /// Why it came to nothing.
    pub reason: String,
}

/// Parameters of `kernelScientist/runEvent`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEvent {
    /// Number of the job in this session.
    pub job: u64,
    /// The document.
    pub uri: String,
    /// The kernel; absent for all of the file.
    pub kernel: Option<String>,
    /// What happened, as a line of `evolve --json`.
    pub event: Event,
}

/// Parameters of `kernelScientist/model`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelParams {
    /// Names this answer in `kernelScientist/modelPart`.
    pub token: String,
    /// The model that is wished for, by its identifier or family; absent for the editor's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The conversation, oldest first. Editors know no system role: instructions are the first message of the user.
    pub messages: Vec<ModelMessage>,
    /// Where an answer must fit a schema: the one tool that the model is required to call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ModelTool>,
    /// Why it is asked, in words that the editor can show beside its question for consent.
    pub justification: String,
    /// A user's action led to this request, so that a question for consent may be asked.
    pub is_of_user: bool,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelMessage {
    /// Who says it.
    pub role: ModelRole,
    /// What.
    pub text: String,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// Whoever asks.
    User,
    /// The model.
    Assistant,
}

/// A tool whose input is the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its input.
    pub input_schema: Value,
}

/// Parameters of `kernelScientist/modelPart`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelPart {
    /// The answer that it is a part of.
    pub token: String,
    /// Text that is to be put behind the parts before.
    pub text: String,
}

/// The answer of `kernelScientist/model`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelAnswer {
    /// Identifier of the model that answered.
    pub model: String,
    /// All of its text.
    pub text: String,
    /// What it called the tool with, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<Value>,
}

/// Why an editor's model does not answer: the field `data` of the error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFailure {
    /// Which kind.
    pub kind: ModelFailureKind,
}

/// Which kind of failure, in the words of VS Code's `LanguageModelError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ModelFailureKind {
    /// The user has not allowed it, or takes that back.
    NoPermissions,
    /// A limit is reached, or the request was refused for what is in it.
    Blocked,
    /// There is no such model.
    NotFound,
    /// Anything else; the message says what.
    Other,
}

/// All of it, for the schema.
#[cfg(test)]
#[derive(JsonSchema)]
#[allow(dead_code)]
pub struct Everything {
    abilities: ClientAbilities,
    population: (PopulationParams, Population),
    runs: (RunsParams, Run),
    run_event: RunEvent,
    model: (ModelParams, ModelAnswer, ModelFailure),
    model_part: ModelPart,
}
