//! Two versions by their forecasts.

use ::forecast::odds::Validation;

use super::Basis;
use crate::{Comparison, Figure, LabError, ShapeComparison, SpeedRatio, Verdict};

/// Forecasts closer than this are the same: nothing that the model sees has changed.
pub(super) const SAME: f64 = 1.001;

/// A shape with the forecast times of both versions, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShapeTimes {
    pub(crate) shape: String,
    pub(crate) held_out: bool,
    pub(crate) baseline_ns: f64,
    pub(crate) candidate_ns: f64,
}

/// The comparison of shapes; `whole` is the ratio of everything where it is not their geometric mean.
pub(crate) fn compare(
    basis: &Basis,
    shapes: &[ShapeTimes],
    whole: Option<f64>,
    seed: u64,
) -> Result<Comparison, LabError> {
    if shapes.is_empty() && whole.is_none() {
        return Err(LabError::Usage(
            "the two versions have no kernel in common, so there is nothing to compare".into(),
        ));
    }
    let logs: f64 = shapes.iter().map(|shape| (shape.baseline_ns / shape.candidate_ns).ln()).sum();
    let ratio = whole.unwrap_or_else(|| (logs / shapes.len() as f64).exp());
    Ok(Comparison {
        device: basis.device.clone(),
        device_note: basis.note(),
        toolchain: basis.toolchain(),
        seed,
        shapes: shapes.iter().map(of_shape).collect(),
        speed: speed(ratio),
        verdict: verdict(ratio),
        forecast: Some(basis.with_odds(ratio)),
    })
}

fn of_shape(shape: &ShapeTimes) -> ShapeComparison {
    let ratio = shape.baseline_ns / shape.candidate_ns;
    ShapeComparison {
        shape: shape.shape.clone(),
        held_out: shape.held_out,
        baseline: figure(shape.baseline_ns),
        candidate: figure(shape.candidate_ns),
        speed: speed(ratio),
        verdict: verdict(ratio),
    }
}

/// A forecast time with what nine of ten validated times lay within. It has no samples.
pub(crate) fn figure(nanoseconds: f64) -> Figure {
    let error = Validation::shipped().error();
    Figure { median_ns: nanoseconds, low_ns: nanoseconds / error, high_ns: nanoseconds * error, samples: Vec::new() }
}

/// A forecast ratio with what nine of ten validated ratios lay within.
fn speed(ratio: f64) -> SpeedRatio {
    if within(ratio, SAME) {
        return SpeedRatio { ratio, low: ratio, high: ratio };
    }
    let error = Validation::shipped().ratio_error();
    SpeedRatio { ratio, low: ratio / error, high: ratio * error }
}

/// Faster or slower only where validated pairs this far apart were in the right order often enough.
fn verdict(ratio: f64) -> Verdict {
    if within(ratio, SAME) {
        Verdict::Same
    } else if within(ratio, Validation::shipped().resolution()) {
        Verdict::Inconclusive
    } else if ratio > 1.0 {
        Verdict::Faster
    } else {
        Verdict::Slower
    }
}

fn within(ratio: f64, factor: f64) -> bool {
    ratio < factor && ratio > 1.0 / factor
}

#[cfg(test)]
mod tests {
    use ::forecast::device::Device;

    use super::*;

    fn shape(name: &str, baseline_ns: f64, candidate_ns: f64) -> ShapeTimes {
        ShapeTimes { shape: name.into(), held_out: false, baseline_ns, candidate_ns }
    }

    fn compared(shapes: &[ShapeTimes]) -> Comparison {
        compare(&Basis::of(&Device::named("h200").unwrap()), shapes, None, 7).unwrap()
    }

    #[test]
    fn the_ratio_is_the_geometric_mean_and_carries_its_odds() {
        let comparison = compared(&[shape("a", 4000.0, 1000.0), shape("b", 1000.0, 1000.0)]);
        assert!((comparison.speed.ratio - 2.0).abs() < 1e-9);
        assert_eq!((comparison.verdict, comparison.shapes[1].verdict), (Verdict::Faster, Verdict::Same));
        assert!(comparison.shapes.iter().all(|shape| shape.candidate.samples.is_empty()));
        let odds = comparison.forecast.unwrap().odds.unwrap();
        assert_eq!(odds, Validation::shipped().odds(2.0));
    }

    #[test]
    fn what_the_model_cannot_tell_apart_is_inconclusive() {
        let resolution = Validation::shipped().resolution();
        for (ratio, expected) in [
            (1.0, Verdict::Same),
            (1.002, Verdict::Inconclusive),
            (0.998, Verdict::Inconclusive),
            (resolution * 1.01, Verdict::Faster),
            (1.0 / resolution / 1.01, Verdict::Slower),
        ] {
            let comparison = compared(&[shape("a", ratio * 1000.0, 1000.0)]);
            assert_eq!(comparison.verdict, expected, "{ratio}");
            assert!(comparison.speed.low <= ratio && ratio <= comparison.speed.high * (1.0 + 1e-12));
        }
    }

    #[test]
    fn nothing_in_common_is_said() {
        let basis = Basis::of(&Device::named("h200").unwrap());
        assert!(matches!(compare(&basis, &[], None, 7), Err(LabError::Usage(_))));
    }
}
