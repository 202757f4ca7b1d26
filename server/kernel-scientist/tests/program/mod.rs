//! Runs the built program as a user would, in a folder of its own.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod server;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with sources and a notebook of its own. Builds are shared by all tests, as a user's are.
pub struct Run {
    folder: TempDir,
}

/// What a command came to.
#[derive(Debug)]
pub struct Done {
    /// Exit status; -1 when a signal ended it.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Done {
    /// Standard output as one JSON value.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON ({error}): {self:?}"))
    }

    /// Standard output as JSON lines.
    pub fn json_lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}")))
            .collect()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    /// An empty folder.
    pub fn in_folder() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Copies a kernel of `tests/benchmarks` with its benchmark file.
    pub fn sample(&self, name: &str) {
        for ending in ["hip", "bench.toml"] {
            let file = format!("{name}.{ending}");
            std::fs::copy(repository().join("tests/benchmarks").join(&file), self.path(&file)).unwrap();
        }
    }

    /// The program with its arguments, in the folder, ready to run.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kernel-scientist"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("KERNEL_SCIENTIST_NOTEBOOK", self.path("notebook.db"));
        // Whoever runs the tests may have settings.
        command.env("XDG_CONFIG_HOME", self.path("own-settings"));
        // Most tests are about times that are measured; those of the forecast take this away.
        command.env("KERNEL_SCIENTIST_DEVICE", "cpu");
        command
    }

    /// Runs the program to its end.
    pub fn program<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Done {
        self.command(arguments).output().unwrap().into()
    }

    /// Starts the program with its output piped.
    pub fn start<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// The top of the repository.
pub fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
