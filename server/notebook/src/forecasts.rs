//! Forecasts: modelled times, in a table of their own, with the versions of the model and of the device's table.

use std::path::Path;
use std::time::Duration;

use lab::forecast::Basis;
use lab::{Figure, SpeedRatio, TimeReport, Verdict};
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::NotebookError;
use crate::measurements::{ComparisonId, MeasuredCode, bare_name, column, is_named, read_verdict};
use crate::runs::RunId;
use crate::store::{Notebook, from_json, now_ms, path_text};
use crate::texts::{self, TextHash};

/// Number of a forecast, unique in its notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ForecastId(pub i64);
column!(ForecastId);

/// One forecast time and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Its number.
    pub id: ForecastId,
    /// The code.
    pub text: TextHash,
    /// The kernel, with template arguments; `None` where it is a whole benchmark's.
    pub kernel: Option<String>,
    /// The kernel's fingerprint.
    pub fingerprint: Option<String>,
    /// The problem size.
    pub shape: String,
    /// The device that it is for.
    pub device: String,
    /// What the time means.
    pub device_note: String,
    /// Version of the model.
    pub model: String,
    /// Version of the device's table.
    pub table: String,
    /// Nanoseconds.
    pub ns: f64,
    /// Lower end of what nine of ten validated times lay within.
    pub low_ns: f64,
    /// Upper end.
    pub high_ns: f64,
    /// How long it took to make.
    pub took: Duration,
    /// When: milliseconds since 1970, UTC.
    pub at_ms: i64,
}

/// One point of a kernel's history of forecasts.
#[derive(Clone, Debug, PartialEq)]
pub struct ForecastPoint {
    /// The forecast. Its `fingerprint` is that of the kernel that was asked for.
    pub forecast: Forecast,
    /// Whether the shape was held out. Never show such a point to a stage.
    pub held_out: bool,
    /// Speed against the baseline of the same comparison, where this was the candidate of one.
    pub speed: Option<(SpeedRatio, Verdict)>,
    /// The run and the hypothesis it belongs to, if any.
    pub experiment: Option<(RunId, Value)>,
}

/// What the rows of one report have in common.
pub(crate) struct Made<'a> {
    pub(crate) file: String,
    pub(crate) device: &'a str,
    pub(crate) device_note: &'a str,
    pub(crate) basis: &'a Basis,
    pub(crate) took: Duration,
}

impl Made<'_> {
    pub(crate) fn insert(
        &self,
        connection: &Connection,
        text: &TextHash,
        kernel: Option<&str>,
        fingerprint: Option<&str>,
        shape: &str,
        figure: &Figure,
    ) -> rusqlite::Result<ForecastId> {
        connection
            .prepare_cached(
                "INSERT INTO forecasts (file, text, kernel, fingerprint, shape, device, device_note, model, device_table,
                                        ns, low_ns, high_ns, took_ms, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?
            .execute(params![
                self.file,
                text,
                kernel,
                fingerprint,
                shape,
                self.device,
                self.device_note,
                self.basis.model,
                self.basis.table,
                figure.median_ns,
                figure.low_ns,
                figure.high_ns,
                self.took.as_millis() as i64,
                now_ms()
            ])?;
        Ok(ForecastId(connection.last_insert_rowid()))
    }
}

/// Records one shape of a comparison of forecasts.
pub(crate) fn insert_ratio(
    connection: &Connection,
    comparison: ComparisonId,
    position: usize,
    shape: &lab::ShapeComparison,
    (before, after): (ForecastId, ForecastId),
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO forecast_ratios (comparison, position, shape, held_out, baseline, candidate, ratio, low, high,
                                          verdict)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            comparison,
            position as i64,
            shape.shape,
            shape.held_out,
            before,
            after,
            shape.speed.ratio,
            shape.speed.low,
            shape.speed.high,
            shape.verdict.to_string()
        ])
        .map(|_| ())
}

/// The shapes of a comparison of forecasts.
pub(crate) fn read_shapes(connection: &Connection, id: ComparisonId) -> rusqlite::Result<Vec<lab::ShapeComparison>> {
    connection
        .prepare_cached(
            "SELECT s.shape, s.held_out, s.ratio, s.low, s.high, s.verdict, b.ns, b.low_ns, b.high_ns, c.ns, c.low_ns,
                    c.high_ns
             FROM forecast_ratios s
             JOIN forecasts b ON b.id = s.baseline
             JOIN forecasts c ON c.id = s.candidate
             WHERE s.comparison = ?1 ORDER BY s.position",
        )?
        .query_map([id], |row| {
            Ok(lab::ShapeComparison {
                shape: row.get(0)?,
                held_out: row.get(1)?,
                speed: SpeedRatio { ratio: row.get(2)?, low: row.get(3)?, high: row.get(4)? },
                verdict: read_verdict(row, 5)?,
                baseline: read_figure(row, 6)?,
                candidate: read_figure(row, 9)?,
            })
        })?
        .collect()
}

fn read_figure(row: &Row<'_>, first: usize) -> rusqlite::Result<Figure> {
    Ok(Figure {
        median_ns: row.get(first)?,
        low_ns: row.get(first + 1)?,
        high_ns: row.get(first + 2)?,
        samples: Vec::new(),
    })
}

impl Notebook {
    /// Records a report of forecasts, one row for each kernel and shape.
    pub(crate) fn record_forecasts(
        &self,
        file: &Path,
        code: MeasuredCode<'_>,
        report: &TimeReport,
        basis: &Basis,
        took: Duration,
    ) -> Result<(), NotebookError> {
        self.write("recording forecasts", |transaction| {
            let text = texts::keep(transaction, code.text, code.kernels)?;
            let made =
                Made { file: path_text(file), device: &report.device, device_note: &report.device_note, basis, took };
            for timing in &report.kernels {
                let kernel = Some(timing.name.as_str()).filter(|name| !name.is_empty());
                let fingerprint = kernel.and_then(|name| code.fingerprint(name));
                made.insert(transaction, &text, kernel, fingerprint, &timing.shape, &timing.figure)?;
            }
            Ok(())
        })
    }

    /// Every forecast of a kernel in a file, for every device, oldest first; those of a host function that launches it too,
    /// whose name their `kernel` then is. Names are as for [`Notebook::history`].
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn forecasts(&self, file: &Path, kernel: &str) -> Result<Vec<ForecastPoint>, NotebookError> {
        let asked = kernel.split('<').next().unwrap_or(kernel).trim();
        let bare = bare_name(kernel);
        let values: &[&dyn ToSql] = params![path_text(file), asked, bare];
        let mut points = self.read("reading the forecasts of a kernel", |connection| {
            connection
                .prepare_cached(&format!(
                    "SELECT m.id, m.text, m.kernel, k.fingerprint, m.shape, m.device, m.device_note, m.model,
                            m.device_table, m.ns, m.low_ns, m.high_ns, m.took_ms, m.at_ms,
                            k.kernel, s.held_out OR b.held_out, s.ratio, s.low, s.high, s.verdict, e.run, e.hypothesis,
                            {OF_NO_KERNEL}
                     FROM forecasts m
                     JOIN text_kernels k ON k.text = m.text
                     LEFT JOIN forecast_ratios s ON s.candidate = m.id
                     LEFT JOIN forecast_ratios b ON b.baseline = m.id
                     LEFT JOIN experiments e ON e.comparison = s.comparison
                     WHERE m.file = ?1
                       AND (k.kernel IN (?2, ?3) OR ?2 = ?3 AND substr(k.kernel, -length(?3) - 2) = '::' || ?3)
                     ORDER BY m.id"
                ))?
                .query_map(values, read_point)?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        // A report names kernels with their template arguments, which SQL cannot take off.
        points.retain(|row| {
            let is_it = |name: &str| is_named(&row.kernel, name);
            row.is_of_no_kernel || row.point.forecast.kernel.as_deref().is_none_or(is_it)
        });
        Ok(points.into_iter().map(|row| row.point).collect())
    }
}

/// Whether what was forecast is a host function that a benchmark file calls, as in the history of measurements. The rows of one
/// report took the same time to make.
const OF_NO_KERNEL: &str = "m.kernel IS NOT NULL AND m.fingerprint IS NULL AND substr(m.shape, 1, 5) <> 'grid '
    AND NOT EXISTS (SELECT 1 FROM forecasts o
                    WHERE o.text = m.text AND o.file = m.file AND o.device = m.device AND o.took_ms = m.took_ms
                      AND o.fingerprint IS NOT NULL)";

/// A point beside one of the kernels of its text.
struct PointRow {
    kernel: String,
    /// What was forecast is a host function that launches some; its time is one of every kernel of the text.
    is_of_no_kernel: bool,
    point: ForecastPoint,
}

fn read_point(row: &Row<'_>) -> rusqlite::Result<PointRow> {
    let forecast = Forecast {
        id: row.get(0)?,
        text: row.get(1)?,
        kernel: row.get(2)?,
        fingerprint: row.get(3)?,
        shape: row.get(4)?,
        device: row.get(5)?,
        device_note: row.get(6)?,
        model: row.get(7)?,
        table: row.get(8)?,
        ns: row.get(9)?,
        low_ns: row.get(10)?,
        high_ns: row.get(11)?,
        took: Duration::from_millis(row.get::<_, i64>(12)?.max(0) as u64),
        at_ms: row.get(13)?,
    };
    let speed = match row.get(16)? {
        Some(ratio) => Some((SpeedRatio { ratio, low: row.get(17)?, high: row.get(18)? }, read_verdict(row, 19)?)),
        None => None,
    };
    let experiment = match row.get::<_, Option<RunId>>(20)? {
        Some(run) => Some((run, from_json(21, &row.get::<_, String>(21)?)?)),
        None => None,
    };
    let held_out = row.get::<_, Option<bool>>(15)?.unwrap_or(false);
    let point = ForecastPoint { forecast, held_out, speed, experiment };
    Ok(PointRow { kernel: row.get(14)?, is_of_no_kernel: row.get(22)?, point })
}
