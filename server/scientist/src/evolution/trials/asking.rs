//! Questions to the writer, and what its answers come to: drafts in line for the device.

use std::sync::Arc;
use std::time::Duration;

use lab::Comparison;
use notebook::ExperimentOutcome;

use super::{InHand, OnRecord, Place, State, Trials};
use crate::evaluation::Evaluator;
use crate::evolution::builds::Build;
use crate::evolution::crew::{Answered, Crew, Failed, Question};
use crate::evolution::search::{NewDraft, Search};
use crate::evolution::session::{Session, Trial};
use crate::run::Stop;
use crate::stages::{Draft, StageError, Tried, in_words};

impl<E: Evaluator> Session<'_, '_, E> {
    /// Asks the writer for a plan's first draft, or to mend one; finds the answer in the record if it is there.
    pub(super) fn ask_writer(
        &mut self,
        trials: &mut Trials<E::Build>,
        crew: &Crew<'_, '_, E>,
        index: usize,
    ) -> Result<(), Stop> {
        let Place { generation, base, reference } = trials.place;
        let InHand { plan, turn, best, faults, .. } = &trials.plans[index];
        let (about, step) = ((index, *turn), trials.step(index));
        if let Some((at, answer)) = self.record.answer_with_place(&step)? {
            trials.recorded.insert(at, OnRecord { about, answer });
            return Ok(());
        }
        self.may_go_on(Duration::ZERO)?;
        if let Some(why) = self.account.overdrawn(crew.asking() as u64) {
            return Err(Stop::Overdrawn(why));
        }
        let doing = if *turn == 0 { "writing" } else { "mending" };
        let failed = best.as_ref().and_then(|best| {
            let failure = best.outcome.as_ref().err()?;
            Some(Failed { text: Arc::clone(&best.draft.text), failure: failure.clone(), faults: faults.clone() })
        });
        let question = Question {
            about,
            base: self.member(base).clone(),
            reference: self.member(reference).clone(),
            plan: plan.clone(),
            failed,
        };
        self.working(generation, format!("{doing}: {}", plan.title));
        crew.ask(question);
        Ok(())
    }

    /// Records an answer and takes it.
    pub(super) fn answered(
        &mut self,
        trials: &mut Trials<E::Build>,
        crew: &Crew<'_, '_, E>,
        answered: Answered,
    ) -> Result<(), Stop> {
        let Answered { about, drafts, calls } = answered;
        let step = trials.step(about.0);
        for call in calls {
            self.record.notebook().record_model_call(self.record.run().id, &step, &call)?;
        }
        let answer = match drafts {
            Ok(drafts) => Ok(drafts),
            Err(StageError::Unusable(why)) => Err(why),
            Err(StageError::Unavailable(message)) => return Err(Stop::Paused(message)),
            Err(StageError::Overdrawn(why)) => return Err(self.overdrawn(why)),
            Err(StageError::Cancelled) => return Err(self.interrupted()),
        };
        let answer = self.record.keep(&step, &answer, &self.account.spent())?;
        self.take(trials, crew, about, answer)
    }

    /// Puts the drafts of an answer in line for the device.
    pub(super) fn take(
        &mut self,
        trials: &mut Trials<E::Build>,
        crew: &Crew<'_, '_, E>,
        (index, turn): (usize, u32),
        answer: Result<Vec<Draft>, String>,
    ) -> Result<(), Stop> {
        let search = match turn {
            0 => self.first_drafts(trials, index, answer)?,
            _ => self.mended_draft(trials, index, turn, answer),
        };
        let Some(search) = search else {
            trials.plans[index].state = State::Settled;
            return self.settle(trials);
        };
        search.drafts().iter().for_each(|draft| crew.build_ahead(&draft.build));
        trials.plans[index].search = Some(search);
        trials.plans[index].state = State::Measured;
        trials.turns.push_back(index);
        Ok(())
    }

    /// The drafts that say something new. The others, and a plan that could not be written, are recorded as such.
    fn first_drafts(
        &mut self,
        trials: &Trials<E::Build>,
        index: usize,
        answer: Result<Vec<Draft>, String>,
    ) -> Result<Option<Search<E::Build>>, Stop> {
        let generation = trials.place.generation;
        let plan = &trials.plans[index].plan;
        self.counts.experiments += 1;
        let why = match &answer {
            Ok(drafts) if drafts.is_empty() => Some("the writer returned no draft".to_owned()),
            Ok(_) => None,
            Err(why) => Some(why.clone()),
        };
        if let Some(why) = why {
            self.note(&trials.trial(index, 0, &trials.step_of(index, 0, 0), None), ExperimentOutcome::NotWritten(why))?;
            self.counts.failed += 1;
            return Ok(None);
        }
        let drafts = answer.unwrap_or_default();
        let of = drafts.len().min(self.settings.drafts);
        if drafts.len() > of {
            self.working(generation, format!("taking the first {of} of {} drafts of: {}", drafts.len(), plan.title));
        }
        let (mut new, mut refused) = (Vec::new(), Vec::new());
        for (number, draft) in drafts.into_iter().take(of).enumerate() {
            let draft = self.new_draft(number, draft);
            let Some(same) = self.known.get(&draft.identity.whole).cloned() else {
                let values = match in_words(&draft.settings) {
                    nothing if nothing.is_empty() => nothing,
                    values => format!(" ({values})"),
                };
                let name = format!("draft {}{values} of \"{}\" in generation {generation}", number + 1, plan.title);
                self.known.insert(draft.identity.whole.clone(), name);
                new.push(draft);
                continue;
            };
            let step = trials.step_of(index, number, 0);
            let reason = Some(format!("says the same as {same}"));
            self.note(&trials.trial(index, of, &step, Some(&draft)), ExperimentOutcome::Duplicate(same))?;
            if !draft.settings.is_empty() {
                refused.push((number, Tried { settings: draft.settings, speed: None, reason }));
            }
            self.counts.duplicates += 1;
        }
        if new.is_empty() {
            return Ok(None);
        }
        Ok(Some(Search::new(new, refused, of, self.evaluator.forecasts())))
    }

    /// The mended draft, if there is one and it says something new. An answer that cannot be used leaves the failure as it is.
    fn mended_draft(
        &mut self,
        trials: &Trials<E::Build>,
        index: usize,
        turn: u32,
        answer: Result<Vec<Draft>, String>,
    ) -> Option<Search<E::Build>> {
        let number = turn as usize;
        let draft = self.new_draft(number, answer.ok()?.into_iter().next()?);
        if self.known.contains_key(&draft.identity.whole) {
            return None;
        }
        let Place { generation, .. } = trials.place;
        let name = format!("repair {turn} of \"{}\" in generation {generation}", trials.plans[index].plan.title);
        self.known.insert(draft.identity.whole.clone(), name);
        Some(Search::new(vec![draft], Vec::new(), number + 1, false))
    }

    fn new_draft(&self, number: usize, draft: Draft) -> NewDraft<E::Build> {
        let identity = (self.identify)(&draft.text);
        let text: Arc<str> = Arc::from(draft.text.as_str());
        let build = Build::of(&text);
        NewDraft { number, text, report: draft.report, settings: draft.settings, identity, build }
    }

    /// Records what came of a trial for which nothing was measured.
    fn note(&mut self, trial: &Trial<'_>, outcome: ExperimentOutcome<Comparison>) -> Result<(), Stop> {
        self.experiment(trial, Duration::ZERO, |_| Ok(outcome)).map(drop)
    }
}
