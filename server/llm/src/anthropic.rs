//! Anthropic's messages.
//!
//! Source: <https://docs.claude.com/en/api/messages> and its pages on streaming and structured outputs.

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::http::{Dialect, Partial, Trouble};
use crate::openai::below;
use crate::provider::{Request, Role, Stop, Usage};
use crate::structured;

pub(crate) struct Anthropic;

impl Dialect for Anthropic {
    fn address(&self, base: &Url, _: &str) -> Result<Url, String> {
        below(base, if base.path().trim_end_matches('/').ends_with("/v1") { "messages" } else { "v1/messages" })
    }

    fn headers(&self) -> HeaderMap {
        HeaderMap::from_iter([(
            reqwest::header::HeaderName::from_static("anthropic-version"),
            HeaderValue::from_static("2023-06-01"),
        )])
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-api-key", "")
    }

    fn body(&self, request: &Request, model: &str) -> Value {
        let messages: Vec<Value> = request
            .messages
            .iter()
            .map(|message| {
                let role = match message.role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                };
                json!({ "role": role, "content": message.text })
            })
            .collect();
        let mut body =
            json!({ "model": model, "max_tokens": request.max_tokens, "messages": messages, "stream": true });
        if !request.system.is_empty() {
            body["system"] = json!(request.system);
        }
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        if let Some(schema) = &request.schema {
            body["output_config"] =
                json!({ "format": { "type": "json_schema", "schema": structured::without_bounds(schema) } });
        }
        body
    }

    fn read(&self, data: &Value, answer: &mut Partial) -> Result<(), Trouble> {
        match data["type"].as_str().unwrap_or_default() {
            "error" => {
                let kind = data["error"]["type"].as_str().unwrap_or_default();
                let passes = ["overloaded_error", "api_error", "rate_limit_error", "timeout_error"].contains(&kind);
                let message = data["error"]["message"].as_str().unwrap_or_default();
                return Err(Trouble { passes, detail: format!("{kind}: {message}") });
            }
            // An answer in one piece.
            "message" => {
                answer.model = data["model"].as_str().map(str::to_owned);
                count(&data["usage"], answer);
                let blocks = data["content"].as_array().into_iter().flatten();
                blocks.filter_map(|block| block["text"].as_str()).for_each(|text| answer.text.push_str(text));
                stop(&data["stop_reason"], answer);
            }
            "message_start" => {
                answer.model = data["message"]["model"].as_str().map(str::to_owned);
                count(&data["message"]["usage"], answer);
            }
            "content_block_delta" => {
                if let Some(text) = data["delta"]["text"].as_str() {
                    answer.text.push_str(text);
                }
                answer.thought += data["delta"]["thinking"].as_str().map_or(0, str::len);
            }
            "message_stop" => answer.is_over = true,
            "message_delta" => {
                count(&data["usage"], answer);
                stop(&data["delta"]["stop_reason"], answer);
            }
            _ => {}
        }
        Ok(())
    }
}

fn stop(reason: &Value, answer: &mut Partial) {
    match reason.as_str() {
        None => {}
        Some("max_tokens" | "model_context_window_exceeded") => answer.stop = Some(Stop::Length),
        Some("refusal") => answer.stop = Some(Stop::Withheld("the model declined".into())),
        Some(_) => answer.stop = Some(Stop::End),
    }
}

/// Tokens from the cache, written to it or read, are counted apart from the others there.
fn count(usage: &Value, answer: &mut Partial) {
    let counted = answer.usage.get_or_insert_with(Usage::default);
    let part = |name: &str| usage[name].as_u64();
    if let Some(input) = part("input_tokens") {
        counted.cached = part("cache_read_input_tokens").unwrap_or(0);
        counted.input = input + counted.cached + part("cache_creation_input_tokens").unwrap_or(0);
    }
    if let Some(output) = part("output_tokens") {
        counted.output = output;
    }
}
