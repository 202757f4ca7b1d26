//! Forecasts of open files in the background, with real builds and runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor::{Editor, capabilities};
use super::jobs::{BENCHMARK, REDUCTION, line_of, progress};

/// Two kernels that nothing launches: their signatures feed them, one by one.
const TWO: &str = "#include <hip/hip_runtime.h>
__global__ void first(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1.0f; }
__global__ void second(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2.0f; }
";

/// The hint of the kernel on a line, from 0, once it begins so.
async fn hint_of(editor: &mut Editor, uri: &str, line: u64, beginning: &str) -> String {
    let start = Instant::now();
    loop {
        let hints = editor.hints(uri).await;
        let mut labels = hints.iter().filter(|hint| hint.0 == line).map(|hint| hint.2.clone());
        if let Some(label) = labels.find(|label| label.starts_with(beginning)) {
            return label;
        }
        assert!(start.elapsed() < Duration::from_secs(110), "{beginning} on line {line}: {hints:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_that_does_not_build_keeps_its_last_figure_beside_one_that_did_not_change() {
    let mut editor = Editor::start_with(capabilities(), json!({ "lineHints": false })).await;
    let uri = editor.open("two.hip", TWO).await;
    let figure = hint_of(&mut editor, &uri, 1, "forecast ").await;
    hint_of(&mut editor, &uri, 2, "forecast ").await;
    editor.change(&uri, 2, json!([{ "text": TWO.replace("= 1.0f", "= oops") }])).await;
    let hover = json!({ "position": { "line": 1, "character": 18 } });
    let start = Instant::now();
    while !editor.ask(&uri, "hover", hover.clone()).await["contents"]["value"].to_string().contains("oops") {
        assert!(start.elapsed() < Duration::from_secs(60), "the hover does not say why");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    let first = &shown["diagnostics"][0];
    assert_eq!((&first["range"]["start"]["line"], &first["severity"]), (&json!(1), &json!(1)), "{shown}");
    assert!(first["message"].as_str().unwrap().contains("undeclared identifier 'oops'"), "{shown}");
    let labels: Vec<String> = editor.hints(&uri).await.into_iter().map(|hint| hint.2).collect();
    assert_eq!(labels[0], format!("stale: {figure}"));
    assert!(labels[1].starts_with("forecast "), "{labels:?}");
    // Mended, in a text where it stands elsewhere.
    editor.change(&uri, 3, json!([{ "text": format!("// mended\n{TWO}") }])).await;
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    assert_eq!(shown["diagnostics"], json!([]));
    editor.settle().await;
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
    assert!(first.contains(&format!("; line {line}: ")) && first.contains(" (cured), innovation"), "{asked}");
    progress(&mut editor).await;
    let at = json!({ "line": 6, "character": 8 });
    let params = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [] } });
    let actions = editor.ask(&uri, "codeAction", params).await;
    let title = actions[0]["title"].as_str().unwrap();
    assert!(title.starts_with("Test this hypothesis: ") && title.ends_with(" (cured))"), "{actions}");
    assert!(actions.as_array().unwrap().len() <= 8, "{actions}");
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
