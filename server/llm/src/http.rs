//! Questions over HTTP, answers as server-sent events; what is the same in every dialect.

use std::cell::Cell;
use std::time::Duration;

use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::{StreamExt, stream};
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use crate::error::LlmError;
use crate::key;
use crate::name::{Kind, ModelName};
use crate::provider::{Answer, Caller, Provider, Request, Stop, Usage, Used};
use crate::refusal::{self, Refused};

/// How often a call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Longest stream of one answer, in bytes; a server that sends more has gone mad.
const LONGEST: usize = 64 << 20;

/// Longest wait for what follows an answer's end: its usage, and the end of the stream.
const AFTER_END: Duration = Duration::from_secs(10);

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

    /// Reads one event's data.
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
            return self.stream(response, caller, answer.insert(Partial::default())).await;
        }
        let retry_after = refusal::retry_after(response.headers());
        let words = refusal::words_of(response).await;
        let detail = self.quote(&format!("{status}: {}", refusal::message_of(&words)));
        let refused = Refused { status, retry_after, words, detail };
        Err(refused.meaning(self.name.clone(), self.kind, self.key.is_some()))
    }

    async fn stream(
        &self,
        response: reqwest::Response,
        caller: &mut Caller<'_>,
        answer: &mut Partial,
    ) -> Result<(), LlmError> {
        let mut received = 0;
        let silence = &Cell::new(self.patience.silence);
        // Whatever comes is a sign of life, a comment that keeps the connection alive too.
        let timed = stream::unfold(Box::pin(response.bytes_stream()), |mut bytes| async move {
            let silence = silence.get();
            match timeout(silence, bytes.next()).await {
                Ok(None) => None,
                Ok(Some(chunk)) => {
                    let chunk = chunk.map_err(|error| format!("the answer broke off: {}", chain(&error.without_url())));
                    Some((chunk, bytes))
                }
                Err(_) => Some((Err(format!("no word for {:.0} s", silence.as_secs_f64())), bytes)),
            }
        });
        let bytes = timed.map(|chunk| {
            let chunk = chunk?;
            received += chunk.len();
            if received > LONGEST { Err("the answer does not end".to_owned()) } else { Ok(chunk) }
        });
        let mut events = std::pin::pin!(bytes.eventsource());
        loop {
            let taken = match events.next().await {
                None => return Ok(()),
                Some(Ok(event)) => self.take(event.data.trim(), caller, answer),
                Some(Err(error)) => Err(self.unreachable(broken(error))),
            };
            let is_complete = answer.stop.is_some();
            // An answer that is complete is not asked for again because of what comes after it.
            if answer.is_over || (is_complete && taken.is_err()) {
                return Ok(());
            }
            taken?;
            if is_complete {
                silence.set(self.patience.silence.min(AFTER_END));
            }
        }
    }

    /// Takes the data of one event.
    fn take(&self, data: &str, caller: &mut Caller<'_>, answer: &mut Partial) -> Result<(), LlmError> {
        answer.is_over |= data == "[DONE]";
        if data.is_empty() || answer.is_over {
            return Ok(());
        }
        let data: Value =
            serde_json::from_str(data).map_err(|_| self.unreadable(format!("not JSON: {}", quoted(data))))?;
        let before = answer.text.len();
        if let Err(trouble) = self.dialect.read(&data, answer) {
            answer.is_refused = true;
            return Err(self.trouble(trouble));
        }
        if answer.text.len() > before {
            caller.hear(&answer.text[before..]);
        }
        Ok(())
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

    fn quote(&self, text: &str) -> String {
        quoted(&key::redacted(text, self.key.as_ref()))
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

/// What broke a stream, without the parser's words around it.
fn broken(error: EventStreamError<String>) -> String {
    match error {
        EventStreamError::Transport(what) => what,
        other => format!("the answer is no stream of events: {other}"),
    }
}

/// The beginning of a text, on one line.
pub(crate) fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
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
