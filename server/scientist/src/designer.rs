//! Stage 2 with the catalog behind it: every hypothesis at every place, ranked by what is known of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use lab::Cancel;

use crate::catalog::{Catalog, Found, RuledOut};
use crate::stages::{Design, DesignBrief, Designer, Finding, GainRange, Hypothesis, Population, StageError};
use crate::symptoms;

/// Avenues listed at most.
const AVENUES: usize = 10;
/// Plans worked out at most.
const PLANS: usize = 5;

/// Lists what the catalog finds in the base. Rule-based: the same brief gives the same design.
///
/// - A plan is left out when its key is among the base's steps, was tried on this base, or failed on any version.
/// - A plan's range starts as the catalog's (for MI300X) and moves towards what was measured: with `n` findings on the
///   same hypothesis by `n / (n + 1)` of the way.
/// - Where the device is forecast for, the range of a change that cures something comes from the lines that have it
///   ([`crate::symptoms`]), before findings move it.
/// - Plans are ranked by the middle of that range; the best of each hypothesis comes before any second one.
pub struct CatalogDesigner {
    catalog: Arc<Catalog>,
}

impl CatalogDesigner {
    pub(crate) fn new(catalog: Arc<Catalog>) -> Self {
        Self { catalog }
    }
}

impl Designer for CatalogDesigner {
    fn design(&mut self, brief: &DesignBrief<'_>, cancel: &Cancel) -> Result<Design, StageError> {
        let (found, ruled_out) = self.catalog.find(&brief.base.text, brief.kernel, cancel)?;
        let open: Vec<Found> = found.into_iter().filter(|found| is_open(&found.hypothesis.key, brief)).collect();
        let avenues = avenues(&open, &ruled_out);
        Ok(Design { avenues, plans: plans(open, brief) })
    }
}

/// Whether a hypothesis is still worth a try on the brief's base.
fn is_open(key: &str, brief: &DesignBrief<'_>) -> bool {
    let done = brief.base.steps.iter().chain(brief.tried).any(|other| other == key);
    !done && !has_failed(key, brief.population)
}

/// Whether a version whose last step was this hypothesis failed: the same change at the same place will fail again.
pub(crate) fn has_failed(key: &str, population: &Population) -> bool {
    let is_last = |steps: &[String]| steps.last().is_some_and(|last| last == key);
    population.members.iter().any(|member| member.failure.is_some() && is_last(&member.steps))
}

fn avenues(open: &[Found], ruled_out: &[RuledOut]) -> Vec<String> {
    let mut by_idea: BTreeMap<&str, Vec<&Hypothesis>> = BTreeMap::new();
    for found in open {
        by_idea.entry(&found.idea).or_default().push(&found.hypothesis);
    }
    let mut lines: Vec<(f64, String)> = by_idea
        .into_iter()
        .map(|(idea, hypotheses)| {
            let best = hypotheses.iter().map(|h| h.gain.middle()).fold(f64::MIN, f64::max);
            let titles: Vec<&str> = hypotheses.iter().map(|h| h.title.as_str()).collect();
            (best, format!("{idea}: {}", titles.join("; ")))
        })
        .collect();
    lines.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let open = lines.into_iter().map(|(_, line)| line);
    let closed = ruled_out.iter().map(|r| format!("ruled out, {} in {}: {}", r.name, r.kernel, r.reason));
    open.chain(closed).take(AVENUES).collect()
}

fn plans(open: Vec<Found>, brief: &DesignBrief<'_>) -> Vec<Hypothesis> {
    let worked_out = |found: Found| adjusted(symptoms::judged(found.hypothesis, brief.forecast), brief.findings);
    let mut plans: Vec<Hypothesis> = open.into_iter().map(worked_out).collect();
    let rank = |a: &Hypothesis, b: &Hypothesis| {
        b.gain
            .middle()
            .total_cmp(&a.gain.middle())
            .then(b.innovation.cmp(&a.innovation))
            .then_with(|| a.key.cmp(&b.key))
    };
    plans.sort_by(rank);
    let mut seen: Vec<String> = Vec::new();
    let (first, again): (Vec<_>, Vec<_>) = plans.into_iter().partition(|plan| {
        let name = name_of(&plan.key).to_owned();
        let is_first = !seen.contains(&name);
        seen.push(name);
        is_first
    });
    first.into_iter().chain(again).take(PLANS).collect()
}

/// The hypothesis' name in a key: what findings are about.
pub(crate) fn name_of(key: &str) -> &str {
    key.split(':').next().unwrap_or(key)
}

/// Moves the expected range towards what was measured of the same hypothesis; a failed experiment counts as no gain.
fn adjusted(mut plan: Hypothesis, findings: &[Finding]) -> Hypothesis {
    let measured: Vec<f64> = findings
        .iter()
        .filter(|finding| finding.about == name_of(&plan.key))
        .map(|finding| finding.gain_percent().unwrap_or(0.0))
        .collect();
    let (Some(low), Some(high)) =
        (measured.iter().copied().reduce(f64::min), measured.iter().copied().reduce(f64::max))
    else {
        return plan;
    };
    let count = measured.len() as f64;
    let weight = count / (count + 1.0);
    let towards = |from: f64, to: f64| from + weight * (to - from);
    let gain = plan.gain;
    plan.gain = GainRange { min_percent: towards(gain.min_percent, low), max_percent: towards(gain.max_percent, high) };
    let forecast = findings.iter().any(|finding| finding.forecast_percent.is_some());
    let word = if forecast { "Forecast" } else { "Measured" };
    plan.reason = format!("{} {word} here so far: {low:.0} to {high:.0} %.", plan.reason);
    plan
}
