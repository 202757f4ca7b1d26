//! Stage 1 with the catalog behind it: a fixed rule in place of judgement.

use std::sync::Arc;

use lab::Cancel;

use crate::catalog::Catalog;
use crate::designer::has_failed;
use crate::stages::{Member, Population, Selection, Selector, StageError};

/// Chooses by a fixed rule. Rule-based: the same population gives the same choice.
///
/// - **Base**: the fastest version against the original that still has a hypothesis untried; the fastest of all when
///   none has. Of two equally fast ones the older.
/// - **Reference**: another version that beats the base on some shape, by the largest ratio; else the one whose steps
///   differ most from the base's, the faster of two; else the base itself.
pub struct CatalogSelector {
    catalog: Arc<Catalog>,
}

impl CatalogSelector {
    pub(crate) fn new(catalog: Arc<Catalog>) -> Self {
        Self { catalog }
    }

    /// Whether a hypothesis is left to try on a version, about the kernel that the user named if one was.
    fn has_untried(
        &self,
        member: &Member,
        population: &Population,
        kernel: Option<&str>,
        cancel: &Cancel,
    ) -> Result<bool, StageError> {
        let tried = |key: &String| {
            member.steps.contains(key)
                || has_failed(key, population)
                || population
                    .members
                    .iter()
                    .any(|other| other.parent == Some(member.id) && other.steps.last() == Some(key))
        };
        let (found, _) = self.catalog.find(&member.text, kernel, cancel)?;
        Ok(found.iter().any(|found| !tried(&found.hypothesis.key)))
    }
}

impl Selector for CatalogSelector {
    fn select(
        &mut self,
        population: &Population,
        kernel: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Selection, StageError> {
        let mut measured: Vec<&Member> = population.members.iter().filter(|member| is_measured(member)).collect();
        measured.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)).then(a.id.cmp(&b.id)));
        let Some(fastest) = measured.first().copied() else {
            return Err(StageError::Unusable("no version has a time yet, so there is none to start from".into()));
        };
        let mut base = None;
        for member in &measured {
            if self.has_untried(member, population, kernel, cancel)? {
                base = Some(*member);
                break;
            }
        }
        let why_base = match base {
            Some(base) if base.id == fastest.id => "the fastest so far",
            Some(_) => "the fastest that has hypotheses left to try",
            None => "the fastest so far, though nothing is left to try on it",
        };
        let base = base.unwrap_or(fastest);
        let (reference, why_reference) = reference(base, &measured);
        let reason =
            format!("Rule-based: {} is {why_base} ({:.2}x the original); {why_reference}.", name(base), ratio(base));
        Ok(Selection { base: base.id, reference: reference.id, reason })
    }
}

fn name(member: &Member) -> String {
    if member.id == 0 { "the original".into() } else { format!("candidate {}", member.id) }
}

fn is_measured(member: &Member) -> bool {
    member.failure.is_none() && (member.id == 0 || member.against_original.is_some())
}

/// Speed against the original.
fn ratio(member: &Member) -> f64 {
    if member.id == 0 { 1.0 } else { member.against_original.map_or(0.0, |speed| speed.ratio) }
}

fn reference<'p>(base: &'p Member, measured: &[&'p Member]) -> (&'p Member, String) {
    let others = || measured.iter().copied().filter(|member| member.id != base.id);
    let strongest = others()
        .filter_map(|member| best_shape(member, base).map(|(shape, gain)| (member, shape, gain)))
        .max_by(|a, b| a.2.total_cmp(&b.2).then(b.0.id.cmp(&a.0.id)));
    if let Some((member, shape, gain)) = strongest {
        return (member, format!("{} is its reference, {gain:.2}x as fast on `{shape}`", name(member)));
    }
    let divergent = others().max_by(|a, b| {
        let steps = distance(a, base).cmp(&distance(b, base));
        steps.then(ratio(a).total_cmp(&ratio(b))).then(b.id.cmp(&a.id))
    });
    match divergent {
        Some(member) => (member, format!("{} is its reference, the most different line", name(member))),
        None => (base, "there is no other line to refer to".into()),
    }
}

/// The shape on which a version beats the base most, and by how much.
fn best_shape<'m>(member: &'m Member, base: &Member) -> Option<(&'m str, f64)> {
    let gain = |(shape, time): &'m (String, f64)| {
        let against = base.times.iter().find(|(other, _)| other == shape)?.1;
        Some((shape.as_str(), against / time)).filter(|(_, gain)| gain.is_finite() && *gain > 1.0)
    };
    member.times.iter().filter_map(gain).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Number of steps that only one of the two versions has.
fn distance(a: &Member, b: &Member) -> usize {
    let only = |one: &Member, other: &Member| one.steps.iter().filter(|step| !other.steps.contains(step)).count();
    only(a, b) + only(b, a)
}
