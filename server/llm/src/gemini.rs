//! Google's Gemini API.
//!
//! Source: <https://ai.google.dev/api/generate-content>.

use reqwest::Url;
use serde_json::{Value, json};

use crate::http::{Dialect, Partial, Trouble};
use crate::openai::below;
use crate::provider::{Request, Role, Stop, Usage};

pub(crate) struct Gemini;

impl Dialect for Gemini {
    fn address(&self, base: &Url, model: &str) -> Result<Url, String> {
        if !model.chars().all(|c| c.is_ascii_alphanumeric() || "-._/".contains(c)) {
            return Err(format!("`{model}` is no name of a Gemini model"));
        }
        let mut url = below(base, &format!("v1beta/models/{model}:streamGenerateContent"))?;
        url.set_query(Some("alt=sse"));
        Ok(url)
    }

    fn key_header(&self) -> (&'static str, &'static str) {
        ("x-goog-api-key", "")
    }

    fn body(&self, request: &Request, _: &str) -> Value {
        let contents: Vec<Value> = request
            .messages
            .iter()
            .map(|message| {
                let role = match message.role {
                    Role::User => "user",
                    Role::Assistant => "model",
                };
                json!({ "role": role, "parts": [{ "text": message.text }] })
            })
            .collect();
        let mut generation = json!({ "maxOutputTokens": request.max_tokens });
        if let Some(temperature) = request.temperature {
            generation["temperature"] = json!(temperature);
        }
        if let Some(seed) = request.seed {
            // It takes 32 bits with a sign.
            generation["seed"] = json!(seed & 0x7FFF_FFFF);
        }
        if let Some(schema) = &request.schema {
            generation["responseMimeType"] = json!("application/json");
            generation["responseJsonSchema"] = schema.clone();
        }
        let mut body = json!({ "contents": contents, "generationConfig": generation });
        if !request.system.is_empty() {
            body["systemInstruction"] = json!({ "parts": [{ "text": request.system }] });
        }
        body
    }

    fn read(&self, data: &Value, answer: &mut Partial) -> Result<(), Trouble> {
        if let Some(error) = data.get("error").filter(|error| !error.is_null()) {
            let passes = matches!(error["code"].as_u64(), Some(429 | 500..=599));
            return Err(Trouble { passes, detail: error["message"].as_str().unwrap_or("an error").to_owned() });
        }
        if let Some(model) = data["modelVersion"].as_str() {
            answer.model = Some(model.to_owned());
        }
        if let Some(reason) = data["promptFeedback"]["blockReason"].as_str() {
            answer.stop = Some(Stop::Withheld(format!("the question was blocked: {reason}")));
        }
        let candidate = &data["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            let is_thought = part["thought"].as_bool().unwrap_or(false);
            match (part["text"].as_str(), is_thought) {
                (Some(text), false) => answer.text.push_str(text),
                (Some(text), true) => answer.thought += text.len(),
                (None, _) => {}
            }
        }
        match candidate["finishReason"].as_str() {
            None => {}
            Some("STOP") => answer.stop = Some(Stop::End),
            Some("MAX_TOKENS") => answer.stop = Some(Stop::Length),
            Some(reason) => answer.stop = Some(Stop::Withheld(reason.to_owned())),
        }
        let usage = &data["usageMetadata"];
        if usage.is_object() {
            let part = |name: &str| usage[name].as_u64().unwrap_or(0);
            answer.usage = Some(Usage {
                input: part("promptTokenCount"),
                cached: part("cachedContentTokenCount"),
                output: part("candidatesTokenCount") + part("thoughtsTokenCount"),
                estimated: false,
            });
        }
        Ok(())
    }
}
