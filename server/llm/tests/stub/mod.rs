//! Stubs of providers: one that answers as told, and one that misbehaves on the wire itself.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llm::connect::{Connection, Patience, connect};
use llm::key::Sources;
use llm::{Caller, LlmError, Model, ModelName, Options, Price, Request, Retry};
use secrecy::SecretString;
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

pub const KEY: &str = "sk-very-secret-0123456789";

/// A server that gives these answers in this order, the last again and again.
pub struct Stub {
    runtime: tokio::runtime::Runtime,
    server: MockServer,
}

impl Stub {
    pub fn new(answers: Vec<ResponseTemplate>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(MockServer::start());
        let next = AtomicUsize::new(0);
        let answer = move |_: &wiremock::Request| {
            let at = next.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
            answers[at].clone()
        };
        runtime.block_on(Mock::given(any()).respond_with(answer).mount(&server));
        Self { runtime, server }
    }

    pub fn url(&self) -> String {
        self.server.uri()
    }

    pub fn requests(&self) -> Vec<wiremock::Request> {
        self.runtime.block_on(self.server.received_requests()).unwrap()
    }

    /// The body of each request.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().iter().map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }
}

/// A response of server-sent events.
pub fn events(events: &[Value]) -> ResponseTemplate {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    ResponseTemplate::new(200).set_body_raw(body, "text/event-stream")
}

/// An answer as OpenAI sends it, in two pieces.
pub fn openai(text: &str, finish: &str) -> ResponseTemplate {
    let half = text.len() / 2;
    let half = (half..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap();
    let piece = |text: &str| json!({ "model": "m-1", "choices": [{ "delta": { "content": text } }] });
    events(&[
        piece(&text[..half]),
        piece(&text[half..]),
        json!({ "model": "m-1", "choices": [{ "delta": {}, "finish_reason": finish }] }),
        json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 20,
                "prompt_tokens_details": { "cached_tokens": 40 } } }),
    ])
}

pub fn refused(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({ "error": { "message": message } }))
}

pub fn patience() -> Patience {
    Patience { connect: Duration::from_secs(20), silence: Duration::from_secs(20), whole: Duration::from_secs(40) }
}

pub fn options() -> Options {
    let retry = Retry { times: 2, first: Duration::from_millis(1), longest: Duration::from_secs(2) };
    let price = Some(Price { input: 1.0, cached: 0.5, output: 10.0 });
    Options { retry, price, max_output_tokens: 4096, ..Options::default() }
}

/// A model of a provider at an address, with the key in hand.
pub fn model_with(kind: &str, url: &str, patience: Patience) -> Model {
    let name: ModelName = format!("{kind}:m").parse().unwrap();
    let connection = Connection {
        base_url: Some(url.to_owned()),
        named_by_user: true,
        key: Sources { given: Some(SecretString::from(KEY)), command: None },
        patience,
        ..Connection::default()
    };
    let provider = connect(&name, &connection).unwrap();
    Model::new(name, provider, options())
}

pub fn model(kind: &str, url: &str) -> Model {
    model_with(kind, url, patience())
}

pub fn question() -> Request {
    Request { max_tokens: 1024, ..Request::new("test", "Be brief.", "Why?") }
}

/// Asks, and gives back the answer's text and all that was heard.
pub fn ask(model: &Model) -> (Result<String, LlmError>, String) {
    let mut heard = String::new();
    let mut hear = |text: &str| heard.push_str(text);
    let answer = model.ask(&question(), &mut Caller::new(&|| false, &mut hear));
    (answer.map(|answer| answer.text), heard)
}

/// A server on the bare socket: `serve` is given each connection, with its number, after the request was read.
pub fn raw(serve: impl Fn(usize, &mut TcpStream) + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (serve, number) = (Arc::clone(&serve), counter.fetch_add(1, Ordering::SeqCst));
            std::thread::spawn(move || {
                read_request(&mut stream);
                serve(number, &mut stream);
            });
        }
    });
    (url, count)
}

fn read_request(stream: &mut TcpStream) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).unwrap_or(0);
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if count == 0 {
                return;
            }
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        if count == 0 || body.len() >= length.unwrap_or(0) {
            return;
        }
    }
}

/// The head of a stream without a length: it ends with the connection.
pub fn stream_head(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
}

pub fn stream_piece(stream: &mut TcpStream, text: &str) -> bool {
    stream_data(stream, &json!({ "choices": [{ "delta": { "content": text } }] }).to_string())
}

pub fn stream_data(stream: &mut TcpStream, data: &str) -> bool {
    let event = format!("data: {data}\n\n");
    stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).and_then(|()| stream.flush()).is_ok()
}

pub fn stream_end(stream: &mut TcpStream) {
    let event = format!("data: {}\n\n", json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }));
    let _ = stream.write_all(format!("{:x}\r\n{event}\r\n0\r\n\r\n", event.len()).as_bytes());
    let _ = stream.flush();
}
