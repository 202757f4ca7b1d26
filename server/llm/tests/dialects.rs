//! What each provider is sent, and how its answers are read, against a stub that speaks as its documentation says.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stub;

use llm::{Caller, LlmError};
use serde::Deserialize;
use serde_json::{Value, json};
use stub::*;

#[derive(Debug, PartialEq, Deserialize, schemars::JsonSchema)]
struct Choice {
    #[schemars(range(min = 0, max = 9))]
    base: u32,
    reason: String,
}

fn ask_json(model: &llm::Model) -> Result<Choice, LlmError> {
    model.ask_json(&question(), &mut Caller::new(&|| false, &mut |_| ()))
}

const CHOICE: &str = r#"{"base":3,"reason":"fast"}"#;

#[test]
fn openai_is_asked_and_billed() {
    let stub = Stub::new(vec![openai("Because of banks.", "stop")]);
    let model = model("openai", &format!("{}/v1/", stub.url()));
    let (answer, heard) = ask(&model);
    assert_eq!((answer.unwrap().as_str(), heard.as_str()), ("Because of banks.", "Because of banks."));
    let request = &stub.requests()[0];
    assert_eq!(request.url.path(), "/v1/chat/completions");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    let body = &stub.bodies()[0];
    assert_eq!(body["messages"][0], json!({ "role": "system", "content": "Be brief." }));
    assert_eq!(body["messages"][1], json!({ "role": "user", "content": "Why?" }));
    assert_eq!((&body["stream"], &body["max_tokens"], &body["model"]), (&json!(true), &json!(1024), &json!("m")));
    let spent = model.ledger().spent();
    assert_eq!((spent.calls, spent.input, spent.output), (1, 100, 20));
    assert!((spent.usd - (60.0 + 40.0 * 0.5 + 20.0 * 10.0) / 1e6).abs() < 1e-12, "{spent:?}");
    let calls = model.ledger().take_calls();
    assert_eq!((calls.len(), calls[0].model.as_str(), calls[0].label.as_str()), (1, "m-1", "test"));
}

#[test]
fn openais_schema_is_strict_and_the_answer_checked() {
    let stub = Stub::new(vec![openai(&format!("Sure:\n```json\n{CHOICE}\n```"), "stop")]);
    let choice = ask_json(&model("openai", &stub.url())).unwrap();
    assert_eq!(choice, Choice { base: 3, reason: "fast".into() });
    let format = &stub.bodies()[0]["response_format"];
    assert_eq!((&format["type"], &format["json_schema"]["strict"]), (&json!("json_schema"), &json!(true)));
    assert_eq!(format["json_schema"]["schema"]["properties"]["base"]["maximum"], json!(9));
}

fn anthropic(text: &str, stop: &str) -> Vec<Value> {
    vec![
        json!({ "type": "message_start", "message": { "model": "claude-m-1", "usage": {
            "input_tokens": 10, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 5, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
        json!({ "type": "ping" }),
        json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": text } }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 25 } }),
        json!({ "type": "message_stop" }),
    ]
}

#[test]
fn anthropic_is_asked_and_billed() {
    let stub = Stub::new(vec![events(&anthropic(CHOICE, "end_turn"))]);
    let model = model("anthropic", &stub.url());
    assert_eq!(ask_json(&model).unwrap().base, 3);
    let request = &stub.requests()[0];
    assert_eq!(request.url.path(), "/v1/messages");
    assert_eq!(
        (&request.headers["x-api-key"], &request.headers["anthropic-version"]),
        (&KEY.parse().unwrap(), &"2023-06-01".parse().unwrap())
    );
    let body = &stub.bodies()[0];
    assert_eq!((&body["system"], &body["max_tokens"]), (&json!("Be brief."), &json!(1024)));
    let schema = &body["output_config"]["format"]["schema"];
    assert!(schema["properties"]["base"].get("maximum").is_none(), "{schema}");
    assert_eq!(schema["additionalProperties"], json!(false));
    let spent = model.ledger().spent();
    assert_eq!((spent.input, spent.output), (45, 25));
    assert!((spent.usd - (15.0 + 30.0 * 0.5 + 250.0) / 1e6).abs() < 1e-12, "{spent:?}");
}

#[test]
fn an_answer_in_one_piece_is_taken_and_billed() {
    let openai = json!({ "model": "m-1", "choices": [{ "message": { "role": "assistant", "content": CHOICE },
        "finish_reason": "stop" }], "usage": { "prompt_tokens": 100, "completion_tokens": 20 } });
    let anthropic = json!({ "type": "message", "model": "m-1", "stop_reason": "end_turn",
        "content": [{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": CHOICE }],
        "usage": { "input_tokens": 100, "output_tokens": 20 } });
    let gemini = gemini(CHOICE, "STOP");
    for (kind, answer, spent) in
        [("openai", openai, (100, 20)), ("anthropic", anthropic, (100, 20)), ("gemini", json!(gemini), (50, 10))]
    {
        // Some servers call it a stream all the same.
        for content_type in ["application/json", "text/event-stream", "text/plain"] {
            let body = format!("\n{answer:#}\n");
            let stub = Stub::new(vec![wiremock::ResponseTemplate::new(200).set_body_raw(body, content_type)]);
            let model = model(kind, &stub.url());
            let (answer, heard) = ask(&model);
            assert_eq!((answer.as_deref(), heard.as_str()), (Ok(CHOICE), CHOICE), "{kind} {content_type}");
            let bill = model.ledger().spent();
            assert_eq!((bill.calls, bill.input, bill.output), (1, spent.0, spent.1), "{kind} {content_type}");
        }
    }
    let cut = json!({ "choices": [{ "message": { "content": "half" }, "finish_reason": "length" }] });
    let stub = Stub::new(vec![wiremock::ResponseTemplate::new(200).set_body_json(cut)]);
    assert!(matches!(ask(&model("openai", &stub.url())).0, Err(LlmError::Truncated { .. })));
}

#[test]
fn anthropics_other_ends_are_told_apart() {
    let withheld = Stub::new(vec![events(&anthropic("", "refusal"))]);
    assert!(matches!(ask(&model("anthropic", &withheld.url())).0, Err(LlmError::Withheld { .. })));
    let overloaded = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let mut cut = anthropic("half", "end_turn");
    cut.truncate(5);
    cut.push(overloaded);
    let stub = Stub::new(vec![events(&cut), events(&anthropic("whole", "end_turn"))]);
    assert_eq!(ask(&model("anthropic", &stub.url())).0.unwrap(), "whole");
    let bad = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "no" } });
    let stub = Stub::new(vec![events(&[bad])]);
    assert!(matches!(ask(&model("anthropic", &stub.url())).0, Err(LlmError::BadRequest { .. })));
    assert_eq!(stub.requests().len(), 1);
}

fn gemini(text: &str, finish: &str) -> Vec<Value> {
    vec![
        json!({ "candidates": [{ "content": { "parts": [{ "text": "I think", "thought": true }] } }],
                "modelVersion": "gemini-m-1" }),
        json!({ "candidates": [{ "content": { "parts": [{ "text": text }], "role": "model" }, "finishReason": finish }],
                "usageMetadata": { "promptTokenCount": 50, "cachedContentTokenCount": 20, "candidatesTokenCount": 7,
                                   "thoughtsTokenCount": 3 } }),
    ]
}

#[test]
fn gemini_is_asked_and_billed() {
    let stub = Stub::new(vec![events(&gemini(CHOICE, "STOP"))]);
    let model = model("gemini", &stub.url());
    assert_eq!(ask_json(&model).unwrap().reason, "fast");
    let request = &stub.requests()[0];
    assert_eq!(request.url.path(), "/v1beta/models/m:streamGenerateContent");
    assert_eq!(request.url.query(), Some("alt=sse"));
    assert_eq!(request.headers["x-goog-api-key"], KEY);
    let body = &stub.bodies()[0];
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], json!("Be brief."));
    assert_eq!(body["generationConfig"]["responseMimeType"], json!("application/json"));
    assert_eq!(body["generationConfig"]["maxOutputTokens"], json!(1024));
    let spent = model.ledger().spent();
    assert_eq!((spent.input, spent.output), (50, 10));
}

#[test]
fn geminis_other_ends_are_told_apart() {
    let blocked = Stub::new(vec![events(&[json!({ "promptFeedback": { "blockReason": "SAFETY" } })])]);
    let error = ask(&model("gemini", &blocked.url())).0.unwrap_err();
    assert!(matches!(&error, LlmError::Withheld { detail, .. } if detail.contains("SAFETY")), "{error}");
    let stub = Stub::new(vec![events(&gemini("half", "MAX_TOKENS")), events(&gemini("whole", "STOP"))]);
    assert_eq!(ask(&model("gemini", &stub.url())).0.unwrap(), "whole");
    let limit = |body: &Value| body["generationConfig"]["maxOutputTokens"].as_u64();
    assert_eq!(stub.bodies().iter().map(limit).collect::<Vec<_>>(), [Some(1024), Some(2048)]);
    let busy = Stub::new(vec![
        wiremock::ResponseTemplate::new(503)
            .set_body_json(json!([{ "error": { "code": 503, "message": "try later" } }])),
        events(&gemini("whole", "STOP")),
    ]);
    assert_eq!(ask(&model("gemini", &busy.url())).0.unwrap(), "whole");
}

#[test]
fn a_wrong_form_is_asked_for_once_more_with_what_is_wrong() {
    let stub = Stub::new(vec![openai(r#"{"base":12,"reason":"x"}"#, "stop"), openai(CHOICE, "stop")]);
    assert_eq!(ask_json(&model("openai", &stub.url())).unwrap().base, 3);
    let body = &stub.bodies()[1];
    assert_eq!(body["messages"][2]["role"], json!("assistant"));
    let complaint = body["messages"][3]["content"].as_str().unwrap();
    assert!(complaint.contains("at /base: 12 is greater than the maximum of 9"), "{complaint}");

    let stub = Stub::new(vec![openai("I would rather write a poem.", "stop")]);
    let error = ask_json(&model("openai", &stub.url())).unwrap_err();
    assert!(matches!(error, LlmError::WrongForm { .. }), "{error}");
    assert_eq!(stub.requests().len(), 2);
}

#[test]
fn a_refusal_that_comes_in_pieces_is_told_whole_and_an_empty_one_is_none() {
    let piece = |delta: Value| json!({ "model": "m-1", "choices": [{ "delta": delta }] });
    let end = json!({ "choices": [{ "delta": { "refusal": "" }, "finish_reason": "stop" }] });
    let refused = vec![piece(json!({ "refusal": "I will " })), piece(json!({ "refusal": "not." })), end.clone()];
    let error = ask(&model("openai", &Stub::new(vec![events(&refused)]).url())).0.unwrap_err();
    assert!(error.to_string().contains("withheld (I will not.)"), "{error}");
    let answered = vec![piece(json!({ "content": "Because.", "refusal": "" })), end];
    assert_eq!(ask(&model("openai", &Stub::new(vec![events(&answered)]).url())).0.unwrap(), "Because.");
}
