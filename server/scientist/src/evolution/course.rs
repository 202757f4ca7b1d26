//! The course of a run from the original to its last event.

use std::sync::Arc;
use std::time::Duration;

use lab::workbench::ShapeChoice;
use lab::{LabError, TimeReport};
use notebook::{MeasuredCode, RunChange};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Ended;
use super::confirmation::{Confirmation, praise, shape_speeds};
use super::event::{EndState, Event, Finished};
use super::generation::Generation;
use super::session::Session;
use crate::budget::Watch;
use crate::evaluation::Evaluator;
use crate::findings;
use crate::run::{RunError, Stop};
use crate::stages::{CandidateId, Member};

/// Generations without a usable design after which a run gives up, rather than to burn on.
const UNUSABLE_IN_A_ROW: u32 = 2;

/// The step at which the original is timed.
const ORIGINAL: &str = "original";

/// What is kept of the original's report; the times themselves are measurements of their own.
#[derive(Serialize, Deserialize)]
struct OriginalTimes {
    times: Vec<(String, f64)>,
}

/// Why no further generation was begun.
struct Why {
    text: String,
    /// With a larger budget there would have been one.
    out_of_budget: bool,
}

impl Why {
    fn budget(text: String) -> Self {
        Self { text, out_of_budget: true }
    }

    fn nothing_to_do(text: String) -> Self {
        Self { text, out_of_budget: false }
    }
}

/// What a run that came to its end came to.
pub(crate) struct Conclusion {
    why: Why,
    confirmation: Confirmation,
}

impl<E: Evaluator> Session<'_, '_, E> {
    pub(crate) fn tell_start(&mut self, resumed: bool) {
        let run = self.record.run();
        let event = Event::Started {
            run: run.id,
            resumed,
            file: run.file.clone(),
            kernel: run.kernel.clone(),
            device: run.device.clone(),
            provider: run.provider.clone(),
            seed: run.seed,
            budget: self.account.budget,
        };
        self.emit(event);
    }

    /// The whole run.
    pub(crate) fn evolve(&mut self) -> Result<Conclusion, Stop> {
        self.keep_back(self.confirmation_reserve());
        let why = match self.generations() {
            Ok(why) => why,
            Err(Stop::OutOfTime) => Why::budget(self.time_is_up()),
            Err(Stop::Overdrawn(why)) => Why::budget(format!("{}{}.", why[..1].to_uppercase(), &why[1..])),
            Err(other) => return Err(other),
        };
        self.keep_back(Duration::ZERO);
        let confirmation = match self.confirm() {
            Ok(confirmation) => confirmation,
            Err(Stop::OutOfTime) => {
                let refused = vec!["There was no time left to confirm a winner.".to_owned()];
                Confirmation { winner: None, refused }
            }
            Err(other) => return Err(other),
        };
        Ok(Conclusion { why, confirmation })
    }

    /// Of a phase: what comes after it may have time of its own.
    fn time_is_up(&self) -> String {
        let wall = self.account.budget.wall.unwrap_or_default().as_secs_f64();
        let left = self.account.remaining().unwrap_or_default().as_secs_f64();
        if left < 0.5 {
            return format!("The wall time of {wall:.0} s is used up.");
        }
        format!("Of the wall time of {wall:.0} s the last {left:.0} s are kept for the confirmation.")
    }

    /// Begins a phase that must leave `reserve` of the wall time to the next.
    fn keep_back(&mut self, reserve: Duration) {
        self.reserve = reserve;
        self.watch = Watch::start(&self.outer, &self.account, reserve);
    }

    /// The end takes its sampling time and a little more; but no more than a third of a short budget.
    fn confirmation_reserve(&self) -> Duration {
        let wanted = self.settings.ending().mul_f64(1.2);
        self.account.budget.wall.map_or(Duration::ZERO, |wall| wanted.min(wall / 3))
    }

    /// Returns why no further generation was begun.
    fn generations(&mut self) -> Result<Why, Stop> {
        self.original()?;
        let mut unusable = 0;
        for generation in 1..=self.account.budget.generations {
            match self.generation(generation)? {
                Generation::Tried => unusable = 0,
                Generation::NothingLeft => {
                    let generations = self.counts.generations;
                    return Ok(Why::nothing_to_do(format!("Nothing is left to try after {generations} generations.")));
                }
                Generation::Unusable(problem) => {
                    unusable += 1;
                    if unusable == UNUSABLE_IN_A_ROW {
                        let text = format!("The designer's answers cannot be used: {problem}.");
                        return Ok(Why::nothing_to_do(text));
                    }
                }
            }
        }
        Ok(Why::budget(match self.account.budget.generations {
            1 => "The one generation is done.".to_owned(),
            generations => format!("All {generations} generations are done."),
        }))
    }

    /// Checks and times the file as it is: member 0.
    fn original(&mut self) -> Result<(), Stop> {
        let text = self.record.notebook().text(&self.record.run().original)?;
        let identity = (self.identify)(&text);
        let (times, fresh) = match self.record.answer::<OriginalTimes>(ORIGINAL)? {
            Some(known) => (known, false),
            None => (self.time_original(&text)?, true),
        };
        self.known.insert(identity.whole, "the original".into());
        let member = Member {
            id: 0,
            parent: None,
            reference: None,
            generation: 0,
            text,
            steps: Vec::new(),
            summary: "the original".into(),
            times: times.times,
            against_parent: None,
            against_original: None,
            verdict: None,
            failure: None,
        };
        self.admit(member, identity.kernels, None, fresh)
    }

    fn time_original(&mut self, text: &Arc<str>) -> Result<OriginalTimes, Stop> {
        self.may_go_on(Duration::ZERO)?;
        self.working(
            0,
            match self.evaluator.forecasts() {
                true => "checking and forecasting the file as it is".into(),
                false => "building and timing the file as it is".into(),
            },
        );
        let began = self.account.spent().wall;
        let sampling = self.sampling(ORIGINAL, self.settings.experiment, ShapeChoice::Shown);
        let cancel = self.watch.cancel();
        let timed = self.evaluator.build(text, cancel).and_then(|build| self.evaluator.time(&build, &sampling, cancel));
        let report = match timed {
            Ok(report) => report,
            Err(_) if cancel.is_cancelled() => return Err(self.interrupted()),
            Err(LabError::Code(failure)) => return Err(Stop::Failed(RunError::Original(failure))),
            Err(LabError::Cancelled) => return Err(self.interrupted()),
            Err(LabError::Unavailable(message)) => return Err(Stop::Paused(message)),
            Err(other) => return Err(Stop::Failed(RunError::Lab(other))),
        };
        let identity = (self.identify)(text);
        let spent = self.account.spent();
        // A kill between the two records leaves measurements that the resumed run takes again: nothing false, only more.
        self.record.notebook().record_times(
            &self.record.run().file,
            MeasuredCode { text, kernels: &identity.kernels },
            &report,
            sampling.seed,
            spent.wall.saturating_sub(began),
        )?;
        Ok(self.record.keep(ORIGINAL, &OriginalTimes { times: times(&report) }, &spent)?)
    }

    /// Records how the run ended and sends the last event.
    pub(crate) fn end(mut self, outcome: Result<Conclusion, Stop>) -> Result<Ended, RunError> {
        let (mut finished, mut error) = self.sum_up(outcome);
        let change = match finished.state {
            EndState::Completed => RunChange::Finished,
            EndState::Cancelled => RunChange::Cancelled,
            EndState::Paused => RunChange::Paused,
            EndState::Failed => RunChange::Failed,
        };
        let detail = serde_json::to_value(&finished).unwrap_or(Value::Null);
        let (notebook, run) = (self.record.notebook(), self.record.run().id);
        let spent = self.account.spent();
        if let Err(unrecorded) = notebook.record_change(run, change, &finished.reason, &detail, &spent) {
            if error.is_none() {
                finished.state = EndState::Failed;
                finished.reason = format!("{} But its end could not be recorded: {unrecorded}", finished.reason);
                error = Some(unrecorded.into());
            } else {
                tracing::warn!(%run, %unrecorded, "the end of the run could not be recorded");
            }
        }
        if finished.state == EndState::Paused {
            self.emit(Event::Paused { message: finished.reason.clone() });
        }
        let best_text = finished.confirmed.then(|| Arc::clone(&self.member(finished.best).text));
        self.emit(Event::Finished(finished.clone()));
        match error {
            Some(error) => Err(error),
            None => Ok(Ended { finished, best_text }),
        }
    }

    fn sum_up(&self, outcome: Result<Conclusion, Stop>) -> (Finished, Option<RunError>) {
        let run = self.record.run().id;
        let mut winner = None;
        let out_of_budget = match &outcome {
            Ok(conclusion) => conclusion.why.out_of_budget,
            Err(stop) => matches!(stop, Stop::OutOfTime | Stop::Overdrawn(_)),
        };
        let (state, reason, error) = match outcome {
            Ok(conclusion) => {
                let reason = conclusion.reason(self.best().0);
                winner = conclusion.confirmation.winner;
                (EndState::Completed, reason, None)
            }
            Err(Stop::Cancelled) => (EndState::Cancelled, format!("Cancelled.{}", self.so_far()), None),
            Err(Stop::Paused(message)) => {
                let message = message.trim_end_matches('.');
                (EndState::Paused, format!("Paused: {message}.{}", self.so_far()), None)
            }
            Err(Stop::Failed(error)) => (EndState::Failed, error.to_string(), Some(error)),
            Err(Stop::OutOfTime) => (EndState::Completed, self.time_is_up(), None),
            Err(Stop::Overdrawn(why)) => (EndState::Completed, why, None),
        };
        let spent = self.account.spent();
        let mut finished = Finished {
            out_of_budget,
            generations: self.counts.generations,
            experiments: self.counts.experiments,
            candidates: (self.population.members.len() as u32).saturating_sub(1),
            failed: self.counts.failed,
            duplicates: self.counts.duplicates,
            calibration: self.calibration(),
            spent_s: spent.wall.as_secs_f64(),
            spent_usd: spent.usd,
            spent_tokens: spent.tokens,
            ..Finished::nothing(Some(run), state, reason)
        };
        if let Some((id, comparison)) = winner {
            finished.best = id;
            finished.confirmed = true;
            finished.speedup = comparison.speed.ratio;
            finished.speedup_low = comparison.speed.low;
            finished.speedup_high = comparison.speed.high;
            finished.shapes = shape_speeds(&comparison);
            finished.forecast = comparison.forecast;
        }
        (finished, error)
    }

    /// For a run that stands still.
    fn so_far(&self) -> String {
        let (best, speed) = self.best();
        let best = match best {
            0 => "Nothing faster than the original was found so far".to_owned(),
            _ => format!(
                "The best so far is candidate {best} with {}, which is not confirmed",
                findings::ratio_in_words(&speed)
            ),
        };
        format!(" {best}; the run can be resumed.")
    }
}

impl Conclusion {
    fn reason(&self, best: CandidateId) -> String {
        let mut sentences = vec![self.why.text.clone()];
        sentences.extend(self.confirmation.refused.iter().cloned());
        match &self.confirmation.winner {
            Some((id, comparison)) => sentences.push(praise(*id, comparison)),
            None if best == 0 => {
                sentences.push("No confirmed speedup: no version was found to be faster than the original.".into());
            }
            None => sentences.push("No confirmed speedup: the original stays the best that can be relied on.".into()),
        }
        sentences.join(" ")
    }
}

/// Median time per shape; where a report knows several kernels, the shape is named with its kernel.
fn times(report: &TimeReport) -> Vec<(String, f64)> {
    let several = report.kernels.iter().any(|timing| timing.name != report.kernels[0].name);
    let name = |timing: &lab::KernelTiming| {
        if several { format!("{} {}", timing.name, timing.shape) } else { timing.shape.clone() }
    };
    report.kernels.iter().map(|timing| (name(timing), timing.figure.median_ns)).collect()
}
