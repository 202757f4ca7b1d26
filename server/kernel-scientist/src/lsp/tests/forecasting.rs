//! Forecasts of open files in the background, with real builds and runs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor::{Editor, capabilities};

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
