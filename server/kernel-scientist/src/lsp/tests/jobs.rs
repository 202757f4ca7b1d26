//! Jobs, with real builds and runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor::{Editor, capabilities};

pub const REDUCTION: &str = include_str!("../../../../../tests/benchmarks/reduction.hip");
pub const BENCHMARK: &str = include_str!("../../../../../tests/benchmarks/reduction.bench.toml");

/// An editor whose user takes times of the CPU emulation.
async fn on_cpu() -> Editor {
    Editor::start_with(capabilities(), json!({ "forecasts": false, "device": "cpu" })).await
}

/// An editor with the reduction of the samples open, and its address.
async fn with_reduction() -> (Editor, String) {
    let mut editor = on_cpu().await;
    std::fs::write(editor.path("reduction.bench.toml"), BENCHMARK).unwrap();
    let uri = editor.open("reduction.hip", REDUCTION).await;
    (editor, uri)
}

/// Waits for the end of a job's progress, and gives what was reported.
pub async fn progress(editor: &mut Editor) -> Vec<Value> {
    let mut reports = Vec::new();
    loop {
        let value = editor.expect("$/progress", Value::Null).await["value"].clone();
        let is_end = value["kind"] == "end";
        reports.push(value);
        if is_end {
            return reports;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn time_becomes_a_hint_and_a_line_of_history() {
    let (mut editor, uri) = with_reduction().await;
    assert_eq!(editor.hints(&uri).await.len(), 1, "LDS alone: nothing was measured yet");
    let job = editor.execute("time", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    assert_eq!(job["job"], 1);
    let lenses = editor.lenses(&uri).await;
    assert!(lenses[0].starts_with("Time: ") && lenses[1] == "Stop", "{lenses:?}");
    let again = editor.execute("evolve", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    assert_eq!(again, Value::Null);
    assert!(editor.message(None).await.contains("already under way there: Time: "));
    let reports = progress(&mut editor).await;
    assert_eq!(reports[0]["kind"], "begin");
    assert_eq!(reports[0]["title"], "Time reduce_sum");
    let start = Instant::now();
    while !editor.refreshed.iter().any(|method| method.contains("inlayHint")) {
        assert!(start.elapsed() < Duration::from_secs(10), "no refresh came");
        editor.settle().await;
    }
    // That refresh may have been for the first reading of the file: the figure comes with the job's own.
    let figure = loop {
        let hints = editor.hints(&uri).await;
        if let Some((_, _, label)) = hints.into_iter().find(|(_, _, label)| label.contains("cpu emulation")) {
            break label;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "no figure came");
        editor.settle().await;
    };
    assert!(figure.contains("sum()") && !figure.contains("stale"), "{figure}");
    assert_eq!(editor.lenses(&uri).await, ["Time", "Suggest", "Evolve"]);
    let hover = json!({ "position": { "line": 5, "character": 18 } });
    let hover = editor.ask(&uri, "hover", hover).await;
    assert!(hover["contents"]["value"].as_str().unwrap().contains("| as now |"), "{hover}");
    // A changed constant makes the figure stale.
    editor.change(&uri, 2, json!([{ "text": REDUCTION.replace("BLOCK 256", "BLOCK 128") }])).await;
    let start = Instant::now();
    while !editor.hints(&uri).await.iter().any(|(_, _, label)| label.starts_with("stale: ")) {
        assert!(start.elapsed() < Duration::from_secs(10), "the hint does not become stale");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_does_not_build_is_diagnosed_at_its_line() {
    let (mut editor, uri) = with_reduction().await;
    let broken = REDUCTION.replace("int tid = threadIdx.x;", "int tid = threadIdx.q;");
    editor.change(&uri, 2, json!([{ "text": broken }])).await;
    editor.execute("time", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    let first = &shown["diagnostics"][0];
    let line = broken.lines().position(|line| line.contains("threadIdx.q")).unwrap();
    assert_eq!(first["range"]["start"]["line"], line, "{shown}");
    assert_eq!((&first["severity"], &first["source"]), (&json!(1), &json!("kernel-scientist")));
    assert!(editor.message(None).await.contains("does not compile"));
    progress(&mut editor).await;
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_a_job_finds_wrong_with_a_benchmark_file_is_shown_in_it() {
    let (mut editor, uri) = with_reduction().await;
    let wrong = BENCHMARK.replace("flops = \"1.0 * n\"", "flops = \"1.0 * m\"");
    std::fs::write(editor.path("reduction.bench.toml"), &wrong).unwrap();
    let benchmark = editor.open("reduction.bench.toml", &wrong).await;
    editor.execute("time", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    assert_eq!(shown["uri"], benchmark);
    let line = wrong.lines().position(|line| line.starts_with("flops")).unwrap();
    assert_eq!(shown["diagnostics"][0]["range"]["start"]["line"], line, "{shown}");
    assert!(shown["diagnostics"][0]["message"].as_str().unwrap().contains("'m'"), "{shown}");
    assert!(editor.message(None).await.contains("reduction.bench.toml"));
    progress(&mut editor).await;
    editor.change(&benchmark, 2, json!([{ "text": BENCHMARK }])).await;
    let mended = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    assert_eq!((&mended["uri"], &mended["diagnostics"]), (&json!(benchmark), &json!([])));
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_job_on_a_machine_says_that_it_builds_the_runtime() {
    let cache = tempfile::tempdir().unwrap();
    let mut editor = Editor::with_cache(cache.path(), json!({ "forecasts": false, "device": "cpu" })).await;
    let uri = editor.open("reduction.hip", REDUCTION).await;
    let job = editor.execute("time", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    let start = Instant::now();
    loop {
        let lenses = editor.lenses(&uri).await;
        if lenses[0].starts_with("Time: building the HIP runtime for this machine, once") {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{lenses:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    editor.execute("stop", job).await;
    progress(&mut editor).await;
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_stopped_from_its_progress_within_a_second() {
    let mut editor = on_cpu().await;
    let endless = "#include <hip/hip_runtime.h>\n__global__ void k(int* p) { while (*(volatile int*)p == 0) {} }\n\
                   int main() { int* p; hipMalloc(&p, 4); hipMemset(p, 0, 4); k<<<1, 1>>>(p); return hipDeviceSynchronize(); }\n";
    let uri = editor.open("endless.hip", endless).await;
    editor.execute("time", json!({ "uri": uri, "kernel": "k" })).await;
    let start = Instant::now();
    loop {
        let lenses = editor.lenses(&uri).await;
        if lenses[0] == "Time: timing" {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(100), "{lenses:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    // The same file by another address is the same to jobs.
    let other = editor.uri("%65ndless.hip");
    let document = json!({ "uri": other, "languageId": "hip", "version": 1, "text": endless });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document })).await;
    assert_eq!(editor.lenses(&other).await, ["Time: timing", "Stop"]);
    assert_eq!(editor.execute("time", json!({ "uri": other, "kernel": "k" })).await, Value::Null);
    assert!(editor.message(None).await.contains("already under way there: Time: timing"));
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": other } })).await;
    // What is asked for while it stops begins when it has ended.
    editor.execute("stop", json!({ "job": 1 })).await;
    let again = editor.execute("time", json!({ "uri": uri, "kernel": "k" })).await;
    assert_eq!(again["job"], 2, "it is not refused: {again}");
    progress(&mut editor).await;
    let stopped = Instant::now();
    editor.notify("window/workDoneProgress/cancel", json!({ "token": "kernel-scientist/job/2" })).await;
    while editor.lenses(&uri).await != ["Time", "Suggest", "Evolve"] {
        assert!(stopped.elapsed() < Duration::from_secs(1), "it goes on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    progress(&mut editor).await;
    // A document closed during a job, and input that ends during one.
    editor.execute("time", json!({ "uri": uri, "kernel": "k" })).await;
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
    tokio::time::sleep(Duration::from_millis(800)).await;
    let took = editor.vanish().await;
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_timed_of_a_document_that_was_closed_meanwhile_is_kept() {
    let (mut editor, uri) = with_reduction().await;
    editor.execute("time", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
    progress(&mut editor).await;
    // Nothing was shown of the closed document: the editor fails on messages that nobody expected.
    editor.settle().await;
    let uri = editor.open("reduction.hip", REDUCTION).await;
    let start = Instant::now();
    while !editor.hints(&uri).await.iter().any(|hint| hint.2.contains("cpu emulation")) {
        assert!(start.elapsed() < Duration::from_secs(10), "the figure is gone");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let broken = REDUCTION.replace("int tid = threadIdx.x;", "int tid = threadIdx.q;");
    editor.change(&uri, 2, json!([{ "text": broken }])).await;
    editor.execute("time", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
    assert!(editor.message(None).await.contains("does not compile"));
    progress(&mut editor).await;
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hypothesis_is_tested_and_applied() {
    let (mut editor, uri) = with_reduction().await;
    editor.execute("suggest", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    let asked = editor.expect("window/showMessageRequest", Value::Null).await;
    let choices = asked["actions"].as_array().unwrap();
    assert!(choices[0]["title"].as_str().unwrap().starts_with("Test: "), "{asked}");
    progress(&mut editor).await;
    let at = json!({ "line": 6, "character": 8 });
    let params = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [],
        "only": ["refactor.rewrite.kernelScientist.test"] } });
    let actions = editor.ask(&uri, "codeAction", params).await;
    let sequential = actions.as_array().unwrap().iter().find(|action| {
        let key = action["command"]["arguments"][0]["key"].as_str().unwrap();
        key.starts_with("sequential-reduction")
    });
    let command = sequential.unwrap_or(&actions[0])["command"].clone();
    let job = editor
        .request(
            "workspace/executeCommand",
            json!({ "command": command["command"], "arguments": command["arguments"] }),
        )
        .await;
    assert_eq!(job["job"], 2);
    progress(&mut editor).await;
    let said = editor.message(Some("Apply")).await;
    assert!(said.contains("faster, "), "{said}");
    let edit = editor.expect("workspace/applyEdit", json!({ "applied": true })).await;
    assert_eq!(edit["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
    editor.settle().await;
    let population = editor.request("kernelScientist/population", json!({ "uri": uri })).await;
    assert_eq!(population["members"].as_array().unwrap().len(), 2, "{population}");
    assert_eq!(population["state"], "finished");
    editor.stop().await;
}

/// An editor that shows places which have to do with a diagnostic.
async fn that_shows_related() -> Editor {
    let mut can = capabilities();
    can["textDocument"] = json!({ "publishDiagnostics": { "relatedInformation": true } });
    Editor::start_with(can, json!({ "forecasts": false, "device": "cpu" })).await
}

/// The line, from 0, that has these words.
pub fn line_of(text: &str, what: &str) -> u64 {
    text.lines().position(|line| line.contains(what)).unwrap() as u64
}

#[tokio::test(flavor = "multi_thread")]
async fn the_compilers_notes_are_places_to_go_to() {
    let mut editor = that_shows_related().await;
    std::fs::write(editor.path("reduction.bench.toml"), BENCHMARK).unwrap();
    let helper = "__device__ int helper(int a, int b) { return a + b; }\n";
    let text = REDUCTION.replace("__global__ void", &format!("{helper}__global__ void"));
    let text = text.replace("int tid = threadIdx.x;", "int tid = threadIdx.x + helper(1);");
    let uri = editor.open("reduction.hip", &text).await;
    editor.execute("time", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    let first = &shown["diagnostics"][0];
    assert_eq!(first["range"]["start"]["line"], line_of(&text, "helper(1)"), "{shown}");
    let related = &first["relatedInformation"][0];
    assert_eq!(related["location"]["uri"], uri, "{shown}");
    assert_eq!(related["location"]["range"]["start"]["line"], line_of(&text, "int helper"), "{shown}");
    assert!(related["message"].as_str().unwrap().contains("requires 2 arguments"), "{shown}");
    assert!(editor.message(None).await.contains("does not compile"));
    progress(&mut editor).await;
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_race_is_shown_with_both_of_its_lines() {
    let mut editor = that_shows_related().await;
    // Two runtimes are built on a machine that has not done that yet.
    editor.patience = Duration::from_secs(900);
    let text = "#include <hip/hip_runtime.h>
__global__ void shift(int* out) {
    __shared__ int t[64];
    t[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = t[(threadIdx.x + 1) % 64];
}
int main() {
    int* out;
    hipMalloc(&out, 64 * sizeof(int));
    shift<<<1, 64>>>(out);
    return hipDeviceSynchronize();
}
";
    let uri = editor.open("shift.hip", text).await;
    editor.execute("check", json!({ "uri": uri, "kernel": "shift" })).await;
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    let (write, read) = (line_of(text, "t[threadIdx.x] ="), line_of(text, "out[threadIdx.x] ="));
    let is_race = |found: &&Value| found["message"].as_str().unwrap().starts_with("race: ");
    let race = shown["diagnostics"].as_array().unwrap().iter().find(is_race).unwrap_or_else(|| panic!("{shown}"));
    let here = race["range"]["start"]["line"].as_u64().unwrap();
    let other = race["relatedInformation"][0]["location"]["range"]["start"]["line"].as_u64().unwrap();
    assert_eq!([here.min(other), here.max(other)], [write, read], "{shown}");
    progress(&mut editor).await;
    editor.message(None).await;
    // It was found in this code: other code may be free of it, and a comment changes nothing.
    let place = (write as u32, "    t[threadIdx.x] = threadIdx.x".len() as u32);
    let severity = |shown: &Value, start: &str| {
        let is_it = |found: &&Value| found["message"].as_str().unwrap().starts_with(start);
        let found = shown["diagnostics"].as_array().unwrap().iter().find(is_it);
        found.unwrap_or_else(|| panic!("{shown}"))["severity"].clone()
    };
    editor.insert(&uri, 2, place, " + 1").await;
    let stale = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    assert_eq!(severity(&stale, "stale: race: "), 3);
    let at = |character: u32| json!({ "line": place.0, "character": character });
    let range = json!({ "start": at(place.1), "end": at(place.1 + 4) });
    editor.change(&uri, 3, json!([{ "range": range, "text": " /* as before */" }])).await;
    let again = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    assert_eq!(severity(&again, "race: "), race["severity"]);
    editor.settle().await;
    editor.stop().await;
}
