//! The three stages of the paper as traits, and what passes between them.
//!
//! The catalog stands behind them offline; model-backed stages fit the same traits. A stage may block (a model call
//! does) and must return soon after `cancel` is set.

use std::sync::Arc;

use lab::forecast::KernelForecast;
use lab::sanitize::Fault;
use lab::{Cancel, Failure, SpeedRatio, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of a candidate in its population; the original source is 0.
pub type CandidateId = u32;

/// One version of the source with what is known of it, as the stages see it. Held-out shapes are not in here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Its number.
    pub id: CandidateId,
    /// The version it was made from; `None` for the original.
    pub parent: Option<CandidateId>,
    /// The second parent, if a reference was used.
    pub reference: Option<CandidateId>,
    /// Generation it was made in; 0 for the original.
    pub generation: u32,
    /// The whole source.
    pub text: Arc<str>,
    /// Keys of the hypotheses applied from the original to here, oldest first.
    pub steps: Vec<String>,
    /// One line: what was tried and what came of it.
    pub summary: String,
    /// Median time per shape in nanoseconds: (shape, median). Empty when it failed.
    pub times: Vec<(String, f64)>,
    /// Speed relative to its parent (geometric mean).
    pub against_parent: Option<SpeedRatio>,
    /// Speed relative to the original (geometric mean): product of the steps' ratios until it is confirmed directly.
    pub against_original: Option<SpeedRatio>,
    /// Verdict against its parent, if it ran.
    pub verdict: Option<Verdict>,
    /// Why it has no time, if it failed.
    pub failure: Option<Failure>,
}

/// Every version so far, in order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Population {
    /// The members; index = id.
    pub members: Vec<Member>,
}

/// The selector's choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// What the next experiments start from.
    pub base: CandidateId,
    /// A divergent line, or one strong on particular shapes; the base itself when there is no other.
    pub reference: CandidateId,
    /// Why, in one or two sentences.
    pub reason: String,
}

/// Expected uplift in percent of speed: 20 means 1.2x. May be negative at the low end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GainRange {
    /// Low end.
    pub min_percent: f64,
    /// High end.
    pub max_percent: f64,
}

impl GainRange {
    /// Middle of the range, in percent.
    pub fn middle(&self) -> f64 {
        f64::midpoint(self.min_percent, self.max_percent)
    }
}

/// A change to try, with its reason and what it is expected to bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// Stable key: equal for the same change at the same place (`lds-padding:tile`); a plan already tried on a base is not
    /// tried again.
    pub key: String,
    /// The kernel it is about.
    pub kernel: String,
    /// One line, shown in lists.
    pub title: String,
    /// Why it should help.
    pub reason: String,
    /// Where that is documented.
    pub source: String,
    /// The concrete code changes, for the writer.
    pub rubric: String,
    /// Line it is about, from 1.
    pub line: u32,
    /// Expected gain.
    pub gain: GainRange,
    /// How unusual the idea is, 0 to 100.
    pub innovation: u8,
    /// The model that thought it up; `None` for the rule-based catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// For a search over constants: what they are now, where they have a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<Setting>,
    /// For a search over constants: values that are not tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// A constant with a value: a tile size, items for each thread, rounds unrolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Name of the constant, or what it says (`items along y`).
    pub name: String,
    /// Its value.
    pub value: i64,
}

impl std::fmt::Display for Setting {
    /// `TILE 32`.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} {}", self.name, self.value)
    }
}

/// `TILE 32, UNROLL 4`; nothing where nothing is set.
pub fn in_words(settings: &[Setting]) -> String {
    settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A value of a search that is not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The value.
    pub setting: Setting,
    /// Why, such as `does not fit LDS`.
    pub reason: String,
}

/// Values of a search and what came of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// The values of one draft.
    pub settings: Vec<Setting>,
    /// Speed against the base as last measured; a brief measurement for values that did not come far. Absent where the
    /// draft failed or says the same as another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<SpeedRatio>,
    /// Why it has no speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What the designer returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// Up to ten directions, one line each.
    pub avenues: Vec<String>,
    /// Up to five plans worked out.
    pub plans: Vec<Hypothesis>,
}

/// A plan that was put to the test in this run.
#[derive(Clone, Debug, PartialEq)]
pub struct PastPlan {
    /// The version that it started from.
    pub base: CandidateId,
    /// The plan.
    pub plan: Arc<Hypothesis>,
    /// What came of it, in words.
    pub outcome: String,
}

/// What the designer may see.
#[derive(Clone, Debug)]
pub struct DesignBrief<'a> {
    /// The version to improve.
    pub base: &'a Member,
    /// Everything so far, failures included.
    pub population: &'a Population,
    /// What earlier experiments taught, one sentence each, newest last.
    pub findings: &'a [Finding],
    /// Plans already tried from this base (keys), to be left out.
    pub tried: &'a [String],
    /// Every plan that was put to the test in this run, on whatever version, oldest first.
    pub past: &'a [PastPlan],
    /// Only this kernel, when the user named one.
    pub kernel: Option<&'a str>,
    /// Where the device is forecast for: what the base's kernels spend their time on, line by line.
    pub forecast: &'a [KernelForecast],
}

/// What the writer may see.
#[derive(Clone, Debug)]
pub struct WriteBrief<'a> {
    /// The version to change.
    pub base: &'a Member,
    /// The selector's reference.
    pub reference: &'a Member,
    /// The experiment.
    pub plan: &'a Hypothesis,
}

/// What the writer may see of a draft of its own that failed.
#[derive(Clone, Debug)]
pub struct RepairBrief<'a> {
    /// What the draft was written for.
    pub write: WriteBrief<'a>,
    /// The draft's text.
    pub draft: &'a str,
    /// How it failed, at the shapes that stages may see.
    pub failure: &'a Failure,
    /// What sanitizers find in it.
    pub faults: &'a [Fault],
    /// Which repair this is, from 1.
    pub turn: u32,
}

/// One new version of the whole source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// What was done, and what could not be done.
    pub report: String,
    /// For a search over constants: the values of this draft.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
}

/// What an experiment taught: the prediction against the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The hypothesis' key without its place (`lds-padding`).
    pub about: String,
    /// The prediction.
    pub predicted: GainRange,
    /// Measured uplift in percent; `None` when it failed, or was forecast.
    pub measured_percent: Option<f64>,
    /// Forecast uplift in percent, on a device that is forecast for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast_percent: Option<f64>,
    /// One sentence.
    pub text: String,
    /// The model that predicted, as `PROVIDER:MODEL`; `None` for the catalog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// For a search over constants: each value that was tried, in the order of the drafts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
}

impl Finding {
    /// The uplift in percent, measured or forecast; `None` when it failed.
    pub fn gain_percent(&self) -> Option<f64> {
        self.measured_percent.or(self.forecast_percent)
    }
}

/// Why a stage could not answer.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Somebody asked the job to stop.
    #[error("cancelled")]
    Cancelled,
    /// The provider behind the stage is not usable now; the run pauses and can be resumed.
    #[error("{0}")]
    Unavailable(String),
    /// What calls may use up is used up; the run ends and can be resumed with more.
    #[error("{0}")]
    Overdrawn(String),
    /// The stage answered and the answer cannot be used; this one experiment fails.
    #[error("{0}")]
    Unusable(String),
}

/// Stage 1: chooses the base and the reference.
pub trait Selector: Send {
    /// Chooses from a population whose member 0 (the original) always has a time. `kernel` is the one that the user named:
    /// experiments will be about it alone.
    fn select(
        &mut self,
        population: &Population,
        kernel: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Selection, StageError>;
}

/// Stage 2: lists avenues and works out plans.
pub trait Designer: Send {
    /// Designs experiments on the brief's base; an empty design means that nothing is left to try there.
    fn design(&mut self, brief: &DesignBrief<'_>, cancel: &Cancel) -> Result<Design, StageError>;
}

/// Stage 3: turns one plan into code. Asked for several plans at once, from threads of their own, unless it
/// [answers at once](Writer::answers_at_once).
pub trait Writer: Sync {
    /// Writes one draft, or several where the plan is a search over constants (each is measured, the best is kept).
    fn write(&self, brief: &WriteBrief<'_>, cancel: &Cancel) -> Result<Vec<Draft>, StageError>;

    /// Whether an answer takes no time worth mentioning. Then questions are put one after the other, in the order of the plans.
    fn answers_at_once(&self) -> bool {
        true
    }

    /// Whether a draft that failed may be given back to it.
    fn mends(&self) -> bool {
        false
    }

    /// Mends a draft that failed. `None` where there is nothing to try.
    fn repair(&self, _brief: &RepairBrief<'_>, _cancel: &Cancel) -> Result<Option<Draft>, StageError> {
        Ok(None)
    }
}
