//! Prints a source as the CPU toolchain compiles it: launches and dynamic shared memory as the runtime's macros, kernels
//! split at their barriers. `--fibers` leaves the kernels whole; `--why` says instead which kernels are not split, and why.
//!
//! `cargo run -p hip-syntax --example rewrite -- [--fibers | --why] FILE`

use std::process::ExitCode;

use hip_syntax::Syntax;
use hip_syntax::rewrite::{self, Barriers};

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = (arguments.len() == 2).then(|| arguments.remove(0));
    let (Some(file), None | Some("--fibers" | "--why")) = (arguments.first(), option.as_deref()) else {
        eprintln!("usage: rewrite [--fibers | --why] FILE");
        return ExitCode::from(2);
    };
    let syntax = match std::fs::read_to_string(file) {
        Ok(text) => Syntax::parse(text),
        Err(error) => {
            eprintln!("rewrite: reading {file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    match option.as_deref() {
        Some("--why") => {
            for kernel in syntax.kernels().iter().filter(|kernel| syntax.waiting(kernel).synchronises) {
                let why = rewrite::why_on_fibers(&syntax, kernel).map_or("split".into(), |why| why.to_string());
                println!("{file}:{}: {}: {why}", kernel.line, kernel.name);
            }
        }
        Some(_) => print!("{}", rewrite::cpu(&syntax, Barriers::Fibers).text),
        None => print!("{}", rewrite::cpu(&syntax, Barriers::Split).text),
    }
    ExitCode::SUCCESS
}
