//! Findings: what an experiment taught, as a sentence and as numbers.

use lab::{Failure, SpeedRatio, Verdict};
use notebook::{Calibration, StoredFinding};

use crate::stages::{Finding, GainRange, Hypothesis};

/// The family of a hypothesis: its key without the place.
pub fn family(key: &str) -> &str {
    key.split(':').next().unwrap_or(key)
}

/// Uplift in percent of speed: 1.2x is 20.
pub fn percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// What a measured experiment taught.
pub fn measured(plan: &Hypothesis, speed: &SpeedRatio, verdict: Verdict) -> Finding {
    let gain = percent(speed.ratio);
    let GainRange { min_percent: min, max_percent: max } = plan.gain;
    let agreement = if gain < min {
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
        if is_open(speed) {
            "too few samples for an interval".to_owned()
        } else {
            format!("{} to {}", signed(percent(speed.low), 1), signed(percent(speed.high), 1))
        },
        signed(min, 0),
        signed(max, 0),
    );
    Finding { about: family(&plan.key).to_owned(), predicted: plan.gain, measured_percent: Some(gain), text }
}

/// What a failed experiment taught.
pub fn failed(plan: &Hypothesis, failure: &Failure) -> Finding {
    let text = format!("{}: {failure}.", subject(plan));
    Finding { about: family(&plan.key).to_owned(), predicted: plan.gain, measured_percent: None, text }
}

/// Whether an interval says nothing: so little was sampled that its end is out of sight.
pub(crate) fn is_open(speed: &SpeedRatio) -> bool {
    speed.low <= 0.0 || speed.high > 1e6
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
    Finding { about: finding.about, predicted, measured_percent: finding.measured_percent, text: finding.text }
}

/// How well the predictions of these findings agree with what was measured.
pub fn calibration(findings: &[Finding]) -> Calibration {
    let numbers =
        |finding: &Finding| (finding.predicted.min_percent, finding.predicted.max_percent, finding.measured_percent);
    Calibration::of(findings.iter().map(numbers))
}

#[cfg(test)]
mod tests {
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
        }
    }

    #[test]
    fn a_measured_finding_says_how_the_prediction_did() {
        let check = |ratio: f64, expected: &str| {
            let speed = SpeedRatio { ratio, low: ratio - 0.01, high: ratio + 0.01 };
            let finding = measured(&plan(), &speed, Verdict::Faster);
            assert_eq!(finding.about, "lds-padding");
            assert_eq!(finding.text, expected);
        };
        check(1.10, "Pad `tile` in `gemm`: faster, +10.0% (+9.0 to +11.0), as predicted (+5 to +20%).");
        check(1.30, "Pad `tile` in `gemm`: faster, +30.0% (+29.0 to +31.0), more than predicted (+5 to +20%).");
        check(0.90, "Pad `tile` in `gemm`: faster, -10.0% (-11.0 to -9.0), less than predicted (+5 to +20%).");
    }

    #[test]
    fn an_interval_that_says_nothing_is_not_given_in_numbers() {
        let speed = SpeedRatio { ratio: 1.5, low: 0.0, high: f64::MAX };
        let text = measured(&plan(), &speed, Verdict::Inconclusive).text;
        assert!(text.contains("inconclusive, +50.0% (too few samples for an interval), more than"), "{text}");
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
    fn a_family_is_the_key_without_its_place() {
        for (key, expected) in [("a:b", "a"), ("a:b:c", "a"), ("a", "a"), ("", "")] {
            assert_eq!(family(key), expected);
        }
    }
}
