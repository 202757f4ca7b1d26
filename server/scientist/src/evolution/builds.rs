//! Builds: several at once, each made once, and never two timings at once.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use lab::{Cancel, LabError};

use crate::evaluation::Evaluator;

/// Versions of a source that are built when they are first asked for.
pub(crate) struct Builds<'e, E: Evaluator> {
    evaluator: &'e E,
    cancel: Cancel,
    slots: Vec<Slot<E::Build>>,
}

struct Slot<B> {
    text: Arc<str>,
    built: OnceLock<Result<B, LabError>>,
}

impl<'e, E: Evaluator> Builds<'e, E> {
    pub(crate) fn new(evaluator: &'e E, cancel: &Cancel, texts: impl IntoIterator<Item = Arc<str>>) -> Self {
        let slots = texts.into_iter().map(|text| Slot { text, built: OnceLock::new() }).collect();
        Self { evaluator, cancel: cancel.clone(), slots }
    }

    /// The build of one version; waits if another thread is at it.
    pub(crate) fn get(&self, index: usize) -> Result<&E::Build, &LabError> {
        let slot = &self.slots[index];
        slot.built.get_or_init(|| self.evaluator.build(&slot.text, &self.cancel)).as_ref()
    }

    /// Builds `wanted` on `threads` threads and does `work`: afterwards where building would disturb the timing that
    /// `work` does, meanwhile where it does not. Builds not begun when `work` is over are left out.
    pub(crate) fn ahead_of<T>(&self, wanted: &[usize], threads: usize, work: impl FnOnce() -> T) -> T {
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let build = || {
            while !stop.load(Ordering::SeqCst) && !self.cancel.is_cancelled() {
                let Some(index) = wanted.get(next.fetch_add(1, Ordering::SeqCst)) else { return };
                // The outcome stays in its slot for whoever asks for it.
                let _ = self.get(*index);
            }
        };
        let threads = threads.clamp(1, wanted.len().max(1));
        if self.evaluator.builds_disturb_timing() {
            std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(build))));
            return work();
        }
        std::thread::scope(|scope| {
            (0..threads).for_each(|_| drop(scope.spawn(build)));
            // Set also when `work` panics, or the scope would wait for builds that nobody wants.
            let _stop = StopOnDrop(&stop);
            work()
        })
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
