//! What every command starts from: settings, folders, the cancel flag, and how to print.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use lab::{Cancel, Source};
use signal_hook::consts;

use super::{CliError, Global};
use crate::config::Config;

/// The largest source that is read, in bytes: far above any hand-written kernel file, far below what would exhaust memory.
const LARGEST_SOURCE: u64 = 16 << 20;

/// Settings, folders and output of one command.
pub struct Context {
    global: Global,
    /// Set by the first Ctrl-C, SIGTERM or SIGHUP (the terminal was closed); a second one ends the process at once.
    pub cancel: Cancel,
    /// Folder for builds that can be made anew at any time.
    pub cache: PathBuf,
}

impl Context {
    /// Reads the environment and installs the signal handlers.
    pub fn new(global: Global) -> Result<Self, CliError> {
        let cancel = Cancel::new();
        for signal in [consts::SIGINT, consts::SIGTERM, consts::SIGHUP] {
            signal_hook::flag::register_conditional_shutdown(signal, 130, cancel.flag())
                .and_then(|_| signal_hook::flag::register(signal, cancel.flag()))
                .map_err(|error| CliError::Usage(format!("cannot listen for signal {signal}: {error}")))?;
        }
        let cache = dirs::cache_dir()
            .ok_or_else(|| CliError::Usage("there is no cache folder: set HOME or XDG_CACHE_HOME".into()))?
            .join("kernel-scientist");
        Ok(Self { global, cancel, cache })
    }

    /// Whether results are printed as JSON.
    pub fn json(&self) -> bool {
        self.global.json
    }

    /// Whether progress may be drawn: standard error is a terminal.
    pub fn draws_progress(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// Where the notebook is.
    pub fn notebook_path(&self) -> Result<PathBuf, CliError> {
        match &self.global.notebook {
            Some(path) => Ok(path.clone()),
            None => Ok(dirs::data_dir()
                .ok_or_else(|| {
                    CliError::Usage(
                        "there is no data folder: set HOME or XDG_DATA_HOME, or pass --notebook FILE".into(),
                    )
                })?
                .join("kernel-scientist")
                .join("notebook.db")),
        }
    }

    /// The settings file that was named.
    pub fn config_path(&self) -> Option<&Path> {
        self.global.config.as_deref()
    }

    /// The settings that hold for files in `folder`.
    pub fn config(&self, folder: &Path) -> Result<Config, CliError> {
        Config::load(self.global.config.as_deref(), folder).map_err(|error| CliError::Usage(error.to_string()))
    }

    /// Prints one JSON object on a line of its own.
    pub fn print_json(&self, value: &impl serde::Serialize) -> Result<(), CliError> {
        print_json(value)
    }

    /// Prints text to standard output. A reader that went away (`| head`) is not an error.
    pub fn print(&self, text: &str) -> Result<(), CliError> {
        write_out(&printable(text))
    }
}

/// The same as [`Context::print_json`], for threads without a context.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let line = serde_json::to_string(value)
        .map_err(|error| CliError::Usage(format!("the result could not be written as JSON: {error}")))?;
    write_out(&format!("{line}\n"))
}

fn write_out(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::Usage(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// A text without what a terminal obeys: words of models, servers and sources are shown, not carried out.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c == '\r' || !llm::foreign::is_hidden(c);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect())
}

/// Reads a source file; says clearly what is wrong with one that is missing, too large, or not text.
pub fn read_source(path: &Path) -> Result<Source, CliError> {
    let usage = |text: String| CliError::Usage(format!("{}: {text}", path.display()));
    let full = std::path::absolute(path).map_err(|error| usage(format!("not a usable path: {error}")))?;
    let about = std::fs::metadata(&full).map_err(|error| usage(format!("cannot be read: {error}")))?;
    Source::check_path(&full)?;
    if about.is_dir() {
        return Err(usage("is a folder; name a HIP source file".into()));
    }
    if !about.is_file() {
        return Err(usage("is not an ordinary file; name a HIP source file".into()));
    }
    if about.len() > LARGEST_SOURCE {
        return Err(usage(format!(
            "is {} MiB; source files up to {} MiB are read",
            about.len() >> 20,
            LARGEST_SOURCE >> 20
        )));
    }
    let bytes = std::fs::read(&full).map_err(|error| usage(format!("cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        usage(format!(
            "is not UTF-8 text (byte {} does not fit); name a HIP source file, or save it as UTF-8",
            error.utf8_error().valid_up_to()
        ))
    })?;
    if text.contains('\0') {
        return Err(usage("holds NUL bytes, so it is not source text; name a HIP source file".into()));
    }
    Ok(Source::new(full, text))
}

/// Sends the log to standard error, quiet unless asked.
pub fn start_log(verbose: u8) {
    let level = match verbose {
        0 => tracing::Level::WARN,
        1 => tracing::Level::INFO,
        _ => tracing::Level::DEBUG,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .compact()
        .init();
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn nothing_that_a_terminal_obeys_is_printed() {
        for (text, expected) in [
            ("plain\n\ttext \u{e9}\r\n", "plain\n\ttext \u{e9}\r\n"),
            ("\u{1b}]0;title\u{7}", "\u{fffd}]0;title\u{fffd}"),
            ("a\u{202e}b", "a\u{fffd}b"),
            ("\u{9b}31mred\u{0}\u{7f}", "\u{fffd}31mred\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(printable(text), expected);
        }
    }
}
