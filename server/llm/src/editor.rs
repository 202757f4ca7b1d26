//! Models that the editor has (GitHub Copilot's and others, by VS Code's Language Model API).
//!
//! This crate knows no editor's protocol: the language server implements [`EditorModels`] with a request of its own to the
//! client. What such models do not have is made up for here: no system role (the instructions stand at the head of the
//! first question), no response format (the schema is put into words), no count of tokens (it is estimated), no reason why
//! an answer ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::LlmError;
use crate::provider::{Answer, Caller, Message, Provider, Request, Role, Stop, Usage, Used};

/// What the editor is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EditorRequest {
    /// What it is for, such as `designer`.
    pub label: String,
    /// The model, as the user named it; absent for whichever the editor offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The conversation, instructions included.
    pub messages: Vec<Message>,
    /// JSON schema of the answer, for clients that can hold the model to it (by a tool that must be called, whose input is
    /// then the answer). It stands in the last message in words, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Tokens of the answer at most.
    pub max_tokens: u32,
}

/// What the editor answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EditorAnswer {
    /// The text; for a tool that had to be called, its input as JSON.
    pub text: String,
    /// The model that answered.
    #[serde(default)]
    pub model: Option<String>,
    /// Whether it knows that the answer was cut off.
    #[serde(default)]
    pub truncated: bool,
}

/// Why the editor has no answer. The first three are those of VS Code's `LanguageModelError`, the next two names that GitHub
/// Copilot gives its errors (`ChatRateLimited`, `ChatQuotaExceeded`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "camelCase")]
pub enum EditorError {
    /// The user has not allowed it, or has taken that back.
    NoPermissions {
        /// The editor's words.
        message: String,
    },
    /// The extension may not use the model for the time being, mostly since it asked too often.
    Blocked {
        /// The editor's words.
        message: String,
    },
    /// There is no such model.
    NotFound {
        /// The editor's words.
        message: String,
    },
    /// Asked too often.
    RateLimited {
        /// The editor's words.
        message: String,
        /// Seconds to wait, where known.
        #[serde(default)]
        retry_after_s: Option<f64>,
    },
    /// The user's quota is used up.
    OutOfQuota {
        /// The editor's words.
        message: String,
    },
    /// What it answered is not in its own protocol.
    Unreadable {
        /// What is wrong with it.
        message: String,
    },
    /// The editor has no models at all, or went away.
    Unsupported {
        /// What is missing.
        message: String,
    },
    /// The call was cancelled.
    Cancelled,
    /// Anything else.
    Other {
        /// The editor's words.
        message: String,
    },
}

/// Asks the editor's models; the language server implements it.
pub trait EditorModels: Send + Sync {
    /// Sends a question and waits for the whole answer. Pieces go to [`Caller::hear`] as they come; the call ends, and is
    /// cancelled at the editor, soon after [`Caller::is_cancelled`].
    ///
    /// # Errors
    /// [`EditorError`].
    fn ask(&self, request: &EditorRequest, caller: &mut Caller<'_>) -> Result<EditorAnswer, EditorError>;
}

/// The editor's models as a provider.
pub struct EditorProvider<M> {
    name: String,
    model: Option<String>,
    models: M,
}

impl<M: EditorModels> EditorProvider<M> {
    /// `model` as the user named it; `None` for whichever the editor offers.
    pub fn new(models: M, model: Option<String>) -> Self {
        let name = model.as_ref().map_or_else(|| "editor".to_owned(), |model| format!("editor:{model}"));
        Self { name, model, models }
    }

    fn explain(&self, error: EditorError) -> LlmError {
        let who = self.name.clone();
        match error {
            EditorError::Cancelled => LlmError::Cancelled,
            EditorError::NoPermissions { message } => LlmError::NotAllowed { who, detail: message },
            EditorError::Blocked { message } => LlmError::Busy { who, detail: message, retry_after: None },
            EditorError::OutOfQuota { message } => LlmError::OutOfQuota { who, detail: message },
            EditorError::Unreadable { message } => LlmError::Unreadable { who, detail: message },
            EditorError::NotFound { message } => LlmError::NotFound { who, detail: message },
            EditorError::RateLimited { message, retry_after_s } => LlmError::Busy {
                who,
                detail: message,
                retry_after: retry_after_s.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            },
            EditorError::Unsupported { message } => {
                LlmError::Setup(format!("{who}: {message}; use a provider with a key, or the catalog"))
            }
            EditorError::Other { message } => LlmError::Unreachable { who, detail: message },
        }
    }
}

impl<M: EditorModels> Provider for EditorProvider<M> {
    fn name(&self) -> &str {
        &self.name
    }

    fn attempt(&self, request: &Request, caller: &mut Caller<'_>) -> Result<Answer, LlmError> {
        let asked = EditorRequest {
            label: request.label.clone(),
            model: self.model.clone(),
            messages: in_words(request),
            schema: request.schema.clone(),
            max_tokens: request.max_tokens,
        };
        let answer = self.models.ask(&asked, caller).map_err(|error| self.explain(error))?;
        let sent: usize = asked.messages.iter().map(|message| message.text.len()).sum();
        if answer.text.trim().is_empty() {
            let usage = Usage { input: tokens(sent), estimated: true, ..Usage::default() };
            caller.note_used(Used { usage, heard: 0, model: answer.model });
            return Err(LlmError::Unreadable { who: self.name.clone(), detail: "it is empty".into() });
        }
        Ok(Answer {
            stop: if answer.truncated { Stop::Length } else { Stop::End },
            usage: Usage { input: tokens(sent), cached: 0, output: tokens(answer.text.len()), estimated: true },
            model: answer.model.or_else(|| self.model.clone()).unwrap_or_else(|| "editor".into()),
            text: answer.text,
        })
    }
}

/// Tokens of a text of so many bytes, at the usual four to a token.
pub(crate) fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// The conversation with instructions and schema in its turns.
fn in_words(request: &Request) -> Vec<Message> {
    let mut messages = request.messages.clone();
    if let Some(first) = messages.iter_mut().find(|message| message.role == Role::User)
        && !request.system.is_empty()
    {
        first.text = format!("{}\n\n{}", request.system, first.text);
    }
    if let (Some(last), Some(schema)) = (messages.last_mut(), &request.schema) {
        last.text =
            format!("{}\n\nAnswer with one JSON object that fits this schema, and nothing else:\n{schema}", last.text);
    }
    messages
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Scripted(Mutex<Vec<EditorRequest>>, Result<EditorAnswer, EditorError>);

    impl EditorModels for Scripted {
        fn ask(&self, request: &EditorRequest, caller: &mut Caller<'_>) -> Result<EditorAnswer, EditorError> {
            self.0.lock().unwrap().push(request.clone());
            if let Ok(answer) = &self.1 {
                caller.hear(&answer.text);
            }
            self.1.clone()
        }
    }

    fn ask(answer: Result<EditorAnswer, EditorError>) -> (Result<Answer, LlmError>, EditorRequest, String) {
        let provider = EditorProvider::new(Scripted(Mutex::default(), answer), Some("gpt-4o".into()));
        let mut request = Request::new("designer", "Be brief.", "Why?");
        request.schema = Some(serde_json::json!({ "type": "object" }));
        let mut heard = String::new();
        let mut hear = |text: &str| heard.push_str(text);
        let answer = provider.attempt(&request, &mut Caller::new(&|| false, &mut hear));
        let asked = provider.models.0.lock().unwrap().remove(0);
        (answer, asked, heard)
    }

    #[test]
    fn what_editors_models_lack_is_made_up_for() {
        let given = EditorAnswer { text: "{}".into(), model: Some("copilot/gpt-4o".into()), truncated: false };
        let (answer, asked, heard) = ask(Ok(given));
        let answer = answer.unwrap();
        assert_eq!((answer.stop, answer.model.as_str(), heard.as_str()), (Stop::End, "copilot/gpt-4o", "{}"));
        assert!(answer.usage.estimated && answer.usage.input > 0, "{:?}", answer.usage);
        let text = &asked.messages[0].text;
        assert!(text.starts_with("Be brief.\n\nWhy?") && text.contains(r#"{"type":"object"}"#), "{text}");
        let json = serde_json::to_value(&asked).unwrap();
        assert_eq!((&json["maxTokens"], &json["model"]), (&16_384.into(), &"gpt-4o".into()));
    }

    #[test]
    fn errors_keep_their_kind() {
        let message = || "words".to_owned();
        for (error, is_outage) in [
            (EditorError::NoPermissions { message: message() }, true),
            (EditorError::Blocked { message: message() }, true),
            (EditorError::OutOfQuota { message: message() }, true),
            (EditorError::Unreadable { message: message() }, false),
            (EditorError::NotFound { message: message() }, true),
            (EditorError::RateLimited { message: message(), retry_after_s: Some(7200.0) }, true),
            (EditorError::Unsupported { message: message() }, true),
            (EditorError::Other { message: message() }, true),
        ] {
            let found = ask(Err(error.clone())).0.unwrap_err();
            assert_eq!(found.is_outage(), is_outage, "{error:?}");
            assert!(found.to_string().contains("words") && !found.to_string().contains("check the key"), "{found}");
            let json = serde_json::to_string(&error).unwrap();
            assert_eq!(serde_json::from_str::<EditorError>(&json).unwrap(), error);
        }
        assert_eq!(ask(Err(EditorError::Cancelled)).0, Err(LlmError::Cancelled));
        let empty = EditorAnswer { text: " ".into(), model: None, truncated: false };
        assert!(matches!(ask(Ok(empty)).0, Err(LlmError::Unreadable { .. })));
    }
}
