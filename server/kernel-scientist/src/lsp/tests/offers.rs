//! Proposals as a client shows them, plans of evolutions, keys that the editor keeps, and machine code.

use notebook::Notebook;
use serde_json::{Value, json};

use super::editor::{Editor, capabilities};
use crate::cli::report::example;

#[tokio::test(flavor = "multi_thread")]
async fn a_version_of_a_run_goes_into_the_document_as_it_is_now() {
    let mut editor = Editor::start().await;
    let notebook = Notebook::open(&editor.path("notebook.db")).unwrap();
    let run = example::record(&notebook, true);
    let original = notebook.text(&run.original).unwrap();
    let best = notebook.population(run.id).unwrap().into_iter().find(|version| version.number == 4).unwrap();
    let uri = format!("file://{}", run.file.display());
    let typed = format!("// typed meanwhile\n{original}");
    let document = json!({ "uri": uri, "languageId": "hip", "version": 1, "text": typed });
    editor.notify("textDocument/didOpen", json!({ "textDocument": document })).await;

    let version = |candidate: u32| json!({ "uri": uri, "run": run.id.0, "candidate": candidate });
    let made = editor.request("kernelScientist/propose", version(4)).await;
    let preview = editor.request("kernelScientist/preview", made.clone()).await;
    let wanted = format!("// typed meanwhile\n{}", best.text);
    assert_eq!((&preview["uri"], &preview["text"]), (&json!(uri), &json!(wanted)));
    assert_eq!(preview["title"], format!("Version 4 of run {}", run.id.0));
    editor.execute("apply", made.clone()).await;
    let applied = editor.expect("workspace/applyEdit", json!({ "applied": true })).await;
    assert_eq!(applied["edit"]["documentChanges"][0]["textDocument"]["version"], 1, "{applied}");

    // What the user changed in the same lines stays.
    editor.change(&uri, 2, json!([{ "text": "// all else is gone\n" }])).await;
    let refused = editor.answer("kernelScientist/preview", made).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("were changed since"), "{refused}");
    let missing = editor.answer("kernelScientist/propose", version(99)).await;
    assert!(missing["error"]["message"].as_str().unwrap().contains("has no version 99"), "{missing}");
    let other = json!({ "uri": editor.uri("other.hip"), "run": run.id.0, "candidate": 4 });
    let refused = editor.answer("kernelScientist/propose", other).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("is one of"), "{refused}");
    editor.stop().await;
}

const KERNEL: &str = "#include <hip/hip_runtime.h>
__global__ void first(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1.0f; }
";

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_says_how_a_kernel_is_fed_and_who_thinks() {
    let mut editor = Editor::start().await;
    let main = "int main() {}\n";
    for (name, text, fed_by) in [
        ("signature.hip", KERNEL, "signature"),
        ("program.hip", main, "program"),
        ("nothing.hip", "int x;\n", "nothing"),
        ("file.hip", KERNEL, "benchmark_file"),
    ] {
        std::fs::write(editor.path("file.bench.toml"), "entry = \"first\"\n").unwrap();
        let uri = editor.open(name, text).await;
        let plan = editor.request("kernelScientist/plan", json!({ "uri": uri })).await;
        assert_eq!((&plan["fed_by"], &plan["provider"]), (&json!(fed_by), &json!("catalog")), "{plan}");
        assert_eq!((&plan["is_rule_based"], &plan["problem"]), (&json!(true), &Value::Null), "{plan}");
    }
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_the_editor_are_asked_for_when_a_model_is_set_up() {
    let settings = json!({ "keys": true, "forecasts": false, "device": "cpu", "provider": "gemini:g" });
    let mut editor = Editor::start_with(capabilities(), settings).await;
    let uri = editor.open("signature.hip", KERNEL).await;
    let mut plans = Vec::new();
    for key in [Value::Null, json!("sk-secret")] {
        editor.send_request("kernelScientist/plan", json!({ "uri": uri })).await;
        let asked = editor.expect("kernelScientist/key", json!({ "key": key })).await;
        assert_eq!(asked, json!({ "provider": "gemini" }));
        plans.push(editor.take_answer().await);
    }
    assert_eq!(plans[0]["missing_key"], "gemini", "{}", plans[0]);
    assert!(plans[0]["problem"].as_str().unwrap().starts_with("gemini:g needs a key"), "{}", plans[0]);
    assert_eq!((&plans[1]["missing_key"], &plans[1]["problem"]), (&Value::Null, &Value::Null));
    let estimate = plans[1]["estimate"].as_str().unwrap();
    assert!(estimate.starts_with("estimate for 5 generations: about 30 calls, "), "{estimate}");
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn machine_code_is_that_of_the_text_as_it_is_now() {
    let mut editor = Editor::start().await;
    let uri = editor.open("code.hip", KERNEL).await;
    let code = editor.request("kernelScientist/machineCode", json!({ "uri": uri })).await;
    assert_eq!(code["arch"], "gfx942");
    let text = code["text"].as_str().unwrap();
    assert!(text.contains("_Z5firstPfi:") && text.contains("s_endpgm"), "{text}");
    editor.change(&uri, 2, json!([{ "text": "__global__ void broken(" }])).await;
    let failed = editor.answer("kernelScientist/machineCode", json!({ "uri": uri })).await;
    assert!(failed["error"]["message"].as_str().unwrap().contains("does not compile"), "{failed}");
    editor.stop().await;
}
