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

mod asking;
mod measuring;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use lab::sanitize::Fault;
use notebook::ExperimentKind;

use super::builds::Build;
use super::choice::Chosen;
use super::crew::{Crew, News};
use super::search::{Best, NewDraft, Search, Wanted};
use super::session::{About, Session, Trial};
use crate::evaluation::Evaluator;
use crate::run::Stop;
use crate::stages::{CandidateId, Draft, Hypothesis, Tried};

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
    /// What sanitizers say of the draft that failed last.
    faults: Vec<Fault>,
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
    /// The plan whose draft sanitizers look at.
    diagnosed: Option<usize>,
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
            News::Diagnosed(faults) => self.diagnosed(trials, crew, faults, closing),
            News::Measured(result) => {
                if let Err(why) = self.measured(trials, *result) {
                    closing.nothing(why);
                }
            }
            // Passed on by the crew.
            News::Panicked(_) => {}
        }
    }

    /// Takes plans into the population that are settled and have none before them that is not.
    fn settle(&mut self, trials: &mut Trials<E::Build>) -> Result<(), Stop> {
        while trials.plans.get(trials.settled).is_some_and(|plan| plan.state == State::Settled) {
            let plan = &mut trials.plans[trials.settled];
            trials.settled += 1;
            let (best, tried) = (plan.best.take(), std::mem::take(&mut plan.tried));
            let plan = plan.plan.clone();
            self.tried.push((trials.place.base, Arc::new(plan.clone())));
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
            faults: Vec::new(),
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
            diagnosed: None,
            settled: 0,
            names: Vec::new(),
        }
    }

    fn is_device_free(&self) -> bool {
        self.at_device.is_none() && !self.is_building && self.diagnosed.is_none()
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
