//! A draft that failed, given back to its writer.

use std::sync::Arc;

use notebook::{ExperimentKind, ExperimentOutcome};

use super::builds::Builds;
use super::generation::{NewDraft, Written};
use super::search::Best;
use super::session::{About, Session, Trial};
use crate::evaluation::Evaluator;
use crate::run::Stop;
use crate::stages::{CandidateId, RepairBrief, WriteBrief};

impl<E: Evaluator> Session<'_, '_, E> {
    /// What comes of a plan's only draft after the repairs that it needs, as many as the settings allow. Each is an
    /// experiment of its own. A failure is shown to the writer as the lab found it, at shapes that stages may see.
    pub(crate) fn mended(
        &mut self,
        generation: u32,
        base: CandidateId,
        reference: CandidateId,
        written: &Written,
        mut best: Best,
    ) -> Result<Best, Stop> {
        if written.of != 1 || !self.stages.writer.mends() {
            return Ok(best);
        }
        for turn in 1..=self.settings.repairs {
            if best.outcome.is_ok() {
                break;
            }
            let Some(draft) = self.repair(generation, base, reference, written, &best, turn)? else { break };
            let text = Arc::clone(&self.member(base).text);
            let builds = Builds::new(self.evaluator, self.watch.cancel(), [text, Arc::clone(&draft.text)]);
            let trial = trial(generation, base, reference, written, &draft);
            let done = self.measure(&trial, 1, &draft, &builds)?;
            let outcome = match done.outcome {
                ExperimentOutcome::Measured(comparison) => Ok(comparison),
                ExperimentOutcome::Failed(failure) => Err(failure),
                ExperimentOutcome::NotWritten(_) | ExperimentOutcome::Duplicate(_) => break,
            };
            best = Best { draft, experiment: done.id, fresh: done.fresh, outcome };
        }
        Ok(best)
    }

    /// Asks the writer; `None` when it has nothing, or nothing new.
    fn repair(
        &mut self,
        generation: u32,
        base: CandidateId,
        reference: CandidateId,
        written: &Written,
        best: &Best,
        turn: u32,
    ) -> Result<Option<NewDraft>, Stop> {
        let Err(failure) = &best.outcome else { return Ok(None) };
        let plan = &written.plan;
        let (answer, _) = self.ask(&format!("g{generation}/p{}/repair{turn}", written.index), |session| {
            session.working(generation, format!("mending: {}", plan.title));
            let members = &session.population.members;
            let (base, reference) = (&members[base as usize], &members[reference as usize]);
            let write = WriteBrief { base, reference, plan };
            let brief = RepairBrief { write, draft: &best.draft.text, failure, turn };
            let cancel = session.watch.cancel().clone();
            session.stages.writer.repair(&brief, &cancel)
        })?;
        // An answer that cannot be used leaves the failure as it is.
        let Ok(Some(draft)) = answer else { return Ok(None) };
        let identity = (self.identify)(&draft.text);
        if self.known.contains_key(&identity.whole) {
            return Ok(None);
        }
        let name = format!("repair {turn} of \"{}\" in generation {generation}", plan.title);
        self.known.insert(identity.whole.clone(), name);
        let (text, number) = (Arc::from(draft.text.as_str()), turn as usize);
        Ok(Some(NewDraft { number, text, report: draft.report, settings: draft.settings, identity, build: 1 }))
    }
}

fn trial<'t>(
    generation: u32,
    base: CandidateId,
    reference: CandidateId,
    written: &'t Written,
    draft: &'t NewDraft,
) -> Trial<'t> {
    Trial {
        step: format!("g{generation}/p{}/d{}/r0", written.index, draft.number),
        generation,
        kind: ExperimentKind::Full,
        base,
        reference,
        about: About::Plan(&written.plan),
        code: Some((&draft.text, &draft.identity)),
        report: &draft.report,
        draft: (draft.number + 1, draft.number + 1),
        settings: &draft.settings,
    }
}
