//! One generation: select, design, choose; then its experiments ([`super::trials`]).

use std::sync::Arc;

use lab::SpeedRatio;
use lab::forecast::KernelForecast;

use super::choice::{Chosen, choose};
use super::event::{Event, PlannedExperiment};
use super::session::{Session, runs};
use super::trials::Place;
use crate::evaluation::Evaluator;
use crate::run::Stop;
use crate::stages::{CandidateId, Design, DesignBrief, Hypothesis, Member, PastPlan, Selection};

/// Plans of the past that a designer is told of at most.
const PAST: usize = 200;

/// What a generation came to.
pub(crate) enum Generation {
    /// Experiments were made.
    Tried,
    /// The designer's answer could not be used.
    Unusable(String),
    /// There is no version on which anything is left to try.
    NothingLeft,
}

/// A design with the version it is for.
struct Designed {
    base: CandidateId,
    design: Result<Design, String>,
    fresh: bool,
}

impl<E: Evaluator> Session<'_, '_, E> {
    pub(crate) fn generation(&mut self, generation: u32) -> Result<Generation, Stop> {
        let began = self.account.spent().wall;
        let selection = self.select(generation)?;
        let Some(designed) = self.design(generation, &selection)? else { return Ok(Generation::NothingLeft) };
        let base = designed.base;
        let design = match &designed.design {
            Ok(design) => design.clone(),
            Err(_) => Design::default(),
        };
        let chosen = choose(&design.plans);
        if designed.fresh {
            self.tell_design(generation, base, &design, &chosen, designed.design.as_ref().err().cloned());
        }
        if let Err(problem) = designed.design {
            self.counts.generations += 1;
            return Ok(Generation::Unusable(problem));
        }
        self.try_all(Place { generation, base, reference: selection.reference }, chosen)?;
        self.counts.generations += 1;
        if self.announced == generation {
            let took = self.account.spent().wall.saturating_sub(began);
            self.account.note_generation(took);
        }
        Ok(Generation::Tried)
    }

    fn announce(&mut self, generation: u32) {
        self.announced = generation;
        let (best, SpeedRatio { ratio: best_ratio, low: best_low, high: best_high }) = self.best();
        let of = self.account.budget.generations;
        let spent = self.account.spent();
        let estimate = self.account.estimate(of + 1 - generation, self.settings.ending());
        self.emit(Event::Generation {
            generation,
            of,
            best,
            best_ratio,
            best_low,
            best_high,
            spent_s: spent.wall.as_secs_f64(),
            spent_usd: spent.usd,
            spent_tokens: spent.tokens,
            remaining_s: self.account.remaining().map(|remaining| remaining.as_secs_f64()),
            estimate_s: estimate.map(|estimate| estimate.as_secs_f64()),
        });
    }

    /// Stage 1. A choice that cannot be used is replaced by the fastest version, and said to be.
    fn select(&mut self, generation: u32) -> Result<Selection, Stop> {
        let (answer, fresh) = self.ask(&format!("g{generation}/select"), |session| {
            session.announce(generation);
            let cancel = session.watch.cancel().clone();
            let kernel = session.record.run().kernel.clone();
            session.stages.selector.select(&session.population, kernel.as_deref(), &cancel)
        })?;
        let usable = |id: CandidateId| self.population.members.get(id as usize).is_some_and(runs);
        let fastest = self.best().0;
        let selection = match answer {
            Ok(choice) if usable(choice.base) && usable(choice.reference) => choice,
            Ok(choice) if usable(choice.base) => Selection { reference: choice.base, ..choice },
            Ok(choice) => {
                let reason =
                    format!("the selector chose candidate {}, which has no time; the fastest instead", choice.base);
                Selection { base: fastest, reference: fastest, reason }
            }
            Err(why) => {
                let reason = format!("the selector's answer cannot be used ({why}); the fastest instead");
                Selection { base: fastest, reference: fastest, reason }
            }
        };
        if fresh {
            let Selection { base, reference, reason } = selection.clone();
            self.emit(Event::Selected { generation, base, reference, reason });
        }
        Ok(selection)
    }

    /// Stage 2, on the selected base or, where nothing is left to try on that, on the next fastest version.
    fn design(&mut self, generation: u32, selection: &Selection) -> Result<Option<Designed>, Stop> {
        let mut next = Some(selection.base);
        while let Some(base) = next.take().or_else(|| self.next_base(selection.base)) {
            if self.exhausted.contains(&base) {
                continue;
            }
            let tried: Vec<String> =
                self.tried.iter().filter(|(id, _)| *id == base).map(|(_, plan)| plan.key.clone()).collect();
            let (design, fresh) = self.ask(&format!("g{generation}/b{base}/design"), |session| {
                let forecast = session.account_of(base);
                let kernel = session.record.run().kernel.clone();
                let past = session.past();
                let brief = DesignBrief {
                    base: &session.population.members[base as usize],
                    population: &session.population,
                    findings: &session.findings,
                    tried: &tried,
                    past: &past,
                    kernel: kernel.as_deref(),
                    forecast: &forecast,
                };
                let cancel = session.watch.cancel().clone();
                session.stages.designer.design(&brief, &cancel).map(|design| tidied(design, &tried))
            })?;
            if design.as_ref().is_ok_and(|design| design.plans.is_empty()) {
                self.exhausted.insert(base);
                continue;
            }
            return Ok(Some(Designed { base, design, fresh }));
        }
        Ok(None)
    }

    /// The fastest version beside the selected one on which something may be left to try.
    fn next_base(&self, selected: CandidateId) -> Option<CandidateId> {
        let mut others = self.ranked().into_iter().map(|member| member.id);
        others.find(|id| *id != selected && !self.exhausted.contains(id))
    }

    /// The newest plans that were put to the test, with what came of them.
    fn past(&self) -> Vec<PastPlan> {
        let outcome = |base: CandidateId, key: &String| {
            let is_its = |member: &&Member| member.parent == Some(base) && member.steps.last() == Some(key);
            // The newest plans have the newest versions.
            self.population.members.iter().rev().find(is_its).map(|member| member.summary.clone())
        };
        let newest = self.tried.len().saturating_sub(PAST);
        let tried = self.tried[newest..].iter();
        tried
            .map(|(base, plan)| PastPlan {
                base: *base,
                plan: Arc::clone(plan),
                outcome: outcome(*base, &plan.key)
                    .unwrap_or_else(|| "could not be written, or said the same as an earlier version".to_owned()),
            })
            .collect()
    }

    /// What a version's kernels spend their time on, where the device is forecast for.
    fn account_of(&self, base: CandidateId) -> Vec<KernelForecast> {
        if !self.evaluator.forecasts() {
            return Vec::new();
        }
        // It was built before; a build that cannot be had again only leaves the stage without an account.
        let build = self.evaluator.build(&self.member(base).text, self.watch.cancel());
        build.map(|build| self.evaluator.account(&build)).unwrap_or_default()
    }

    fn tell_design(
        &mut self,
        generation: u32,
        base: CandidateId,
        design: &Design,
        chosen: &[Chosen],
        problem: Option<String>,
    ) {
        let plans = design.plans.iter().map(|plan| PlannedExperiment {
            key: plan.key.clone(),
            kernel: plan.kernel.clone(),
            title: plan.title.clone(),
            gain: plan.gain,
            innovation: plan.innovation,
            chosen: chosen.iter().find(|chosen| chosen.plan.key == plan.key).map(|chosen| chosen.rule),
        });
        let event =
            Event::Designed { generation, base, avenues: design.avenues.clone(), plans: plans.collect(), problem };
        self.emit(event);
    }
}

/// A design as the loop can use it: what was tried and what makes no sense left out, the limits of the paper kept.
fn tidied(design: Design, tried: &[String]) -> Design {
    let mut plans: Vec<Hypothesis> = Vec::new();
    for mut plan in design.plans {
        let gain = &mut plan.gain;
        if !(gain.min_percent.is_finite() && gain.max_percent.is_finite()) {
            continue;
        }
        if gain.min_percent > gain.max_percent {
            std::mem::swap(&mut gain.min_percent, &mut gain.max_percent);
        }
        plan.innovation = plan.innovation.min(100);
        if !tried.contains(&plan.key) && plans.iter().all(|other| other.key != plan.key) {
            plans.push(plan);
        }
    }
    plans.truncate(5);
    Design { avenues: design.avenues.into_iter().take(10).collect(), plans }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::GainRange;

    fn plan(key: &str, min_percent: f64, max_percent: f64, innovation: u8) -> Hypothesis {
        Hypothesis {
            key: key.into(),
            kernel: "k".into(),
            title: String::new(),
            reason: String::new(),
            source: String::new(),
            rubric: String::new(),
            line: 1,
            gain: GainRange { min_percent, max_percent },
            innovation,
            author: None,
            present: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// What is left of plans (key, min, max, innovation), of which `tried` was tried.
    fn check(plans: &[(&str, f64, f64, u8)], expected: &[(&str, f64, f64, u8)]) {
        let design = Design {
            avenues: (0..12).map(|n| n.to_string()).collect(),
            plans: plans.iter().map(|(key, min, max, innovation)| plan(key, *min, *max, *innovation)).collect(),
        };
        let left = tidied(design, &["tried".to_owned()]);
        let found: Vec<_> = left
            .plans
            .iter()
            .map(|plan| (plan.key.as_str(), plan.gain.min_percent, plan.gain.max_percent, plan.innovation))
            .collect();
        assert_eq!(found, expected);
        assert_eq!(left.avenues.len(), 10);
    }

    #[test]
    fn a_design_is_made_usable() {
        check(&[], &[]);
        check(&[("a", 1.0, 2.0, 255)], &[("a", 1.0, 2.0, 100)]);
        check(&[("a", 9.0, -2.0, 5)], &[("a", -2.0, 9.0, 5)]);
        check(&[("nan", f64::NAN, 2.0, 5), ("inf", 1.0, f64::INFINITY, 5), ("a", 1.0, 2.0, 5)], &[("a", 1.0, 2.0, 5)]);
        check(&[("tried", 1.0, 2.0, 5), ("a", 1.0, 2.0, 5), ("a", 3.0, 4.0, 6)], &[("a", 1.0, 2.0, 5)]);
        let six = ["a", "b", "c", "d", "e", "f"].map(|key| (key, 1.0, 2.0, 5));
        check(&six, &six[..5]);
    }
}
