//! When to try again, and after how long.

use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};

use crate::error::LlmError;
use crate::provider::Caller;

/// How often a waiting call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// How a call is tried again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// Further attempts at most.
    pub times: usize,
    /// Wait before the first of them; it doubles each time, with up to as much again at random.
    pub first: Duration,
    /// Longest wait. A server that asks for a longer one ends the call: whoever called decides then.
    pub longest: Duration,
}

impl Default for Retry {
    /// Five further attempts, over a minute or so.
    fn default() -> Self {
        Self { times: 5, first: Duration::from_secs(1), longest: Duration::from_secs(90) }
    }
}

impl Retry {
    /// Makes `attempt` until it succeeds, fails for good, or has been made often enough. `waits` hears why it is made again, and
    /// after how long.
    pub(crate) fn run<T>(
        &self,
        caller: &mut Caller<'_>,
        waits: &dyn Fn(String, Duration),
        mut attempt: impl FnMut(&mut Caller<'_>) -> Result<T, LlmError>,
    ) -> Result<T, LlmError> {
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(self.first)
            .with_max_delay(self.longest)
            .with_max_times(self.times)
            .with_jitter()
            .build();
        let mut made = 0;
        loop {
            made += 1;
            let error = match attempt(caller) {
                Err(error) if error.is_transient() => error,
                other => return other,
            };
            let Some(wait) = pauses.next() else { return Err(error) };
            // What the server asks for is the least; less would only be refused again.
            let wait = error.retry_after().map_or(wait, |asked| asked.max(wait));
            if wait > self.longest * 2 {
                return Err(error);
            }
            let reason = format!("{} (try {made} of {})", error.happened(), self.times + 1);
            tracing::info!("{reason}; trying again in {:.1} s", wait.as_secs_f64());
            waits(reason, wait);
            pause(wait, caller)?;
        }
    }
}

fn pause(wait: Duration, caller: &Caller<'_>) -> Result<(), LlmError> {
    let until = Instant::now() + wait;
    loop {
        if caller.is_cancelled() {
            return Err(LlmError::Cancelled);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(LOOK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(seconds: Option<f64>) -> LlmError {
        let retry_after = seconds.map(Duration::from_secs_f64);
        LlmError::Busy { who: "x:y".into(), detail: "429".into(), retry_after }
    }

    /// Attempts made and how long that took, where each of `errors` comes before success.
    fn check(errors: Vec<LlmError>) -> (usize, Duration, Result<(), LlmError>) {
        let retry = Retry { times: 3, first: Duration::from_millis(1), longest: Duration::from_millis(300) };
        let (mut errors, mut attempts) = (errors.into_iter(), 0);
        let began = Instant::now();
        let result = retry.run(&mut Caller::new(&|| false, &mut |_| ()), &|_, _| (), |_| {
            attempts += 1;
            errors.next().map_or(Ok(()), Err)
        });
        (attempts, began.elapsed(), result)
    }

    #[test]
    fn transient_errors_are_tried_again_and_others_are_not() {
        let unreachable = LlmError::Unreachable { who: "x:y".into(), detail: "cut".into() };
        assert_eq!(check(vec![busy(None), unreachable.clone()]).0, 3);
        assert_eq!(check(vec![unreachable; 9]).0, 4);
        let bad = LlmError::BadRequest { who: "x:y".into(), detail: "no".into() };
        let (attempts, _, result) = check(vec![bad.clone()]);
        assert_eq!((attempts, result), (1, Err(bad)));
    }

    #[test]
    fn what_the_server_asks_for_is_waited_unless_it_is_too_long() {
        let (attempts, took, result) = check(vec![busy(Some(0.25))]);
        assert_eq!((attempts, result), (2, Ok(())));
        assert!(took >= Duration::from_millis(250), "{took:?}");
        // A server that asks for less than we wait anyway is not asked again at once.
        let began = Instant::now();
        let retry = Retry { times: 1, first: Duration::from_millis(60), longest: Duration::from_secs(1) };
        let mut nobody = |_: &str| ();
        let result: Result<(), _> =
            retry.run(&mut Caller::new(&|| false, &mut nobody), &|_, _| (), |_| Err(busy(Some(0.0))));
        assert!(result.is_err() && began.elapsed() >= Duration::from_millis(60), "{:?}", began.elapsed());
        let (attempts, _, result) = check(vec![busy(Some(3600.0))]);
        assert_eq!(attempts, 1);
        assert!(result.unwrap_err().to_string().contains("wait 60 minutes"));
    }

    #[test]
    fn each_wait_is_told_with_its_reason_and_its_try() {
        let retry = Retry { times: 2, first: Duration::from_millis(1), longest: Duration::from_millis(300) };
        let told = std::cell::RefCell::new(Vec::new());
        let waits = |reason, wait| told.borrow_mut().push((reason, wait));
        let mut errors = vec![busy(Some(0.02)), busy(Some(0.01))];
        let mut attempt = |_: &mut Caller<'_>| errors.pop().map_or(Ok(()), Err);
        assert_eq!(retry.run(&mut Caller::new(&|| false, &mut |_| ()), &waits, &mut attempt), Ok(()));
        let expected = [("x:y: 429 (try 1 of 3)".to_owned(), 10), ("x:y: 429 (try 2 of 3)".to_owned(), 20)];
        assert_eq!(told.into_inner(), expected.map(|(reason, ms)| (reason, Duration::from_millis(ms))));
    }

    #[test]
    fn waiting_ends_when_cancelled() {
        let retry = Retry { times: 3, first: Duration::from_secs(60), longest: Duration::from_secs(60) };
        let began = Instant::now();
        let cancelled = move || began.elapsed() > Duration::from_millis(30);
        let result: Result<(), _> =
            retry.run(&mut Caller::new(&cancelled, &mut |_| ()), &|_, _| (), |_| Err(busy(None)));
        assert_eq!(result, Err(LlmError::Cancelled));
        assert!(began.elapsed() < Duration::from_secs(5));
    }
}
