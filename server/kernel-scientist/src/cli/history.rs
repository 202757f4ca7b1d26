//! `history FILE`: what was measured before, kernel by kernel.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hip_syntax::Syntax;
use lab::SpeedRatio;
use notebook::{ForecastPoint, HistoryPoint, Notebook};
use serde::Serialize;
use serde_json::Value;

use super::context::read_source;
use super::versus::{self, Versus};
use super::{CliError, Context, figures};

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
pub struct HistoryArgs {
    /// HIP source file.
    file: PathBuf,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    kernels: Vec<KernelHistory>,
}

#[derive(Serialize)]
struct KernelHistory {
    name: String,
    fingerprint: String,
    measurements: Vec<Row>,
    /// Modelled times, for whatever device.
    forecasts: Vec<ForecastRow>,
    /// Forecast against measurement, where both are there.
    versus: Vec<Versus>,
}

#[derive(Serialize)]
struct ForecastRow {
    id: i64,
    at_ms: i64,
    device: String,
    device_note: String,
    /// Versions of the model and of the device's table.
    model: String,
    table: String,
    shape: String,
    ns: f64,
    low_ns: f64,
    high_ns: f64,
    fingerprint: Option<String>,
    current: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<lab::Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hypothesis: Option<String>,
}

#[derive(Serialize)]
struct Row {
    id: i64,
    at_ms: i64,
    device: String,
    device_note: String,
    shape: String,
    median_ns: f64,
    low_ns: f64,
    high_ns: f64,
    samples: usize,
    fingerprint: Option<String>,
    /// Whether the measured code is the kernel as it stands in the file now.
    current: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<lab::Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hypothesis: Option<String>,
}

/// Runs the command.
pub fn run(context: &Context, args: &HistoryArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    super::require_kernel(&source, args.kernel.as_deref())?;
    let path = context.notebook_path()?;
    let notebook = Notebook::open_existing(&path)?;
    let headers = source.headers();
    let mut kernels = Vec::new();
    for kernel in Syntax::without_tree(source.text.clone()).kernels() {
        if args.kernel.as_ref().is_some_and(|wanted| *wanted != kernel.name) {
            continue;
        }
        let (points, forecasts) = match &notebook {
            Some(notebook) => {
                (notebook.history(&source.path, &kernel.name)?, notebook.forecasts(&source.path, &kernel.name)?)
            }
            None => (Vec::new(), Vec::new()),
        };
        let now = kernel.fingerprint.resting_on(headers).to_string();
        kernels.push(KernelHistory {
            name: kernel.qualified_name.clone(),
            versus: versus::pairs(&kernel.qualified_name, &forecasts, &points),
            measurements: points.into_iter().map(|point| row(point, &now)).collect(),
            forecasts: forecasts.into_iter().map(|point| forecast_row(point, &now)).collect(),
            fingerprint: now,
        });
    }
    let answer = Answer { kernels };
    if context.json() {
        return context.print_json(&answer);
    }
    context.print(&text(args, &answer))
}

fn row(point: HistoryPoint, now: &str) -> Row {
    let measurement = point.measurement;
    Row {
        id: measurement.id.0,
        at_ms: measurement.at_ms,
        device: measurement.device,
        device_note: measurement.device_note,
        shape: measurement.shape,
        median_ns: measurement.figure.median_ns,
        low_ns: measurement.figure.low_ns,
        high_ns: measurement.figure.high_ns,
        samples: measurement.figure.samples.len(),
        current: measurement.fingerprint.as_deref() == Some(now),
        fingerprint: measurement.fingerprint,
        ratio: point.speed.as_ref().map(|(speed, _)| speed.ratio),
        ratio_low: point.speed.as_ref().map(|(speed, _)| speed.low),
        ratio_high: point.speed.as_ref().map(|(speed, _)| speed.high),
        verdict: point.speed.as_ref().map(|(_, verdict)| *verdict),
        hypothesis: title(point.experiment.map(|(_, hypothesis)| hypothesis)),
    }
}

/// `1.31x [1.28, 1.34] faster`.
fn speed(row: &Row) -> String {
    match (row.ratio, row.ratio_low, row.ratio_high, row.verdict) {
        (Some(ratio), Some(low), Some(high), Some(verdict)) => {
            format!("{} {verdict}", figures::speed(&SpeedRatio { ratio, low, high }))
        }
        _ => String::new(),
    }
}

fn forecast_row(point: ForecastPoint, now: &str) -> ForecastRow {
    let forecast = point.forecast;
    ForecastRow {
        id: forecast.id.0,
        at_ms: forecast.at_ms,
        device: forecast.device,
        device_note: forecast.device_note,
        model: forecast.model,
        table: forecast.table,
        shape: forecast.shape,
        ns: forecast.ns,
        low_ns: forecast.low_ns,
        high_ns: forecast.high_ns,
        current: forecast.fingerprint.as_deref() == Some(now),
        fingerprint: forecast.fingerprint,
        ratio: point.speed.as_ref().map(|(speed, _)| speed.ratio),
        verdict: point.speed.as_ref().map(|(_, verdict)| *verdict),
        hypothesis: title(point.experiment.map(|(_, hypothesis)| hypothesis)),
    }
}

fn title(hypothesis: Option<Value>) -> Option<String> {
    hypothesis.and_then(|hypothesis| hypothesis.get("title").and_then(Value::as_str).map(str::to_owned))
}

/// The forecasts, which are no measurements, and where both are there how far they agree.
fn forecast_table(kernel: &KernelHistory) -> String {
    if kernel.forecasts.is_empty() {
        return String::new();
    }
    let heading = ["when (UTC)", "for", "shape", "forecast", "speed", "code", "hypothesis"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    // Every comparison has its baseline's forecast again, which is the same each time.
    let mut seen = BTreeSet::new();
    let told = kernel.forecasts.iter().filter(|row| {
        let version = (&row.device, &row.shape, &row.fingerprint, row.ns.to_bits(), &row.table, &row.model);
        row.ratio.is_some() || seen.insert(version)
    });
    rows.extend(told.map(|row| {
        vec![
            super::report::moment::utc(row.at_ms),
            row.device.clone(),
            row.shape.clone(),
            figures::time(row.ns),
            match (row.ratio, row.verdict) {
                (Some(ratio), Some(verdict)) => format!("{ratio:.2}x {verdict}"),
                _ => String::new(),
            },
            if row.current { "as now" } else { "other version" }.to_owned(),
            row.hypothesis.clone().unwrap_or_default(),
        ]
    }));
    let mut out = figures::table(&rows);
    let notes: BTreeSet<_> = kernel.forecasts.iter().map(|row| (&row.device, &row.device_note)).collect();
    for (device, note) in notes {
        out.push_str(&format!("  {device}: {note}\n"));
    }
    if !kernel.versus.is_empty() {
        let heading = ["on", "shape", "forecast", "measured", "measured / forecast"];
        let mut rows = vec![heading.map(String::from).to_vec()];
        rows.extend(kernel.versus.iter().map(|pair| {
            vec![
                pair.device.clone(),
                pair.shape.clone(),
                figures::time(pair.forecast_ns),
                figures::time(pair.measured_ns),
                format!("{:.2}", pair.ratio),
            ]
        }));
        out.push_str(&figures::table(&rows));
    }
    out
}

fn text(args: &HistoryArgs, answer: &Answer) -> String {
    let mut out = String::new();
    for kernel in &answer.kernels {
        out.push_str(&format!("{}\n", kernel.name));
        if kernel.measurements.is_empty() && kernel.forecasts.is_empty() {
            out.push_str(&format!("  not measured yet: kernel-scientist time {}\n", args.file.display()));
            continue;
        }
        if kernel.measurements.is_empty() {
            out.push_str(&forecast_table(kernel));
            continue;
        }
        let mut rows =
            vec![["when (UTC)", "device", "shape", "median", "speed", "code", "hypothesis"].map(String::from).to_vec()];
        rows.extend(kernel.measurements.iter().map(|row| {
            vec![
                super::report::moment::utc(row.at_ms),
                row.device.clone(),
                row.shape.clone(),
                figures::spread(row.median_ns, row.low_ns, row.high_ns),
                speed(row),
                if row.current { "as now" } else { "other version" }.to_owned(),
                row.hypothesis.clone().unwrap_or_default(),
            ]
        }));
        out.push_str(&figures::table(&rows));
        let notes: BTreeSet<_> = kernel.measurements.iter().map(|row| (&row.device, &row.device_note)).collect();
        for (device, note) in notes.into_iter().filter(|(_, note)| !note.is_empty()) {
            out.push_str(&format!("  {device}: {note}\n"));
        }
        out.push_str(&forecast_table(kernel));
    }
    if out.is_empty() {
        out = format!("{}: no kernel (no __global__ function)\n", args.file.display());
    }
    out
}
