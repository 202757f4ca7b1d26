//! One generation: select, design, choose, write, refuse what was tried before, measure.

use std::sync::Arc;
use std::time::Duration;

use lab::SpeedRatio;
use lab::forecast::KernelForecast;
use notebook::{ExperimentKind, ExperimentOutcome};

use super::builds::Builds;
use super::choice::{Chosen, choose};
use super::event::{Event, PlannedExperiment};
use super::identity::Identity;
use super::session::{About, Session, Trial, runs};
use crate::evaluation::Evaluator;
use crate::run::Stop;
use crate::stages::{
    CandidateId, Design, DesignBrief, Draft, Finding, Hypothesis, Member, PastPlan, Selection, Setting, Tried,
    WriteBrief, in_words,
};

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

/// A plan with the drafts that were written for it and are new.
pub(crate) struct Written {
    pub(crate) index: usize,
    pub(crate) plan: Hypothesis,
    pub(crate) drafts: Vec<NewDraft>,
    /// Drafts of a search that were refused, with their numbers.
    pub(crate) refused: Vec<(usize, Tried)>,
    /// Number of drafts before those that were tried before were taken out.
    pub(crate) of: usize,
}

/// A draft that says something new.
#[derive(Clone)]
pub(crate) struct NewDraft {
    pub(crate) number: usize,
    pub(crate) text: Arc<str>,
    pub(crate) report: String,
    pub(crate) settings: Vec<Setting>,
    pub(crate) identity: Identity,
    /// Its place among the builds of the generation.
    pub(crate) build: usize,
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
        let written = self.write_all(generation, base, selection.reference, chosen)?;
        self.try_all(generation, base, selection.reference, &written)?;
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
        let others: Vec<CandidateId> = self.ranked().iter().map(|member| member.id).collect();
        let bases = std::iter::once(selection.base).chain(others.into_iter().filter(|id| *id != selection.base));
        for base in bases {
            if self.exhausted.contains(&base) {
                continue;
            }
            let tried: Vec<String> =
                self.tried.iter().filter(|(id, _)| *id == base).map(|(_, plan)| plan.key.clone()).collect();
            let (design, fresh) = self.ask(&format!("g{generation}/b{base}/design"), |session| {
                let forecast = session.account_of(base);
                let findings: Vec<Finding> = session.recalled.iter().chain(&session.findings).cloned().collect();
                let kernel = session.record.run().kernel.clone();
                let past = session.past();
                let brief = DesignBrief {
                    base: &session.population.members[base as usize],
                    population: &session.population,
                    findings: &findings,
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

    /// The newest plans that were put to the test, with what came of them.
    fn past(&self) -> Vec<PastPlan> {
        let outcome = |base: CandidateId, key: &String| {
            let is_its = |member: &&Member| member.parent == Some(base) && member.steps.last() == Some(key);
            self.population.members.iter().find(is_its).map(|member| member.summary.clone())
        };
        let newest = self.tried.len().saturating_sub(PAST);
        let tried = self.tried[newest..].iter();
        tried
            .map(|(base, plan)| PastPlan {
                base: *base,
                plan: plan.clone(),
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

    /// Stage 3, for each chosen plan.
    fn write_all(
        &mut self,
        generation: u32,
        base: CandidateId,
        reference: CandidateId,
        chosen: Vec<Chosen>,
    ) -> Result<Vec<Written>, Stop> {
        let mut all = Vec::new();
        // The base is the first build.
        let mut builds = 1;
        for (index, Chosen { plan, .. }) in chosen.into_iter().enumerate() {
            let (answer, _) = self.ask(&format!("g{generation}/p{index}/write"), |session| {
                session.working(generation, format!("writing: {}", plan.title));
                let members = &session.population.members;
                let (base, reference) = (&members[base as usize], &members[reference as usize]);
                let brief = WriteBrief { base, reference, plan: &plan };
                let cancel = session.watch.cancel().clone();
                session.stages.writer.write(&brief, &cancel)
            })?;
            self.tried.push((base, plan.clone()));
            self.counts.experiments += 1;
            let drafts = match answer {
                Ok(drafts) if !drafts.is_empty() => drafts,
                Ok(_) => {
                    self.not_written(generation, base, reference, index, &plan, "the writer returned no draft".into())?;
                    continue;
                }
                Err(why) => {
                    self.not_written(generation, base, reference, index, &plan, why)?;
                    continue;
                }
            };
            if drafts.len() > self.settings.drafts {
                let (taken, of) = (self.settings.drafts, drafts.len());
                self.working(generation, format!("taking the first {taken} of {of} drafts of: {}", plan.title));
            }
            let of = drafts.len().min(self.settings.drafts);
            let mut written = Written { index, plan, drafts: Vec::new(), refused: Vec::new(), of };
            self.take_new(generation, base, reference, &mut written, drafts, &mut builds)?;
            if written.drafts.is_empty() {
                self.counts.failed += 1;
            } else {
                all.push(written);
            }
        }
        Ok(all)
    }

    fn not_written(
        &mut self,
        generation: u32,
        base: CandidateId,
        reference: CandidateId,
        index: usize,
        plan: &Hypothesis,
        why: String,
    ) -> Result<(), Stop> {
        let trial = Trial {
            step: format!("g{generation}/p{index}/d0/r0"),
            generation,
            kind: ExperimentKind::Full,
            base,
            reference,
            about: About::Plan(plan),
            code: None,
            report: "",
            draft: (1, 1),
            settings: &[],
        };
        self.experiment(&trial, Duration::ZERO, |_| Ok(ExperimentOutcome::NotWritten(why)))?;
        self.counts.failed += 1;
        Ok(())
    }

    /// Refuses the drafts that say the same as something tried before, and keeps the others.
    fn take_new(
        &mut self,
        generation: u32,
        base: CandidateId,
        reference: CandidateId,
        written: &mut Written,
        drafts: Vec<Draft>,
        builds: &mut usize,
    ) -> Result<(), Stop> {
        for (number, draft) in drafts.into_iter().take(self.settings.drafts).enumerate() {
            let identity = (self.identify)(&draft.text);
            let Some(of) = self.known.get(&identity.whole).cloned() else {
                let values = match in_words(&draft.settings) {
                    nothing if nothing.is_empty() => nothing,
                    values => format!(" ({values})"),
                };
                let name =
                    format!("draft {}{values} of \"{}\" in generation {generation}", number + 1, written.plan.title);
                self.known.insert(identity.whole.clone(), name);
                let text = Arc::from(draft.text.as_str());
                let Draft { report, settings, .. } = draft;
                written.drafts.push(NewDraft { number, text, report, settings, identity, build: *builds });
                *builds += 1;
                continue;
            };
            let trial = Trial {
                step: format!("g{generation}/p{}/d{number}/r0", written.index),
                generation,
                kind: ExperimentKind::Full,
                base,
                reference,
                about: About::Plan(&written.plan),
                code: Some((&draft.text, &identity)),
                report: &draft.report,
                draft: (number + 1, written.of),
                settings: &draft.settings,
            };
            let reason = Some(format!("says the same as {of}"));
            self.experiment(&trial, Duration::ZERO, |_| Ok(ExperimentOutcome::Duplicate(of)))?;
            if !draft.settings.is_empty() {
                written.refused.push((number, Tried { settings: draft.settings, speed: None, reason }));
            }
            self.counts.duplicates += 1;
        }
        Ok(())
    }

    /// Builds what is not measured yet, and measures plan after plan.
    fn try_all(
        &mut self,
        generation: u32,
        base: CandidateId,
        reference: CandidateId,
        written: &[Written],
    ) -> Result<(), Stop> {
        let drafts = || written.iter().flat_map(|written| written.drafts.iter().map(move |draft| (written, draft)));
        let texts =
            std::iter::once(Arc::clone(&self.member(base).text)).chain(drafts().map(|(_, d)| Arc::clone(&d.text)));
        let builds = Builds::new(self.evaluator, self.watch.cancel(), texts);
        let missing = |step: String| !self.record.has_experiment(&step);
        let mut wanted: Vec<usize> = drafts()
            .filter(|(written, draft)| missing(format!("g{generation}/p{}/d{}/r0", written.index, draft.number)))
            .map(|(_, draft)| draft.build)
            .collect();
        if !wanted.is_empty() {
            self.may_go_on(Duration::ZERO)?;
            self.working(generation, format!("building {} drafts", wanted.len()));
            wanted.insert(0, 0);
        }
        builds.ahead_of(&wanted, self.settings.build_threads, || {
            written.iter().try_for_each(|written| self.try_plan(generation, base, reference, written, &builds))
        })
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
