//! Measuring one plan: a single draft with the full sampling, several drafts by successive halving ([`super::halving`]).

use std::collections::BTreeMap;

use lab::workbench::ShapeChoice;
use lab::{Comparison, Failure, LabError, Verdict};
use notebook::{ExperimentId, ExperimentKind, ExperimentOutcome, NewCandidate};

use super::builds::Builds;
use super::event::{Event, ShapeTime};
use super::generation::{NewDraft, Written};
use super::halving::Halving;
use super::session::{About, Done, Session, Trial, chained, same_error};
use crate::evaluation::Evaluator;
use crate::findings;
use crate::run::Stop;
use crate::stages::{CandidateId, Finding, Member, Tried};

/// What measuring a plan came to.
pub(crate) struct Best {
    pub(crate) draft: NewDraft,
    pub(crate) experiment: ExperimentId,
    /// Whether its experiment was made now.
    pub(crate) fresh: bool,
    pub(crate) outcome: Result<Comparison, Failure>,
}

/// The best of a plan's drafts, and what came of all of them.
struct Measured {
    best: Best,
    tried: Vec<Tried>,
}

/// What came of each draft of a search, by its number and as last measured.
struct Record(BTreeMap<usize, Tried>);

impl Record {
    /// Begins with the drafts that were refused.
    fn new(written: &Written) -> Self {
        Self(written.refused.iter().cloned().collect())
    }

    fn note(&mut self, draft: &NewDraft, outcome: &ExperimentOutcome<Comparison>) {
        // A single change is told of by its finding.
        if draft.settings.is_empty() {
            return;
        }
        let (speed, reason) = match outcome {
            ExperimentOutcome::Measured(comparison) => (Some(comparison.speed), None),
            ExperimentOutcome::Failed(failure) => (None, Some(failure.to_string())),
            ExperimentOutcome::Duplicate(of) => (None, Some(format!("says the same as {of}"))),
            ExperimentOutcome::NotWritten(why) => (None, Some(why.clone())),
        };
        self.0.insert(draft.number, Tried { settings: draft.settings.clone(), speed, reason });
    }

    fn in_order(self) -> Vec<Tried> {
        self.0.into_values().collect()
    }
}

impl<E: Evaluator> Session<'_, '_, E> {
    /// Measures a plan's drafts, takes the best of them into the population and notes what was learnt.
    pub(crate) fn try_plan(
        &mut self,
        generation: u32,
        base: CandidateId,
        reference: CandidateId,
        written: &Written,
        builds: &Builds<'_, E>,
    ) -> Result<(), Stop> {
        let Some(measured) = self.search(generation, base, reference, written, builds)? else { return Ok(()) };
        let Measured { best, tried } = measured;
        let best = self.mended(generation, base, reference, written, best)?;
        let parent = self.member(base);
        let id = self.population.members.len() as CandidateId;
        let mut steps = parent.steps.clone();
        steps.push(written.plan.key.clone());
        let before = parent.against_original;
        let finding = match &best.outcome {
            Ok(comparison) => findings::measured(&written.plan, comparison),
            Err(failure) => findings::failed(&written.plan, failure),
        };
        let finding = findings::with_values(finding, &written.plan, tried);
        let mut member = Member {
            id,
            parent: Some(base),
            reference: (reference != base).then_some(reference),
            generation,
            text: best.draft.text.clone(),
            steps,
            summary: finding.text.clone(),
            times: Vec::new(),
            against_parent: None,
            against_original: None,
            verdict: None,
            failure: None,
        };
        match best.outcome {
            Ok(comparison) => {
                member.times = shown_times(&comparison);
                member.against_parent = Some(comparison.speed);
                member.against_original = Some(chained(before, comparison.speed));
                member.verdict = Some(comparison.verdict);
                self.name_shapes_of_the_original(base, &comparison);
            }
            Err(failure) => {
                self.counts.failed += 1;
                member.failure = Some(failure);
            }
        }
        let identity = &best.draft.identity;
        self.known.insert(identity.whole.clone(), format!("candidate {id}"));
        self.admit(member, &identity.kernels, Some(best.experiment), best.fresh)?;
        self.learn(generation, best.experiment, finding, best.fresh)
    }

    /// The best of the drafts, with what came of each; the failure of the first where all of them fail.
    fn search(
        &mut self,
        generation: u32,
        base: CandidateId,
        reference: CandidateId,
        written: &Written,
        builds: &Builds<'_, E>,
    ) -> Result<Option<Measured>, Stop> {
        let drafts = written.drafts.len();
        let mut halving = if self.evaluator.forecasts() { Halving::at_once(drafts) } else { Halving::new(drafts) };
        let mut tried = Record::new(written);
        let (mut first_failure, mut best) = (None, None);
        while let Some((round, drafts)) = halving.round() {
            let mut measured = Vec::new();
            for index in drafts.iter().copied() {
                // A draft that fails in a later round leaves its place to the next best.
                if measured.len() == round.drafts {
                    break;
                }
                let draft = &written.drafts[index];
                let trial = Trial {
                    step: format!("g{generation}/p{}/d{}/r{}", written.index, draft.number, round.number),
                    generation,
                    kind: if round.is_last() && round.drafts == 1 {
                        ExperimentKind::Full
                    } else {
                        ExperimentKind::Search
                    },
                    base,
                    reference,
                    about: About::Plan(&written.plan),
                    code: Some((&draft.text, &draft.identity)),
                    report: &draft.report,
                    draft: (draft.number + 1, written.of),
                    settings: &draft.settings,
                };
                let done = self.measure(&trial, round.share, draft, builds)?;
                tried.note(draft, &done.outcome);
                let (experiment, fresh, draft) = (done.id, done.fresh, draft.clone());
                match done.outcome {
                    ExperimentOutcome::Measured(comparison) => {
                        let speed = comparison.speed;
                        measured.push((index, speed, Best { draft, experiment, fresh, outcome: Ok(comparison) }));
                    }
                    ExperimentOutcome::Failed(failure) => {
                        first_failure.get_or_insert(Best { draft, experiment, fresh, outcome: Err(failure) });
                    }
                    // The base does not run any more: nothing can be learnt on it, and it is no base again.
                    ExperimentOutcome::NotWritten(_) => {
                        self.exhausted.insert(base);
                        self.counts.failed += 1;
                        return Ok(None);
                    }
                    ExperimentOutcome::Duplicate(_) => {}
                }
            }
            halving.close(measured.iter().map(|(index, speed, _)| (*index, *speed)).collect());
            let leader = halving.best();
            best = measured.into_iter().find(|(index, ..)| Some(*index) == leader).map(|(_, _, best)| best);
            // What is slower for sure after a short measurement need not be measured for longer.
            if best.as_ref().is_none_or(is_slower) {
                break;
            }
        }
        Ok(best.or(first_failure).map(|best| Measured { tried: tried.in_order(), best }))
    }

    /// A report of times may name its shapes otherwise than a comparison does (a launch's grid, which a candidate may
    /// change, and not the kernel alone). The original's times are those of its first comparison, so that a stage can hold
    /// them against any candidate's.
    fn name_shapes_of_the_original(&mut self, base: CandidateId, comparison: &Comparison) {
        let first = self.population.members.iter().skip(1).all(|member| member.times.is_empty());
        if base == 0 && first {
            let shown = comparison.shapes.iter().filter(|shape| !shape.held_out);
            self.population.members[0].times =
                shown.map(|shape| (shape.shape.clone(), shape.baseline.median_ns)).collect();
        }
    }

    pub(crate) fn measure(
        &mut self,
        trial: &Trial<'_>,
        share: u32,
        draft: &NewDraft,
        builds: &Builds<'_, E>,
    ) -> Result<Done, Stop> {
        let budget = self.settings.experiment / share;
        let sampling = self.sampling(&trial.step, budget, ShapeChoice::Shown);
        if !self.record.has_experiment(&trial.step) {
            let (number, of) = trial.draft;
            let which = if of > 1 { format!(" ({number} of {of})") } else { String::new() };
            self.working(
                trial.generation,
                format!(
                    "{}: {}{which}",
                    if self.evaluator.forecasts() { "forecasting" } else { "timing" },
                    trial.about.title()
                ),
            );
        }
        self.experiment(trial, budget, |session| {
            let baseline = builds.get(0).map_err(baseline_error)?;
            let candidate = builds.get(draft.build).map_err(same_error)?;
            match session.evaluator.compare(baseline, candidate, &sampling, session.watch.cancel()) {
                Ok(comparison) => Ok(ExperimentOutcome::Measured(comparison)),
                // A race may let a version through once and not again. The original is another matter: without it there
                // is no run.
                Err(LabError::Usage(why)) if trial.base != 0 => Ok(ExperimentOutcome::NotWritten(format!(
                    "candidate {}, which this starts from, cannot be compared with: {why}",
                    trial.base
                ))),
                Err(error) => Err(error),
            }
        })
    }

    /// Takes a version into the population.
    pub(crate) fn admit(
        &mut self,
        member: Member,
        kernels: &[notebook::KernelFingerprint],
        experiment: Option<ExperimentId>,
        fresh: bool,
    ) -> Result<(), Stop> {
        self.record.notebook().record_candidate(&NewCandidate {
            run: self.record.run().id,
            number: member.id,
            parent: member.parent,
            reference: member.reference,
            generation: member.generation,
            text: &member.text,
            kernels,
            steps: &member.steps,
            summary: &member.summary,
            experiment,
        })?;
        if fresh {
            self.emit(Event::Candidate {
                candidate: member.id,
                parent: member.parent,
                reference: member.reference,
                generation: member.generation,
                steps: member.steps.clone(),
                summary: member.summary.clone(),
                times: member
                    .times
                    .iter()
                    .map(|(shape, median)| ShapeTime { shape: shape.clone(), median_ns: *median })
                    .collect(),
                against_parent: member.against_parent,
                against_original: member.against_original,
                verdict: member.verdict,
                failure: member.failure.clone(),
            });
        }
        self.population.members.push(member);
        Ok(())
    }

    fn learn(&mut self, generation: u32, experiment: ExperimentId, finding: Finding, fresh: bool) -> Result<(), Stop> {
        self.record.notebook().record_finding(&finding.row(self.record.run().id, experiment))?;
        self.findings.push(finding.clone());
        if fresh {
            let calibration = findings::calibration(&self.findings);
            let Finding { about, predicted, measured_percent, forecast_percent, text, tried } = finding;
            self.emit(Event::Finding {
                generation,
                about,
                predicted,
                measured_percent,
                forecast_percent,
                text,
                tried,
                calibration,
            });
        }
        Ok(())
    }
}

fn is_slower(best: &Best) -> bool {
    best.outcome.as_ref().is_ok_and(|comparison| comparison.verdict == Verdict::Slower)
}

/// The candidate's median of each shape that stages may see.
fn shown_times(comparison: &Comparison) -> Vec<(String, f64)> {
    let shown = comparison.shapes.iter().filter(|shape| !shape.held_out);
    shown.map(|shape| (shape.shape.clone(), shape.candidate.median_ns)).collect()
}

/// The baseline was built and timed before; that it cannot be built now is not the candidate's failure.
pub(crate) fn baseline_error(error: &LabError) -> LabError {
    match same_error(error) {
        LabError::Code(failure) => {
            LabError::Unavailable(format!("the baseline, which was built before, cannot be built any more: {failure}"))
        }
        other => other,
    }
}
