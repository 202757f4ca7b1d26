//! One source on one device: what the scientist and the command line work with.
//!
//! A workbench knows how the source is fed (its own `main`, a benchmark file, or one inferred from the kernel's
//! signature) and hides the difference: builds, checks, times and comparisons are asked for in the same words.

mod doubts;
mod forecasting;
mod machine_code;
mod trust;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hip_syntax::Syntax;
use hip_syntax::rewrite::Barriers;

use crate::benchmark::{self, Benchmark, Entry};
use crate::forecast::{Basis, Forecaster};
use crate::harness::{Bench, CpuBuilder};
use crate::program::{self, RunOptions};
use crate::sandbox::Limits;
use crate::sanitize::{self, Sanitized, Sanitizer};
use crate::toolchain::cpu::{BuiltProgram, Cpu, DEVICE, DEVICE_NOTE};
use crate::toolchain::forecast::{Extent, Fed, Target, TracedRun, Tracer};
use crate::toolchain::{CompileOptions, Confinement, clangd};
use crate::turn::Turn;
use crate::{Cancel, Comparison, LabError, Source, TimeReport};
use ::forecast::code::Code;
use trust::Guarded;

pub use forecasting::ShapeForecast;
pub use machine_code::MachineCode;

/// Sampling time of a comparison where nothing else is asked for. Most comparisons are over before; where the machine is noisy
/// or the code's speed depends on where it comes to lie, it takes this long to tell 3%.
pub const COMPARISON_BUDGET: Duration = Duration::from_secs(2);

/// How long and how precisely to sample.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// Seed of the inputs and of the order of runs; recorded with every measurement.
    pub seed: u64,
    /// Sampling stops at the latest after this time for all shapes together.
    pub budget: Duration,
    /// Sampling of a shape stops when the half width of the ratio's interval is below this share (0.005 = 0.5%).
    pub half_width: f64,
    /// Which shapes to run.
    pub shapes: ShapeChoice,
}

impl Sampling {
    /// As little as possible, at all shapes: what a check needs.
    pub(crate) fn once() -> Self {
        Self { seed: rand::random(), budget: Duration::ZERO, half_width: 1.0, shapes: ShapeChoice::All }
    }
}

/// Which shapes of a benchmark to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeChoice {
    /// Those that stages may see.
    Shown,
    /// Only the held-out ones.
    HeldOut,
    /// Both.
    All,
}

/// What a workbench is opened with.
#[derive(Clone, Debug)]
pub struct WorkbenchOptions {
    /// `cpu`, or a device that is forecast for ([`crate::forecast::devices`]).
    pub device: String,
    /// Folder for builds.
    pub cache: PathBuf,
    /// Benchmark file; `None` for the one beside the source, if there is one.
    pub benchmark: Option<PathBuf>,
    /// Arguments of the program, instead of the benchmark file's.
    pub program_args: Option<Vec<String>>,
    /// The kernel to time and compare alone; `None` for all. Under a benchmark file it must be what that file calls, and
    /// without one it is the kernel that is fed by its signature.
    pub kernel: Option<String>,
    /// Most time that one run of the code may take.
    pub timeout: Duration,
    /// Most memory that one run of the code may take, in bytes.
    pub memory_bytes: u64,
}

/// How the source is fed.
enum Feed {
    /// It has a `main`, or is part of a program that has.
    Program(Arguments),
    /// A benchmark file calls into it.
    Benchmark(Box<Benchmark>),
}

/// What a program is run with.
#[derive(Clone, Debug, Default)]
struct Arguments {
    timing: Vec<String>,
    /// Often smaller ones.
    check: Vec<String>,
}

impl Arguments {
    fn same(arguments: Vec<String>) -> Self {
        Self { check: arguments.clone(), timing: arguments }
    }

    fn of(program: &benchmark::Program) -> Self {
        let check = program.check_args.as_ref().unwrap_or(&program.args).clone();
        Self { timing: program.args.clone(), check }
    }
}

/// A source, how it is fed, and the device.
pub struct Workbench {
    original: Source,
    feed: Feed,
    inferred: bool,
    cpu: Cpu,
    compile: CompileOptions,
    limits: Limits,
    /// As in [`WorkbenchOptions::kernel`].
    kernel: Option<String>,
    /// What [`Workbench::remarks`] tells.
    remarks: Mutex<BTreeSet<String>>,
    /// For a device that is forecast for.
    forecaster: Option<Forecaster>,
    seen: forecasting::Seen,
    /// What the inputs of checks follow from ([`Workbench::draw_from`]).
    inputs: u64,
}

/// What a version's kernels do.
#[derive(Clone, Debug)]
pub struct Traced {
    /// What the blocks are that a trace names.
    pub code: Code,
    /// The runs: a program's one, or one for each shape, with its number in the benchmark file.
    pub runs: Vec<(Option<usize>, TracedRun)>,
}

/// A version of the source that compiles.
#[derive(Clone, Debug)]
pub struct Build {
    source: Source,
    /// The program or object, in the device's cache.
    path: PathBuf,
    /// Kernels in it were split at their barriers.
    split: bool,
    /// The program; benchmarks build an object.
    program: Option<BuiltProgram>,
    /// Its forecasts, where the device is forecast for.
    version: Option<Arc<forecasting::Version>>,
}

impl Workbench {
    /// Finds out how `source` is fed, and opens the device.
    ///
    /// # Errors
    /// [`LabError::Usage`] when the source has no kernel, when the benchmark file has a mistake, or when there is neither a
    /// `main` nor a benchmark file and none can be inferred. [`LabError::Unavailable`] when a tool is missing.
    pub fn open(source: &Source, options: WorkbenchOptions, cancel: &Cancel) -> Result<Self, LabError> {
        let found = find_feed(source, &options)?;
        let cpu = Cpu::open(&options.cache, cancel)?;
        let mut compile = clangd::options_for(&source.path)?.with(&found.compile);
        compile.confined = Some(Arc::new(confined(source, &found.feed, &compile, &cpu, cancel)?));
        let limits = Limits::new(options.timeout, options.memory_bytes);
        let forecaster = match options.device.as_str() {
            DEVICE => None,
            device => Some(Forecaster::open(device, &cpu, cancel)?),
        };
        Ok(Self {
            original: source.clone(),
            feed: found.feed,
            inferred: found.inferred,
            cpu,
            compile,
            limits,
            kernel: options.kernel,
            remarks: Mutex::default(),
            forecaster,
            seen: forecasting::Seen::default(),
            inputs: rand::random(),
        })
    }

    /// Draws the inputs of checks from `seed`, rather than such as nobody can draw again: whoever goes on with a run, or
    /// repeats it, finds the same of each version. Every text has inputs of its own, so that what is told of one draft's
    /// results fits no other; the seed itself is for nobody who writes versions.
    pub fn draw_from(&mut self, seed: u64) {
        self.inputs = seed;
    }

    /// The seed of the inputs on which a version is looked at.
    fn inputs_of(&self, source: &Source) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"inputs of a check").update(&self.inputs.to_le_bytes()).update(source.text.as_bytes());
        let mut head = [0; 8];
        head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        u64::from_le_bytes(head)
    }

    /// Lets what is built here read what `other`, a further source of the user's, includes.
    ///
    /// # Errors
    /// As [`Workbench::open`].
    pub fn admit(&mut self, other: &Source, cancel: &Cancel) -> Result<(), LabError> {
        let compile = CompileOptions { confined: None, ..self.compile.clone() };
        let of_other = confined(other, &self.feed, &compile, &self.cpu, cancel)?;
        let own = self.compile.confined.as_deref().cloned().unwrap_or_default();
        self.compile.confined = Some(Arc::new(own.and(&of_other)));
        Ok(())
    }

    /// Whether a workbench for `device` can be opened at once; else the HIP runtime is built into `cache` first, once for this
    /// machine and compiler, which takes a minute or two.
    pub fn is_ready(device: &str, cache: &Path, cancel: &Cancel) -> bool {
        let target = if device == DEVICE { None } else { Forecaster::target(device) };
        Cpu::is_ready(cache, target, cancel)
    }

    /// The source that the workbench was opened with.
    pub fn original(&self) -> &Source {
        &self.original
    }

    /// The benchmark file that feeds it; `None` for a program, and for a benchmark that was inferred and not written down.
    pub fn benchmark(&self) -> Option<&Benchmark> {
        match &self.feed {
            Feed::Benchmark(benchmark) if !self.inferred => Some(benchmark),
            _ => None,
        }
    }

    /// The device's name.
    pub fn device(&self) -> &str {
        self.forecaster.as_ref().map_or(DEVICE, Forecaster::name)
    }

    /// What forecasts for the device rest on; `None` for a device that is measured.
    pub fn basis(&self) -> Option<&Basis> {
        self.forecaster.as_ref().map(Forecaster::basis)
    }

    /// What the device's times mean.
    pub fn device_note(&self) -> String {
        self.basis().map_or_else(|| DEVICE_NOTE.to_owned(), Basis::note)
    }

    /// What the user should know of how the source is fed.
    pub fn note(&self) -> Option<String> {
        self.inferred.then(|| {
            format!(
                "there is no {}: the kernel is fed by its signature; `kernel-scientist benchmark` writes that down to be \
                 corrected",
                Benchmark::path_for(&self.original.path).display()
            )
        })
    }

    /// Builds a version of the source. Several may be built at once. For a device that is forecast for, the version is also
    /// checked and forecast here.
    ///
    /// # Errors
    /// [`crate::Failure::DoesNotCompile`] with the compiler's messages; for a device that is forecast for, every other
    /// [`crate::Failure`] too.
    pub fn build(&self, source: &Source, cancel: &Cancel) -> Result<Build, LabError> {
        match &self.forecaster {
            Some(forecaster) => self.prepared(forecaster, source, cancel),
            None => self.build_for_cpu(source, cancel),
        }
    }

    fn build_for_cpu(&self, source: &Source, cancel: &Cancel) -> Result<Build, LabError> {
        let is_original = source.text == self.original.text;
        match &self.feed {
            Feed::Program(_) => {
                // On fibers too: its first run is compared with that.
                let whole = is_original && self.cpu.splits(source, &self.compile)?;
                let built = beside(
                    || whole.then(|| self.cpu.build_program(source, &self.whole(), cancel)),
                    || self.cpu.build_program(source, &self.compile, cancel),
                )?;
                let (path, split) = (built.path.clone(), built.split);
                Ok(Build { source: source.clone(), path, split, program: Some(built), version: None })
            }
            Feed::Benchmark(benchmark) => {
                // Whatever is run needs the reference, which is made of the original.
                let built = self.bench(benchmark, Barriers::Split, |bench| {
                    beside(|| is_original.then(|| bench.trusted(cancel)), || bench.build(source, cancel))
                })?;
                Ok(Build { source: source.clone(), path: built.path, split: built.split, program: None, version: None })
            }
        }
    }

    /// Runs a build once and checks its result. Returns what a program printed; nothing under a benchmark file.
    ///
    /// # Errors
    /// The [`crate::Failure`] that it came to.
    pub fn check(&self, build: &Build, cancel: &Cancel) -> Result<String, LabError> {
        self.guarded(&[build], cancel, |barriers| self.check_with(build, barriers, cancel)).map(Guarded::value)
    }

    fn check_with(&self, build: &Build, barriers: Barriers, cancel: &Cancel) -> Result<String, LabError> {
        match &self.feed {
            Feed::Program(arguments) => {
                let built = self.program(build, barriers, cancel)?;
                let run = self.run_options(&arguments.check);
                let outcome = program::run(&self.cpu, &built, &run, cancel)?;
                if run.kernel.is_some() {
                    run.require_launches(&outcome, &built)?;
                }
                Ok(outcome.stdout)
            }
            Feed::Benchmark(benchmark) => {
                let time = |bench: Bench<'_>| bench.time(&build.source, &Sampling::once(), cancel);
                self.bench(benchmark, barriers, time).map(|_| String::new())
            }
        }
    }

    /// Checks and times a build. Waits while something else is measured on the device.
    ///
    /// # Errors
    /// The [`crate::Failure`] that it came to.
    pub fn time(&self, build: &Build, sampling: &Sampling, cancel: &Cancel) -> Result<TimeReport, LabError> {
        if let Some(forecaster) = &self.forecaster {
            return self.forecast_times(forecaster, build, sampling, cancel);
        }
        let _turn = self.turn(cancel)?;
        let time = |barriers| match &self.feed {
            Feed::Program(arguments) => {
                let built = self.program(build, barriers, cancel)?;
                program::time(&self.cpu, &built, &self.run_options(&arguments.timing), sampling, cancel)
            }
            Feed::Benchmark(benchmark) => {
                self.bench(benchmark, barriers, |bench| bench.time(&build.source, sampling, cancel))
            }
        };
        let timed = self.guarded(&[build], cancel, time)?;
        Ok(timed.noted(|report| &mut report.device_note))
    }

    /// Checks both builds and compares their times, interleaved; for a device that is forecast for, their
    /// forecasts. Waits while something else is measured on the device.
    ///
    /// # Errors
    /// The [`crate::Failure`] that the candidate came to; one of the baseline is a [`LabError::Usage`].
    pub fn compare(
        &self,
        baseline: &Build,
        candidate: &Build,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Comparison, LabError> {
        if let Some(forecaster) = &self.forecaster {
            return self.compare_forecasts(forecaster, baseline, candidate, sampling, cancel);
        }
        let _turn = self.turn(cancel)?;
        let compare = |barriers| match &self.feed {
            Feed::Program(arguments) => {
                let (old, new) =
                    (self.program(baseline, barriers, cancel)?, self.program(candidate, barriers, cancel)?);
                program::compare(&self.cpu, &old, &new, &self.run_options(&arguments.timing), sampling, cancel)
            }
            Feed::Benchmark(benchmark) => self.bench(benchmark, barriers, |bench| {
                bench.compare(&baseline.source, &candidate.source, sampling, cancel)
            }),
        };
        let compared = self.guarded(&[baseline, candidate], cancel, compare)?;
        Ok(compared.noted(|comparison| &mut comparison.device_note))
    }

    /// Whether [`Workbench::sanitize`] can begin at once; else it builds the sanitizer's runtime first, which takes up to a
    /// minute.
    pub fn is_ready_to_sanitize(&self, sanitizer: Sanitizer) -> bool {
        self.cpu.has_sanitizer(sanitizer)
    }

    /// Builds `source` for a sanitizer, runs it once and tells what was found.
    ///
    /// # Errors
    /// [`crate::Failure::DoesNotCompile`]; [`LabError::Unavailable`] when a tool is missing.
    pub fn sanitize(&self, source: &Source, sanitizer: Sanitizer, cancel: &Cancel) -> Result<Sanitized, LabError> {
        self.sanitize_at(source, sanitizer, |benchmark| benchmark.chosen(ShapeChoice::All), cancel)
    }

    /// The same at the smallest shape that stages may see, which tells nothing of the others; `None` where even that is too large
    /// to be looked at in passing.
    ///
    /// # Errors
    /// As [`Workbench::sanitize`].
    pub fn sanitize_smallest(
        &self,
        source: &Source,
        sanitizer: Sanitizer,
        cancel: &Cancel,
    ) -> Result<Option<Sanitized>, LabError> {
        if let Feed::Benchmark(benchmark) = &self.feed
            && smallest_shown(benchmark).is_none_or(|shape| size(benchmark, shape) > IN_PASSING)
        {
            return Ok(None);
        }
        let shapes = |benchmark: &Benchmark| smallest_shown(benchmark).into_iter().collect();
        self.sanitize_at(source, sanitizer, shapes, cancel).map(Some)
    }

    fn sanitize_at(
        &self,
        source: &Source,
        sanitizer: Sanitizer,
        shapes: impl Fn(&Benchmark) -> Vec<usize>,
        cancel: &Cancel,
    ) -> Result<Sanitized, LabError> {
        let cpu = self.cpu.with_sanitizer(sanitizer, cancel)?;
        let run = match &self.feed {
            Feed::Program(arguments) => {
                let built = cpu.build_program(source, &self.compile, cancel)?;
                sanitize::run_program(&cpu, &built, &self.run_options(&arguments.check), cancel)?
            }
            Feed::Benchmark(benchmark) => {
                let faults = Mutex::default();
                let builder = CpuBuilder { cpu: &cpu, options: self.compile.clone(), faults: Some(&faults) };
                let bench = Bench {
                    builder: &builder,
                    benchmark,
                    original: &self.original,
                    limits: self.limits,
                    barriers: Barriers::Fibers,
                };
                bench.build(source, cancel)?;
                let outcome = bench.check_at(source, &shapes(benchmark), self.inputs_of(source), cancel);
                sanitize::Run::new(faults.into_inner().unwrap_or_else(PoisonError::into_inner), outcome)?
            }
        };
        run.located(&cpu, source, cancel)
    }

    /// Builds `source` for a kind of device and records what its kernels do in one run, under a benchmark file in one at each
    /// chosen shape. Nothing is checked. The tracing runtime is built when it is first asked for, which takes up to a minute.
    ///
    /// # Errors
    /// [`crate::Failure::DoesNotCompile`], also for what cannot be traced; the [`crate::Failure`] of a run that recorded
    /// nothing; [`LabError::Unavailable`] when a tool is missing.
    pub fn trace(
        &self,
        source: &Source,
        target: Target,
        extent: &Extent,
        shapes: ShapeChoice,
        cancel: &Cancel,
    ) -> Result<Traced, LabError> {
        let tracer = Tracer::open(&self.cpu, target, cancel)?;
        self.trace_with(&tracer, source, extent, &self.shape_numbers(shapes), cancel)
    }

    fn trace_with(
        &self,
        tracer: &Tracer,
        source: &Source,
        extent: &Extent,
        shapes: &[usize],
        cancel: &Cancel,
    ) -> Result<Traced, LabError> {
        match &self.feed {
            Feed::Program(arguments) => {
                let build = tracer.build(source, &self.compile, cancel)?;
                let run = tracer.run(&build, extent, &self.run_options(&arguments.timing), cancel)?;
                Ok(Traced { code: build.code, runs: vec![(None, run)] })
            }
            Feed::Benchmark(benchmark) => {
                let fed =
                    Fed { benchmark, original: &self.original, options: &self.compile, limits: self.limits, shapes };
                let traced = tracer.benchmark(source, &fed, extent, cancel)?;
                let runs = traced.shapes.into_iter();
                Ok(Traced { code: traced.code, runs: runs.map(|(shape, run)| (Some(shape), run)).collect() })
            }
        }
    }

    /// The chosen shapes of a benchmark file; a program has one.
    fn shape_numbers(&self, shapes: ShapeChoice) -> Vec<usize> {
        match &self.feed {
            Feed::Program(_) => vec![0],
            Feed::Benchmark(benchmark) => benchmark.chosen(shapes),
        }
    }

    fn turn(&self, cancel: &Cancel) -> Result<Turn, LabError> {
        Turn::take(self.cpu.cache().root(), DEVICE, cancel)
    }

    fn run_options(&self, arguments: &[String]) -> RunOptions {
        RunOptions {
            arguments: arguments.iter().map(OsString::from).collect(),
            limits: self.limits,
            readable: Vec::new(),
            kernel: self.kernel.clone(),
        }
    }

    fn bench<T>(&self, benchmark: &Benchmark, barriers: Barriers, work: impl FnOnce(Bench<'_>) -> T) -> T {
        let builder = CpuBuilder { cpu: &self.cpu, options: self.compile.clone(), faults: None };
        work(Bench { builder: &builder, benchmark, original: &self.original, limits: self.limits, barriers })
    }
}

/// Largest [`size`] that is run under a sanitizer in passing: a few seconds for a product of matrices.
const IN_PASSING: f64 = (1 << 24) as f64;

/// The product of a shape's values: a measure of the work that it is.
fn size(benchmark: &Benchmark, shape: usize) -> f64 {
    benchmark.shapes[shape].values.iter().fold(1.0, |size, value| size * *value as f64)
}

/// The smallest of the shapes that stages may see.
fn smallest_shown(benchmark: &Benchmark) -> Option<usize> {
    let shown = benchmark.chosen(ShapeChoice::Shown).into_iter();
    shown.min_by(|one, other| size(benchmark, *one).total_cmp(&size(benchmark, *other)))
}

/// Does `work`, and `other` at the same time on another thread. What comes of the other is found in the device's cache when
/// it is needed; its error shows then, too.
fn beside<T: Send, O: Send>(other: impl FnOnce() -> Option<O> + Send, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        let _other = scope.spawn(other);
        work()
    })
}

/// What versions of `source` may read: what it reads itself, and never the benchmark file.
fn confined(
    source: &Source,
    feed: &Feed,
    compile: &CompileOptions,
    cpu: &Cpu,
    cancel: &Cancel,
) -> Result<Confinement, LabError> {
    let (compile, hidden) = match feed {
        Feed::Benchmark(benchmark) => {
            (&compile.clone().with(&benchmark.program.compile_options_of_the_source()), Some(benchmark.path.as_path()))
        }
        Feed::Program(_) => (compile, None),
    };
    let confinement = Confinement::to(source, compile, hidden)?;
    if !confinement.is_open() {
        return Ok(confinement);
    }
    match cpu.files_read(source, compile, cancel) {
        Ok(files) => Ok(confinement.with(files)),
        // Why it does not compile is told when it is built.
        Err(LabError::Code(_)) => Ok(confinement),
        Err(error) => Err(error),
    }
}

fn of_another_workbench() -> LabError {
    LabError::Usage("the build belongs to another workbench; build the source again here".into())
}

/// How a source is fed, and what it is compiled with for that.
struct Found {
    feed: Feed,
    inferred: bool,
    compile: CompileOptions,
}

impl Found {
    fn benchmark(benchmark: Benchmark, inferred: bool) -> Self {
        // The harness takes macros and include folders from the benchmark itself.
        Self { feed: Feed::Benchmark(Box::new(benchmark)), inferred, compile: CompileOptions::default() }
    }

    fn program(arguments: Arguments, compile: CompileOptions) -> Self {
        Self { feed: Feed::Program(arguments), inferred: false, compile }
    }
}

/// A benchmark file with an entry comes first, then the source's own `main`, then the kernel's signature. Arguments for the
/// program on the command line ask for the program.
fn find_feed(source: &Source, options: &WorkbenchOptions) -> Result<Found, LabError> {
    let beside = Benchmark::path_for(&source.path);
    let path = options.benchmark.clone().or_else(|| beside.is_file().then_some(beside));
    let arguments = options.program_args.clone();
    if let Some(benchmark) = path.map(|path| Benchmark::load(&path)).transpose()? {
        if let Some(entry) = benchmark.entry.as_ref().filter(|_| arguments.is_none()) {
            require_entry(&benchmark, entry, options.kernel.as_deref())?;
            return Ok(Found::benchmark(benchmark, false));
        }
        let arguments = arguments.map_or_else(|| Arguments::of(&benchmark.program), Arguments::same);
        return Ok(Found::program(arguments, benchmark.program.compile_options()));
    }
    let syntax = Syntax::without_tree(source.text.clone());
    if syntax.functions().iter().any(|function| function.name == "main") {
        return Ok(Found::program(Arguments::same(arguments.unwrap_or_default()), CompileOptions::default()));
    }
    if syntax.kernels().is_empty() {
        return Err(LabError::Usage(format!(
            "{}: there is no kernel (no __global__ function) and no main in it, so there is nothing to time",
            source.path.display()
        )));
    }
    infer_feed(source, &syntax, options.kernel.as_deref())
}

/// Refuses a kernel that the benchmark file does not call. Which kernels a host function launches is not known.
fn require_entry(benchmark: &Benchmark, entry: &Entry, kernel: Option<&str>) -> Result<(), LabError> {
    let called = entry.name();
    match kernel {
        Some(kernel) if entry.launch().is_some() && called.split('<').next().map(str::trim) != Some(kernel) => {
            Err(LabError::Usage(format!(
                "{}: it calls {called} and not {kernel}; name a file for {kernel} with --benchmark (`kernel-scientist \
                 benchmark` writes one), or leave --kernel out",
                benchmark.path.display()
            )))
        }
        _ => Ok(()),
    }
}

fn infer_feed(source: &Source, syntax: &Syntax, kernel: Option<&str>) -> Result<Found, LabError> {
    let path = Benchmark::path_for(&source.path);
    let text = benchmark::infer(syntax, kernel).map_err(|error| {
        LabError::Usage(format!(
            "{}: it has no main, there is no {}, and none can be inferred: {error}",
            source.path.display(),
            path.display()
        ))
    })?;
    Ok(Found::benchmark(Benchmark::parse(&path, &text)?, true))
}
