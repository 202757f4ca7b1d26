//! What the hypotheses for a kernel promise, best first: by the forecast of each where that was made, else by what the forecast
//! of the kernel shows on its lines, else by the catalog's word.

use scientist::stages::Hypothesis;
use scientist::symptoms;

use super::analysis::KernelFacts;
use super::forecasts::Account;
use super::view::View;
use crate::forecasts::outlook::Outlook;

/// Below this much, in percent of speed, nothing is worth a test while there is something else to try.
const HOPELESS: f64 = 0.0;

/// A hypothesis and what it promises.
#[derive(Clone, Debug, PartialEq)]
pub struct Prospect {
    /// The hypothesis, its gain bounded by what its symptom costs.
    pub hypothesis: Hypothesis,
    /// In a few words: `expected +5% to +30% on MI300; line 12: 32-way bank conflicts`.
    pub promise: String,
    /// It was tried and fails, or has nothing to cure.
    pub is_hopeless: bool,
    /// Percent of speed.
    percent: f64,
}

impl Prospect {
    /// Of a hypothesis that nothing is known of but the catalog's word.
    pub fn unforeseen(hypothesis: &Hypothesis) -> Self {
        let gain = hypothesis.gain;
        Self {
            promise: expected(hypothesis),
            is_hopeless: false,
            percent: gain.middle(),
            hypothesis: hypothesis.clone(),
        }
    }
}

/// The prospects of all hypotheses that are known for a kernel as it is.
pub fn of(view: &View, kernel: &KernelFacts) -> Vec<Prospect> {
    let known = view.suggestions.of(&kernel.fingerprint).map_or(&[][..], |known| known);
    let account = view.account_of(kernel).filter(|account| account.fingerprint == kernel.fingerprint);
    let mut prospects: Vec<Prospect> = known
        .iter()
        .map(|hypothesis| match view.suggestions.outlook_of(&kernel.fingerprint, &hypothesis.key) {
            Some(outlook) => foreseen(hypothesis, outlook),
            None => {
                account.map_or_else(|| Prospect::unforeseen(hypothesis), |account| judged(view, hypothesis, account))
            }
        })
        .collect();
    let is_foreseen = |hypothesis: &Hypothesis| {
        account.is_some() || view.suggestions.outlook_of(&kernel.fingerprint, &hypothesis.key).is_some()
    };
    if known.iter().any(is_foreseen) {
        // Sorting is stable: what is equal stays in the catalog's order.
        prospects.sort_by(|one, other| other.percent.total_cmp(&one.percent));
    }
    prospects
}

/// By the forecast of its best draft.
fn foreseen(hypothesis: &Hypothesis, outlook: &Outlook) -> Prospect {
    let mut promise = match (outlook.ratio, &outlook.basis, &outlook.failure) {
        (Some(ratio), Some(basis), _) => basis.short_claim(ratio),
        (_, _, Some(why)) => format!("does not work here: {why}"),
        _ => expected(hypothesis),
    };
    if let Some(cure) = outlook.cures.first().filter(|cure| !cure.symptom.is_empty()) {
        let left = if cure.left.is_empty() { "cured".to_owned() } else { format!("then {}", cure.left) };
        promise.push_str(&format!("; line {}: {} ({left})", cure.line, cure.symptom));
    }
    let percent = outlook.percent();
    Prospect { hypothesis: hypothesis.clone(), promise, is_hopeless: percent <= HOPELESS, percent }
}

/// By what the forecast of the kernel shows on its lines.
fn judged(view: &View, hypothesis: &Hypothesis, account: &Account) -> Prospect {
    let forecasts: Vec<_> = account.launches.iter().map(|launch| launch.forecast.clone()).collect();
    let judged = symptoms::judged(hypothesis.clone(), &forecasts);
    let name = hypothesis.key.split(':').next().unwrap_or_default();
    let sick = symptoms::cured_by(name).map(|symptom| symptoms::sick(&forecasts[0], symptom));
    let mut promise = expected(&judged);
    if let Some(worst) = sick.iter().flatten().next() {
        match view.line_of(account, worst.line.line) {
            Some(line) => promise.push_str(&format!("; line {line}: {}", worst.what)),
            None => promise.push_str(&format!("; {}", worst.what)),
        }
    }
    let is_hopeless = sick.is_some_and(|sick| sick.is_empty());
    Prospect { promise, is_hopeless, percent: judged.gain.middle(), hypothesis: judged }
}

/// `expected +5% to +30% on MI300`.
fn expected(hypothesis: &Hypothesis) -> String {
    let gain = hypothesis.gain;
    format!("expected {:+.0}% to {:+.0}% on MI300", gain.min_percent, gain.max_percent)
}
