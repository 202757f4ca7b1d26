//! `time FILE [--against OTHER]`: a checked time, or a checked comparison.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lab::benchmark::Benchmark;
use lab::forecast::Basis;
use lab::workbench::{COMPARISON_BUDGET, Sampling, ShapeChoice};
use lab::{Clock, Comparison, Failure, LabError, SpeedRatio, TimeReport, Verdict};
use serde::Serialize;

use super::context::read_source;
use super::error::FailureRow;
use super::progress::Progress;
use super::subject::{self, Subject, SubjectArgs, Taken};
use super::{CliError, Context, figures};

/// Sampling time of a version alone where nothing else is asked for.
const TIMING_BUDGET: Duration = Duration::from_millis(600);

/// Arguments of `time`.
#[derive(Debug, clap::Args)]
pub struct TimeArgs {
    /// HIP source file.
    file: PathBuf,
    /// Only this kernel, by its name without template arguments.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Another version to compare with: the verdict says how FILE does against it.
    #[arg(long, value_name = "OTHER")]
    against: Option<PathBuf>,
    /// Most seconds to sample [default: 0.6, and 2 for a comparison].
    #[arg(long, value_name = "SECONDS", value_parser = super::subject::seconds, allow_negative_numbers = true)]
    budget: Option<f64>,
    /// Seed of the inputs and of the order of runs [default: drawn anew].
    #[arg(long)]
    seed: Option<u64>,
    /// Run the held-out shapes too.
    #[arg(long)]
    all_shapes: bool,
    #[command(flatten)]
    subject: SubjectArgs,
}

#[derive(Serialize)]
struct Answer<'a> {
    device: &'a str,
    device_note: &'a str,
    /// `measurement` or `forecast`.
    kind: &'static str,
    /// What a forecast rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<&'a Basis>,
    /// What the kernels' times were taken by.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<Clock>,
    correct: bool,
    kernels: Vec<KernelRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_high: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureRow<'a>>,
}

#[derive(Serialize)]
struct KernelRow<'a> {
    name: &'a str,
    shape: &'a str,
    median_ns: f64,
    low_ns: f64,
    high_ns: f64,
    samples: usize,
}

/// Runs the command.
pub fn run(context: &Context, args: &TimeArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    let other = args.against.as_deref().map(read_source).transpose()?;
    let mut subject = Subject::open(context, &source, &args.subject, args.kernel.as_deref())?;
    if let Some(other) = &other {
        subject.workbench.admit(other, &context.cancel)?;
    }
    let sampling = Sampling {
        seed: args.seed.unwrap_or_else(rand::random),
        budget: args.budget.map_or(TIMING_BUDGET, Duration::from_secs_f64),
        half_width: 0.005,
        shapes: if args.all_shapes { ShapeChoice::All } else { ShapeChoice::Shown },
    };

    if let Some(note) = other.as_ref().and_then(|other| feed_note(&subject, other)) {
        super::tell(&format!("note: {note}"));
    }
    let notebook = context.notebook_path()?;
    let start = Instant::now();
    let measured = measure(context, &subject, other.as_ref(), args, &sampling);
    let (report, comparison) = match measured {
        Ok(measured) => measured,
        Err(LabError::Code(failure)) => return Err(report_failure(context, &subject, failure)?),
        Err(error) => return Err(error.into()),
    };
    let taken = Taken { notebook, seed: sampling.seed, took: start.elapsed() };
    if context.json() {
        context.print_json(&answer(&report, comparison.as_ref()))?;
    } else {
        context.print(&text(args, &report, comparison.as_ref()))?;
    }
    subject::keep(&source, &report, other.as_ref().zip(comparison.as_ref()), taken)
}

fn measure(
    context: &Context,
    subject: &Subject,
    other: Option<&lab::Source>,
    args: &TimeArgs,
    sampling: &Sampling,
) -> Result<(TimeReport, Option<Comparison>), LabError> {
    let bench = &subject.workbench;
    let progress = Progress::new(context);
    let (building, doing) = match bench.basis() {
        Some(_) => ("building, checking and forecasting", "forecasting"),
        None => ("building", "timing"),
    };
    progress.say(building);
    let build = bench.build(&subject.source, &context.cancel)?;
    let Some(other) = other else {
        progress.say(doing);
        return Ok((bench.time(&build, sampling, &context.cancel)?, None));
    };
    let baseline = bench.build(other, &context.cancel).map_err(|error| of_the_other(error, other))?;
    progress.say("comparing");
    let budget = args.budget.map_or(COMPARISON_BUDGET, Duration::from_secs_f64);
    let comparison = bench.compare(&baseline, &build, &Sampling { budget, ..sampling.clone() }, &context.cancel)?;
    progress.say(doing);
    let report = bench.time(&build, sampling, &context.cancel)?;
    Ok((report, Some(comparison)))
}

/// What feeds both versions of a comparison, where the other one has a benchmark file that could be thought to.
fn feed_note(subject: &Subject, other: &lab::Source) -> Option<String> {
    let of_the_other = Benchmark::path_for(&other.path);
    let used = subject.workbench.benchmark().map(|benchmark| benchmark.path.as_path());
    if !of_the_other.is_file() || used == Some(&of_the_other) {
        return None;
    }
    let fed = match used {
        Some(path) => format!("both versions are fed by {}", path.display()),
        None => format!("both versions are fed as {} is", subject.source.path.display()),
    };
    Some(format!("{fed}; {} is not used (--benchmark names another file)", of_the_other.display()))
}

/// A baseline that does not build is a wrong request, not a failure of the code under test.
fn of_the_other(error: LabError, other: &lab::Source) -> LabError {
    match error {
        LabError::Code(failure) => {
            LabError::Usage(format!("{} (the version to compare with) {failure}", other.path.display()))
        }
        error => error,
    }
}

fn report_failure(context: &Context, subject: &Subject, failure: Failure) -> Result<CliError, CliError> {
    if context.json() {
        context.print_json(&Answer {
            device: subject.workbench.device(),
            device_note: &subject.workbench.device_note(),
            kind: kind(subject.workbench.basis()),
            forecast: subject.workbench.basis(),
            clock: None,
            correct: false,
            kernels: Vec::new(),
            verdict: None,
            ratio: None,
            ratio_low: None,
            ratio_high: None,
            comparison: None,
            failure: Some(FailureRow::of(&failure)),
        })?;
    }
    Ok(failure.into())
}

fn answer<'a>(report: &'a TimeReport, comparison: Option<&'a Comparison>) -> Answer<'a> {
    Answer {
        device: &report.device,
        device_note: &report.device_note,
        kind: kind(report.forecast.as_ref()),
        forecast: report.forecast.as_ref(),
        clock: report.forecast.is_none().then(|| Clock::of_note(&report.device_note)),
        correct: true,
        kernels: report
            .kernels
            .iter()
            .map(|timing| KernelRow {
                name: &timing.name,
                shape: &timing.shape,
                median_ns: timing.figure.median_ns,
                low_ns: timing.figure.low_ns,
                high_ns: timing.figure.high_ns,
                samples: timing.figure.samples.len(),
            })
            .collect(),
        verdict: comparison.map(|comparison| comparison.verdict),
        ratio: comparison.map(|comparison| comparison.speed.ratio),
        ratio_low: comparison.map(|comparison| comparison.speed.low),
        ratio_high: comparison.map(|comparison| comparison.speed.high),
        comparison,
        failure: None,
    }
}

/// A ratio with its interval; a forecast without, since its odds say what it is worth.
fn speed_of(comparison: &Comparison, speed: &SpeedRatio) -> String {
    if comparison.forecast.is_some() { format!("forecast {:.2}x", speed.ratio) } else { figures::speed(speed) }
}

/// What times are.
fn kind(basis: Option<&Basis>) -> &'static str {
    if basis.is_some() { "forecast" } else { "measurement" }
}

fn text(args: &TimeArgs, report: &TimeReport, comparison: Option<&Comparison>) -> String {
    let mut out = format!("{} on {} ({}): right\n", args.file.display(), report.device, report.device_note);
    out.push_str(&figures::table(&match &report.forecast {
        Some(_) => forecast_rows(report),
        None => measured_rows(report),
    }));
    if let (Some(comparison), Some(other)) = (comparison, &args.against) {
        out.push_str(&format!("against {}: {}\n", other.display(), verdict_line(comparison)));
        if comparison.shapes.len() > 1 {
            let rows: Vec<Vec<String>> = comparison
                .shapes
                .iter()
                .map(|shape| {
                    let held_out = if shape.held_out { " (held out)" } else { "" };
                    vec![
                        format!("{}{held_out}", shape.shape),
                        speed_of(comparison, &shape.speed),
                        shape.verdict.to_string(),
                    ]
                })
                .collect();
            out.push_str(&figures::table(&rows));
        }
    }
    out
}

fn measured_rows(report: &TimeReport) -> Vec<Vec<String>> {
    let mut rows = vec![["kernel", "shape", "median", "95% interval", "samples"].map(String::from).to_vec()];
    rows.extend(report.kernels.iter().map(|timing| {
        let figure = &timing.figure;
        vec![
            timing.name.clone(),
            timing.shape.clone(),
            figures::time(figure.median_ns),
            match figure.samples.len() {
                0 | 1 => "unknown".to_owned(),
                _ => format!("{} .. {}", figures::time(figure.low_ns), figures::time(figure.high_ns)),
            },
            figure.samples.len().to_string(),
        ]
    }));
    rows
}

fn forecast_rows(report: &TimeReport) -> Vec<Vec<String>> {
    let mut rows = vec![["kernel", "shape", "forecast", "nine of ten within"].map(String::from).to_vec()];
    rows.extend(report.kernels.iter().map(|timing| {
        let figure = &timing.figure;
        vec![
            timing.name.clone(),
            timing.shape.clone(),
            figures::time(figure.median_ns),
            format!("{} .. {}", figures::time(figure.low_ns), figures::time(figure.high_ns)),
        ]
    }));
    rows
}

/// `faster, 1.82x [1.80, 1.85]`; of forecasts with their odds.
pub fn verdict_line(comparison: &Comparison) -> String {
    if let Some(basis) = &comparison.forecast {
        return format!("{}, {}", comparison.verdict, basis.claim(comparison.speed.ratio));
    }
    format!("{}, {}", comparison.verdict, figures::speed(&comparison.speed))
}
