//! The charts: times by generation, and predicted against measured gains.

use lab::{Figure, SpeedRatio};
use serde::Serialize;

use super::data::{ReportData, Standing};
use super::gather::percent;
use crate::cli::figures;

/// A linear scale from values to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
}

impl Scale {
    /// The position of a value; what lies outside of the scale, or is no number, stands at an end.
    pub fn at(self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE);
        let share = if share.is_nan() { 0.0 } else { share };
        rounded(self.from + share.clamp(0.0, 1.0) * (self.to - self.from))
    }

    /// Round values inside of the scale, about `count` of them.
    fn ticks(self, count: u32) -> Vec<f64> {
        let raw = (self.high - self.low) / f64::from(count.max(1));
        if !(raw.is_finite() && raw > 0.0) {
            return vec![self.low];
        }
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|n| n * power).find(|step| *step >= raw).unwrap_or(raw);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// A labelled position on an axis.
#[derive(Debug, Serialize)]
struct Tick {
    at: f64,
    label: String,
}

/// The times of one shape over the generations.
#[derive(Debug, Serialize)]
pub struct TimingPanel {
    shape: String,
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    base: f64,
    time_ticks: Vec<Tick>,
    generation_ticks: Vec<Tick>,
    points: Vec<TimingPoint>,
    /// The best time so far as a stair, an SVG path.
    best: String,
}

#[derive(Debug, Serialize)]
struct TimingPoint {
    x: f64,
    y: f64,
    y_low: f64,
    y_high: f64,
    number: u32,
    generation: u32,
    standing: Standing,
    is_winner: bool,
    label: String,
}

/// One panel for each shape that a candidate was timed at.
pub fn timings(report: &ReportData, winner: Option<u32>) -> Vec<TimingPanel> {
    let mut shapes: Vec<&str> = Vec::new();
    for (shape, _) in report.candidates.iter().flat_map(|candidate| &candidate.times) {
        if !shapes.contains(&shape.as_str()) {
            shapes.push(shape);
        }
    }
    shapes.into_iter().map(|shape| timing_panel(report, shape, winner)).collect()
}

fn timing_panel(report: &ReportData, shape: &str, winner: Option<u32>) -> TimingPanel {
    let (width, height, left, right, top, base) = (460.0, 238.0, 58.0, 448.0, 12.0, 200.0);
    let timed: Vec<_> = report
        .candidates
        .iter()
        .filter_map(|candidate| Some((candidate, &candidate.times.iter().find(|(name, _)| name == shape)?.1)))
        .collect();
    // One sample leaves the upper end open: it must not press all the others to the ground.
    let reach =
        |figure: &Figure| if is_bounded(figure.high_ns / figure.median_ns) { figure.high_ns } else { figure.median_ns };
    let slowest = timed.iter().map(|(_, figure)| reach(figure)).fold(0.0, f64::max);
    let last = report.candidates.iter().map(|candidate| candidate.generation).max().unwrap_or(0);
    // Times start at zero, so that heights compare as times do.
    let time = Scale { low: 0.0, high: slowest * 1.06, from: base, to: top };
    let generation = Scale { low: -0.5, high: f64::from(last) + 0.5, from: left, to: right };
    let points: Vec<TimingPoint> = timed
        .iter()
        .map(|(candidate, figure)| {
            let peers: Vec<u32> = timed
                .iter()
                .filter(|(other, _)| other.generation == candidate.generation)
                .map(|(other, _)| other.number)
                .collect();
            let place = peers.iter().position(|number| *number == candidate.number).unwrap_or(0);
            let offset = (place as f64 + 0.5) / peers.len() as f64 - 0.5;
            TimingPoint {
                x: generation.at(f64::from(candidate.generation) + offset * 0.7),
                y: time.at(figure.median_ns),
                y_low: time.at(figure.low_ns),
                y_high: time.at(figure.high_ns),
                number: candidate.number,
                generation: candidate.generation,
                standing: candidate.standing,
                is_winner: winner == Some(candidate.number),
                label: figures::figure(figure),
            }
        })
        .collect();
    TimingPanel {
        shape: shape.to_owned(),
        width,
        height,
        left,
        right,
        base,
        time_ticks: time.ticks(4).into_iter().map(|at| Tick { at: time.at(at), label: axis_time(at) }).collect(),
        generation_ticks: (0..=last)
            .step_by((last / 12 + 1) as usize)
            .map(|n| Tick { at: generation.at(f64::from(n)), label: n.to_string() })
            .collect(),
        best: stair(&points, right),
        points,
    }
}

/// A time on an axis: no more digits than it needs.
fn axis_time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        0.0 => return "0".into(),
        t if t < 1e3 => (t, "ns"),
        t if t < 1e6 => (t / 1e3, "us"),
        t if t < 1e9 => (t / 1e6, "ms"),
        t => (t / 1e9, "s"),
    };
    format!("{} {unit}", (value * 100.0).round() / 100.0)
}

/// The lowest median so far: level from each point to the next better one, which lies further down the panel.
fn stair(points: &[TimingPoint], right: f64) -> String {
    let mut ordered: Vec<&TimingPoint> = points.iter().collect();
    ordered.sort_by(|a, b| a.x.total_cmp(&b.x));
    let Some(first) = ordered.first() else { return String::new() };
    let mut path = format!("M{} {}", first.x, first.y);
    let mut best = first.y;
    for point in &ordered[1..] {
        if point.y > best {
            path.push_str(&format!("H{}V{}", point.x, point.y));
            best = point.y;
        }
    }
    path.push_str(&format!("H{right}"));
    path
}

/// Predicted ranges against measured gains.
#[derive(Debug, Serialize)]
pub struct Predictions {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    zero: f64,
    base: f64,
    ticks: Vec<Tick>,
    rows: Vec<Prediction>,
}

#[derive(Debug, Serialize)]
struct Prediction {
    y: f64,
    title: String,
    full_title: String,
    from: f64,
    to: f64,
    range: String,
    measured: Option<MeasuredGain>,
    /// What stands there when nothing was measured.
    instead: String,
    standing: Standing,
}

#[derive(Debug, Serialize)]
struct MeasuredGain {
    at: f64,
    low: f64,
    high: f64,
    label: String,
    is_within: bool,
}

/// One row for each experiment that holds a prediction against a full measurement; `None` when there is none.
pub fn predictions(report: &ReportData) -> Option<Predictions> {
    let (width, left, right, top, row) = (1012.0, 310.0, 770.0, 26.0, 30.0);
    let judged: Vec<_> = report
        .experiments
        .iter()
        .filter(|experiment| experiment.judges_prediction && experiment.gain.is_some())
        .collect();
    let values = judged.iter().flat_map(|experiment| {
        let (min, max) = experiment.gain.unwrap_or_default();
        let measured = experiment.speed.map(|speed| {
            [speed.ratio, speed.low, speed.high].into_iter().filter(|ratio| is_bounded(*ratio)).map(percent)
        });
        [min, max].into_iter().chain(measured.into_iter().flatten())
    });
    let (low, high) = values.fold((0.0_f64, 1.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    if judged.is_empty() {
        return None;
    }
    let margin = (high - low) * 0.04;
    let scale = Scale { low: low - margin, high: high + margin, from: left, to: right };
    let base = top + judged.len() as f64 * row;
    Some(Predictions {
        width,
        height: base + 34.0,
        left,
        right,
        zero: scale.at(0.0),
        base,
        ticks: scale.ticks(7).into_iter().map(|at| Tick { at: scale.at(at), label: signed(at) }).collect(),
        rows: judged
            .iter()
            .enumerate()
            .map(|(index, experiment)| {
                let (min, max) = experiment.gain.unwrap_or_default();
                Prediction {
                    y: top + (index as f64 + 0.5) * row,
                    title: super::lineage::shortened(&experiment.title, 42),
                    full_title: experiment.title.clone(),
                    from: scale.at(min),
                    to: scale.at(max),
                    range: format!("{} to {}", signed(min), signed(max)),
                    measured: experiment.speed.map(|speed| measured_gain(scale, speed, (min, max))),
                    instead: experiment.verdict.clone(),
                    standing: experiment.standing,
                }
            })
            .collect(),
    })
}

fn measured_gain(scale: Scale, speed: SpeedRatio, (min, max): (f64, f64)) -> MeasuredGain {
    let gain = percent(speed.ratio);
    MeasuredGain {
        at: scale.at(gain),
        low: scale.at(percent(speed.low)),
        high: scale.at(percent(speed.high)),
        label: signed(gain),
        is_within: (min..=max).contains(&gain),
    }
}

/// `+12%`, `-3%`, `0%`; a tenth where it is below ten.
pub fn signed(percent: f64) -> String {
    let digits = usize::from(percent.abs() < 10.0 && percent.fract() != 0.0);
    let text = format!("{percent:+.digits$}%");
    match text.trim_start_matches(['+', '-']) {
        "0%" | "0.0%" => "0%".into(),
        _ => text.replace('-', "\u{2212}"),
    }
}

/// Whether an end of an interval says anything: too few samples leave it open, at the largest number there is.
pub fn is_bounded(ratio: f64) -> bool {
    ratio.is_finite() && ratio < 1000.0
}

/// `1.20 to 1.26`; `below 1.26`, `above 1.20` and `unknown` where an end is open.
pub fn interval(speed: &SpeedRatio) -> String {
    match (speed.low > 0.0, is_bounded(speed.high)) {
        (true, true) => format!("{:.2} to {:.2}", speed.low, speed.high),
        (true, false) => format!("above {:.2}", speed.low),
        (false, true) => format!("below {:.2}", speed.high),
        (false, false) => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let ticks = |low, high| Scale { low, high, from: 0.0, to: 1.0 }.ticks(4);
        assert_eq!(ticks(0.0, 100.0), [0.0, 25.0, 50.0, 75.0, 100.0]);
        assert_eq!(ticks(-7.0, 33.0), [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(ticks(1.0, 1.0), [1.0]);
    }

    #[test]
    fn gains_are_written_with_their_sign() {
        for (percent, expected) in [(12.4, "+12%"), (-3.25, "\u{2212}3.2%"), (0.0, "0%"), (0.04, "0%"), (5.0, "+5%")] {
            assert_eq!(signed(percent), expected);
        }
    }

    #[test]
    fn open_intervals_are_said_and_do_not_stretch_the_drawing() {
        let speed = |low, high| SpeedRatio { ratio: 1.1, low, high };
        for (speed, expected) in [
            (speed(1.0, 1.25), "1.00 to 1.25"),
            (speed(1.0, f64::MAX), "above 1.00"),
            (speed(0.0, 1.25), "below 1.25"),
            (speed(0.0, f64::INFINITY), "unknown"),
        ] {
            assert_eq!(interval(&speed), expected);
        }
        let mut report = example::report();
        let measured = report.experiments.iter_mut().find(|experiment| experiment.judges_prediction).unwrap();
        measured.speed = Some(speed(0.0, f64::MAX));
        let drawing = predictions(&report).unwrap();
        assert!(drawing.ticks.len() > 3, "{drawing:?}");
        assert!(drawing.rows.iter().any(|row| row.to - row.from > 100.0), "{drawing:?}");
    }

    #[test]
    fn every_timed_candidate_is_a_point_inside_its_panel() {
        let report = example::report();
        let panels = timings(&report, None);
        assert_eq!(panels.len(), 2);
        for panel in &panels {
            let timed = report
                .candidates
                .iter()
                .filter(|candidate| candidate.times.iter().any(|(shape, _)| *shape == panel.shape));
            assert_eq!(panel.points.len(), timed.count());
            for point in &panel.points {
                assert!((panel.left..=panel.right).contains(&point.x) && point.y <= panel.base, "{point:?}");
                assert!(point.y_high <= point.y && point.y <= point.y_low, "{point:?}");
            }
        }
    }

    #[test]
    fn predictions_lie_inside_the_drawing() {
        let drawing = predictions(&example::report()).unwrap();
        assert!(!drawing.rows.is_empty());
        for row in &drawing.rows {
            assert!(drawing.left <= row.from && row.from <= row.to && row.to <= drawing.right, "{row:?}");
        }
    }
}
