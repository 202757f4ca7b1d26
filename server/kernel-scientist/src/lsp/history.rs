//! What the notebook says of a file's kernels, read in the background and kept as short as it is shown.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use lab::{SpeedRatio, Verdict};
use notebook::{ForecastPoint, HistoryPoint, Notebook, NotebookError, RunId, TextHash};
use serde_json::Value;

/// What was measured of each kernel of a file, by its qualified name.
#[derive(Debug, Default, PartialEq)]
pub struct FileHistory {
    /// The kernels that somebody has asked for.
    pub kernels: HashMap<String, KernelHistory>,
}

/// What was measured and forecast of one kernel.
#[derive(Debug, Default, PartialEq)]
pub struct KernelHistory {
    /// Every time, oldest first.
    pub rows: Vec<Row>,
    /// What was learnt from experiments on it, newest last.
    pub findings: Vec<String>,
}

/// What a time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It was measured, with so many samples.
    Measured {
        /// How many.
        samples: usize,
    },
    /// It is modelled.
    Forecast,
}

/// One time.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number in the notebook, among those of its kind.
    pub id: i64,
    /// What it is.
    pub kind: Kind,
    /// Hash of the report that it came in: all its shapes were fed alike, which those of two reports may not have been.
    pub report: u64,
    /// When: milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// The device that it is for.
    pub device: String,
    /// What the time means.
    pub device_note: String,
    /// What was timed, where that is not the kernel itself: a host function that launches it.
    pub entry: Option<String>,
    /// The problem size.
    pub shape: String,
    /// The median in nanoseconds; the time itself of a forecast.
    pub median_ns: f64,
    /// Lower end of its 95% interval; of a forecast, of what nine of ten validated times lay within.
    pub low_ns: f64,
    /// Upper end.
    pub high_ns: f64,
    /// Fingerprint of the kernel in the text that was measured.
    pub fingerprint: Option<String>,
    /// How it did against what it was compared with.
    pub speed: Option<Speed>,
    /// The hypothesis behind this version.
    pub hypothesis: Option<String>,
}

/// A speed and what it is relative to.
#[derive(Clone, Debug, PartialEq)]
pub struct Speed {
    /// The ratio with its interval; of forecast times where its row is a forecast.
    pub ratio: SpeedRatio,
    /// What the interval, or the distance of the forecasts, says.
    pub verdict: Verdict,
    /// The baseline was the original of a run; else the version before.
    pub is_against_original: bool,
}

impl FileHistory {
    /// Reads the history of `kernels` of a file. A notebook that does not exist yet is an empty one.
    pub fn read(notebook: &Path, file: &Path, kernels: &BTreeSet<String>) -> Result<Self, NotebookError> {
        let Some(notebook) = Notebook::open_existing(notebook)? else {
            return Ok(Self { kernels: kernels.iter().map(|name| (name.clone(), KernelHistory::default())).collect() });
        };
        let mut histories = HashMap::new();
        for name in kernels {
            histories.insert(name.clone(), KernelHistory::read(&notebook, file, name)?);
        }
        Ok(Self { kernels: histories })
    }
}

impl KernelHistory {
    fn read(notebook: &Notebook, file: &Path, kernel: &str) -> Result<Self, NotebookError> {
        let points = notebook.history(file, kernel)?;
        let forecasts = notebook.forecasts(file, kernel)?;
        let of_points = points.iter().filter_map(|point| Some(point.experiment.as_ref()?.0));
        let of_forecasts = forecasts.iter().filter_map(|point| Some(point.experiment.as_ref()?.0));
        let runs: BTreeSet<_> = of_points.chain(of_forecasts).collect();
        let mut findings = Vec::new();
        for run in runs {
            findings.extend(notebook.findings(run)?.into_iter().map(|finding| finding.text));
        }
        let mut rows: Vec<Row> = points.into_iter().map(|point| Row::of(point, kernel)).collect();
        rows.extend(distinct(forecasts).into_iter().map(|point| Row::of_forecast(point, kernel)));
        rows.sort_by_key(|row| row.at_ms);
        // They took the place of points, which are longer, and stay for the session.
        rows.shrink_to_fit();
        Ok(Self { rows, findings })
    }

    /// The newest report of code with this fingerprint, on the device that `wanted` lets through and that was measured last: its
    /// shapes, the slowest first.
    pub fn current(&self, fingerprint: &str, wanted: impl Fn(&Row) -> bool) -> Vec<&Row> {
        newest(self.rows.iter().filter(|row| row.fingerprint.as_deref() == Some(fingerprint) && wanted(row)))
    }

    /// As [`KernelHistory::current`] for the version that was looked at last and is no candidate of an experiment.
    pub fn last(&self, wanted: impl Fn(&Row) -> bool) -> Vec<&Row> {
        let rows = || self.rows.iter().filter(|row| wanted(row));
        let Some(last) = rows().rev().find(|row| row.speed.is_none()).or_else(|| rows().next_back()) else {
            return Vec::new();
        };
        newest(rows().filter(|row| row.fingerprint == last.fingerprint))
    }
}

/// Every comparison has its baseline's forecast again, which is the same each time; the newest stays, with its report.
fn distinct(points: Vec<ForecastPoint>) -> Vec<ForecastPoint> {
    let mut seen = HashSet::new();
    let version = |point: &ForecastPoint| {
        let forecast = &point.forecast;
        let names = (forecast.device.clone(), forecast.kernel.clone(), forecast.shape.clone());
        (names, forecast.text.clone(), forecast.ns.to_bits(), forecast.table.clone(), forecast.model.clone())
    };
    let newest_first = points.into_iter().rev();
    let mut kept: Vec<_> = newest_first.filter(|point| point.speed.is_some() || seen.insert(version(point))).collect();
    kept.reverse();
    kept
}

/// The rows of the report that came last: one of each shape, the slowest first. Another report may be of a benchmark file that
/// was another then, whose shapes go by the same names.
fn newest<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a Row> {
    let rows: Vec<&Row> = rows.collect();
    let Some(last) = rows.last() else { return Vec::new() };
    let mut by_shape: HashMap<&str, &Row> = HashMap::new();
    for &row in rows.iter().filter(|row| row.device == last.device && row.report == last.report) {
        by_shape.insert(&row.shape, row);
    }
    let mut newest: Vec<&Row> = by_shape.into_values().collect();
    newest.sort_by(|a, b| b.median_ns.total_cmp(&a.median_ns).then_with(|| a.shape.cmp(&b.shape)));
    newest
}

/// What the rows of one report have in common: the text, the seed of one that measured, and how long it took to make.
fn report(text: &TextHash, seed: Option<u64>, took: Duration) -> u64 {
    let mut hasher = DefaultHasher::new();
    (text, seed, took).hash(&mut hasher);
    hasher.finish()
}

impl Row {
    fn of(point: HistoryPoint, kernel: &str) -> Self {
        let HistoryPoint { measurement, speed, experiment, .. } = point;
        let (speed, hypothesis) = of_experiment(speed, experiment);
        Self {
            id: measurement.id.0,
            kind: Kind::Measured { samples: measurement.figure.samples.len() },
            report: report(&measurement.text, Some(measurement.seed), measurement.took),
            at_ms: measurement.at_ms,
            device: measurement.device,
            device_note: measurement.device_note,
            entry: entry(measurement.kernel, kernel),
            shape: measurement.shape,
            median_ns: measurement.figure.median_ns,
            low_ns: measurement.figure.low_ns,
            high_ns: measurement.figure.high_ns,
            fingerprint: measurement.fingerprint,
            speed,
            hypothesis,
        }
    }

    fn of_forecast(point: ForecastPoint, kernel: &str) -> Self {
        let ForecastPoint { forecast, speed, experiment, .. } = point;
        let (speed, hypothesis) = of_experiment(speed, experiment);
        Self {
            id: forecast.id.0,
            kind: Kind::Forecast,
            report: report(&forecast.text, None, forecast.took),
            at_ms: forecast.at_ms,
            device: forecast.device,
            device_note: forecast.device_note,
            entry: entry(forecast.kernel, kernel),
            shape: forecast.shape,
            median_ns: forecast.ns,
            low_ns: forecast.low_ns,
            high_ns: forecast.high_ns,
            fingerprint: forecast.fingerprint,
            speed,
            hypothesis,
        }
    }

    /// Both are measured on the same device, or both forecast for it.
    pub fn kind_is_that_of(&self, other: &Self) -> bool {
        self.is_measured() == other.is_measured() && self.device == other.device
    }

    /// It was measured.
    pub fn is_measured(&self) -> bool {
        matches!(self.kind, Kind::Measured { .. })
    }
}

/// What was timed, where that is not the kernel.
fn entry(timed: Option<String>, kernel: &str) -> Option<String> {
    let bare = |name: &str| {
        let name = name.split('<').next().unwrap_or(name).trim();
        name.rsplit("::").next().unwrap_or(name).to_owned()
    };
    timed.filter(|name| bare(name) != bare(kernel))
}

/// The speed and the title of an experiment's hypothesis.
fn of_experiment(
    speed: Option<(SpeedRatio, Verdict)>,
    experiment: Option<(RunId, Value)>,
) -> (Option<Speed>, Option<String>) {
    let hypothesis = experiment.map(|(_, hypothesis)| hypothesis);
    let is_against_original = hypothesis.as_ref().is_some_and(|value| value.get("candidate").is_some());
    let speed = speed.map(|(ratio, verdict)| Speed { ratio, verdict, is_against_original });
    (speed, hypothesis.and_then(|value| value.get("title").and_then(Value::as_str).map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(report: u64, shape: &str, median_ns: f64) -> Row {
        Row {
            id: 0,
            kind: Kind::Measured { samples: 9 },
            report,
            at_ms: 0,
            device: "cpu".into(),
            device_note: String::new(),
            entry: None,
            shape: shape.into(),
            median_ns,
            low_ns: median_ns,
            high_ns: median_ns,
            fingerprint: Some("k".into()),
            speed: None,
            hypothesis: None,
        }
    }

    /// The benchmark file was changed between two reports: `small` means something else now, and `large` is gone.
    #[test]
    fn shapes_of_two_feedings_are_never_shown_as_one_report() {
        let rows = vec![row(1, "small", 9.0), row(1, "large", 80.0), row(2, "small", 3.0), row(2, "tiny", 1.0)];
        let history = KernelHistory { rows, findings: Vec::new() };
        let shapes = |rows: Vec<&Row>| rows.iter().map(|row| (row.shape.clone(), row.median_ns)).collect::<Vec<_>>();
        let expected = [("small".to_owned(), 3.0), ("tiny".to_owned(), 1.0)];
        assert_eq!(shapes(history.current("k", |_| true)), expected);
        assert_eq!(shapes(history.last(|_| true)), expected);
    }

    #[test]
    fn reports_differ_by_their_seed_and_time() {
        let (text, second) = (TextHash::of("a"), Duration::from_secs(1));
        assert_eq!(report(&text, Some(1), second), report(&text, Some(1), second));
        assert_ne!(report(&text, Some(1), second), report(&text, Some(2), second));
        assert_ne!(report(&text, None, second), report(&text, None, second * 2));
    }
}
