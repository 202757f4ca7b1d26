//! What a command works on: the file, how it is fed, and the device.

use std::path::PathBuf;
use std::time::Duration;

use lab::workbench::{Workbench, WorkbenchOptions};
use lab::{Comparison, Source, TimeReport};
use notebook::{MeasuredCode, Notebook, NotebookError};
use scientist::evolution;

use super::progress::Progress;
use super::{CliError, Context};
use crate::devices::{self, CPU, DeviceError};

/// Options of every command that runs the file.
#[derive(Debug, clap::Args)]
pub struct SubjectArgs {
    /// Device: one that is forecast for (mi300x, mi325x, mi300a, mi250x, h200; every version is checked on the CPU), `cpu` for
    /// times of the CPU emulation, or one named in kernel-scientist.toml.
    #[arg(long, value_name = "D", default_value = devices::DEFAULT, env = devices::VARIABLE)]
    pub device: String,
    #[command(flatten)]
    pub feed: FeedArgs,
}

/// Options that say how the file is fed.
#[derive(Debug, clap::Args)]
pub struct FeedArgs {
    /// Benchmark file [default: NAME.bench.toml beside FILE].
    #[arg(long, value_name = "TOML")]
    pub benchmark: Option<PathBuf>,
    /// Most seconds that one run of the code may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds, allow_negative_numbers = true)]
    timeout: f64,
    /// Most MiB of memory that one run may take.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(64..))]
    memory: u64,
    /// Arguments for the program; all that follows is handed to it, so this stands last.
    #[arg(long, value_name = "ARG", num_args = 0.., allow_hyphen_values = true)]
    args: Option<Vec<String>>,
}

/// A positive number of seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 86_400.0 => Ok(value),
        _ => Err("expected seconds, above 0 and at most 86400".into()),
    }
}

/// A source on a device.
pub struct Subject {
    /// The file.
    pub source: Source,
    /// The file's benchmark on the device.
    pub workbench: Workbench,
}

impl Subject {
    /// Finds the device and the benchmark.
    /// Of `kernel` alone, where one is named.
    pub fn open(
        context: &Context,
        source: &Source,
        args: &SubjectArgs,
        kernel: Option<&str>,
    ) -> Result<Self, CliError> {
        let device = find_device(context, source, &args.device)?;
        Self::open_on(context, source, &device, &args.feed, kernel)
    }

    /// The same on the CPU, where every version is checked whatever its times come from.
    pub fn open_to_check(
        context: &Context,
        source: &Source,
        args: &SubjectArgs,
        kernel: Option<&str>,
    ) -> Result<Self, CliError> {
        find_device(context, source, &args.device)?;
        Self::open_on(context, source, CPU, &args.feed, kernel)
    }

    /// The same on a device of the lab: `cpu`, or one that is forecast for.
    pub fn open_on(
        context: &Context,
        source: &Source,
        device: &str,
        args: &FeedArgs,
        kernel: Option<&str>,
    ) -> Result<Self, CliError> {
        let options = WorkbenchOptions {
            device: device.to_owned(),
            cache: context.cache.clone(),
            benchmark: args.benchmark.clone(),
            program_args: args.args.clone(),
            kernel: kernel.map(str::to_owned),
            timeout: Duration::from_secs_f64(args.timeout),
            memory_bytes: args.memory << 20,
        };
        let progress = Progress::new(context);
        progress.say("opening the device (the first time its runtime is built)");
        let workbench = Workbench::open(source, options, &context.cancel)?;
        progress.end();
        if let Some(note) = workbench.note() {
            super::tell(&format!("note: {note}"));
        }
        Ok(Self { source: source.clone(), workbench })
    }
}

impl Subject {
    /// With checks whose inputs follow from a seed ([`Workbench::draw_from`]).
    pub fn drawing_from(mut self, seed: u64) -> Self {
        self.workbench.draw_from(seed);
        self
    }
}

impl Drop for Subject {
    /// However the command ends, the user learns what the results are to be taken with.
    fn drop(&mut self) {
        for remark in self.workbench.remarks() {
            super::tell(&format!("note: {remark}"));
        }
    }
}

/// Records what was measured. A notebook that cannot be written is an error of its own, after the result was printed.
pub fn keep(
    source: &Source,
    report: &TimeReport,
    comparison: Option<(&Source, &Comparison)>,
    taken: Taken,
) -> Result<(), CliError> {
    let kernels = evolution::kernels(&source.text, source.headers());
    let code = MeasuredCode { text: &source.text, kernels: &kernels };
    let record = || -> Result<(), NotebookError> {
        let notebook = Notebook::open(&taken.notebook)?;
        notebook.record_times(&source.path, code, report, taken.seed, taken.took)?;
        if let Some((other, comparison)) = comparison {
            let kernels = evolution::kernels(&other.text, other.headers());
            let baseline = MeasuredCode { text: &other.text, kernels: &kernels };
            notebook.record_comparison(&source.path, baseline, code, comparison, taken.took)?;
        }
        Ok(())
    };
    record().map_err(|error| CliError::Usage(format!("the result stands above but was not recorded: {error}")))
}

/// How a measurement came about.
pub struct Taken {
    /// Where it is kept.
    pub notebook: PathBuf,
    /// Seed of inputs and order.
    pub seed: u64,
    /// How long it took.
    pub took: Duration,
}

/// As [`Subject::open`] finds devices, for what only forecasts can answer.
pub fn find_forecast(context: &Context, source: &Source, device: &str) -> Result<String, CliError> {
    let found = find_device(context, source, device)?;
    if lab::forecast::is_device(&found) {
        return Ok(found);
    }
    Err(CliError::Usage(format!("device {device} is not forecast for; known: {}", lab::forecast::devices().join(", "))))
}

/// The lab's name of the device that a user names.
pub(super) fn find_device(context: &Context, source: &Source, device: &str) -> Result<String, CliError> {
    devices::find(&context.config(source.folder())?, device).map_err(|error| match error {
        DeviceError::Unknown(text) => CliError::Usage(text),
        DeviceError::Elsewhere(text) => CliError::Unavailable(text),
    })
}
