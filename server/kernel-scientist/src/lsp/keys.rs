//! Keys that the editor keeps for its user, asked for when a model is set up. They are in no setting, argument or log.

use std::sync::mpsc::channel;
use std::time::Duration;

use llm::Kind;
use llm::key::SecretString;

use super::outbox::Outbox;

/// Longest wait for an answer, which no human gives: whoever starts an evolution was asked for the key before.
const PATIENCE: Duration = Duration::from_secs(30);

/// The editor's keys, for threads that may block.
#[derive(Clone)]
pub struct EditorKeys(Outbox);

impl EditorKeys {
    /// Keys behind `outbox`.
    pub fn new(outbox: Outbox) -> Self {
        Self(outbox)
    }

    /// The key of a provider, if the editor keeps one. Blocks.
    pub fn ask(&self, provider: Kind) -> Option<SecretString> {
        let (sender, receiver) = channel();
        self.0.ask_key(provider.word(), move |key| drop(sender.send(key)));
        let key = receiver.recv_timeout(PATIENCE).ok()??;
        let key = key.trim();
        (!key.is_empty()).then(|| SecretString::from(key.to_owned()))
    }
}
