//! Records what the variants of a suite do, for `cargo run -p forecast --example score`.
//!
//! `cargo run -p lab --example record_suite -- [--wave 32|64] OUT FILE TIMES.csv [FILE TIMES.csv]...`: of each variant that TIMES names,
//! FILE is run with `family/variant` as its argument. What is in OUT already is kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lab::program::RunOptions;
use lab::toolchain::CompileOptions;
use lab::toolchain::cpu::Cpu;
use lab::toolchain::forecast::{Extent, Target, Tracer};
use lab::{Cancel, LabError, Source};

fn main() -> Result<(), LabError> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut target = Target::Nvptx;
    if arguments.first().is_some_and(|first| first == "--wave") {
        target = if arguments.get(1).is_some_and(|wave| wave == "64") { Target::Amdgcn } else { Target::Nvptx };
        arguments.drain(..2.min(arguments.len()));
    }
    let usage = "usage: record_suite [--wave 32|64] OUT FILE TIMES.csv [FILE TIMES.csv]...";
    let (out, pairs) = arguments.split_first().ok_or_else(|| LabError::Usage(usage.into()))?;
    let out = Path::new(out);
    std::fs::create_dir_all(out).map_err(LabError::io("creating", out))?;
    let cancel = Cancel::new();
    let cache = std::env::var_os("KERNEL_SCIENTIST_CACHE").unwrap_or_else(|| "/tmp/kernel-scientist-programs".into());
    let tracer = Tracer::open(&Cpu::open(Path::new(&cache), &cancel)?, target, &cancel)?;
    for pair in pairs.chunks_exact(2) {
        if let Err(error) = record(&tracer, out, Path::new(&pair[0]), Path::new(&pair[1]), &cancel) {
            println!("{}: {error}", pair[0]);
        }
    }
    Ok(())
}

fn record(tracer: &Tracer, out: &Path, file: &Path, times: &Path, cancel: &Cancel) -> Result<(), LabError> {
    let path = std::path::absolute(file).map_err(LabError::io("opening", file))?;
    let text = std::fs::read_to_string(&path).map_err(LabError::io("reading", &path))?;
    let listed = std::fs::read_to_string(times).map_err(LabError::io("reading", times))?;
    let options = CompileOptions { defines: vec!["ONCE".into()], ..CompileOptions::default() };
    let code = format!("{}.json", file.file_stem().unwrap_or_default().to_string_lossy());
    let mut build = None;
    for line in listed.lines() {
        let mut parts = line.split([',', ' ']);
        let (Some(family), Some(variant)) = (parts.next(), parts.next()) else { continue };
        let name = format!("{family}/{variant}");
        if !text.contains(&format!("\"{family}\"")) || !text.contains(&format!("\"{variant}\"")) {
            continue;
        }
        let put = |extension: &str, bytes: &[u8]| {
            let path: PathBuf = out.join(name.replace('/', "-") + extension);
            std::fs::write(&path, bytes).map_err(LabError::io("writing", path))
        };
        if out.join(name.replace('/', "-") + ".trace").exists() {
            continue;
        }
        if build.is_none() {
            let built = tracer.build(&Source::new(path.clone(), text.clone()), &options, cancel)?;
            let json = serde_json::to_vec(&built.code).map_err(std::io::Error::other);
            let json = json.map_err(LabError::io("writing", &code))?;
            std::fs::write(out.join(&code), json).map_err(LabError::io("writing", &code))?;
            build = Some(built);
        }
        let Some(build) = &build else { continue };
        let mut run = RunOptions::new(Duration::from_secs(120));
        run.arguments = vec![name.clone().into()];
        match tracer.record(build, &Extent::default(), &run, cancel) {
            Ok(record) => {
                put(".code", code.as_bytes())?;
                put(".trace", &record.bytes)?;
                println!("{name}: {:.1} s, {} bytes", record.ran.as_secs_f64(), record.bytes.len());
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
    Ok(())
}
