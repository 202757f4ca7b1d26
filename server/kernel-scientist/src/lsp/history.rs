//! What the notebook says of a file's kernels, read in the background and kept as short as it is shown.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use lab::{SpeedRatio, Verdict};
use notebook::{ForecastPoint, HistoryPoint, Notebook, NotebookError, RunId};
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
        Ok(Self { rows, findings })
    }

    /// The newest measurement of each shape that was taken from code with this fingerprint, on the device that `wanted`
    /// lets through and that was measured last; the slowest first.
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

/// Every comparison has its baseline's forecast again, which is the same each time.
fn distinct(points: Vec<ForecastPoint>) -> Vec<ForecastPoint> {
    let mut seen = HashSet::new();
    let version = |point: &ForecastPoint| {
        let forecast = &point.forecast;
        let names = (forecast.device.clone(), forecast.kernel.clone(), forecast.shape.clone());
        (names, forecast.text.clone(), forecast.ns.to_bits(), forecast.table.clone(), forecast.model.clone())
    };
    points.into_iter().filter(|point| point.speed.is_some() || seen.insert(version(point))).collect()
}

/// The rows of the device that was looked at last: the newest of each shape, the slowest first.
fn newest<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<&'a Row> {
    let rows: Vec<&Row> = rows.collect();
    let Some(device) = rows.last().map(|row| &row.device) else { return Vec::new() };
    let mut by_shape: HashMap<&str, &Row> = HashMap::new();
    for &row in rows.iter().filter(|row| row.device == *device) {
        by_shape.insert(&row.shape, row);
    }
    let mut newest: Vec<&Row> = by_shape.into_values().collect();
    newest.sort_by(|a, b| b.median_ns.total_cmp(&a.median_ns).then_with(|| a.shape.cmp(&b.shape)));
    newest
}

impl Row {
    fn of(point: HistoryPoint, kernel: &str) -> Self {
        let HistoryPoint { measurement, speed, experiment, .. } = point;
        let (speed, hypothesis) = of_experiment(speed, experiment);
        Self {
            id: measurement.id.0,
            kind: Kind::Measured { samples: measurement.figure.samples.len() },
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
