//! The evolution loop: generations of experiments on one file, on one device, until a budget is used up or nothing is
//! left to try; then the winner is confirmed.
//!
//! ```text
//! original -> (select -> design -> choose three -> write -> build -> measure -> learn)* -> confirm
//! ```
//!
//! What it promises:
//! - **Resumable.** Every answer of a stage and every experiment is in the notebook before the next begins. A run that was
//!   killed, cancelled or paused goes through the same loop again, is answered from the record, and goes on where the
//!   record ends. It comes to the end that it would have come to.
//! - **Failures are results.** A draft that does not compile, is wrong, crashes or hangs is an experiment like any other.
//!   Only the original's failure, the lab's own and the notebook's end a run; a device or a provider that is not usable
//!   pauses it.
//! - **One timing at a time.** Builds run in parallel; timings follow each other, on one thread. That other processes wait for
//!   their turn on the device is the lab's to see to.
//! - **Nobody waits without need.** The plans of a generation are written side by side and measured as they arrive; while one is
//!   mended the others are measured ([`trials`]). A stage waits only for what it is told of: selection and design for the
//!   generation before.
//! - **No winner's curse.** The speedup that is told is that of the winner's confirmation, never that of its selection.
//! - **Held-out shapes stay unseen.** They are run in the confirmation alone, after the last stage was asked.
//!
//! # Stages backed by a model
//!
//! They stand behind the traits of [`crate::stages`] without a change here. A stage's answer is kept as JSON, so a model is
//! paid for an answer once, however often the run is resumed; a stage may keep caches, but nothing that a resumed run
//! would miss. [`StageError::Unavailable`](crate::stages::StageError::Unavailable) (no key, a rate limit that lasts, an
//! outage) pauses the run with its message; `Unusable` (an answer that fails its checks after the stage's own second
//! try) costs the one experiment. `cancel` must end a call under way within a fraction of a second. What calls cost is
//! read through the [`Meter`] before every call, and held against the budget's dollars, tokens and calls. Where that is used up in
//! the middle of a generation, the drafts that were paid for are measured, and a larger budget goes on from there.

pub mod choice;
pub mod event;

mod admission;
mod builds;
mod confirmation;
mod course;
mod crew;
mod generation;
mod halving;
mod identity;
mod search;
mod session;
mod trials;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use lab::Cancel;
use notebook::{ModelCall, NewRun, Notebook, RunChange, RunId, RunState};

use self::event::{EndState, Event, Finished};
pub use self::identity::{Identity, kernels};
use self::session::{Counts, Session};
pub(crate) use self::session::{runs, speed_against_original};
use crate::budget::{Account, Budget, Clock, Limiter, Meter, Watch, free_of_charge, steady_clock, without_limits};
use crate::evaluation::Evaluator;
use crate::findings;
use crate::run::{RunError, RunRequest, Settings};
use crate::run_record::RunRecord;
use crate::stages::{Designer, Finding, Population, Selector, Writer};

/// Kept with each run. A run is resumed by the version that started it: another might take other steps, and the answers
/// on record would be taken for answers to those.
pub(crate) const PROGRAM: &str = concat!("kernel-scientist ", env!("CARGO_PKG_VERSION"));

/// What stands behind the three stages.
pub struct Stages<'a> {
    /// Stage 1.
    pub selector: &'a mut dyn Selector,
    /// Stage 2.
    pub designer: &'a mut dyn Designer,
    /// Stage 3.
    pub writer: &'a dyn Writer,
}

/// A run's parts, ready to start or to resume one.
pub struct Evolution<'a, E: Evaluator> {
    evaluator: &'a E,
    stages: Stages<'a>,
    notebook: &'a Notebook,
    identify: Box<dyn Fn(&str) -> Identity + 'a>,
    clock: Clock,
    meter: Meter,
    limiter: Limiter,
    calls: CallLog,
    budget: Option<Budget>,
    recalled: Option<Vec<Finding>>,
}

/// Asked after every step, on the thread that the stage was asked on, for the calls of models that were made there since; they
/// are kept with the run.
pub type CallLog = Arc<dyn Fn() -> Vec<ModelCall> + Send + Sync>;

/// How a run ended, and the text that it ended with.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What the last event said.
    pub finished: Finished,
    /// The winner's text, when one is confirmed.
    pub best_text: Option<Arc<str>>,
}

impl<'a, E: Evaluator> Evolution<'a, E> {
    /// A run on `evaluator`'s device, kept in `notebook`.
    pub fn new(evaluator: &'a E, stages: Stages<'a>, notebook: &'a Notebook) -> Self {
        let identify = Box::new(|text: &str| Identity::of(text, None));
        Self {
            evaluator,
            stages,
            notebook,
            identify,
            clock: steady_clock(),
            meter: free_of_charge(),
            limiter: without_limits(),
            calls: Arc::new(Vec::new),
            budget: None,
            recalled: None,
        }
    }

    /// With another way to tell whether two versions say the same.
    pub fn with_identity(mut self, identify: impl Fn(&str) -> Identity + 'a) -> Self {
        self.identify = Box::new(identify);
        self
    }

    /// With another clock than the system's.
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// With a meter for what the stages' provider charges.
    pub fn with_meter(mut self, meter: Meter) -> Self {
        self.meter = meter;
        self
    }

    /// With what keeps the stages' provider to what is left of the budget.
    pub fn with_limiter(mut self, limiter: Limiter) -> Self {
        self.limiter = limiter;
        self
    }

    /// With the calls of the stages' models.
    pub fn with_calls(mut self, calls: CallLog) -> Self {
        self.calls = calls;
        self
    }

    /// For a run that is resumed: with another budget than it had. With a larger one a run that came to its end goes on.
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// With these findings of earlier runs, rather than those that the notebook has of the same file and device.
    pub fn with_recalled(mut self, findings: Vec<Finding>) -> Self {
        self.recalled = Some(findings);
        self
    }

    /// Starts a run. `events` hears of everything as it happens; the last event is [`Event::Finished`], exactly once.
    ///
    /// A run that was cancelled or paused is no error: see [`Finished::state`].
    ///
    /// # Errors
    /// [`RunError`] when the original fails, or the lab or the notebook do.
    pub fn start(
        self,
        request: &RunRequest,
        cancel: &Cancel,
        events: &mut dyn FnMut(Event),
    ) -> Result<Ended, RunError> {
        let kernels = (self.identify)(&request.text).kernels;
        let started = self.notebook.start_run(&NewRun {
            file: &request.file,
            text: &request.text,
            kernels: &kernels,
            kernel: request.kernel.as_deref(),
            device: self.evaluator.device(),
            provider: &request.provider,
            seed: request.seed,
            budget: serde_json::json!(request.budget),
            settings: serde_json::json!(request.settings),
            program: PROGRAM,
        });
        match started {
            Ok(run) => self.sit(run, false, cancel, events),
            Err(error) => Err(never_began(None, error.into(), events)),
        }
    }

    /// Goes on with a run that was killed, cancelled or paused, with the settings it was started with, and with the budget it
    /// had unless [`Evolution::with_budget`] gives another.
    ///
    /// # Errors
    /// As [`Evolution::start`]; also when there is no such run, when it has finished and gets no new budget, when another process is working on
    /// it, or when it belongs to another device or another version of the program.
    pub fn resume(self, run: RunId, cancel: &Cancel, events: &mut dyn FnMut(Event)) -> Result<Ended, RunError> {
        self.sit(run, true, cancel, events)
    }

    fn sit(self, run: RunId, resumed: bool, cancel: &Cancel, events: &mut dyn FnMut(Event)) -> Result<Ended, RunError> {
        let Self { evaluator, stages, notebook, identify, clock, meter, limiter, calls, budget, recalled } = self;
        let opened = Opening::of(notebook, run, evaluator.device(), resumed, budget, clock, meter);
        let Opening { record, settings, account, recalled: of_the_notebook } = match opened {
            Ok(opening) => opening,
            Err(error) => return Err(never_began(Some(run), error, events)),
        };
        let recalled = recalled.unwrap_or(of_the_notebook);
        limiter(account.left());
        let watch = Watch::start(cancel, &account, Duration::ZERO);
        let mut session = Session {
            evaluator,
            stages,
            record,
            settings,
            account,
            identify,
            calls,
            events,
            outer: cancel.clone(),
            watch,
            reserve: Duration::ZERO,
            population: Population::default(),
            kernels: Vec::new(),
            recalled: recalled.len(),
            findings: recalled,
            tried: Vec::new(),
            exhausted: BTreeSet::new(),
            known: HashMap::new(),
            counts: Counts::default(),
            announced: 0,
        };
        session.tell_start(resumed);
        let outcome = session.evolve();
        session.end(outcome)
    }
}

/// What the notebook says of a run that is about to begin or to go on.
struct Opening<'n> {
    record: RunRecord<'n>,
    settings: Settings,
    account: Account,
    recalled: Vec<Finding>,
}

impl<'n> Opening<'n> {
    fn of(
        notebook: &'n Notebook,
        run: RunId,
        device: &str,
        resumed: bool,
        more: Option<Budget>,
        clock: Clock,
        meter: Meter,
    ) -> Result<Self, RunError> {
        let record = RunRecord::open(notebook, run)?;
        let known = record.run();
        if matches!(known.state, RunState::Finished(_)) && more.is_none() {
            return Err(RunError::AlreadyFinished(run));
        }
        if known.device != device {
            return Err(RunError::OtherDevice { run, recorded: known.device.clone(), given: device.to_owned() });
        }
        if known.program != PROGRAM {
            return Err(RunError::OtherProgram { run, recorded: known.program.clone(), given: PROGRAM });
        }
        let budget = match more {
            Some(budget) => budget,
            // An earlier sitting may have been given another than the first.
            None => match notebook.latest_change(run, RunChange::Resumed)? {
                Some(detail) if !detail.is_null() => record.parse("the budget", &detail)?,
                _ => record.parse("the budget", &known.budget)?,
            },
        };
        let settings = record.parse("the settings", &known.settings)?;
        let calls = notebook.model_calls(run)?.len() as u64;
        let account = Account::new(budget, notebook.spent(run)?, clock, meter).after_calls(calls);
        if more.is_some() {
            let (given, begun) = (account.budget.generations, record.generations());
            let too_few = (given < begun).then(|| format!("{begun} generations were begun, and {given} are allowed"));
            let no_time = account.remaining().filter(Duration::is_zero).map(|_| "the wall time is used up".to_owned());
            if let Some(why) = too_few.or_else(|| account.overdrawn(0)).or(no_time) {
                return Err(RunError::TooLittle { run, why });
            }
        }
        // A recording is asked what it was asked when it was made, whatever was learnt since.
        let recalled = match known.provider.contains("replay:") {
            true => Vec::new(),
            false => notebook.findings_before(run, &known.file, device)?,
        };
        if resumed {
            notebook.record_change(run, RunChange::Resumed, "", &serde_json::json!(budget), &account.spent())?;
        }
        Ok(Self { settings, account, recalled: recalled.into_iter().map(findings::recalled).collect(), record })
    }
}

/// The one event of a run that could not begin.
fn never_began(run: Option<RunId>, error: RunError, events: &mut dyn FnMut(Event)) -> RunError {
    events(Event::Finished(Finished::nothing(run, EndState::Failed, error.to_string())));
    error
}
