//! The end of a run: the finalists against the original, and what is said of the winner.
//!
//! A selection favours whoever was lucky, so its figures are never reported. The finalists that came about over several
//! steps are first measured against the original directly; then the best of them is measured once more, with fresh seeds,
//! in a process of its own and on all shapes, the held-out ones too. Only what is faster there is called a speedup, and
//! that measurement's ratio is the one that is told.

use std::collections::HashMap;
use std::sync::Arc;

use lab::workbench::ShapeChoice;
use lab::{Comparison, SpeedRatio, Verdict};
use notebook::{ExperimentKind, ExperimentOutcome};

use super::builds::Build;
use super::crew::baseline_error;
use super::event::{Event, ShapeSpeed};
use super::session::{About, Done, Session, Trial, is_proven, same_error};
use crate::evaluation::Evaluator;
use crate::findings::ratio_in_words;
use crate::run::Stop;
use crate::stages::CandidateId;

/// What came of the confirmations.
#[derive(Debug, Default)]
pub(crate) struct Confirmation {
    /// The winner and its comparison with the original.
    pub(crate) winner: Option<(CandidateId, Comparison)>,
    /// One sentence for each finalist that was not confirmed.
    pub(crate) refused: Vec<String>,
}

/// A version that may be the winner, with its speed against the original as far as it is known.
#[derive(Clone, Copy)]
struct Finalist {
    id: CandidateId,
    /// Whether it was measured to be faster than its parent.
    proven: bool,
    speed: SpeedRatio,
}

impl<E: Evaluator> Session<'_, '_, E> {
    pub(crate) fn confirm(&mut self) -> Result<Confirmation, Stop> {
        let finalists = self.finalists();
        if finalists.is_empty() {
            return Ok(Confirmation::default());
        }
        let original = Build::of(&self.member(0).text);
        let builds: HashMap<CandidateId, Arc<Build<E::Build>>> =
            finalists.iter().map(|finalist| (finalist.id, Build::of(&self.member(finalist.id).text))).collect();

        let mut ranked = Vec::new();
        for finalist in &finalists {
            ranked.extend(self.directly(*finalist, finalists.len(), &original, &builds[&finalist.id])?);
        }
        ranked.sort_by(|a, b| {
            let by_speed = b.speed.ratio.total_cmp(&a.speed.ratio);
            b.proven.cmp(&a.proven).then(by_speed).then_with(|| a.id.cmp(&b.id))
        });

        let mut confirmation = Confirmation::default();
        for Finalist { id, speed: looked, .. } in ranked {
            let looked = ratio_in_words(&looked);
            match self.put_to_the_test(id, &original, &builds[&id])? {
                ExperimentOutcome::Measured(comparison) if comparison.verdict == Verdict::Faster => {
                    confirmation.winner = Some((id, comparison));
                    break;
                }
                ExperimentOutcome::Measured(Comparison { speed, verdict, forecast: Some(basis), .. }) => {
                    confirmation.refused.push(format!(
                        "Candidate {id} looked {looked} as fast during the search; on all shapes it is {verdict}: {}.",
                        basis.claim(speed.ratio)
                    ));
                }
                ExperimentOutcome::Measured(Comparison { speed, verdict, .. }) => confirmation.refused.push(format!(
                    "Candidate {id} looked {looked} as fast during the search; measured again it is {}, {verdict}.",
                    ratio_in_words(&speed)
                )),
                ExperimentOutcome::Failed(failure) => confirmation.refused.push(format!(
                    "Candidate {id} looked {looked} as fast during the search; measured again it failed: {failure}."
                )),
                ExperimentOutcome::Duplicate(_) | ExperimentOutcome::NotWritten(_) => {}
            }
        }
        Ok(confirmation)
    }

    /// The best versions that promise anything. One that proved no gain of its own is put up only when too few did: its
    /// parent may be just as good, and a longer measurement may show what a short one could not.
    fn finalists(&self) -> Vec<Finalist> {
        let promising = self.ranked().into_iter().filter(|member| member.id != 0);
        promising
            .filter_map(|member| {
                let speed = member.against_original?;
                Some(Finalist { id: member.id, proven: is_proven(member), speed })
            })
            .filter(|finalist| finalist.speed.ratio > 1.0)
            .take(self.settings.finalists)
            .collect()
    }

    /// Measures a finalist against the original on the shapes that stages may see, unless its experiment did just that,
    /// or it is the only one. `None` when it fails.
    fn directly(
        &mut self,
        finalist: Finalist,
        of: usize,
        original: &Build<E::Build>,
        build: &Build<E::Build>,
    ) -> Result<Option<Finalist>, Stop> {
        let step = format!("direct/c{}", finalist.id);
        let measured_directly = self.member(finalist.id).parent == Some(0);
        if measured_directly || of == 1 {
            return Ok(Some(finalist));
        }
        // The confirmation comes first when time is short; the order is then that of the search.
        let (budget, after) = (self.settings.experiment, self.settings.confirmation);
        let short = self.account.remaining().is_some_and(|remaining| remaining < budget + after);
        if short && !self.record.has_experiment(&step) {
            return Ok(Some(finalist));
        }
        let done = self.against_original(finalist.id, step, ExperimentKind::Direct, original, build)?;
        Ok(match done.outcome {
            ExperimentOutcome::Measured(comparison) => Some(Finalist { speed: comparison.speed, ..finalist }),
            _ => None,
        })
    }

    fn put_to_the_test(
        &mut self,
        id: CandidateId,
        original: &Build<E::Build>,
        build: &Build<E::Build>,
    ) -> Result<ExperimentOutcome<Comparison>, Stop> {
        let step = format!("confirm/c{id}");
        let done = self.against_original(id, step, ExperimentKind::Confirmation, original, build)?;
        if done.fresh {
            let event = told(id, &done.outcome);
            self.emit(event);
        }
        Ok(done.outcome)
    }

    fn against_original(
        &mut self,
        id: CandidateId,
        step: String,
        kind: ExperimentKind,
        original: &Build<E::Build>,
        build: &Build<E::Build>,
    ) -> Result<Done, Stop> {
        let (budget, shapes, doing) = match kind {
            ExperimentKind::Confirmation => (self.settings.confirmation, ShapeChoice::All, "confirming"),
            _ => (self.settings.experiment, ShapeChoice::Shown, "comparing"),
        };
        let sampling = self.sampling(&step, budget, shapes);
        if !self.record.has_experiment(&step) {
            self.working(0, format!("{doing} candidate {id} with the original"));
        }
        let text = Arc::clone(&self.member(id).text);
        let identity = (self.identify)(&text);
        let trial = Trial {
            step,
            generation: 0,
            kind,
            base: 0,
            reference: 0,
            about: About::Finalist(id),
            code: Some((&text, &identity)),
            report: "",
            draft: (1, 1),
            settings: &[],
        };
        // No time is asked for: when it is short, a short confirmation is better than none.
        self.experiment(&trial, std::time::Duration::ZERO, |session| {
            let (evaluator, cancel) = (session.evaluator, session.watch.cancel());
            let baseline = original.get(evaluator, cancel).map_err(baseline_error)?;
            let candidate = build.get(evaluator, cancel).map_err(same_error)?;
            let comparison = match kind {
                ExperimentKind::Confirmation => evaluator.confirm(baseline, candidate, &sampling, cancel)?,
                _ => evaluator.compare(baseline, candidate, &sampling, cancel)?,
            };
            Ok(ExperimentOutcome::Measured(comparison))
        })
    }
}

/// The shapes of a comparison, as they are told.
pub(crate) fn shape_speeds(comparison: &Comparison) -> Vec<ShapeSpeed> {
    let tell = |shape: &lab::ShapeComparison| ShapeSpeed {
        shape: shape.shape.clone(),
        held_out: shape.held_out,
        speed: shape.speed,
        verdict: shape.verdict,
    };
    comparison.shapes.iter().map(tell).collect()
}

/// What there is to say of a winner: the figure, and where it loses.
pub(crate) fn praise(id: CandidateId, comparison: &Comparison) -> String {
    let speed = comparison.speed;
    let held_out = comparison.shapes.iter().filter(|shape| shape.held_out).count();
    let shapes = match (comparison.shapes.len(), held_out) {
        (1, 0) => "1 shape".to_owned(),
        (count, 0) => format!("{count} shapes"),
        (count, _) => format!("{count} shapes, {held_out} of them held out"),
    };
    if let Some(basis) = &comparison.forecast {
        let mut text = format!(
            "Candidate {id} is {}; checked on the CPU with fresh inputs, and forecast, on {shapes}. Nothing was timed on {}.",
            basis.claim(speed.ratio),
            basis.title
        );
        text.push_str(&slower_on(comparison));
        return text;
    }
    let mut text = format!(
        "Candidate {id} is {:.2}x as fast as the original ({:.2} to {:.2}), confirmed in a fresh process on {shapes}.",
        speed.ratio, speed.low, speed.high
    );
    text.push_str(&slower_on(comparison));
    text
}

fn slower_on(comparison: &Comparison) -> String {
    let slower = comparison.shapes.iter().filter(|shape| shape.verdict == Verdict::Slower);
    slower.map(|shape| format!(" It is slower on {}: {}.", shape.shape, ratio_in_words(&shape.speed))).collect()
}

fn told(candidate: CandidateId, outcome: &ExperimentOutcome<Comparison>) -> Event {
    let (speed, verdict, failure, shapes) = match outcome {
        ExperimentOutcome::Measured(comparison) => {
            (Some(comparison.speed), Some(comparison.verdict), None, shape_speeds(comparison))
        }
        ExperimentOutcome::Failed(failure) => (None, None, Some(failure.clone()), Vec::new()),
        ExperimentOutcome::Duplicate(_) | ExperimentOutcome::NotWritten(_) => (None, None, None, Vec::new()),
    };
    let forecast = match outcome {
        ExperimentOutcome::Measured(comparison) => comparison.forecast.clone(),
        _ => None,
    };
    let confirmed = verdict == Some(Verdict::Faster);
    Event::Confirmed { candidate, confirmed, speed, verdict, failure, shapes, forecast }
}
