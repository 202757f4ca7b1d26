//! `benchmark FILE`: a first benchmark file, inferred from the kernel's signature.

use std::path::PathBuf;

use hip_syntax::Syntax;
use lab::benchmark;
use serde::Serialize;

use super::context::read_source;
use super::{CliError, Context};

/// Arguments of `benchmark`.
#[derive(Debug, clap::Args)]
pub struct BenchmarkArgs {
    /// HIP source file.
    file: PathBuf,
    /// The kernel to feed [default: the first].
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    file: PathBuf,
    text: &'a str,
}

/// Runs the command: writes the benchmark file to standard output.
pub fn run(context: &Context, args: &BenchmarkArgs) -> Result<(), CliError> {
    let source = read_source(&args.file)?;
    super::require_kernel(&source, args.kernel.as_deref())?;
    let text = benchmark::infer(&Syntax::without_tree(source.text.clone()), args.kernel.as_deref())?;
    if context.json() {
        return context.print_json(&Answer { file: benchmark::Benchmark::path_for(&source.path), text: &text });
    }
    context.print(&text)
}
