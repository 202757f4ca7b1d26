//! One attempt at one question, whoever answers it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::LlmError;

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The one who asks.
    User,
    /// The model, earlier in the conversation.
    Assistant,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What.
    pub text: String,
}

impl Message {
    /// A question.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, text: text.into() }
    }

    /// An answer that the model gave before.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, text: text.into() }
    }
}

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What it is for, such as `designer`: for progress lines and recordings. Not sent.
    pub label: String,
    /// Instructions that stand above the conversation.
    pub system: String,
    /// The conversation; the last turn is the question.
    pub messages: Vec<Message>,
    /// JSON schema of the answer, if it must be JSON. Providers that can are made to keep to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Tokens of the answer at most; [`crate::Model`] raises it where an answer is cut off.
    pub max_tokens: u32,
    /// How freely it chooses its words, where the provider takes it; the provider's own default without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Seed, where the provider takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Request {
    /// A question of one turn.
    pub fn new(label: impl Into<String>, system: impl Into<String>, question: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            system: system.into(),
            messages: vec![Message::user(question)],
            schema: None,
            max_tokens: 16_384,
            temperature: None,
            seed: None,
        }
    }

    /// Bytes of text that are sent, the schema included.
    pub fn bytes(&self) -> usize {
        let schema = self.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        self.system.len() + self.messages.iter().map(|message| message.text.len()).sum::<usize>() + schema
    }
}

/// Tokens that a call used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Sent, those from the provider's cache included.
    pub input: u64,
    /// Of those, read from the provider's cache at a lower price.
    #[serde(default)]
    pub cached: u64,
    /// Received, thinking included.
    pub output: u64,
    /// Whether these are estimates, because the provider did not say.
    #[serde(default)]
    pub estimated: bool,
}

impl Usage {
    /// Sent and received.
    pub fn total(&self) -> u64 {
        self.input + self.output
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// It was complete.
    End,
    /// It ran into its limit of tokens.
    Length,
    /// The provider withheld the rest, for this reason.
    Withheld(String),
}

/// What came back from one attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// Why it ended.
    pub stop: Stop,
    /// Tokens used.
    pub usage: Usage,
    /// The model that answered, as the provider names it.
    pub model: String,
}

/// What an attempt used up that gave no answer, as far as is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// Tokens, as the provider counted them up to there; what it did not say is 0.
    pub usage: Usage,
    /// Bytes of the answer that were received, thinking included.
    pub heard: usize,
    /// The model, if the provider named it.
    pub model: Option<String>,
}

/// Who waits for an answer.
pub struct Caller<'a> {
    cancelled: &'a dyn Fn() -> bool,
    piece: &'a mut dyn FnMut(&str),
    used: Option<Used>,
}

impl<'a> Caller<'a> {
    /// `cancelled` is asked some fifty times a second; `piece` hears the answer as it comes. Where an attempt is made again,
    /// `piece` hears the answer from the start.
    pub fn new(cancelled: &'a dyn Fn() -> bool, piece: &'a mut dyn FnMut(&str)) -> Self {
        Self { cancelled, piece, used: None }
    }

    /// Whether the call is to end.
    pub fn is_cancelled(&self) -> bool {
        (self.cancelled)()
    }

    /// The same, for a wait that borrows it beside [`Caller::hear`].
    pub(crate) fn flag(&self) -> &'a dyn Fn() -> bool {
        self.cancelled
    }

    /// Takes note of what an attempt used up that comes to an error: it is to be paid all the same.
    pub fn note_used(&mut self, used: Used) {
        self.used = Some(used);
    }

    /// What the last attempt used up in vain.
    pub(crate) fn take_used(&mut self) -> Option<Used> {
        self.used.take()
    }

    /// Hands on a piece of the answer.
    pub fn hear(&mut self, text: &str) {
        (self.piece)(text);
    }
}

/// Answers questions, one attempt at a time.
pub trait Provider: Send + Sync {
    /// Provider and model, such as `openai:gpt-5`; for messages.
    fn name(&self) -> &str;

    /// Asks once. [`crate::Model`] tries again where [`LlmError::is_transient`] says that it may help. What was used up before an
    /// error goes to [`Caller::note_used`].
    ///
    /// # Errors
    /// [`LlmError`]. An answer that was cut off in between is an error; one that ran into its limit is an [`Answer`] that
    /// says so.
    fn attempt(&self, request: &Request, caller: &mut Caller<'_>) -> Result<Answer, LlmError>;

    /// Whether the answers come from a file: nothing is spent, and nothing is to be waited for.
    fn is_recorded(&self) -> bool {
        false
    }
}
