//! Instruments LLVM's text as a traced build does, and prints what the blocks are.
//!
//! `cargo run -p forecast --example instrument -- IN.ll OUT.ll`

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("usage: instrument IN.ll OUT.ll");
        return ExitCode::from(2);
    };
    let done = std::fs::read_to_string(input).map_err(|error| error.to_string()).and_then(|text| {
        let mut code = forecast::code::Code::default();
        let text = forecast::ir::instrument(&text, None, &mut code).map_err(|error| error.to_string())?;
        println!("{code:#?}");
        std::fs::write(output, text).map_err(|error| error.to_string())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("instrument: {input}: {error}");
            ExitCode::FAILURE
        }
    }
}
