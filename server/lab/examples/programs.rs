//! Builds and runs HIP programs on the CPU, and says what came of each: how much of a collection of public code works.
//!
//! `cargo run -p lab --example programs -- FILE...`

use std::path::Path;
use std::time::{Duration, Instant};

use lab::program::{self, RunOptions};
use lab::toolchain::clangd;
use lab::toolchain::cpu::Cpu;
use lab::{Cancel, LabError, Source};

fn main() -> Result<(), LabError> {
    let cache = std::env::var_os("KERNEL_SCIENTIST_CACHE").unwrap_or_else(|| "/tmp/kernel-scientist-programs".into());
    let cpu = Cpu::new(Path::new(&cache))?;
    let (mut right, mut all) = (0, 0);
    for file in std::env::args_os().skip(1) {
        let started = Instant::now();
        let result = try_one(&cpu, Path::new(&file));
        let seconds = started.elapsed().as_secs_f64();
        all += 1;
        right += usize::from(result.is_ok());
        let text = result.unwrap_or_else(|error| error.to_string());
        println!("{} ({seconds:.1} s): {}", Path::new(&file).display(), text.replace('\n', "\n    "));
    }
    println!("{right} of {all} run right");
    Ok(())
}

/// Builds and runs one program; the text says what it launched.
fn try_one(cpu: &Cpu, file: &Path) -> Result<String, LabError> {
    let text = std::fs::read_to_string(file).map_err(LabError::io("reading", file))?;
    let source = Source::new(std::path::absolute(file).map_err(LabError::io("opening", file))?, text);
    let cancel = Cancel::new();
    let program = cpu.build_program(&source, &clangd::options_for(&source.path)?, &cancel)?;
    let outcome = program::run(cpu, &program, &RunOptions::new(Duration::from_secs(60)), &cancel)?;
    let launches: usize = outcome.launches.iter().map(|group| group.nanoseconds.len()).sum();
    Ok(format!(
        "right, {launches} launches of {} groups in {:.2} s",
        outcome.launches.len(),
        outcome.wall.as_secs_f64()
    ))
}
