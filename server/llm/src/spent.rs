//! What calls have used up.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use crate::error::LlmError;
use crate::provider::Usage;

/// How often a call that waits for others looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Used up so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Calls that were answered, those included whose answer could not be used.
    pub calls: u64,
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// US dollars, of the calls whose price is known.
    pub usd: f64,
    /// Calls whose price is not known.
    pub unpriced: u64,
}

impl Spent {
    /// Tokens sent and received.
    pub fn tokens(&self) -> u64 {
        self.input + self.output
    }
}

/// One call that was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What it was for.
    pub label: String,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// Tokens.
    pub usage: Usage,
    /// US dollars; `None` when the price is not known.
    pub usd: Option<f64>,
    /// From the question to the end of the answer, without waits between attempts.
    pub took: Duration,
}

/// What calls may use up at most, from the ledger's beginning on; without a number, as much as there is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// US dollars.
    pub usd: Option<f64>,
    /// Tokens sent and received.
    pub tokens: Option<u64>,
    /// Calls that were answered.
    pub calls: Option<u64>,
}

/// The bill that several models share, and its limits.
///
/// A call is begun when what was spent, with the most that the calls under way may come to, is below every limit; until then it
/// waits for those. So the number of calls is never above its limit, and dollars and tokens by less than one call.
#[derive(Clone, Default)]
pub struct Ledger(Arc<(Mutex<Pages>, Condvar)>);

#[derive(Default)]
struct Pages {
    spent: Spent,
    limits: Limits,
    /// What calls under way come to at most.
    under_way: Reserved,
    calls: Vec<(ThreadId, Call)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reserved {
    usd: f64,
    tokens: u64,
    calls: u64,
}

impl Pages {
    /// Which limit is reached by what was spent and by `more`.
    fn reached(&self, more: Reserved) -> Option<String> {
        let Limits { usd, tokens, calls } = self.limits;
        if let Some(limit) = usd.filter(|limit| self.spent.usd + more.usd >= *limit) {
            return Some(format!("the budget of {limit:.2} US dollars is used up ({:.2})", self.spent.usd));
        }
        if let Some(limit) = tokens.filter(|limit| self.spent.tokens() + more.tokens >= *limit) {
            return Some(format!("the budget of {limit} tokens is used up ({})", self.spent.tokens()));
        }
        let limit = calls.filter(|limit| self.spent.calls + more.calls >= *limit)?;
        Some(format!("the budget of {limit} calls is used up ({})", self.spent.calls))
    }
}

/// Room for one call under way.
pub(crate) struct Room {
    ledger: Ledger,
    reserved: Reserved,
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut pages = self.ledger.pages();
        // Not to be off by rounding when nothing is under way any more.
        let usd = if pages.under_way.calls == 1 { 0.0 } else { pages.under_way.usd - self.reserved.usd };
        pages.under_way = Reserved {
            usd,
            tokens: pages.under_way.tokens - self.reserved.tokens,
            calls: pages.under_way.calls - self.reserved.calls,
        };
        drop(pages);
        self.ledger.0.1.notify_all();
    }
}

impl Ledger {
    /// What was used up so far.
    pub fn spent(&self) -> Spent {
        self.pages().spent
    }

    /// Sets what may be used up from now on, with what was used up before.
    pub fn limit(&self, limits: Limits) {
        self.pages().limits = limits;
    }

    /// Waits until a call may be begun that comes to `most` and `usd` dollars at most.
    ///
    /// # Errors
    /// [`LlmError::Overdrawn`] when a limit is reached; [`LlmError::Cancelled`].
    pub(crate) fn admit(&self, most: Usage, usd: f64, is_cancelled: &dyn Fn() -> bool) -> Result<Room, LlmError> {
        let mut pages = self.pages();
        loop {
            if let Some(why) = pages.reached(Reserved::default()) {
                return Err(LlmError::Overdrawn(why));
            }
            if pages.reached(pages.under_way).is_none() {
                break;
            }
            if is_cancelled() {
                return Err(LlmError::Cancelled);
            }
            (pages, _) = self.0.1.wait_timeout(pages, LOOK).unwrap_or_else(PoisonError::into_inner);
        }
        let reserved = Reserved { usd, tokens: most.total(), calls: 1 };
        pages.under_way.usd += reserved.usd;
        pages.under_way.tokens += reserved.tokens;
        pages.under_way.calls += reserved.calls;
        Ok(Room { ledger: self.clone(), reserved })
    }

    fn pages(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls that were made on this thread since it last asked: of several questions under way at once each finds its own.
    pub fn take_calls(&self) -> Vec<Call> {
        let here = std::thread::current().id();
        let mut pages = self.pages();
        let (own, others) = std::mem::take(&mut pages.calls).into_iter().partition(|(thread, _)| *thread == here);
        pages.calls = others;
        let own: Vec<(ThreadId, Call)> = own;
        own.into_iter().map(|(_, call)| call).collect()
    }

    pub(crate) fn add(&self, call: Call) {
        let mut pages = self.pages();
        let spent = &mut pages.spent;
        spent.calls += 1;
        spent.input += call.usage.input;
        spent.output += call.usage.output;
        spent.usd += call.usd.unwrap_or(0.0);
        spent.unpriced += u64::from(call.usd.is_none());
        pages.calls.push((std::thread::current().id(), call));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_finds_its_own_calls_and_the_bill_is_one() {
        let ledger = Ledger::default();
        let call = |label: &str| Call {
            label: label.into(),
            model: "m".into(),
            usage: Usage { input: 10, output: 5, ..Usage::default() },
            usd: Some(0.5),
            took: Duration::ZERO,
        };
        let labels = |ledger: &Ledger| ledger.take_calls().into_iter().map(|call| call.label).collect::<Vec<_>>();
        ledger.add(call("here"));
        let (other, there) = (ledger.clone(), call("there"));
        let there = std::thread::spawn(move || {
            other.add(there);
            labels(&other)
        });
        assert_eq!(there.join().unwrap(), ["there"]);
        assert_eq!(labels(&ledger), ["here"]);
        assert_eq!(labels(&ledger), Vec::<String>::new());
        assert_eq!((ledger.spent().calls, ledger.spent().tokens(), ledger.spent().usd), (2, 30, 1.0));
    }

    #[test]
    fn a_call_is_begun_where_those_under_way_leave_room() {
        let call = |usd: f64| Call {
            label: "l".into(),
            model: "m".into(),
            usage: Usage { input: 10, output: 5, ..Usage::default() },
            usd: Some(usd),
            took: Duration::ZERO,
        };
        let most = Usage { input: 10, output: 90, ..Usage::default() };
        let check = |limits: Limits, spent: u64, under_way: usize, expected: Result<(), &str>| {
            let ledger = Ledger::default();
            ledger.limit(limits);
            (0..spent).for_each(|_| ledger.add(call(0.5)));
            // Who would have to wait finds the call cancelled.
            let admit = || ledger.admit(most, 2.0, &|| true);
            let rooms: Vec<Room> = (0..under_way).map(|_| admit().unwrap()).collect();
            match (admit(), expected) {
                (Ok(_), Ok(())) => {}
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{limits:?}: {error}"),
                (found, _) => panic!("{limits:?}: {:?}", found.map(drop)),
            }
            drop(rooms);
            assert_eq!(admit().is_ok(), expected.is_ok() || expected == Err("cancelled"), "{limits:?}");
        };
        let usd = |usd| Limits { usd: Some(usd), ..Limits::default() };
        let tokens = |tokens| Limits { tokens: Some(tokens), ..Limits::default() };
        let calls = |calls| Limits { calls: Some(calls), ..Limits::default() };
        check(Limits::default(), 9, 9, Ok(()));
        check(usd(3.0), 1, 1, Ok(()));
        check(usd(2.5), 1, 1, Err("cancelled"));
        check(usd(0.5), 1, 0, Err("the budget of 0.50 US dollars is used up (0.50)"));
        check(usd(0.0), 0, 0, Err("used up"));
        check(tokens(116), 1, 1, Ok(()));
        check(tokens(115), 1, 1, Err("cancelled"));
        check(tokens(15), 1, 0, Err("the budget of 15 tokens is used up (15)"));
        check(calls(3), 1, 1, Ok(()));
        check(calls(3), 1, 2, Err("cancelled"));
        check(calls(1), 1, 0, Err("the budget of 1 calls is used up (1)"));
    }
}
