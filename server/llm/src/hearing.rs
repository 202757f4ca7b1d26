//! What callers hear of answers while these are written: how far they are, and what they wait for.
//!
//! Several questions may be under way at once; what is told is the sum of those with the same label, a few times a second
//! however fast the pieces come.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Least time between two reports of answers with the same label.
const PACE: Duration = Duration::from_millis(250);

/// Something to hear.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Answers are being written.
    Answering {
        /// What they are for, such as `writer`.
        label: String,
        /// How many are under way.
        answers: usize,
        /// Characters of them that have come so far.
        characters: usize,
    },
    /// A question could not be asked, and is asked again.
    Waiting {
        /// What it is for.
        label: String,
        /// Why it could not.
        reason: String,
        /// How long until then.
        wait: Duration,
    },
}

/// Who listens; called on the thread that asks.
pub type Listener = Arc<dyn Fn(Heard) + Send + Sync>;

/// Listens to all calls of the models that share it.
#[derive(Clone, Default)]
pub struct Hearing(Option<Arc<Inner>>);

struct Inner {
    listener: Listener,
    under_way: Mutex<UnderWay>,
}

#[derive(Default)]
struct UnderWay {
    last: u64,
    /// Label and characters so far, by the number of the attempt.
    answers: BTreeMap<u64, (String, usize)>,
    told: BTreeMap<String, Instant>,
}

impl Hearing {
    /// For a listener.
    pub fn new(listener: Listener) -> Self {
        Self(Some(Arc::new(Inner { listener, under_way: Mutex::default() })))
    }

    /// An attempt begins; it is under way until the value is dropped.
    pub(crate) fn begin(&self, label: &str) -> Attempt {
        let number = self.0.as_ref().map_or(0, |inner| {
            let mut under_way = inner.lock();
            under_way.last += 1;
            let number = under_way.last;
            under_way.answers.insert(number, (label.to_owned(), 0));
            number
        });
        Attempt { hearing: self.clone(), number }
    }

    /// A question is asked again after a while.
    pub(crate) fn waits(&self, label: &str, reason: String, wait: Duration) {
        if let Some(inner) = &self.0 {
            (inner.listener)(Heard::Waiting { label: label.to_owned(), reason, wait });
        }
    }
}

impl Inner {
    fn lock(&self) -> std::sync::MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt under way.
pub(crate) struct Attempt {
    hearing: Hearing,
    number: u64,
}

impl Attempt {
    /// A piece of the answer has come.
    pub(crate) fn piece(&self, text: &str) {
        let Some(inner) = &self.hearing.0 else { return };
        let heard = {
            let mut under_way = inner.lock();
            let Some((label, characters)) = under_way.answers.get_mut(&self.number) else { return };
            *characters += text.chars().count();
            let label = label.clone();
            if under_way.told.get(&label).is_some_and(|told| told.elapsed() < PACE) {
                return;
            }
            under_way.told.insert(label.clone(), Instant::now());
            let of_label = || under_way.answers.values().filter(|(other, _)| *other == label);
            let (answers, characters) = (of_label().count(), of_label().map(|(_, characters)| characters).sum());
            Heard::Answering { label, answers, characters }
        };
        (inner.listener)(heard);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(inner) = &self.hearing.0 {
            inner.lock().answers.remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_under_way_are_told_together_and_not_at_every_piece() {
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let sink = Arc::clone(&heard);
        let hearing = Hearing::new(Arc::new(move |what| sink.lock().unwrap().push(what)));
        let told = |label: &str, answers, characters| Heard::Answering { label: label.into(), answers, characters };
        // Told at once, and then in its time; a busy machine may be slower, never faster.
        let began = Instant::now();
        let (one, other, selector) = (hearing.begin("writer"), hearing.begin("writer"), hearing.begin("selector"));
        one.piece("große");
        for _ in 0..1000 {
            other.piece("x");
        }
        let most = 1 + began.elapsed().as_millis() / PACE.as_millis();
        let count = heard.lock().unwrap().len();
        assert!(count as u128 <= most, "{count} reports");
        assert_eq!(heard.lock().unwrap()[0], told("writer", 2, 5));
        selector.piece("12");
        assert_eq!(heard.lock().unwrap().last(), Some(&told("selector", 1, 2)));
        drop(one);
        std::thread::sleep(PACE);
        other.piece("y");
        assert_eq!(heard.lock().unwrap().last(), Some(&told("writer", 1, 1001)));
    }
}
