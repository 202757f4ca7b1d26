//! Questions over HTTP, answers as server-sent events; what is the same in every dialect.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use crate::error::LlmError;
use crate::events::{Events, TooLong};
use crate::name::{Kind, ModelName};
use crate::provider::{Answer, Caller, Provider, Request, Stop, Usage, Used};
use crate::refusal::{self, Refused};
use crate::{foreign, key};

/// How often a call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Longest stream of one answer, in bytes; a server that sends more has gone mad. Events are some hundred times as long as the
/// few letters that each brings.
const LONGEST: usize = 64 << 20;

/// Longest wait for what follows an answer's end: its usage, and the end of the stream.
const AFTER_END: Duration = Duration::from_secs(10);

/// Longest text of one answer, and longest answer in one piece, in bytes.
const LONGEST_TEXT: usize = 4 << 20;

/// How much of a server's own words is repeated in an error, in characters.
const QUOTED: usize = 300;

/// How long to wait for a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the next piece of an answer, the first included: a model may think for minutes before it writes.
    pub silence: Duration,
    /// For a whole answer.
    pub whole: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { connect: Duration::from_secs(15), silence: Duration::from_secs(300), whole: Duration::from_secs(1800) }
    }
}

/// How one provider writes questions and answers.
pub(crate) trait Dialect: Send + Sync {
    /// The address that questions go to.
    fn address(&self, base: &Url, model: &str) -> Result<Url, String>;

    /// Headers beside the key's.
    fn headers(&self) -> HeaderMap {
        HeaderMap::new()
    }

    /// The key's header: its name and what stands before the key.
    fn key_header(&self) -> (&'static str, &'static str);

    /// The question, to be answered as a stream.
    fn body(&self, request: &Request, model: &str) -> Value;

    /// Reads one event's data, or an answer that came in one piece.
    fn read(&self, data: &Value, answer: &mut Partial) -> Result<(), Trouble>;
}

/// An answer while it comes.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    pub(crate) text: String,
    pub(crate) usage: Option<Usage>,
    pub(crate) stop: Option<Stop>,
    pub(crate) model: Option<String>,
    /// Bytes of thinking, which is paid and not handed on.
    pub(crate) thought: usize,
    /// Nothing follows.
    pub(crate) is_over: bool,
    /// The server reported an error instead of going on.
    is_refused: bool,
}

impl Partial {
    /// What it used up; nothing where the server refused before it began.
    fn used(&self) -> Option<Used> {
        let (usage, heard) = (self.usage.unwrap_or_default(), self.text.len() + self.thought);
        let is_free = self.is_refused && heard == 0 && usage.total() == 0;
        (!is_free).then(|| Used { usage, heard, model: self.model.clone() })
    }
}

/// An error that a server reports in the middle of a stream.
#[derive(Debug)]
pub(crate) struct Trouble {
    /// Whether it may pass.
    pub(crate) passes: bool,
    pub(crate) detail: String,
}

/// A provider on the network.
pub(crate) struct HttpProvider<D> {
    name: String,
    kind: Kind,
    model: String,
    dialect: D,
    address: Url,
    key: Option<SecretString>,
    patience: Patience,
    client: Client,
    runtime: Runtime,
}

impl<D: Dialect> HttpProvider<D> {
    pub(crate) fn new(
        name: &ModelName,
        dialect: D,
        base: &Url,
        key: Option<SecretString>,
        patience: Patience,
    ) -> Result<Self, LlmError> {
        let setup = |why: String| LlmError::Setup(format!("{name}: {why}"));
        let address = dialect.address(base, &name.model).map_err(setup)?;
        let mut headers = dialect.headers();
        if let Some(key) = &key {
            let (header, before) = dialect.key_header();
            let mut value = HeaderValue::from_str(&format!("{before}{}", key.expose_secret()))
                .map_err(|_| setup("the key holds characters that no key has; set it again".into()))?;
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        // A second provider in the process finds it installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder()
            .default_headers(headers)
            .connect_timeout(patience.connect)
            // A redirect would carry the key's header to wherever it points.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("kernel-scientist/", env!("CARGO_PKG_VERSION")));
        if key::is_local(base) {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| setup(format!("no HTTP client: {}", chain(&error))))?;
        // With a thread of its own: a connection that was given up is closed there, when nobody waits in a call any more.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("llm")
            .enable_all()
            .build()
            .map_err(|error| setup(format!("no runtime: {error}")))?;
        let (kind, model) = (name.kind, name.model.clone());
        Ok(Self { name: name.to_string(), kind, model, dialect, address, key, patience, client, runtime })
    }

    /// Asks; what comes of it is in `answer`, from the moment on that the server agreed to give one.
    async fn ask(
        &self,
        request: &Request,
        caller: &mut Caller<'_>,
        answer: &mut Option<Partial>,
    ) -> Result<(), LlmError> {
        let body = self.dialect.body(request, &self.model);
        let sent = self.client.post(self.address.clone()).json(&body).send();
        let response = timeout(self.patience.silence, sent)
            .await
            .map_err(|_| self.unreachable(format!("no word for {:.0} s", self.patience.silence.as_secs_f64())))?
            .map_err(|error| self.unreachable(chain(&error.without_url())))?;
        let status = response.status();
        if status.is_success() {
            return self.read(response, caller, answer.insert(Partial::default())).await;
        }
        let retry_after = refusal::retry_after(response.headers());
        let words = refusal::words_of(response).await;
        let detail = self.quote(&format!("{status}: {}", refusal::message_of(&words)));
        let refused = Refused { status, retry_after, words, detail };
        Err(refused.meaning(self.name.clone(), self.kind, self.key.is_some(), &self.address))
    }

    /// Reads a successful response by how it begins: a stream of events, or, from servers that do not stream, an answer in one
    /// piece. Anything else is a page for people.
    async fn read(&self, response: Response, caller: &mut Caller<'_>, answer: &mut Partial) -> Result<(), LlmError> {
        let mut body = Body { response, received: 0, silence: self.patience.silence };
        let first = loop {
            match self.piece(&mut body, caller).await? {
                None => return Ok(()),
                Some(piece) if piece.trim_ascii().is_empty() => {}
                Some(piece) => break piece.trim_ascii_start().to_vec(),
            }
        };
        let kind = body.response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or("something without a content type").to_owned();
        if matches!(first[0], b'{' | b'[') {
            let mut whole = first;
            while let Some(piece) = self.piece(&mut body, caller).await? {
                whole.extend_from_slice(&piece);
                if whole.len() > LONGEST_TEXT {
                    return Err(self.endless());
                }
            }
            return self.take_whole(&whole, &kind, caller, answer);
        }
        if !kind.starts_with("text/event-stream") && !begins_events(&first) {
            answer.is_refused = true;
            return Err(self.no_answer(&kind, &first));
        }
        self.stream(first, &mut body, caller, answer).await
    }

    async fn stream(
        &self,
        first: Vec<u8>,
        body: &mut Body,
        caller: &mut Caller<'_>,
        answer: &mut Partial,
    ) -> Result<(), LlmError> {
        let (mut events, mut next) = (Events::default(), Some(first));
        while let Some(piece) = next {
            let taken = events.feed(&piece, &mut |data: &str| self.take(data.trim(), caller, answer));
            // An answer that is complete is not asked for again because of what comes after it.
            let is_complete = answer.stop.is_some();
            match taken {
                Ok(()) => {}
                Err(Halt::Over) => return Ok(()),
                Err(_) if is_complete => return Ok(()),
                Err(Halt::TooLong) => return Err(self.endless()),
                Err(Halt::Failed(error)) => return Err(error),
            }
            if is_complete {
                body.silence = self.patience.silence.min(AFTER_END);
            }
            next = match self.piece(body, caller).await {
                Err(error) if is_complete && error != LlmError::Cancelled => return Ok(()),
                piece => piece?,
            };
        }
        Ok(())
    }

    /// Takes the data of one event.
    fn take(&self, data: &str, caller: &mut Caller<'_>, answer: &mut Partial) -> Result<(), Halt> {
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            return Err(Halt::Over);
        }
        let data: Value =
            serde_json::from_str(data).map_err(|_| self.unreadable(format!("not JSON: {}", quoted(data))))?;
        let before = answer.text.len();
        self.read_part(&data, answer)?;
        if answer.text.len() > LONGEST_TEXT {
            return Err(Halt::TooLong);
        }
        if answer.text.len() > before {
            caller.hear(&answer.text[before..]);
        }
        if answer.is_over { Err(Halt::Over) } else { Ok(()) }
    }

    /// Takes an answer in one piece, or several of them in a list.
    fn take_whole(
        &self,
        bytes: &[u8],
        kind: &str,
        caller: &mut Caller<'_>,
        answer: &mut Partial,
    ) -> Result<(), LlmError> {
        let parts = match serde_json::from_slice(bytes) {
            Ok(Value::Array(parts)) => parts,
            Ok(one) => vec![one],
            Err(_) => Vec::new(),
        };
        for part in &parts {
            self.read_part(part, answer)?;
        }
        if answer.stop.is_none() {
            answer.is_refused = true;
            return Err(self.no_answer(kind, bytes));
        }
        caller.hear(&answer.text);
        Ok(())
    }

    fn read_part(&self, data: &Value, answer: &mut Partial) -> Result<(), LlmError> {
        self.dialect.read(data, answer).map_err(|trouble| {
            answer.is_refused = true;
            self.trouble(trouble)
        })
    }

    /// The next piece of a response; `None` at its end.
    async fn piece(&self, body: &mut Body, caller: &Caller<'_>) -> Result<Option<Vec<u8>>, LlmError> {
        // A server that always has more would keep the clocks and the one who cancels from their turns.
        tokio::task::yield_now().await;
        if caller.is_cancelled() {
            return Err(LlmError::Cancelled);
        }
        // Whatever comes is a sign of life, a comment that keeps the connection alive too.
        let piece = timeout(body.silence, body.response.chunk())
            .await
            .map_err(|_| self.unreachable(format!("no word for {:.0} s", body.silence.as_secs_f64())))?
            .map_err(|error| self.unreachable(format!("the answer broke off: {}", chain(&error.without_url()))))?;
        body.received += piece.as_ref().map_or(0, |piece| piece.len());
        if body.received > LONGEST {
            return Err(self.endless());
        }
        Ok(piece.map(|piece| piece.to_vec()))
    }

    fn finished(&self, answer: Partial) -> Result<Answer, LlmError> {
        let Partial { text, usage, stop, model, .. } = answer;
        let Some(stop) = stop else {
            return Err(self.unreachable("the answer broke off before its end".into()));
        };
        if text.trim().is_empty() && stop == Stop::End {
            return Err(self.unreadable("it is empty".into()));
        }
        let model = model.unwrap_or_else(|| self.model.clone());
        Ok(Answer { text, stop, usage: usage.unwrap_or_default(), model })
    }

    fn trouble(&self, trouble: Trouble) -> LlmError {
        let (who, detail) = (self.name.clone(), self.quote(&trouble.detail));
        if trouble.passes {
            return LlmError::Busy { who, detail, retry_after: None };
        }
        LlmError::BadRequest { who, detail }
    }

    fn unreachable(&self, detail: String) -> LlmError {
        LlmError::Unreachable { who: self.name.clone(), detail: self.quote(&detail) }
    }

    fn unreadable(&self, detail: String) -> LlmError {
        LlmError::Unreadable { who: self.name.clone(), detail: self.quote(&detail) }
    }

    fn endless(&self) -> LlmError {
        self.unreadable("it does not end".into())
    }

    /// What came is no answer and no error either, such as a page to log in at: so would the next be.
    fn no_answer(&self, kind: &str, bytes: &[u8]) -> LlmError {
        let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(QUOTED * 8)]);
        let detail = self.quote(&format!("it sent {kind} and no answer of a model: {beginning}"));
        LlmError::NotFound { who: self.name.clone(), detail }
    }

    fn quote(&self, text: &str) -> String {
        // Cleaned first: a key with something hidden in it would be found by nobody but a reader.
        quoted(&key::redacted(&foreign::one_line(text), self.key.as_ref()))
    }
}

impl<D: Dialect> Provider for HttpProvider<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn attempt(&self, request: &Request, caller: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let is_cancelled = caller.flag();
        let mut answer = None;
        let asked = self.runtime.block_on(async {
            // Whatever loses is dropped, and with the answer's stream its connection.
            tokio::select! {
                biased;
                () = until(is_cancelled) => Err(LlmError::Cancelled),
                () = sleep(self.patience.whole) => {
                    Err(self.unreachable(format!("no end after {:.0} s", self.patience.whole.as_secs_f64())))
                }
                asked = self.ask(request, caller, &mut answer) => asked,
            }
        });
        let used = answer.as_ref().and_then(Partial::used);
        let finished = asked.and_then(|()| self.finished(answer.unwrap_or_default()));
        if let (Err(_), Some(used)) = (&finished, used) {
            caller.note_used(used);
        }
        finished
    }
}

async fn until(is_cancelled: &dyn Fn() -> bool) {
    while !is_cancelled() {
        sleep(LOOK).await;
    }
}

/// A response while it comes.
struct Body {
    response: Response,
    /// Bytes so far.
    received: usize,
    /// How long to wait for the next piece.
    silence: Duration,
}

/// Why the reading of a stream stopped before its end.
enum Halt {
    /// The server said that this is all.
    Over,
    TooLong,
    Failed(LlmError),
}

impl From<LlmError> for Halt {
    fn from(error: LlmError) -> Self {
        Self::Failed(error)
    }
}

impl From<TooLong> for Halt {
    fn from(_: TooLong) -> Self {
        Self::TooLong
    }
}

/// Whether a text may be the beginning of a stream of events.
fn begins_events(text: &[u8]) -> bool {
    ["data:", "event:", "id:", "retry:", ":"].iter().map(|field| field.as_bytes()).any(|field| {
        let common = field.len().min(text.len());
        field[..common] == text[..common]
    })
}

/// The beginning of a text, on one line and without hidden characters.
pub(crate) fn quoted(text: &str) -> String {
    let line = foreign::one_line(text);
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line,
    }
}

/// An error with what caused it: the outermost alone says only that something failed.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_on_one_line() {
        assert_eq!(quoted(" a\n b "), "a b");
        assert_eq!(quoted(&"ab ".repeat(200)).len(), QUOTED + 4);
    }
}
