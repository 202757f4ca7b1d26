//! Events of a run as plain lines, and its end as a page of text.

use std::path::Path;

use lab::{SpeedRatio, Verdict};
use notebook::ExperimentKind;
use scientist::evolution::Ended;
use scientist::evolution::choice::ChoiceRule;
use scientist::evolution::event::{Event, ExperimentResult, Finished, PlannedExperiment, ShapeSpeed};
use scientist::stages::GainRange;
use similar::TextDiff;

use crate::cli::figures;
use crate::devices::CPU;

/// An event as a line or a few, with its line feeds; `None` for one that says nothing new to a reader.
pub(super) fn line(event: &Event) -> Option<String> {
    let text = match event {
        Event::Started { run, resumed, device, provider, seed, .. } => {
            let rule_based = if provider == "catalog" { " (rule-based)" } else { "" };
            let emulated = match device.as_str() {
                CPU => " (CPU emulation, not GPU time)",
                device if lab::forecast::is_device(device) => " by forecast (checked on the CPU, timed on no GPU)",
                _ => "",
            };
            let verb = if *resumed { "goes on" } else { "begins" };
            let about_odds = if lab::forecast::is_device(device) {
                "a percentage behind a forecast ratio: so many of the validated pairs this far apart were ordered right\n"
            } else {
                ""
            };
            format!(
                "run {run} {verb} on {device}{emulated}, experiments from {provider}{rule_based}, seed {seed}\n{about_odds}"
            )
        }
        Event::Candidate { candidate: 0, times, .. } => {
            let times: Vec<String> =
                times.iter().map(|time| format!("{} {}", time.shape, figures::time(time.median_ns))).collect();
            format!("original: {}\n", times.join(" · "))
        }
        Event::Generation {
            generation, of, best, best_ratio, best_low, best_high, spent_usd, spent_tokens, ..
        } => {
            let speed = SpeedRatio { ratio: *best_ratio, low: *best_low, high: *best_high };
            let best = match best {
                0 => "the original is the best so far".to_owned(),
                best => format!("best so far {} (candidate {best}, not confirmed)", figures::speed(&speed)),
            };
            let spent =
                spending(*spent_tokens, *spent_usd).map_or_else(String::new, |spent| format!("; spent {spent}"));
            format!("generation {generation} of {of}: {best}{spent}\n")
        }
        Event::Selected { base, reference, reason, .. } => {
            let reason = reason.strip_prefix("Rule-based: ").unwrap_or(reason);
            format!("  from {base}, beside {reference}: {reason}\n")
        }
        Event::Designed { problem: Some(problem), .. } => format!("  no design: {problem}\n"),
        Event::Designed { plans, .. } if plans.is_empty() => "  nothing is left to try here\n".to_owned(),
        Event::Designed { plans, .. } => plans.iter().filter_map(chosen).collect(),
        // The event `confirmed` says the same with every shape.
        Event::Experiment { kind: ExperimentKind::Confirmation, .. } => return None,
        Event::Experiment { kind: ExperimentKind::Search, report, outcome, draft, of, settings, .. } => {
            let values = match scientist::stages::in_words(settings) {
                nothing if nothing.is_empty() => nothing,
                values => format!(" ({values})"),
            };
            format!("    draft {draft} of {of}{values}: {}: {report}\n", result(outcome))
        }
        Event::Experiment { title, outcome, .. } => format!("  {title}: {}\n", result(outcome)),
        Event::Finding { text, .. } => format!("    learnt: {text}\n"),
        Event::Confirmed {
            candidate,
            confirmed,
            speed: Some(speed),
            verdict: Some(verdict),
            forecast: Some(basis),
            ..
        } => {
            let word = if *confirmed { "holds" } else { "does not hold" };
            format!(
                "candidate {candidate} {word} on fresh inputs and all shapes: {verdict}, {}\n",
                basis.claim(speed.ratio)
            )
        }
        Event::Confirmed { candidate, confirmed, speed, verdict, failure, .. } => {
            let outcome = match (speed, verdict, failure) {
                (Some(speed), Some(verdict), _) => verdict_line(*verdict, speed),
                (_, _, Some(failure)) => failure.to_string(),
                _ => "no result".to_owned(),
            };
            let word = if *confirmed { "confirmed" } else { "not confirmed" };
            format!("candidate {candidate} {word} in a fresh process: {outcome}\n")
        }
        Event::Candidate { .. }
        | Event::Working { .. }
        | Event::Answering { .. }
        | Event::Waiting { .. }
        // The end says the same.
        | Event::Paused { .. }
        | Event::Finished(_) => return None,
    };
    Some(figures::wrapped(&text, if text.starts_with(' ') { 6 } else { 2 }))
}

/// A plan that will be put to the test, and what it was chosen for.
fn chosen(plan: &PlannedExperiment) -> Option<String> {
    let rule = match plan.chosen? {
        ChoiceRule::MostInnovative => "most innovative",
        ChoiceRule::HighestMaximum => "highest maximum",
        ChoiceRule::HighestMinimum => "highest minimum",
    };
    let GainRange { min_percent, max_percent } = plan.gain;
    Some(format!("  to try: {} (expected {min_percent:+.0}% to {max_percent:+.0}%; {rule})\n", plan.title))
}

fn result(outcome: &ExperimentResult) -> String {
    match outcome {
        ExperimentResult::Measured { speed, verdict } => verdict_line(*verdict, speed),
        ExperimentResult::Forecast { speed, verdict, forecast } => {
            format!("{verdict}, {}", forecast.short_claim(speed.ratio))
        }
        ExperimentResult::Failed { failure } => failure.to_string(),
        ExperimentResult::Duplicate { of } => format!("says the same as {of}; not tried again"),
        ExperimentResult::NotWritten { reason } => format!("not written: {reason}"),
    }
}

fn verdict_line(verdict: Verdict, speed: &SpeedRatio) -> String {
    format!("{verdict}, {}", figures::speed(speed))
}

/// The end: what was found, on which shapes, and the diff that did it.
pub(super) fn ending(ended: &Ended, original: &lab::Source, best: Option<&Path>, cured: &str) -> String {
    let finished = &ended.finished;
    let mut out = format!("\n{}", figures::wrapped(&headline(finished), 0));
    if finished.shapes.len() > 1 {
        let is_forecast = finished.forecast.is_some();
        let rows: Vec<Vec<String>> = finished.shapes.iter().map(|shape| shape_row(shape, is_forecast)).collect();
        out.push_str(&figures::table(&rows));
    }
    out.push_str(&format!(
        "{}, {} ({} failed{}), {} in all\n",
        figures::counted(finished.generations, "generation"),
        figures::counted(finished.experiments, "experiment"),
        finished.failed,
        match finished.duplicates {
            0 => String::new(),
            1 => ", 1 draft repeated an earlier one".to_owned(),
            more => format!(", {more} drafts repeated earlier ones"),
        },
        figures::time(finished.spent_s * 1e9)
    ));
    if let Some(spent) = spending(finished.spent_tokens, finished.spent_usd) {
        out.push_str(&format!("spent on models: {spent}\n"));
    }
    if let Some(text) = &ended.best_text {
        let name = original.path.file_name().map_or_else(|| "file".into(), |name| name.to_string_lossy());
        let diff = TextDiff::from_lines(original.text.as_ref(), text.as_ref());
        out.push('\n');
        out.push_str(
            &diff.unified_diff().context_radius(2).header(&format!("a/{name}"), &format!("b/{name}")).to_string(),
        );
    }
    if !cured.is_empty() {
        out.push('\n');
        out.push_str(cured);
    }
    match (best, finished.confirmed) {
        (Some(path), true) => out.push_str(&format!("\nThe best version is in {}\n", path.display())),
        (Some(path), false) => out.push_str(&format!("\n{} holds the original\n", path.display())),
        (None, true) => {
            out.push_str("\nTo keep the best version in a file, pass --out FILE; the notebook has it too (report)\n")
        }
        (None, false) => {}
    }
    out
}

/// What models have cost; `None` where none was asked.
fn spending(tokens: u64, usd: f64) -> Option<String> {
    match (tokens, usd) {
        (0, _) => None,
        (tokens, 0.0) => Some(format!("{tokens} tokens")),
        (tokens, usd) => Some(format!("{tokens} tokens, {usd:.2} US dollars")),
    }
}

fn headline(finished: &Finished) -> String {
    let speed = SpeedRatio { ratio: finished.speedup, low: finished.speedup_low, high: finished.speedup_high };
    match (finished.confirmed, &finished.forecast) {
        (true, Some(basis)) => format!(
            "A forecast, not a measurement: {} against the original. {}",
            basis.claim(speed.ratio),
            finished.reason
        ),
        (true, None) => format!("Confirmed: {} against the original. {}", figures::speed(&speed), finished.reason),
        (false, _) => finished.reason.clone(),
    }
}

fn shape_row(shape: &ShapeSpeed, is_forecast: bool) -> Vec<String> {
    let speed = if is_forecast { format!("forecast {:.2}x", shape.speed.ratio) } else { figures::speed(&shape.speed) };
    let held_out = if shape.held_out { "held out" } else { "" };
    vec![shape.shape.clone(), speed, shape.verdict.to_string(), held_out.to_owned()]
}

#[cfg(test)]
mod tests {
    use scientist::stages::Setting;

    use super::*;

    #[test]
    fn a_draft_of_a_search_is_told_with_its_values() {
        let setting = |name: &str, value| Setting { name: name.into(), value };
        let event = |settings| Event::Experiment {
            generation: 1,
            kind: ExperimentKind::Search,
            key: "tile-size:gemm".into(),
            title: "Try other tiles".into(),
            draft: 2,
            of: 5,
            report: "Set it.".into(),
            settings,
            outcome: ExperimentResult::NotWritten { reason: "no room".into() },
            took_s: 0.1,
        };
        let told = line(&event(vec![setting("TILE", 32), setting("UNROLL", 4)])).unwrap();
        assert_eq!(told, "    draft 2 of 5 (TILE 32, UNROLL 4): not written: no room: Set it.\n");
        let told = line(&event(Vec::new())).unwrap();
        assert_eq!(told, "    draft 2 of 5: not written: no room: Set it.\n");
    }

    #[test]
    fn the_best_so_far_is_told_with_its_interval() {
        let event = Event::Generation {
            generation: 2,
            of: 3,
            best: 4,
            best_ratio: 1.3,
            best_low: 1.21,
            best_high: 1.42,
            spent_s: 1.0,
            spent_usd: 0.0,
            spent_tokens: 0,
            remaining_s: None,
            estimate_s: None,
        };
        let expected = "generation 2 of 3: best so far 1.30x [1.21, 1.42] (candidate 4, not confirmed)\n";
        assert_eq!(line(&event).unwrap(), expected);
    }
}
