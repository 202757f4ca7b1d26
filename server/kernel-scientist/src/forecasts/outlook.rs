//! What a forecast gives hypotheses: each is written, checked on the CPU and forecast against the file as it is.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lab::forecast::Basis;
use lab::workbench::{Build, Sampling, ShapeChoice, ShapeForecast, Workbench};
use lab::{Cancel, Comparison, LabError, Verdict};
use scientist::catalog::Catalog;
use scientist::stages::{Draft, Hypothesis, Setting};
use serde::Serialize;

use super::cured::{self, Cured};
use super::may_pass;

/// Drafts of one search that are forecast: the most promising come first.
const DRAFTS: usize = 3;
/// No further draft is begun after this time; what is left keeps the catalog's word.
const PATIENCE: Duration = Duration::from_secs(30);
/// Drafts that are checked and forecast at once.
const THREADS: usize = 2;

/// What became of a hypothesis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outlook {
    /// Speed of its best draft against the file as it is, of forecast times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Whether the forecasts are far enough apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What that is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// The values of the best draft, for a search.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
    /// The lines that it cures.
    pub cures: Vec<Cured>,
    /// Why there is no forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The best draft.
    #[serde(skip)]
    text: String,
}

impl Outlook {
    /// Uplift in percent of speed; far below any other for one that failed.
    pub fn percent(&self) -> f64 {
        self.ratio.map_or(f64::MIN, |ratio| (ratio - 1.0) * 100.0)
    }

    fn failed(why: String) -> Self {
        Self {
            ratio: None,
            verdict: None,
            basis: None,
            settings: Vec::new(),
            cures: Vec::new(),
            failure: Some(why),
            text: String::new(),
        }
    }

    fn of(draft: &Draft, comparison: Comparison) -> Self {
        Self {
            ratio: Some(comparison.speed.ratio),
            verdict: Some(comparison.verdict),
            basis: comparison.forecast,
            settings: draft.settings.clone(),
            cures: Vec::new(),
            failure: None,
            text: draft.text.clone(),
        }
    }
}

/// The outlook of each hypothesis; `None` where time was up, or the machine failed.
///
/// # Errors
/// When the file as it is has no forecast, or somebody asked to stop.
pub fn of_all(
    bench: &Workbench,
    catalog: &Catalog,
    hypotheses: &[Hypothesis],
    cancel: &Cancel,
) -> Result<Vec<Option<Outlook>>, LabError> {
    let original = bench.original();
    let base = bench.build(original, cancel)?;
    let launched = launched(&bench.forecasts_of(&base, ShapeChoice::Shown, cancel)?);
    let worth = |hypothesis: &Hypothesis| launched.is_empty() || launched.contains(last_name(&hypothesis.kernel));
    // Kernels that do not run take no time that could be saved.
    let asked: Vec<usize> = (0..hypotheses.len()).filter(|number| worth(&hypotheses[*number])).collect();
    let found = Mutex::new(vec![None; hypotheses.len()]);
    let (next, started) = (AtomicUsize::new(0), Instant::now());
    let work = || {
        while started.elapsed() < PATIENCE && !cancel.is_cancelled() {
            let Some(number) = asked.get(next.fetch_add(1, Ordering::SeqCst)).copied() else { return };
            let Hypothesis { kernel, key, .. } = &hypotheses[number];
            let drafts = catalog.apply_until(&original.text, Some(kernel), key, cancel).unwrap_or_default();
            for draft in drafts.iter().take(DRAFTS) {
                if started.elapsed() >= PATIENCE || cancel.is_cancelled() {
                    return;
                }
                let Some(outlook) = look(bench, &base, draft, cancel) else { continue };
                let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                keep_better(&mut found[number], outlook);
            }
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| drop(scope.spawn(work))));
    if cancel.is_cancelled() {
        return Err(LabError::Cancelled);
    }
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for outlook in found.iter_mut().flatten().filter(|outlook| outlook.verdict == Some(Verdict::Faster)) {
        outlook.cures = cures(bench, outlook, cancel)?;
    }
    Ok(found)
}

/// The kernels that a forecast has, by the last part of their names.
fn launched(shapes: &[ShapeForecast]) -> BTreeSet<String> {
    let kernels = shapes.iter().flat_map(|shape| &shape.kernels);
    kernels.map(|kernel| last_name(&kernel.name).to_owned()).collect()
}

/// `k` of `space::k<int, 4>`.
fn last_name(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name).trim()
}

/// `None` where that cannot be known now: that the machine failed says nothing of the draft.
fn look(bench: &Workbench, base: &Build, draft: &Draft, cancel: &Cancel) -> Option<Outlook> {
    let sampling = Sampling { seed: 0, budget: Duration::ZERO, half_width: 1.0, shapes: ShapeChoice::Shown };
    let source = bench.original().with_text(draft.text.as_str());
    let compared = bench.build(&source, cancel).and_then(|build| bench.compare(base, &build, &sampling, cancel));
    match compared {
        Ok(comparison) => Some(Outlook::of(draft, comparison)),
        Err(error) if may_pass(&error) => {
            tracing::info!("no forecast of a draft: {error}");
            None
        }
        Err(error) => Some(Outlook::failed(error.to_string())),
    }
}

/// A later draft takes the place of one that is no faster.
fn keep_better(known: &mut Option<Outlook>, outlook: Outlook) {
    if known.as_ref().is_none_or(|known| outlook.percent() > known.percent()) {
        *known = Some(outlook);
    }
}

fn cures(bench: &Workbench, outlook: &Outlook, cancel: &Cancel) -> Result<Vec<Cured>, LabError> {
    let original = bench.original();
    let best = original.with_text(outlook.text.as_str());
    let before = bench.forecast(original, ShapeChoice::Shown, cancel)?;
    let after = bench.forecast(&best, ShapeChoice::Shown, cancel)?;
    Ok(cured::between(&original.text, &before, &best.text, &after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_draft_stands_for_its_hypothesis_and_any_for_one_that_failed() {
        let with = |ratio: f64| Outlook { ratio: Some(ratio), failure: None, ..Outlook::failed(String::new()) };
        let mut known = None;
        for (outlook, expected) in [
            (Outlook::failed("wrong".into()), None),
            (with(0.8), Some(0.8)),
            (with(1.5), Some(1.5)),
            (with(1.2), Some(1.5)),
            (Outlook::failed("crashed".into()), Some(1.5)),
        ] {
            keep_better(&mut known, outlook);
            assert_eq!(known.as_ref().and_then(|known| known.ratio), expected);
        }
    }
}
