//! `forecast FILE`: how long each kernel would take on a GPU that is not here, and why, line by line.

use std::path::PathBuf;

use lab::forecast::{Basis, DEFAULT, KernelForecast};
use lab::workbench::{ShapeChoice, ShapeForecast};
use lab::{LabError, Source};
use serde::Serialize;

use super::context::read_source;
use super::error::FailureRow;
use super::progress::Progress;
use super::subject::{self, FeedArgs, Subject};
use super::{CliError, Context, figures};
use crate::forecasts::account;

/// Arguments of `forecast`.
#[derive(Debug, clap::Args)]
pub struct ForecastArgs {
    /// HIP source file.
    file: PathBuf,
    /// Device to forecast for: mi300x, mi325x, mi300a, mi250x, h200; `doctor` lists those of this version.
    #[arg(long, value_name = "D", default_value = DEFAULT)]
    on: String,
    /// Only this kernel.
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Forecast the held-out shapes too.
    #[arg(long)]
    all_shapes: bool,
    #[command(flatten)]
    feed: FeedArgs,
}

/// The answer of `forecast`, and of `analyze --lines` among its own.
#[derive(Serialize)]
pub struct Answer<'a> {
    on: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    basis: Option<&'a Basis>,
    kernels: Vec<Row<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureRow<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    kernel: &'a KernelForecast,
    /// The problem size, where a benchmark file gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'a str>,
    held_out: bool,
    /// What is in doubt because the traced run did not go well.
    #[serde(skip_serializing_if = "Option::is_none")]
    caveat: Option<&'a str>,
}

impl<'a> Answer<'a> {
    /// Of forecasts.
    pub fn of(basis: &'a Basis, shapes: &'a [ShapeForecast]) -> Self {
        let rows = shapes.iter().flat_map(|shape| {
            let row = |kernel| Row {
                kernel,
                shape: shape.shape.as_deref(),
                held_out: shape.held_out,
                caveat: shape.caveat.as_deref(),
            };
            shape.kernels.iter().map(row)
        });
        Self { on: &basis.device, basis: Some(basis), kernels: rows.collect(), failure: None }
    }
}

/// Runs the command.
pub fn run(context: &Context, args: &ForecastArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    super::require_kernel(&source, args.kernel.as_deref())?;
    let device = subject::find_forecast(context, &source, &args.on)?;
    let subject = Subject::open_on(context, &source, &device, &args.feed, args.kernel.as_deref())?;
    let shapes = if args.all_shapes { ShapeChoice::All } else { ShapeChoice::Shown };
    let forecast = match of(context, &subject, shapes) {
        Ok(forecast) => forecast,
        Err(LabError::Code(failure)) => {
            if context.json() {
                let failure = Some(FailureRow::of(&failure));
                context.print_json(&Answer { on: &device, basis: None, kernels: Vec::new(), failure })?;
            }
            return Err(failure.into());
        }
        Err(error) => return Err(error.into()),
    };
    let Some(basis) = subject.workbench.basis() else { return Ok(()) };
    if context.json() {
        return context.print_json(&Answer::of(basis, &forecast));
    }
    context.print(&text(&args.file.display().to_string(), basis, &source, &forecast))
}

/// The forecasts of what a subject was opened with.
pub fn of(context: &Context, subject: &Subject, shapes: ShapeChoice) -> Result<Vec<ShapeForecast>, LabError> {
    let progress = Progress::new(context);
    progress.say("building and tracing");
    let forecast = subject.workbench.forecast(&subject.source, shapes, &context.cancel);
    progress.end();
    forecast
}

/// All of it, for a terminal.
pub fn text(file: &str, basis: &Basis, source: &Source, shapes: &[ShapeForecast]) -> String {
    let mut out = format!("{file} on {}: a forecast, not a measurement ({})\n", basis.title, basis.validation());
    for shape in shapes {
        if let Some(caveat) = &shape.caveat {
            out.push_str(&figures::wrapped(&format!("\nin doubt: {caveat}\n"), 2));
        }
        for kernel in &shape.kernels {
            out.push('\n');
            out.push_str(&account::text(kernel, shape.shape.as_deref(), &source.text));
        }
    }
    out
}
