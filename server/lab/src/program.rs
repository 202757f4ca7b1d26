//! Program mode: the file has a `main`, which is run as it is; its kernels' launches are timed by the runtime.
//!
//! Right means exit status 0, no fault that the runtime reports, and, against a baseline, the baseline's output
//! ([`output`]). Each run is a fresh process in a fresh folder.

mod compare;
mod fibers;
pub mod output;
mod report;
mod steady;
mod time;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use compare::{Checker, compare};
pub(crate) use fibers::{Agreement, agreement};
pub use report::LaunchGroup;
pub use time::time;

use crate::clock::{Clock, Timed};
use crate::sandbox::{self, Command, End, Limits, Policy, Run};
use crate::toolchain::cpu::{BuiltProgram, Cpu, DEVICE_NOTE};
use crate::workbench::Sampling;
use crate::{Cancel, Failure, LabError, Source};

/// How many of a failed program's last lines a message shows.
const LAST_LINES: usize = 5;

/// How a program is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What it may use.
    pub limits: Limits,
    /// What it may read beside the folder of its source.
    pub readable: Vec<PathBuf>,
    /// The kernel that is timed and compared; `None` for all that it launches.
    pub kernel: Option<String>,
}

impl RunOptions {
    /// No arguments, and this machine's limits with `wall` for one run.
    pub fn new(wall: Duration) -> Self {
        Self { arguments: Vec::new(), limits: Limits::for_this_machine(wall), readable: Vec::new(), kernel: None }
    }

    /// Whether launches of the kernel with this name in the report are asked for. Every instance of a template is, and a
    /// kernel in a namespace is by its own name too.
    pub(crate) fn asks_for(&self, name: &str) -> bool {
        let Some(kernel) = &self.kernel else { return true };
        let plain = name.split('<').next().unwrap_or(name);
        [name, plain].contains(&kernel.as_str()) || plain.rsplit("::").next() == Some(kernel)
    }

    /// Refuses a run that launched nothing of what is asked for.
    pub(crate) fn require_launches(&self, outcome: &Outcome, program: &BuiltProgram) -> Result<(), LabError> {
        if outcome.launches.iter().any(|group| self.asks_for(&group.name)) {
            return Ok(());
        }
        let file = program.source.path.display();
        let names: BTreeSet<&str> = outcome.launches.iter().map(|group| group.name.as_str()).collect();
        Err(LabError::Usage(match (&self.kernel, names.is_empty()) {
            (Some(kernel), false) => format!(
                "{file} ran to its end and did not launch {kernel}; it launched {}",
                names.into_iter().collect::<Vec<_>>().join(", ")
            ),
            _ => format!(
                "{file} ran to its end and launched no kernel, so there is nothing to time; give it the --args that make \
                 it launch, or write a benchmark file"
            ),
        }))
    }
}

/// One run that came to a good end.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What it printed to stdout.
    pub stdout: String,
    /// What it printed to stderr.
    pub stderr: String,
    /// Its launches, grouped by kernel and configuration, in the order of their first launch.
    pub launches: Vec<LaunchGroup>,
    /// From start to end.
    pub wall: Duration,
    /// Processor time of all its threads, the start of the program included.
    pub processor: Duration,
    /// How often another process took the processor away from it.
    pub displaced: u64,
}

/// How many threads a run's kernels are spread over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Threads {
    /// One for each processor: soonest done.
    All,
    /// One. A pool loses a share of its time whenever another process takes a processor; one thread's times vary by far
    /// less.
    One,
}

impl Threads {
    /// What to time with, given a first run on all threads: one thread, if so many `runs` fit into the budget and none
    /// comes near its limit.
    fn for_timing(first: &Outcome, runs: u32, options: &RunOptions, sampling: &Sampling) -> Self {
        let others = std::thread::available_parallelism().map_or(1, |n| n.get() as u64) - 1;
        let in_kernels: u64 = first.launches.iter().flat_map(|group| &group.nanoseconds).sum();
        let alone = first.wall + Duration::from_nanos(in_kernels.saturating_mul(others));
        if alone * runs <= sampling.budget && alone * 2 <= options.limits.wall { Self::One } else { Self::All }
    }

    /// The clock to believe of what was timed. How long all threads together take does not follow from what they use.
    fn clock(self, timed: Timed) -> Clock {
        match self {
            Self::One => Clock::to_believe(timed),
            Self::All => Clock::Wall,
        }
    }

    /// What a figure is shown with, and `more` that is to be said of it.
    fn device_note(self, more: &str, clock: Clock) -> String {
        let threads = match self {
            Self::One => "",
            Self::All => "; a long program, so on all threads",
        };
        clock.note(&format!("{DEVICE_NOTE}{threads}{more}"))
    }
}

/// Runs `program` once, on all threads. Anything but a good end is a [`Failure`].
pub fn run(cpu: &Cpu, program: &BuiltProgram, options: &RunOptions, cancel: &Cancel) -> Result<Outcome, LabError> {
    run_on(Threads::All, cpu, program, options, cancel)
}

fn run_on(
    threads: Threads,
    cpu: &Cpu,
    program: &BuiltProgram,
    options: &RunOptions,
    cancel: &Cancel,
) -> Result<Outcome, LabError> {
    let environment: &[_] = if threads == Threads::One { &[("KS_THREADS", "1")] } else { &[] };
    run_with(environment, cpu, program, options, cancel)
}

/// Runs `program` with its launches doing nothing. What it then prints shows whether its result depends on its kernels.
fn run_without_kernels(
    cpu: &Cpu,
    program: &BuiltProgram,
    options: &RunOptions,
    cancel: &Cancel,
) -> Result<Outcome, LabError> {
    run_with(&[("KS_LEAVE_OUT_KERNELS", "1")], cpu, program, options, cancel)
}

fn run_with(
    environment: &[(&str, &str)],
    cpu: &Cpu,
    program: &BuiltProgram,
    options: &RunOptions,
    cancel: &Cancel,
) -> Result<Outcome, LabError> {
    let folder = cpu.cache().work_folder()?;
    run_in(folder.path(), environment, cpu, program, options, cancel)
}

/// Runs `program` in `folder`, on all threads, with `environment` besides the usual.
pub(crate) fn run_in(
    folder: &Path,
    environment: &[(&str, &str)],
    cpu: &Cpu,
    program: &BuiltProgram,
    options: &RunOptions,
    cancel: &Cancel,
) -> Result<Outcome, LabError> {
    let mut command = Command::new(&program.path, folder, Policy::Candidate, options.limits);
    command.arguments = options.arguments.clone();
    command.environment = cpu.environment();
    command.environment.extend(environment.iter().map(|(name, value)| (name.into(), value.into())));
    command.readable = cpu.readable();
    command.readable.push(program.source.folder().to_owned());
    command.readable.extend_from_slice(&options.readable);
    command.report = true;
    let token = format!("{:032x}", rand::random::<u128>());
    command.environment.push((sandbox::TOKEN_VARIABLE.into(), (&token).into()));
    judge(sandbox::run(&command, cancel)?, &options.limits, &token, &program.source)
}

/// A run's outcome, or what was wrong with it.
fn judge(run: Run, limits: &Limits, token: &str, source: &Source) -> Result<Outcome, LabError> {
    let report = report::parse(&run.report, token).map(|mut report| {
        report.faults.iter_mut().for_each(|fault| fault.locate(source));
        report
    });
    if let Some(failure) = run.failure(limits) {
        return Err(with_faults(failure, report.as_ref().map_or(&[], |report| &report.faults)).into());
    }
    let report = report.map_err(|problem| Failure::Refused { detail: problem })?;
    let longest = report.launches.iter().flat_map(|group| &group.nanoseconds).max();
    if longest.is_some_and(|&nanoseconds| u128::from(nanoseconds) > run.wall.as_nanos()) {
        let detail =
            "it reported a launch that took longer than its whole run; only the runtime may report times".into();
        return Err(Failure::Refused { detail }.into());
    }
    let faults: Vec<_> = report.faults.iter().map(ToString::to_string).collect();
    match run.end {
        End::Status(0) if faults.is_empty() => Ok(Outcome {
            stdout: run.stdout,
            stderr: run.stderr,
            launches: report.launches,
            wall: run.wall,
            processor: run.processor,
            displaced: run.displaced,
        }),
        End::Status(0) => Err(Failure::Wrong { detail: faults.join("; ") }.into()),
        _ if report.faults.iter().any(report::Fault::is_out_of_memory) => {
            Err(Failure::Crashed { detail: faults.join("; ") }.into())
        }
        End::Status(status) => {
            let said = match run.last_lines(LAST_LINES) {
                nothing if nothing.is_empty() => "it printed nothing".to_owned(),
                lines => format!("it last printed:\n{lines}"),
            };
            let because = if faults.is_empty() { String::new() } else { format!(" ({})", faults.join("; ")) };
            Err(Failure::Wrong { detail: format!("it ended with exit status {status}{because}; {said}") }.into())
        }
        // `Run::failure` has an answer for every other end.
        other => Err(Failure::Crashed { detail: format!("{other:?}") }.into()),
    }
}

/// A crash with what the runtime said about its place.
fn with_faults(failure: Failure, faults: &[report::Fault]) -> Failure {
    match failure {
        Failure::Crashed { detail } if !faults.is_empty() => {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            Failure::Crashed { detail: format!("{}; {detail}", faults.join("; ")) }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(end: End, stderr: &str, report: &str) -> Result<Outcome, String> {
        let run = Run {
            end,
            stdout: "PASSED\n".into(),
            stderr: stderr.into(),
            report: report.into(),
            wall: Duration::from_micros(10),
            processor: Duration::from_micros(9),
            displaced: 0,
            peak_memory: 0,
            peak_address_space: 0,
        };
        let source = Source::new("/w/k.hip", "");
        judge(run, &Limits::new(Duration::from_secs(1), 1 << 30), "secret", &source).map_err(|error| error.to_string())
    }

    #[test]
    fn one_thread_times_what_fits_into_budget_and_limit() {
        let outcome = |wall: u64, kernels: u64| Outcome {
            stdout: String::new(),
            stderr: String::new(),
            launches: vec![LaunchGroup {
                name: "k".into(),
                grid: [1; 3],
                block: [1; 3],
                shared_bytes: 0,
                nanoseconds: vec![kernels * 1_000_000],
                processor_ns: vec![kernels * 1_000_000],
            }],
            wall: Duration::from_millis(wall),
            processor: Duration::from_millis(wall),
            displaced: 0,
        };
        let sampling = |seconds| Sampling {
            seed: 0,
            budget: Duration::from_secs(seconds),
            half_width: 0.1,
            shapes: crate::workbench::ShapeChoice::All,
        };
        let options = RunOptions::new(Duration::from_secs(10));
        let chosen = |outcome, seconds| Threads::for_timing(&outcome, 5, &options, &sampling(seconds));
        assert_eq!(chosen(outcome(20, 10), 10), Threads::One);
        assert_eq!(chosen(outcome(20, 10), 0), Threads::All);
        assert_eq!(chosen(outcome(6000, 1000), 1000), Threads::All);
    }

    #[test]
    fn a_kernel_is_asked_for_by_its_own_name() {
        let asking = |kernel: Option<&str>| RunOptions {
            kernel: kernel.map(str::to_owned),
            ..RunOptions::new(Duration::from_secs(1))
        };
        for (name, kernel, expected) in [
            ("scale", None, true),
            ("scale", Some("scale"), true),
            ("scale<float, 4>", Some("scale"), true),
            ("scale<float, 4>", Some("scale<float, 4>"), true),
            ("scale<float, 4>", Some("scale<float, 8>"), false),
            ("app::scale<app::T>", Some("scale"), true),
            ("scale2", Some("scale"), false),
            ("upscale", Some("scale"), false),
        ] {
            assert_eq!(asking(kernel).asks_for(name), expected, "{name} {kernel:?}");
        }
    }

    const LAUNCH: &str = r#"secret {"launches":{"kernel":"k","grid":[1,1,1],"block":[64,1,1],"shared_bytes":0,"ns":[5000,6000],"processor_ns":[1,1]}}"#;
    const FAULT: &str = r#"secret {"fault":{"kind":"crash","message":"invalid memory access","kernel":"k"}}"#;

    #[test]
    fn a_good_run_has_its_launches() {
        let outcome = judged(End::Status(0), "", &format!("{LAUNCH}\n")).unwrap();
        assert_eq!((outcome.launches[0].name.as_str(), &outcome.launches[0].nanoseconds[..]), ("k", &[5000, 6000][..]));
    }

    #[test]
    fn each_bad_end_says_why() {
        let cases = [
            (End::Status(3), "line\n", "", "wrong result: it ended with exit status 3; it last printed:\nline"),
            (End::Status(3), "", "", "it last printed:\nPASSED"),
            (End::Status(0), "", FAULT, "wrong result: in kernel k: invalid memory access"),
            (End::Status(1), "", FAULT, "exit status 1 (in kernel k: invalid memory access)"),
            (End::Signal(11), "", FAULT, "crashed: in kernel k: invalid memory access; SIGSEGV"),
            (End::Status(0), "", "garbage", "refused: "),
            (End::Signal(11), "", "secret {\"laun", "crashed: SIGSEGV"),
            (End::Status(0), "", &LAUNCH.replace("5000", "50000"), "refused: it reported a launch that took longer"),
        ];
        for (end, stderr, report, expected) in cases {
            let text = judged(end.clone(), stderr, report).unwrap_err();
            assert!(text.contains(expected), "{end:?} {report}: {text}");
        }
    }
}
