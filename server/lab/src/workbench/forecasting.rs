//! A workbench whose device is forecast for: versions are checked to be right on the CPU, then forecast.
//!
//! All that a version takes is done when it is built, so that versions are prepared side by side; comparing two of them is
//! then a division. Only held-out shapes are left until they are asked for.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::forecast::trace::Launch;
use hip_syntax::rewrite::Barriers;

use super::trust::Guarded;
use super::{Arguments, Build, Feed, Sampling, ShapeChoice, Traced, Workbench, doubts, smallest_shown};
use crate::benchmark::Benchmark;
use crate::codegen::KernelResources;
use crate::forecast::compare::{ShapeTimes, compare, figure};
use crate::forecast::{Forecaster, KernelForecast};
use crate::harness::Bench;
use crate::program::{Checker, RunOptions};
use crate::toolchain::cpu::BuiltProgram;
use crate::toolchain::forecast::Extent;
use crate::{Cancel, Comparison, KernelTiming, LabError, Source, TimeReport};

/// The forecasts at one problem size.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeForecast {
    /// The problem size, where a benchmark file gives it.
    pub shape: Option<String>,
    /// Whether it is held out.
    pub held_out: bool,
    /// Each kernel and launch shape, in launch order.
    pub kernels: Vec<KernelForecast>,
    /// What is in doubt because the traced run did not go well.
    pub caveat: Option<String>,
}

impl ShapeForecast {
    /// Nanoseconds of all launches.
    fn total_ns(&self) -> f64 {
        self.kernels.iter().map(KernelForecast::total_ns).sum()
    }
}

/// What is kept of the versions that were seen, and what they are checked against.
#[derive(Default)]
pub(super) struct Seen {
    versions: Mutex<HashMap<Arc<str>, Arc<Version>>>,
    /// Of a program: what its original prints.
    checker: Mutex<Option<Checker>>,
}

/// A version of the source, with its forecasts so far.
pub(super) struct Version {
    source: Source,
    resources: Vec<KernelResources>,
    /// By the number of the shape; of a program there is one.
    shapes: Mutex<BTreeMap<usize, ShapeForecast>>,
}

impl std::fmt::Debug for Version {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Version").field("source", &self.source.path).finish_non_exhaustive()
    }
}

impl Workbench {
    /// The forecasts of a source at the chosen shapes; whether it is right is not asked.
    ///
    /// # Errors
    /// [`crate::Failure`] when it does not compile or run, and where it holds something that cannot be forecast;
    /// [`LabError::Usage`] when the workbench's device is none that is forecast for.
    pub fn forecast(
        &self,
        source: &Source,
        shapes: ShapeChoice,
        cancel: &Cancel,
    ) -> Result<Vec<ShapeForecast>, LabError> {
        let forecaster = self.forecaster.as_ref().ok_or_else(not_forecast)?;
        let known = lock(&self.seen.versions).get(&source.text).cloned();
        let version = match known {
            Some(version) => version,
            None => Arc::new(self.version(forecaster, source, shapes, cancel)?),
        };
        self.forecasts(forecaster, &version, shapes, cancel)
    }

    /// The forecasts of a build at the chosen shapes.
    ///
    /// # Errors
    /// As [`Workbench::forecast`].
    pub fn forecasts_of(
        &self,
        build: &Build,
        shapes: ShapeChoice,
        cancel: &Cancel,
    ) -> Result<Vec<ShapeForecast>, LabError> {
        let forecaster = self.forecaster.as_ref().ok_or_else(not_forecast)?;
        self.forecasts(forecaster, version_of(build)?, shapes, cancel)
    }

    /// Checks a version on the CPU and forecasts it at the shapes that stages may see, both at once.
    pub(super) fn prepared(
        &self,
        forecaster: &Forecaster,
        source: &Source,
        cancel: &Cancel,
    ) -> Result<Build, LabError> {
        let known = lock(&self.seen.versions).get(&source.text).cloned();
        if let Some(version) = known {
            return Ok(Build { version: Some(version), ..self.build_for_cpu(source, cancel)? });
        }
        let (right, version) = std::thread::scope(|scope| {
            let version = scope.spawn(|| self.version(forecaster, source, ShapeChoice::Shown, cancel));
            let right = self.build_for_cpu(source, cancel).and_then(|build| {
                self.looks_right(&build, cancel)?;
                Ok(build)
            });
            (right, version.join())
        });
        // That it is wrong is said first: a wrong version's time says nothing.
        let build = right?;
        let version = Arc::new(version.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        lock(&self.seen.versions).insert(Arc::clone(&source.text), Arc::clone(&version));
        Ok(Build { version: Some(version), ..build })
    }

    /// What a report of times says of a forecast version, once it was checked at all those shapes.
    pub(super) fn forecast_times(
        &self,
        forecaster: &Forecaster,
        build: &Build,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<TimeReport, LabError> {
        self.is_right(build, sampling, cancel)?;
        let shapes = self.forecasts(forecaster, version_of(build)?, sampling.shapes, cancel)?;
        let entry = self.entry();
        let kernels = shapes.iter().flat_map(|shape| match (&entry, &shape.shape) {
            (Some(entry), Some(name)) => {
                vec![KernelTiming { name: entry.clone(), shape: name.clone(), figure: figure(shape.total_ns()) }]
            }
            _ => shape.kernels.iter().map(timing).collect(),
        });
        let basis = forecaster.basis();
        let caveats = shapes.iter().filter_map(|shape| shape.caveat.clone());
        Ok(TimeReport {
            device: basis.device.clone(),
            device_note: [basis.note()].into_iter().chain(caveats).collect::<Vec<_>>().join("; "),
            toolchain: basis.toolchain(),
            kernels: kernels.collect(),
            output: String::new(),
            forecast: Some(basis.clone()),
        })
    }

    /// Compares two versions by their forecasts. Where held-out shapes are asked for, the candidate is checked once more,
    /// on fresh inputs and on all shapes.
    pub(super) fn compare_forecasts(
        &self,
        forecaster: &Forecaster,
        baseline: &Build,
        candidate: &Build,
        sampling: &Sampling,
        cancel: &Cancel,
    ) -> Result<Comparison, LabError> {
        if sampling.shapes != ShapeChoice::Shown {
            self.is_right(candidate, sampling, cancel)?;
        }
        let before =
            self.forecasts(forecaster, version_of(baseline)?, sampling.shapes, cancel).map_err(of_the_baseline)?;
        let after = self.forecasts(forecaster, version_of(candidate)?, sampling.shapes, cancel)?;
        let (shapes, whole) = match &self.feed {
            Feed::Benchmark(_) => (by_shape(&before, &after), None),
            Feed::Program(_) => {
                let total = |shapes: &[ShapeForecast]| shapes.iter().map(ShapeForecast::total_ns).sum::<f64>();
                (by_kernel(&before, &after), Some(total(&before) / total(&after)))
            }
        };
        compare(forecaster.basis(), &shapes, whole, sampling.seed)
    }

    /// Builds, traces and forecasts.
    fn version(
        &self,
        forecaster: &Forecaster,
        source: &Source,
        shapes: ShapeChoice,
        cancel: &Cancel,
    ) -> Result<Version, LabError> {
        // Code generation takes about as long as the traced build.
        let (resources, traced) = std::thread::scope(|scope| {
            let resources = scope.spawn(|| self.resources(forecaster, source, cancel));
            let traced = self.traced(forecaster, source, &self.shape_numbers(shapes), cancel);
            (resources.join(), traced)
        });
        let resources = resources.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let version = Version { source: source.clone(), resources, shapes: Mutex::default() };
        self.forecast_traced(forecaster, &version, traced?)?;
        Ok(version)
    }

    /// The forecasts at the chosen shapes; those that are not there yet are made.
    fn forecasts(
        &self,
        forecaster: &Forecaster,
        version: &Version,
        shapes: ShapeChoice,
        cancel: &Cancel,
    ) -> Result<Vec<ShapeForecast>, LabError> {
        let wanted = self.shape_numbers(shapes);
        let missing: Vec<usize> = {
            let known = lock(&version.shapes);
            wanted.iter().copied().filter(|shape| !known.contains_key(shape)).collect()
        };
        if !missing.is_empty() {
            let traced = self.traced(forecaster, &version.source, &missing, cancel)?;
            self.forecast_traced(forecaster, version, traced)?;
        }
        let known = lock(&version.shapes);
        Ok(wanted.iter().filter_map(|shape| known.get(shape).cloned()).collect())
    }

    fn traced(
        &self,
        forecaster: &Forecaster,
        source: &Source,
        shapes: &[usize],
        cancel: &Cancel,
    ) -> Result<Traced, LabError> {
        self.trace_with(forecaster.tracer(), source, &Extent::default(), shapes, cancel)
    }

    /// Forecasts what was recorded of a version.
    fn forecast_traced(&self, forecaster: &Forecaster, version: &Version, traced: Traced) -> Result<(), LabError> {
        for (shape, run) in traced.runs {
            let caveat = doubts::caveat(&run)?;
            let launches = self.asked_for(run.launches)?;
            let shape = shape.unwrap_or_default();
            let kernels = forecaster.forecast(&traced.code, &launches, &version.resources)?;
            let forecast = ShapeForecast { caveat, ..self.named(shape, kernels) };
            lock(&version.shapes).insert(shape, forecast);
        }
        Ok(())
    }

    /// What code generation says of the kernels, templates among them as the feed instantiates them.
    fn resources(
        &self,
        forecaster: &Forecaster,
        source: &Source,
        cancel: &Cancel,
    ) -> Result<Vec<KernelResources>, LabError> {
        match &self.feed {
            Feed::Program(_) => forecaster.resources(source, &self.compile, cancel),
            Feed::Benchmark(benchmark) => {
                let compile = self.compile.clone().with(&benchmark.program.compile_options_of_the_source());
                let source = self.bench(benchmark, Barriers::Fibers, |bench| bench.with_launches(source));
                forecaster.resources(&source, &compile, cancel)
            }
        }
    }

    /// Whether a version is right at the smallest shape that stages may see: candidates are many, and all shapes are run
    /// before one is called right or the winner.
    fn looks_right(&self, build: &Build, cancel: &Cancel) -> Result<(), LabError> {
        match &self.feed {
            Feed::Benchmark(benchmark) => {
                let seed = self.inputs_of(&build.source);
                self.is_right_at(benchmark, build, smallest_shown(benchmark).as_slice(), seed, cancel)
            }
            Feed::Program(arguments) => self.prints_the_same(arguments, build, cancel),
        }
    }

    fn is_right_at(
        &self,
        benchmark: &Benchmark,
        build: &Build,
        shapes: &[usize],
        seed: u64,
        cancel: &Cancel,
    ) -> Result<(), LabError> {
        let check = |bench: Bench<'_>| bench.check_at(&build.source, shapes, seed, cancel);
        self.guarded(&[build], cancel, |barriers| self.bench(benchmark, barriers, check)).map(Guarded::value)
    }

    /// Whether a version is right, on the CPU, at the shapes and on the inputs of a sampling.
    fn is_right(&self, build: &Build, sampling: &Sampling, cancel: &Cancel) -> Result<(), LabError> {
        match &self.feed {
            Feed::Benchmark(benchmark) => {
                self.is_right_at(benchmark, build, &benchmark.chosen(sampling.shapes), sampling.seed, cancel)
            }
            Feed::Program(arguments) => self.prints_the_same(arguments, build, cancel),
        }
    }

    fn prints_the_same(&self, arguments: &Arguments, build: &Build, cancel: &Cancel) -> Result<(), LabError> {
        let options = self.run_options(&arguments.check);
        let original = self.build_for_cpu(&self.original, cancel)?;
        if original.source.text == build.source.text {
            // The original's own failure is that of the file under test, and not of something to compare with.
            self.check(&original, cancel)?;
        }
        let compare = |barriers| {
            let (old, new) = (self.program(&original, barriers, cancel)?, self.program(build, barriers, cancel)?);
            let mut checker = self.checker(barriers, &old, &options, cancel)?;
            if old.source.text == new.source.text {
                return Ok(());
            }
            let outcome = checker.check(&self.cpu, &old, &new, &options, cancel);
            if barriers == Barriers::Split {
                // It may have learnt what varies from run to run.
                *lock(&self.seen.checker) = Some(checker);
            }
            outcome
        };
        self.guarded(&[&original, build], cancel, compare).map(Guarded::value)
    }

    /// What the original prints; the run is made once.
    fn checker(
        &self,
        barriers: Barriers,
        original: &BuiltProgram,
        options: &RunOptions,
        cancel: &Cancel,
    ) -> Result<Checker, LabError> {
        if barriers == Barriers::Fibers {
            return Checker::new(&self.cpu, original, options, cancel);
        }
        let mut known = lock(&self.seen.checker);
        if let Some(checker) = known.as_ref() {
            return Ok(checker.clone());
        }
        let checker = Checker::new(&self.cpu, original, options, cancel)?;
        *known = Some(checker.clone());
        Ok(checker)
    }

    /// The launches of a program that are asked for; those of a benchmark's entry belong to it, all of them.
    fn asked_for(&self, mut launches: Vec<Launch>) -> Result<Vec<Launch>, LabError> {
        if let (Feed::Program(_), Some(kernel)) = (&self.feed, &self.kernel) {
            let run = self.run_options(&[]);
            let names: BTreeSet<String> = launches.iter().map(|launch| launch.kernel.clone()).collect();
            launches.retain(|launch| run.asks_for(&launch.kernel));
            if launches.is_empty() {
                return Err(LabError::Usage(format!(
                    "{} ran to its end and did not launch {kernel}; it launched {}",
                    self.original.path.display(),
                    names.into_iter().collect::<Vec<_>>().join(", ")
                )));
            }
        }
        Ok(launches)
    }

    fn named(&self, shape: usize, kernels: Vec<KernelForecast>) -> ShapeForecast {
        match &self.feed {
            Feed::Program(_) => ShapeForecast { shape: None, held_out: false, kernels, caveat: None },
            Feed::Benchmark(benchmark) => {
                let of_benchmark = &benchmark.shapes[shape];
                let name = benchmark.shape_name(of_benchmark);
                ShapeForecast { shape: Some(name), held_out: of_benchmark.held_out, kernels, caveat: None }
            }
        }
    }

    fn entry(&self) -> Option<String> {
        let Feed::Benchmark(benchmark) = &self.feed else { return None };
        let name = |benchmark: &Benchmark| benchmark.entry.as_ref().map(|entry| entry.name().to_owned());
        name(benchmark)
    }
}

fn by_shape(before: &[ShapeForecast], after: &[ShapeForecast]) -> Vec<ShapeTimes> {
    before
        .iter()
        .zip(after)
        .map(|(before, after)| ShapeTimes {
            shape: before.shape.clone().unwrap_or_default(),
            held_out: before.held_out,
            baseline_ns: before.total_ns(),
            candidate_ns: after.total_ns(),
        })
        .collect()
}

/// Each kernel that both launch, whatever their grids.
fn by_kernel(before: &[ShapeForecast], after: &[ShapeForecast]) -> Vec<ShapeTimes> {
    let total = |shapes: &[ShapeForecast]| {
        let mut totals: BTreeMap<String, f64> = BTreeMap::new();
        for kernel in shapes.iter().flat_map(|shape| &shape.kernels) {
            *totals.entry(kernel.name.clone()).or_default() += kernel.total_ns();
        }
        totals
    };
    let after = total(after);
    total(before)
        .into_iter()
        .filter_map(|(shape, baseline_ns)| {
            let candidate_ns = *after.get(&shape)?;
            Some(ShapeTimes { shape, held_out: false, baseline_ns, candidate_ns })
        })
        .collect()
}

fn timing(kernel: &KernelForecast) -> KernelTiming {
    KernelTiming { name: kernel.name.clone(), shape: kernel.shape(), figure: figure(kernel.us * 1e3) }
}

fn version_of(build: &Build) -> Result<&Version, LabError> {
    build.version.as_deref().ok_or_else(super::of_another_workbench)
}

/// A candidate is not to blame for its baseline.
fn of_the_baseline(error: LabError) -> LabError {
    match error {
        LabError::Code(failure) => LabError::Usage(format!("the version to compare with: {failure}")),
        other => other,
    }
}

fn not_forecast() -> LabError {
    LabError::Usage("the device is none that is forecast for; name one, such as mi300x".into())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
