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
        (json!("Blocked"), "its limit is reached (try again later): no"),
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
    assert!(matches!(error, LlmError::KeyRefused { .. }), "{error}");
    editor.stop().await;
}
