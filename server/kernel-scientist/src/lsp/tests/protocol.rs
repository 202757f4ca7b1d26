//! The server over a pipe: documents, features, settings.

use serde_json::{Value, json};

use super::editor::{Editor, capabilities};

const KERNEL: &str = "__global__ void k(float* a) {\n  __shared__ float t[8];\n}\n";

#[tokio::test(flavor = "multi_thread")]
async fn it_says_what_it_can_do() {
    let mut editor = Editor::silent();
    let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities() });
    let answer = editor.request("initialize", params).await;
    let can = &answer["capabilities"];
    assert_eq!(can["positionEncoding"], "utf-16");
    assert_eq!(can["textDocumentSync"]["change"], 2);
    assert_eq!(can["codeActionProvider"]["resolveProvider"], true);
    assert_eq!(can["codeLensProvider"]["resolveProvider"], true);
    assert_eq!(can["codeActionProvider"]["codeActionKinds"].as_array().unwrap().len(), 5);
    for nothing in ["completionProvider", "definitionProvider", "documentFormattingProvider", "referencesProvider"] {
        assert_eq!(can[nothing], Value::Null, "that is clangd's: {nothing}");
    }
    editor.notify("initialized", json!({})).await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_encoding_is_the_best_that_the_client_offers() {
    for (offered, chosen) in [
        (json!(["utf-16", "utf-8"]), "utf-8"),
        (json!(["utf-32", "utf-16"]), "utf-16"),
        (json!(["utf-32"]), "utf-32"),
        (json!([]), "utf-16"),
    ] {
        let mut editor = Editor::silent();
        let general = json!({ "general": { "positionEncodings": offered } });
        let answer = editor.request("initialize", json!({ "processId": null, "capabilities": general })).await;
        assert_eq!(answer["capabilities"]["positionEncoding"], chosen);
        editor.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_served_from_opening_to_closing() {
    let mut editor = Editor::start().await;
    let uri = editor.open("a.hip", KERNEL).await;
    assert_eq!(editor.lenses(&uri).await, ["Time", "Suggest", "Evolve"]);
    assert_eq!(editor.hints(&uri).await, [(1, 23, "LDS 32 B".to_owned())]);
    editor.insert(&uri, 2, (0, 0), "// 大😀\n").await;
    assert_eq!(editor.hints(&uri).await, [(2, 23, "LDS 32 B".to_owned())]);
    editor.insert(&uri, 3, (2, 2), "/* 大😀 */ ").await;
    assert_eq!(editor.hints(&uri).await, [(2, 33, "LDS 32 B".to_owned())], "columns count 16-bit units");
    let hover = json!({ "position": { "line": 1, "character": 16 } });
    let hover = editor.ask(&uri, "hover", hover).await;
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Not measured yet"), "{hover}");
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
    assert_eq!(editor.ask(&uri, "codeLens", json!({})).await, Value::Null);
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lenses_of_a_large_file_are_resolved_when_they_come_into_view() {
    let mut editor = Editor::start().await;
    let text: String = (0..60).map(|number| KERNEL.replace("k(", &format!("k{number}("))).collect();
    let uri = editor.open("large.hip", &text).await;
    let lenses = editor.ask(&uri, "codeLens", json!({})).await;
    let lenses = lenses.as_array().unwrap();
    assert_eq!(lenses.len(), 180);
    assert!(lenses.iter().all(|lens| lens.get("command").is_none()), "{}", lenses[0]);
    let resolved = editor.request("codeLens/resolve", lenses[178].clone()).await;
    let command = &resolved["command"];
    assert_eq!((&command["title"], &command["command"]), (&json!("Suggest"), &json!("kernelScientist.suggest")));
    assert_eq!(command["arguments"], json!([{ "uri": uri, "kernel": "k59" }]));
    assert_eq!(resolved["range"], lenses[178]["range"]);
    // One of a job that has ended meanwhile, and one that is whole.
    let mut of_job = lenses[0].clone();
    let opening = of_job["data"].as_str().unwrap().split(' ').next().unwrap();
    of_job["data"] = json!(format!("{opening} job 7"));
    assert_eq!(editor.request("codeLens/resolve", of_job).await["command"]["title"], "ended");
    assert_eq!(editor.request("codeLens/resolve", resolved.clone()).await, resolved);
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } })).await;
    let late = editor.answer("codeLens/resolve", lenses[0].clone()).await;
    assert_eq!(late["error"]["code"], -32801, "{late}");
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn typing_asks_for_no_refresh_and_a_new_kernel_for_one() {
    let mut editor = Editor::start().await;
    let uri = editor.open("a.hip", KERNEL).await;
    editor.hints(&uri).await;
    editor.lenses(&uri).await;
    editor.settle().await;
    editor.refreshed.clear();
    for version in 2..12 {
        editor.insert(&uri, version, (2, 0), "// x\n").await;
    }
    editor.settle().await;
    assert_eq!(editor.refreshed, [] as [&str; 0]);
    editor.insert(&uri, 12, (0, 0), "__global__ void other() {}\n").await;
    editor.settle().await;
    assert_eq!(editor.refreshed, ["workspace/codeLens/refresh"]);
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hypothesis_is_applied_as_an_edit_of_the_very_version() {
    let mut editor = Editor::start().await;
    let text = include_str!("../../../../../tests/benchmarks/reduction.hip");
    let uri = editor.open("reduction.hip", text).await;
    let line = text.lines().position(|line| line.contains("__shared__")).unwrap();
    let at = json!({ "line": line, "character": 8 });
    let params = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [] } });
    let mut untested = Value::Null;
    for _ in 0..400 {
        let actions = editor.ask(&uri, "codeAction", params.clone()).await;
        let found = actions.as_array().unwrap().iter().find(|action| action["data"]["version"] == 1).cloned();
        if let Some(found) = found {
            untested = found;
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let title = untested["title"].as_str().expect("the catalog was looked through").to_owned();
    assert!(title.starts_with("Apply untested: "), "{title}");
    let resolved = editor.request("codeAction/resolve", untested.clone()).await;
    let change = &resolved["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({ "uri": uri, "version": 1 }));
    let annotation = change["edits"][0]["annotationId"].as_str().unwrap();
    assert_eq!(resolved["edit"]["changeAnnotations"][annotation]["needsConfirmation"], true);
    editor.insert(&uri, 2, (0, 0), "\n").await;
    let late = editor.answer("codeAction/resolve", untested).await;
    assert_eq!(late["error"]["code"], -32801, "{late}");
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_a_benchmark_file_are_shown_and_go_when_they_are_mended() {
    let mut editor = Editor::start().await;
    let uri = editor.open("a.bench.toml", "[program]\nargz = []\n").await;
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    assert_eq!(shown["diagnostics"][0]["range"]["start"], json!({ "line": 1, "character": 0 }));
    editor.change(&uri, 2, json!([{ "text": "[program]\nargs = [\"1\"]\n" }])).await;
    let shown = editor.expect("textDocument/publishDiagnostics", Value::Null).await;
    assert_eq!(shown["diagnostics"], json!([]));
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_setting_is_one_message_that_names_it_and_changes_are_picked_up() {
    let settings = json!({ "generations": 0, "codeLens": false, "forecasts": false });
    let mut editor = Editor::start_with(capabilities(), settings).await;
    let said = editor.message(None).await;
    assert!(said.contains("kernelScientist.generations is 0; expected a number from 1"), "{said}");
    let uri = editor.open("a.hip", KERNEL).await;
    assert_eq!(editor.ask(&uri, "codeLens", json!({})).await, Value::Null);
    let now = json!({ "settings": { "kernelScientist": { "codeLens": true, "forecasts": false } } });
    editor.notify("workspace/didChangeConfiguration", now).await;
    assert_eq!(editor.lenses(&uri).await, ["Time", "Suggest", "Evolve"]);
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_asked_for_where_the_client_has_them() {
    let mut can = capabilities();
    can["workspace"]["configuration"] = json!(true);
    let mut editor = Editor::start_with(can, Value::Null).await;
    let settings = json!([{ "inlayHints": false, "forecasts": false }]);
    let asked = editor.expect("workspace/configuration", settings).await;
    assert_eq!(asked["items"][0]["section"], "kernelScientist");
    let uri = editor.open("a.hip", KERNEL).await;
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    for _ in 0..100 {
        if editor.ask(&uri, "inlayHint", json!({ "range": whole })).await.is_null() {
            return editor.stop().await;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the setting was not taken");
}
