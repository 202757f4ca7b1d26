//! Questions over HTTP, answers as server-sent events; what is the same in every dialect.

use std::time::Duration;

use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::{StreamExt, stream};
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};

use crate::error::LlmError;
use crate::key;
use crate::name::{Kind, ModelName};
use crate::provider::{Answer, Caller, Provider, Request, Stop, Usage};

/// How often a call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Longest stream of one answer, in bytes; a server that sends more has gone mad.
const LONGEST: usize = 64 << 20;

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

    async fn ask(&self, request: &Request, caller: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let body = self.dialect.body(request, &self.model);
        let sent = self.client.post(self.address.clone()).json(&body).send();
        let response = timeout(self.patience.silence, sent)
            .await
            .map_err(|_| self.unreachable(format!("no word for {:.0} s", self.patience.silence.as_secs_f64())))?
            .map_err(|error| self.unreachable(chain(&error.without_url())))?;
        let status = response.status();
        if status.is_success() {
            return self.stream(response, caller).await;
        }
        let retry_after = retry_after(response.headers());
        // Its words only help; without them the status has to do.
        let words = timeout(Duration::from_secs(10), response.text()).await.ok().and_then(Result::ok);
        Err(self.refusal(status, retry_after, &words.unwrap_or_default()))
    }

    async fn stream(&self, response: reqwest::Response, caller: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let mut received = 0;
        let silence = self.patience.silence;
        // Whatever comes is a sign of life, a comment that keeps the connection alive too.
        let timed = stream::unfold(Box::pin(response.bytes_stream()), |mut bytes| async move {
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
        let mut answer = Partial::default();
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| self.unreachable(broken(error)))?;
            let data = event.data.trim();
            if data.is_empty() {
                continue;
            }
            if data == "[DONE]" {
                break;
            }
            let data: Value =
                serde_json::from_str(data).map_err(|_| self.unreadable(format!("not JSON: {}", quoted(data))))?;
            let before = answer.text.len();
            self.dialect.read(&data, &mut answer).map_err(|trouble| self.trouble(trouble))?;
            if answer.text.len() > before {
                caller.hear(&answer.text[before..]);
            }
        }
        self.finished(answer)
    }

    fn finished(&self, answer: Partial) -> Result<Answer, LlmError> {
        let Partial { text, usage, stop, model } = answer;
        let Some(stop) = stop else {
            return Err(self.unreachable("the answer broke off before its end".into()));
        };
        if text.trim().is_empty() && stop == Stop::End {
            return Err(self.unreadable("it is empty".into()));
        }
        let model = model.unwrap_or_else(|| self.model.clone());
        Ok(Answer { text, stop, usage: usage.unwrap_or_default(), model })
    }

    /// What a status other than success means.
    fn refusal(&self, status: StatusCode, retry_after: Option<Duration>, words: &str) -> LlmError {
        let who = self.name.clone();
        let detail = self.quote(&format!("{status}: {}", message_of(words)));
        let lower = words.to_lowercase();
        match status.as_u16() {
            401 | 403 if self.key.is_none() => {
                LlmError::NoKey { who, remedy: format!("the server wants one ({detail}); {}", key::remedy(self.kind)) }
            }
            401 | 403 => LlmError::KeyRefused { who, detail },
            // Gemini's way to say so.
            400 if lower.contains("api_key_invalid") || lower.contains("api key not valid") => {
                LlmError::KeyRefused { who, detail }
            }
            404 => LlmError::NotFound { who, detail },
            402 => LlmError::OutOfQuota { who, detail },
            429 if lower.contains("insufficient_quota") || lower.contains("credit balance") => {
                LlmError::OutOfQuota { who, detail }
            }
            408 | 409 | 425 | 429 | 500..=599 => LlmError::Busy { who, detail, retry_after },
            413 => LlmError::TooLong { who, detail },
            400 | 422 if is_about_length(&lower) => LlmError::TooLong { who, detail },
            300..=399 => {
                LlmError::NotFound { who, detail: format!("{status}: it redirects, and redirects are not followed") }
            }
            _ => LlmError::BadRequest { who, detail },
        }
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
        self.runtime.block_on(async {
            // Whatever loses is dropped, and with the answer's stream its connection.
            tokio::select! {
                biased;
                () = until(is_cancelled) => Err(LlmError::Cancelled),
                () = sleep(self.patience.whole) => {
                    Err(self.unreachable(format!("no end after {:.0} s", self.patience.whole.as_secs_f64())))
                }
                answer = self.ask(request, caller) => answer,
            }
        })
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

fn is_about_length(lower: &str) -> bool {
    ["exceed_context_size", "context_length_exceeded", "context length", "context window", "prompt is too long"]
        .iter()
        .any(|words| lower.contains(words))
        || (lower.contains("token") && lower.contains("exceeds the maximum"))
}

/// The message in a server's JSON, or its words as they are.
fn message_of(words: &str) -> String {
    let json: Option<Value> = serde_json::from_str(words).ok();
    // Gemini wraps a list around it.
    let json = json.map(|json| json.get(0).cloned().unwrap_or(json));
    let message = json.as_ref().and_then(|json| {
        let error = json.get("error").unwrap_or(json);
        error.get("message").unwrap_or(error).as_str().map(str::to_owned)
    });
    message.unwrap_or_else(|| words.trim().to_owned())
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

/// `retry-after-ms`, or `retry-after` in seconds. A date would need this machine's clock to be right; servers of models
/// send seconds.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1e3).or_else(|| number(RETRY_AFTER.as_str()))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_that_a_server_asks_for_is_read() {
        let check = |headers: &[(&'static str, &'static str)], expected: Option<f64>| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(*name, HeaderValue::from_static(value));
            }
            assert_eq!(retry_after(&map), expected.map(Duration::from_secs_f64), "{headers:?}");
        };
        check(&[], None);
        check(&[("retry-after", "7")], Some(7.0));
        check(&[("retry-after", "0.5")], Some(0.5));
        check(&[("retry-after-ms", "250"), ("retry-after", "1")], Some(0.25));
        check(&[("retry-after", "-3")], None);
        check(&[("retry-after", "soon")], None);
    }

    #[test]
    fn the_servers_words_are_found_and_cut() {
        let check = |words: &str, expected: &str| assert_eq!(message_of(words), expected);
        check(r#"{"error":{"message":"no","code":401}}"#, "no");
        check(r#"{"error":"no"}"#, "no");
        check(r#"[{"error":{"message":"no"}}]"#, "no");
        check(r#"{"message":"no"}"#, "no");
        check(" <html> ", "<html>");
        assert_eq!(quoted(&"ab ".repeat(200)).len(), QUOTED + 4);
    }
}
