//! What becomes of a job's result: messages with choices, diagnostics, proposals, and a look at the notebook again.

use std::sync::Arc;

use lab::forecast::Basis;
use lab::sanitize::Fault;
use lab::{Failure, SpeedRatio, Verdict};
use scientist::evolution::Ended;
use scientist::stages::Hypothesis;
use scientist::trial;

use super::commands::{Command, Target};
use super::diagnostics::{of_failure, of_faults};
use super::jobs::Job;
use super::outbox::Tone;
use super::outcome::Outcome;
use super::proposals::Proposal;
use super::prospects::{self, Prospect};
use super::session::Session;
use super::suggestions::Tested;
use crate::cli::figures;
use crate::devices;
use crate::forecasts::cured::Cured;
use crate::forecasts::outlook::Outlook;

/// Hypotheses that are listed in a message.
const LISTED: usize = 5;

impl Session {
    pub(super) fn job_ended(self: &Arc<Self>, id: u64, outcome: Outcome) {
        let (job, uris) = {
            let mut state = self.state();
            let uris = state.shown_on(id);
            let Some(job) = state.jobs.end(id) else { return };
            (job, uris)
        };
        let name = job.work.name();
        self.benchmark_was_used(&job.path, &outcome);
        match outcome {
            Outcome::Timed(report) => {
                tracing::info!("{name}: {} times on {}", report.kernels.len(), report.device);
                self.publish_of(&job, Vec::new());
            }
            Outcome::Tested(hypothesis, tested) => self.tested(&job, &hypothesis, &tested),
            Outcome::Evolved(base, ended, cured) => self.evolved(&job, base, &ended, &cured),
            Outcome::Checked(faults, failure) => self.checked(&job, &faults, failure.as_ref()),
            Outcome::Suggested(hypotheses, problem, by) => self.suggested(&job, hypotheses, problem.as_deref(), &by),
            Outcome::Failed(failure) => {
                self.show_failure(&job, &failure, None);
                self.outbox.message(Tone::Error, format!("{name}: {failure}"));
            }
            Outcome::Error(why) => self.outbox.message(Tone::Error, format!("{name}: {why}")),
            Outcome::Cancelled => tracing::info!("{name} was stopped"),
        }
        let (uri, path) = (job.target.uri.clone(), job.path.clone());
        // The display of its progress ends here, after the result is on its way.
        drop(job);
        if self.state().documents.get(&uri).is_some() {
            self.read_history(&path);
        }
        uris.iter().for_each(|uri| self.refresh_where_changed(uri));
        // What waited while times were taken.
        self.forecast_all();
    }

    fn tested(self: &Arc<Self>, job: &Job, hypothesis: &Hypothesis, tested: &trial::Tested) {
        let title = &hypothesis.title;
        let outcome = match &tested.outcome {
            Ok(comparison) => {
                let proposal = Proposal {
                    uri: job.target.uri.clone(),
                    path: job.path.clone(),
                    base: Arc::clone(&job.text),
                    text: Arc::clone(&tested.text),
                    title: title.clone(),
                };
                let proposal = self.state().proposals.keep(proposal);
                let (speed, verdict) = (comparison.speed, comparison.verdict);
                let (forecast, device) = (comparison.forecast.clone(), comparison.device.clone());
                let mut text = format!("{title}: {verdict}, {}", speed_in_words(&speed, forecast.as_ref()));
                if forecast.is_none() {
                    text.push_str(&format!(" on {}", devices::shown(&device)));
                }
                match verdict {
                    Verdict::Faster => self.offer_version(job, text, proposal, None),
                    _ => self.outbox.message(Tone::Info, text),
                }
                Tested::Measured { speed, verdict, device, forecast, proposal }
            }
            Err(failure) => {
                self.show_failure(job, failure, Some(title));
                self.outbox.message(Tone::Warning, format!("{title}: {failure}"));
                Tested::Failed(failure.to_string())
            }
        };
        if let Some(fingerprint) = &job.fingerprint {
            let mut state = self.state();
            Arc::make_mut(&mut state.suggestions).learn_test(fingerprint.clone(), hypothesis.key.clone(), outcome);
        }
    }

    fn evolved(self: &Arc<Self>, job: &Job, base: Arc<str>, ended: &Ended, cured: &[Cured]) {
        let finished = &ended.finished;
        let (Some(text), true) = (&ended.best_text, finished.confirmed) else {
            // A run that its budget ended can go on with more: from the list of runs and the panel.
            self.outbox.message(Tone::Info, format!("Evolve: {}", finished.reason));
            return;
        };
        let proposal = Proposal {
            uri: job.target.uri.clone(),
            path: job.path.clone(),
            base,
            text: Arc::clone(text),
            title: format!("Best version, {} vs original", brief_speed(finished.speedup, finished.forecast.as_ref())),
        };
        let proposal = self.state().proposals.keep(proposal);
        let speed = match &finished.forecast {
            // The reason says it in full.
            Some(basis) => basis.short_claim(finished.speedup),
            None => {
                let (ratio, low, high) = (finished.speedup, finished.speedup_low, finished.speedup_high);
                figures::speed(&SpeedRatio { ratio, low, high })
            }
        };
        let cured = cured_in_words(cured);
        let text = format!("Evolve: {speed} vs original, confirmed. {}{cured}", finished.reason);
        self.offer_version(job, text, proposal, finished.run);
    }

    /// A message with Apply and Show diff; looking at the diff asks once more.
    pub(super) fn ask_about(self: &Arc<Self>, text: String, proposal: u64) {
        let session = Arc::clone(self);
        let again = text.clone();
        self.outbox.ask(Tone::Info, text, vec!["Apply".into(), "Show diff".into()], move |taken| match taken {
            Some(0) => drop(session.execute(Command::Apply { proposal })),
            Some(_) => {
                session.execute(Command::ShowDiff { proposal });
                session.ask_about(again, proposal);
            }
            None => {}
        });
    }

    fn checked(&self, job: &Job, faults: &[Fault], failure: Option<&Failure>) {
        let found = self.located(&job.target.uri, job.target.kernel.as_deref(), &job.text, |places, kernel| {
            let mut found = of_faults(faults, places, kernel.clone());
            if let (Some(failure), true) = (failure, faults.is_empty()) {
                found.extend(of_failure(failure, places, kernel, None));
            }
            found
        });
        let text = match (faults.len(), failure) {
            (0, None) => "Check: nothing found".to_owned(),
            (0, Some(failure)) => format!("Check: {failure}"),
            (1, _) => format!("Check: {}", faults[0].message),
            (count, _) => format!("Check: {count} faults found"),
        };
        let tone = if faults.is_empty() && failure.is_none() { Tone::Info } else { Tone::Warning };
        self.publish_of(job, found);
        self.outbox.message(tone, text);
    }

    fn suggested(
        self: &Arc<Self>,
        job: &Job,
        hypotheses: Vec<(Hypothesis, Option<Outlook>)>,
        problem: Option<&str>,
        by: &str,
    ) {
        let mut all = Vec::new();
        for (hypothesis, outlook) in hypotheses {
            if let (Some(fingerprint), Some(outlook)) = (&job.fingerprint, outlook) {
                let mut state = self.state();
                let suggestions = Arc::make_mut(&mut state.suggestions);
                suggestions.learn_outlook(fingerprint.clone(), hypothesis.key.clone(), outlook);
            }
            all.push(hypothesis);
        }
        if let (Some(fingerprint), Some(kernel)) = (&job.fingerprint, &job.target.kernel) {
            let known = self.state().suggestions.of(fingerprint).cloned();
            let is_new = |known: &&Hypothesis| all.iter().all(|hypothesis| hypothesis.key != known.key);
            // What a model thinks of comes before what was known, and takes nothing away from it.
            let others = known.iter().flat_map(|known| known.iter()).filter(is_new);
            let found = all.iter().filter(|hypothesis| hypothesis.kernel == *kernel).chain(others).cloned().collect();
            self.were_suggested(&job.target.uri, [(fingerprint.clone(), found)].into());
        }
        if let Some(why) = problem {
            tracing::info!("Suggest: in the catalog's order, since there is no forecast: {why}");
        }
        if all.is_empty() {
            self.outbox.message(Tone::Info, format!("Suggest: nothing is found to try here ({by})"));
            return;
        }
        self.offer_tests(job, &all, by);
    }

    /// Lists the best hypotheses and offers to test one.
    fn offer_tests(self: &Arc<Self>, job: &Job, all: &[Hypothesis], by: &str) {
        let prospects: Vec<Prospect> = {
            let state = self.state();
            let view = state.view(&job.target.uri);
            let kernel = view.as_ref().zip(job.target.kernel.as_ref()).and_then(|(view, name)| view.kernel(name));
            let known = view.as_ref().zip(kernel).map(|(view, kernel)| prospects::of(view, kernel)).unwrap_or_default();
            if known.is_empty() { all.iter().map(Prospect::unforeseen).collect() } else { known }
        };
        let listed: Vec<&Prospect> = prospects.iter().filter(|prospect| !prospect.is_hopeless).take(LISTED).collect();
        let line = |prospect: &&Prospect| {
            let Hypothesis { title, innovation, .. } = &prospect.hypothesis;
            format!("Test: {title} ({}, innovation {innovation}/100)", prospect.promise)
        };
        let choices = listed.iter().map(line).collect();
        let key = |prospect: &&Prospect| (prospect.hypothesis.key.clone(), prospect.hypothesis.kernel.clone());
        let keys: Vec<(String, String)> = listed.iter().map(key).collect();
        if listed.is_empty() {
            let text = format!("Suggest: {} hypotheses ({by}), and none gains anything by forecast", all.len());
            self.outbox.message(Tone::Info, text);
            return;
        }
        let (session, uri) = (Arc::clone(self), job.target.uri.clone());
        let hopeless = prospects.iter().filter(|prospect| prospect.is_hopeless).count();
        let text = offer_in_words(prospects.len() - hopeless, hopeless, by);
        self.outbox.ask(Tone::Info, text, choices, move |taken| {
            if let Some((key, kernel)) = taken.and_then(|taken| keys.get(taken)).cloned() {
                session.execute(Command::Test { target: Target { uri, kernel: Some(kernel) }, key });
            }
        });
    }

    fn show_failure(&self, job: &Job, failure: &Failure, experiment: Option<&str>) {
        let (uri, kernel) = (&job.target.uri, job.target.kernel.as_deref());
        let found =
            self.located(uri, kernel, &job.text, |places, kernel| of_failure(failure, places, kernel, experiment));
        self.publish_of(job, found);
    }
}

/// What Suggest found: how many are offered, and how many are not since their forecast gains nothing.
fn offer_in_words(offered: usize, hopeless: usize, by: &str) -> String {
    let hypotheses = if offered == 1 { "hypothesis" } else { "hypotheses" };
    let rest = match hopeless {
        0 => String::new(),
        1 => " One more gains nothing by forecast.".to_owned(),
        more => format!(" {more} more gain nothing by forecast."),
    };
    format!("{offered} {hypotheses} ({by}), best first. All are in the code actions of the kernel.{rest}")
}

/// `1.82x [1.80, 1.85]`; of forecast times what the claim is worth.
fn speed_in_words(speed: &SpeedRatio, forecast: Option<&Basis>) -> String {
    forecast.map_or_else(|| figures::speed(speed), |basis| basis.claim(speed.ratio))
}

/// ` Cured: line 12 (32-way bank conflicts) 180 us -> 27.0 us.`; nothing where nothing was.
fn cured_in_words(cured: &[Cured]) -> String {
    let one = |cure: &Cured| {
        let symptom = if cure.symptom.is_empty() { String::new() } else { format!(" ({})", cure.symptom) };
        let time = |us: f64| figures::time(us * 1e3);
        format!("line {}{symptom} {} -> {}", cure.line, time(cure.before_us), time(cure.after_us))
    };
    let all: Vec<String> = cured.iter().map(one).collect();
    if all.is_empty() { String::new() } else { format!(" Cured: {}.", all.join("; ")) }
}

/// `1.82x`, `forecast 1.82x (97%)`.
pub(super) fn brief_speed(ratio: f64, forecast: Option<&Basis>) -> String {
    forecast.map_or_else(|| format!("{ratio:.2}x"), |basis| basis.short_claim(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_offered_counts() {
        for (offered, hopeless, words) in [
            (3, 0, "3 hypotheses (catalog), best first. All are in the code actions of the kernel."),
            (
                1,
                1,
                "1 hypothesis (catalog), best first. All are in the code actions of the kernel. One more gains nothing by forecast.",
            ),
            (
                2,
                4,
                "2 hypotheses (catalog), best first. All are in the code actions of the kernel. 4 more gain nothing by forecast.",
            ),
        ] {
            assert_eq!(offer_in_words(offered, hopeless, "catalog"), words);
        }
    }

    #[test]
    fn cured_lines_are_told_with_their_times() {
        let cure = |line, symptom: &str| Cured {
            kernel: "k".into(),
            line,
            text: String::new(),
            symptom: symptom.into(),
            left: String::new(),
            before_us: 180.0,
            after_us: 27.0,
            saved_share: 0.5,
        };
        assert_eq!(cured_in_words(&[]), "");
        assert_eq!(
            cured_in_words(&[cure(12, "32-way bank conflicts"), cure(4, "")]),
            " Cured: line 12 (32-way bank conflicts) 180 us -> 27.0 us; line 4 180 us -> 27.0 us."
        );
    }
}
