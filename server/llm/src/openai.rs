//! OpenAI's chat completions, which vLLM, Ollama, llama.cpp, LM Studio, OpenRouter and others speak too.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat>.

use reqwest::Url;
use serde_json::{Value, json};

use crate::http::{Dialect, Partial, Trouble};
use crate::name::Kind;
use crate::provider::{Request, Role, Stop, Usage};
use crate::structured;

pub(crate) struct OpenAi {
    /// OpenAI itself: it has a newer name for the limit, and a strict mode that other servers refuse or ignore.
    is_openai: bool,
}

impl OpenAi {
    pub(crate) fn new(base: &Url) -> Self {
        let own = Url::parse(Kind::OpenAi.base_url()).ok();
        Self { is_openai: own.is_some_and(|own| own.origin() == base.origin()) }
    }
}

impl Dialect for OpenAi {
    fn address(&self, base: &Url, _: &str) -> Result<Url, String> {
        below(base, "chat/completions")
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("authorization", "Bearer ")
    }

    fn body(&self, request: &Request, model: &str) -> Value {
        let mut messages = Vec::new();
        if !request.system.is_empty() {
            messages.push(json!({ "role": "system", "content": request.system }));
        }
        messages.extend(request.messages.iter().map(|message| {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({ "role": role, "content": message.text })
        }));
        let mut body = json!({
            "model": model,
            "messages": messages,
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        let limit = if self.is_openai { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(request.max_tokens);
        if let Some(temperature) = request.temperature {
            body["temperature"] = json!(temperature);
        }
        if let Some(seed) = request.seed {
            body["seed"] = json!(seed);
        }
        if let Some(schema) = &request.schema {
            let schema = if self.is_openai { structured::strict(schema) } else { schema.clone() };
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": { "name": "answer", "strict": true, "schema": schema },
            });
        }
        body
    }

    fn read(&self, data: &Value, answer: &mut Partial) -> Result<(), Trouble> {
        if let Some(error) = data.get("error").filter(|error| !error.is_null()) {
            let code = error.get("code").map(Value::to_string).unwrap_or_default();
            let passes = ["429", "500", "502", "503", "529", "server_error", "overloaded", "rate_limit"]
                .iter()
                .any(|word| code.contains(word) || error.to_string().contains(&format!("\"{word}")));
            return Err(Trouble { passes, detail: error.get("message").unwrap_or(error).to_string() });
        }
        if let Some(model) = data["model"].as_str() {
            answer.model.get_or_insert_with(|| model.to_owned());
        }
        let choice = &data["choices"][0];
        // An answer in one piece has it under another name.
        let said = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        if let Some(text) = said["content"].as_str() {
            answer.text.push_str(text);
        }
        for name in ["reasoning_content", "reasoning"] {
            answer.thought += said[name].as_str().map_or(0, str::len);
        }
        // It comes in pieces; some servers send an empty one with every answer.
        if let Some(refusal) = said["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
            match &mut answer.stop {
                Some(Stop::Withheld(reason)) => reason.push_str(refusal),
                stop => *stop = Some(Stop::Withheld(refusal.to_owned())),
            }
        }
        match choice["finish_reason"].as_str() {
            None => {}
            Some("length") => answer.stop = Some(Stop::Length),
            Some("content_filter") => answer.stop = Some(Stop::Withheld("content filter".into())),
            Some(_) => {
                answer.stop.get_or_insert(Stop::End);
            }
        }
        let usage = &data["usage"];
        if usage.is_object() {
            let count = |value: &Value| value.as_u64().unwrap_or(0);
            answer.usage = Some(Usage {
                input: count(&usage["prompt_tokens"]),
                cached: count(&usage["prompt_tokens_details"]["cached_tokens"]),
                output: count(&usage["completion_tokens"]),
                estimated: false,
            });
        }
        Ok(())
    }
}

/// An address below a base, whether or not that ends with a slash.
pub(crate) fn below(base: &Url, path: &str) -> Result<Url, String> {
    let text = format!("{}/{path}", base.as_str().trim_end_matches('/'));
    Url::parse(&text).map_err(|error| format!("the base URL cannot be used: {error}"))
}
