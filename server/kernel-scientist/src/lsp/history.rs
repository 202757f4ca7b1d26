//! What the notebook says of a file's kernels, read in the background and kept as short as it is shown.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use lab::{SpeedRatio, Verdict};
use notebook::{HistoryPoint, Notebook, NotebookError};
use serde_json::Value;

/// What was measured of each kernel of a file, by its qualified name.
#[derive(Debug, Default, PartialEq)]
pub struct FileHistory {
    /// The kernels that somebody has asked for.
    pub kernels: HashMap<String, KernelHistory>,
}

/// What was measured of one kernel.
#[derive(Debug, Default, PartialEq)]
pub struct KernelHistory {
    /// Every time, oldest first.
    pub rows: Vec<Row>,
    /// What was learnt from experiments on it, newest last.
    pub findings: Vec<String>,
}

/// One measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number in the notebook.
    pub id: i64,
    /// When: milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// The device.
    pub device: String,
    /// What the time means.
    pub device_note: String,
    /// What was timed, where that is not the kernel itself: a host function that launches it.
    pub entry: Option<String>,
    /// The problem size.
    pub shape: String,
    /// The median in nanoseconds.
    pub median_ns: f64,
    /// Lower end of its 95% interval.
    pub low_ns: f64,
    /// Upper end of its 95% interval.
    pub high_ns: f64,
    /// How many samples it is made of.
    pub samples: usize,
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
    /// The ratio with its interval.
    pub ratio: SpeedRatio,
    /// What the interval says.
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
        let runs: BTreeSet<_> = points.iter().filter_map(|point| Some(point.experiment.as_ref()?.0)).collect();
        let mut findings = Vec::new();
        for run in runs {
            findings.extend(notebook.findings(run)?.into_iter().map(|finding| finding.text));
        }
        Ok(Self { rows: points.into_iter().map(|point| Row::of(point, kernel)).collect(), findings })
    }

    /// The newest row of each shape and device that was taken from code with this fingerprint, the slowest first.
    pub fn current(&self, fingerprint: &str) -> Vec<&Row> {
        newest(self.rows.iter().filter(|row| row.fingerprint.as_deref() == Some(fingerprint)))
    }

    /// As [`KernelHistory::current`] for the version that was measured last and is no candidate of an experiment.
    pub fn last(&self) -> Vec<&Row> {
        let Some(last) = self.rows.iter().rev().find(|row| row.speed.is_none()).or(self.rows.last()) else {
            return Vec::new();
        };
        newest(self.rows.iter().filter(|row| row.fingerprint == last.fingerprint))
    }
}

/// The rows of the device that was measured last: the newest of each shape, the slowest first.
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
        let bare = |name: &str| {
            let name = name.split('<').next().unwrap_or(name).trim();
            name.rsplit("::").next().unwrap_or(name).to_owned()
        };
        let hypothesis = experiment.map(|(_, hypothesis)| hypothesis);
        let is_against_original = hypothesis.as_ref().is_some_and(|value| value.get("candidate").is_some());
        Self {
            id: measurement.id.0,
            at_ms: measurement.at_ms,
            device: measurement.device,
            device_note: measurement.device_note,
            entry: measurement.kernel.filter(|name| bare(name) != bare(kernel)),
            shape: measurement.shape,
            median_ns: measurement.figure.median_ns,
            low_ns: measurement.figure.low_ns,
            high_ns: measurement.figure.high_ns,
            samples: measurement.figure.samples.len(),
            fingerprint: measurement.fingerprint,
            speed: speed.map(|(ratio, verdict)| Speed { ratio, verdict, is_against_original }),
            hypothesis: hypothesis.and_then(|value| value.get("title").and_then(Value::as_str).map(str::to_owned)),
        }
    }
}
