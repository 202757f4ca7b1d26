//! The built program as a language server, as an editor starts it: over standard input and output.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Run;

/// A kernel that never ends, and a `main` that runs it.
const ENDLESS: &str = "#include <hip/hip_runtime.h>\n\
    __global__ void spin(int* p) { while (*(volatile int*)p == 0) {} }\n\
    int main() {\n  int* p;\n  hipMalloc(&p, 4);\n  hipMemset(p, 0, 4);\n  spin<<<1, 1>>>(p);\n\
    return hipDeviceSynchronize();\n}\n";

/// A server and the editor's end of its pipes.
pub struct Server {
    /// Its process.
    pub child: Child,
    /// Its standard input.
    pub input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What came while the last request's answer was waited for.
    unheard: VecDeque<Value>,
    last: i64,
}

impl Server {
    /// A server that is initialized.
    pub fn start(run: &Run) -> Self {
        let (child, input, messages) = spawn(run, &["lsp", "--stdio"]);
        let mut server = Self { child, input: Some(input), messages, unheard: VecDeque::new(), last: 0 };
        let capabilities = json!({ "window": { "workDoneProgress": true } });
        let settings = json!({ "device": "cpu", "forecasts": false });
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities,
            "initializationOptions": settings });
        server.request("initialize", params);
        server.notify("initialized", json!({}));
        server
    }

    /// Opens a document, which need not be on disk.
    pub fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "hip", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Titles of the lenses of a document.
    pub fn lenses(&mut self, uri: &str) -> Vec<String> {
        let lenses = self.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
        lenses.as_array().unwrap().iter().map(|lens| lens["command"]["title"].as_str().unwrap().to_owned()).collect()
    }

    /// Begins to time the endless kernel and waits until it runs.
    pub fn spin(&mut self, run: &Run) {
        let uri = format!("file://{}", run.path("endless.hip").display());
        self.open(&uri, ENDLESS);
        let argument = json!({ "uri": uri, "kernel": "spin" });
        self.request("workspace/executeCommand", json!({ "command": "kernelScientist.time", "arguments": [argument] }));
        let start = Instant::now();
        while self.lenses(&uri)[0] != "Time: timing" || children_of(self.child.id()).is_empty() {
            assert!(start.elapsed() < Duration::from_secs(120), "it does not begin: {:?}", self.lenses(&uri));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": self.last, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
        // What a job says may come before the answer to what began it.
        self.unheard.clear();
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(60)).unwrap();
            if message.get("method").is_none() && message["id"] == self.last {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            if message["method"] == "window/workDoneProgress/create" {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
            self.unheard.push_back(message);
        }
    }

    /// Waits for a message, and gives it.
    pub fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        while let Some(message) = self.unheard.pop_front() {
            if is_it(&message) {
                return message;
            }
        }
        let start = Instant::now();
        loop {
            let left = Duration::from_secs(120).saturating_sub(start.elapsed());
            let message = self.messages.recv_timeout(left).unwrap_or_else(|error| panic!("no {what}: {error}"));
            if message["method"] == "window/workDoneProgress/create" {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
            if is_it(&message) {
                return message;
            }
        }
    }

    /// Waits for an event of a run.
    pub fn event(&mut self, name: &str) -> Value {
        let is_it = |message: &Value| {
            message["method"] == "kernelScientist/runEvent" && message["params"]["event"]["event"] == name
        };
        self.wait(name, is_it)["params"]["event"].clone()
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        input.flush().unwrap();
    }

    /// Waits for its end, and says how it ended and after how long.
    pub fn end(&mut self) -> (Option<i32>, Duration) {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), start.elapsed());
            }
            assert!(start.elapsed() < Duration::from_secs(20), "it goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program with `arguments`, its input, and the messages that it sends.
pub fn spawn(run: &Run, arguments: &[&str]) -> (Child, ChildStdin, Receiver<Value>) {
    let mut command = run.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (sender, messages) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        while let Some(message) = receive(&mut output) {
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    (child, input, messages)
}

/// The next message; `None` at the end.
fn receive(output: &mut impl BufRead) -> Option<Value> {
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
    serde_json::from_slice(&body).ok()
}

/// Processes under `of`, at any depth.
pub fn children_of(of: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut parents = vec![of];
    let of_process = |entry: std::io::Result<std::fs::DirEntry>| {
        let id: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let about = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        let parent: u32 = about.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
        Some((id, parent))
    };
    let all: Vec<(u32, u32)> = std::fs::read_dir("/proc").unwrap().filter_map(of_process).collect();
    while let Some(parent) = parents.pop() {
        let children: Vec<u32> = all.iter().filter(|(_, of)| *of == parent).map(|(id, _)| *id).collect();
        parents.extend(&children);
        found.extend(children);
    }
    found
}

/// Whether all of them end in time.
pub fn are_gone(processes: &[u32], within: Duration) -> bool {
    let start = Instant::now();
    loop {
        let is_there = |id: &&u32| {
            let about = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            about.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
        };
        match processes.iter().find(is_there) {
            None => return true,
            Some(_) if start.elapsed() > within => return false,
            Some(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}
