//! `tests/sanitizers`: faults are found on their lines, and right kernels are silent.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use std::{fs, thread};

use lab::sanitize::{Fault, Place, Sanitized, Sanitizer};
use lab::workbench::{Workbench, WorkbenchOptions};
use lab::{Cancel, Source};

/// A line and the kind of fault at it. The second place of a fault may be marked `OTHER` where nothing is wrong by itself.
type Mark = (u32, String);

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(top().join(folder)).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "hip"));
    files.sort();
    files
}

fn look(path: &Path, sanitizer: Sanitizer) -> Sanitized {
    let options = WorkbenchOptions {
        device: "cpu".into(),
        cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        benchmark: None,
        program_args: None,
        kernel: None,
        timeout: Duration::from_secs(60),
        memory_bytes: 4 << 30,
    };
    let source = Source::new(path.to_owned(), fs::read_to_string(path).unwrap());
    let bench = Workbench::open(&source, options, &Cancel::new()).unwrap();
    bench.sanitize(&source, sanitizer, &Cancel::new()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Does `check` for each on two threads; gives what it says is wrong.
fn complaints<T: Send + Sync>(cases: &[T], check: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let waiting = Mutex::new(cases.iter());
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = { waiting.lock().unwrap().next() } {
                    wrong.lock().unwrap().extend(check(case));
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// `// FAULT: kind` and `// OTHER: kind` in a text.
fn marks(text: &str, word: &str) -> BTreeSet<Mark> {
    let mark = |(index, line): (usize, &str)| {
        let (_, kind) = line.split_once(&format!("// {word}: "))?;
        Some((u32::try_from(index).unwrap() + 1, kind.trim().to_owned()))
    };
    text.lines().enumerate().filter_map(mark).collect()
}

fn places(fault: &Fault) -> impl Iterator<Item = &Place> {
    fault.at.iter().chain(&fault.other)
}

fn summary(faults: &[Fault]) -> String {
    let line = |fault: &Fault| {
        let places: Vec<_> =
            places(fault).map(|place| format!("{}:{} {}", place.line, place.column, place.did)).collect();
        format!("  {}: {}: {}\n", fault.kind, places.join(", "), fault.message)
    };
    faults.iter().map(line).collect()
}

#[test]
fn each_planted_fault_is_found_on_its_lines_and_nothing_else() {
    let files = files("tests/sanitizers/faults");
    assert!(files.len() >= 20, "{}", files.len());
    let wrong = complaints(&files, |path| {
        let text = fs::read_to_string(path).unwrap();
        let sanitizer = match text.lines().next() {
            Some("// sanitize: address") => Sanitizer::Address,
            Some("// sanitize: thread") => Sanitizer::Thread,
            other => return Some(format!("{}: begins with {other:?}", path.display())),
        };
        let faults = look(path, sanitizer).faults;
        let (expected, others) = (marks(&text, "FAULT"), marks(&text, "OTHER"));
        let found: BTreeSet<Mark> =
            faults.iter().flat_map(|fault| places(fault).map(|place| (place.line, fault.kind.clone()))).collect();
        let first: BTreeSet<Mark> =
            faults.iter().filter_map(|fault| Some((fault.at.as_ref()?.line, fault.kind.clone()))).collect();
        let all: BTreeSet<Mark> = expected.union(&others).cloned().collect();
        let in_file = faults.iter().all(|fault| fault.at.is_some() && places(fault).all(|place| place.file == *path));
        let right = found == all && first.is_subset(&expected) && in_file && !expected.is_empty();
        (!right)
            .then(|| format!("{}: expected {expected:?} and {others:?}, found\n{}", path.display(), summary(&faults)))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn right_kernels_are_silent() {
    let mut cases = Vec::new();
    for path in files("tests/sanitizers/right") {
        cases.extend([(path.clone(), Sanitizer::Address), (path, Sanitizer::Thread)]);
    }
    for name in ["barriers", "cooperative_groups", "last_block", "shuffles", "votes", "atomics_int", "launch_forms"] {
        cases.push((top().join(format!("tests/programs/{name}.hip")), Sanitizer::Thread));
    }
    for name in ["dynamic_shared", "managed", "memory_2d"] {
        cases.push((top().join(format!("tests/programs/{name}.hip")), Sanitizer::Address));
    }
    // With a benchmark file, so that the harness runs them.
    cases.push((top().join("tests/benchmarks/reduction.hip"), Sanitizer::Thread));
    cases.push((top().join("tests/benchmarks/transpose.hip"), Sanitizer::Address));
    let wrong = complaints(&cases, |(path, sanitizer)| {
        let looked = look(path, *sanitizer);
        let silent = looked.faults.is_empty() && looked.failure.is_none();
        (!silent).then(|| {
            format!("{} under {sanitizer:?}: {:?}\n{}", path.display(), looked.failure, summary(&looked.faults))
        })
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
