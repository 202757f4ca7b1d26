//! The language server under random messages, valid and not: no crash, no hang, no growth beyond the open documents.
//!
//! Each message is made of the seed and its own number alone, so a failure can be narrowed down: it names the messages
//! that were under way, and `KS_FUZZ_SEED=SEED KS_FUZZ_MESSAGES=FROM..TO cargo test --test lsp_fuzz` sends those alone.
#![allow(clippy::unwrap_used)]

mod program;

use std::collections::HashSet;
use std::io::Write;
use std::ops::Range;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use program::Run;
use program::server::spawn;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

const MESSAGES: usize = 100_000;
const SEED: u64 = 20_260_101;
/// After so many messages all answers are waited for: a message that does harm is one of these.
const PART: usize = 500;
/// Documents are closed after so many messages, so that what memory is left is the server's own.
const CHAPTER: usize = 10_000;
/// What the server may grow by after the first chapter, with every document closed.
const MOST_GROWTH: usize = 16 << 20;
/// Longest wait for answers.
const PATIENCE: Duration = Duration::from_secs(60);

const SNIPPETS: [&str; 12] = [
    "__global__ void k(float* a) {\n  __shared__ float t[8];\n}\n",
    "}",
    "{",
    "大😀\r\n",
    "\r",
    "template <int N> ",
    "k<<<1, 64>>>(a);\n",
    "#if 0\n",
    "/*",
    "\"",
    "\u{0}\u{feff}\u{202e}",
    "",
];

fn position(random: &mut StdRng) -> Value {
    let most = if random.random_ratio(1, 20) { u32::MAX } else { 30 };
    json!({ "line": random.random_range(0..most), "character": random.random_range(0..most) })
}

fn range(random: &mut StdRng) -> Value {
    json!({ "start": position(random), "end": position(random) })
}

/// A text as somebody might have written it, or not.
fn text(random: &mut StdRng) -> String {
    let pieces = random.random_range(0..12);
    (0..pieces).map(|_| *SNIPPETS.choose(random).unwrap()).collect()
}

/// A message as a client that means well sends it, with places and texts by chance.
fn message(random: &mut StdRng, folder: &str) -> (&'static str, Value) {
    let file = *["0.hip", "1.hip", "2.cu", "größe 大.hip", "0.bench.toml", "x.txt"].choose(random).unwrap();
    let uri = format!("file://{folder}/{}", file.replace(' ', "%20"));
    let document = json!({ "uri": uri });
    match random.random_range(0..18) {
        0 => {
            let language = *["hip", "cpp", "toml", "plaintext"].choose(random).unwrap();
            let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text(random) });
            ("textDocument/didOpen", json!({ "textDocument": document }))
        }
        1 => ("textDocument/didClose", json!({ "textDocument": document })),
        2..7 => {
            let changes: Vec<Value> = (0..random.random_range(0..4))
                .map(|_| match random.random_ratio(1, 10) {
                    true => json!({ "text": text(random) }),
                    false => json!({ "range": range(random), "text": *SNIPPETS.choose(random).unwrap() }),
                })
                .collect();
            let document = json!({ "uri": uri, "version": random.random::<i32>() });
            ("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }))
        }
        7 => ("textDocument/didSave", json!({ "textDocument": document })),
        8 | 9 => ("textDocument/hover", json!({ "textDocument": document, "position": position(random) })),
        10 if random.random_ratio(1, 4) => {
            let at = position(random);
            const LENSES: [&str; 6] = ["time k", "evolve no_such", "stop 3", "job 3", "fly k", ""];
            let data = match random.random_ratio(1, 8) {
                true => json!({ "opening": 1 }),
                false => json!(format!("{} {}", random.random_range(0..9), LENSES.choose(random).unwrap())),
            };
            ("codeLens/resolve", json!({ "range": { "start": at, "end": at }, "data": data }))
        }
        10 => ("textDocument/codeLens", json!({ "textDocument": document })),
        11 => ("textDocument/inlayHint", json!({ "textDocument": document, "range": range(random) })),
        12 => {
            let context = json!({ "diagnostics": [], "only": ["refactor"] });
            ("textDocument/codeAction", json!({ "textDocument": document, "range": range(random), "context": context }))
        }
        13 => {
            let data = json!({ "uri": uri, "kernel": "k", "version": 1, "key": "x", "title": "x" });
            ("codeAction/resolve", json!({ "title": "x", "data": data }))
        }
        14 => {
            let kernel = *["k", "none", ""].choose(random).unwrap();
            let number = random.random_range(0..9);
            let argument =
                json!({ "uri": uri, "kernel": kernel, "proposal": number, "job": number, "key": "x", "run": 1 });
            let all = ["apply", "showDiff", "stop", "showJob", "test", "createBenchmark", "no such"];
            // A few searches; builds and runs have tests of their own.
            let command = if random.random_ratio(1, 100) { "suggest" } else { *all.choose(random).unwrap() };
            let command = format!("kernelScientist.{command}");
            ("workspace/executeCommand", json!({ "command": command, "arguments": [argument] }))
        }
        15 => {
            let run = random.random_range(-1..3);
            match random.random_range(0..4) {
                0 => ("kernelScientist/kernels", json!({ "uris": [uri, "file:///nowhere", ""] })),
                1 => ("kernelScientist/status", json!({ "uri": uri })),
                2 => ("kernelScientist/version", json!({ "run": run, "of": { "candidate": run } })),
                _ => ("kernelScientist/population", json!({ "uri": uri, "run": run })),
            }
        }
        16 => {
            let value = [json!(true), json!(3), json!("x"), Value::Null].choose(random).unwrap().clone();
            let name = *["codeLens", "generations", "inlayHints", "device", "nonsense"].choose(random).unwrap();
            let settings = json!({ "kernelScientist": { name: value } });
            ("workspace/didChangeConfiguration", json!({ "settings": settings }))
        }
        _ => {
            let token = format!("kernel-scientist/job/{}", random.random_range(0..9));
            ("window/workDoneProgress/cancel", json!({ "token": token }))
        }
    }
}

/// What is sent as message `number`, and whether it must be answered.
fn bytes(seed: u64, number: usize, folder: &str) -> (Vec<u8>, bool) {
    let mut random = StdRng::seed_from_u64(seed.wrapping_mul(1_000_003) ^ number as u64);
    let (method, params) = message(&mut random, folder);
    let is_request = !method.contains("/did") && !method.starts_with("window/");
    let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
    // Now and then a request without a number, which is nobody's, or a notification with one.
    let is_odd = random.random_ratio(1, 50);
    if is_request != is_odd {
        message["id"] = json!(number);
    }
    let mut is_answered = is_request && !is_odd;
    match random.random_range(0..60) {
        0 => message["params"] = json!([1, null, "x"]),
        1 => drop(message.as_object_mut().unwrap().remove("params")),
        2 => message["method"] = json!("no/such"),
        3 => message["params"]["textDocument"] = json!({ "uri": "untitled:x" }),
        4 => message["params"]["textDocument"] = json!({ "uri": "\u{0} no address" }),
        5 => message["params"]["position"] = json!({ "line": -1, "character": 1e99 }),
        6 => {
            message =
                json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": number.saturating_sub(2) } });
            is_answered = false;
        }
        7 => {
            // An answer to a question that nobody asked.
            message = json!({ "jsonrpc": "2.0", "id": number, "result": [null] });
            is_answered = false;
        }
        8 => {
            message =
                json!({ "jsonrpc": "2.0", "id": number, "method": "initialize", "params": { "capabilities": {} } })
        }
        _ => {}
    }
    is_answered |= message["method"] == "initialize";
    let mut body = message.to_string().into_bytes();
    let (mut before, mut header) = (String::new(), "Content-Length".to_owned());
    match random.random_range(0..100) {
        0 => {
            body.truncate(random.random_range(0..body.len()));
            is_answered = false;
        }
        1 => {
            body = format!("{}1{}", "[".repeat(300), "]".repeat(300)).into_bytes();
            is_answered = false;
        }
        2 => {
            let at = random.random_range(0..body.len());
            body[at] = 0xff;
            is_answered = false;
        }
        3 => before = "X-Other: 1\r\n".into(),
        4 => before = format!("noise {}\r\n", "x".repeat(random.random_range(0..20_000))),
        5 => header = "content-length ".into(),
        _ => {}
    }
    let mut bytes = format!("{before}{header}: {}\r\n\r\n", body.len()).into_bytes();
    bytes.append(&mut body);
    (bytes, is_answered)
}

/// The server under test.
struct Fuzzed {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// Requests that are still to be answered.
    open: HashSet<usize>,
    seed: u64,
    /// The messages that may do harm right now.
    under_way: Range<usize>,
}

impl Fuzzed {
    fn start(run: &Run, seed: u64) -> Self {
        let (child, input, messages) = spawn(run, &["lsp"]);
        let mut fuzzed = Self { child, input, messages, open: HashSet::new(), seed, under_way: 0..0 };
        let refresh = json!({ "refreshSupport": true });
        let workspace = json!({ "applyEdit": true, "inlayHint": refresh, "codeLens": refresh,
            "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create"] } });
        let can = json!({ "workspace": workspace, "window": { "workDoneProgress": true } });
        fuzzed.ask("initialize", &json!({ "processId": null, "capabilities": can }));
        fuzzed.write(&frame(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} })));
        fuzzed
    }

    fn fail(&mut self, what: &str) -> ! {
        let Range { start, end } = self.under_way;
        let status = self.child.try_wait();
        let mut open: Vec<&usize> = self.open.iter().collect();
        open.sort();
        let _ = self.child.kill();
        panic!(
            "{what}; seed {}, messages {start}..{end}, unanswered {open:?}, the server's status {status:?}.\n\
             These alone: KS_FUZZ_SEED={} KS_FUZZ_MESSAGES={start}..{end} cargo test -p kernel-scientist --test lsp_fuzz",
            self.seed, self.seed
        )
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.input.write_all(bytes).is_err() {
            self.fail("the server has closed its input");
        }
        self.answer(Duration::ZERO);
    }

    /// Takes what the server sends: its requests are answered, as a client would.
    fn answer(&mut self, patience: Duration) {
        loop {
            let message = match self.messages.recv_timeout(patience) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => self.fail("the server is gone"),
            };
            let said = message["error"]["message"].as_str().unwrap_or_default();
            if said.contains("a mistake in this program") {
                self.fail(&format!("a handler panicked: {said}"));
            }
            if message.get("method").is_none() {
                if let Some(id) = message["id"].as_u64() {
                    self.open.remove(&(id as usize));
                }
                if self.open.is_empty() {
                    return;
                }
            } else if let Some(id) = message.get("id") {
                let answer = frame(&json!({ "jsonrpc": "2.0", "id": id, "result": null }));
                if self.input.write_all(&answer).is_err() {
                    self.fail("the server has closed its input");
                }
            }
        }
    }

    /// Sends a request of our own and waits until everything is answered.
    fn ask(&mut self, method: &str, params: &Value) {
        let id = usize::MAX >> 12;
        self.open.insert(id);
        self.write(&frame(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })));
        let start = Instant::now();
        while !self.open.is_empty() {
            if start.elapsed() > PATIENCE {
                self.fail("some requests are not answered");
            }
            self.answer(Duration::from_millis(100));
        }
    }

    /// Resident memory in bytes.
    fn memory(&self) -> usize {
        let about = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        about.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
    }

    fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().count()
    }
}

fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// What the environment asks for instead of everything.
fn wanted() -> (u64, Range<usize>) {
    let seed = std::env::var("KS_FUZZ_SEED").ok().map_or(SEED, |seed| seed.parse().expect("KS_FUZZ_SEED is a number"));
    let messages = std::env::var("KS_FUZZ_MESSAGES").ok().map(|range| {
        let (from, to) = range.split_once("..").expect("KS_FUZZ_MESSAGES is FROM..TO");
        from.parse().unwrap()..to.parse().unwrap()
    });
    (seed, messages.unwrap_or(0..MESSAGES))
}

#[test]
fn random_messages_neither_crash_nor_fill_the_server() {
    let (seed, numbers) = wanted();
    let run = Run::in_folder();
    let folder = run.path("").display().to_string().trim_end_matches('/').to_owned();
    let mut server = Fuzzed::start(&run, seed);
    let (mut early, mut most_threads) = (None, 0);
    for part in numbers.clone().step_by(PART) {
        server.under_way = part..(part + PART).min(numbers.end);
        for number in server.under_way.clone() {
            let (bytes, is_answered) = bytes(seed, number, &folder);
            if is_answered {
                server.open.insert(number);
            }
            server.write(&bytes);
        }
        server.ask("textDocument/codeLens", &json!({ "textDocument": { "uri": format!("file://{folder}/0.hip") } }));
        most_threads = most_threads.max(server.threads());
        if server.under_way.end.is_multiple_of(CHAPTER) {
            for file in ["0.hip", "1.hip", "2.cu", "größe%20大.hip", "0.bench.toml", "x.txt"] {
                let document = json!({ "textDocument": { "uri": format!("file://{folder}/{file}") } });
                server
                    .write(&frame(&json!({ "jsonrpc": "2.0", "method": "textDocument/didClose", "params": document })));
            }
            server.ask("textDocument/codeLens", &json!({ "textDocument": { "uri": "file:///none" } }));
            early.get_or_insert_with(|| server.memory());
        }
    }
    let (early, late) = (early.unwrap_or_default(), server.memory());
    println!("{} MiB after the first part, {} MiB at the end, {most_threads} threads", early >> 20, late >> 20);
    if early > 0 && late > early + MOST_GROWTH {
        server.fail(&format!("memory grows: {} MiB, then {} MiB", early >> 20, late >> 20));
    }
    assert!(most_threads < 100, "{most_threads} threads");
    server.ask("shutdown", &Value::Null);
    server.write(&frame(&json!({ "jsonrpc": "2.0", "method": "exit" })));
    let start = Instant::now();
    while server.child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(10), "it does not exit");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
