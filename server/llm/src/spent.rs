//! What calls have used up.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use crate::provider::Usage;

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

/// The bill that several models share.
#[derive(Clone, Default)]
pub struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    spent: Spent,
    calls: Vec<(ThreadId, Call)>,
}

impl Ledger {
    /// What was used up so far.
    pub fn spent(&self) -> Spent {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spent
    }

    /// The calls that were made on this thread since it last asked: of several questions under way at once each finds its own.
    pub fn take_calls(&self) -> Vec<Call> {
        let here = std::thread::current().id();
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, others) = std::mem::take(&mut pages.calls).into_iter().partition(|(thread, _)| *thread == here);
        pages.calls = others;
        let own: Vec<(ThreadId, Call)> = own;
        own.into_iter().map(|(_, call)| call).collect()
    }

    pub(crate) fn add(&self, call: Call) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
}
