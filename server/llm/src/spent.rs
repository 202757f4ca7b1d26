//! What calls have used up.

use std::sync::{Arc, Mutex, PoisonError};
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
pub struct Ledger(Arc<Mutex<(Spent, Vec<Call>)>>);

impl Ledger {
    /// What was used up so far.
    pub fn spent(&self) -> Spent {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// The calls since this was last asked.
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).1)
    }

    pub(crate) fn add(&self, call: Call) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let spent = &mut inner.0;
        spent.calls += 1;
        spent.input += call.usage.input;
        spent.output += call.usage.output;
        spent.usd += call.usd.unwrap_or(0.0);
        spent.unpriced += u64::from(call.usd.is_none());
        inner.1.push(call);
    }
}
