//! How long an editor waits for the language server in a large file while a timing run and an evolution are under way, and
//! how long it waits for clangd on the same file.
//!
//! `cargo run --release -p kernel-scientist --example editor_speed -- SERVER [CLANGD]` starts both over standard input and
//! output, makes one-character edits and asks right after each. It prints p50, p95 and most of the times from the edit to
//! the answer, and the ratio of the two servers' inlay hints. Nothing passes or fails.
#![allow(clippy::unwrap_used, reason = "a figure that cannot be taken ends the program")]

mod client;
mod load;
mod source;

use std::path::Path;
use std::time::{Duration, Instant};

use client::{Client, frozen};
use load::Load;
use serde_json::{Value, json};
use source::Source;

/// Edits before one kind of question each.
const EDITS: usize = 150;
/// Of clangd, which takes half a second for each.
const EDITS_OF_CLANGD: usize = 30;
/// From an edit to when the server is reading the text anew.
const INTO_READING: Duration = Duration::from_millis(22);
/// Between two edits: faster than anybody types.
const PAUSE: Duration = Duration::from_millis(50);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let server = arguments.next().expect("the server's binary");
    let clangd = arguments.next();
    let folder = tempfile::tempdir().unwrap();
    let source = Source::made_up(8000);
    println!("{} lines, {} KB, {} kernels", source.lines(), source.text().len() / 1000, source.kernels());
    let hints = ours(&server, folder.path(), source.clone());
    let Some(clangd) = clangd else {
        println!("clangd was not asked for");
        return;
    };
    let theirs = clangds(&clangd, folder.path(), source);
    println!("inlay hints after an edit, p95: {:.0} times below clangd's", theirs / hints);
}

/// Figures of our server; gives the p95 of inlay hints in milliseconds.
fn ours(server: &str, folder: &Path, mut source: Source) -> f64 {
    let uri = write(folder, &source);
    let start = Instant::now();
    let mut client = Client::start(server, &["lsp", "--stdio"], folder);
    client.initialize(&uri);
    client.open(&uri, "hip", source.text());
    let (answer, at) = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    assert!(!answer.as_array().unwrap().is_empty(), "no lenses");
    println!("first lenses after the start of the process: {:.0} ms", millis(at - start));
    println!("memory with the file open: {}", client.memory());

    let mut load = Load::begin(&mut client, &uri);
    let mut p95 = 0.0;
    for (what, method) in [
        ("inlay hints", "textDocument/inlayHint"),
        ("code lenses", "textDocument/codeLens"),
        ("code actions", "textDocument/codeAction"),
        ("hover", "textDocument/hover"),
    ] {
        let mut times = Vec::new();
        for _ in 0..EDITS {
            times.push(after_an_edit(&mut client, &mut source, &uri, method, Duration::ZERO));
            load.keep_up(&mut client, PAUSE);
        }
        let of_this = print(&format!("{what} after an edit"), times);
        if p95 == 0.0 {
            p95 = of_this;
        }
    }
    let mut times = Vec::new();
    for _ in 0..EDITS {
        times.push(after_an_edit(&mut client, &mut source, &uri, "textDocument/codeLens", INTO_READING));
        load.keep_up(&mut client, PAUSE);
    }
    print("code lenses while the text is read", times);
    println!("{}", load.summary());
    println!("memory at the end: {}", client.memory());
    client.stop();
    p95
}

/// Figures of clangd with nothing else at work; gives the p95 of inlay hints in milliseconds.
fn clangds(clangd: &str, folder: &Path, mut source: Source) -> f64 {
    let uri = write(folder, &source);
    // Host code of a HIP file, as clangd is told of it.
    std::fs::write(folder.join("compile_flags.txt"), "-xhip\n--offload-host-only\n-nogpulib\n-std=c++17\n").unwrap();
    let start = Instant::now();
    let mut client = Client::start(clangd, &["--log=error", "--background-index=false"], folder);
    client.initialize(&uri);
    client.open(&uri, "hip", source.text());
    let (hints, at) = client.ask("textDocument/inlayHint", question("textDocument/inlayHint", &uri, &source));
    println!(
        "clangd: first inlay hints {:.0} ms after its start ({} of them, {} errors in the file)",
        millis(at - start),
        hints.as_array().map_or(0, Vec::len),
        client.errors()
    );
    let mut times = Vec::new();
    for _ in 0..EDITS_OF_CLANGD {
        times.push(after_an_edit(&mut client, &mut source, &uri, "textDocument/inlayHint", Duration::ZERO));
        std::thread::sleep(PAUSE);
    }
    let p95 = print("clangd: inlay hints after an edit", times);
    println!("clangd: memory {}", client.memory());
    client.stop();
    p95
}

/// Writes the file and gives its address.
fn write(folder: &Path, source: &Source) -> String {
    let path = folder.join("large.hip");
    std::fs::write(&path, source.text()).unwrap();
    let uri = format!("file://{}", path.display());
    uri
}

/// One edit, one question some `time` after it, and the time to the whole answer: from before the edit, without that.
fn after_an_edit(client: &mut Client, source: &mut Source, uri: &str, method: &str, time: Duration) -> Duration {
    let edit = source.edit();
    let question = question(method, uri, source);
    let document = json!({ "uri": uri, "version": edit.version });
    let change =
        frozen(None, "textDocument/didChange", json!({ "textDocument": document, "contentChanges": [edit.change] }));
    let start = Instant::now();
    client.send(&change);
    std::thread::sleep(time);
    let (_, at) = client.ask(method, question);
    at.duration_since(start).saturating_sub(time)
}

/// The parameters of a question about where the last edit was; hints and lenses are asked for of the whole file.
fn question(method: &str, uri: &str, source: &Source) -> Value {
    let document = json!({ "uri": uri });
    let at = |(line, character): (usize, usize)| json!({ "line": line, "character": character });
    match method {
        "textDocument/inlayHint" => {
            json!({ "textDocument": document, "range": { "start": at((0, 0)), "end": at((source.lines(), 0)) } })
        }
        "textDocument/codeAction" => {
            let here = at(source.last_edit());
            let range = json!({ "start": here, "end": here });
            json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } })
        }
        "textDocument/hover" => json!({ "textDocument": document, "position": at(source.kernel_of_last_edit()) }),
        _ => json!({ "textDocument": document }),
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Prints a row and gives the p95 in milliseconds.
fn print(what: &str, mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    let percentile = |percent: usize| millis(times[(times.len() - 1) * percent / 100]);
    println!(
        "{what:<36} p50 {:7.2} ms   p95 {:7.2} ms   most {:7.2} ms   of {}",
        percentile(50),
        percentile(95),
        percentile(100),
        times.len()
    );
    percentile(95)
}
