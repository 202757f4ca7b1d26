//! An editor's end of a language server's pipes, with the moment at which each message was there.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server and the way to it.
pub struct Client {
    child: Child,
    input: ChildStdin,
    messages: Receiver<(Instant, Vec<u8>)>,
    last_id: u64,
    /// Messages that were no answer to what was asked.
    aside: Vec<Value>,
    errors: usize,
}

impl Client {
    /// Starts a server in a folder, where its notebook is, too.
    pub fn start(program: &str, arguments: &[&str], folder: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env("KERNEL_SCIENTIST_NOTEBOOK", folder.join("notebook.db"));
        // Jobs that run on this machine, as its heaviest ones do.
        command.env("KERNEL_SCIENTIST_DEVICE", "cpu");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} does not start: {error}"));
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::with_capacity(1 << 20, output);
            while let Some(body) = receive(&mut output) {
                // The moment counts at which the answer was there, not when it was understood.
                if sender.send((Instant::now(), body)).is_err() {
                    return;
                }
            }
        });
        Self { child, input, messages, last_id: 0, aside: Vec::new(), errors: 0 }
    }

    /// The first exchange.
    pub fn initialize(&mut self, uri: &str) {
        let refresh = json!({ "refreshSupport": true });
        let capabilities = json!({
            "window": { "workDoneProgress": true },
            "workspace": { "inlayHint": refresh, "codeLens": refresh, "applyEdit": true },
            "textDocument": { "inlayHint": {}, "publishDiagnostics": {} },
        });
        let folder = uri.rsplit_once('/').map(|(folder, _)| folder);
        // Times that are taken here, since they are what disturbs an editor most.
        let settings = json!({ "device": "cpu" });
        let params = json!({ "processId": null, "rootUri": folder, "capabilities": capabilities,
            "initializationOptions": settings });
        self.ask("initialize", params);
        self.send(&frozen(None, "initialized", json!({})));
    }

    /// Opens a document.
    pub fn open(&mut self, uri: &str, language: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.send(&frozen(None, "textDocument/didOpen", json!({ "textDocument": document })));
    }

    /// Sends a message that was made before.
    pub fn send(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).expect("the server takes messages");
    }

    /// Sends a request; gives its result and when it had arrived.
    pub fn ask(&mut self, method: &str, params: Value) -> (Value, Instant) {
        let id = self.post(method, params);
        loop {
            let (at, message) = self.next(PATIENCE).unwrap_or_else(|| panic!("{method} is not answered"));
            if message.get("method").is_none() && message["id"] == id {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return (message["result"].clone(), at);
            }
            self.aside.push(message);
        }
    }

    /// Sends a request and does not wait; gives its number.
    pub fn post(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let bytes = frozen(Some(self.last_id), method, params);
        self.send(&bytes);
        self.last_id
    }

    /// Messages that came in until now or within `time`, apart from answers that were waited for.
    pub fn others(&mut self, time: Duration) -> Vec<Value> {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.next(left) {
                Some((_, message)) => self.aside.push(message),
                None => return std::mem::take(&mut self.aside),
            }
        }
    }

    /// The next message; requests of the server are answered on the way.
    fn next(&mut self, patience: Duration) -> Option<(Instant, Value)> {
        let (at, body) = self.messages.recv_timeout(patience).ok()?;
        let message: Value = serde_json::from_slice(&body).expect("the server speaks JSON");
        if let (Some(_), Some(id)) = (message.get("method"), message.get("id")) {
            let body = json!({ "jsonrpc": "2.0", "id": id, "result": null }).to_string();
            self.send(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
        if message["method"] == "textDocument/publishDiagnostics" {
            let found = message["params"]["diagnostics"].as_array().map_or(&[][..], Vec::as_slice);
            self.errors = found.iter().filter(|diagnostic| diagnostic["severity"] == 1).count();
        }
        Some((at, message))
    }

    /// Errors in the document, as the server has last shown.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Resident memory now and at most, as the system counts it.
    pub fn memory(&self) -> String {
        let about = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let megabytes = |name: &str| {
            let line = about.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
            line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) * 1024.0 / 1e6
        };
        format!("{:.1} MB now, {:.1} MB at most", megabytes("VmRSS:"), megabytes("VmHWM:"))
    }

    /// Ends the server as editors do.
    pub fn stop(mut self) {
        self.post("shutdown", Value::Null);
        let exit = frozen(None, "exit", Value::Null);
        // It may be gone already.
        let _ = self.input.write_all(&exit);
        let _ = self.child.wait();
    }
}

/// A message as it is sent.
pub fn frozen(id: Option<u64>, method: &str, params: Value) -> Vec<u8> {
    let mut message = json!({ "jsonrpc": "2.0", "method": method });
    if let Some(id) = id {
        message["id"] = json!(id);
    }
    if !params.is_null() {
        message["params"] = params;
    }
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn receive(output: &mut BufReader<ChildStdout>) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(value) => length = value.parse().ok()?,
            None if line.trim_end().is_empty() => break,
            None => {}
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    Some(body)
}
