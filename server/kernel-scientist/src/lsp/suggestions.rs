//! Hypotheses of the rule-based catalog for the kernels of open documents, looked for in the background.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use lab::benchmark::Benchmark;
use lab::forecast::Basis;
use lab::{Cancel, SpeedRatio, Verdict};
use scientist::catalog::Catalog;
use scientist::stages::Hypothesis;

use crate::forecasts::outlook::Outlook;

/// Hypotheses by the fingerprint of the kernel that they are for, best first, and what tests of them came to.
#[derive(Clone, Debug, Default)]
pub struct Suggestions {
    known: HashMap<String, Arc<[Hypothesis]>>,
    outlooks: HashMap<(String, String), Arc<Outlook>>,
    /// In the order in which they came. Those for kernels that are in no document any more stay: an edit may be undone.
    tested: VecDeque<((String, String), Tested)>,
}

/// Tests that are kept; what is older can be found in the notebook.
const MOST_TESTED: usize = 256;

/// What the test of a hypothesis came to.
#[derive(Clone, Debug)]
pub enum Tested {
    /// It ran; the proposal is the text to apply.
    Measured {
        /// Against the file as it was.
        speed: SpeedRatio,
        /// What the interval says.
        verdict: Verdict,
        /// The device that it was found on.
        device: String,
        /// What the speed rests on where it is a forecast.
        forecast: Option<Basis>,
        /// Number of the proposal.
        proposal: u64,
    },
    /// It failed; in words.
    Failed(String),
}

impl Suggestions {
    /// Hypotheses for a kernel; `None` when nobody has looked yet.
    pub fn of(&self, fingerprint: &str) -> Option<&Arc<[Hypothesis]>> {
        self.known.get(fingerprint)
    }

    /// What a hypothesis gains on a kernel by forecast, where that was asked for.
    pub fn outlook_of(&self, fingerprint: &str, key: &str) -> Option<&Outlook> {
        self.outlooks.get(&(fingerprint.to_owned(), key.to_owned())).map(Arc::as_ref)
    }

    /// Notes what a hypothesis gains by forecast.
    pub fn learn_outlook(&mut self, fingerprint: String, key: String, outlook: Outlook) {
        self.outlooks.insert((fingerprint, key), Arc::new(outlook));
    }

    /// What the test of a hypothesis on a kernel came to.
    pub fn test_of(&self, fingerprint: &str, key: &str) -> Option<&Tested> {
        let is_it = |of: &(String, String)| of.0 == fingerprint && of.1 == key;
        self.tested.iter().find(|(of, _)| is_it(of)).map(|(_, tested)| tested)
    }

    /// Notes what was found for kernels. What a model thought of before stays, ahead of that.
    pub fn learn(&mut self, found: HashMap<String, Arc<[Hypothesis]>>) {
        for (fingerprint, found) in found {
            let known = self.known.remove(&fingerprint);
            let is_kept = |known: &&Hypothesis| {
                known.author.is_some() && found.iter().all(|hypothesis| hypothesis.key != known.key)
            };
            let kept = known.iter().flat_map(|known| known.iter()).filter(is_kept);
            let all = kept.chain(found.iter()).cloned().collect();
            self.known.insert(fingerprint, all);
        }
    }

    /// Forgets all kernels but these.
    pub fn keep(&mut self, in_use: &BTreeSet<&str>) {
        self.known.retain(|fingerprint, _| in_use.contains(fingerprint.as_str()));
        self.outlooks.retain(|(fingerprint, _), _| in_use.contains(fingerprint.as_str()));
    }

    /// Notes what a test came to.
    pub fn learn_test(&mut self, fingerprint: String, key: String, tested: Tested) {
        let of = (fingerprint, key);
        self.tested.retain(|(known, _)| *known != of);
        self.tested.push_back((of, tested));
        if self.tested.len() > MOST_TESTED {
            self.tested.pop_front();
        }
    }
}

/// The catalog, made once: its queries take tens of milliseconds to compile and megabytes to keep. What the shelf gives out
/// are clones, so that of all that look for hypotheses one at a time has a tree.
#[derive(Default)]
pub struct Shelf {
    catalog: OnceLock<Catalog>,
    /// That of the file that was asked for last, and the text of its benchmark file.
    last: Mutex<Option<(Option<String>, Arc<Catalog>)>>,
}

impl Shelf {
    /// The catalog for a source. A benchmark file with a mistake counts as none here; it has a message of its own.
    pub fn catalog(&self, source: &Path) -> Arc<Catalog> {
        let path = Benchmark::path_for(source);
        let text = lab::settings_text::read(&path).ok();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, catalog)) if *of == text => Arc::clone(catalog),
            _ => {
                let benchmark = text.as_ref().and_then(|text| Benchmark::parse(&path, text).ok());
                let catalog = Arc::new(self.fed_by(benchmark.as_ref()));
                *last = Some((text, Arc::clone(&catalog)));
                catalog
            }
        }
    }

    /// The catalog for what a benchmark feeds.
    pub fn fed_by(&self, benchmark: Option<&Benchmark>) -> Catalog {
        self.catalog.get_or_init(Catalog::load).clone().fed_by(benchmark)
    }
}

/// Looks for hypotheses for `kernels` (name and fingerprint) of a text; `None` when it was cancelled.
pub fn look(
    catalog: &Catalog,
    text: &str,
    kernels: &[(String, String)],
    cancel: &Cancel,
) -> Option<HashMap<String, Arc<[Hypothesis]>>> {
    let wanted = kernels.iter().map(|(name, _)| name.as_str()).collect();
    let mut all: HashMap<String, Vec<Hypothesis>> = HashMap::new();
    for hypothesis in catalog.suggest_for(text, &wanted, cancel).ok()? {
        all.entry(hypothesis.kernel.clone()).or_default().push(hypothesis);
    }
    let of = |name: &str| all.get(name).map_or_else(Arc::default, |found| found.as_slice().into());
    Some(kernels.iter().map(|(name, fingerprint)| (fingerprint.clone(), of(name))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_tests_are_kept() {
        let mut known = Suggestions::default();
        let why = |known: &Suggestions, number: usize| match known.test_of(&number.to_string(), "pad") {
            Some(Tested::Failed(why)) => Some(why.clone()),
            _ => None,
        };
        for number in 0..=MOST_TESTED {
            known.learn_test(number.to_string(), "pad".into(), Tested::Failed("wrong".into()));
        }
        assert_eq!((why(&known, 0), why(&known, 1)), (None, Some("wrong".into())));
        known.learn_test("1".into(), "pad".into(), Tested::Failed("slow".into()));
        known.learn_test("new".into(), "pad".into(), Tested::Failed("wrong".into()));
        assert_eq!(
            (why(&known, 1), why(&known, 2)),
            (Some("slow".into()), None),
            "found out again, so it is among the newest"
        );
    }
}
