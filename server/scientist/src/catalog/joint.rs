//! Two searches over constants of one kernel as one: the best value of the one often depends on the other.
//!
//! An entry with `joins` names the pairs. The second search is looked for in what the first one makes of the text, so that
//! its conditions hold for the values that it is combined with; what does not apply there any more is left out.

use lab::Cancel;

use super::place::Offer;
use super::{Catalog, Found, Loaded, Seen, Turn, write};
use crate::stages::{Draft, Hypothesis, Setting, StageError};

/// The keys of the two searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) first: String,
    pub(crate) second: String,
}

impl Loaded {
    /// Adds the pairs of searches that were found for a kernel.
    pub(super) fn join(&self, kernel: &str, seen: &mut Seen) {
        for [first, second] in &self.entry.joins {
            let of = |name: &String| {
                let is_it = |found: &&Found| {
                    found.hypothesis.kernel == kernel
                        && found.hypothesis.key.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':'))
                };
                seen.found.iter().rev().take_while(|found| found.hypothesis.kernel == kernel).filter(is_it).last()
            };
            if let Some(found) = of(first).zip(of(second)).and_then(|(first, second)| self.joined(first, second)) {
                seen.find(found);
            }
        }
    }

    fn joined(&self, first: &Found, second: &Found) -> Option<Found> {
        let name = |found: &Found| Some(found.offer.changes.first()?.settings.first()?.name.clone());
        let (one, other) = (name(first)?, name(second)?);
        let kernel = &first.hypothesis.kernel;
        let site = |found: &Found| found.offer.site.rsplit('/').next().unwrap_or_default().to_owned();
        let fill = |text: &str| text.replace("{first}", &one).replace("{second}", &other).replace("{kernel}", kernel);
        let present = [&first.hypothesis.present, &second.hypothesis.present].into_iter().flatten().cloned().collect();
        let hypothesis = Hypothesis {
            key: format!("{}:{kernel}/{}+{}", self.entry.name, site(first), site(second)),
            kernel: kernel.clone(),
            title: fill(&self.entry.title),
            reason: fill(&self.entry.reason),
            source: self.entry.source.clone(),
            rubric: fill(&self.entry.rubric),
            line: first.hypothesis.line,
            gain: self.entry.gain,
            innovation: self.entry.innovation,
            author: None,
            present,
            left_out: first.hypothesis.left_out.clone(),
        };
        let joined = Joined { first: first.hypothesis.key.clone(), second: second.hypothesis.key.clone() };
        let offer = Offer::nothing(hypothesis.line);
        Some(Found { hypothesis, idea: self.entry.idea.clone(), offer, joined: Some(joined) })
    }
}

impl Catalog {
    /// The drafts of two searches: each value of the one with each of the other, those that they have now among them.
    pub(super) fn join(
        &self,
        turn: &Turn<'_>,
        text: &str,
        kernel: &str,
        joined: &Joined,
    ) -> Result<Vec<Draft>, StageError> {
        let (mut starts, now) = self.values(turn, text, kernel, &joined.first)?;
        starts.insert(0, Draft { text: text.to_owned(), report: String::new(), settings: now });
        let mut drafts = Vec::new();
        for (number, start) in starts.into_iter().enumerate() {
            // Where the second search does not apply any more, the first one's value stands alone.
            let (seconds, now) = self.values(turn, &start.text, kernel, &joined.second).unwrap_or_default();
            for second in seconds {
                let settings = [&start.settings, &second.settings].into_iter().flatten().cloned().collect();
                let report = format!("{} {}", start.report, second.report).trim().to_owned();
                drafts.push(Draft { text: second.text, report, settings });
            }
            if number > 0 {
                let settings = [&start.settings, &now].into_iter().flatten().cloned().collect();
                drafts.push(Draft { settings, ..start });
            }
        }
        match drafts.is_empty() {
            true => {
                Err(StageError::Unusable(format!("`{}` and `{}` fit together nowhere", joined.first, joined.second)))
            }
            false => Ok(drafts),
        }
    }

    /// The drafts of one search, and what its constants are now.
    fn values(
        &self,
        turn: &Turn<'_>,
        text: &str,
        kernel: &str,
        key: &str,
    ) -> Result<(Vec<Draft>, Vec<Setting>), StageError> {
        let (found, _, before) = self.look_for_changes(turn, text, Some(kernel), &Cancel::new())?;
        let found = found.into_iter().find(|found| found.hypothesis.key == key);
        let found = found.ok_or_else(|| StageError::Unusable(format!("`{key}` does not apply to this version")))?;
        let drafts = found.offer.changes.iter().filter_map(|change| write(&before, text, change).ok());
        Ok((drafts.collect(), found.hypothesis.present))
    }
}
