//! Which three of the designer's plans are tried: the paper's rule, in code rather than in a prompt.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stages::Hypothesis;

/// What a plan was chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceRule {
    /// The most unusual one.
    MostInnovative,
    /// The one with the highest maximum of its expected gain.
    HighestMaximum,
    /// The one with the highest minimum of its expected gain.
    HighestMinimum,
}

/// A plan that will be tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The plan.
    pub plan: Hypothesis,
    /// What it was chosen for.
    pub rule: ChoiceRule,
}

/// Chooses up to three different plans: the most innovative, then of the others the one with the highest maximum, then
/// of the rest the one with the highest minimum ("GPU Kernel Scientist", arXiv 2506.20807, section on the Experiment
/// Designer).
///
/// Equal ones are told apart by the other two measures and at last by the key, so that the choice does not depend on the
/// order of the plans. Of plans with the same key the first counts.
pub fn choose(plans: &[Hypothesis]) -> Vec<Chosen> {
    let mut left: Vec<&Hypothesis> = Vec::new();
    for plan in plans {
        if left.iter().all(|other| other.key != plan.key) {
            left.push(plan);
        }
    }
    let mut chosen = Vec::new();
    for rule in [ChoiceRule::MostInnovative, ChoiceRule::HighestMaximum, ChoiceRule::HighestMinimum] {
        let best = left.iter().enumerate().max_by(|(_, a), (_, b)| rule.compare(a, b)).map(|(index, _)| index);
        if let Some(index) = best {
            chosen.push(Chosen { plan: left.remove(index).clone(), rule });
        }
    }
    chosen
}

impl ChoiceRule {
    /// `Greater` when `a` is to be preferred.
    fn compare(self, a: &Hypothesis, b: &Hypothesis) -> Ordering {
        let innovation = a.innovation.cmp(&b.innovation);
        let maximum = a.gain.max_percent.total_cmp(&b.gain.max_percent);
        let minimum = a.gain.min_percent.total_cmp(&b.gain.min_percent);
        let by_measures = match self {
            Self::MostInnovative => innovation.then(maximum).then(minimum),
            Self::HighestMaximum => maximum.then(minimum).then(innovation),
            Self::HighestMinimum => minimum.then(maximum).then(innovation),
        };
        by_measures.then_with(|| b.key.cmp(&a.key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::GainRange;

    fn plan(key: &str, innovation: u8, min: f64, max: f64) -> Hypothesis {
        Hypothesis {
            key: key.into(),
            kernel: "k".into(),
            title: key.into(),
            reason: String::new(),
            source: String::new(),
            rubric: String::new(),
            line: 1,
            gain: GainRange { min_percent: min, max_percent: max },
            innovation,
            author: None,
            present: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// `plans` are (key, innovation, min, max); `expected` are the keys by rule.
    fn check(plans: &[(&str, u8, f64, f64)], expected: &[&str]) {
        let mut plans: Vec<_> =
            plans.iter().map(|(key, innovation, min, max)| plan(key, *innovation, *min, *max)).collect();
        let rules = [ChoiceRule::MostInnovative, ChoiceRule::HighestMaximum, ChoiceRule::HighestMinimum];
        // Neither the order nor its reverse may matter.
        for _ in 0..2 {
            let chosen = choose(&plans);
            let keys: Vec<_> = chosen.iter().map(|chosen| chosen.plan.key.as_str()).collect();
            assert_eq!(keys, expected);
            assert!(chosen.iter().zip(rules).all(|(chosen, rule)| chosen.rule == rule));
            plans.reverse();
        }
    }

    #[test]
    fn the_papers_rule() {
        check(&[], &[]);
        check(&[("a", 1, 0.0, 5.0)], &["a"]);
        check(&[("a", 1, 0.0, 5.0), ("b", 2, 0.0, 4.0)], &["b", "a"]);
        // Each measure has a winner of its own.
        let five = [("new", 90, -10.0, 10.0), ("bold", 20, -20.0, 80.0), ("safe", 5, 8.0, 12.0), ("x", 10, 1.0, 9.0)];
        check(&five, &["new", "bold", "safe"]);
        // One plan wins every measure: the others follow by the measure that is left.
        let one = [("all", 90, 50.0, 90.0), ("max", 10, 0.0, 40.0), ("min", 20, 20.0, 30.0), ("none", 30, 1.0, 2.0)];
        check(&one, &["all", "max", "min"]);
        // Ties: by the other measures, then by the key.
        check(&[("a", 50, 1.0, 10.0), ("b", 50, 1.0, 11.0), ("c", 50, 2.0, 10.0)], &["b", "c", "a"]);
        check(&[("d", 5, 1.0, 2.0), ("a", 5, 1.0, 2.0), ("c", 5, 1.0, 2.0), ("b", 5, 1.0, 2.0)], &["a", "b", "c"]);
        // Losses are predictions too.
        check(&[("a", 1, -30.0, -5.0), ("b", 1, -10.0, -6.0), ("c", 0, -1.0, -0.5)], &["a", "c", "b"]);
    }

    #[test]
    fn a_plan_given_twice_is_tried_once() {
        let plans = [plan("a", 1, 0.0, 5.0), plan("a", 9, 3.0, 50.0), plan("b", 2, 0.0, 4.0)];
        let keys: Vec<_> = choose(&plans).into_iter().map(|chosen| chosen.plan.key).collect();
        assert_eq!(keys, ["b", "a"]);
    }
}
