//! The history of a kernel: every time that was ever measured of it.

use std::path::Path;

use lab::{SpeedRatio, Verdict};
use rusqlite::{Row, ToSql, params};
use serde_json::Value;

use crate::error::NotebookError;
use crate::measurements::{MEASUREMENT, Measurement, bare_name, is_named, read_measurement, read_verdict};
use crate::runs::RunId;
use crate::store::{Notebook, from_json, path_text};

/// One point of a kernel's history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    /// The time and what it was taken from. Its `fingerprint` is that of the kernel that was asked for, in the text that
    /// was measured, also where the whole benchmark was timed, or a host function that launches it (its `kernel` then
    /// names that).
    pub measurement: Measurement,
    /// Whether the shape was held out. Never show such a point to a stage.
    pub held_out: bool,
    /// Speed against the baseline of the same comparison, where this was the candidate of one.
    pub speed: Option<(SpeedRatio, Verdict)>,
    /// The run and the hypothesis it belongs to, if any.
    pub experiment: Option<(RunId, Value)>,
}

impl Notebook {
    /// Every time of a kernel in a file, on every device, oldest first. The name may come with namespaces and template
    /// arguments; without namespaces it stands for the kernel of that name in any of them.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn history(&self, file: &Path, kernel: &str) -> Result<Vec<HistoryPoint>, NotebookError> {
        let asked = kernel.split('<').next().unwrap_or(kernel).trim();
        let bare = bare_name(kernel);
        self.points(
            "m.file = ?1 AND (k.kernel IN (?2, ?3) OR ?2 = ?3 AND substr(k.kernel, -length(?3) - 2) = '::' || ?3)",
            params![path_text(file), asked, bare],
        )
    }

    /// Every time measured of code with this fingerprint, in whatever file it stood, oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn measured(&self, fingerprint: &str) -> Result<Vec<HistoryPoint>, NotebookError> {
        self.points("k.fingerprint = ?1", params![fingerprint])
    }

    fn points(&self, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<HistoryPoint>, NotebookError> {
        let mut points = self.read("reading the history of a kernel", |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT {MEASUREMENT}, k.kernel, k.fingerprint, s.held_out OR b.held_out, s.ratio, s.low, s.high,
                            s.verdict, e.run, e.hypothesis, {OF_NO_KERNEL}
                     FROM measurements m
                     JOIN text_kernels k ON k.text = m.text
                     LEFT JOIN shape_ratios s ON s.candidate = m.id
                     LEFT JOIN shape_ratios b ON b.baseline = m.id
                     LEFT JOIN experiments e ON e.comparison = s.comparison
                     WHERE {condition} ORDER BY m.id"
                ))?
                .query_map(values, read_point)?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        // A report names kernels with their template arguments, which SQL cannot take off.
        points.retain(|row| {
            row.is_of_no_kernel
                || row.point.measurement.kernel.as_deref().is_none_or(|name| is_named(&row.kernel, name))
        });
        Ok(points.into_iter().map(|row| row.point).collect())
    }
}

/// Whether what was timed is a host function that a benchmark file calls: it is no kernel of the text, nor is anything else
/// in its report. (A program's launches are named by their grids; a kernel among them that is not in the text stands in a
/// header.)
const OF_NO_KERNEL: &str = "m.kernel IS NOT NULL AND m.fingerprint IS NULL AND substr(m.shape, 1, 5) <> 'grid '
    AND NOT EXISTS (SELECT 1 FROM measurements o
                    WHERE o.text = m.text AND o.file = m.file AND o.seed = m.seed AND o.fingerprint IS NOT NULL)";

/// The columns after those of the measurement.
const REST: usize = 15;

/// A point beside one of the kernels of its text.
struct PointRow {
    kernel: String,
    /// What was timed is no kernel: a host function that launches some. Its time is one of every kernel of the text.
    is_of_no_kernel: bool,
    point: HistoryPoint,
}

fn read_point(row: &Row<'_>) -> rusqlite::Result<PointRow> {
    let mut measurement = read_measurement(row, 0)?;
    let is_of_no_kernel = row.get(REST + 9)?;
    measurement.fingerprint = row.get(REST + 1)?;
    let speed = match row.get(REST + 3)? {
        Some(ratio) => {
            let speed = SpeedRatio { ratio, low: row.get(REST + 4)?, high: row.get(REST + 5)? };
            Some((speed, read_verdict(row, REST + 6)?))
        }
        None => None,
    };
    let experiment = match row.get::<_, Option<RunId>>(REST + 7)? {
        Some(run) => Some((run, from_json(REST + 8, &row.get::<_, String>(REST + 8)?)?)),
        None => None,
    };
    let held_out = row.get::<_, Option<bool>>(REST + 2)?.unwrap_or(false);
    let point = HistoryPoint { measurement, held_out, speed, experiment };
    Ok(PointRow { kernel: row.get(REST)?, is_of_no_kernel, point })
}
