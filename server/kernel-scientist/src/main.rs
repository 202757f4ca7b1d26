//! `kernel-scientist`: HIP kernels checked, timed and improved from the command line and from editors.

#[cfg(target_os = "linux")]
mod allocator;
mod cli;
mod config;
mod designed;
mod devices;
mod forecasts;
mod lsp;
mod models;
mod recorded;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
