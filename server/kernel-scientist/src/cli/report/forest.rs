//! The confirmed ratios as a forest plot: each shape's interval, and that of all, on one scale.

use lab::SpeedRatio;
use serde::Serialize;

use super::charts::{Scale, interval, is_bounded};
use super::data::{Confirmation, Standing};
use crate::cli::figures;

/// The confirmed ratio of each shape and of all, on one scale.
#[derive(Debug, Serialize)]
pub struct Forest {
    width: f64,
    one: f64,
    rows: Vec<ForestRow>,
}

#[derive(Debug, Serialize)]
struct ForestRow {
    name: String,
    held_out: bool,
    is_total: bool,
    original: String,
    winner: String,
    ratio: String,
    interval: String,
    verdict: String,
    standing: Standing,
    at: f64,
    low: f64,
    high: f64,
}

/// The rows of a confirmation; the last is the geometric mean over its shapes.
pub fn forest(confirmation: &Confirmation) -> Forest {
    let width = 220.0;
    let speeds = || confirmation.shapes.iter().map(|shape| shape.speed).chain([confirmation.speed]);
    let low = speeds().map(|speed| speed.low).fold(1.0, f64::min);
    let high = speeds().map(|speed| speed.high).filter(|high| is_bounded(*high)).fold(1.0, f64::max);
    let margin = (high - low).max(0.02) * 0.06;
    let scale = Scale { low: low - margin, high: high + margin, from: 4.0, to: width - 4.0 };
    let row = |name: String, speed: SpeedRatio, standing: Standing, verdict: String| ForestRow {
        name,
        held_out: false,
        is_total: false,
        original: String::new(),
        winner: String::new(),
        ratio: format!("{:.2}×", speed.ratio),
        interval: interval(&speed),
        verdict,
        standing,
        at: scale.at(speed.ratio),
        low: scale.at(speed.low),
        high: scale.at(speed.high),
    };
    let mut rows: Vec<ForestRow> = confirmation
        .shapes
        .iter()
        .map(|shape| ForestRow {
            held_out: shape.held_out,
            original: figures::figure(&shape.baseline),
            winner: figures::figure(&shape.candidate),
            ..row(shape.shape.clone(), shape.speed, shape.verdict.into(), shape.verdict.to_string())
        })
        .collect();
    let total = row("geometric mean".into(), confirmation.speed, Standing::Faster, "faster".into());
    rows.push(ForestRow { is_total: true, ..total });
    Forest { width, one: scale.at(1.0), rows }
}

#[cfg(test)]
mod tests {
    use super::super::data::Outcome;
    use super::super::example;
    use super::*;

    #[test]
    fn every_shape_has_a_row_inside_the_drawing_and_the_mean_comes_last() {
        let Outcome::Confirmed(confirmation) = example::report().outcome else { panic!("the example has a winner") };
        let drawing = forest(&confirmation);
        assert_eq!(drawing.rows.len(), confirmation.shapes.len() + 1);
        for row in &drawing.rows {
            assert!(0.0 <= row.low && row.low <= row.at && row.at <= row.high && row.high <= drawing.width, "{row:?}");
            assert!(drawing.one < row.low, "all of it is faster: {row:?}");
        }
        assert!(drawing.rows.last().is_some_and(|row| row.is_total && row.ratio == "1.82×"), "{drawing:?}");
        assert_eq!(drawing.rows.iter().filter(|row| row.held_out).count(), 1);
    }
}
