//! The command line: one file a command, each a thin layer over the crates below.
//!
//! Conventions that every command keeps: results go to standard output, everything else to standard error; `--json`
//! prints one JSON object (`evolve`: JSON lines); the exit status is 0 done, 1 the code failed, 2 usage or
//! configuration, 3 device or model not available, 130 cancelled.

mod analyze;
mod benchmark;
mod check;
mod consent;
mod context;
mod doctor;
mod error;
pub(crate) mod evolve;
pub(crate) mod figures;
mod forecast;
mod history;
mod kernels;
mod program_arguments;
mod progress;
mod prompt;
pub(crate) mod provider;
pub(crate) mod report;
mod subject;
mod suggest;
mod time;
mod versus;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use hip_syntax::Syntax;
use lab::Source;

pub use context::Context;
pub use error::CliError;

/// Makes HIP kernels faster by hypothesis, experiment and measurement.
#[derive(Debug, Parser)]
#[command(name = "kernel-scientist", version, about, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options that every command takes.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// Where runs and measurements are kept [default: kernel-scientist/notebook.db in the user's data folder].
    #[arg(long, global = true, value_name = "FILE", env = "KERNEL_SCIENTIST_NOTEBOOK")]
    pub notebook: Option<PathBuf>,
    /// Settings file [default: kernel-scientist.toml in the file's folder or above].
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Log more to standard error (-v: what is done, -vv: details).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the kernels of a file.
    Kernels(kernels::KernelsArgs),
    /// Show registers, LDS, scratch and occupancy from real GPU code generation.
    Analyze(analyze::AnalyzeArgs),
    /// Forecast the time of each kernel on a GPU that is not here, line by line.
    Forecast(forecast::ForecastArgs),
    /// Check and time the kernels of a file, or compare two versions.
    Time(time::TimeArgs),
    /// Build the file, run it, and check its result.
    Check(check::CheckArgs),
    /// List hypotheses worth trying, best first.
    Suggest(suggest::SuggestArgs),
    /// Print what a stage's model would be asked next; nobody is asked.
    Prompt(prompt::PromptArgs),
    /// Write a first benchmark file to standard output, inferred from the kernel's signature.
    Benchmark(benchmark::BenchmarkArgs),
    /// Run generations of experiments on the file and confirm the winner.
    Evolve(evolve::EvolveArgs),
    /// Show what was measured before.
    History(history::HistoryArgs),
    /// Write a run as one self-contained HTML page to standard output.
    Report(report::ReportArgs),
    /// Serve an editor as a language server, over standard input and output.
    Lsp(crate::lsp::LspArgs),
    /// Say what is usable on this machine, and how to get the rest.
    Doctor(doctor::DoctorArgs),
}

/// Parses the arguments, runs the command and turns its result into an exit status.
pub fn main() -> ExitCode {
    let (cli, misplaced) = parse();
    // An editor's server has a log of its own.
    if !matches!(cli.command, Command::Lsp(_)) {
        context::start_log(cli.global.verbose);
    }
    if let Err(error) = misplaced {
        return error.report();
    }
    let context = match Context::new(cli.global) {
        Ok(context) => context,
        Err(error) => return error.report(),
    };
    let result = match cli.command {
        Command::Kernels(args) => kernels::run(&context, &args),
        Command::Analyze(args) => analyze::run(&context, &args),
        Command::Forecast(args) => forecast::run(&context, &args),
        Command::Time(args) => time::run(&context, &args),
        Command::Check(args) => check::run(&context, &args),
        Command::Suggest(args) => suggest::run(&context, &args),
        Command::Prompt(args) => prompt::run(&context, &args),
        Command::Benchmark(args) => benchmark::run(&context, &args),
        Command::Evolve(args) => evolve::run(&context, &args),
        Command::History(args) => history::run(&context, &args),
        Command::Report(args) => report::run(&context, &args),
        Command::Lsp(args) => crate::lsp::run(&context, &args),
        Command::Doctor(args) => doctor::run(&context, &args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

/// The command line, and whether options of ours stand where the program's arguments do.
fn parse() -> (Cli, Result<(), CliError>) {
    let mut command = Cli::command();
    let matches = command.get_matches_mut();
    let misplaced = matches
        .subcommand_name()
        .map_or(Ok(()), |name| program_arguments::require_own_options_before(&mut command, name, std::env::args_os()));
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => (cli, misplaced),
        Err(error) => error.format(&mut command).exit(),
    }
}

/// Says something on standard error. Words of a model, a server or a program under test may stand in it: see
/// [`Context::print`].
fn tell(text: &str) {
    eprintln!("{}", context::printable(text));
}

/// Refuses a kernel's name that the file does not have, and says which it has.
fn require_kernel(source: &Source, wanted: Option<&str>) -> Result<(), CliError> {
    let Some(wanted) = wanted else { return Ok(()) };
    let syntax = Syntax::without_tree(source.text.clone());
    if syntax.kernel(wanted).is_some() {
        return Ok(());
    }
    let names: Vec<&str> = syntax.kernels().iter().map(|kernel| kernel.qualified_name.as_str()).collect();
    let there = if names.is_empty() { "no kernel at all".to_owned() } else { names.join(", ") };
    Err(CliError::Usage(format!("{}: there is no kernel {wanted}; the file has {there}", source.path.display())))
}
