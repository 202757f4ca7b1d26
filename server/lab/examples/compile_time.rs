//! Prints how long the CPU toolchain takes for a file, from text to executable: the best and the median of several builds,
//! none of them from the cache.
//!
//! `cargo run --release -p lab --example compile_time -- FILE`

use std::path::Path;
use std::time::{Duration, Instant};

use lab::toolchain::CompileOptions;
use lab::toolchain::cpu::Cpu;
use lab::{Cancel, LabError, Source};

const BUILDS: usize = 9;

fn main() -> Result<(), LabError> {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("usage: compile_time FILE");
        std::process::exit(2);
    };
    let path = std::path::absolute(&file).map_err(LabError::io("opening", &file))?;
    let text = std::fs::read_to_string(&path).map_err(LabError::io("reading", &path))?;
    let cache = std::env::var_os("KERNEL_SCIENTIST_CACHE").unwrap_or_else(|| "/tmp/kernel-scientist-programs".into());
    let cpu = Cpu::new(Path::new(&cache))?;
    let run = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    let mut times: Vec<Duration> = Vec::new();
    for build in 0..=BUILDS {
        // A comment makes each a text of its own.
        let source = Source::new(path.clone(), format!("{text}\n// {run} {build}\n"));
        let started = Instant::now();
        cpu.build_program(&source, &CompileOptions::default(), &Cancel::new())?;
        times.push(started.elapsed());
    }
    // The first one also makes what all share.
    times.remove(0);
    times.sort();
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    println!("compile_{name} {:.3} s", times[0].as_secs_f64());
    println!("compile_{name}_median {:.3} s", times[BUILDS / 2].as_secs_f64());
    Ok(())
}
