//! Every way in which servers are known to fail, and that each ends as documented.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stub;

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llm::connect::{Connection, Patience, connect};
use llm::{Caller, Heard, Limits, LlmError};
use serde_json::{Value, json};
use stub::*;
use wiremock::ResponseTemplate;

fn good() -> ResponseTemplate {
    openai("Because of banks.", "stop")
}

#[test]
fn what_may_pass_is_tried_again() {
    for status in [408, 429, 500, 502, 503, 529] {
        let stub = Stub::new(vec![refused(status, "later"), good()]);
        assert_eq!(ask(&model("openai", &stub.url())).0.unwrap(), "Because of banks.", "{status}");
        assert_eq!(stub.requests().len(), 2);
    }
    let stub = Stub::new(vec![refused(503, "always")]);
    let error = ask(&model("openai", &stub.url())).0.unwrap_err();
    assert!(matches!(error, LlmError::Busy { .. }), "{error}");
    assert_eq!(stub.requests().len(), 3, "one attempt and two more");
}

#[test]
fn the_wait_that_a_server_asks_for_is_kept() {
    let stub = Stub::new(vec![refused(429, "slow down").insert_header("retry-after", "1"), good()]);
    let began = Instant::now();
    assert!(ask(&model("openai", &stub.url())).0.is_ok());
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());

    let hours = Stub::new(vec![refused(429, "slow down").insert_header("retry-after", "7200")]);
    let error = ask(&model("openai", &hours.url())).0.unwrap_err();
    assert!(error.to_string().contains("it asks to wait 120 minutes") && error.is_outage(), "{error}");
    assert_eq!(hours.requests().len(), 1);
}

#[test]
fn what_will_not_pass_ends_at_once_and_says_what_to_do() {
    for (answer, expected) in [
        (refused(401, "bad key"), "check the key"),
        (refused(403, "not allowed"), "check the key"),
        (refused(404, "no such model"), "check the model's name"),
        (refused(402, "pay"), "quota is used up"),
        (refused(400, "response_format is not valid"), "the request was refused"),
        (refused(400, "This model's maximum context length is 8192 tokens"), "too long for the model's context"),
        (refused(413, "huge"), "too long for the model's context"),
        (refused(400, "max_tokens is too large: 32768. This model supports at most 16384 completion tokens"), "lower `max_output_tokens`"),
        (refused(400, "max_tokens: 32768 > 8192, which is the maximum allowed number of output tokens"), "lower `max_output_tokens`"),
        (
            refused(400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (800 in the \
                          messages, 8200 in the completion)"),
            "lower `max_output_tokens`",
        ),
        (refused(400, "Unsupported parameter: 'max_tokens' is not supported with this model"), "the request was refused"),
        (refused(400, "API key not valid. Please pass a valid API key."), "check the key"),
        (
            ResponseTemplate::new(400).set_body_json(json!({ "error": {
                "code": 400, "message": "Bad key", "status": "INVALID_ARGUMENT", "details": [{ "reason": "API_KEY_INVALID" }] } })),
            "check the key",
        ),
        (ResponseTemplate::new(400).set_body_string("x".repeat(5 << 20)), "the request was refused"),
        (
            ResponseTemplate::new(429)
                .set_body_json(json!({ "error": { "code": "insufficient_quota", "message": "no money" } })),
            "quota is used up",
        ),
        (ResponseTemplate::new(400).set_body_string("<html>what?</html>"), "<html>what?</html>"),
    ] {
        let stub = Stub::new(vec![answer]);
        let error = ask(&model("openai", &stub.url())).0.unwrap_err();
        assert!(error.to_string().contains(expected) && error.is_outage(), "{error}");
        assert!(error.to_string().starts_with("openai:m: "), "{error}");
        assert_eq!(stub.requests().len(), 1, "{error}");
    }
}

#[test]
fn answers_that_are_none_cost_only_themselves() {
    let junk = ResponseTemplate::new(200).set_body_raw("data: {\"choices\":\n\n", "text/event-stream");
    for (answer, expected) in
        [(junk, "not JSON"), (openai("", "stop"), "it is empty"), (openai("x", "content_filter"), "withheld")]
    {
        let stub = Stub::new(vec![answer]);
        let error = ask(&model("openai", &stub.url())).0.unwrap_err();
        assert!(error.to_string().contains(expected) && !error.is_outage(), "{error}");
    }
}

#[test]
fn what_is_no_answer_is_shown_and_not_asked_for_again() {
    let page = "<!DOCTYPE html><title>Log in</title>";
    for (body, content_type, expected) in [
        (
            page,
            "text/html; charset=utf-8",
            "text/html; charset=utf-8 and no answer of a model: <!DOCTYPE html><title>Log in",
        ),
        ("It works!", "text/plain", "text/plain and no answer of a model: It works!"),
        (r#"{"detail":"not for you"}"#, "application/json", "no answer of a model: {\"detail\":\"not for you\"}"),
        ("{\"choices\": [", "application/json", "no answer of a model: {"),
        ("{\"done\":false}\n{\"done\":true}\n", "application/x-ndjson", "application/x-ndjson and no answer"),
    ] {
        let stub = Stub::new(vec![ResponseTemplate::new(200).set_body_raw(body, content_type)]);
        let error = ask(&model("openai", &stub.url())).0.unwrap_err();
        assert!(error.to_string().contains(expected) && error.is_outage(), "{error}");
        assert!(error.to_string().contains("check the model's name and the base URL"), "{error}");
        assert_eq!(stub.requests().len(), 1, "{error}");
    }
}

/// A server that sends `piece` again and again after a head, until nobody takes it any more; with the bytes that it got rid of.
fn endless(status: &str, content_type: &str, first: &str, piece: String) -> (String, Arc<AtomicUsize>) {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\nconnection: close\r\n\r\n{first}");
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let (url, _) = raw(move |_, stream| {
        let _ = stream.write_all(head.as_bytes());
        while stream.write_all(piece.as_bytes()).is_ok() {
            count.fetch_add(piece.len(), Ordering::SeqCst);
        }
    });
    (url, sent)
}

#[test]
fn a_server_that_does_not_end_costs_neither_memory_nor_patience() {
    let events = "text/event-stream";
    let long = |text: &str| text.repeat((64 << 10) / text.len());
    for (status, content_type, first, piece, expected) in [
        ("200 OK", events, "", long("\n"), "does not end"),
        ("200 OK", events, "data: {}\n", long("\r\n: alive\n"), "does not end"),
        ("200 OK", events, "data: ", "x".repeat(1024), "does not end"),
        ("200 OK", events, "", long("data: x\n"), "does not end"),
        ("200 OK", "application/json", "{\"choices\": \"", long("x"), "does not end"),
        ("200 OK", "text/html", "<html>", long("x"), "no answer of a model"),
        ("400 Bad Request", "text/plain", "", long("no "), "the request was refused (400 Bad Request: no no"),
        ("503 Unavailable", "text/plain", "", long("no "), "busy or rate limited (503 Service Unavailable: no no"),
    ] {
        let (url, sent) = endless(status, content_type, first, piece);
        let error = ask(&model("openai", &url)).0.unwrap_err().to_string();
        assert!(error.contains(expected) && error.len() < 1000, "{first}: {error}");
        // What lies in the buffers of the connections comes on top of what was read.
        let sent = sent.load(Ordering::SeqCst);
        assert!(sent < 128 << 20, "{first}: it took {sent} bytes");
    }
}

#[test]
fn cancelling_is_heard_while_the_server_keeps_talking() {
    let event = format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": "a" } }] }));
    for (first, piece) in [("", event.repeat(1000)), ("data: ", "x".repeat(1024))] {
        let (url, sent) = endless("200 OK", "text/event-stream", first, piece);
        let is_cancelled = || sent.load(Ordering::SeqCst) > 100_000;
        let answer = model("openai", &url).ask(&question(), &mut Caller::new(&is_cancelled, &mut |_| ()));
        assert_eq!(answer, Err(LlmError::Cancelled));
    }
}

#[test]
fn foreign_words_do_nothing_to_a_terminal() {
    let bad = "\u{1b}[31mRED\u{1b}]0;pwned\u{7}\r\nverdict: faster\u{9b}2J\u{202e}";
    let error = json!({ "error": { "message": bad, "code": 400, "type": "invalid_request_error" }, "type": "error" });
    let withheld = json!({ "choices": [{ "delta": { "refusal": bad }, "finish_reason": "stop" }] });
    let blocked = json!({ "promptFeedback": { "blockReason": bad } });
    let page = ResponseTemplate::new(200).set_body_raw(bad, "text/html");
    for kind in ["openai", "anthropic", "gemini"] {
        for answer in [
            refused(400, bad),
            refused(401, bad),
            refused(503, bad),
            ResponseTemplate::new(404).set_body_string(bad),
            events(std::slice::from_ref(&error)),
            events(&[withheld.clone(), blocked.clone()]),
            ResponseTemplate::new(200).set_body_raw(format!("data: {bad}\n\n"), "text/event-stream"),
            page.clone(),
        ] {
            let error = ask(&model(kind, &Stub::new(vec![answer]).url())).0.unwrap_err().to_string();
            assert!(!error.contains(llm::foreign::is_hidden) && !error.contains('\n'), "{kind}: {error:?}");
        }
    }
    let named = json!({ "model": bad, "choices": [{ "delta": { "content": "a" }, "finish_reason": "stop" }] });
    let model = model("openai", &Stub::new(vec![events(&[named])]).url());
    assert!(ask(&model).0.is_ok());
    assert_eq!(model.ledger().take_calls()[0].model, "[31mRED]0;pwned verdict: faster2J");
}

#[test]
fn an_answer_that_is_cut_off_is_asked_for_with_a_higher_limit() {
    let stub = Stub::new(vec![openai("Beca", "length"), openai("Because of ba", "length"), good()]);
    assert_eq!(ask(&model("openai", &stub.url())).0.unwrap(), "Because of banks.");
    let limits: Vec<_> = stub.bodies().iter().map(|body| body["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(limits, [1024, 2048, 4096]);
    let stub = Stub::new(vec![openai("Beca", "length")]);
    let model = model("openai", &stub.url());
    let error = ask(&model).0.unwrap_err();
    assert!(error.to_string().contains("cut off at 4096 tokens"), "{error}");
    assert_eq!(model.ledger().spent().calls, 3, "what was cut off was paid for too");
}

#[test]
fn a_stream_that_breaks_off_is_asked_for_from_the_start() {
    let (url, count) = raw(|number, stream| {
        stream_head(stream);
        stream_piece(stream, "Because ");
        if number > 0 {
            stream_piece(stream, "of banks.");
            stream_end(stream);
        }
    });
    let (answer, heard) = ask(&model("openai", &url));
    assert_eq!(answer.unwrap(), "Because of banks.");
    assert_eq!((heard.as_str(), count.load(Ordering::SeqCst)), ("Because Because of banks.", 2));
}

#[test]
fn a_stream_that_ends_well_but_without_a_reason_is_no_answer() {
    let half = events(&[json!({ "choices": [{ "delta": { "content": "Beca" } }] })]);
    let stub = Stub::new(vec![half, good()]);
    assert_eq!(ask(&model("openai", &stub.url())).0.unwrap(), "Because of banks.");
    let error = json!({ "error": { "message": "the engine died", "code": 500 } });
    let stub = Stub::new(vec![events(&[error]), good()]);
    assert_eq!(ask(&model("openai", &stub.url())).0.unwrap(), "Because of banks.");
}

#[test]
fn a_limit_that_is_refused_when_it_is_raised_leaves_the_answer_cut_off() {
    let stub = Stub::new(vec![openai("Beca", "length"), refused(400, "max_tokens is too large: 2048")]);
    let error = ask(&model("openai", &stub.url())).0.unwrap_err();
    assert!(error.to_string().contains("cut off at 1024 tokens, and a longer one is refused"), "{error}");
    assert!(!error.is_outage());
}

#[test]
fn what_was_answered_in_vain_is_on_the_bill() {
    // What the server did not count is estimated from what was sent and heard: `Be brief.Why?` and some words.
    let started = json!({ "choices": [{ "delta": { "content": "Because of" } }] });
    let thinking = json!({ "choices": [{ "delta": { "reasoning_content": "Let me think." } }] });
    let refusing = json!({ "error": { "message": "the engine died", "code": 500 } });
    let events_of_anthropic = |more: Value| {
        let usage = json!({ "input_tokens": 45, "output_tokens": 1 });
        events(&[json!({ "type": "message_start", "message": { "model": "m-1", "usage": usage } }), more])
    };
    let overloaded = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    let delta = json!({ "type": "content_block_delta", "delta": { "text": "Because of banks" } });
    for (kind, answer, calls, input, output) in [
        ("openai", openai("", "stop"), 1, 100, 20),
        ("openai", openai("x", "content_filter"), 1, 100, 20),
        ("openai", events(std::slice::from_ref(&started)), 3, 4, 3),
        ("openai", events(&[thinking, json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] })]), 1, 4, 4),
        ("openai", events(&[started, refusing.clone()]), 3, 4, 3),
        ("openai", events(&[refusing]), 0, 0, 0),
        ("openai", ResponseTemplate::new(200).set_body_raw("data: {\n\n", "text/event-stream"), 1, 4, 0),
        ("openai", refused(500, "down"), 0, 0, 0),
        ("anthropic", events_of_anthropic(overloaded), 3, 45, 1),
        ("anthropic", events_of_anthropic(delta), 3, 45, 4),
    ] {
        let stub = Stub::new(vec![answer]);
        let model = model(kind, &stub.url());
        let error = ask(&model).0.unwrap_err();
        let spent = model.ledger().spent();
        assert_eq!((spent.calls, spent.input, spent.output), (calls, calls * input, calls * output), "{error}");
        let usd = (calls * input) as f64 / 1e6 + (calls * output) as f64 * 10.0 / 1e6;
        assert!((spent.usd - usd).abs() <= 40.0 * 0.5 / 1e6 + 1e-12, "{error}: {spent:?}");
        assert_eq!(model.ledger().take_calls().len() as u64, calls);
    }
}

#[test]
fn a_call_that_is_given_up_is_on_the_bill_with_what_was_heard() {
    let (url, _) = raw(|_, stream| {
        stream_head(stream);
        stream_piece(stream, "Because of banks");
        let _ = stream.read(&mut [0]);
    });
    let (cancelled, model) = (AtomicBool::new(false), model("openai", &url));
    let mut hear = |_: &str| cancelled.store(true, Ordering::SeqCst);
    let is_cancelled = || cancelled.load(Ordering::SeqCst);
    assert_eq!(model.ask(&question(), &mut Caller::new(&is_cancelled, &mut hear)), Err(LlmError::Cancelled));
    let spent = model.ledger().spent();
    assert_eq!((spent.calls, spent.input, spent.output), (1, 4, 4), "{spent:?}");
}

#[test]
fn no_attempt_is_made_above_a_limit() {
    // One that would raise the limit of its answer, one that would try again, one that would ask once more.
    let broken = events(&[json!({ "choices": [{ "delta": { "content": "Beca" } }] })]);
    for (answer, calls) in [(openai("Beca", "length"), 2), (broken, 2), (openai("no JSON", "stop"), 1)] {
        let stub = Stub::new(vec![answer]);
        let model = model("openai", &stub.url());
        model.ledger().limit(Limits { calls: Some(calls), ..Limits::default() });
        let mut nobody = |_: &str| ();
        let error = model.ask_json::<Vec<u32>>(&question(), &mut Caller::new(&|| false, &mut nobody)).unwrap_err();
        assert_eq!(error, LlmError::Overdrawn(format!("the budget of {calls} calls is used up ({calls})")));
        assert!(!error.is_outage() && stub.requests().len() as u64 == calls, "{error}");
    }
}

#[test]
fn questions_side_by_side_keep_a_limit_in_dollars() {
    // An answer costs 300 millionths, and might cost 10,244: the limit of 1024 tokens, and what is sent.
    let stub = Stub::new(vec![good()]);
    let model = model("openai", &stub.url());
    model.ledger().limit(Limits { usd: Some(0.001), ..Limits::default() });
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| ask(&model));
        }
    });
    let spent = model.ledger().spent();
    // One at a time: each might come to more than there is.
    assert_eq!(stub.requests().len(), 4, "{spent:?}");
    assert!(spent.usd < 0.001 + 0.0003, "{spent:?}");
}

#[test]
fn an_answer_is_whole_whatever_comes_after_its_end() {
    // A connection that stays open, one that breaks, junk, an error that comes too late.
    let patience = Patience { silence: Duration::from_millis(300), ..patience() };
    for after in ["open", "broken", "junk", "error"] {
        let (url, count) = raw(move |_, stream| {
            stream_head(stream);
            stream_piece(stream, "Because of banks.");
            stream_data(stream, &json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }).to_string());
            match after {
                "open" => drop(stream.read(&mut [0])),
                "junk" => drop(stream_data(stream, "{junk")),
                "error" => drop(stream_data(stream, &json!({ "error": { "code": 500 } }).to_string())),
                _ => {}
            }
        });
        let (answer, _) = ask(&model_with("openai", &url, patience));
        assert_eq!((answer.unwrap().as_str(), count.load(Ordering::SeqCst)), ("Because of banks.", 1), "{after}");
    }
    // Anthropic's last event ends it at once.
    let (url, _) = raw(|_, stream| {
        stream_head(stream);
        for event in [
            json!({ "type": "content_block_delta", "delta": { "text": "Because." } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
            json!({ "type": "message_stop" }),
            json!({ "type": "content_block_delta", "delta": { "text": "And nobody reads this." } }),
        ] {
            stream_data(stream, &event.to_string());
        }
        let _ = stream.read(&mut [0]);
    });
    assert_eq!(ask(&model("anthropic", &url)).0.unwrap(), "Because.");
}

#[test]
fn a_refusal_is_told_whole_and_an_empty_one_is_none() {
    let piece = |refusal: &str| json!({ "choices": [{ "delta": { "refusal": refusal } }] });
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
    let stub = Stub::new(vec![events(&[piece("I will "), piece(""), piece("not."), end.clone()])]);
    let error = ask(&model("openai", &stub.url())).0.unwrap_err();
    assert!(error.to_string().contains("withheld (I will not.)"), "{error}");
    let said = json!({ "choices": [{ "delta": { "content": "Because.", "refusal": "" } }] });
    let stub = Stub::new(vec![events(&[said, end])]);
    assert_eq!(ask(&model("openai", &stub.url())).0.unwrap(), "Because.");
}

#[test]
fn silence_and_a_slow_drip_end() {
    let patience = Patience { silence: Duration::from_millis(300), ..patience() };
    let (url, count) = raw(|_, stream| {
        stream_head(stream);
        let _ = stream.read(&mut [0]);
    });
    let error = ask(&model_with("openai", &url, patience)).0.unwrap_err();
    assert!(error.to_string().contains("no word for"), "{error}");
    assert_eq!(count.load(Ordering::SeqCst), 3);

    let patience = Patience { whole: Duration::from_millis(400), ..stub::patience() };
    let (url, _) = raw(|_, stream| {
        stream_head(stream);
        while stream_piece(stream, ".") {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let error = ask(&model_with("openai", &url, patience)).0.unwrap_err();
    assert!(error.to_string().contains("no end after"), "{error}");
}

#[test]
fn nobody_at_the_address_is_said_to_be_so() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = ask(&model("openai", &format!("http://{free}"))).0.unwrap_err();
    assert!(matches!(&error, LlmError::Unreachable { .. }), "{error}");
    assert!(error.to_string().to_lowercase().contains("refused"), "{error}");
}

#[test]
fn cancelling_returns_soon_and_closes_the_connection() {
    let closed = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&closed);
    let (url, _) = raw(move |_, stream| {
        stream_head(stream);
        stream_piece(stream, "Because ");
        // Returns when the other side closes.
        let _ = stream.read(&mut [0]);
        seen.store(true, Ordering::SeqCst);
    });
    let (cancelled, model) = (AtomicBool::new(false), model("openai", &url));
    let is_cancelled = || cancelled.load(Ordering::SeqCst);
    let mut began = None;
    let mut hear = |_: &str| {
        cancelled.store(true, Ordering::SeqCst);
        began = Some(Instant::now());
    };
    let answer = model.ask(&question(), &mut Caller::new(&is_cancelled, &mut hear));
    assert_eq!(answer, Err(LlmError::Cancelled));
    assert!(began.unwrap().elapsed() < Duration::from_secs(2));
    let began = Instant::now();
    while !closed.load(Ordering::SeqCst) && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(closed.load(Ordering::SeqCst), "the connection is still open");
}

#[test]
fn a_redirect_does_not_get_the_key() {
    let thief = Stub::new(vec![good()]);
    let stub = Stub::new(vec![ResponseTemplate::new(307).insert_header("location", thief.url())]);
    for kind in ["openai", "anthropic", "gemini"] {
        let error = ask(&model(kind, &stub.url())).0.unwrap_err();
        assert!(error.to_string().contains("redirects are not followed"), "{error}");
    }
    assert!(thief.requests().is_empty());
}

#[test]
fn how_far_an_answer_is_and_what_it_waits_for_are_heard() {
    let pieces = 12;
    let (url, _) = raw(move |number, stream| {
        if number == 0 {
            let _ = stream.write_all(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            return;
        }
        stream_head(stream);
        for _ in 0..pieces {
            stream_piece(stream, "four");
            std::thread::sleep(Duration::from_millis(60));
        }
        stream_end(stream);
    });
    let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
    let sink = Arc::clone(&heard);
    let name: llm::ModelName = "openai:m".parse().unwrap();
    let connection = Connection {
        base_url: Some(url),
        key: llm::key::Sources { given: Some(KEY.into()), command: None },
        patience: patience(),
        named_by_user: true,
        ..Connection::default()
    };
    let hearing = llm::Hearing::new(Arc::new(move |what| sink.lock().unwrap().push(what)));
    let options = llm::Options { hearing, ..options() };
    let model = llm::Model::new(name.clone(), connect(&name, &connection).unwrap(), options);
    let began = Instant::now();
    assert_eq!(ask(&model).0.unwrap().len(), 4 * pieces);
    let most = 1 + began.elapsed().as_millis() / 250;
    let heard = heard.lock().unwrap().clone();
    let Heard::Waiting { label, reason, .. } = &heard[0] else { panic!("{heard:?}") };
    assert!(label == "test" && reason.contains("503"), "{heard:?}");
    let so_far: Vec<usize> = heard[1..]
        .iter()
        .map(|what| match what {
            Heard::Answering { label, answers: 1, characters } if label == "test" => *characters,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(so_far.len() > 1 && so_far.len() as u128 <= most, "{so_far:?}");
    assert!(so_far.is_sorted() && so_far[0] >= 4 && so_far.iter().all(|count| *count <= 4 * pieces), "{so_far:?}");
}

/// What the whole process logs, at the finest level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_key_is_in_no_error_no_log_and_no_recording() {
    let log = Log::default();
    let sink = log.clone();
    let started = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(move || sink.clone())
        .try_init();
    started.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    for kind in ["openai", "anthropic", "gemini"] {
        for answer in [refused(401, &format!("Incorrect API key provided: {KEY}")), refused(500, KEY), good()] {
            let stub = Stub::new(vec![answer]);
            let name: llm::ModelName = format!("{kind}:m").parse().unwrap();
            let connection = Connection {
                base_url: Some(stub.url()),
                named_by_user: true,
                key: llm::key::Sources { given: Some(KEY.into()), command: None },
                ..Connection::default()
            };
            let recorder = Arc::new(llm::replay::Recorder::open(&path).unwrap());
            let options = llm::Options { recorder: Some(recorder), ..options() };
            let model = llm::Model::new(name.clone(), connect(&name, &connection).unwrap(), options);
            let answer = model.ask(&question(), &mut Caller::new(&|| false, &mut |_| ()));
            let told = format!("{answer:?} {}", answer.as_ref().err().map(ToString::to_string).unwrap_or_default());
            assert!(!told.contains(KEY), "{told}");
        }
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    assert!(recorded.contains("Because of banks.") && !recorded.contains(KEY), "{recorded}");
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("127.0.0.1"), "nothing of the connection was logged, so the test shows nothing: {log}");
    assert!(!log.contains(KEY), "{log}");
}
