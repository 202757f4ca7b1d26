//! Prints a source as the CPU toolchain compiles it: launches and dynamic shared memory as the runtime's macros.
//!
//! `cargo run -p hip-syntax --example rewrite -- FILE`

use std::process::ExitCode;

use hip_syntax::{Syntax, rewrite};

fn main() -> ExitCode {
    let Some(file) = std::env::args_os().nth(1) else {
        eprintln!("usage: rewrite FILE");
        return ExitCode::from(2);
    };
    match std::fs::read_to_string(&file) {
        Ok(text) => {
            print!("{}", rewrite::cpu(&Syntax::parse(text)).text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("rewrite: reading {}: {error}", file.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}
