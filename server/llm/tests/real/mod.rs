//! Starts llama.cpp's own server with a small model (`tests/model-server/`; `setup.sh test` installs what it needs).
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The key that the server wants.
pub const KEY: &str = "sk-test-of-the-real-server";

/// A server of its own, ended with the value.
pub struct RealServer {
    child: Child,
    pub port: u16,
}

impl RealServer {
    /// With so many tokens of context.
    pub fn start(context: u32) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/model-server/serve.py");
        let python = python();
        let mut child = Command::new(&python)
            .arg(script)
            .args([context.to_string().as_str(), KEY])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}; run ./setup.sh test once", python.display()));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| line.ok()?.strip_prefix("LISTENING ")?.parse().ok());
        let port = port.unwrap_or_else(|| panic!("the model server did not start; run ./setup.sh test once"));
        // Nobody reads its further output: it must not block on it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn python() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/model-server/bin/python")
}
