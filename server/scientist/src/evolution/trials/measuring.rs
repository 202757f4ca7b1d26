//! The device: builds, measurements and, of a draft that failed, what sanitizers say; one after the other.

use std::sync::Arc;
use std::time::Duration;

use lab::sanitize::Fault;
use lab::workbench::ShapeChoice;
use lab::{Comparison, LabError};
use notebook::ExperimentOutcome;

use super::{AtDevice, Closing, Place, State, Trials};
use crate::evaluation::Evaluator;
use crate::evolution::builds::Build;
use crate::evolution::crew::{Crew, Measurement};
use crate::evolution::search::{Search, Wanted};
use crate::evolution::session::{Done, Session, Trial};
use crate::run::Stop;

impl<E: Evaluator> Session<'_, '_, E> {
    /// Gives the device something to do, if it is free and there is something that may be begun.
    pub(super) fn go_on(&mut self, trials: &mut Trials<E::Build>, crew: &Crew<'_, '_, E>, closing: &mut Closing) {
        if closing.device.is_none()
            && let Err(why) = self.use_device(trials, crew, closing)
        {
            closing.nothing(why);
        }
    }

    fn use_device(
        &mut self,
        trials: &mut Trials<E::Build>,
        crew: &Crew<'_, '_, E>,
        closing: &mut Closing,
    ) -> Result<(), Stop> {
        while trials.is_device_free() {
            let Some(index) = trials.turn_of.take().or_else(|| trials.turns.pop_front()) else { return Ok(()) };
            trials.turn_of = Some(index);
            if crew.builds_take_turns() && self.build(trials, crew)? {
                return Ok(());
            }
            match trials.plans[index].search.as_mut().and_then(Search::next) {
                Some(wanted) => self.measure(trials, crew, index, wanted)?,
                None => self.turn_is_over(trials, crew, index, closing)?,
            }
        }
        Ok(())
    }

    /// Has the drafts at hand built that are not measured yet; whether there are any.
    fn build(&mut self, trials: &mut Trials<E::Build>, crew: &Crew<'_, '_, E>) -> Result<bool, Stop> {
        let is_missing = |step: String| !self.record.has_experiment(&step);
        let mut builds: Vec<Arc<Build<E::Build>>> = Vec::new();
        for index in trials.turn_of.iter().chain(&trials.turns).copied() {
            let drafts = trials.plans[index].search.iter().flat_map(Search::drafts);
            let unbuilt = drafts.filter(|draft| !draft.build.is_made());
            let missing = unbuilt.filter(|draft| is_missing(trials.step_of(index, draft.number, 0)));
            builds.extend(missing.map(|draft| Arc::clone(&draft.build)));
        }
        if builds.is_empty() {
            return Ok(false);
        }
        self.may_go_on(Duration::ZERO)?;
        self.working(trials.place.generation, format!("building {} drafts", builds.len()));
        if !trials.baseline.is_made() {
            builds.insert(0, Arc::clone(&trials.baseline));
        }
        trials.is_building = true;
        crew.build(builds);
        Ok(true)
    }

    /// Has a draft measured, or finds its experiment in the record.
    fn measure(
        &mut self,
        trials: &mut Trials<E::Build>,
        crew: &Crew<'_, '_, E>,
        index: usize,
        wanted: Wanted<E::Build>,
    ) -> Result<(), Stop> {
        let Place { generation, base, .. } = trials.place;
        let step = trials.step_of(index, wanted.draft.number, wanted.round.number);
        let budget = self.settings.experiment / wanted.round.share;
        let trial = Trial { kind: wanted.kind, ..trials.trial(index, wanted.of, &step, Some(&wanted.draft)) };
        if let Some(done) = self.recorded(&trial)? {
            self.taken(trials, index, done);
            return Ok(());
        }
        self.may_go_on(budget)?;
        let (number, of) = trial.draft;
        let which = if of > 1 { format!(" ({number} of {of})") } else { String::new() };
        let doing = if self.evaluator.forecasts() { "forecasting" } else { "timing" };
        self.working(generation, format!("{doing}: {}{which}", trial.about.title()));
        crew.measure(Measurement {
            base,
            baseline: Arc::clone(&trials.baseline),
            candidate: Arc::clone(&wanted.draft.build),
            sampling: self.sampling(&step, budget, ShapeChoice::Shown),
        });
        trials.at_device = Some(AtDevice { plan: index, wanted, began: self.account.spent().wall });
        Ok(())
    }

    /// Records what the device found.
    pub(super) fn measured(
        &mut self,
        trials: &mut Trials<E::Build>,
        result: Result<ExperimentOutcome<Comparison>, LabError>,
    ) -> Result<(), Stop> {
        let Some(AtDevice { plan, wanted, began }) = trials.at_device.take() else { return Ok(()) };
        let step = trials.step_of(plan, wanted.draft.number, wanted.round.number);
        let trial = Trial { kind: wanted.kind, ..trials.trial(plan, wanted.of, &step, Some(&wanted.draft)) };
        let done = self.concluded(&trial, began, result)?;
        self.taken(trials, plan, done);
        Ok(())
    }

    fn taken(&mut self, trials: &mut Trials<E::Build>, index: usize, done: Done) {
        let plan = &mut trials.plans[index];
        if matches!(done.outcome, ExperimentOutcome::NotWritten(_)) {
            // The base does not run any more, and is no base again.
            self.exhausted.insert(trials.place.base);
            self.counts.failed += u32::from(plan.turn == 0);
        }
        if let Some(search) = &mut plan.search {
            search.take(done);
        }
    }

    /// What comes after a plan's drafts were measured: a repair where they failed and one may help, else the population.
    fn turn_is_over(
        &mut self,
        trials: &mut Trials<E::Build>,
        crew: &Crew<'_, '_, E>,
        index: usize,
        closing: &mut Closing,
    ) -> Result<(), Stop> {
        trials.turn_of = None;
        let plan = &mut trials.plans[index];
        let Some(search) = plan.search.take() else { return Ok(()) };
        let is_single = search.of() == 1 || plan.turn > 0;
        let (best, tried) = search.end();
        if plan.turn == 0 {
            plan.tried = tried;
        }
        // A repair that came to nothing leaves what was there before.
        let came_to_nothing = best.is_none();
        plan.best = best.or(plan.best.take());
        let failed = plan.best.as_ref().filter(|_| is_single && !came_to_nothing).and_then(|best| {
            let failure = best.outcome.as_ref().err()?;
            Some((Arc::clone(&best.draft.text), failure.clone()))
        });
        let may_be_mended = self.stages.writer.mends() && plan.turn < self.settings.repairs;
        if let (Some((text, failure)), true) = (failed, may_be_mended) {
            plan.turn += 1;
            plan.state = State::Written;
            if self.record.has_answer(&trials.step(index)) {
                self.ask_to_mend(trials, crew, index, closing);
            } else if closing.is_asking() {
                trials.diagnosed = Some(index);
                crew.diagnose(&text, &failure);
            }
            return Ok(());
        }
        plan.state = State::Settled;
        self.settle(trials)
    }

    /// A draft that failed goes back to its writer with what sanitizers say of it.
    pub(super) fn diagnosed(
        &mut self,
        trials: &mut Trials<E::Build>,
        crew: &Crew<'_, '_, E>,
        faults: Vec<Fault>,
        closing: &mut Closing,
    ) {
        let Some(index) = trials.diagnosed.take() else { return };
        trials.plans[index].faults = faults;
        self.ask_to_mend(trials, crew, index, closing);
    }

    fn ask_to_mend(
        &mut self,
        trials: &mut Trials<E::Build>,
        crew: &Crew<'_, '_, E>,
        index: usize,
        closing: &mut Closing,
    ) {
        if closing.is_asking()
            && let Err(why) = self.ask_writer(trials, crew, index)
        {
            closing.no_questions(why);
        }
    }
}
