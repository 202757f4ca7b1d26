//! A workspace that is not trusted: its texts are read and shown, and nothing is built, run or sent.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::editor::Editor;
use crate::lsp::from_proto;

const KERNEL: &str = "#include <hip/hip_runtime.h>
__global__ void first(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1.0f; }
";

async fn say(editor: &mut Editor, settings: Value) {
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": settings })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_built_run_or_sent_before_the_workspace_is_trusted() {
    let (mut editor, session) = Editor::with_session(json!({ "trusted": false, "editorModels": true })).await;
    let uri = editor.open("a.hip", KERNEL).await;
    assert_eq!(editor.lenses(&uri).await, ["Time", "Suggest", "Evolve"]);
    let hover = json!({ "position": { "line": 1, "character": 18 } });
    let hover = editor.ask(&uri, "hover", hover).await;
    assert!(hover["contents"]["value"].as_str().unwrap().contains("Not measured yet"), "{hover}");
    let kernel = json!({ "uri": uri, "kernel": "first" });
    let resumed = json!({ "uri": uri, "run": 1 });
    for (command, argument) in
        [("time", &kernel), ("suggest", &kernel), ("evolve", &kernel), ("check", &kernel), ("resume", &resumed)]
    {
        assert_eq!(editor.execute(command, argument.clone()).await, Value::Null);
        let said = editor.message(None).await;
        assert!(said.contains(": the workspace is not trusted, so nothing in it is built, run or sent"), "{said}");
    }
    editor.execute("tryModel", json!({})).await;
    assert!(editor.message(None).await.contains("the workspace is not trusted"));
    // A workspace has settings of its own, and must not trust itself.
    say(&mut editor, json!({ "kernelScientist": { "trusted": true } })).await;
    assert!(editor.message(None).await.contains("kernelScientist.trusted is true; expected one of"));
    editor.insert(&uri, 2, (0, 0), "// typed\n").await;
    // Longer than the pause after which it would be forecast; the editor fails on messages that nobody expected.
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(1500) {
        assert!(session.is_idle(), "something is at work");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    say(&mut editor, json!({ "trusted": true })).await;
    let start = Instant::now();
    while !editor.hints(&uri).await.iter().any(|hint| hint.2.starts_with("forecast ")) {
        assert!(start.elapsed() < Duration::from_secs(110), "it is not forecast");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_one_of_its_own_device_and_ends_when_trust_is_withdrawn() {
    let (mut editor, session) = Editor::with_session(json!({ "device": "cpu", "forecasts": false })).await;
    let endless = "#include <hip/hip_runtime.h>\n__global__ void k(int* p) { while (*(volatile int*)p == 0) {} }\n\
                   int main() { int* p; hipMalloc(&p, 4); hipMemset(p, 0, 4); k<<<1, 1>>>(p); return hipDeviceSynchronize(); }\n";
    let uri = editor.open("endless.hip", endless).await;
    editor.execute("time", json!({ "uri": uri, "kernel": "k" })).await;
    assert!(session.state().jobs.is_measuring());
    say(&mut editor, json!({ "kernelScientist": { "device": "mi300x", "forecasts": false } })).await;
    editor.lenses(&uri).await;
    assert!(session.state().jobs.is_measuring(), "it goes on where it began");
    say(&mut editor, json!({ "trusted": false })).await;
    let start = Instant::now();
    while !session.is_idle() {
        assert!(start.elapsed() < Duration::from_secs(5), "it goes on");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    editor.settle().await;
    editor.take_unread("$/progress");
    editor.stop().await;
}

#[test]
fn trust_is_there_where_nothing_is_said_of_it_and_nowhere_else() {
    let of = |options: Value| {
        let params = json!({ "processId": null, "capabilities": {}, "initializationOptions": options });
        let (abilities, settings) = from_proto::abilities(&serde_json::from_value(params).unwrap());
        (abilities.is_trusted, settings)
    };
    assert_eq!(of(Value::Null), (true, Value::Null));
    assert_eq!(of(json!({ "device": "cpu" })), (true, json!({ "device": "cpu" })));
    assert_eq!(of(json!({ "trusted": true, "editorModels": true })), (true, json!({})));
    for refused in [json!(false), json!("true"), json!(1), json!({})] {
        assert_eq!(of(json!({ "trusted": refused, "generations": 3 })), (false, json!({ "generations": 3 })));
        assert_eq!(from_proto::trust(&json!({ "trusted": refused })), Some(false), "{refused}");
    }
    assert_eq!(from_proto::trust(&json!({ "trusted": true })), Some(true));
    assert_eq!(from_proto::trust(&json!({ "kernelScientist": { "trusted": true } })), None);
}
