//! Every way in which servers are known to fail, and that each ends as documented.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stub;

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llm::connect::{Connection, Patience, connect};
use llm::{Caller, Heard, LlmError};
use serde_json::json;
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
