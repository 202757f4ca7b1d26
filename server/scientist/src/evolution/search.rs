//! Which of a plan's drafts is measured next, and which is the best: a single draft with the full sampling, several by
//! successive halving ([`super::halving`]).

use std::collections::BTreeMap;
use std::sync::Arc;

use lab::{Comparison, Failure, SpeedRatio, Verdict};
use notebook::{ExperimentId, ExperimentKind, ExperimentOutcome};

use super::builds::Build;
use super::halving::{Halving, Round};
use super::identity::Identity;
use super::session::Done;
use crate::stages::{Setting, Tried};

/// A draft that says something new.
pub(crate) struct NewDraft<B> {
    pub(crate) number: usize,
    pub(crate) text: Arc<str>,
    pub(crate) report: String,
    pub(crate) settings: Vec<Setting>,
    pub(crate) identity: Identity,
    pub(crate) build: Arc<Build<B>>,
}

impl<B> Clone for NewDraft<B> {
    fn clone(&self) -> Self {
        let Self { number, text, report, settings, identity, build } = self;
        Self {
            number: *number,
            text: Arc::clone(text),
            report: report.clone(),
            settings: settings.clone(),
            identity: identity.clone(),
            build: Arc::clone(build),
        }
    }
}

/// What measuring a plan came to.
pub(crate) struct Best<B> {
    pub(crate) draft: NewDraft<B>,
    pub(crate) experiment: ExperimentId,
    /// Whether its experiment was made now.
    pub(crate) fresh: bool,
    pub(crate) outcome: Result<Comparison, Failure>,
}

/// A search over the drafts of a plan.
pub(crate) struct Search<B> {
    drafts: Vec<NewDraft<B>>,
    /// Drafts of the plan, those included that were refused.
    of: usize,
    halving: Halving,
    open: Option<Open<B>>,
    tried: Record,
    first_failure: Option<Best<B>>,
    best: Option<Best<B>>,
    is_over: bool,
}

/// A round under way.
struct Open<B> {
    round: Round,
    /// Drafts in the order in which they are measured.
    order: Vec<usize>,
    next: usize,
    measured: Vec<(usize, SpeedRatio, Best<B>)>,
}

/// A measurement that a search wants.
pub(crate) struct Wanted<B> {
    pub(crate) draft: NewDraft<B>,
    pub(crate) round: Round,
    pub(crate) kind: ExperimentKind,
    pub(crate) of: usize,
}

impl<B> Search<B> {
    /// Over `drafts`; `refused` are those of the same plan that say nothing new, with their numbers. Where times are forecast
    /// each is looked at `once`, since a second look would show the same.
    pub(crate) fn new(drafts: Vec<NewDraft<B>>, refused: Vec<(usize, Tried)>, of: usize, once: bool) -> Self {
        let halving = if once { Halving::at_once(drafts.len()) } else { Halving::new(drafts.len()) };
        Self {
            drafts,
            of,
            halving,
            open: None,
            tried: Record(refused.into_iter().collect()),
            first_failure: None,
            best: None,
            is_over: false,
        }
    }

    /// The drafts.
    pub(crate) fn drafts(&self) -> &[NewDraft<B>] {
        &self.drafts
    }

    /// Drafts of the plan, those included that were refused.
    pub(crate) fn of(&self) -> usize {
        self.of
    }

    /// What is to be measured next; `None` when the search is over.
    pub(crate) fn next(&mut self) -> Option<Wanted<B>> {
        while !self.is_over {
            if self.open.is_none() {
                let (round, order) = self.halving.round()?;
                self.open = Some(Open { round, order: order.to_vec(), next: 0, measured: Vec::new() });
            }
            let open = self.open.as_ref()?;
            // A draft that fails in a later round leaves its place to the next best.
            if let (true, Some(index)) = (open.measured.len() < open.round.drafts, open.order.get(open.next)) {
                let round = open.round;
                let kind = match round.is_last() && round.drafts == 1 {
                    true => ExperimentKind::Full,
                    false => ExperimentKind::Search,
                };
                return Some(Wanted { draft: self.drafts[*index].clone(), round, kind, of: self.of });
            }
            self.close();
        }
        None
    }

    /// Takes in what came of the measurement that was wanted last.
    pub(crate) fn take(&mut self, done: Done) {
        let Some(open) = &mut self.open else { return };
        let Some(index) = open.order.get(open.next).copied() else { return };
        open.next += 1;
        let draft = self.drafts[index].clone();
        self.tried.note(&draft, &done.outcome);
        let Done { id: experiment, fresh, outcome } = done;
        match outcome {
            ExperimentOutcome::Measured(comparison) => {
                let speed = comparison.speed;
                open.measured.push((index, speed, Best { draft, experiment, fresh, outcome: Ok(comparison) }));
            }
            ExperimentOutcome::Failed(failure) => {
                self.first_failure.get_or_insert(Best { draft, experiment, fresh, outcome: Err(failure) });
            }
            // The base does not run any more: nothing can be learnt on it.
            ExperimentOutcome::NotWritten(_) => {
                (self.open, self.first_failure, self.best, self.is_over) = (None, None, None, true);
            }
            ExperimentOutcome::Duplicate(_) => {}
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.halving.close(open.measured.iter().map(|(index, speed, _)| (*index, *speed)).collect());
        let leader = self.halving.best();
        self.best = open.measured.into_iter().find(|(index, ..)| Some(*index) == leader).map(|(_, _, best)| best);
        // What is slower for sure after a short measurement need not be measured for longer.
        self.is_over = self.best.as_ref().is_none_or(is_slower);
    }

    /// The best of the drafts, the failure of the first where all of them failed; and what came of each value.
    pub(crate) fn end(self) -> (Option<Best<B>>, Vec<Tried>) {
        (self.best.or(self.first_failure), self.tried.in_order())
    }
}

fn is_slower<B>(best: &Best<B>) -> bool {
    best.outcome.as_ref().is_ok_and(|comparison| comparison.verdict == Verdict::Slower)
}

/// What came of each draft of a search, by its number and as last measured.
struct Record(BTreeMap<usize, Tried>);

impl Record {
    fn note<B>(&mut self, draft: &NewDraft<B>, outcome: &ExperimentOutcome<Comparison>) {
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
