//! The editor's own models, asked through the client.

use std::time::Duration;

use serde_json::{Value, json};

use super::editor::{Editor, capabilities};

async fn with_models() -> Editor {
    Editor::start_with(capabilities(), json!({ "editorModels": true, "forecasts": false })).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_of_the_editor_answers() {
    let mut editor = with_models().await;
    editor.execute("tryModel", json!({ "model": "gpt-4o" })).await;
    let asked = editor.expect("kernelScientist/model", json!({ "model": "gpt-4o-2024", "text": "ready" })).await;
    assert_eq!((&asked["model"], &asked["isOfUser"]), (&json!("gpt-4o"), &json!(true)));
    assert_eq!(asked["messages"][0]["role"], "user");
    assert!(asked["justification"].as_str().unwrap().contains("kernels"));
    let said = editor.message(None).await;
    assert!(said.starts_with("The editor's model gpt-4o-2024 answered in "), "{said}");
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_editor_refuses_is_told_in_words() {
    for (kind, words) in [
        (json!("NoPermissions"), "may not be used (allow it when the editor asks): no"),
        (json!("Blocked"), "are blocked for this extension for the time being: no"),
        (json!("RateLimited"), "asked too often: no"),
        (json!("OutOfQuota"), "is used up: no"),
        (json!("NotFound"), "has no such model: no"),
        (json!("Strange"), "the editor's model failed: no"),
    ] {
        let mut editor = with_models().await;
        editor.execute("tryModel", Value::Null).await;
        editor
            .refuse("kernelScientist/model", json!({ "code": -32000, "message": "no", "data": { "kind": kind } }))
            .await;
        let said = editor.message(None).await;
        assert!(said.contains(words), "{said}");
        editor.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_without_models_is_not_asked() {
    let mut editor = Editor::start().await;
    editor.execute("tryModel", Value::Null).await;
    assert!(editor.message(None).await.contains("does not offer its models"));
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_are_heard_in_order_and_a_question_can_be_given_up() {
    use crate::lsp::models::{ModelError, ModelQuestion};
    use crate::lsp::protocol::{ModelMessage, ModelRole, ModelTool};

    let (mut editor, session) = Editor::with_session(json!({ "editorModels": true, "forecasts": false })).await;
    let question = ModelQuestion {
        model: None,
        messages: vec![ModelMessage { role: ModelRole::User, text: "Name a number.".into() }],
        tool: Some(ModelTool {
            name: "number".into(),
            description: "The answer".into(),
            input_schema: json!({ "type": "object", "properties": { "n": { "type": "integer" } } }),
        }),
        justification: "a test".into(),
        is_of_user: false,
    };
    let cancel = lab::Cancel::new();
    let ask = |question: ModelQuestion, cancel: lab::Cancel| {
        let models = session.models.clone();
        tokio::task::spawn_blocking(move || {
            let mut heard = String::new();
            let answer = models.ask(question, &cancel, &mut |part| heard.push_str(part));
            (answer, heard)
        })
    };
    let asked = ask(question.clone(), cancel.clone());
    let (id, params) = editor.take_request("kernelScientist/model").await;
    assert_eq!(params["tool"]["inputSchema"]["type"], "object");
    for text in ["4", "2"] {
        editor.notify("kernelScientist/modelPart", json!({ "token": params["token"], "text": text })).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    editor.answer_request(&id, json!({ "result": { "model": "m", "text": "42", "toolInput": { "n": 42 } } })).await;
    let (answer, heard) = asked.await.unwrap();
    let answer = answer.unwrap();
    assert_eq!((heard.as_str(), answer.text.as_str()), ("42", "42"));
    assert_eq!(answer.tool_input, Some(json!({ "n": 42 })));

    let asked = ask(question, cancel.clone());
    let (id, _) = editor.take_request("kernelScientist/model").await;
    cancel.cancel();
    let given_up = editor.expect("$/cancelRequest", Value::Null).await;
    assert_eq!(given_up["id"], id);
    assert_eq!(asked.await.unwrap().0, Err(ModelError::Cancelled));
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stage_is_answered_by_a_model_of_the_editor() {
    use llm::editor::EditorProvider;
    use llm::{Caller, LlmError, Provider, Request};

    let (mut editor, session) = Editor::with_session(json!({ "editorModels": true, "forecasts": false })).await;
    let ask = || {
        let provider = EditorProvider::new(session.models.clone(), Some("gpt-4o".into()));
        let request =
            Request { schema: Some(json!({ "type": "object" })), ..Request::new("designer", "Be brief.", "Why?") };
        tokio::task::spawn_blocking(move || {
            let mut nobody = |_: &str| ();
            provider.attempt(&request, &mut Caller::new(&|| false, &mut nobody))
        })
    };
    let asked = ask();
    let answer = json!({ "model": "gpt-4o-2024", "text": "", "toolInput": { "n": 3 } });
    let params = editor.expect("kernelScientist/model", answer).await;
    assert_eq!((&params["model"], &params["tool"]["name"]), (&json!("gpt-4o"), &json!("answer")));
    assert!(params["messages"][0]["text"].as_str().unwrap().starts_with("Be brief.\n\nWhy?"), "{params}");
    let answer = asked.await.unwrap().unwrap();
    assert_eq!((answer.text.as_str(), answer.model.as_str()), (r#"{"n":3}"#, "gpt-4o-2024"));

    let asked = ask();
    let refusal = json!({ "code": -32000, "message": "no", "data": { "kind": "NoPermissions" } });
    editor.refuse("kernelScientist/model", refusal).await;
    let error = asked.await.unwrap().unwrap_err();
    assert!(matches!(error, LlmError::NotAllowed { .. }), "{error}");
    assert!(!error.to_string().contains("key"), "{error}");
    for (kind, is_expected) in [
        ("Blocked", (|error| matches!(error, LlmError::Busy { .. })) as fn(&LlmError) -> bool),
        ("RateLimited", |error| matches!(error, LlmError::Busy { .. })),
        ("OutOfQuota", |error| matches!(error, LlmError::OutOfQuota { .. })),
        ("Other", |error| matches!(error, LlmError::Unreachable { .. })),
    ] {
        let asked = ask();
        let refusal = json!({ "code": -32000, "message": "its words", "data": { "kind": kind } });
        editor.refuse("kernelScientist/model", refusal).await;
        let error = asked.await.unwrap().unwrap_err();
        // Each of them is an outage: no plan is lost to it.
        assert!(is_expected(&error) && error.is_outage() && error.to_string().contains("its words"), "{kind}: {error}");
    }
    let asked = ask();
    editor.expect("kernelScientist/model", json!({ "no": "answer" })).await;
    let error = asked.await.unwrap().unwrap_err();
    assert!(matches!(error, LlmError::Unreadable { .. }), "{error}");
    editor.stop().await;
}

const VECTOR_ADD: &str = include_str!("../../../../../tests/benchmarks/vector_add.hip");
const BENCHMARK: &str = include_str!("../../../../../tests/benchmarks/vector_add.bench.toml");

/// An editor with the vector addition of the samples open.
async fn with_vector_add(options: Value) -> (Editor, String) {
    with_file(Editor::start_with(capabilities(), options).await).await
}

async fn with_file(mut editor: Editor) -> (Editor, String) {
    std::fs::write(editor.path("vector_add.bench.toml"), BENCHMARK).unwrap();
    let uri = editor.open("vector_add.hip", VECTOR_ADD).await;
    (editor, uri)
}

/// Waits for the end of a job and takes in what else was said of it.
async fn ended(editor: &mut Editor) {
    while editor.expect("$/progress", Value::Null).await["value"]["kind"] != "end" {}
    editor.settle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_models_suggestions_become_code_actions_and_it_writes_what_is_tested() {
    let options = json!({ "editorModels": true, "forecasts": false, "device": "cpu", "provider": "editor" });
    let (mut editor, uri) = with_vector_add(options).await;
    let target = json!({ "uri": uri, "kernel": "vector_add" });
    editor.execute("suggest", target.clone()).await;
    let plan = json!({
        "family": "vector-loads", "kernel": "vector_add", "line": 7, "title": "Add four elements at once", "reason": "r",
        "rubric": "Load float4.", "min_percent": 5, "max_percent": 40, "innovation": 20,
    });
    let design = json!({ "avenues": ["wide loads"], "plans": [plan] });
    let asked =
        editor.expect("kernelScientist/model", json!({ "model": "gpt-4o", "text": "", "toolInput": design })).await;
    let question = asked["messages"][0]["text"].as_str().unwrap();
    assert!(question.contains("c[i] = a[i] + b[i];") && question.contains("Times: "), "{question}");
    let said = editor.message(None).await;
    assert!(said.contains("(by editor), best first. All are in the code actions"), "{said}");
    ended(&mut editor).await;

    let at = json!({ "line": 5, "character": 8 });
    let params = json!({ "range": { "start": at, "end": at }, "context": { "diagnostics": [] } });
    let actions = editor.ask(&uri, "codeAction", params).await;
    let actions = actions.as_array().unwrap();
    let of_model =
        |action: &&Value| action["title"].as_str().unwrap().contains(": Add four elements at once (expected +5%");
    let found: Vec<&Value> = actions.iter().filter(of_model).collect();
    // It is tested first: an edit does not wait for a model to write it.
    assert!(found.len() == 1 && found[0]["title"].as_str().unwrap().starts_with("Test this"), "{actions:?}");
    let command = &found[0]["command"];
    let execute = json!({ "command": command["command"], "arguments": command["arguments"] });
    editor.request("workspace/executeCommand", execute).await;
    // The first answer is no file, the second is wrong and the third mends it.
    let file = |text: &str| json!({ "model": "gpt-4o", "text": format!("Did it.\n```cpp\n{text}```\n") });
    editor.expect("kernelScientist/model", json!({ "model": "gpt-4o", "text": "I would rather not." })).await;
    let wrong = VECTOR_ADD.replace("a[i] + b[i]", "a[i] + b[i] + 1.0f");
    let again = editor.expect("kernelScientist/model", file(&wrong)).await;
    assert!(again["messages"].to_string().contains("This answer cannot be used"), "{again}");
    let mended = VECTOR_ADD.replace("a[i] + b[i]", "b[i] + a[i]");
    let repair = editor.expect("kernelScientist/model", file(&mended)).await;
    assert!(repair["messages"].to_string().contains("wrong result"), "{repair}");
    let said = editor.message(None).await;
    assert!(said.starts_with("Add four elements at once: ") && !said.contains("wrong"), "{said}");
    ended(&mut editor).await;
    let population = editor.request("kernelScientist/population", json!({ "uri": uri })).await;
    assert_eq!(population["provider"], "editor", "{population}");
    editor.settle().await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn how_far_a_models_answer_is_stands_in_the_jobs_progress() {
    let options = json!({ "editorModels": true, "forecasts": false, "device": "cpu", "provider": "editor" });
    let (mut editor, uri) = with_vector_add(options).await;
    editor.execute("suggest", json!({ "uri": uri, "kernel": "vector_add" })).await;
    let (id, params) = editor.take_request("kernelScientist/model").await;
    editor.notify("kernelScientist/modelPart", json!({ "token": params["token"], "text": "{\"av" })).await;
    let report = loop {
        let progress = editor.expect("$/progress", Value::Null).await;
        let message = progress["value"]["message"].as_str().unwrap_or_default().to_owned();
        if message.contains("characters") {
            break message;
        }
        assert_ne!(progress["value"]["kind"], "end");
    };
    assert_eq!(report, "asking the designer · designer: 4 characters so far");
    let refusal = json!({ "code": -32000, "message": "no", "data": { "kind": "NoPermissions" } });
    editor.answer_request(&id, json!({ "error": refusal })).await;
    assert!(editor.message(None).await.contains("allow"), "the job ends with the editor's refusal");
    ended(&mut editor).await;
    editor.stop().await;
}

/// Refuses each request with status 401 and tells the value of its `authorization`.
fn refusing() -> (u16, std::sync::mpsc::Receiver<String>) {
    use std::io::{BufRead, BufReader, Write};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, seen) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            for line in lines.take_while(|line| !line.is_empty()) {
                if let Some((name, value)) = line.split_once(": ")
                    && name.eq_ignore_ascii_case("authorization")
                {
                    let _ = sender.send(value.to_owned());
                }
            }
            let body = r#"{"error":{"message":"no such key"}}"#;
            let head = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: ";
            let _ = write!(stream, "{head}{}\r\n\r\n{body}", body.len());
        }
    });
    (port, seen)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_editor_hands_a_key_over_when_it_is_needed() {
    const KEY: &str = "sk-kept-by-the-editor-123456";
    let (port, seen) = refusing();
    let options = json!({ "keys": true, "forecasts": false, "device": "cpu" });
    let settings =
        format!("[scientist]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n");
    let (mut editor, uri) = with_file(Editor::with_config(&settings, options).await).await;
    editor.execute("suggest", json!({ "uri": uri, "kernel": "vector_add" })).await;
    let asked = editor.expect("kernelScientist/key", json!({ "key": KEY })).await;
    assert_eq!(asked, json!({ "provider": "openai" }));
    let said = editor.message(None).await;
    assert!(said.contains("check the key") && !said.contains(KEY), "{said}");
    assert_eq!(seen.recv().unwrap(), format!("Bearer {KEY}"));
    ended(&mut editor).await;
    editor.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folders_settings_get_no_key_of_the_editors() {
    let (port, seen) = refusing();
    let (mut editor, uri) = with_vector_add(json!({ "keys": true, "forecasts": false, "device": "cpu" })).await;
    let settings =
        format!("[scientist]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n");
    std::fs::write(editor.path("kernel-scientist.toml"), settings).unwrap();
    editor.execute("suggest", json!({ "uri": uri, "kernel": "vector_add" })).await;
    // The editor is not asked for a key: what comes next is what came of the question.
    let said = editor.message(None).await;
    assert!(said.contains("the server wants one") && said.contains("--config"), "{said}");
    assert!(seen.try_recv().is_err());
    ended(&mut editor).await;
    editor.stop().await;
}

/// A recording of two generations, each of one plan whose version gains nothing.
fn recording(folder: &std::path::Path) -> String {
    let design = |title: &str, rubric: &str| {
        let plan = json!({
            "family": "rewrite", "kernel": "vector_add", "line": 7, "title": title, "reason": "r", "rubric": rubric,
            "min_percent": -5, "max_percent": 5, "innovation": 20,
        });
        json!({ "avenues": ["a"], "plans": [plan] }).to_string()
    };
    let version = |sum: &str| format!("Done.\n```cpp\n{}```\n", VECTOR_ADD.replace("a[i] + b[i]", sum));
    let answers = [
        ("designer", design("Swap the operands", "b before a")),
        ("writer", version("b[i] + a[i]")),
        ("selector", json!({ "base": 0, "reference": 0, "reason": "r" }).to_string()),
        ("designer", design("Add nothing on top", "plus zero")),
        ("writer", version("a[i] + b[i] + 0.0f")),
    ];
    let usage = json!({ "input": 10, "cached": 0, "output": 5, "estimated": false });
    let lines = answers.map(|(label, text)| {
        let answer = json!({ "text": text, "stop": "end", "usage": usage, "model": "m" });
        json!({ "label": label, "answer": answer }).to_string()
    });
    let path = folder.join("run.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    format!("replay:{}", path.display())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_its_budget_ended_goes_on_with_more() {
    let folder = tempfile::tempdir().unwrap();
    let provider = recording(folder.path());
    let options = json!({ "forecasts": false, "device": "mi300x", "provider": provider, "generations": 1 });
    let (mut editor, uri) = with_vector_add(options).await;
    editor.execute("evolve", json!({ "uri": uri, "kernel": "vector_add" })).await;
    let said = editor.message(None).await;
    assert!(said.starts_with("Evolve: The one generation is done. No confirmed speedup"), "{said}");
    ended(&mut editor).await;
    let ended_by_budget = editor.request("kernelScientist/runs", json!({})).await;
    let more = json!({ "uri": uri, "kernel": "vector_add", "run": ended_by_budget[0]["run"], "more": true });
    editor.execute("resume", more).await;
    let said = editor.message(None).await;
    assert!(said.starts_with("Evolve: All 2 generations are done. No confirmed speedup"), "{said}");
    ended(&mut editor).await;
    let runs = editor.request("kernelScientist/runs", json!({})).await;
    assert_eq!((runs.as_array().unwrap().len(), &runs[0]["out_of_budget"]), (1, &json!(true)), "{runs}");
    editor.settle().await;
    editor.take_unread("kernelScientist/runEvent");
    editor.take_unread("$/progress");
    editor.stop().await;
}
