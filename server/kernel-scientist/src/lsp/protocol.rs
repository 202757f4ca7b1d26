//! What client and server say to each other beyond the Language Server Protocol: the panel's requests, the events of runs, and
//! the editor's models. `vscode-extension/src/protocol.ts` is written from these types; a test holds the two together.

use std::path::PathBuf;

use lab::forecast::{Basis, Odds};
use lab::{SpeedRatio, Verdict};
use notebook::{Calibration, ExperimentKind};
use schemars::JsonSchema;
use scientist::evolution::event::{Event, ShapeSpeed};
use scientist::stages::GainRange;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cli::report::data::Standing;

/// Request of the client: a run and its population.
pub const POPULATION: &str = "kernelScientist/population";
/// Request of the client: the runs of a file, or of all files.
pub const RUNS: &str = "kernelScientist/runs";
/// Request of the client: the text of a version, or of a draft that made none.
pub const VERSION: &str = "kernelScientist/version";
/// Request of the client: the kernels of files, with the last figure of each.
pub const KERNELS: &str = "kernelScientist/kernels";
/// Request of the client: the device and the provider that a file is worked on with.
pub const STATUS: &str = "kernelScientist/status";
/// Request of the client: what an evolution would be done with, and what it would cost.
pub const PLAN: &str = "kernelScientist/plan";
/// Request of the client: makes a version of a run a proposal.
pub const PROPOSE: &str = "kernelScientist/propose";
/// Request of the client: what a proposal makes of the document as it is now.
pub const PREVIEW: &str = "kernelScientist/preview";
/// Request of the client: the code that the GPU would run.
pub const MACHINE_CODE: &str = "kernelScientist/machineCode";
/// Notification of the server, to clients with the ability `proposals`: there is a version that can be put into the document.
pub const PROPOSED: &str = "kernelScientist/proposed";
/// Request of the server, to clients with the ability `keys`: the key of a provider.
pub const KEY: &str = "kernelScientist/key";
/// Notification of the server: something happened in a run.
pub const RUN_EVENT: &str = "kernelScientist/runEvent";
/// Request of the server: an answer of one of the editor's models. It is given up by `$/cancelRequest`.
pub const MODEL: &str = "kernelScientist/model";
/// Notification of the client: a part of such an answer, as soon as it is there.
pub const MODEL_PART: &str = "kernelScientist/modelPart";

/// Fields of `initializationOptions` that say what a client can do; all others are settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientAbilities {
    /// It answers `kernelScientist/model`.
    pub editor_models: bool,
    /// It answers `kernelScientist/key`.
    pub keys: bool,
    /// It shows `kernelScientist/proposed` by itself; others get a message with the choices Apply and Show diff.
    pub proposals: bool,
    /// Its user trusts the workspace, as is taken for granted where nothing is said. Of one that is not trusted texts are read and
    /// shown, and nothing is built, run or sent.
    pub trusted: bool,
}

impl Default for ClientAbilities {
    fn default() -> Self {
        Self { editor_models: false, keys: false, proposals: false, trusted: true }
    }
}

/// The `settings` of a `workspace/didChangeConfiguration` that says whether the user trusts the workspace now. It stands beside
/// the section of settings, not in it: a workspace has settings of its own, and must not trust itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// The user trusts the workspace.
    pub trusted: bool,
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
    /// The document; without it the newest runs of all files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
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
    /// What it waits for or what ended it, where that was recorded.
    pub why: Option<String>,
    /// Somebody is at work on it, in this server or in another program.
    pub is_held: bool,
    /// Its budget ended it: it goes on with `more`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_budget: bool,
    /// What came of it, such as `1.82x [1.80, 1.85]`; absent before its end.
    pub result: Option<String>,
    /// Whether there is a winner that held against the original.
    pub is_confirmed: bool,
    /// When it began: milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// Seconds at work.
    pub spent_s: f64,
    /// Dollars.
    pub spent_usd: f64,
}

/// A run and its population; the answer of `kernelScientist/population`, which is `null` for a file without runs. Its words are
/// those of `kernel-scientist report`.
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
    /// The device as it is shown: `MI300X`, `cpu emulation`.
    pub device_title: String,
    /// What the device's times mean; empty while there are none.
    pub device_note: String,
    /// Who thought hypotheses up; `catalog` is rule-based.
    pub provider: String,
    /// How it stands.
    pub state: RunState,
    /// The same in words, with what it waits for or what ended it.
    pub state_words: String,
    /// Somebody is at work on it, in this server or in another program.
    pub is_held: bool,
    /// Its budget ended it: it goes on with `more`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_budget: bool,
    /// When it began: milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// Seconds at work.
    pub spent_s: f64,
    /// Dollars.
    pub spent_usd: f64,
    /// Tokens to and from a provider.
    pub spent_tokens: u64,
    /// What all times and speeds rest on where they are forecasts; absent where they were measured, or there are none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Basis>,
    /// What it came to: a number such as `1.42×`, or that there is none.
    pub headline: String,
    /// What that says and what it is worth, in sentences.
    pub sentence: String,
    /// The version that held against the original in a fresh process; absent while there is none.
    pub winner: Option<Winner>,
    /// The versions, in order of their numbers; 0 is the original.
    pub members: Vec<Member>,
    /// All experiments, in the order in which they were made.
    pub experiments: Vec<Experiment>,
    /// How well predictions agree with what was measured or forecast.
    pub calibration: Calibration,
}

/// A version that held against the original.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Winner {
    /// Its number; absent where the text is that of no version.
    pub number: Option<u32>,
    /// Its speed against the original.
    pub speed: SpeedRatio,
    /// Each shape, the held-out ones too.
    pub shapes: Vec<ShapeSpeed>,
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
    /// What was changed, in one line.
    pub title: String,
    /// What was tried and what came of it.
    pub summary: String,
    /// Keys of the hypotheses from the original to here, oldest first.
    pub steps: Vec<String>,
    /// The hypothesis behind the last step, in one line.
    pub hypothesis: Option<String>,
    /// How it stands against its parent.
    pub standing: Standing,
    /// The same in words, such as `faster` or `does not compile`.
    pub outcome: String,
    /// Speed against its parent.
    pub speed: Option<SpeedRatio>,
    /// What that says.
    pub verdict: Option<Verdict>,
    /// What the speed rests on where it is a forecast; absent where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Basis>,
    /// Expected gain in percent of speed.
    pub predicted: Option<GainRange>,
    /// The time at each shape that stages may see.
    pub times: Vec<VersionTime>,
}

/// A time of a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VersionTime {
    /// The problem size.
    pub shape: String,
    /// The median; the time itself of a forecast.
    pub median_ns: f64,
    /// Lower end of its 95% interval; of a forecast, of what nine of ten validated times lay within.
    pub low_ns: f64,
    /// Upper end.
    pub high_ns: f64,
}

/// One experiment: a hypothesis and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Its number in the notebook.
    pub id: i64,
    /// The generation, from 1; 0 outside of generations.
    pub generation: u32,
    /// What it was made for.
    pub kind: ExperimentKind,
    /// The version that it was compared with.
    pub base: u32,
    /// The version that it made, if any.
    pub candidate: Option<u32>,
    /// The hypothesis' key.
    pub key: String,
    /// The hypothesis in one line.
    pub title: String,
    /// Why it should help.
    pub reason: String,
    /// Where that is documented.
    pub source: String,
    /// Expected gain in percent of speed.
    pub predicted: Option<GainRange>,
    /// How unusual the idea is, 0 to 100.
    pub innovation: Option<u64>,
    /// How it stands.
    pub standing: Standing,
    /// The same in words, such as `faster` or `does not compile`.
    pub outcome: String,
    /// Speed against its base; against the original for the kinds `direct` and `confirmation`.
    pub speed: Option<SpeedRatio>,
    /// The speed is a forecast.
    pub is_forecast: bool,
    /// How often forecasts this far apart were in the right order; of forecasts alone.
    pub odds: Option<Odds>,
    /// What went wrong, one line an entry.
    pub errors: Vec<String>,
    /// The writer's report.
    pub report: String,
    /// Whether the prediction is held against it: not so for searches and confirmations.
    pub judges_prediction: bool,
    /// Whether it is a further draft of the plan before it.
    pub repeats: bool,
    /// Whether there is a text, which `kernelScientist/version` gives.
    pub has_text: bool,
    /// Seconds that building, checking and timing it took.
    pub took_s: f64,
    /// Dollars for writing and mending it, of a plan with several drafts with the first.
    pub usd: f64,
    /// Tokens for the same.
    pub tokens: u64,
}

/// Parameters of `kernelScientist/version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VersionParams {
    /// Number of the run.
    pub run: i64,
    /// Which of its texts.
    pub of: VersionOf,
}

/// A text of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VersionOf {
    /// That of a version, by its number.
    Candidate(u32),
    /// The draft of an experiment, by its number in the notebook.
    Experiment(i64),
}

/// The answer of `kernelScientist/version`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Version {
    /// The user's file.
    pub file: PathBuf,
    /// The whole text.
    pub text: String,
}

/// Parameters of `kernelScientist/kernels`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelsParams {
    /// The files; they need not be open.
    pub uris: Vec<String>,
}

/// The kernels of a file: an element of the answer of `kernelScientist/kernels`, in the order of the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileKernels {
    /// The file.
    pub uri: String,
    /// Its kernels, in order.
    pub kernels: Vec<KernelFigure>,
    /// A benchmark file lies beside it.
    pub has_benchmark: bool,
    /// Why it could not be read, if it could not.
    pub problem: Option<String>,
}

/// A kernel and what is last known of its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelFigure {
    /// Its name, as written.
    pub name: String,
    /// The line that its name is on, from 0.
    pub line: u32,
    /// What its inlay hint says, such as `412 us ±0.4% · 1.82x vs original · MI300X`; absent where nothing is known.
    pub figure: Option<String>,
    /// The figure is that of the code as it is.
    pub is_current: bool,
    /// The figure is a forecast, not a measurement.
    pub is_forecast: bool,
}

/// Parameters of `kernelScientist/status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusParams {
    /// The file, whose folder may have settings of its own.
    pub uri: String,
}

/// What a file is worked on with: the answer of `kernelScientist/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// The device, as a user names it.
    pub device: String,
    /// The device as it is shown: `MI300X`, `cpu emulation`.
    pub device_title: String,
    /// Times on it are forecasts, not measurements.
    pub is_forecast: bool,
    /// Who thinks hypotheses up; `catalog` is rule-based.
    pub provider: String,
    /// Dollars that the runs of the file have cost so far, as they are on record.
    pub spent_usd: f64,
    /// All devices that can be chosen.
    pub devices: Vec<DeviceChoice>,
    /// What is wrong with the settings, if something is.
    pub problem: Option<String>,
}

/// A device that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceChoice {
    /// Its name, for the setting `kernelScientist.device`.
    pub name: String,
    /// What its times are.
    pub detail: String,
}

/// Parameters of `kernelScientist/plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanParams {
    /// The document, which is open.
    pub uri: String,
    /// The kernel; absent for all of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
}

/// What an evolution would be done with: the answer of `kernelScientist/plan`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Who thinks hypotheses up; `catalog` is rule-based.
    pub provider: String,
    /// It works by rules and not by a model.
    pub is_rule_based: bool,
    /// Generations at most.
    pub generations: u32,
    /// How the kernel is fed.
    pub fed_by: FedBy,
    /// The provider whose key is missing, such as `anthropic`.
    pub missing_key: Option<String>,
    /// What it will probably cost and what limits it, in words; absent where that is not known, or nothing.
    pub estimate: Option<String>,
    /// Why it cannot be begun, if it cannot, and what to do.
    pub problem: Option<String>,
}

/// How a kernel is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FedBy {
    /// By a benchmark file beside the source.
    BenchmarkFile,
    /// By the file's own `main`.
    Program,
    /// By what its signature lets guess; that can be written down as a benchmark file.
    Signature,
    /// By nothing: its signature does not say enough, and there is no benchmark file.
    Nothing,
}

/// Parameters of `kernelScientist/propose`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProposeParams {
    /// The document.
    pub uri: String,
    /// Number of the run.
    pub run: i64,
    /// Number of the version.
    pub candidate: u32,
}

/// The answer of `kernelScientist/propose`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProposalNumber {
    /// Number of the proposal in this session.
    pub proposal: u64,
}

/// Parameters of `kernelScientist/proposed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proposed {
    /// Number of the proposal in this session, for `kernelScientist.apply` and `kernelScientist/preview`.
    pub proposal: u64,
    /// The document.
    pub uri: String,
    /// The kernel; absent for all of the file.
    pub kernel: Option<String>,
    /// What it is, in one line.
    pub title: String,
    /// What came of it, in sentences.
    pub text: String,
    /// The run that it is the winner of; absent for a single hypothesis.
    pub run: Option<i64>,
}

/// Parameters of `kernelScientist/preview`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreviewParams {
    /// Number of the proposal in this session.
    pub proposal: u64,
}

/// The answer of `kernelScientist/preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Preview {
    /// The document.
    pub uri: String,
    /// What the proposal is, in one line.
    pub title: String,
    /// The document's text as it would be.
    pub text: String,
}

/// Parameters of `kernelScientist/machineCode`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCodeParams {
    /// The document, which is open.
    pub uri: String,
}

/// The answer of `kernelScientist/machineCode`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCode {
    /// The processor: `gfx942`.
    pub arch: String,
    /// The assembly of the file's device code.
    pub text: String,
}

/// Parameters of `kernelScientist/key`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyParams {
    /// The provider, as users write it: `anthropic`.
    pub provider: String,
}

/// The answer of `kernelScientist/key`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyAnswer {
    /// The key, where the editor keeps one.
    #[serde(default)]
    pub key: Option<String>,
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

/// Which kind of failure: in the words of VS Code's `LanguageModelError`, and what GitHub Copilot's errors are named after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ModelFailureKind {
    /// The user has not allowed it, or takes that back.
    NoPermissions,
    /// The extension may not use the model for the time being.
    Blocked,
    /// There is no such model.
    NotFound,
    /// It was asked too often.
    RateLimited,
    /// The user's quota is used up.
    OutOfQuota,
    /// Anything else; the message says what.
    Other,
}

/// All of it, for the schema.
#[cfg(test)]
#[derive(JsonSchema)]
#[allow(dead_code)]
pub struct Everything {
    abilities: (ClientAbilities, Trust),
    population: (PopulationParams, Population),
    runs: (RunsParams, Run),
    version: (VersionParams, Version),
    kernels: (KernelsParams, FileKernels),
    status: (StatusParams, Status),
    plan: (PlanParams, Plan),
    propose: (ProposeParams, ProposalNumber, Proposed),
    preview: (PreviewParams, Preview),
    machine_code: (MachineCodeParams, MachineCode),
    key: (KeyParams, KeyAnswer),
    run_event: RunEvent,
    model: (ModelParams, ModelAnswer, ModelFailure),
    model_part: ModelPart,
}
