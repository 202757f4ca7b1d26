//! What a run may use up, what it has used up, and the watch that ends it in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lab::Cancel;
use notebook::Spent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run may use up, over all its resumptions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Generations at most.
    pub generations: u32,
    /// Time at work at most, the confirmation of the winner included; in JSON in seconds.
    #[serde(rename = "wall_s", with = "seconds", default)]
    #[schemars(with = "Option<f64>")]
    pub wall: Option<Duration>,
    /// Money for a provider at most, in US dollars.
    #[serde(default)]
    pub usd: Option<f64>,
    /// Tokens to and from a provider at most.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// Calls of a provider at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
}

impl Default for Budget {
    /// Five generations, without other limits.
    fn default() -> Self {
        Self { generations: 5, wall: None, usd: None, tokens: None, calls: None }
    }
}

impl Budget {
    /// The limits of both together; what is unlimited here stays so.
    pub fn with_more(self, more: &Self) -> Self {
        fn sum<T: std::ops::Add<Output = T>>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.zip(other).map(|(one, other)| one + other)
        }
        Self {
            generations: self.generations.saturating_add(more.generations),
            wall: sum(self.wall, more.wall.or(Some(Duration::ZERO))),
            usd: sum(self.usd, more.usd.or(Some(0.0))),
            tokens: sum(self.tokens, more.tokens.or(Some(0))),
            calls: sum(self.calls, more.calls.or(Some(0))),
        }
    }
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(super) fn serialize<S: Serializer>(wall: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        wall.map(|wall| wall.as_secs_f64()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let wall = Option::<f64>::deserialize(from)?;
        wall.map(|wall| Duration::try_from_secs_f64(wall).map_err(de::Error::custom)).transpose()
    }
}

/// Time since some fixed moment; never goes back. A parameter, so that tests can steer it.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The system's clock.
pub fn steady_clock() -> Clock {
    let start = Instant::now();
    Arc::new(move || start.elapsed())
}

/// What a provider has been paid in this process, for one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bill {
    /// In US dollars.
    pub usd: f64,
    /// Sent and received.
    pub tokens: u64,
    /// Calls that were answered.
    pub calls: u64,
}

/// Asked for the [`Bill`] before every step. Model-backed stages count their calls in something shared with this; the
/// catalog costs nothing.
pub type Meter = Arc<dyn Fn() -> Bill + Send + Sync>;

/// The meter of a provider that costs nothing.
pub fn free_of_charge() -> Meter {
    Arc::new(Bill::default)
}

/// What of a budget is left for this process; without a number, as much as there is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Left {
    /// In US dollars.
    pub usd: Option<f64>,
    /// Sent and received.
    pub tokens: Option<u64>,
    /// Calls that are answered.
    pub calls: Option<u64>,
}

/// Told at the beginning of a sitting what is left, so that stages that make several calls for one answer keep to it in between.
pub type Limiter = Arc<dyn Fn(Left) + Send + Sync>;

/// The limiter of a provider that uses up nothing.
pub fn without_limits() -> Limiter {
    Arc::new(|_| ())
}

/// A budget, and what of it is used up.
#[derive(Clone)]
pub(crate) struct Account {
    pub(crate) budget: Budget,
    before: Spent,
    calls_before: u64,
    clock: Clock,
    began: Duration,
    meter: Meter,
    generations: Vec<Duration>,
}

impl Account {
    /// `before` is what earlier sittings of the same run used up.
    pub(crate) fn new(budget: Budget, before: Spent, clock: Clock, meter: Meter) -> Self {
        let began = clock();
        Self { budget, before, calls_before: 0, clock, began, meter, generations: Vec::new() }
    }

    /// With the calls that earlier sittings made.
    pub(crate) fn after_calls(mut self, calls: u64) -> Self {
        self.calls_before = calls;
        self
    }

    /// What is left of the budget for this sitting as a whole.
    pub(crate) fn left(&self) -> Left {
        let Budget { usd, tokens, calls, .. } = self.budget;
        Left {
            usd: usd.map(|limit| (limit - self.before.usd).max(0.0)),
            tokens: tokens.map(|limit| limit.saturating_sub(self.before.tokens)),
            calls: calls.map(|limit| limit.saturating_sub(self.calls_before)),
        }
    }

    pub(crate) fn spent(&self) -> Spent {
        let bill = (self.meter)();
        Spent { wall: self.wall(), usd: self.before.usd + bill.usd, tokens: self.before.tokens + bill.tokens }
    }

    fn wall(&self) -> Duration {
        self.before.wall + (self.clock)().saturating_sub(self.began)
    }

    /// What is left of the wall time; `None` when it has no limit.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.budget.wall.map(|wall| wall.saturating_sub(self.wall()))
    }

    /// Which limit on money, tokens or calls has been reached, with so many calls that have no answer yet.
    pub(crate) fn overdrawn(&self, asking: u64) -> Option<String> {
        let spent = self.spent();
        if let Some(limit) = self.budget.usd.filter(|limit| spent.usd >= *limit) {
            return Some(format!("the budget of {limit:.2} US dollars is used up ({:.2})", spent.usd));
        }
        if let Some(limit) = self.budget.tokens.filter(|limit| spent.tokens >= *limit) {
            return Some(format!("the budget of {limit} tokens is used up ({})", spent.tokens));
        }
        let calls = self.calls_before + (self.meter)().calls + asking;
        let limit = self.budget.calls.filter(|limit| calls >= *limit)?;
        Some(format!("the budget of {limit} calls is used up ({calls})"))
    }

    /// Notes how long a generation took that ran in this process.
    pub(crate) fn note_generation(&mut self, took: Duration) {
        self.generations.push(took);
    }

    /// How long the run will probably go on with `left` generations to come and `after` for what follows them; `None`
    /// until the first generation has shown how long one takes.
    pub(crate) fn estimate(&self, left: u32, after: Duration) -> Option<Duration> {
        let count = u32::try_from(self.generations.len()).ok().filter(|count| *count > 0)?;
        let mean = self.generations.iter().sum::<Duration>() / count;
        let whole = mean * left + after;
        Some(self.remaining().map_or(whole, |remaining| whole.min(remaining)))
    }
}

/// How often a watch looks. Well below the second within which a cancelled run must end.
const LOOK: Duration = Duration::from_millis(5);

/// Passes a cancellation on, and makes one of its own when a deadline is reached: a stage or a device that takes too long
/// is stopped by the same means as by a user.
pub(crate) struct Watch {
    cancel: Cancel,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches until it is dropped. `reserve` is kept back from the wall time for what comes after.
    pub(crate) fn start(outer: &Cancel, account: &Account, reserve: Duration) -> Self {
        let (cancel, done) = (Cancel::new(), Arc::new(AtomicBool::new(false)));
        let (outer, inner, stop, account) = (outer.clone(), cancel.clone(), Arc::clone(&done), account.clone());
        let thread = std::thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                let late = account.remaining().is_some_and(|remaining| remaining <= reserve);
                if late || outer.is_cancelled() {
                    inner.cancel();
                    return;
                }
                std::thread::park_timeout(LOOK);
            }
        });
        Self { cancel, done, thread: Some(thread) }
    }

    /// The token for whatever is being watched.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.done.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread only sleeps and looks: it cannot have panicked in a way that matters here.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn account(budget: Budget, before: Spent, bill: Bill) -> (Account, Arc<AtomicU64>) {
        let millis = Arc::new(AtomicU64::new(1000));
        let hand = Arc::clone(&millis);
        let clock: Clock = Arc::new(move || Duration::from_millis(hand.load(Ordering::SeqCst)));
        (Account::new(budget, before, clock, Arc::new(move || bill)), millis)
    }

    #[test]
    fn earlier_sittings_count() {
        let budget = Budget { wall: Some(Duration::from_secs(10)), ..Budget::default() };
        let before = Spent { wall: Duration::from_secs(4), usd: 1.0, tokens: 10 };
        let (account, millis) = account(budget, before, Bill { usd: 0.5, tokens: 5, calls: 1 });
        millis.fetch_add(2000, Ordering::SeqCst);
        assert_eq!(account.spent(), Spent { wall: Duration::from_secs(6), usd: 1.5, tokens: 15 });
        assert_eq!(account.remaining(), Some(Duration::from_secs(4)));
        millis.fetch_add(60_000, Ordering::SeqCst);
        assert_eq!(account.remaining(), Some(Duration::ZERO));
    }

    #[test]
    fn what_is_left_is_what_earlier_sittings_left() {
        let budget = Budget { usd: Some(2.0), tokens: Some(100), calls: Some(7), ..Budget::default() };
        let before = Spent { usd: 0.5, tokens: 130, ..Spent::default() };
        let (account, _) = account(budget, before, Bill { usd: 9.0, tokens: 9, calls: 9 });
        let left = Left { usd: Some(1.5), tokens: Some(0), calls: Some(4) };
        assert_eq!(account.after_calls(3).left(), left);
        let (free, _) = self::account(Budget::default(), before, Bill::default());
        assert_eq!(free.left(), Left::default());
    }

    #[test]
    fn money_tokens_and_calls_have_limits() {
        let check = |usd, tokens, calls, expected: Option<&str>| {
            let budget = Budget { usd, tokens, calls, ..Budget::default() };
            let (account, _) = account(budget, Spent::default(), Bill { usd: 2.0, tokens: 500, calls: 3 });
            assert_eq!(account.after_calls(3).overdrawn(1).as_deref(), expected);
        };
        check(None, None, None, None);
        check(Some(2.01), Some(501), Some(8), None);
        check(Some(1.5), None, None, Some("the budget of 1.50 US dollars is used up (2.00)"));
        check(None, Some(500), None, Some("the budget of 500 tokens is used up (500)"));
        check(None, None, Some(7), Some("the budget of 7 calls is used up (7)"));
    }

    #[test]
    fn the_estimate_follows_the_generations_seen_and_the_limit() {
        let (mut free, _) = account(Budget::default(), Spent::default(), Bill::default());
        let after = Duration::from_secs(7);
        assert_eq!(free.estimate(3, after), None);
        free.note_generation(Duration::from_secs(4));
        free.note_generation(Duration::from_secs(6));
        assert_eq!(free.estimate(3, after), Some(Duration::from_secs(22)));
        let budget = Budget { wall: Some(Duration::from_secs(10)), ..Budget::default() };
        let (mut limited, _) = account(budget, Spent::default(), Bill::default());
        limited.note_generation(Duration::from_secs(5));
        assert_eq!(limited.estimate(3, after), Some(Duration::from_secs(10)));
    }

    #[test]
    fn a_watch_cancels_at_its_deadline_and_when_asked_to() {
        let wait = |watch: &Watch| {
            let began = Instant::now();
            while !watch.cancel().is_cancelled() && began.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(1));
            }
            watch.cancel().is_cancelled()
        };
        let budget = Budget { wall: Some(Duration::from_secs(10)), ..Budget::default() };
        let (account, millis) = account(budget, Spent::default(), Bill::default());
        let outer = Cancel::new();
        let watch = Watch::start(&outer, &account, Duration::from_secs(3));
        std::thread::sleep(Duration::from_millis(30));
        assert!(!watch.cancel().is_cancelled());
        millis.fetch_add(7000, Ordering::SeqCst);
        assert!(wait(&watch));
        assert!(!outer.is_cancelled());

        let other = Watch::start(&outer, &account, Duration::ZERO);
        outer.cancel();
        assert!(wait(&other));
    }

    #[test]
    fn a_budget_reads_as_it_was_written() {
        let budget = Budget { wall: Some(Duration::from_millis(1500)), ..Budget::default() };
        let json = serde_json::to_string(&budget).unwrap();
        assert_eq!(json, r#"{"generations":5,"wall_s":1.5,"usd":null,"tokens":null}"#);
        assert_eq!(serde_json::from_str::<Budget>(&json).unwrap(), budget);
        assert_eq!(serde_json::from_str::<Budget>(r#"{"generations":5}"#).unwrap(), Budget::default());
        assert!(serde_json::from_str::<Budget>(r#"{"generations":5,"wall_s":-1.0}"#).is_err());
    }
}
