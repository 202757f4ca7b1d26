//! Traced runs of a program: what its kernels do, for a forecast of their time on a device.
//!
//! A build goes through the optimiser of a kind of device and is instrumented ([`::forecast::ir`]); a run records some
//! blocks of each launch.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ::forecast::code::Code;
use ::forecast::trace::{self, Launch};
use hip_syntax::rewrite::Barriers;

use super::cpu::Cpu;
pub use super::cpu::Target;
use super::options::CompileOptions;
use crate::benchmark::Benchmark;
use crate::harness::{Bench, CpuBuilder, Recording};
use crate::program::RunOptions;
use crate::sandbox::{self, Command, End, Limits, Policy, Run};
use crate::{Cancel, Diagnostic, Failure, LabError, Source};

/// Environment variable that names the file for what is recorded.
const FILE_VARIABLE: &str = "KS_TRACE_FILE";
/// That file, in the folder of the run.
const FILE: &str = "trace";
/// Most bytes that a run may record.
const MOST_BYTES: u64 = 4 << 30;

/// Builds and runs programs for traces.
#[derive(Clone, Debug)]
pub struct Tracer {
    cpu: Cpu,
    target: Target,
}

/// A program that records what its kernels do.
#[derive(Clone, Debug)]
pub struct TracedBuild {
    /// The executable, in the cache.
    pub path: PathBuf,
    /// What it was built from.
    pub source: Source,
    /// Warnings in the user's files.
    pub warnings: Vec<Diagnostic>,
    /// What the blocks are that a trace names.
    pub code: Code,
}

/// How much is recorded of each launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Most events, but for those of the first block.
    pub events: u64,
    /// Most blocks.
    pub blocks: u32,
    /// Time for the blocks that are not recorded, for one launch and for all.
    pub rest: [Duration; 2],
}

impl Default for Extent {
    fn default() -> Self {
        Self { events: 3_000_000, blocks: 64, rest: [Duration::from_millis(250), Duration::from_secs(1)] }
    }
}

/// What was recorded.
#[derive(Clone, Debug)]
pub struct TracedRun {
    /// The launches, each kernel and shape once.
    pub launches: Vec<Launch>,
    /// Why the program did not come to a good end, if it did not: it may be because not all blocks were run.
    pub failure: Option<Failure>,
    /// From the program's start to its end.
    pub ran: Duration,
    /// What reading the records took.
    pub read: Duration,
}

/// What a program recorded, for [`trace::read`].
#[derive(Clone, Debug)]
pub struct Record {
    /// As it was written.
    pub bytes: Vec<u8>,
    /// Why the program did not come to a good end.
    pub failure: Option<Failure>,
    /// From the program's start to its end.
    pub ran: Duration,
}

/// How a source without a `main` is fed.
#[derive(Clone, Copy, Debug)]
pub struct Fed<'a> {
    /// The benchmark file, or what was inferred; it must have an entry.
    pub benchmark: &'a Benchmark,
    /// The original version of the code, which sizes and fills are worked out with.
    pub original: &'a Source,
    /// How it is compiled.
    pub options: &'a CompileOptions,
    /// What a run may use.
    pub limits: Limits,
    /// Which shapes, by their numbers.
    pub shapes: &'a [usize],
}

/// What was recorded of a version under a benchmark file.
#[derive(Clone, Debug)]
pub struct TracedBenchmark {
    /// What the blocks are that a trace names.
    pub code: Code,
    /// For each shape, by its number in the benchmark file.
    pub shapes: Vec<(usize, TracedRun)>,
}

impl Tracer {
    /// The tracing runtime for a kind of device; it is built when it is first asked for.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] where the compiler cannot build it.
    pub fn open(cpu: &Cpu, target: Target, cancel: &Cancel) -> Result<Self, LabError> {
        Ok(Self { cpu: cpu.with_trace(target, cancel)?, target })
    }

    /// The kind of device.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Builds a program.
    ///
    /// # Errors
    /// [`Failure::DoesNotCompile`], also for what cannot be traced, such as inline assembly.
    pub fn build(&self, source: &Source, options: &CompileOptions, cancel: &Cancel) -> Result<TracedBuild, LabError> {
        let built = self.cpu.build_program(source, options, cancel)?;
        let code = self.cpu.traced_code(&built.path)?;
        Ok(TracedBuild { path: built.path, source: built.source, warnings: built.warnings, code })
    }

    /// Runs a program and reads what it recorded. Launches that were recorded before a bad end count.
    ///
    /// # Errors
    /// A [`Failure`] where nothing was recorded because of it.
    pub fn run(
        &self,
        build: &TracedBuild,
        extent: &Extent,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<TracedRun, LabError> {
        let record = self.record(build, extent, options, cancel)?;
        read(record)
    }

    /// Runs a program; what it recorded is not read.
    ///
    /// # Errors
    /// Where it could not be run.
    pub fn record(
        &self,
        build: &TracedBuild,
        extent: &Extent,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<Record, LabError> {
        let folder = self.cpu.cache().work_folder()?;
        let mut limits = options.limits;
        limits.file_bytes = limits.file_bytes.max(MOST_BYTES);
        let mut command = Command::new(&build.path, folder.path(), Policy::Candidate, limits);
        command.arguments = options.arguments.clone();
        command.environment = self.cpu.environment();
        command.environment.extend(environment(extent));
        command.readable = self.cpu.readable();
        command.readable.push(build.source.folder().to_owned());
        command.readable.extend_from_slice(&options.readable);
        let run = sandbox::run(&command, cancel)?;

        // A run that was stopped early may not have opened the file.
        let bytes = fs::read(folder.path().join(FILE)).unwrap_or_default();
        Ok(Record { bytes, failure: failure(&run, &limits), ran: run.wall })
    }

    /// Builds `source` for a benchmark file and runs it once at each shape. Nothing is checked.
    ///
    /// # Errors
    /// As [`Tracer::build`] and [`Tracer::run`].
    pub fn benchmark(
        &self,
        source: &Source,
        fed: &Fed<'_>,
        extent: &Extent,
        cancel: &Cancel,
    ) -> Result<TracedBenchmark, LabError> {
        let builder = CpuBuilder { cpu: &self.cpu, options: fed.options.clone(), faults: None };
        let bench = Bench {
            builder: &builder,
            benchmark: fed.benchmark,
            original: fed.original,
            limits: fed.limits,
            barriers: Barriers::Fibers,
        };
        let recording = Recording { environment: environment(extent), file: FILE, most_bytes: MOST_BYTES };
        let code = self.cpu.traced_code(&bench.build_traced(source, cancel)?.path)?;
        let runs = bench.trace(source, fed.shapes, &recording, cancel)?;
        let shapes = runs.into_iter().map(|shape| {
            let failure = failure(&shape.run, &shape.limits);
            Ok((shape.shape, read(Record { bytes: shape.written, failure, ran: shape.run.wall })?))
        });
        Ok(TracedBenchmark { code, shapes: shapes.collect::<Result<_, LabError>>()? })
    }
}

/// What was recorded, and how the run ended.
fn read(record: Record) -> Result<TracedRun, LabError> {
    let reading = Instant::now();
    let launches = trace::read(&record.bytes).map_err(|error| Failure::Refused { detail: error.to_string() })?;
    match record.failure {
        Some(failure) if launches.iter().all(|launch| launch.blocks.is_empty()) => Err(failure.into()),
        failure => Ok(TracedRun { launches, failure, ran: record.ran, read: reading.elapsed() }),
    }
}

fn environment(extent: &Extent) -> Vec<(OsString, OsString)> {
    let seconds = |duration: Duration| format!("{:.6}", duration.as_secs_f64());
    [
        (FILE_VARIABLE, FILE.to_owned()),
        ("KS_TRACE_EVENTS", extent.events.to_string()),
        ("KS_TRACE_BLOCKS", extent.blocks.to_string()),
        ("KS_TRACE_LAUNCH_SECONDS", seconds(extent.rest[0])),
        ("KS_TRACE_SECONDS", seconds(extent.rest[1])),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .to_vec()
}

fn failure(run: &Run, limits: &Limits) -> Option<Failure> {
    if let Some(failure) = run.failure(limits) {
        return Some(failure);
    }
    match run.end {
        End::Status(0) => None,
        End::Status(status) => {
            Some(Failure::Wrong { detail: format!("it ended with exit status {status}; {}", run.last_lines(5)) })
        }
        ref other => Some(Failure::Crashed { detail: format!("{other:?}") }),
    }
}
