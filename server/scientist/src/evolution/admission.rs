//! What comes of a plan goes into the population, and what it taught into the findings.

use lab::Comparison;
use notebook::{ExperimentId, KernelFingerprint, NewCandidate};

use super::event::{Event, ShapeTime};
use super::search::Best;
use super::session::{Session, chained};
use super::trials::Place;
use crate::evaluation::Evaluator;
use crate::findings;
use crate::run::Stop;
use crate::stages::{CandidateId, Finding, Hypothesis, Member, Tried};

impl<E: Evaluator> Session<'_, '_, E> {
    /// Takes the best draft of a plan into the population and notes what was learnt. Gives back what the draft says and the name
    /// that it has from now on.
    pub(crate) fn welcome(
        &mut self,
        place: Place,
        plan: &Hypothesis,
        best: Best<E::Build>,
        tried: Vec<Tried>,
    ) -> Result<(String, String), Stop> {
        let Place { generation, base, reference } = place;
        let finding = match &best.outcome {
            Ok(comparison) => findings::measured(plan, comparison),
            Err(failure) => findings::failed(plan, failure),
        };
        let finding = findings::with_values(finding, plan, tried);
        let parent = self.member(base);
        let before = parent.against_original;
        let id = self.population.members.len() as CandidateId;
        let mut member = Member {
            id,
            parent: Some(base),
            reference: (reference != base).then_some(reference),
            generation,
            text: best.draft.text,
            steps: parent.steps.iter().cloned().chain([plan.key.clone()]).collect(),
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
        let identity = best.draft.identity;
        self.admit(member, identity.kernels, Some(best.experiment), best.fresh)?;
        self.learn(generation, best.experiment, finding, best.fresh)?;
        Ok((identity.whole, format!("candidate {id}")))
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

    /// Takes a version into the population.
    pub(crate) fn admit(
        &mut self,
        member: Member,
        kernels: Vec<KernelFingerprint>,
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
            kernels: &kernels,
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
        self.kernels.push(kernels);
        Ok(())
    }

    fn learn(&mut self, generation: u32, experiment: ExperimentId, finding: Finding, fresh: bool) -> Result<(), Stop> {
        self.record.notebook().record_finding(&finding.row(self.record.run().id, experiment))?;
        self.findings.push(finding.clone());
        if fresh {
            let calibration = self.calibration();
            let Finding { about, predicted, measured_percent, forecast_percent, text, tried, .. } = finding;
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

/// The candidate's median of each shape that stages may see.
fn shown_times(comparison: &Comparison) -> Vec<(String, f64)> {
    let shown = comparison.shapes.iter().filter(|shape| !shape.held_out);
    shown.map(|shape| (shape.shape.clone(), shape.candidate.median_ns)).collect()
}
