//! What a report shows, free of how it is stored and of how it is drawn.

use std::sync::Arc;

use lab::forecast::Basis;
use lab::{Figure, ShapeComparison, SpeedRatio, Verdict};
use notebook::Calibration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli::versus::Versus;

/// How a candidate or an experiment stands; decides its colour, and is always written out too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The source that the run started from.
    Original,
    /// Faster than what it was compared with.
    Faster,
    /// Slower than what it was compared with.
    Slower,
    /// As fast as what it was compared with.
    Same,
    /// The interval was too wide to say.
    Inconclusive,
    /// It has no time: the code failed.
    Failed,
    /// It was not run: nothing was written, or it repeats an earlier one.
    NotRun,
}

impl From<Verdict> for Standing {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster => Self::Faster,
            Verdict::Slower => Self::Slower,
            Verdict::Same => Self::Same,
            Verdict::Inconclusive => Self::Inconclusive,
        }
    }
}

/// A whole report.
#[derive(Clone, Debug, Serialize)]
pub struct ReportData {
    /// The user's file.
    pub path: String,
    /// Its name alone.
    pub name: String,
    /// The run.
    pub run: RunFacts,
    /// What came out in the end.
    pub outcome: Outcome,
    /// Every version, in order of their numbers.
    pub candidates: Vec<CandidateFacts>,
    /// Every experiment, in the order they were made.
    pub experiments: Vec<ExperimentFacts>,
    /// How well predictions agreed with measurements.
    pub calibration: Calibration,
    /// How well predictions agreed over all runs of the notebook, by who made them; those of the run's own designer first.
    pub predictors: Vec<Predictor>,
    /// What was learnt.
    pub findings: Vec<FindingFacts>,
    /// What the run's times rest on where they are forecasts; the odds are those of its last word.
    pub forecast: Option<Basis>,
    /// Forecast against measurement, where the original's kernels have both.
    pub versus: Vec<Versus>,
}

/// Who designs experiments, and how good the predictions were over all runs.
#[derive(Clone, Debug, Serialize)]
pub struct Predictor {
    /// `PROVIDER:MODEL`, or `catalog`, which is rule-based.
    pub model: String,
    /// Whether it designed experiments of the run.
    pub is_of_run: bool,
    /// Share of the gains that lay inside their predicted range, 0 to 1; absent where there is no gain yet.
    pub share: Option<f64>,
    /// The counts.
    #[serde(flatten)]
    pub calibration: Calibration,
    /// The same in words.
    pub in_words: String,
}

/// The run that a report is about.
#[derive(Clone, Debug, Serialize)]
pub struct RunFacts {
    /// Its number in the notebook.
    pub id: i64,
    /// When it started, `2025-11-30 03:38 UTC`.
    pub started: String,
    /// What became of it, in words.
    pub state: String,
    /// The device's name.
    pub device: String,
    /// What the device's times mean; empty when nothing was measured.
    pub device_note: String,
    /// Toolchain and version; empty when nothing was measured.
    pub toolchain: String,
    /// Who designed and wrote, in words.
    pub provider: String,
    /// The run's seed.
    pub seed: u64,
    /// Time at work, in words.
    pub spent: String,
    /// Dollars paid to a provider; empty for none.
    pub cost: String,
    /// Name and version of the program that made the run.
    pub program: String,
}

fn as_text<S: serde::Serializer>(text: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(text)
}

/// What a run came to.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A winner held against the original in a fresh process, with fresh seeds.
    Confirmed(Confirmation),
    /// There is no such winner; the sentence says why.
    Unconfirmed(String),
}

/// The comparison that confirmed a winner.
#[derive(Clone, Debug, Serialize)]
pub struct Confirmation {
    /// The winner's number, if its text is that of a candidate.
    pub candidate: Option<u32>,
    /// Speed relative to the original (geometric mean).
    pub speed: SpeedRatio,
    /// Each shape.
    pub shapes: Vec<ShapeComparison>,
    /// Seed of the inputs.
    pub seed: u64,
}

/// One version of the source.
#[derive(Clone, Debug, Serialize)]
pub struct CandidateFacts {
    /// Its number; the original is 0.
    pub number: u32,
    /// The version it was made from.
    pub parent: Option<u32>,
    /// The second parent, where it is another than the first.
    pub reference: Option<u32>,
    /// Generation; 0 for the original.
    pub generation: u32,
    /// What was changed, in one line.
    pub title: String,
    /// What was tried and what came of it.
    pub summary: String,
    /// How it stands against its parent.
    pub standing: Standing,
    /// The verdict or the failure in words.
    pub verdict: String,
    /// Speed against its parent.
    pub speed: Option<SpeedRatio>,
    /// Times by shape.
    pub times: Vec<(String, Figure)>,
    /// The whole source.
    #[serde(serialize_with = "as_text")]
    pub text: Arc<str>,
}

/// One experiment.
#[derive(Clone, Debug, Serialize)]
pub struct ExperimentFacts {
    /// Generation, from 1; 0 outside of generations.
    pub generation: u32,
    /// What it was made for, in words.
    pub purpose: &'static str,
    /// Candidate it was compared with.
    pub base: u32,
    /// The candidate that came of it, if any.
    pub candidate: Option<u32>,
    /// The change in one line.
    pub title: String,
    /// Why it should help.
    pub reason: String,
    /// Where that is documented.
    pub source: String,
    /// The predicted gain in percent of speed, low and high end.
    pub gain: Option<(f64, f64)>,
    /// How unusual the idea is, 0 to 100.
    pub innovation: Option<u64>,
    /// How it stands.
    pub standing: Standing,
    /// The verdict or the failure in words.
    pub verdict: String,
    /// Speed against its base.
    pub speed: Option<SpeedRatio>,
    /// What went wrong, one line an entry; located where the compiler said so.
    pub errors: Vec<String>,
    /// The writer's report.
    pub report: String,
    /// Whether a prediction is held against it (not so for searches and confirmations).
    pub judges_prediction: bool,
    /// Whether it is a further draft of the plan before it.
    pub repeats: bool,
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
pub struct FindingFacts {
    /// The family of the hypothesis.
    pub about: String,
    /// One sentence.
    pub text: String,
}

impl ReportData {
    /// The candidate whose change is shown: the winner, else the timed one that is
    /// fastest by the ratios of its line.
    pub fn shown(&self) -> Option<&CandidateFacts> {
        let number = match &self.outcome {
            Outcome::Confirmed(confirmation) => confirmation.candidate?,
            Outcome::Unconfirmed(_) => {
                let ratio = |candidate: &&CandidateFacts| self.speed_by_lineage(candidate.number);
                let timed = self.candidates.iter().filter(|candidate| candidate.speed.is_some());
                timed.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?.number
            }
        };
        self.candidate(number).filter(|candidate| candidate.number != 0)
    }

    /// The candidate of a number.
    pub fn candidate(&self, number: u32) -> Option<&CandidateFacts> {
        self.candidates.iter().find(|candidate| candidate.number == number)
    }

    /// The candidates from the original to `number`, both included.
    pub fn lineage(&self, number: u32) -> Vec<&CandidateFacts> {
        let mut line: Vec<&CandidateFacts> = Vec::new();
        let mut next = self.candidate(number);
        while let Some(candidate) = next {
            // Parents have smaller numbers; one that has not would lead in a circle.
            if line.last().is_some_and(|child| child.number <= candidate.number) {
                break;
            }
            line.push(candidate);
            next = candidate.parent.and_then(|parent| self.candidate(parent));
        }
        line.reverse();
        line
    }

    /// Product of the ratios from the original to `number`: an estimate, not a measurement.
    fn speed_by_lineage(&self, number: u32) -> f64 {
        self.lineage(number).iter().map(|candidate| candidate.speed.map_or(1.0, |speed| speed.ratio)).product()
    }
}
