//! The programs of `tests/faults`, each against what its first line says must come of it.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lab::program::{self, RunOptions};
use lab::sandbox::Limits;
use lab::toolchain::CompileOptions;
use lab::toolchain::cpu::Cpu;
use lab::workbench::{Sampling, ShapeChoice};
use lab::{Cancel, LabError, Source, TimeReport};

/// A name that a fault tries to write to, in any folder.
const OUTSIDE: &str = "kernel-scientist-fault";

fn faults() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faults").canonicalize().unwrap()
}

fn cpu() -> Cpu {
    Cpu::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")).unwrap()
}

/// Longest time for a run that must be stopped for its time.
const STOPPED_AFTER: Duration = Duration::from_secs(3);
/// Longest time for other runs, which end by themselves: 20 times what they take alone, for a busy machine.
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// Longest time for a build and a run of either kind.
const BOUND: Duration = Duration::from_secs(180);

fn options(wall: Duration) -> RunOptions {
    let mut options = RunOptions::new(wall);
    options.limits = Limits { memory_bytes: 512 << 20, ..options.limits };
    options.limits.address_space_bytes = Some(16 << 30);
    options.limits.output_bytes = 1 << 20;
    options.limits.file_bytes = 16 << 20;
    options
}

fn time(cpu: &Cpu, source: &Source, wall: Duration) -> Result<TimeReport, LabError> {
    let cancel = Cancel::new();
    let program = cpu.build_program(source, &CompileOptions::default(), &cancel)?;
    let sampling = Sampling { seed: 1, budget: Duration::ZERO, half_width: 0.1, shapes: ShapeChoice::All };
    program::time(cpu, &program, &options(wall), &sampling, &cancel)
}

/// What came of it, in the words of the first lines.
fn describe(result: &Result<TimeReport, LabError>) -> String {
    match result {
        Ok(report) => format!("prints: {}", report.output.lines().last().unwrap_or_default()),
        Err(LabError::Code(failure)) => format!("{}: {failure}", failure.label()),
        Err(LabError::Usage(text)) if text.contains("launched no kernel") => "launches nothing".into(),
        Err(other) => format!("unexpected: {other}"),
    }
}

fn matches(got: &str, expected: &str) -> bool {
    let one_line = got.replace('\n', " ");
    match expected.split_once(": ") {
        Some((label, words)) => one_line.starts_with(&format!("{label}: ")) && one_line.contains(words),
        None => one_line.starts_with(expected),
    }
}

#[test]
fn each_fault_has_its_outcome_in_bounded_time_and_leaves_nothing() {
    // SAFETY: this test is the only thread that reads or writes the environment yet.
    unsafe { std::env::set_var("KERNEL_SCIENTIST_TEST_SECRET", "leaked") };
    let cpu = cpu();
    let before = contents(&faults());
    let mut wrong = Vec::new();
    for path in &before {
        if path.extension().is_none_or(|ending| ending != "hip") {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let expected = text.lines().next().and_then(|line| line.strip_prefix("// expect: ")).map(str::to_owned);
        let started = Instant::now();
        let hangs = expected.as_deref() == Some("timed out");
        let wall = if hangs { STOPPED_AFTER } else { ENDS_WITHIN };
        let got = describe(&time(&cpu, &Source::new(path, text), wall));
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match expected {
            Some(expected) if !matches(&got, &expected) => {
                wrong.push(format!("{name}: expected {expected:?}, got {got:?}"))
            }
            None if got.starts_with("prints") || got.starts_with("unexpected") => {
                wrong.push(format!("{name}: got {got:?}"))
            }
            _ => {}
        }
        if started.elapsed() > BOUND {
            wrong.push(format!("{name}: took {:?}", started.elapsed()));
        }
        let left = left_running(&cpu);
        if !left.is_empty() {
            wrong.push(format!("{name}: left running: {left:?}"));
        }
        for outside in [Path::new("/tmp").join(OUTSIDE), cpu.cache().root().join("work").join(OUTSIDE)] {
            if outside.exists() {
                wrong.push(format!("{name}: wrote {}", outside.display()));
                fs::remove_file(outside).unwrap();
            }
        }
    }
    assert_eq!(contents(&faults()), before);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn contents(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Processes that run an executable of the cache, and zombies of this process.
fn left_running(cpu: &Cpu) -> Vec<String> {
    let builds = cpu.cache().root().join("builds");
    let own = std::process::id().to_string();
    let mut left = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let parent = || {
            let stat = fs::read_to_string(process.path().join("stat")).ok()?;
            stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1).map(str::to_owned)
        };
        let runs_ours = fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe.starts_with(&builds));
        // Other tests may be at work in the same cache; only what this process started counts.
        if parent().is_some_and(|parent| parent == own || (runs_ours && parent == "1")) {
            left.push(process.path().display().to_string());
        }
    }
    left
}
