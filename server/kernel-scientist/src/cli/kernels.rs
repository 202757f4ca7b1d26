//! `kernels FILE`: what the file holds.

use std::path::PathBuf;

use hip_syntax::Syntax;
use serde::Serialize;

use super::context::read_source;
use super::{CliError, Context};

/// Arguments of `kernels`.
#[derive(Debug, clap::Args)]
pub struct KernelsArgs {
    /// HIP source file.
    file: PathBuf,
}

#[derive(Serialize)]
struct Listing<'a> {
    kernels: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    qualified_name: &'a str,
    line: u32,
    end_line: u32,
    fingerprint: String,
    synchronises: bool,
}

/// Runs the command.
pub fn run(context: &Context, args: &KernelsArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    let syntax = Syntax::without_tree(source.text.clone());
    let headers = source.headers();
    let kernels: Vec<Row<'_>> = syntax
        .kernels()
        .iter()
        .map(|kernel| Row {
            name: &kernel.name,
            qualified_name: &kernel.qualified_name,
            line: kernel.line,
            end_line: kernel.end_line,
            fingerprint: kernel.fingerprint.resting_on(headers).to_string(),
            synchronises: syntax.waiting(kernel).synchronises,
        })
        .collect();
    if context.json() {
        return context.print_json(&Listing { kernels });
    }
    if kernels.is_empty() {
        return context.print(&format!("{}: no kernel (no __global__ function)\n", args.file.display()));
    }
    let width = kernels.iter().map(|row| row.qualified_name.len()).max().unwrap_or(0);
    let lines: String = kernels
        .iter()
        .map(|row| {
            format!("{:width$}  lines {}-{}  {}\n", row.qualified_name, row.line, row.end_line, &row.fingerprint[..12])
        })
        .collect();
    context.print(&lines)
}
