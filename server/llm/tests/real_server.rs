//! The wire against a real server: llama.cpp's, with a model of 135 million parameters. What its answers say does not
//! matter; how they come does.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod real;

use std::cell::Cell;
use std::time::Duration;

use llm::connect::{Connection, Patience, connect};
use llm::key::Sources;
use llm::{Caller, LlmError, Model, ModelName, Options, Request, Retry};
use real::{KEY, RealServer};
use serde::Deserialize;

/// Generous: on a busy machine the model writes a few tokens a second.
const PATIENCE: Duration = Duration::from_secs(400);

fn model_with_key(kind: &str, server: &RealServer, key: &str, most: u32) -> Model {
    let name: ModelName = format!("{kind}:smollm2").parse().unwrap();
    let base = if kind == "openai" { format!("{}/v1", server.url()) } else { server.url() };
    let connection = Connection {
        base_url: Some(base),
        named_by_user: true,
        key: Sources { given: Some(key.into()), command: None },
        patience: Patience { connect: PATIENCE, silence: PATIENCE, whole: PATIENCE },
        ..Connection::default()
    };
    let retry = Retry { times: 0, ..Retry::default() };
    let options = Options { retry, max_output_tokens: most, ..Options::default() };
    Model::new(name.clone(), connect(&name, &connection).unwrap(), options)
}

fn model(kind: &str, server: &RealServer, most: u32) -> Model {
    model_with_key(kind, server, KEY, most)
}

fn ask(model: &Model, request: &Request) -> (Result<String, LlmError>, String) {
    let mut heard = String::new();
    let mut hear = |text: &str| heard.push_str(text);
    let answer = model.ask(request, &mut Caller::new(&|| false, &mut hear));
    (answer.map(|answer| answer.text), heard)
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Tiling,
    Padding,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Inner {
    direction: Direction,
    #[schemars(length(max = 12))]
    why: String,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct Plan {
    inner: Inner,
}

#[test]
fn chat_completions_stream_text_and_json_by_schema() {
    let server = RealServer::start(4096);
    let model = model("openai", &server, 400);
    let question = Request::new("designer", "You plan experiments.", "Which direction would you take?");
    let plan: Plan = model.ask_json(&question, &mut Caller::new(&|| false, &mut |_| ())).unwrap();
    assert!(plan.inner.why.len() <= 12 * 4, "{plan:?}");
    assert!(matches!(plan.inner.direction, Direction::Tiling | Direction::Padding));
    let spent = model.ledger().spent();
    assert!(spent.calls >= 1 && spent.input > 20 && spent.output > 5, "{spent:?}");

    let short = Request { max_tokens: 12, seed: Some(7), temperature: Some(0.0), ..question };
    let limited = model_with_key("openai", &server, KEY, 12);
    let answers = [ask(&limited, &short), ask(&limited, &short)];
    for (answer, heard) in &answers {
        assert!(!heard.is_empty());
        assert!(answer.is_ok() || matches!(answer, Err(LlmError::Truncated { limit: 12, .. })), "{answer:?}");
    }
    assert_eq!(answers[0].1, answers[1].1, "the same seed gives the same text");
}

#[test]
fn messages_stream_text() {
    let server = RealServer::start(4096);
    let request = Request { max_tokens: 12, ..Request::new("selector", "Be brief.", "Name a colour.") };
    let model = model("anthropic", &server, 12);
    let (answer, heard) = ask(&model, &request);
    assert!(answer.is_ok() || matches!(answer, Err(LlmError::Truncated { limit: 12, .. })), "{answer:?}");
    assert!(!heard.is_empty());
    assert!(model.ledger().spent().output > 0, "{:?}", model.ledger().spent());
}

#[test]
fn refusals_are_told_apart() {
    let server = RealServer::start(1024);
    let request = Request { max_tokens: 12, ..Request::new("writer", "", "Hello") };
    for kind in ["openai", "anthropic"] {
        let wrong = "sk-wrong-key-000000";
        let (answer, _) = ask(&model_with_key(kind, &server, wrong, 12), &request);
        let error = answer.unwrap_err();
        assert!(matches!(error, LlmError::KeyRefused { .. }) && !error.to_string().contains(wrong), "{kind}: {error}");
        let long = Request { max_tokens: 12, ..Request::new("writer", "", "word ".repeat(3000)) };
        let (answer, _) = ask(&model(kind, &server, 12), &long);
        assert!(matches!(answer, Err(LlmError::TooLong { .. })), "{kind}: {answer:?}");
    }
    let schema = Some(serde_json::json!({ "type": "nonsense" }));
    let (answer, _) = ask(&model("openai", &server, 12), &Request { schema, ..request });
    assert!(matches!(answer, Err(LlmError::BadRequest { .. })), "{answer:?}");
}

#[test]
fn a_cancelled_call_leaves_the_server_free() {
    let server = RealServer::start(4096);
    let model = model("openai", &server, 3000);
    let request =
        Request { max_tokens: 3000, ..Request::new("writer", "", "Count from 1 to 2000, one number a line.") };
    let pieces = Cell::new(0);
    let mut hear = |_: &str| pieces.set(pieces.get() + 1);
    let answer = model.ask(&request, &mut Caller::new(&|| pieces.get() > 2, &mut hear));
    assert_eq!(answer, Err(LlmError::Cancelled));
    // It has one slot: a second question is answered only when the first is given up.
    let limited = model_with_key("openai", &server, KEY, 4);
    let (answer, heard) = ask(&limited, &Request { max_tokens: 4, ..Request::new("writer", "", "Hello") });
    assert!(!heard.is_empty(), "{answer:?}");
}
