//! The experiments of one generation: written side by side, measured in the order in which they arrive, mended where they
//! fail.
//!
//! ```text
//! plan -> question to the writer -> draft -> (build, measure) -> settled
//!                     ^                             |
//!                     +------- the failure ---------+
//! ```
//!
//! The device is never kept waiting by a question: while one plan is written or mended, another is measured. What comes of
//! a generation does not depend on who was faster, nor on where a run was stopped: answers are taken in the order in which
//! they are recorded, and plans become members of the population in the order of the design.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use lab::LabError;
use lab::workbench::ShapeChoice;
use notebook::{ExperimentKind, ExperimentOutcome};

use super::builds::Build;
use super::choice::Chosen;
use super::crew::{Answered, Crew, Measurement, News, Question};
use super::search::{Best, NewDraft, Search, Wanted};
use super::session::{About, Done, Session, Trial};
use crate::evaluation::Evaluator;
use crate::run::Stop;
use crate::stages::{CandidateId, Draft, Hypothesis, StageError, Tried, in_words};

/// What the experiments of a generation have in common.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) generation: u32,
    pub(crate) base: CandidateId,
    pub(crate) reference: CandidateId,
}

/// A plan on its way.
struct InHand<B> {
    plan: Hypothesis,
    /// What is being measured, or waits for the device.
    search: Option<Search<B>>,
    /// What the drafts came to, with each value of a search over constants.
    best: Option<Best<B>>,
    tried: Vec<Tried>,
    /// How often it was asked for: 0 for the first writing.
    turn: u32,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// With the writer, or not asked for yet.
    Written,
    /// With the device, or waiting for it.
    Measured,
    /// Nothing more is to be done about it. In the population, once those before it are.
    Settled,
}

/// A measurement under way.
struct AtDevice<B> {
    plan: usize,
    wanted: Wanted<B>,
    began: Duration,
}

/// An answer that an earlier sitting recorded.
struct OnRecord {
    /// The plan, and which turn of the writer's.
    about: (usize, u32),
    answer: Result<Vec<Draft>, String>,
}

/// The experiments of a generation while they are made.
pub(crate) struct Trials<B> {
    place: Place,
    plans: Vec<InHand<B>>,
    baseline: Arc<Build<B>>,
    /// Answers on record, by their place in it.
    recorded: BTreeMap<usize, OnRecord>,
    /// Plans that wait for the device, in the order in which their drafts arrived.
    turns: VecDeque<usize>,
    /// The plan whose turn it is.
    turn_of: Option<usize>,
    at_device: Option<AtDevice<B>>,
    is_building: bool,
    /// Plans that are in the population, or came to nothing.
    settled: usize,
    /// Names under which drafts are known from the next generation on.
    names: Vec<(String, String)>,
}

/// What the loop may still begin, and why it may not.
#[derive(Default)]
struct Closing {
    /// Nothing is asked any more; what is at hand is measured.
    questions: Option<Stop>,
    /// Nothing is measured any more either.
    device: Option<Stop>,
}

impl Closing {
    fn no_questions(&mut self, why: Stop) {
        match why {
            // Drafts that were paid for are measured before a run stops for want of more.
            Stop::Overdrawn(_) | Stop::Paused(_) => drop(self.questions.get_or_insert(why)),
            other => self.nothing(other),
        }
    }

    fn nothing(&mut self, why: Stop) {
        self.device.get_or_insert(why);
    }

    fn is_asking(&self) -> bool {
        self.questions.is_none() && self.device.is_none()
    }

    fn result(self) -> Result<(), Stop> {
        self.device.or(self.questions).map_or(Ok(()), Err)
    }
}

impl<E: Evaluator> Session<'_, '_, E> {
    /// Has the chosen plans written and measured, and takes what they come to into the population.
    pub(crate) fn try_all(&mut self, place: Place, chosen: Vec<Chosen>) -> Result<(), Stop> {
        let (evaluator, writer, calls) = (self.evaluator, self.stages.writer, Arc::clone(&self.calls));
        let (cancel, threads) = (self.watch.cancel().clone(), self.settings.build_threads);
        let baseline = Build::of(&self.member(place.base).text);
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, evaluator, writer, calls, &cancel, threads);
            let mut trials = Trials::new(place, chosen, baseline);
            let outcome = self.carry_out(&mut trials, &crew);
            for (whole, name) in trials.names {
                self.known.insert(whole, name);
            }
            outcome
        })
    }

    fn carry_out(&mut self, trials: &mut Trials<E::Build>, crew: &Crew<'_, '_, E>) -> Result<(), Stop> {
        let mut closing = Closing::default();
        for plan in 0..trials.plans.len() {
            if closing.is_asking()
                && let Err(why) = self.ask_writer(trials, crew, plan)
            {
                closing.no_questions(why);
            }
            // Recorded before the next is asked: a run that is killed there does not ask for it again.
            if self.stages.writer.answers_at_once() {
                self.take_recorded(trials, crew, &mut closing);
                self.hear_all(trials, crew, &mut closing);
            }
        }
        loop {
            // What is on record came before anything that is heard now, and so did all that followed from it.
            while !trials.recorded.is_empty() {
                self.take_recorded(trials, crew, &mut closing);
                self.go_on(trials, crew, &mut closing);
            }
            self.hear_all(trials, crew, &mut closing);
            self.go_on(trials, crew, &mut closing);
            if let Some(Stop::Failed(_)) = &closing.device {
                crew.cancel();
            }
            if !trials.recorded.is_empty() {
                continue;
            }
            if crew.is_idle() {
                return closing.result();
            }
            match crew.wait() {
                Some(news) => self.hear(trials, crew, news, &mut closing),
                None => return closing.result(),
            }
        }
    }

    fn take_recorded(&mut self, trials: &mut Trials<E::Build>, crew: &Crew<'_, '_, E>, closing: &mut Closing) {
        while let Some((_, OnRecord { about, answer })) = trials.recorded.pop_first() {
            if let Err(why) = self.take(trials, crew, about, answer) {
                closing.nothing(why);
            }
        }
    }

    fn hear_all(&mut self, trials: &mut Trials<E::Build>, crew: &Crew<'_, '_, E>, closing: &mut Closing) {
        while let Some(news) = crew.poll() {
            self.hear(trials, crew, news, closing);
        }
    }

    fn hear(&mut self, trials: &mut Trials<E::Build>, crew: &Crew<'_, '_, E>, news: News, closing: &mut Closing) {
        match news {
            News::Answered(answered) => {
                if let Err(why) = self.answered(trials, crew, answered) {
                    closing.no_questions(why);
                }
            }
            News::Built => trials.is_building = false,
            News::Measured(result) => {
                if let Err(why) = self.measured(trials, *result) {
                    closing.nothing(why);
                }
            }
            // Passed on by the crew.
            News::Panicked(_) => {}
        }
    }

    /// Asks the writer for a plan's first draft, or to mend one; finds the answer in the record if it is there.
    fn ask_writer(&mut self, trials: &mut Trials<E::Build>, crew: &Crew<'_, '_, E>, index: usize) -> Result<(), Stop> {
        let Place { generation, base, reference } = trials.place;
        let InHand { plan, turn, best, .. } = &trials.plans[index];
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
            Some((Arc::clone(&best.draft.text), failure.clone()))
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
    fn answered(
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
            Err(StageError::Cancelled) => return Err(self.interrupted()),
        };
        let answer = self.record.keep(&step, &answer, &self.account.spent())?;
        self.take(trials, crew, about, answer)
    }

    /// Puts the drafts of an answer in line for the device.
    fn take(
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
            self.counts.failed += 1;
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
    fn note(&mut self, trial: &Trial<'_>, outcome: ExperimentOutcome<lab::Comparison>) -> Result<(), Stop> {
        self.experiment(trial, Duration::ZERO, |_| Ok(outcome)).map(drop)
    }

    /// Gives the device something to do, if it is free and there is something that may be begun.
    fn go_on(&mut self, trials: &mut Trials<E::Build>, crew: &Crew<'_, '_, E>, closing: &mut Closing) {
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
    fn measured(
        &mut self,
        trials: &mut Trials<E::Build>,
        result: Result<ExperimentOutcome<lab::Comparison>, LabError>,
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
        let has_failed = plan.best.as_ref().is_some_and(|best| best.outcome.is_err());
        let may_be_mended = has_failed && is_single && !came_to_nothing && self.stages.writer.mends();
        if may_be_mended && plan.turn < self.settings.repairs {
            plan.turn += 1;
            plan.state = State::Written;
            if closing.is_asking()
                && let Err(why) = self.ask_writer(trials, crew, index)
            {
                closing.no_questions(why);
            }
            return Ok(());
        }
        plan.state = State::Settled;
        self.settle(trials)
    }

    /// Takes plans into the population that are settled and have none before them that is not.
    fn settle(&mut self, trials: &mut Trials<E::Build>) -> Result<(), Stop> {
        while trials.plans.get(trials.settled).is_some_and(|plan| plan.state == State::Settled) {
            let plan = &mut trials.plans[trials.settled];
            trials.settled += 1;
            let (best, tried) = (plan.best.take(), std::mem::take(&mut plan.tried));
            let plan = plan.plan.clone();
            self.tried.push((trials.place.base, plan.clone()));
            if let Some(best) = best {
                let name = self.welcome(trials.place, &plan, best, tried)?;
                trials.names.push(name);
            }
        }
        Ok(())
    }
}

impl<B> Trials<B> {
    fn new(place: Place, chosen: Vec<Chosen>, baseline: Arc<Build<B>>) -> Self {
        let in_hand = |Chosen { plan, .. }| InHand {
            plan,
            search: None,
            best: None,
            tried: Vec::new(),
            turn: 0,
            state: State::Written,
        };
        Self {
            place,
            plans: chosen.into_iter().map(in_hand).collect(),
            baseline,
            recorded: BTreeMap::new(),
            turns: VecDeque::new(),
            turn_of: None,
            at_device: None,
            is_building: false,
            settled: 0,
            names: Vec::new(),
        }
    }

    fn is_device_free(&self) -> bool {
        self.at_device.is_none() && !self.is_building
    }

    /// The step at which a plan is written or mended.
    fn step(&self, index: usize) -> String {
        let (generation, turn) = (self.place.generation, self.plans[index].turn);
        match turn {
            0 => format!("g{generation}/p{index}/write"),
            turn => format!("g{generation}/p{index}/repair{turn}"),
        }
    }

    /// The step at which a draft is measured in a round.
    fn step_of(&self, index: usize, draft: usize, round: usize) -> String {
        format!("g{}/p{index}/d{draft}/r{round}", self.place.generation)
    }

    fn trial<'t>(&'t self, index: usize, of: usize, step: &str, draft: Option<&'t NewDraft<B>>) -> Trial<'t> {
        let Place { generation, base, reference } = self.place;
        Trial {
            step: step.to_owned(),
            generation,
            kind: ExperimentKind::Full,
            base,
            reference,
            about: About::Plan(&self.plans[index].plan),
            code: draft.map(|draft| (&*draft.text, &draft.identity)),
            report: draft.map_or("", |draft| &draft.report),
            draft: draft.map_or((1, 1), |draft| (draft.number + 1, of)),
            settings: draft.map_or(&[], |draft| &draft.settings),
        }
    }
}
