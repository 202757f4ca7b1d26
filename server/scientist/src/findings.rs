//! Findings: what an experiment taught, as a sentence and as numbers.

use lab::{CPU_DEVICE, Comparison, Failure, SpeedRatio};
use notebook::{Calibration, ExperimentId, NewFinding, RunId, StoredFinding};

use crate::stages::{Finding, GainRange, Hypothesis, LeftOut, Setting, Tried};

impl Finding {
    /// As the notebook keeps it.
    pub(crate) fn row(&self, run: RunId, experiment: ExperimentId) -> NewFinding<'_> {
        NewFinding {
            run,
            experiment,
            about: &self.about,
            min_percent: self.predicted.min_percent,
            max_percent: self.predicted.max_percent,
            measured_percent: self.measured_percent,
            forecast_percent: self.forecast_percent,
            text: &self.text,
        }
    }
}

/// The family of a hypothesis: its key without the place.
pub fn family(key: &str) -> &str {
    key.split(':').next().unwrap_or(key)
}

/// Uplift in percent of speed: 1.2x is 20.
pub fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// What an experiment taught that was measured or forecast.
pub fn measured(plan: &Hypothesis, comparison: &Comparison) -> Finding {
    let Comparison { speed, verdict, .. } = comparison;
    let gain = percent(speed.ratio);
    let GainRange { min_percent: min, max_percent: max } = plan.gain;
    let agreement = if is_open(speed) {
        "nothing is said of the prediction"
    } else if comparison.forecast.is_none() && comparison.device == CPU_DEVICE {
        "on the CPU, which neither proves nor refutes what was predicted for a GPU"
    } else if gain < min {
        "less than predicted"
    } else if gain > max {
        "more than predicted"
    } else {
        "as predicted"
    };
    let text = format!(
        "{}: {verdict}, {}% ({}), {agreement} ({} to {}%).",
        subject(plan),
        signed(gain, 1),
        if let Some(basis) = &comparison.forecast {
            basis.short_claim(speed.ratio)
        } else if is_open(speed) {
            "too few samples for an interval".to_owned()
        } else {
            format!("{} to {}", signed(percent(speed.low), 1), signed(percent(speed.high), 1))
        },
        signed(min, 0),
        signed(max, 0),
    );
    Finding {
        about: family(&plan.key).to_owned(),
        predicted: plan.gain,
        // Without an interval it is a number and not a measurement: nothing is learnt from it.
        measured_percent: (comparison.forecast.is_none() && !is_open(speed)).then_some(gain),
        forecast_percent: comparison.forecast.is_some().then_some(gain),
        text,
        author: plan.author.clone(),
        tried: Vec::new(),
    }
}

/// What a failed experiment taught.
pub fn failed(plan: &Hypothesis, failure: &Failure) -> Finding {
    let text = format!("{}: {}.", subject(plan), in_words(failure));
    Finding {
        author: plan.author.clone(),
        about: family(&plan.key).to_owned(),
        predicted: plan.gain,
        measured_percent: None,
        forecast_percent: None,
        text,
        tried: Vec::new(),
    }
}

/// A failure in words that are told to models too: without the folders of this machine, and without advice to its user.
pub(crate) fn in_words(failure: &Failure) -> String {
    match failure {
        Failure::DoesNotCompile { diagnostics } => match diagnostics.first() {
            None => "does not compile: the compiler gave no reason".to_owned(),
            Some(first) => {
                let words = first.message.split_whitespace().collect::<Vec<_>>().join(" ");
                let file = first.file.file_name().unwrap_or_default().to_string_lossy();
                let more = match diagnostics.len() - 1 {
                    0 => String::new(),
                    more => format!(" (and {more} more)"),
                };
                format!("does not compile: {file}:{}: {words}{more}", first.line)
            }
        },
        Failure::TimedOut { limit } => format!("timed out after {:.1} s", limit.as_secs_f64()),
        other => other.to_string(),
    }
}

/// A finding with what came of each value of a search over constants, in numbers and in words.
pub fn with_values(mut finding: Finding, plan: &Hypothesis, tried: Vec<Tried>) -> Finding {
    if !tried.is_empty() {
        let in_words = if finding.forecast_percent.is_some() { ratio_alone } else { ratio_in_words };
        finding.text = format!("{} Values: {}.", finding.text, values_in_words(plan, &tried, in_words));
        finding.tried = tried;
    }
    finding
}

/// `TILE 16 1.00x (as it was); 32 1.31x (1.28 to 1.34); 64 does not fit LDS`.
fn values_in_words(plan: &Hypothesis, tried: &[Tried], ratio: fn(&SpeedRatio) -> String) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut named: Vec<String> = Vec::new();
    let mut say = |settings: &[Setting], what: &str| {
        let names: Vec<String> = settings.iter().map(|setting| setting.name.clone()).collect();
        // The constants are named once, where all values are of the same ones.
        let again = names == named;
        named = names;
        let value = |setting: &Setting| match again {
            true => setting.value.to_string(),
            false => setting.to_string(),
        };
        let values: Vec<String> = settings.iter().map(value).collect();
        words.push(format!("{} {what}", values.join(", ")));
    };
    if !plan.present.is_empty() {
        say(&plan.present, "1.00x (as it was)");
    }
    for Tried { settings, speed, reason } in tried {
        let what = match (speed, reason) {
            (Some(speed), _) => ratio(speed),
            (None, Some(reason)) => reason.clone(),
            (None, None) => "not measured".to_owned(),
        };
        say(settings, &what);
    }
    for LeftOut { setting, reason } in &plan.left_out {
        say(std::slice::from_ref(setting), reason);
    }
    words.join("; ")
}

/// Whether an interval says nothing: so little was sampled that its end is out of sight.
pub(crate) fn is_open(speed: &SpeedRatio) -> bool {
    speed.low <= 0.0 || speed.high > 1e6
}

/// A ratio of forecasts, whose odds are told once.
fn ratio_alone(speed: &SpeedRatio) -> String {
    format!("{:.2}x", speed.ratio)
}

/// A ratio with its interval in words: `2.02x (1.83 to 2.24)`.
pub(crate) fn ratio_in_words(speed: &SpeedRatio) -> String {
    if is_open(speed) {
        return format!("{:.2}x (too few samples for an interval)", speed.ratio);
    }
    format!("{:.2}x ({:.2} to {:.2})", speed.ratio, speed.low, speed.high)
}

/// A number with its sign and so many decimals, and no sign at a zero.
fn signed(number: f64, decimals: usize) -> String {
    let text = format!("{number:+.decimals$}");
    let is_zero = text.chars().all(|c| !c.is_ascii_digit() || c == '0');
    if is_zero { text[1..].to_owned() } else { text }
}

/// The plan in words, with its kernel unless the title names it.
fn subject(plan: &Hypothesis) -> String {
    let kernel = format!("`{}`", plan.kernel);
    if plan.title.contains(&kernel) { plan.title.clone() } else { format!("{} in {kernel}", plan.title) }
}

/// A finding of an earlier run, for a brief.
pub fn recalled(finding: StoredFinding) -> Finding {
    let predicted = GainRange { min_percent: finding.min_percent, max_percent: finding.max_percent };
    let StoredFinding { about, measured_percent, forecast_percent, text, author, .. } = finding;
    Finding { about, predicted, measured_percent, forecast_percent, text, author: Some(author), tried: Vec::new() }
}

/// How well the predictions of these findings agree with what was measured.
pub fn calibration<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Calibration {
    let numbers =
        |finding: &Finding| (finding.predicted.min_percent, finding.predicted.max_percent, finding.gain_percent());
    Calibration::of(findings.into_iter().map(numbers))
}

#[cfg(test)]
mod tests {
    use lab::Verdict;
    use lab::forecast::Basis;

    use super::*;

    fn plan() -> Hypothesis {
        Hypothesis {
            key: "lds-padding:tile".into(),
            kernel: "gemm".into(),
            title: "Pad `tile`".into(),
            reason: String::new(),
            source: String::new(),
            rubric: String::new(),
            line: 3,
            gain: GainRange { min_percent: 5.0, max_percent: 20.0 },
            innovation: 10,
            author: None,
            present: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn compared(speed: SpeedRatio, verdict: Verdict) -> Comparison {
        Comparison {
            device: "d".into(),
            device_note: String::new(),
            toolchain: String::new(),
            seed: 1,
            shapes: Vec::new(),
            speed,
            verdict,
            forecast: None,
        }
    }

    #[test]
    fn a_measured_finding_says_how_the_prediction_did() {
        let check = |ratio: f64, expected: &str| {
            let speed = SpeedRatio { ratio, low: ratio - 0.01, high: ratio + 0.01 };
            let finding = measured(&plan(), &compared(speed, Verdict::Faster));
            assert_eq!(finding.about, "lds-padding");
            assert_eq!(finding.text, expected);
        };
        check(1.10, "Pad `tile` in `gemm`: faster, +10.0% (+9.0 to +11.0), as predicted (+5 to +20%).");
        check(1.30, "Pad `tile` in `gemm`: faster, +30.0% (+29.0 to +31.0), more than predicted (+5 to +20%).");
        check(0.90, "Pad `tile` in `gemm`: faster, -10.0% (-11.0 to -9.0), less than predicted (+5 to +20%).");
    }

    #[test]
    fn a_prediction_for_a_gpu_is_not_judged_by_the_cpu() {
        let speed = SpeedRatio { ratio: 0.5, low: 0.49, high: 0.51 };
        let comparison = Comparison { device: CPU_DEVICE.into(), ..compared(speed, Verdict::Slower) };
        let expected = "Pad `tile` in `gemm`: slower, -50.0% (-51.0 to -49.0), on the CPU, which neither proves nor refutes what \
                        was predicted for a GPU (+5 to +20%).";
        assert_eq!(measured(&plan(), &comparison).text, expected);
    }

    #[test]
    fn a_forecast_is_never_called_a_measurement() {
        let basis = Basis {
            device: "mi300x".into(),
            title: "MI300X".into(),
            model: "0.1.0".into(),
            table: "t".into(),
            validated_on: "H200".into(),
            of_this_device: false,
            odds: None,
        };
        let speed = SpeedRatio { ratio: 1.8, low: 1.4, high: 2.4 };
        let comparison = Comparison { forecast: Some(basis), ..compared(speed, Verdict::Faster) };
        let finding = measured(&plan(), &comparison);
        assert_eq!((finding.measured_percent, finding.gain_percent()), (None, Some(80.0)));
        assert!(finding.text.contains("(forecast 1.80x ("), "{}", finding.text);
        assert!(!finding.text.contains("measured"), "{}", finding.text);
    }

    #[test]
    fn an_interval_that_says_nothing_is_not_given_in_numbers() {
        let speed = SpeedRatio { ratio: 1.5, low: 0.0, high: f64::MAX };
        let finding = measured(&plan(), &compared(speed, Verdict::Inconclusive));
        let text = "inconclusive, +50.0% (too few samples for an interval), nothing is said of the prediction";
        assert!(finding.text.contains(text), "{}", finding.text);
        assert_eq!(finding.measured_percent, None);
        assert_eq!(ratio_in_words(&speed), "1.50x (too few samples for an interval)");
    }

    #[test]
    fn a_zero_has_no_sign() {
        for (number, decimals, expected) in [(-0.4, 0, "0"), (0.04, 1, "0.0"), (-0.06, 1, "-0.1"), (3.0, 0, "+3")] {
            assert_eq!(signed(number, decimals), expected);
        }
    }

    #[test]
    fn a_failed_finding_keeps_the_reason_and_counts_as_failed() {
        let finding = failed(&plan(), &Failure::Crashed { detail: "signal 11".into() });
        assert_eq!(finding.text, "Pad `tile` in `gemm`: crashed: signal 11.");
        assert_eq!(calibration(&[finding]).failed, 1);
        let named = Hypothesis { title: "Unroll the loop of `gemm`".into(), ..plan() };
        let failure = Failure::Refused { detail: "a socket".into() };
        assert_eq!(failed(&named, &failure).text, "Unroll the loop of `gemm`: refused: a socket.");
    }

    #[test]
    fn a_failure_is_told_without_folders_and_advice() {
        let message = |file: &str| lab::Diagnostic {
            file: file.into(),
            line: 3,
            column: 1,
            severity: "error".into(),
            message: "expected\n ';'".into(),
            notes: Vec::new(),
        };
        let check = |failure: Failure, expected: &str| assert_eq!(in_words(&failure), expected);
        let one = vec![message("/home/ada/a.hip")];
        check(Failure::DoesNotCompile { diagnostics: one }, "does not compile: a.hip:3: expected ';'");
        let two = vec![message("/home/ada/a.hip"), message("/home/ada/b.h")];
        check(Failure::DoesNotCompile { diagnostics: two }, "does not compile: a.hip:3: expected ';' (and 1 more)");
        check(Failure::DoesNotCompile { diagnostics: Vec::new() }, "does not compile: the compiler gave no reason");
        check(Failure::TimedOut { limit: std::time::Duration::from_secs(2) }, "timed out after 2.0 s");
        check(Failure::Wrong { detail: "element 3".into() }, "wrong result: element 3");
    }

    #[test]
    fn a_search_tells_of_each_value() {
        let setting = |value| Setting { name: "TILE".into(), value };
        let speed = |ratio| Some(SpeedRatio { ratio, low: ratio - 0.03, high: ratio + 0.03 });
        let tried = |value, speed, reason: Option<&str>| Tried {
            settings: vec![setting(value)],
            speed,
            reason: reason.map(str::to_owned),
        };
        let left_out = vec![LeftOut { setting: setting(64), reason: "does not fit LDS".into() }];
        let plan = Hypothesis { present: vec![setting(16)], left_out, ..plan() };
        let all = vec![tried(32, speed(1.31), None), tried(8, None, Some("crashed: signal 11"))];
        let finding = measured(&plan, &compared(speed(1.31).unwrap(), Verdict::Faster));
        let finding = with_values(finding, &plan, all.clone());
        let said =
            "Values: TILE 16 1.00x (as it was); 32 1.31x (1.28 to 1.34); 8 crashed: signal 11; 64 does not fit LDS.";
        assert!(finding.text.ends_with(said), "{}", finding.text);
        assert_eq!(finding.tried, all);
        let two = |tile, unroll| vec![setting(tile), Setting { name: "unroll k".into(), value: unroll }];
        let both = Tried { settings: two(32, 4), speed: speed(1.2), reason: None };
        assert_eq!(
            values_in_words(&self::plan(), &[both.clone(), Tried { settings: two(8, 2), ..both }], ratio_in_words),
            "TILE 32, unroll k 4 1.20x (1.17 to 1.23); 8, 2 1.20x (1.17 to 1.23)"
        );
        assert_eq!(with_values(failed(&plan, &Failure::Wrong { detail: "x".into() }), &plan, Vec::new()).tried, []);
    }

    #[test]
    fn a_family_is_the_key_without_its_place() {
        for (key, expected) in [("a:b", "a"), ("a:b:c", "a"), ("a", "a"), ("", "")] {
            assert_eq!(family(key), expected);
        }
    }
}
