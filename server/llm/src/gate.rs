//! How many calls are under way at once.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::LlmError;

/// How often a waiting call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Lets so many calls through at once; shared by whatever asks the same provider.
#[derive(Clone)]
pub struct Gate(Arc<(Mutex<usize>, Condvar)>);

impl Gate {
    /// For `limit` calls at once, one at least.
    pub fn new(limit: usize) -> Self {
        Self(Arc::new((Mutex::new(limit.max(1)), Condvar::new())))
    }

    /// Waits for a place, which is free again when the pass is dropped.
    pub(crate) fn enter(&self, is_cancelled: &dyn Fn() -> bool) -> Result<Pass, LlmError> {
        let (free, freed) = &*self.0;
        let mut places = free.lock().unwrap_or_else(PoisonError::into_inner);
        while *places == 0 {
            if is_cancelled() {
                return Err(LlmError::Cancelled);
            }
            (places, _) = freed.wait_timeout(places, LOOK).unwrap_or_else(PoisonError::into_inner);
        }
        *places -= 1;
        Ok(Pass(self.clone()))
    }
}

/// A place among the calls under way.
pub(crate) struct Pass(Gate);

impl Drop for Pass {
    fn drop(&mut self) {
        let (free, freed) = &*self.0.0;
        *free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_than_the_limit_are_inside_and_all_get_in() {
        let (gate, inside, most, through) =
            (Gate::new(2), AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _pass = gate.enter(&|| false).unwrap();
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(5));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    through.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!((most.into_inner(), through.into_inner()), (2, 8));
    }

    #[test]
    fn waiting_ends_when_cancelled() {
        let gate = Gate::new(1);
        let _pass = gate.enter(&|| false).unwrap();
        assert!(matches!(gate.enter(&|| true), Err(LlmError::Cancelled)));
    }
}
