//! Builds: each made once, whoever asks first, and several at once where that is wanted.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use lab::{Cancel, LabError};

use crate::evaluation::Evaluator;

/// A version of a source that is built when it is first asked for.
pub(crate) struct Build<B> {
    text: Arc<str>,
    built: OnceLock<Result<B, LabError>>,
}

impl<B> Build<B> {
    /// Of a text, not made yet.
    pub(crate) fn of(text: &Arc<str>) -> Arc<Self> {
        Arc::new(Self { text: Arc::clone(text), built: OnceLock::new() })
    }

    /// Whether it was made, well or not.
    pub(crate) fn is_made(&self) -> bool {
        self.built.get().is_some()
    }

    /// Makes it; waits if another thread is at it.
    pub(crate) fn get<E: Evaluator<Build = B>>(&self, evaluator: &E, cancel: &Cancel) -> Result<&B, &LabError> {
        self.built.get_or_init(|| evaluator.build(&self.text, cancel)).as_ref()
    }
}

/// Makes builds on so many threads. How each ends stays with it, for whoever asks for it.
pub(crate) fn make_all<E: Evaluator>(evaluator: &E, cancel: &Cancel, builds: &[Arc<Build<E::Build>>], threads: usize) {
    let next = AtomicUsize::new(0);
    let work = || {
        while !cancel.is_cancelled() {
            let Some(build) = builds.get(next.fetch_add(1, Ordering::SeqCst)) else { return };
            let _ = build.get(evaluator, cancel);
        }
    };
    let threads = threads.clamp(1, builds.len().max(1));
    if threads == 1 {
        return work();
    }
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}
