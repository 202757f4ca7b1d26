//! Measurements and comparisons: every sample, and all that is needed to judge it later.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use lab::{Comparison, Figure, ShapeComparison, SpeedRatio, TimeReport, Verdict};
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::error::NotebookError;
use crate::forecasts::{self, Made};
use crate::store::{Notebook, from_json, now_ms, path_text, to_json};
use crate::texts::{self, KernelFingerprint, TextHash};

/// Number of a measurement, unique in its notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MeasurementId(pub i64);

/// Number of a comparison, unique in its notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ComparisonId(pub i64);

macro_rules! column {
    ($name:ident) => {
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    };
}
pub(crate) use column;
column!(MeasurementId);
column!(ComparisonId);

/// One version of a source, with its kernels.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredCode<'a> {
    /// The text that was built.
    pub text: &'a str,
    /// The kernels in it.
    pub kernels: &'a [KernelFingerprint],
}

impl MeasuredCode<'_> {
    /// The fingerprint of a kernel as a report names it, which may be with template arguments and namespaces.
    pub(crate) fn fingerprint(&self, name: &str) -> Option<&str> {
        let is_it = |kernel: &&KernelFingerprint| is_named(&kernel.kernel, name);
        self.kernels.iter().find(is_it).map(|kernel| kernel.fingerprint.as_str())
    }
}

/// Whether `name`, as a report has it, can be that of a kernel: either may lack namespaces, and neither's template arguments count.
pub(crate) fn is_named(kernel: &str, name: &str) -> bool {
    let path = |name: &str| name.split('<').next().unwrap_or(name).trim().replace("(anonymous namespace)::", "");
    let (kernel, name) = (path(kernel), path(name));
    let ends_with = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with("::"))
    };
    ends_with(&kernel, &name) || ends_with(&name, &kernel)
}

/// `scale` of `ns::scale<float, 4>`.
pub(crate) fn bare_name(name: &str) -> &str {
    let head = name.split('<').next().unwrap_or(name);
    head.rsplit("::").next().unwrap_or(head).trim()
}

/// One measured time and what it was taken from.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Its number.
    pub id: MeasurementId,
    /// The code.
    pub text: TextHash,
    /// The kernel, with template arguments where they were known; `None` when the whole benchmark was timed.
    pub kernel: Option<String>,
    /// The kernel's fingerprint.
    pub fingerprint: Option<String>,
    /// The problem size.
    pub shape: String,
    /// The device.
    pub device: String,
    /// What the time means.
    pub device_note: String,
    /// Toolchain and version.
    pub toolchain: String,
    /// Seed of the inputs and of the order of runs.
    pub seed: u64,
    /// The time, with every sample.
    pub figure: Figure,
    /// How long the whole report took to take.
    pub took: Duration,
    /// When: milliseconds since 1970, UTC.
    pub at_ms: i64,
}

/// A comparison as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredComparison {
    /// Its number.
    pub id: ComparisonId,
    /// The baseline's code.
    pub baseline: TextHash,
    /// The candidate's code.
    pub candidate: TextHash,
    /// What was measured.
    pub comparison: Comparison,
    /// How long it took.
    pub took: Duration,
    /// When: milliseconds since 1970, UTC.
    pub at_ms: i64,
}

impl Notebook {
    /// Records a report of times, one row for each kernel and shape. Forecasts go to a table of their own and have no number
    /// among the measurements.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_times(
        &self,
        file: &Path,
        code: MeasuredCode<'_>,
        report: &TimeReport,
        seed: u64,
        took: Duration,
    ) -> Result<Vec<MeasurementId>, NotebookError> {
        if let Some(basis) = &report.forecast {
            return self.record_forecasts(file, code, report, basis, took).map(|()| Vec::new());
        }
        self.write("recording times", |transaction| {
            let text = texts::keep(transaction, code.text, code.kernels)?;
            let taken = Taken {
                file: path_text(file),
                device: &report.device,
                device_note: &report.device_note,
                toolchain: &report.toolchain,
                seed,
                took,
            };
            report
                .kernels
                .iter()
                .map(|timing| {
                    let kernel = Some(timing.name.as_str()).filter(|name| !name.is_empty());
                    let fingerprint = kernel.and_then(|name| code.fingerprint(name));
                    taken.insert(transaction, &text, kernel, fingerprint, &timing.shape, &timing.figure)
                })
                .collect()
        })
    }

    /// Records a comparison: one row for it, one for each shape, two measurements for each shape.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record_comparison(
        &self,
        file: &Path,
        baseline: MeasuredCode<'_>,
        candidate: MeasuredCode<'_>,
        comparison: &Comparison,
        took: Duration,
    ) -> Result<ComparisonId, NotebookError> {
        self.write("recording a comparison", |transaction| {
            insert_comparison(transaction, file, baseline, candidate, comparison, took)
        })
    }

    /// A comparison, just as the lab reported it.
    ///
    /// # Errors
    /// [`NotebookError::Missing`] when there is none of that number.
    pub fn comparison(&self, id: ComparisonId) -> Result<StoredComparison, NotebookError> {
        self.read("reading a comparison", |connection| read_comparison(connection, id).optional())?.ok_or_else(|| {
            NotebookError::Missing { path: self.path().to_path_buf(), what: format!("comparison {}", id.0) }
        })
    }

    /// One measurement.
    ///
    /// # Errors
    /// [`NotebookError::Missing`] when there is none of that number.
    pub fn measurement(&self, id: MeasurementId) -> Result<Measurement, NotebookError> {
        self.read("reading a measurement", |connection| {
            connection
                .prepare_cached(&format!("SELECT {MEASUREMENT} FROM measurements m WHERE m.id = ?1"))?
                .query_row([id], |row| read_measurement(row, 0))
                .optional()
        })?
        .ok_or_else(|| NotebookError::Missing {
            path: self.path().to_path_buf(),
            what: format!("measurement {}", id.0),
        })
    }
}

/// What the rows of one report have in common.
struct Taken<'a> {
    file: String,
    device: &'a str,
    device_note: &'a str,
    toolchain: &'a str,
    seed: u64,
    took: Duration,
}

impl Taken<'_> {
    fn insert(
        &self,
        connection: &Connection,
        text: &TextHash,
        kernel: Option<&str>,
        fingerprint: Option<&str>,
        shape: &str,
        figure: &Figure,
    ) -> rusqlite::Result<MeasurementId> {
        connection
            .prepare_cached(
                "INSERT INTO measurements (file, text, kernel, fingerprint, shape, device, device_note, toolchain, seed,
                                           median_ns, low_ns, high_ns, samples, took_ms, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                self.file,
                text,
                kernel,
                fingerprint,
                shape,
                self.device,
                self.device_note,
                self.toolchain,
                self.seed as i64,
                figure.median_ns,
                figure.low_ns,
                figure.high_ns,
                pack(&figure.samples),
                self.took.as_millis() as i64,
                now_ms()
            ])?;
        Ok(MeasurementId(connection.last_insert_rowid()))
    }
}

/// Records a comparison inside the caller's transaction.
pub(crate) fn insert_comparison(
    connection: &Connection,
    file: &Path,
    baseline: MeasuredCode<'_>,
    candidate: MeasuredCode<'_>,
    comparison: &Comparison,
    took: Duration,
) -> rusqlite::Result<ComparisonId> {
    let baseline_text = texts::keep(connection, baseline.text, baseline.kernels)?;
    let candidate_text = texts::keep(connection, candidate.text, candidate.kernels)?;
    connection.execute(
        "INSERT INTO comparisons (file, baseline, candidate, device, device_note, toolchain, seed, ratio, low, high,
                                  verdict, took_ms, at_ms, forecast)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        params![
            path_text(file),
            baseline_text,
            candidate_text,
            comparison.device,
            comparison.device_note,
            comparison.toolchain,
            comparison.seed as i64,
            comparison.speed.ratio,
            comparison.speed.low,
            comparison.speed.high,
            comparison.verdict.to_string(),
            took.as_millis() as i64,
            now_ms(),
            comparison.forecast.as_ref().map(to_json).transpose()?
        ],
    )?;
    let id = ComparisonId(connection.last_insert_rowid());
    if let Some(basis) = &comparison.forecast {
        let (device, device_note) = (comparison.device.as_str(), comparison.device_note.as_str());
        let made = Made { file: path_text(file), device, device_note, basis, took };
        for (position, shape) in comparison.shapes.iter().enumerate() {
            let before = made.insert(connection, &baseline_text, None, None, &shape.shape, &shape.baseline)?;
            let after = made.insert(connection, &candidate_text, None, None, &shape.shape, &shape.candidate)?;
            forecasts::insert_ratio(connection, id, position, shape, (before, after))?;
        }
        return Ok(id);
    }
    let taken = Taken {
        file: path_text(file),
        device: &comparison.device,
        device_note: &comparison.device_note,
        toolchain: &comparison.toolchain,
        seed: comparison.seed,
        took,
    };
    for (position, shape) in comparison.shapes.iter().enumerate() {
        let before = taken.insert(connection, &baseline_text, None, None, &shape.shape, &shape.baseline)?;
        let after = taken.insert(connection, &candidate_text, None, None, &shape.shape, &shape.candidate)?;
        connection
            .prepare_cached(
                "INSERT INTO shape_ratios (comparison, position, shape, held_out, baseline, candidate, ratio, low, high,
                                           verdict)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                id,
                position as i64,
                shape.shape,
                shape.held_out,
                before,
                after,
                shape.speed.ratio,
                shape.speed.low,
                shape.speed.high,
                shape.verdict.to_string()
            ])?;
    }
    Ok(id)
}

/// Reads a comparison back.
pub(crate) fn read_comparison(connection: &Connection, id: ComparisonId) -> rusqlite::Result<StoredComparison> {
    connection
        .prepare_cached(
            "SELECT baseline, candidate, device, device_note, toolchain, seed, ratio, low, high, verdict, took_ms, at_ms,
                    forecast
             FROM comparisons WHERE id = ?1",
        )?
        .query_row([id], |row| {
            let forecast = match row.get::<_, Option<String>>(12)? {
                Some(basis) => Some(from_json(12, &basis)?),
                None => None,
            };
            let shapes = match &forecast {
                Some(_) => forecasts::read_shapes(connection, id)?,
                None => read_shapes(connection, id)?,
            };
            Ok(StoredComparison {
                id,
                baseline: row.get(0)?,
                candidate: row.get(1)?,
                comparison: Comparison {
                    device: row.get(2)?,
                    device_note: row.get(3)?,
                    toolchain: row.get(4)?,
                    seed: row.get::<_, i64>(5)? as u64,
                    shapes,
                    speed: SpeedRatio { ratio: row.get(6)?, low: row.get(7)?, high: row.get(8)? },
                    verdict: read_verdict(row, 9)?,
                    forecast,
                },
                took: Duration::from_millis(row.get::<_, i64>(10)?.max(0) as u64),
                at_ms: row.get(11)?,
            })
        })
}

fn read_shapes(connection: &Connection, id: ComparisonId) -> rusqlite::Result<Vec<ShapeComparison>> {
    let figures: HashMap<i64, Figure> = connection
        .prepare_cached(
            "SELECT m.id, m.median_ns, m.low_ns, m.high_ns, m.samples FROM shape_ratios s
             JOIN measurements m ON m.id IN (s.baseline, s.candidate) WHERE s.comparison = ?1",
        )?
        .query_map([id], |row| Ok((row.get(0)?, read_figure(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let figure = |id: i64| figures.get(&id).cloned().ok_or(rusqlite::Error::QueryReturnedNoRows);
    connection
        .prepare_cached(
            "SELECT shape, held_out, baseline, candidate, ratio, low, high, verdict FROM shape_ratios
             WHERE comparison = ?1 ORDER BY position",
        )?
        .query_map([id], |row| {
            Ok(ShapeComparison {
                shape: row.get(0)?,
                held_out: row.get(1)?,
                baseline: figure(row.get(2)?)?,
                candidate: figure(row.get(3)?)?,
                speed: SpeedRatio { ratio: row.get(4)?, low: row.get(5)?, high: row.get(6)? },
                verdict: read_verdict(row, 7)?,
            })
        })?
        .collect()
}

/// The columns that [`read_measurement`] reads, of a table called `m`.
pub(crate) const MEASUREMENT: &str =
    "m.id, m.text, m.kernel, m.fingerprint, m.shape, m.device, m.device_note, m.toolchain,
     m.seed, m.median_ns, m.low_ns, m.high_ns, m.samples, m.took_ms, m.at_ms";

/// Reads a measurement whose columns start at `first`.
pub(crate) fn read_measurement(row: &Row<'_>, first: usize) -> rusqlite::Result<Measurement> {
    Ok(Measurement {
        id: row.get(first)?,
        text: row.get(first + 1)?,
        kernel: row.get(first + 2)?,
        fingerprint: row.get(first + 3)?,
        shape: row.get(first + 4)?,
        device: row.get(first + 5)?,
        device_note: row.get(first + 6)?,
        toolchain: row.get(first + 7)?,
        seed: row.get::<_, i64>(first + 8)? as u64,
        figure: read_figure(row, first + 9)?,
        took: Duration::from_millis(row.get::<_, i64>(first + 13)?.max(0) as u64),
        at_ms: row.get(first + 14)?,
    })
}

fn read_figure(row: &Row<'_>, first: usize) -> rusqlite::Result<Figure> {
    Ok(Figure {
        median_ns: row.get(first)?,
        low_ns: row.get(first + 1)?,
        high_ns: row.get(first + 2)?,
        samples: unpack(&row.get::<_, Vec<u8>>(first + 3)?),
    })
}

/// Reads a verdict, which is kept as the word that is shown.
pub(crate) fn read_verdict(row: &Row<'_>, column: usize) -> rusqlite::Result<Verdict> {
    let word: String = row.get(column)?;
    serde_json::from_value(serde_json::Value::String(word))
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

fn pack(samples: &[f64]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

fn unpack(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_apart_by_their_namespaces_where_both_names_have_them() {
        for (kernel, name, is_it) in [
            ("k", "k", true),
            ("one::k", "one::k<float, 4>", true),
            ("one::k", "k<float>", true),
            ("k", "(anonymous namespace)::k", true),
            ("one::k", "one::(anonymous namespace)::k", true),
            ("k", "outer::one::k", true),
            ("one::k", "two::k", false),
            ("one::k", "k2", false),
            ("one::k", "one::pack_k", false),
            ("k", "pack_k", false),
        ] {
            assert_eq!(is_named(kernel, name), is_it, "{kernel} by {name}");
        }
    }

    #[test]
    fn a_fingerprint_is_that_of_the_kernel_in_its_namespace() {
        let of = |kernel: &str, fingerprint: &str| KernelFingerprint {
            kernel: kernel.into(),
            fingerprint: fingerprint.into(),
        };
        let kernels = [of("one::k", "1"), of("two::k", "2")];
        let code = MeasuredCode { text: "", kernels: &kernels };
        assert_eq!(
            ["two::k", "one::k<8>", "three::k"].map(|name| code.fingerprint(name)),
            [Some("2"), Some("1"), None]
        );
    }
}
