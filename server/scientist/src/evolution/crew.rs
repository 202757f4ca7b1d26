//! Who works on a generation's experiments: one thread a question to the writer, and one for the device.
//!
//! The loop itself stays on its own thread. It hands out work and hears what came of it, so that there is one place where
//! a run's state changes. The device does one thing at a time: a timing, or builds where those would disturb one.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use lab::sanitize::Fault;
use lab::workbench::Sampling;
use lab::{Cancel, Comparison, Failure, LabError};
use notebook::{ExperimentOutcome, ModelCall};

use super::CallLog;
use super::builds::{Build, make_all};
use super::session::same_error;
use crate::evaluation::Evaluator;
use crate::stages::{CandidateId, Draft, Hypothesis, Member, RepairBrief, StageError, WriteBrief, Writer};

/// What came of a piece of work.
pub(crate) enum News {
    /// The writer answered.
    Answered(Answered),
    /// Builds were made.
    Built,
    /// Sanitizers have looked at a draft that failed.
    Diagnosed(Vec<Fault>),
    /// A measurement is over.
    Measured(Box<Result<ExperimentOutcome<Comparison>, LabError>>),
    /// A thread came to an end by a panic.
    Panicked(Box<dyn Any + Send>),
}

/// An answer of the writer.
pub(crate) struct Answered {
    /// Whose plan it is about, and which turn: 0 for the first writing, then the repairs.
    pub(crate) about: (usize, u32),
    pub(crate) drafts: Result<Vec<Draft>, StageError>,
    /// Calls of models that it took.
    pub(crate) calls: Vec<ModelCall>,
}

/// A question to the writer, with all that it is about.
pub(crate) struct Question {
    pub(crate) about: (usize, u32),
    pub(crate) base: Member,
    pub(crate) reference: Member,
    pub(crate) plan: Hypothesis,
    /// The draft that failed, how, and what sanitizers say of it; for a repair.
    pub(crate) failed: Option<Failed>,
}

/// A draft that failed.
#[derive(Clone)]
pub(crate) struct Failed {
    pub(crate) text: Arc<str>,
    pub(crate) failure: Failure,
    pub(crate) faults: Vec<Fault>,
}

impl Question {
    fn put(&self, writer: &dyn Writer, cancel: &Cancel) -> Result<Vec<Draft>, StageError> {
        let write = WriteBrief { base: &self.base, reference: &self.reference, plan: &self.plan };
        let Some(Failed { text, failure, faults }) = &self.failed else { return writer.write(&write, cancel) };
        let brief = RepairBrief { write, draft: text, failure, faults, turn: self.about.1 };
        writer.repair(&brief, cancel).map(|mended| mended.into_iter().collect())
    }
}

/// A comparison to make.
pub(crate) struct Measurement<B> {
    /// The version that the base is, for messages.
    pub(crate) base: CandidateId,
    pub(crate) baseline: Arc<Build<B>>,
    pub(crate) candidate: Arc<Build<B>>,
    pub(crate) sampling: Sampling,
}

enum Job<B> {
    Build(Vec<Arc<Build<B>>>),
    Diagnose(Arc<str>, Failure),
    Measure(Measurement<B>),
}

/// The threads of one generation, and what they have to tell.
pub(crate) struct Crew<'scope, 'env, E: Evaluator> {
    scope: &'scope Scope<'scope, 'env>,
    writer: &'scope dyn Writer,
    calls: CallLog,
    /// Ends questions and work at the device.
    cancel: Cancel,
    asking: Arc<AtomicUsize>,
    /// Questions and work at the device that nothing was heard of yet.
    open: Cell<usize>,
    jobs: Sender<Job<E::Build>>,
    /// Builds that go on beside timings, where they do not disturb them.
    ahead: Option<Sender<Arc<Build<E::Build>>>>,
    tell: Sender<News>,
    news: Receiver<News>,
}

impl<'scope, 'env, E: Evaluator> Crew<'scope, 'env, E> {
    /// Starts the device's thread, and `threads` for builds that go on beside timings where they may.
    pub(crate) fn hire(
        scope: &'scope Scope<'scope, 'env>,
        evaluator: &'scope E,
        writer: &'scope dyn Writer,
        calls: CallLog,
        cancel: &Cancel,
        threads: usize,
    ) -> Self {
        let (tell, news) = channel();
        let (jobs, to_do) = channel::<Job<E::Build>>();
        let (teller, token) = (tell.clone(), cancel.clone());
        scope.spawn(move || {
            for job in to_do {
                let done = caught(|| carry_out(evaluator, &token, job, threads));
                if teller.send(done).is_err() {
                    return;
                }
            }
        });
        let ahead = (!evaluator.builds_disturb_timing()).then(|| build_ahead(scope, evaluator, cancel, threads));
        let asking = Arc::default();
        Self { scope, writer, calls, cancel: cancel.clone(), asking, open: Cell::new(0), jobs, ahead, tell, news }
    }

    /// Asks the writer. One that answers at once is asked here and now.
    pub(crate) fn ask(&self, question: Question) {
        self.open.set(self.open.get() + 1);
        let (writer, calls, cancel, tell) =
            (self.writer, Arc::clone(&self.calls), self.cancel.clone(), self.tell.clone());
        if writer.answers_at_once() {
            let drafts = question.put(writer, &cancel);
            let _ = tell.send(News::Answered(Answered { about: question.about, drafts, calls: calls() }));
            return;
        }
        let asking = Arc::clone(&self.asking);
        asking.fetch_add(1, Ordering::SeqCst);
        self.scope.spawn(move || {
            let answered = caught(|| {
                let drafts = question.put(writer, &cancel);
                News::Answered(Answered { about: question.about, drafts, calls: calls() })
            });
            asking.fetch_sub(1, Ordering::SeqCst);
            // Nobody hears it when the run was ended by a panic.
            let _ = tell.send(answered);
        });
    }

    /// Whether nothing is under way that anything is to be heard of.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.get() == 0
    }

    /// Questions that have no answer yet.
    pub(crate) fn asking(&self) -> usize {
        self.asking.load(Ordering::SeqCst)
    }

    /// Has builds made as soon as there is a thread for them, where that disturbs no timing.
    pub(crate) fn build_ahead(&self, build: &Arc<Build<E::Build>>) {
        if let Some(ahead) = &self.ahead {
            let _ = ahead.send(Arc::clone(build));
        }
    }

    /// Whether builds have the device to themselves.
    pub(crate) fn builds_take_turns(&self) -> bool {
        self.ahead.is_none()
    }

    /// Has builds made at the device.
    pub(crate) fn build(&self, builds: Vec<Arc<Build<E::Build>>>) {
        self.open.set(self.open.get() + 1);
        let _ = self.jobs.send(Job::Build(builds));
    }

    /// Has sanitizers look at a draft that failed, where the device is: they take the processor.
    pub(crate) fn diagnose(&self, text: &Arc<str>, failure: &Failure) {
        self.open.set(self.open.get() + 1);
        let _ = self.jobs.send(Job::Diagnose(Arc::clone(text), failure.clone()));
    }

    /// Has a comparison made at the device.
    pub(crate) fn measure(&self, measurement: Measurement<E::Build>) {
        self.open.set(self.open.get() + 1);
        let _ = self.jobs.send(Job::Measure(measurement));
    }

    /// Gives up what is under way.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// The next news; waits for it. A thread's panic goes on here.
    pub(crate) fn wait(&self) -> Option<News> {
        self.news.recv().ok().map(|news| self.told(news))
    }

    /// News that came already.
    pub(crate) fn poll(&self) -> Option<News> {
        self.news.try_recv().ok().map(|news| self.told(news))
    }

    fn told(&self, news: News) -> News {
        self.open.set(self.open.get().saturating_sub(1));
        match news {
            News::Panicked(payload) => resume_unwind(payload),
            news => news,
        }
    }
}

impl<E: Evaluator> Drop for Crew<'_, '_, E> {
    /// Where the loop comes to an end by a panic, nobody waits for answers any more.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.cancel.cancel();
        }
    }
}

/// What work has to tell; the threads that wait for it must hear of a panic, too.
fn caught(work: impl FnOnce() -> News) -> News {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(News::Panicked)
}

fn carry_out<E: Evaluator>(evaluator: &E, cancel: &Cancel, job: Job<E::Build>, threads: usize) -> News {
    match job {
        Job::Build(builds) => {
            make_all(evaluator, cancel, &builds, threads);
            News::Built
        }
        Job::Diagnose(text, failure) => News::Diagnosed(evaluator.faults(&text, &failure, cancel)),
        Job::Measure(measurement) => News::Measured(Box::new(measured(evaluator, cancel, &measurement))),
    }
}

fn measured<E: Evaluator>(
    evaluator: &E,
    cancel: &Cancel,
    measurement: &Measurement<E::Build>,
) -> Result<ExperimentOutcome<Comparison>, LabError> {
    let Measurement { base, baseline, candidate, sampling } = measurement;
    let baseline = baseline.get(evaluator, cancel).map_err(baseline_error)?;
    let candidate = candidate.get(evaluator, cancel).map_err(same_error)?;
    match evaluator.compare(baseline, candidate, sampling, cancel) {
        Ok(comparison) => Ok(ExperimentOutcome::Measured(comparison)),
        // A race may let a version through once and not again. The original is another matter: without it there is no run.
        Err(LabError::Usage(why)) if *base != 0 => Ok(ExperimentOutcome::NotWritten(format!(
            "candidate {base}, which this starts from, cannot be compared with: {why}"
        ))),
        Err(error) => Err(error),
    }
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

/// Threads that build what they are given, in its order. Builds not begun when the crew is dismissed are left out.
fn build_ahead<'scope, E: Evaluator>(
    scope: &'scope Scope<'scope, '_>,
    evaluator: &'scope E,
    cancel: &Cancel,
    threads: usize,
) -> Sender<Arc<Build<E::Build>>> {
    let (sender, wanted) = channel::<Arc<Build<E::Build>>>();
    let wanted = Arc::new(Mutex::new(wanted));
    for _ in 0..threads.max(1) {
        let (wanted, cancel) = (Arc::clone(&wanted), cancel.clone());
        scope.spawn(move || {
            loop {
                let next = wanted.lock().unwrap_or_else(PoisonError::into_inner).recv();
                match next {
                    // A build that the loop holds no more is wanted by nobody.
                    Ok(build) if Arc::strong_count(&build) > 1 && !cancel.is_cancelled() => {
                        let _ = build.get(evaluator, &cancel);
                    }
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        });
    }
    sender
}
