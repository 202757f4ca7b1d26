//! Traces a HIP program and prints what was recorded: for each launch its blocks and events, and what the phases took.
//!
//! `cargo run -p lab --example trace -- FILE [--wave 32|64] [--events N] [--dump OUT.json] [-- ARGUMENTS]`
//!
//! `--dump` writes `{"code": ..., "launches": [...]}`, as serde writes `forecast::code::Code` and `forecast::trace::Launch`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use forecast::trace::Launch;
use lab::toolchain::forecast::{Extent, Target, TracedRun};
use lab::workbench::{ShapeChoice, Workbench, WorkbenchOptions};
use lab::{Cancel, LabError, Source};

struct Arguments {
    file: PathBuf,
    target: Target,
    extent: Extent,
    dump: Option<PathBuf>,
    program: Vec<String>,
}

fn main() -> Result<(), LabError> {
    let arguments = read_arguments(std::env::args().skip(1).collect())?;
    let cancel = Cancel::new();
    let cache = std::env::var_os("KERNEL_SCIENTIST_CACHE").unwrap_or_else(|| "/tmp/kernel-scientist-programs".into());
    let path = std::path::absolute(&arguments.file).map_err(LabError::io("opening", &arguments.file))?;
    let text = std::fs::read_to_string(&path).map_err(LabError::io("reading", &path))?;
    let source = Source::new(path, text);
    let options = WorkbenchOptions {
        device: "cpu".into(),
        cache: cache.into(),
        benchmark: None,
        program_args: (!arguments.program.is_empty()).then_some(arguments.program),
        kernel: None,
        timeout: Duration::from_secs(60),
        memory_bytes: 16 << 30,
    };
    let workbench = Workbench::open(&source, options, &cancel)?;
    let tracing = Instant::now();
    let traced = workbench.trace(&source, arguments.target, &arguments.extent, ShapeChoice::Shown, &cancel)?;
    let (functions, blocks) = (traced.code.functions.len(), traced.code.blocks.len());
    println!("traced in {:.3} s: {functions} functions, {blocks} blocks", tracing.elapsed().as_secs_f64());
    for (shape, run) in &traced.runs {
        if let Some(shape) = shape {
            println!("shape {shape}:");
        }
        print(run);
    }
    if let Some(out) = arguments.dump {
        let launches: Vec<&Launch> = traced.runs.iter().flat_map(|(_, run)| &run.launches).collect();
        let value = serde_json::json!({ "code": traced.code, "launches": launches });
        std::fs::write(&out, value.to_string()).map_err(LabError::io("writing", out))?;
    }
    Ok(())
}

fn print(run: &TracedRun) {
    println!("ran in {:.3} s, records read in {:.3} s", run.ran.as_secs_f64(), run.read.as_secs_f64());
    for launch in &run.launches {
        println!("{}", line(launch));
    }
    if let Some(failure) = &run.failure {
        println!("the program: {failure}");
    }
}

fn line(launch: &Launch) -> String {
    let events: usize = launch.blocks.iter().flat_map(|block| &block.items).map(Vec::len).sum();
    let blocks = launch.blocks.len().max(1);
    format!(
        "{} {:?} {:?} x{}: {} blocks, {} events a block{}{}",
        launch.kernel,
        launch.grid,
        launch.block,
        launch.launches,
        launch.blocks.len(),
        events / blocks,
        if launch.complete { "" } else { ", not complete" },
        if launch.cut { ", cut short" } else { "" },
    )
}

fn read_arguments(all: Vec<String>) -> Result<Arguments, LabError> {
    let usage =
        || LabError::Usage("usage: trace FILE [--wave 32|64] [--events N] [--dump OUT.json] [-- ARGUMENTS]".into());
    let mut all = all.into_iter();
    let mut read = Arguments {
        file: PathBuf::new(),
        target: Target::Amdgcn,
        extent: Extent::default(),
        dump: None,
        program: Vec::new(),
    };
    while let Some(argument) = all.next() {
        match argument.as_str() {
            "--wave" => {
                read.target = match all.next().as_deref() {
                    Some("32") => Target::Nvptx,
                    Some("64") => Target::Amdgcn,
                    _ => return Err(usage()),
                }
            }
            "--events" => read.extent.events = all.next().and_then(|n| n.parse().ok()).ok_or_else(usage)?,
            "--dump" => read.dump = Some(all.next().ok_or_else(usage)?.into()),
            "--" => read.program = all.by_ref().collect(),
            file => read.file = file.into(),
        }
    }
    if read.file.as_os_str().is_empty() { Err(usage()) } else { Ok(read) }
}
