//! Builds and runs HIP programs on the CPU, and says what came of each: how much of a collection of public code works.
//!
//! `cargo run -p lab --example programs -- FILE...`
//!
//! `cargo run -p lab --example programs -- --list LIST.md CHECKOUT [PART]` runs what a list in tests/programs/public/ names,
//! in a checkout of that collection (only programs with PART in their path, if given), and compares with the list's results.
//! A row of the list: program | why it is left out, or nothing | settings | result. Settings, separated by `;`: `std=c++20`,
//! `source=FILE`, `include=FOLDER` (both relative to the program's folder), `define=MACRO`, `args=ARGUMENTS` (once for each run).

use std::path::Path;
use std::time::{Duration, Instant};

use lab::program::{self, RunOptions};
use lab::toolchain::cpu::Cpu;
use lab::toolchain::{CompileOptions, clangd};
use lab::{Cancel, LabError, Source};

/// Longest time for one run.
const WALL: Duration = Duration::from_secs(600);

fn main() -> Result<(), LabError> {
    let cache = std::env::var_os("KERNEL_SCIENTIST_CACHE").unwrap_or_else(|| "/tmp/kernel-scientist-programs".into());
    let cpu = Cpu::open(Path::new(&cache), &Cancel::new())?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list", list, checkout] => run_list(&cpu, Path::new(list), Path::new(checkout), ""),
        ["--list", list, checkout, part] => run_list(&cpu, Path::new(list), Path::new(checkout), part),
        ref files => {
            run_files(&cpu, files);
            Ok(())
        }
    }
}

fn run_files(cpu: &Cpu, files: &[&str]) {
    let mut right = 0;
    for file in files {
        let result = try_one(cpu, Path::new(file), &Settings::default());
        right += usize::from(say(file, result));
    }
    println!("{right} of {} run right", files.len());
}

fn run_list(cpu: &Cpu, list: &Path, checkout: &Path, part: &str) -> Result<(), LabError> {
    let text = std::fs::read_to_string(list).map_err(LabError::io("reading", list))?;
    let (mut right, mut eligible, mut left_out, mut unlike) = (0, 0, 0, 0);
    for row in text.lines().filter_map(Row::read).filter(|row| row.program.contains(part)) {
        if !row.reason.is_empty() {
            println!("{}: left out: {}", row.program, row.reason);
            left_out += 1;
            continue;
        }
        eligible += 1;
        let is_right = say(row.program, try_one(cpu, &checkout.join(row.program), &Settings::read(row.settings)));
        right += usize::from(is_right);
        if is_right != (row.result == "right") {
            println!("    unlike the list, which says: {}", row.result);
            unlike += 1;
        }
    }
    let share = 100.0 * f64::from(right as u32) / f64::from(u32::max(eligible, 1));
    println!("{right} of {eligible} eligible programs run right ({share:.1} %); {left_out} are left out");
    println!("{unlike} results are unlike the list");
    Ok(())
}

/// A row of a list.
struct Row<'a> {
    program: &'a str,
    reason: &'a str,
    settings: &'a str,
    result: &'a str,
}

impl<'a> Row<'a> {
    /// The row in `line`; `None` for other text and the head of the table.
    fn read(line: &'a str) -> Option<Self> {
        let cells: Vec<&str> =
            line.strip_prefix('|')?.trim_end().strip_suffix('|')?.split('|').map(str::trim).collect();
        let [program, reason, settings, result] = cells[..] else { return None };
        let is_head = program == "program" || program.starts_with('-');
        (!is_head).then_some(Self { program, reason, settings, result })
    }
}

/// How a program is built and run.
#[derive(Default)]
struct Settings {
    standard: Option<String>,
    sources: Vec<String>,
    includes: Vec<String>,
    defines: Vec<String>,
    runs: Vec<Vec<String>>,
}

impl Settings {
    fn read(text: &str) -> Self {
        let mut settings = Self::default();
        for setting in text.split(';') {
            match setting.trim().split_once('=') {
                Some(("std", value)) => settings.standard = Some(value.into()),
                Some(("source", value)) => settings.sources.push(value.into()),
                Some(("include", value)) => settings.includes.push(value.into()),
                Some(("define", value)) => settings.defines.push(value.into()),
                Some(("args", value)) => settings.runs.push(value.split_whitespace().map(str::to_owned).collect()),
                _ => {}
            }
        }
        settings
    }

    fn compile_options(&self, folder: &Path) -> CompileOptions {
        let absolute = |names: &[String]| names.iter().map(|name| folder.join(name)).collect();
        CompileOptions {
            standard: self.standard.clone(),
            sources: absolute(&self.sources),
            include_folders: absolute(&self.includes),
            defines: self.defines.clone(),
            ..CompileOptions::default()
        }
    }
}

/// Prints one result; whether it is right.
fn say(name: &str, result: Result<String, LabError>) -> bool {
    let is_right = result.is_ok();
    println!("{name}: {}", result.unwrap_or_else(|error| error.to_string()).replace('\n', "\n    "));
    is_right
}

/// Builds a program and runs it with each of its arguments; the text says what it launched.
fn try_one(cpu: &Cpu, file: &Path, settings: &Settings) -> Result<String, LabError> {
    let started = Instant::now();
    let text = std::fs::read_to_string(file).map_err(LabError::io("reading", file))?;
    let source = Source::new(std::path::absolute(file).map_err(LabError::io("opening", file))?, text);
    let folder = source.path.parent().unwrap_or(Path::new("/"));
    let options = clangd::options_for(&source.path)?.with(&settings.compile_options(folder));
    let cancel = Cancel::new();
    let program = cpu.build_program(&source, &options, &cancel)?;
    let no_arguments = [Vec::new()];
    let runs = if settings.runs.is_empty() { &no_arguments[..] } else { &settings.runs };
    let (mut launches, mut groups) = (0, 0);
    for arguments in runs {
        let run = RunOptions { arguments: arguments.iter().map(Into::into).collect(), ..RunOptions::new(WALL) };
        let outcome = program::run(cpu, &program, &run, &cancel)?;
        launches += outcome.launches.iter().map(|group| group.nanoseconds.len()).sum::<usize>();
        groups += outcome.launches.len();
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(format!("right, {launches} launches of {groups} groups, {seconds:.1} s with the build"))
}
