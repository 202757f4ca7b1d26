//! `history FILE`: what was measured before, kernel by kernel.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hip_syntax::Syntax;
use lab::SpeedRatio;
use notebook::{HistoryPoint, Notebook};
use serde::Serialize;
use serde_json::Value;

use super::context::read_source;
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
    let mut kernels = Vec::new();
    for kernel in Syntax::parse(source.text.clone()).kernels() {
        if args.kernel.as_ref().is_some_and(|wanted| *wanted != kernel.name) {
            continue;
        }
        let points = match &notebook {
            Some(notebook) => notebook.history(&source.path, &kernel.name)?,
            None => Vec::new(),
        };
        let now = kernel.fingerprint.to_string();
        let measurements = points.into_iter().map(|point| row(point, &now)).collect();
        kernels.push(KernelHistory { name: kernel.qualified_name.clone(), fingerprint: now, measurements });
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
        hypothesis: point
            .experiment
            .and_then(|(_, hypothesis)| hypothesis.get("title").and_then(Value::as_str).map(str::to_owned)),
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

fn text(args: &HistoryArgs, answer: &Answer) -> String {
    let mut out = String::new();
    for kernel in &answer.kernels {
        out.push_str(&format!("{}\n", kernel.name));
        if kernel.measurements.is_empty() {
            out.push_str(&format!("  not measured yet: kernel-scientist time {}\n", args.file.display()));
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
    }
    if out.is_empty() {
        out = format!("{}: no kernel (no __global__ function)\n", args.file.display());
    }
    out
}
