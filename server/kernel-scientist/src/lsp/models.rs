//! The editor's own models, asked through the client: by request, with the answer's parts as they come, given up by
//! `$/cancelRequest`.
//!
//! An editor asks its user for consent at the first request, which must follow an action of the user's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lab::Cancel;
use serde_json::Value;
use tower_lsp::jsonrpc;

use super::outbox::Outbox;
use super::protocol::{ModelAnswer, ModelFailure, ModelFailureKind, ModelMessage, ModelParams, ModelPart, ModelTool};

/// Longest wait for the next sign of life.
const PATIENCE: Duration = Duration::from_secs(300);
/// How often it is asked whether somebody wants it to stop.
const TICK: Duration = Duration::from_millis(20);

/// What is asked of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelQuestion {
    /// The model that is wished for; `None` for the editor's choice.
    pub model: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<ModelMessage>,
    /// The tool that the answer must be given by.
    pub tool: Option<ModelTool>,
    /// Why it is asked.
    pub justification: String,
    /// A user's action led to it.
    pub is_of_user: bool,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The client has no models.
    #[error("this editor does not offer its models to the server")]
    Unsupported,
    /// The editor's own reason.
    #[error("{}: {message}", in_words(*.kind))]
    Editor {
        /// Which kind.
        kind: ModelFailureKind,
        /// In the editor's words.
        message: String,
    },
    /// It said nothing for too long.
    #[error("the editor's model did not answer within {} s", PATIENCE.as_secs())]
    Silent,
    /// The answer is not what the protocol says.
    #[error("the editor's answer cannot be read: {0}")]
    Unreadable(String),
    /// Somebody asked it to stop.
    #[error("cancelled")]
    Cancelled,
}

fn in_words(kind: ModelFailureKind) -> &'static str {
    match kind {
        ModelFailureKind::NoPermissions => "the editor's models may not be used (allow it when the editor asks)",
        ModelFailureKind::Blocked => "the editor's models are blocked for this extension for the time being",
        ModelFailureKind::RateLimited => "the editor's models were asked too often",
        ModelFailureKind::OutOfQuota => "the quota of the editor's models is used up",
        ModelFailureKind::NotFound => "the editor has no such model",
        ModelFailureKind::Other => "the editor's model failed",
    }
}

enum Sign {
    Part(String),
    Answer(Result<Value, jsonrpc::Error>),
}

/// The editor's models, for threads that may block.
#[derive(Clone)]
pub struct EditorModels {
    outbox: Outbox,
    waiting: Arc<Mutex<HashMap<String, Sender<Sign>>>>,
    last: Arc<AtomicU64>,
}

impl EditorModels {
    /// Models behind `outbox`.
    pub fn new(outbox: Outbox) -> Self {
        Self { outbox, waiting: Arc::default(), last: Arc::default() }
    }

    /// Takes a part of an answer. One that nobody waits for is left out: its request was given up.
    pub fn part(&self, part: ModelPart) {
        if let Some(sender) = self.waiting().get(&part.token) {
            let _ = sender.send(Sign::Part(part.text));
        }
    }

    /// Asks and waits for the answer; `hear` gets its parts. Blocks.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn ask(
        &self,
        question: ModelQuestion,
        cancel: &Cancel,
        hear: &mut dyn FnMut(&str),
    ) -> Result<ModelAnswer, ModelError> {
        let token = format!("kernel-scientist/model/{}", self.last.fetch_add(1, Ordering::SeqCst) + 1);
        let ModelQuestion { model, messages, tool, justification, is_of_user } = question;
        let params = ModelParams { token: token.clone(), model, messages, tool, justification, is_of_user };
        let (sender, signs) = channel();
        self.waiting().insert(token.clone(), sender.clone());
        // The request's own number is the token, so that it can be given up by it.
        self.outbox.ask_model(&params, move |answer| drop(sender.send(Sign::Answer(answer))));
        let answer = wait(&signs, cancel, hear);
        self.waiting().remove(&token);
        if matches!(answer, Err(ModelError::Cancelled | ModelError::Silent)) {
            self.outbox.give_up(&token);
        }
        answer
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<String, Sender<Sign>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait(signs: &Receiver<Sign>, cancel: &Cancel, hear: &mut dyn FnMut(&str)) -> Result<ModelAnswer, ModelError> {
    let mut heard = Instant::now();
    // Asked before each part too: a model may send them without a pause.
    while !cancel.is_cancelled() {
        match signs.recv_timeout(TICK) {
            Ok(Sign::Part(text)) => {
                hear(&text);
                heard = Instant::now();
            }
            Ok(Sign::Answer(Ok(answer))) => {
                return serde_json::from_value(answer).map_err(|error| ModelError::Unreadable(error.to_string()));
            }
            Ok(Sign::Answer(Err(error))) => return Err(ModelError::of(error)),
            Err(RecvTimeoutError::Timeout) if heard.elapsed() < PATIENCE => {}
            Err(_) => return Err(ModelError::Silent),
        }
    }
    Err(ModelError::Cancelled)
}

impl ModelError {
    fn of(error: jsonrpc::Error) -> Self {
        let failure = error.data.and_then(|data| serde_json::from_value::<ModelFailure>(data).ok());
        let kind = match (failure, error.code) {
            (_, jsonrpc::ErrorCode::RequestCancelled) => return Self::Cancelled,
            (_, jsonrpc::ErrorCode::MethodNotFound) => return Self::Unsupported,
            (Some(failure), _) => failure.kind,
            (None, _) => ModelFailureKind::Other,
        };
        Self::Editor { kind, message: error.message.into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_given_up_between_parts_that_come_without_a_pause() {
        let (sender, signs) = channel();
        for _ in 0..100 {
            sender.send(Sign::Part("x".into())).unwrap();
        }
        let (cancel, mut heard) = (Cancel::new(), 0);
        let answer = wait(&signs, &cancel, &mut |_| {
            heard += 1;
            cancel.cancel();
        });
        assert_eq!((answer, heard), (Err(ModelError::Cancelled), 1));
    }
}
