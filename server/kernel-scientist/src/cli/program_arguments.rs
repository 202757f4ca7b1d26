//! `--args`: all that follows is handed to the program, options of the command's own too, which nobody means.

use std::ffi::OsString;

use super::CliError;

/// The option, written so that its values follow; `--args=VALUE` takes one value, whatever it is.
const ARGS: &str = "--args";
/// Programs have these too, and what follows `--args` is the program's.
const OF_EVERY_PROGRAM: [&str; 2] = ["help", "version"];

/// Refuses options of the command `name` behind `--args`.
///
/// # Errors
/// [`CliError::Usage`], which says where to put them.
pub fn require_own_options_before(
    command: &mut clap::Command,
    name: &str,
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<(), CliError> {
    // Options of every command are made known to each only then.
    command.build();
    let Some(command) = command.find_subcommand(name) else { return Ok(()) };
    if !command.get_arguments().any(|argument| argument.get_long() == Some(&ARGS[2..])) {
        return Ok(());
    }
    let is_own = |name: &str| {
        let mut own = command.get_arguments().filter_map(clap::Arg::get_long);
        !OF_EVERY_PROGRAM.contains(&name) && own.any(|own| own == name)
    };
    let handed = arguments.into_iter().skip_while(|argument| argument != ARGS).skip(1);
    for argument in handed {
        let text = argument.to_string_lossy();
        let option = text.split('=').next().unwrap_or_default();
        if option.strip_prefix("--").is_some_and(is_own) {
            return Err(CliError::Usage(format!(
                "{option} stands behind {ARGS}, which hands all that follows to the program: put {option} before {ARGS}, or \
                 write {ARGS}={text} if the program is to have it"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> Option<String> {
        let option = |name: &'static str| clap::Arg::new(name).long(name);
        let mut command = clap::Command::new("tool")
            .arg(option("json").global(true))
            .subcommand(clap::Command::new("forecast").arg(option("on")).arg(option("args")))
            .subcommand(clap::Command::new("kernels").arg(option("on")));
        let words: Vec<&str> = line.split(' ').collect();
        let arguments = words.iter().map(|word| OsString::from(*word));
        require_own_options_before(&mut command, words[0], arguments).err().map(|error| error.to_string())
    }

    #[test]
    fn own_options_are_refused_behind_the_programs_arguments_and_nothing_else_is() {
        for line in [
            "forecast k.hip --on h200 --args 1 -2 --size 3 --help",
            "forecast k.hip --args=--on --args=h200 --on mi300x",
            "forecast k.hip --args --once on",
            "kernels k.hip --args --on h200",
            "forecast k.hip",
        ] {
            assert_eq!(refusal(line), None, "{line}");
        }
        for (line, told) in [
            ("forecast k.hip --args 1 --on h200", "--args=--on"),
            ("forecast k.hip --args --on=h200", "--args=--on=h200"),
            ("forecast k.hip --args 1 --json", "put --json before --args"),
        ] {
            let refusal = refusal(line).unwrap_or_default();
            assert!(refusal.contains(told), "{line}: {refusal}");
        }
    }
}
