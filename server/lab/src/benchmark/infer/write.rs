//! Writes the file.

use std::fmt::Write as _;

use super::sizes::Sizes;
use super::{Called, Guess};
use crate::benchmark::Kind;

pub(super) fn file(called: &Called<'_>, guesses: &[Guess], sizes: &Sizes) -> String {
    let name = match called {
        Called::Function(function) => &function.qualified_name,
        Called::Kernel(kernel, _) => &kernel.qualified_name,
    };
    let mut text = format!(
        "# How {name} is fed, checked and timed. Inferred from the code: look it over, above all the sizes.\n\
         # Expressions are C++ over the parameters of the shapes.\n\n"
    );
    // Writing to a string cannot fail.
    match called {
        Called::Function(function) => {
            let _ = writeln!(text, "# A host function that launches.\nentry = \"{}\"\n", function.qualified_name);
        }
        Called::Kernel(_, configuration) => {
            let _ = writeln!(text, "# Grid and block are from {}.", configuration.source);
            let shared =
                configuration.shared.as_ref().map_or(String::new(), |shared| format!(", shared = {}", quoted(shared)));
            let _ = writeln!(
                text,
                "entry = {{ kernel = {}, grid = {}, block = {}{shared} }}\n",
                quoted(&configuration.kernel),
                dimensions(&configuration.grid),
                dimensions(&configuration.block)
            );
        }
    }
    for guess in guesses {
        argument(&mut text, guess, sizes);
    }
    text.push_str(
        "# Results are compared with those of the original version of the code. To check against something else, name a host\n\
         # function of the file with the same arguments, or write C++ over the arguments' names:\n\
         # [check]\n# reference = \"...\"\n# rtol = 1e-4\n# atol = 1e-5\n\n\
         # For the roofline, if you know it: work of one call.\n# [cost]\n# flops = \"...\"\n# bytes = \"...\"\n\n",
    );
    shapes(&mut text, sizes);
    text
}

fn argument(text: &mut String, guess: &Guess, sizes: &Sizes) {
    let _ = writeln!(text, "[[argument]]\nname = \"{}\"", guess.name);
    match guess.kind {
        None => {
            let is_size = sizes.list.iter().any(|size| size.name == guess.name);
            let value = if is_size { quoted(&guess.name) } else { "1".into() };
            let comment = if is_size { "" } else { "  # a guess" };
            let _ = writeln!(text, "kind = \"scalar\"\ntype = \"{}\"\nvalue = {value}{comment}\n", guess.element.cpp);
        }
        Some(kind) => {
            let word = match kind {
                Kind::Input => "input",
                Kind::Output => "output",
                Kind::Inout | Kind::Scalar => "inout",
            };
            let count = quoted(&sizes.count());
            let _ = writeln!(text, "kind = \"{word}\"\ntype = \"{}\"\ncount = {count}\n", guess.element.cpp);
        }
    }
}

fn shapes(text: &mut String, sizes: &Sizes) {
    if sizes.invented {
        text.push_str("# No argument sounds like a size; `n` only says how large the buffers are.\n");
    } else if !sizes.guarded {
        text.push_str("# The code compares with no size, so these are multiples of 64.\n");
    }
    for shape in sizes.shapes() {
        text.push_str("[[shape]]\n");
        for (size, value) in sizes.list.iter().zip(&shape.values) {
            let _ = writeln!(text, "{} = {value}", size.name);
        }
        if shape.held_out {
            text.push_str("held_out = true  # never shown to what writes code; confirms a winner\n");
        }
        text.push('\n');
    }
    while text.ends_with("\n\n") {
        text.pop();
    }
}

fn dimensions(sizes: &[String]) -> String {
    match sizes {
        [one] => number_or_quoted(one),
        more => format!("[{}]", more.iter().map(|size| number_or_quoted(size)).collect::<Vec<_>>().join(", ")),
    }
}

fn number_or_quoted(text: &str) -> String {
    if text.parse::<u32>().is_ok() { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
