//! `kernel-scientist`: HIP kernels checked, timed and improved from the command line.

mod cli;
mod config;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
