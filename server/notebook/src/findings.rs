//! Findings: what was predicted against what was measured or forecast, and how good the predictions are.

use std::path::Path;

use rusqlite::{Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::NotebookError;
use crate::experiments::ExperimentId;
use crate::runs::RunId;
use crate::store::{Notebook, now_ms, path_text};

/// Findings with their runs and experiments.
const FINDINGS: &str = "findings f JOIN runs r ON r.id = f.run JOIN experiments e ON e.id = f.experiment";
/// Who predicted. The catalog's hypotheses name nobody.
const AUTHOR: &str = "coalesce(json_extract(e.hypothesis, '$.author'), r.provider)";

/// A finding to record. Gains in percent of speed: 20 means 1.2x.
#[derive(Clone, Debug)]
pub struct NewFinding<'a> {
    /// The run it belongs to.
    pub run: RunId,
    /// The experiment that taught it; it teaches one finding.
    pub experiment: ExperimentId,
    /// The family of the hypothesis: its key without the place.
    pub about: &'a str,
    /// Low end of the prediction.
    pub min_percent: f64,
    /// High end of the prediction.
    pub max_percent: f64,
    /// What was measured; `None` when the experiment failed, or was forecast.
    pub measured_percent: Option<f64>,
    /// What was forecast, on a device that is forecast for.
    pub forecast_percent: Option<f64>,
    /// One sentence.
    pub text: &'a str,
}

/// A finding as it was recorded. Gains in percent of speed: 20 means 1.2x.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFinding {
    /// The run it belongs to.
    pub run: RunId,
    /// The experiment that taught it.
    pub experiment: ExperimentId,
    /// The family of the hypothesis.
    pub about: String,
    /// Low end of the prediction.
    pub min_percent: f64,
    /// High end of the prediction.
    pub max_percent: f64,
    /// What was measured; `None` when the experiment failed, or was forecast.
    pub measured_percent: Option<f64>,
    /// What was forecast, on a device that is forecast for.
    pub forecast_percent: Option<f64>,
    /// One sentence.
    pub text: String,
    /// The file it was learnt on.
    pub file: String,
    /// The device it was learnt on.
    pub device: String,
    /// When: milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// Who predicted: the model that designed it, else what stood behind the run.
    pub author: String,
}

/// How well predicted gains agree with measured ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// Predictions that could be held against a measurement.
    pub measured: u32,
    /// Those whose measured gain lay inside the predicted range.
    pub within: u32,
    /// Those whose measured gain lay below the range: promised too much.
    pub below: u32,
    /// Those whose measured gain lay above the range.
    pub above: u32,
    /// Experiments that failed and so could not be held against anything.
    pub failed: u32,
    /// Mean distance of the measured gain from the nearest end of the range, in percentage points; 0 inside.
    pub mean_miss_percent: f64,
}

impl Calibration {
    /// From (low end, high end, measured) in percent.
    pub fn of(predictions: impl IntoIterator<Item = (f64, f64, Option<f64>)>) -> Self {
        let mut calibration = Self::default();
        let mut missed = 0.0;
        for (min, max, measured) in predictions {
            match measured {
                None => calibration.failed += 1,
                Some(gain) => {
                    calibration.measured += 1;
                    if gain < min {
                        calibration.below += 1;
                        missed += min - gain;
                    } else if gain > max {
                        calibration.above += 1;
                        missed += gain - max;
                    } else {
                        calibration.within += 1;
                    }
                }
            }
        }
        if calibration.measured > 0 {
            calibration.mean_miss_percent = missed / f64::from(calibration.measured);
        }
        calibration
    }

    /// Share of the measured gains that lay inside their range, 0 to 1; `None` when nothing was measured.
    pub fn score(&self) -> Option<f64> {
        (self.measured > 0).then(|| f64::from(self.within) / f64::from(self.measured))
    }
}

impl StoredFinding {
    /// What came of it, measured or forecast.
    pub fn gain_percent(&self) -> Option<f64> {
        self.measured_percent.or(self.forecast_percent)
    }
}

impl Notebook {
    /// Records a finding. Recording one for the same experiment again changes nothing, as for a candidate.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_finding(&self, finding: &NewFinding<'_>) -> Result<(), NotebookError> {
        self.write("recording a finding", |transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO findings (run, experiment, about, min_percent, max_percent, measured_percent, text, at_ms,
                                           forecast_percent)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
                )?
                .execute(params![
                    finding.run,
                    finding.experiment,
                    finding.about,
                    finding.min_percent,
                    finding.max_percent,
                    finding.measured_percent,
                    finding.text,
                    now_ms(),
                    finding.forecast_percent
                ])
                .map(|_| ())
        })
    }

    /// What one run taught, oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn findings(&self, run: RunId) -> Result<Vec<StoredFinding>, NotebookError> {
        self.select_findings("f.run = ?1", params![run])
    }

    /// What every run taught about a family of hypotheses, on every file and device, oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn findings_about(&self, family: &str) -> Result<Vec<StoredFinding>, NotebookError> {
        self.select_findings("f.about = ?1", params![family])
    }

    /// What the runs of a file on a device taught before `run` was started, oldest first. Later runs are left out so that
    /// a run that is resumed sees just what it saw at its start.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn findings_before(&self, run: RunId, file: &Path, device: &str) -> Result<Vec<StoredFinding>, NotebookError> {
        self.select_findings("f.run < ?1 AND r.file = ?2 AND r.device = ?3", params![run, path_text(file), device])
    }

    /// How well the predictions of everything that ever designed experiments agree with what came of them, by
    /// [`StoredFinding::author`].
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn calibrations(&self) -> Result<Vec<(String, Calibration)>, NotebookError> {
        let rows: Vec<(String, f64, f64, Option<f64>)> = self.read("reading findings", |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {AUTHOR} AS author, f.min_percent, f.max_percent,
                                coalesce(f.measured_percent, f.forecast_percent)
                         FROM {FINDINGS} ORDER BY author, f.id"
                ))?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
                .collect()
        })?;
        let of_one = |rows: &[(String, f64, f64, Option<f64>)]| {
            let predictions = rows.iter().map(|(_, min, max, gain)| (*min, *max, *gain));
            Some((rows.first()?.0.clone(), Calibration::of(predictions)))
        };
        Ok(rows.chunk_by(|one, other| one.0 == other.0).filter_map(of_one).collect())
    }

    fn select_findings(
        &self,
        condition: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> Result<Vec<StoredFinding>, NotebookError> {
        self.read("reading findings", |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT f.run, f.experiment, f.about, f.min_percent, f.max_percent, f.measured_percent, f.text, r.file,
                            r.device, f.at_ms, f.forecast_percent, {AUTHOR}
                     FROM {FINDINGS} WHERE {condition} ORDER BY f.id"
                ))?
                .query_map(values, read_finding)?
                .collect()
        })
    }
}

fn read_finding(row: &Row<'_>) -> rusqlite::Result<StoredFinding> {
    Ok(StoredFinding {
        run: row.get(0)?,
        experiment: row.get(1)?,
        about: row.get(2)?,
        min_percent: row.get(3)?,
        max_percent: row.get(4)?,
        measured_percent: row.get(5)?,
        text: row.get(6)?,
        file: row.get(7)?,
        device: row.get(8)?,
        at_ms: row.get(9)?,
        forecast_percent: row.get(10)?,
        author: row.get(11)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_counts_where_the_measured_gain_lies() {
        let check = |predictions: &[(f64, f64, Option<f64>)], within, below, above, failed, miss: f64| {
            let found = Calibration::of(predictions.iter().copied());
            let measured = within + below + above;
            let expected = Calibration { measured, within, below, above, failed, mean_miss_percent: miss };
            assert_eq!(found, expected, "{predictions:?}");
        };
        check(&[], 0, 0, 0, 0, 0.0);
        check(&[(5.0, 10.0, None)], 0, 0, 0, 1, 0.0);
        check(&[(5.0, 10.0, Some(5.0)), (5.0, 10.0, Some(10.0))], 2, 0, 0, 0, 0.0);
        check(&[(5.0, 10.0, Some(-1.0)), (5.0, 10.0, Some(14.0))], 0, 1, 1, 0, 5.0);
        assert_eq!(Calibration::of([]).score(), None);
        assert_eq!(Calibration::of([(0.0, 1.0, Some(0.5)), (0.0, 1.0, Some(2.0))]).score(), Some(0.5));
    }
}
