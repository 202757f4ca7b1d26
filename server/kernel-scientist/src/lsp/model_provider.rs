//! The editor's own models behind the stages: what they ask goes to the client as a question of [`super::models`].

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use lab::Cancel;
use llm::editor::{self, EditorAnswer, EditorError, EditorRequest};
use llm::{Caller, Role};

use super::models::{EditorModels, ModelError, ModelQuestion};
use super::protocol::{ModelAnswer, ModelFailureKind, ModelMessage, ModelRole, ModelTool};

/// How often it is asked whether somebody wants a question to be given up.
const TICK: Duration = Duration::from_millis(20);

impl editor::EditorModels for EditorModels {
    fn ask(&self, request: &EditorRequest, caller: &mut Caller<'_>) -> Result<EditorAnswer, EditorError> {
        let (question, cancel) = (question(request), Cancel::new());
        let (sender, parts) = channel();
        let answer = std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                // Nobody hears it when the call is over.
                EditorModels::ask(self, question, &cancel, &mut move |text| drop(sender.send(text.to_owned())))
            });
            loop {
                // Before each part: a model that writes without a pause is given up, too.
                if caller.is_cancelled() {
                    cancel.cancel();
                }
                match parts.recv_timeout(TICK) {
                    Ok(text) => caller.hear(&text),
                    Err(RecvTimeoutError::Timeout) if !asking.is_finished() => {}
                    Err(_) => break,
                }
            }
            asking.join()
        });
        match answer {
            Ok(answer) => answer.map(written).map_err(explained),
            Err(_) => Err(EditorError::Other { message: "the question came to a stop".into() }),
        }
    }
}

fn question(request: &EditorRequest) -> ModelQuestion {
    let messages = request.messages.iter().map(|message| ModelMessage {
        role: match message.role {
            Role::User => ModelRole::User,
            Role::Assistant => ModelRole::Assistant,
        },
        text: message.text.clone(),
    });
    ModelQuestion {
        model: request.model.clone(),
        messages: messages.collect(),
        tool: request.schema.clone().map(|input_schema| ModelTool {
            name: "answer".into(),
            description: "Takes the answer. Call it once, with the whole answer.".into(),
            input_schema,
        }),
        justification: "Kernel Scientist designs and writes faster versions of your kernels.".into(),
        // Evolve is started by hand, and its further questions follow from that.
        is_of_user: true,
    }
}

fn written(answer: ModelAnswer) -> EditorAnswer {
    let ModelAnswer { model, text, tool_input } = answer;
    EditorAnswer { text: tool_input.map_or(text, |input| input.to_string()), model: Some(model), truncated: false }
}

fn explained(error: ModelError) -> EditorError {
    let message = error.to_string();
    match error {
        ModelError::Cancelled => EditorError::Cancelled,
        ModelError::Unsupported => EditorError::Unsupported { message },
        ModelError::Editor { kind: ModelFailureKind::NoPermissions, .. } => EditorError::NoPermissions { message },
        ModelError::Editor { kind: ModelFailureKind::Blocked, .. } => EditorError::Blocked { message },
        ModelError::Editor { kind: ModelFailureKind::NotFound, .. } => EditorError::NotFound { message },
        ModelError::Editor { kind: ModelFailureKind::RateLimited, .. } => {
            EditorError::RateLimited { message, retry_after_s: None }
        }
        ModelError::Editor { kind: ModelFailureKind::OutOfQuota, .. } => EditorError::OutOfQuota { message },
        ModelError::Editor { kind: ModelFailureKind::Other, .. } | ModelError::Silent => EditorError::Other { message },
        ModelError::Unreadable(_) => EditorError::Unreadable { message },
    }
}
