//! Reports that are well-formed and cannot be true.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hip_syntax::rewrite::Barriers;

use super::super::{Bench, Builder, Described, Object};
use super::*;
use crate::benchmark::Benchmark;
use crate::sandbox::Limits;
use crate::{Cancel, Source};

/// A device on which nothing is ever built.
struct Nowhere;

impl Builder for Nowhere {
    fn object(&self, _: &Source, _: &Benchmark, _: Barriers, _: &Cancel) -> Result<Object, LabError> {
        Err(LabError::Cancelled)
    }
    fn harness(&self, _: &Cancel) -> Result<PathBuf, LabError> {
        Err(LabError::Cancelled)
    }
    fn run_folder(&self) -> Result<tempfile::TempDir, LabError> {
        Err(LabError::Cancelled)
    }
    fn environment(&self) -> Vec<(OsString, OsString)> {
        Vec::new()
    }
    fn readable(&self) -> Vec<PathBuf> {
        Vec::new()
    }
    fn describe(&self) -> Described {
        Described { device: "test".into(), device_note: String::new(), toolchain: String::new() }
    }
}

const FILE: &str = "entry = \"f\"\n[[argument]]\nname = \"y\"\nkind = \"output\"\ntype = \"float\"\ncount = \"n\"\n\
                    [[shape]]\nn = 100\n[[shape]]\nn = 77\nheld_out = true\n";

/// What comes of a report with these times of baseline and candidate, for work of 1000 bytes on a machine of 1e9 bytes/s.
fn outcome(baseline: f64, candidate: f64, clock: f64) -> Result<(), LabError> {
    let benchmark = Benchmark::parse(Path::new("/w/f.bench.toml"), FILE).unwrap();
    let original = Source::new("/w/f.hip", "");
    let limits = Limits::new(Duration::from_secs(1), 1 << 30);
    let bench =
        Bench { builder: &Nowhere, benchmark: &benchmark, original: &original, limits, barriers: Barriers::Split };
    let samples = ShapeSamples {
        wall: [vec![baseline; 10], vec![candidate; 10]],
        processor: [vec![baseline; 10], vec![candidate; 10]],
        clock_ratios: [vec![1.0; 10], vec![clock; 10]],
        kernels: [vec![baseline; 10], vec![candidate; 10]],
        flops: -1.0,
        bytes: 1000.0,
        ..ShapeSamples::default()
    };
    let transcript = Transcript { shapes: [(0, samples)].into(), bytes_per_s: 1e9, flops_per_s: 1e9 };
    check(&Naming { bench: &bench, compares: true }, &transcript)
}

#[test]
fn a_time_below_the_speed_of_the_machine_is_refused() {
    // 1000 bytes take 1000 ns at best; an eighth of that is allowed for.
    assert!(outcome(1000.0, 130.0, 1.0).is_ok());
    let fast = outcome(1000.0, 120.0, 1.0).unwrap_err();
    assert!(matches!(&fast, LabError::Code(Failure::Refused { .. })));
    assert!(fast.to_string().contains("in the candidate at n=100: 120 ns is less than"), "{fast}");
    // When the unchanged code is as fast, it is the file that is wrong.
    let wrong_cost = outcome(120.0, 120.0, 1.0).unwrap_err();
    assert!(matches!(wrong_cost, LabError::Usage(_)), "{wrong_cost}");
}

#[test]
fn a_clock_that_disagrees_with_the_counter_is_refused() {
    assert!(outcome(1000.0, 500.0, 1.04).is_ok());
    for clock in [0.5, 0.94, 1.06] {
        let error = outcome(1000.0, 500.0, clock).unwrap_err();
        assert!(error.to_string().contains("the clock ran") && is_about_the_clock(&error), "{error}");
    }
}

#[test]
fn threads_that_go_on_by_themselves_are_refused() {
    let benchmark = Benchmark::parse(Path::new("/w/f.bench.toml"), FILE).unwrap();
    let original = Source::new("/w/f.hip", "");
    let limits = Limits::new(Duration::from_secs(1), 1 << 30);
    let bench =
        Bench { builder: &Nowhere, benchmark: &benchmark, original: &original, limits, barriers: Barriers::Split };
    for (between, expected) in
        [((100e6, 0.0), true), ((100e6, 4e6), true), ((10e6, 9e6), false), ((100e6, 180e6), false)]
    {
        let samples = ShapeSamples { between, ..ShapeSamples::default() };
        let transcript = Transcript { shapes: [(0, samples)].into(), ..Transcript::default() };
        let answer = check(&Naming { bench: &bench, compares: true }, &transcript);
        assert_eq!(answer.is_ok(), expected, "{between:?}: {answer:?}");
    }
}

#[test]
fn held_out_sizes_are_not_told() {
    let benchmark = Benchmark::parse(Path::new("/w/f.bench.toml"), FILE).unwrap();
    let original = Source::new("/w/f.hip", "");
    let limits = Limits::new(Duration::from_secs(1), 1 << 30);
    let bench =
        Bench { builder: &Nowhere, benchmark: &benchmark, original: &original, limits, barriers: Barriers::Split };
    let naming = Naming { bench: &bench, compares: true };
    assert_eq!(naming.place(Which::Candidate, Some(0)), "in the candidate at n=100");
    assert_eq!(naming.place(Which::Candidate, Some(1)), "in the candidate at a held-out shape");
}

#[test]
fn work_that_moved_to_the_host_is_found() {
    // Total and kernel time of baseline and candidate in microseconds, and whether work was moved.
    for (name, baseline, candidate, expected) in [
        ("a faster kernel", (100.0, 99.0), (50.0, 49.0), false),
        ("the same", (100.0, 99.0), (100.0, 99.0), false),
        ("a loop on the host", (100.0, 99.0), (40.0, 0.0), true),
        ("half of it on the host", (100.0, 99.0), (80.0, 50.0), true),
        ("a slower host function", (100.0, 99.0), (160.0, 99.5), false),
        ("a clearing kernel replaced by hipMemset", (100.0, 99.0), (92.0, 89.0), false),
        ("an allocation more", (3000.0, 2990.0), (1500.0, 1400.0), false),
    ] {
        let us = |time: f64| vec![time * 1e3; 10];
        let samples = ShapeSamples {
            wall: [us(baseline.0), us(candidate.0)],
            kernels: [us(baseline.1), us(candidate.1)],
            ..ShapeSamples::default()
        };
        assert_eq!(moved_to_host_ns(&samples).is_some(), expected, "{name}");
    }
}
