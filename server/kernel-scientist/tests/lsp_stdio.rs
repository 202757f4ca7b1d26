//! The built program as an editor starts it: over standard input and output.
#![allow(clippy::unwrap_used)]

mod program;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use program::Run;
use serde_json::{Value, json};

/// A kernel that never ends, and a `main` that runs it.
const ENDLESS: &str = "#include <hip/hip_runtime.h>\n\
    __global__ void spin(int* p) { while (*(volatile int*)p == 0) {} }\n\
    int main() {\n  int* p;\n  hipMalloc(&p, 4);\n  hipMemset(p, 0, 4);\n  spin<<<1, 1>>>(p);\n\
    return hipDeviceSynchronize();\n}\n";

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: i64,
}

impl Server {
    /// A server that is initialized.
    fn start(run: &Run) -> Self {
        let mut command = run.command(["lsp", "--stdio"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = receive(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut server = Self { child, input, messages, last: 0 };
        let window = json!({ "workDoneProgress": true });
        server
            .request("initialize", json!({ "processId": null, "rootUri": null, "capabilities": { "window": window } }));
        server.notify("initialized", json!({}));
        server
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "hip", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn lenses(&mut self, uri: &str) -> Vec<String> {
        let lenses = self.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
        lenses.as_array().unwrap().iter().map(|lens| lens["command"]["title"].as_str().unwrap().to_owned()).collect()
    }

    /// Begins to time the endless kernel and waits until it runs.
    fn spin(&mut self, run: &Run) {
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

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": self.last, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
        loop {
            let message = self.messages.recv_timeout(Duration::from_secs(60)).unwrap();
            if message.get("method").is_none() && message["id"] == self.last {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            if message["method"] == "window/workDoneProgress/create" {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
            }
        }
    }

    /// Waits for a message, and gives it.
    fn wait(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
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
    fn event(&mut self, name: &str) -> Value {
        let is_it = |message: &Value| {
            message["method"] == "kernelScientist/runEvent" && message["params"]["event"]["event"] == name
        };
        self.wait(name, is_it)["params"]["event"].clone()
    }

    fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        input.flush().unwrap();
    }

    /// Waits for its end, and says how it ended and after how long.
    fn end(&mut self) -> (Option<i32>, Duration) {
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
fn children_of(of: u32) -> Vec<u32> {
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

fn are_gone(processes: &[u32], within: Duration) -> bool {
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

#[test]
fn it_serves_an_editor_and_ends_when_told() {
    let run = Run::in_folder();
    let mut server = Server::start(&run);
    let uri = format!("file://{}", run.path("a.hip").display());
    server.open(&uri, "__global__ void k() {}\n");
    assert_eq!(server.lenses(&uri), ["Time", "Suggest", "Evolve"]);
    server.request("shutdown", Value::Null);
    server.notify("exit", Value::Null);
    // Standard input stays open, as some editors leave it.
    let (status, took) = server.end();
    assert_eq!(status, Some(0));
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn input_that_closes_during_a_run_ends_everything_within_a_second() {
    let run = Run::in_folder();
    let mut server = Server::start(&run);
    server.spin(&run);
    let children = children_of(server.child.id());
    drop(server.input.take());
    let (_, took) = server.end();
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(are_gone(&children, Duration::from_secs(1).saturating_sub(took)), "children are left");
}

#[test]
fn nothing_is_left_when_the_server_is_killed() {
    let run = Run::in_folder();
    let mut server = Server::start(&run);
    server.spin(&run);
    let children = children_of(server.child.id());
    assert!(!children.is_empty());
    server.child.kill().unwrap();
    assert!(are_gone(&children, Duration::from_secs(1)), "children are left");
}

#[test]
fn a_run_that_was_killed_is_offered_and_goes_on_where_it_was() {
    let run = Run::in_folder();
    run.sample("reduction");
    let text = run.read("reduction.hip");
    let uri = format!("file://{}", run.path("reduction.hip").display());
    let mut server = Server::start(&run);
    server.open(&uri, &text);
    let argument = json!({ "uri": uri, "kernel": "reduce_sum" });
    server.request("workspace/executeCommand", json!({ "command": "kernelScientist.evolve", "arguments": [argument] }));
    let begun = server.event("started");
    server.event("designed");
    server.child.kill().unwrap();
    server.child.wait().unwrap();

    let mut server = Server::start(&run);
    server.open(&uri, &text);
    let offer = server.wait("offer", |message| message["method"] == "window/showMessageRequest");
    assert!(offer["params"]["message"].as_str().unwrap().contains("was cut off"), "{offer}");
    server.send(&json!({ "jsonrpc": "2.0", "id": offer["id"], "result": { "title": "Resume" } }));
    let resumed = server.event("started");
    assert_eq!((&resumed["run"], &resumed["resumed"]), (&begun["run"], &json!(true)));
    let population = server.request("kernelScientist/population", json!({ "uri": uri, "run": begun["run"] }));
    assert_eq!(population["members"][0]["number"], 0, "{population}");
    let experiment = server.event("experiment");
    assert_eq!(experiment["generation"], 1, "the design on record was gone on with: {experiment}");

    // Cancelled from the client's display of progress: the job and its processes end within a second.
    let children = children_of(server.child.id());
    server.notify("window/workDoneProgress/cancel", json!({ "token": "kernel-scientist/job/1" }));
    let cancelled = Instant::now();
    let is_end = |message: &Value| message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end";
    server.wait("end of the progress", is_end);
    assert!(cancelled.elapsed() < Duration::from_secs(1), "{:?}", cancelled.elapsed());
    assert!(are_gone(&children, Duration::from_secs(1)), "children are left");
    assert_eq!(server.lenses(&uri), ["Time", "Suggest", "Evolve"]);
}
