//! What a run tells while it goes on. The command line prints each event as one line of JSON.

use std::path::PathBuf;

use lab::forecast::Basis;
use lab::{Failure, SpeedRatio, Verdict};
use notebook::{Calibration, ExperimentKind, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::ChoiceRule;
use crate::budget::Budget;
use crate::stages::{CandidateId, GainRange, Setting, Tried};

/// An event of a run, `{"event":"started",...}` in JSON. Times are in seconds (`_s`) or nanoseconds (`_ns`).
///
/// Each is sent after what it tells is in the notebook, but for those of models at work (`answering`, `waiting`), which are kept
/// nowhere. The first of the others is `started`, unless the run could not begin; the last is `finished`, exactly once, whatever ended the run. A run that is resumed does not repeat the events of what it finds recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run has its number in the notebook and sets out.
    Started {
        /// Its number.
        run: RunId,
        /// Whether it goes on from an earlier sitting.
        resumed: bool,
        /// The user's file.
        file: PathBuf,
        /// The one kernel to work on, if the user named one.
        kernel: Option<String>,
        /// The device.
        device: String,
        /// What stands behind the stages; `catalog` is rule-based.
        provider: String,
        /// Seed of the run.
        seed: u64,
        /// What it may use up.
        budget: Budget,
    },
    /// Something that takes a while begins; for a progress line.
    Working {
        /// Generation, from 1; 0 before the first and after the last.
        generation: u32,
        /// What, such as `building 3 drafts`.
        doing: String,
    },
    /// Models are writing answers; a few times a second at most.
    Answering {
        /// What they are asked for: `selector`, `designer`, `writer` or `repair`.
        stage: String,
        /// How many answers of this stage are under way.
        answers: usize,
        /// Characters of them that have come so far.
        characters: usize,
    },
    /// A model's server was busy or out of reach, and is asked again.
    Waiting {
        /// What it was asked for.
        stage: String,
        /// What happened.
        reason: String,
        /// Time until it is asked again.
        wait_s: f64,
    },
    /// The file as it is was checked and timed, or a version became a member of the population.
    Candidate {
        /// Its number; 0 is the original.
        candidate: CandidateId,
        /// The version it was made from.
        parent: Option<CandidateId>,
        /// The second parent.
        reference: Option<CandidateId>,
        /// Generation it was made in.
        generation: u32,
        /// Keys of the hypotheses applied since the original, oldest first.
        steps: Vec<String>,
        /// What was tried and what came of it.
        summary: String,
        /// Median time of each shape that stages may see.
        times: Vec<ShapeTime>,
        /// Speed against its parent.
        against_parent: Option<SpeedRatio>,
        /// Speed against the original, over all steps since; not yet confirmed.
        against_original: Option<SpeedRatio>,
        /// Verdict against its parent.
        verdict: Option<Verdict>,
        /// Why it has no time.
        failure: Option<Failure>,
    },
    /// A generation begins.
    Generation {
        /// Its number, from 1.
        generation: u32,
        /// Generations the budget allows.
        of: u32,
        /// Fastest version so far; 0 is the original.
        best: CandidateId,
        /// Its speed against the original, not yet confirmed.
        best_ratio: f64,
        /// Lower end of that speed's interval.
        best_low: f64,
        /// Upper end of that speed's interval.
        best_high: f64,
        /// Time at work so far, over all sittings.
        spent_s: f64,
        /// Money spent so far, in US dollars.
        spent_usd: f64,
        /// Tokens spent so far.
        spent_tokens: u64,
        /// Time that the budget leaves; absent without a limit.
        remaining_s: Option<f64>,
        /// Time until the end, if the coming generations take as long as those before; absent in the first.
        estimate_s: Option<f64>,
    },
    /// Stage 1 has chosen.
    Selected {
        /// Generation.
        generation: u32,
        /// What the experiments start from.
        base: CandidateId,
        /// The second parent.
        reference: CandidateId,
        /// Why.
        reason: String,
    },
    /// Stage 2 has designed experiments, and up to three of them were chosen.
    Designed {
        /// Generation.
        generation: u32,
        /// What the experiments start from: another version than selected where nothing was left to try on that.
        base: CandidateId,
        /// Directions considered.
        avenues: Vec<String>,
        /// Plans worked out.
        plans: Vec<PlannedExperiment>,
        /// Why the designer's answer could not be used, if it could not.
        problem: Option<String>,
    },
    /// An experiment is over.
    Experiment {
        /// Generation; 0 after the last.
        generation: u32,
        /// What it was made for.
        kind: ExperimentKind,
        /// The hypothesis' key.
        key: String,
        /// The hypothesis in one line.
        title: String,
        /// Which draft of the plan, from 1.
        draft: usize,
        /// How many drafts the plan has.
        of: usize,
        /// What was done, and what could not be done, in the writer's words.
        report: String,
        /// For a search over constants: the values of this draft.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        settings: Vec<Setting>,
        /// What came of it.
        #[serde(flatten)]
        outcome: ExperimentResult,
        /// How long it took.
        took_s: f64,
    },
    /// An experiment taught something.
    Finding {
        /// Generation.
        generation: u32,
        /// The family of the hypothesis.
        about: String,
        /// The prediction, in percent of speed.
        predicted: GainRange,
        /// What was measured, in percent of speed; absent when it failed, or was forecast.
        measured_percent: Option<f64>,
        /// What was forecast, in percent of speed, on a device that is forecast for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forecast_percent: Option<f64>,
        /// In words; for a search over constants with each value that was tried.
        text: String,
        /// For a search over constants: each value that was tried, in the order of the drafts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tried: Vec<Tried>,
        /// How well this run's predictions agree with its measurements so far.
        calibration: Calibration,
    },
    /// A finalist was measured against the original again, with fresh seeds and on all shapes, the held-out ones too.
    Confirmed {
        /// The finalist.
        candidate: CandidateId,
        /// Whether it was faster again: then it is the winner.
        confirmed: bool,
        /// Its speed against the original in this very measurement; absent when it failed.
        speed: Option<SpeedRatio>,
        /// The verdict; absent when it failed.
        verdict: Option<Verdict>,
        /// Why it has no time.
        failure: Option<Failure>,
        /// Each shape.
        shapes: Vec<ShapeSpeed>,
        /// What the speed rests on where it is a forecast; absent where it was measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forecast: Option<Basis>,
    },
    /// A device or a provider is not usable; the run can be resumed.
    Paused {
        /// What is missing, and how to get it.
        message: String,
    },
    /// The run is over, or stands still until it is resumed. Always the last event.
    Finished(Finished),
}

impl From<llm::Heard> for Event {
    fn from(heard: llm::Heard) -> Self {
        match heard {
            llm::Heard::Answering { label, answers, characters } => {
                Self::Answering { stage: label, answers, characters }
            }
            llm::Heard::Waiting { label, reason, wait } => {
                Self::Waiting { stage: label, reason, wait_s: wait.as_secs_f64() }
            }
        }
    }
}

impl Event {
    /// What models at work tell, in a line; `None` for every other event.
    pub fn of_models(&self) -> Option<String> {
        match self {
            Self::Answering { stage, answers: 1, characters } => {
                Some(format!("{stage}: {characters} characters so far"))
            }
            Self::Answering { stage, answers, characters } => {
                Some(format!("{stage}: {characters} characters of {answers} answers so far"))
            }
            Self::Waiting { stage, reason, wait_s } => {
                Some(format!("{stage}: {reason}; asking again in {:.0} s", wait_s.ceil()))
            }
            _ => None,
        }
    }
}

/// A median time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShapeTime {
    /// The problem size.
    pub shape: String,
    /// The median.
    pub median_ns: f64,
}

/// A speed at one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShapeSpeed {
    /// The problem size.
    pub shape: String,
    /// Whether no stage ever saw it.
    pub held_out: bool,
    /// Speed against the original.
    pub speed: SpeedRatio,
    /// Verdict for this shape alone.
    pub verdict: Verdict,
}

/// A plan of a design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedExperiment {
    /// The hypothesis' key.
    pub key: String,
    /// The kernel it is about.
    pub kernel: String,
    /// In one line.
    pub title: String,
    /// Expected gain in percent of speed.
    pub gain: GainRange,
    /// How unusual it is, 0 to 100.
    pub innovation: u8,
    /// What it was chosen for; absent when it was not.
    pub chosen: Option<ChoiceRule>,
}

/// What came of an experiment, in the field `outcome`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ExperimentResult {
    /// It ran, was right and was timed.
    Measured {
        /// Speed against its base; against the original for the kinds `direct` and `confirmation`.
        speed: SpeedRatio,
        /// What the interval says.
        verdict: Verdict,
    },
    /// It was right, and its time was forecast.
    Forecast {
        /// As for `measured`, of forecast times.
        speed: SpeedRatio,
        /// Whether the forecasts are far enough apart.
        verdict: Verdict,
        /// What it rests on.
        forecast: Basis,
    },
    /// The code failed.
    Failed {
        /// How.
        failure: Failure,
    },
    /// The draft was refused: it says the same as something tried before.
    Duplicate {
        /// What it equals, such as `candidate 3`. In JSON `duplicate_of`: `of` is the number of drafts.
        #[serde(rename = "duplicate_of")]
        of: String,
    },
    /// It came to nothing: the writer could not write it, or its base does not run any more.
    NotWritten {
        /// Why.
        reason: String,
    },
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndState {
    /// It came to its end.
    Completed,
    /// Somebody asked it to stop; it can be resumed.
    Cancelled,
    /// A device or a provider is not usable; it can be resumed.
    Paused,
    /// An error ended it.
    Failed,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finished {
    /// The run; absent when it could not even be recorded.
    pub run: Option<RunId>,
    /// How it ended.
    pub state: EndState,
    /// Speed of `best` against the original as its confirmation measured it, never as the selection did: a winner is
    /// picked for its luck too. 1 when nothing is confirmed, since `best` is then the original itself.
    pub speedup: f64,
    /// Lower end of the 99% interval of `speedup`.
    pub speedup_low: f64,
    /// Upper end of the 99% interval of `speedup`.
    pub speedup_high: f64,
    /// Whether `best` is a confirmed improvement.
    pub confirmed: bool,
    /// The winner's number in the population; 0, the original, when nothing is confirmed.
    pub best: CandidateId,
    /// Why it ended and what that means, in sentences. Names the shapes on which the winner is slower.
    pub reason: String,
    /// Whether its budget ended it, so that it goes on with a larger one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_budget: bool,
    /// Each shape of the confirmation.
    pub shapes: Vec<ShapeSpeed>,
    /// What `speedup` rests on where it is a forecast; absent where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Basis>,
    /// Generations completed.
    pub generations: u32,
    /// Plans that were put to the test.
    pub experiments: u32,
    /// Versions in the population, the original not counted.
    pub candidates: u32,
    /// Plans whose code failed or could not be written.
    pub failed: u32,
    /// Drafts refused because they say the same as something tried before.
    pub duplicates: u32,
    /// How well the run's predictions agree with its measurements.
    pub calibration: Calibration,
    /// Time at work, over all sittings.
    pub spent_s: f64,
    /// Money spent, in US dollars.
    pub spent_usd: f64,
    /// Tokens spent.
    pub spent_tokens: u64,
}

impl Finished {
    /// An end without a winner and before anything was counted.
    pub(crate) fn nothing(run: Option<RunId>, state: EndState, reason: String) -> Self {
        Self {
            run,
            state,
            speedup: 1.0,
            speedup_low: 1.0,
            speedup_high: 1.0,
            confirmed: false,
            best: 0,
            reason,
            out_of_budget: false,
            shapes: Vec::new(),
            forecast: None,
            generations: 0,
            experiments: 0,
            candidates: 0,
            failed: 0,
            duplicates: 0,
            calibration: Calibration::default(),
            spent_s: 0.0,
            spent_usd: 0.0,
            spent_tokens: 0,
        }
    }
}
