//! Jobs, with real builds and runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor::{Editor, capabilities};

const REDUCTION: &str = include_str!("../../../../../tests/benchmarks/reduction.hip");
const BENCHMARK: &str = include_str!("../../../../../tests/benchmarks/reduction.bench.toml");

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
async fn progress(editor: &mut Editor) -> Vec<Value> {
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
    let stopped = Instant::now();
    editor.notify("window/workDoneProgress/cancel", json!({ "token": "kernel-scientist/job/1" })).await;
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

/// The first hint with these words, within the time that builds take.
async fn hint_with(editor: &mut Editor, uri: &str, words: &[&str]) -> (u64, u64, String) {
    let start = Instant::now();
    loop {
        let hints = editor.hints(uri).await;
        let is_it = |label: &str| words.iter().all(|word| label.contains(word));
        if let Some(hint) = hints.iter().find(|(_, _, label)| is_it(label)) {
            return hint.clone();
        }
        assert!(start.elapsed() < Duration::from_secs(110), "{words:?} in {hints:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_file_is_forecast_in_the_background_and_again_after_a_change() {
    const TRANSPOSE: &str = include_str!("../../../../../tests/benchmarks/transpose.hip");
    let mut editor = Editor::start_with(capabilities(), json!({ "lineHints": true })).await;
    let benchmark = include_str!("../../../../../tests/benchmarks/transpose.bench.toml");
    std::fs::write(editor.path("transpose.bench.toml"), benchmark).unwrap();
    let uri = editor.open("transpose.hip", TRANSPOSE).await;
    let kernel = hint_with(&mut editor, &uri, &["forecast ", " on MI300X", "bound by "]).await;
    assert!(!kernel.2.starts_with("stale"), "{kernel:?}");
    let number = |text: &str, what: &str| text.lines().position(|line| line.contains(what)).unwrap() as u64;
    let store = "out[out_row * rows + out_col]";
    let conflicts = hint_with(&mut editor, &uri, &["-way LDS conflicts"]).await;
    assert_eq!(conflicts.0, number(TRANSPOSE, store), "{conflicts:?}");
    // What is typed elsewhere moves the hints at once.
    editor.insert(&uri, 2, (0, 0), "// one\n// two\n").await;
    let moved = editor.hints(&uri).await;
    assert!(moved.iter().any(|hint| hint.2 == conflicts.2 && hint.0 == conflicts.0 + 2), "{moved:?}");
    // A change of the kernel is stale until it was forecast again, and here it cures the conflicts.
    let padded = TRANSPOSE.replace("tile[TILE][TILE];", "tile[TILE][TILE + 1];");
    editor.change(&uri, 3, json!([{ "text": padded }])).await;
    hint_with(&mut editor, &uri, &["stale: forecast "]).await;
    let start = Instant::now();
    loop {
        let hints = editor.hints(&uri).await;
        if !hints.iter().any(|hint| hint.2.starts_with("stale")) {
            assert!(hints.iter().any(|hint| hint.2.starts_with("forecast ")), "{hints:?}");
            assert!(!hints.iter().any(|hint| hint.2.contains("conflicts")), "{hints:?}");
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(110), "{hints:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(editor.refreshed.iter().any(|method| method.contains("inlayHint")), "the client was asked to ask again");
    // What does not compile keeps the old figures, marked, and the hover says why.
    editor.change(&uri, 4, json!([{ "text": padded.replace("= blockIdx.y * TILE + threadIdx.x;", "= oops;") }])).await;
    let line = number(&padded, "transpose_kernel(");
    let hover = json!({ "position": { "line": line, "character": 20 } });
    let start = Instant::now();
    while !editor.ask(&uri, "hover", hover.clone()).await["contents"]["value"].as_str().unwrap().contains("oops") {
        assert!(start.elapsed() < Duration::from_secs(60), "the hover does not say why");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(hint_with(&mut editor, &uri, &["stale: forecast "]).await.2.contains("bound by"));
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    let line = number(&padded, "= blockIdx.y * TILE + threadIdx.x;");
    assert_eq!(shown["diagnostics"][0]["range"]["start"]["line"], line, "{shown}");
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forecast_in_the_background_ends_with_the_server() {
    let (mut editor, session) = Editor::with_session(Value::Null).await;
    let endless = "#include <hip/hip_runtime.h>\n__global__ void k(int* p) { while (*(volatile int*)p == 0) {} }\n\
                   int main() { int* p; hipMalloc(&p, 4); hipMemset(p, 0, 4); k<<<1, 1>>>(p); return hipDeviceSynchronize(); }\n";
    editor.open("endless.hip", endless).await;
    let start = Instant::now();
    while session.is_idle() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing is forecast");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // It is built, and then it runs.
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(!session.is_idle(), "it ended by itself");
    let took = editor.vanish().await;
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_takes_a_forecast_where_the_device_is_forecast_for() {
    let mut editor = Editor::start().await;
    std::fs::write(editor.path("reduction.bench.toml"), BENCHMARK).unwrap();
    let uri = editor.open("reduction.hip", REDUCTION).await;
    editor.execute("time", json!({ "uri": uri, "kernel": "reduce_sum" })).await;
    progress(&mut editor).await;
    let figure = hint_with(&mut editor, &uri, &["forecast "]).await.2;
    assert!(figure.contains(" on MI300X") && figure.contains("sum()") && !figure.contains("stale"), "{figure}");
    let hover = json!({ "position": { "line": 5, "character": 18 } });
    let hover = editor.ask(&uri, "hover", hover).await;
    assert!(hover["contents"]["value"].as_str().unwrap().contains("forecast, not a measurement"), "{hover}");
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn suggestions_are_forecast_and_say_which_line_they_cure() {
    let mut editor = Editor::start().await;
    let benchmark = include_str!("../../../../../demo/transpose.bench.toml");
    std::fs::write(editor.path("transpose.bench.toml"), benchmark).unwrap();
    let text = include_str!("../../../../../demo/transpose.hip");
    let uri = editor.open("transpose.hip", text).await;
    editor.execute("suggest", json!({ "uri": uri, "kernel": "transpose_kernel" })).await;
    let asked = editor.expect("window/showMessageRequest", Value::Null).await;
    let first = asked["actions"][0]["title"].as_str().unwrap();
    assert!(first.starts_with("Test: ") && first.contains("(forecast "), "{asked}");
    let line = line_of(text, "out[col * rows + row] =") + 1;
    assert!(first.contains(&format!("; line {line}: ")) && first.contains(" gone, innovation"), "{asked}");
    progress(&mut editor).await;
    let at = json!({ "line": 6, "character": 8 });
    let params = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [] } });
    let actions = editor.ask(&uri, "codeAction", params).await;
    let title = actions[0]["title"].as_str().unwrap();
    assert!(title.starts_with("Test this hypothesis: ") && title.ends_with(" gone)"), "{actions}");
    assert!(actions.as_array().unwrap().len() <= 8, "{actions}");
    editor.settle().await;
    editor.stop().await;
}

/// An editor that shows places which have to do with a diagnostic.
async fn that_shows_related() -> Editor {
    let mut can = capabilities();
    can["textDocument"] = json!({ "publishDiagnostics": { "relatedInformation": true } });
    Editor::start_with(can, json!({ "forecasts": false, "device": "cpu" })).await
}

fn line_of(text: &str, what: &str) -> u64 {
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
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hypothesis_tested_by_forecast_is_never_called_measured() {
    let mut editor = Editor::start().await;
    let benchmark = include_str!("../../../../../demo/transpose.bench.toml");
    std::fs::write(editor.path("transpose.bench.toml"), benchmark).unwrap();
    let text = include_str!("../../../../../demo/transpose.hip");
    let uri = editor.open("transpose.hip", text).await;
    let at = json!({ "line": line_of(text, "out[col * rows + row] ="), "character": 8 });
    let params = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [] } });
    let mut squares = Value::Null;
    for _ in 0..200 {
        let actions = editor.ask(&uri, "codeAction", params.clone()).await;
        let is_it = |action: &&Value| action["command"]["arguments"][0]["key"] == "lds-transpose:transpose_kernel/out";
        if let Some(found) = actions.as_array().unwrap().iter().find(is_it) {
            squares = found.clone();
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let title = squares["title"].as_str().unwrap().strip_prefix("Test this hypothesis: ").unwrap();
    let title = title.split(" (").next().unwrap().to_owned();
    let command = &squares["command"];
    let command = json!({ "command": command["command"], "arguments": command["arguments"] });
    editor.request("workspace/executeCommand", command).await;
    progress(&mut editor).await;
    let said = editor.message(None).await;
    assert!(said.contains("faster, forecast ") && said.contains("on MI300X, "), "{said}");
    let actions = editor.ask(&uri, "codeAction", params).await;
    let first = actions[0]["title"].as_str().unwrap();
    assert!(first.starts_with(&format!("Apply: {title} (forecast ")), "{actions}");
    let population = editor.request("kernelScientist/population", json!({ "uri": uri })).await;
    assert_eq!(population["members"][1]["forecast"]["device"], "mi300x", "{population}");
    assert_eq!(population["members"][1]["hypothesis"], title, "{population}");
    let runs = editor.request("kernelScientist/runs", json!({ "uri": uri })).await;
    assert_eq!((&runs[0]["run"], &runs[0]["state"]), (&population["run"], &json!("finished")), "{runs}");
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evolution_by_forecast_says_what_it_is_worth_and_which_lines_it_cured() {
    let settings = json!({ "forecasts": false, "generations": 1 });
    let mut editor = Editor::start_with(capabilities(), settings).await;
    let benchmark = include_str!("../../../../../demo/transpose.bench.toml");
    std::fs::write(editor.path("transpose.bench.toml"), benchmark).unwrap();
    let text = include_str!("../../../../../demo/transpose.hip");
    let uri = editor.open("transpose.hip", text).await;
    editor.execute("evolve", json!({ "uri": uri, "kernel": "transpose_kernel" })).await;
    let events = [editor.expect("kernelScientist/runEvent", Value::Null).await];
    assert_eq!((&events[0]["event"]["event"], &events[0]["event"]["device"]), (&json!("started"), &json!("mi300x")));
    let reports = progress(&mut editor).await;
    assert!(reports.iter().any(|report| report["percentage"].as_u64().unwrap_or_default() > 0), "{reports:?}");
    let said = editor.message(Some("Apply")).await;
    let line = line_of(text, "out[col * rows + row] =") + 1;
    assert!(said.starts_with("Evolve: forecast ") && said.contains("Nothing was timed on MI300X"), "{said}");
    assert!(said.contains(&format!(" Cured: line {line} (")), "{said}");
    let edit = editor.expect("workspace/applyEdit", json!({ "applied": true })).await;
    let change = &edit["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"]["version"], 1);
    let annotation = &edit["edit"]["changeAnnotations"]["kernel-scientist"];
    assert!(annotation["label"].as_str().unwrap().starts_with("Best version, forecast "), "{edit}");
    editor.settle().await;
    editor.take_unread("kernelScientist/runEvent");
    editor.stop().await;
}
