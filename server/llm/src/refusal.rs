//! What a server's refusal means: its status, and what it says.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{StatusCode, Url};
use serde_json::Value;
use tokio::time::timeout;

use crate::error::LlmError;
use crate::key;
use crate::name::Kind;

/// How much is read of what a server says when it refuses, in bytes, and how long.
const LONGEST_REFUSAL: usize = 64 << 10;
const REFUSING: Duration = Duration::from_secs(10);

/// An answer with another status than success.
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    /// How long the server wants to be left alone.
    pub(crate) retry_after: Option<Duration>,
    /// All that it says.
    pub(crate) words: String,
    /// What is told of that, without the key.
    pub(crate) detail: String,
}

impl Refused {
    /// What it means. `who` is provider and model; `has_key` says whether a key was sent to `address`.
    pub(crate) fn meaning(self, who: String, kind: Kind, has_key: bool, address: &Url) -> LlmError {
        let Self { status, retry_after, words, detail } = self;
        let lower = words.to_lowercase();
        match status.as_u16() {
            401 | 403 if !has_key => {
                let remedy = key::remedy(kind, address);
                LlmError::NoKey { who, remedy: format!("the server wants one ({detail}); {remedy}") }
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
            400 | 422 if is_about_answers(&lower) => LlmError::LimitRefused { who, detail },
            400 | 422 if is_about_length(&lower) => LlmError::TooLong { who, detail },
            300..=399 => {
                LlmError::NotFound { who, detail: format!("{status}: it redirects, and redirects are not followed") }
            }
            _ => LlmError::BadRequest { who, detail },
        }
    }
}

/// What a server says when it refuses. Its words only help; without them the status has to do.
pub(crate) async fn words_of(mut response: reqwest::Response) -> String {
    let mut words = Vec::new();
    let reading = async {
        while let (true, Ok(Some(chunk))) = (words.len() < LONGEST_REFUSAL, response.chunk().await) {
            words.extend_from_slice(&chunk);
        }
    };
    // What came until then has to do.
    let _ = timeout(REFUSING, reading).await;
    words.truncate(LONGEST_REFUSAL);
    String::from_utf8_lossy(&words).into_owned()
}

fn is_about_length(lower: &str) -> bool {
    ["exceed_context_size", "context_length_exceeded", "context length", "context window", "prompt is too long"]
        .iter()
        .any(|words| lower.contains(words))
        || (lower.contains("token") && lower.contains("exceeds the maximum"))
}

/// Whether a refusal is about the limit of the answer, alone or together with the question.
fn is_about_answers(lower: &str) -> bool {
    let names_it = [
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "maxoutputtokens",
        "in the completion",
        "in the output",
        "completion tokens",
        "output tokens",
    ];
    // A server that wants another name for the limit has nothing against its size.
    let is_about_the_name = ["unsupported", "not supported", "unrecognized", "unknown"];
    names_it.iter().any(|words| lower.contains(words)) && !is_about_the_name.iter().any(|words| lower.contains(words))
}

/// The message in a server's JSON, or its words as they are.
pub(crate) fn message_of(words: &str) -> String {
    let json: Option<Value> = serde_json::from_str(words).ok();
    // Gemini wraps a list around it.
    let json = json.map(|json| json.get(0).cloned().unwrap_or(json));
    let message = json.as_ref().and_then(|json| {
        let error = json.get("error").unwrap_or(json);
        error.get("message").unwrap_or(error).as_str().map(str::to_owned)
    });
    message.unwrap_or_else(|| words.trim().to_owned())
}

/// `retry-after-ms`, or `retry-after` in seconds. A date would need this machine's clock to be right; servers of models
/// send seconds.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1e3).or_else(|| number(RETRY_AFTER.as_str()))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

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
    fn the_servers_words_are_found() {
        let check = |words: &str, expected: &str| assert_eq!(message_of(words), expected);
        check(r#"{"error":{"message":"no","code":401}}"#, "no");
        check(r#"{"error":"no"}"#, "no");
        check(r#"[{"error":{"message":"no"}}]"#, "no");
        check(r#"{"message":"no"}"#, "no");
        check(" <html> ", "<html>");
    }
}
