//! Settings of the project and of the user, picked up while the server runs.

use serde_json::{Value, json};

use super::editor::{Editor, capabilities};

const KERNEL: &str = "__global__ void k(float* a) {\n  a[threadIdx.x] = 1;\n}\n";

/// Waits for the labels of the hints to be as wanted.
async fn job_fails_with(editor: &mut Editor, uri: &str, words: &str) {
    editor.execute("time", json!({ "uri": uri, "kernel": "k" })).await;
    let said = editor.message(None).await;
    assert!(said.contains(words), "{said}");
    editor.settle().await;
    editor.take_unread("$/progress");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistake_in_the_settings_file_is_one_message_that_names_it_and_its_place() {
    let mut editor = Editor::start().await;
    let file = editor.path("kernel-scientist.toml");
    std::fs::write(&file, "[device.card]\ntoolchain = \"hipp\"\n").unwrap();
    let uri = editor.open("a.hip", KERNEL).await;
    let said = editor.message(None).await;
    for part in ["kernel-scientist.toml", "line 2", "expected one of `cpu`, `forecast`"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    for version in 2..5 {
        editor.insert(&uri, version, (0, 0), "//\n").await;
    }
    editor.settle().await;
    assert_eq!(editor.take_unread("window/showMessage").len(), 0, "once is enough");
    std::fs::write(&file, "[scientist]\nmax_usd = -1\n").unwrap();
    let changed = json!({ "changes": [{ "uri": editor.uri("kernel-scientist.toml"), "type": 2 }] });
    editor.notify("workspace/didChangeWatchedFiles", changed).await;
    assert!(editor.message(None).await.contains("max_usd is -1"));
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_of_the_project_can_be_named_by_the_user() {
    let mut editor = Editor::start_with(capabilities(), json!({ "forecasts": false, "device": "card" })).await;
    let uri = editor.open("a.hip", KERNEL).await;
    let said = editor.message(None).await;
    assert!(said.starts_with("kernelScientist.device: there is no device card; known: cpu, "), "{said}");
    let file = editor.path("kernel-scientist.toml");
    std::fs::write(&file, "[device.card]\ntoolchain = \"hip\"\nssh = \"user@host\"\n").unwrap();
    let changed = json!({ "changes": [{ "uri": editor.uri("kernel-scientist.toml"), "type": 1 }] });
    editor.notify("workspace/didChangeWatchedFiles", changed).await;
    assert!(editor.message(None).await.contains("is not in this version"));
    job_fails_with(&mut editor, &uri, "kernelScientist.device: device card (").await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_sets_beats_the_project() {
    let mut editor = Editor::start().await;
    std::fs::write(editor.path("kernel-scientist.toml"), "[scientist]\nprovider = \"gemini\"\n").unwrap();
    let uri = editor.open("a.hip", KERNEL).await;
    // It is told at once, and again by what cannot be done without it.
    let said = editor.message(None).await;
    assert!(said.starts_with("kernel-scientist.toml for ") && said.contains("write gemini:MODEL"), "{said}");
    editor.execute("suggest", json!({ "uri": uri, "kernel": "k" })).await;
    assert!(editor.message(None).await.contains("names no model; write gemini:MODEL"));
    let now =
        json!({ "settings": { "kernelScientist": { "forecasts": false, "device": "cpu", "provider": "catalog" } } });
    editor.notify("workspace/didChangeConfiguration", now).await;
    editor.settle().await;
    editor.take_unread("$/progress");
    editor.execute("suggest", json!({ "uri": uri, "kernel": "k" })).await;
    let said = editor.message(None).await;
    assert!(!said.contains("gemini"), "{said}");
    editor.settle().await;
    editor.take_unread("$/progress");
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_there_is_not_is_told_when_it_is_set() {
    let mut editor =
        Editor::start_with(capabilities(), json!({ "forecasts": false, "provider": "nope:x", "generations": 0 })).await;
    let said = editor.message(None).await;
    assert!(said.contains("kernelScientist.provider: there is no provider `nope`"), "{said}");
    assert!(said.contains("kernelScientist.generations is 0"), "in one message: {said}");
    editor.open("a.hip", KERNEL).await;
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_is_asked_to_watch_what_is_depended_on() {
    let mut can = capabilities();
    can["workspace"]["didChangeWatchedFiles"] = json!({ "dynamicRegistration": true });
    let mut editor = Editor::start_with(can, json!({ "forecasts": false })).await;
    let asked = editor.expect("client/registerCapability", Value::Null).await;
    let watchers = asked["registrations"][0]["registerOptions"]["watchers"].as_array().unwrap();
    assert!(watchers.iter().any(|watcher| watcher["globPattern"] == "**/kernel-scientist.toml"), "{asked}");
    editor.stop().await;
}
