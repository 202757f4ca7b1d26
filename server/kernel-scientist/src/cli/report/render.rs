//! A report as one HTML file that needs nothing else: no script, no network, no font.
//!
//! Everything from the notebook goes through minijinja's HTML escaping, also inside the drawings: a kernel's text may
//! hold `<script>`. The page's own policy forbids scripts and loading as well.

use minijinja::{AutoEscape, Environment, HtmlEscape, Value};
use notebook::Calibration;
use serde::Serialize;

use super::charts::{self, Predictions, TimingPanel};
use super::data::{
    CandidateFacts, Confirmation, ExperimentFacts, FindingFacts, Outcome, Predictor, ReportData, RunFacts, Standing,
};
use super::diffs::{self, Diff};
use super::forest::{self, Forest};
use super::lineage::{self, Lineage};
use lab::forecast::Basis;

use crate::cli::figures;
use crate::cli::versus::Versus;

macro_rules! template {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../templates/report/", $name)))
    };
}

const TEMPLATES: [(&str, &str); 8] = [
    template!("report.html"),
    template!("report.css"),
    template!("lineage.html"),
    template!("timings.html"),
    template!("predictions.html"),
    template!("experiments.html"),
    template!("diffs.html"),
    template!("macros.html"),
];

/// What the templates see.
#[derive(Serialize)]
struct Page<'a> {
    name: &'a str,
    path: &'a str,
    run: &'a RunFacts,
    headline: String,
    sentence: String,
    is_confirmed: bool,
    /// Times are forecasts, not measurements.
    is_forecast: bool,
    versus: Vec<VersusRow<'a>>,
    forest: Option<Forest>,
    lineage: Lineage,
    timings: Vec<TimingPanel>,
    predictions: Option<Predictions>,
    calibration: CalibrationWords,
    predictors: &'a [Predictor],
    candidates: Vec<CandidateRow<'a>>,
    experiments: Vec<ExperimentRow<'a>>,
    diffs: Vec<Diff>,
    findings: &'a [FindingFacts],
    version: &'static str,
}

#[derive(Serialize)]
struct CandidateRow<'a> {
    number: u32,
    generation: u32,
    parent: Option<u32>,
    reference: Option<u32>,
    title: &'a str,
    summary: &'a str,
    standing: Standing,
    figure: String,
    times: Vec<(&'a str, String)>,
}

#[derive(Serialize)]
struct ExperimentRow<'a> {
    #[serde(flatten)]
    facts: &'a ExperimentFacts,
    predicted: String,
    measured: String,
    interval: String,
}

#[derive(Serialize)]
struct VersusRow<'a> {
    #[serde(flatten)]
    pair: &'a Versus,
    forecast: String,
    measured: String,
    factor: String,
}

#[derive(Serialize)]
struct CalibrationWords {
    score: Option<String>,
    #[serde(flatten)]
    counts: Calibration,
    miss: String,
}

/// The page.
///
/// # Errors
/// Only when a template is wrong.
pub fn render(report: &ReportData) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("prose", prose);
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    environment.get_template("report.html")?.render(page(report))
}

fn page(report: &ReportData) -> Page<'_> {
    let shown = report.shown().map(|candidate| candidate.number);
    let (is_confirmed, winner) = match &report.outcome {
        Outcome::Confirmed(confirmation) => (true, confirmation.candidate),
        Outcome::Unconfirmed(_) => (false, None),
    };
    let (headline, sentence) = summary(report);
    Page {
        name: &report.name,
        path: &report.path,
        run: &report.run,
        headline,
        sentence,
        is_confirmed,
        is_forecast: report.forecast.is_some(),
        versus: report.versus.iter().map(versus_row).collect(),
        forest: match &report.outcome {
            Outcome::Confirmed(confirmation) => Some(forest::forest(confirmation)),
            Outcome::Unconfirmed(_) => None,
        },
        lineage: lineage::draw(report, winner.or(shown), figure_of),
        timings: charts::timings(report, winner),
        predictions: charts::predictions(report),
        calibration: CalibrationWords {
            score: report.calibration.score().map(|score| format!("{:.0}%", score * 100.0)),
            miss: format!("{:.1}", report.calibration.mean_miss_percent),
            counts: report.calibration,
        },
        predictors: &report.predictors,
        candidates: report.candidates.iter().map(candidate_row).collect(),
        experiments: report.experiments.iter().map(experiment_row).collect(),
        diffs: diffs::diffs(report),
        findings: &report.findings,
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// Text whose parts in backticks are code. Everything else is escaped as usual.
fn prose(text: &str) -> Value {
    let mut html = String::with_capacity(text.len() + 16);
    let parts: Vec<&str> = text.split('`').collect();
    // Without its closing backtick the last part is no code.
    let open = parts.len().is_multiple_of(2).then(|| parts.len() - 1);
    for (index, part) in parts.iter().enumerate() {
        let escaped = HtmlEscape(part);
        match index % 2 {
            1 if open == Some(index) => html.push_str(&format!("`{escaped}")),
            1 => html.push_str(&format!("<code>{escaped}</code>")),
            _ => html.push_str(&escaped.to_string()),
        }
    }
    Value::from_safe_string(html)
}

/// The headline and the sentence below it.
pub(crate) fn summary(report: &ReportData) -> (String, String) {
    match &report.outcome {
        Outcome::Confirmed(confirmation) => {
            let speed = confirmation.speed;
            if let Some(basis) = &report.forecast {
                return (format!("{:.2}×", speed.ratio), forecast_sentence(confirmation, basis));
            }
            let which = confirmation.candidate.map_or_else(String::new, |number| format!(" (candidate #{number})"));
            let sentence = format!(
                "The winner{which} ran {:.2} to {:.2} times as fast as the original (99% interval of the geometric mean), \
                 confirmed in a fresh process, seed {}, over {}.",
                speed.low,
                speed.high,
                confirmation.seed,
                plural(confirmation.shapes.len(), "shape")
            );
            (format!("{:.2}×", speed.ratio), sentence)
        }
        Outcome::Unconfirmed(why) => ("No confirmed speedup".into(), why.clone()),
    }
}

/// What a forecast speedup is worth.
fn forecast_sentence(confirmation: &Confirmation, basis: &Basis) -> String {
    format!(
        "{}. The winner was checked on the CPU with fresh inputs, and forecast, over {}. A forecast, not a measurement: nothing was timed on {}.",
        basis.with_odds(confirmation.speed.ratio).claim(confirmation.speed.ratio),
        plural(confirmation.shapes.len(), "shape"),
        basis.title
    )
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// `1.42× (1.38 to 1.46) faster`, `does not compile`.
fn figure_of(candidate: &CandidateFacts) -> String {
    match candidate.speed {
        Some(speed) => format!("{:.2}× ({}) {}", speed.ratio, charts::interval(&speed), candidate.verdict),
        None => candidate.verdict.clone(),
    }
}

fn candidate_row(candidate: &CandidateFacts) -> CandidateRow<'_> {
    CandidateRow {
        number: candidate.number,
        generation: candidate.generation,
        parent: candidate.parent,
        reference: candidate.reference,
        title: &candidate.title,
        summary: &candidate.summary,
        standing: candidate.standing,
        figure: figure_of(candidate),
        times: candidate.times.iter().map(|(shape, figure)| (shape.as_str(), figures::figure(figure))).collect(),
    }
}

fn versus_row(pair: &Versus) -> VersusRow<'_> {
    VersusRow {
        pair,
        forecast: figures::time(pair.forecast_ns),
        measured: figures::time(pair.measured_ns),
        factor: format!("{:.2}", pair.ratio),
    }
}

fn experiment_row(experiment: &ExperimentFacts) -> ExperimentRow<'_> {
    ExperimentRow {
        facts: experiment,
        predicted: experiment
            .gain
            .map_or_else(String::new, |(min, max)| format!("{} to {}", charts::signed(min), charts::signed(max))),
        measured: experiment.speed.map_or_else(String::new, |speed| format!("{:.2}×", speed.ratio)),
        interval: experiment.speed.map_or_else(String::new, |speed| charts::interval(&speed)),
    }
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn code_in_prose_is_set_as_code_and_escaped() {
        for (text, expected) in [
            ("plain", "plain"),
            ("pad `tile[<16>]` by one", "pad <code>tile[&lt;16&gt;]</code> by one"),
            ("a ` alone & <b>", "a ` alone &amp; &lt;b&gt;"),
            ("`a` and `<i>", "<code>a</code> and `&lt;i&gt;"),
            ("", ""),
        ] {
            assert_eq!(prose(text).to_string(), expected);
        }
    }
}
