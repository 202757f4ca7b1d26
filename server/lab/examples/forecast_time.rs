//! Prints how long forecasts of a file take: of texts that were never seen, from text to times; of a version that is known,
//! at other problem sizes; and how many candidates are checked and forecast in a minute.
//!
//! `cargo run --release -p lab --example forecast_time -- FILE [DEVICE]`

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use lab::workbench::{ShapeChoice, Workbench, WorkbenchOptions};
use lab::{Cancel, LabError, Source};

/// Texts that are forecast one after another.
const TEXTS: usize = 9;
/// Candidates that are prepared side by side.
const CANDIDATES: usize = 16;

fn main() -> Result<(), LabError> {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: forecast_time FILE [DEVICE]");
        std::process::exit(2);
    };
    let device = arguments.next().unwrap_or_else(|| lab::forecast::DEFAULT.into());
    let path = std::path::absolute(&file).map_err(LabError::io("opening", &file))?;
    let text = std::fs::read_to_string(&path).map_err(LabError::io("reading", &path))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let texts =
        Texts { source: Source::new(path, text), run: SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos() };
    let bench = open(&texts.source, &device)?;
    // What all share is made by the first.
    forecast(&bench, &texts.numbered(0))?;
    let mut times = Vec::new();
    for number in 1..=TEXTS {
        times.push(forecast(&bench, &texts.numbered(number))?);
    }
    times.sort();
    let (wall, processor) = times[TEXTS / 2];
    println!("forecast_{name} {:.3} s, {:.3} s of processor time", wall.as_secs_f64(), processor.as_secs_f64());
    other_sizes(&bench, &texts.source, &name)?;
    candidates(&bench, &texts, &name)
}

/// The source under numbers, each a text of its own.
struct Texts {
    source: Source,
    run: u128,
}

impl Texts {
    fn numbered(&self, number: usize) -> Source {
        self.source.with_text(format!("{}\n// {} {number}\n", self.source.text, self.run))
    }
}

fn open(source: &Source, device: &str) -> Result<Workbench, LabError> {
    let cache = std::env::var_os("KERNEL_SCIENTIST_CACHE").unwrap_or_else(|| "/tmp/kernel-scientist-programs".into());
    let options = WorkbenchOptions {
        device: device.into(),
        cache: PathBuf::from(cache),
        benchmark: None,
        program_args: None,
        kernel: None,
        timeout: Duration::from_secs(60),
        memory_bytes: 8 << 30,
    };
    Workbench::open(source, options, &Cancel::new())
}

/// How long one takes, by the clock and in processor time of this process and its children.
fn forecast(bench: &Workbench, source: &Source) -> Result<(Duration, Duration), LabError> {
    let (started, used) = (Instant::now(), processor_time());
    bench.forecast(source, ShapeChoice::Shown, &Cancel::new())?;
    Ok((started.elapsed(), processor_time().saturating_sub(used)))
}

/// The held-out shapes of a version whose other shapes are known: only the sizes of its launches are new.
fn other_sizes(bench: &Workbench, source: &Source, name: &str) -> Result<(), LabError> {
    let build = bench.build(source, &Cancel::new())?;
    let started = Instant::now();
    let shapes = bench.forecasts_of(&build, ShapeChoice::HeldOut, &Cancel::new())?.len();
    match u32::try_from(shapes) {
        Ok(0) | Err(_) => println!("forecast_{name}_resized: no shape is held out"),
        Ok(count) => println!("forecast_{name}_resized {:.3} s a shape", (started.elapsed() / count).as_secs_f64()),
    }
    Ok(())
}

/// Checks and forecasts on as many threads as there are processors, as an evolution does.
fn candidates(bench: &Workbench, texts: &Texts, name: &str) -> Result<(), LabError> {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let next = AtomicUsize::new(0);
    let worker = || {
        while let number @ 0..CANDIDATES = next.fetch_add(1, Ordering::Relaxed) {
            bench.build(&texts.numbered(TEXTS + 1 + number), &Cancel::new())?;
        }
        Ok(())
    };
    let started = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let results =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.collect::<Result<(), LabError>>()
    })?;
    let minutes = started.elapsed().as_secs_f64() / 60.0;
    println!("candidates_{name} {:.0} a minute on {threads} cores", CANDIDATES as f64 / minutes);
    Ok(())
}

fn processor_time() -> Duration {
    let used = |who| {
        // SAFETY: rusage is plain data, valid when zeroed, and outlives the call.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &mut usage);
            usage
        };
        let duration = |time: libc::timeval| {
            Duration::from_secs(time.tv_sec.unsigned_abs()) + Duration::from_micros(time.tv_usec.unsigned_abs())
        };
        duration(usage.ru_utime) + duration(usage.ru_stime)
    };
    used(libc::RUSAGE_SELF) + used(libc::RUSAGE_CHILDREN)
}
