//! Why there is no answer.

use std::time::Duration;

/// Why a model gave no answer that can be used. The text says what happened, where, and what to do; no key is in it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LlmError {
    /// Somebody asked the call to stop.
    #[error("cancelled")]
    Cancelled,
    /// There is no key for the provider.
    #[error("{who}: there is no key: {remedy}")]
    NoKey {
        /// Provider and model.
        who: String,
        /// How to give one.
        remedy: String,
    },
    /// The key is wrong, or may not do this.
    #[error("{who}: the key was not accepted ({detail}); check the key and what it is allowed to do")]
    KeyRefused {
        /// Provider and model.
        who: String,
        /// The server's words.
        detail: String,
    },
    /// The editor's user has not allowed its models, or has taken that back.
    #[error("{who}: {detail}; allow the extension to use language models in the editor")]
    NotAllowed {
        /// Provider and model.
        who: String,
        /// The editor's words.
        detail: String,
    },
    /// There is no such model, or no such address.
    #[error("{who}: not found ({detail}); check the model's name and the base URL")]
    NotFound {
        /// Provider and model.
        who: String,
        /// The server's words.
        detail: String,
    },
    /// The account has no money or quota left.
    #[error("{who}: the account's quota is used up ({detail}); add to it, or wait for the next period")]
    OutOfQuota {
        /// Provider and model.
        who: String,
        /// The server's words.
        detail: String,
    },
    /// Overloaded, or asked too often.
    #[error("{who}: busy or rate limited ({detail}){}", after(.retry_after))]
    Busy {
        /// Provider and model.
        who: String,
        /// The server's words.
        detail: String,
        /// When to try again, if the server said so.
        retry_after: Option<Duration>,
    },
    /// No connection, a connection that broke, or no word for too long.
    #[error("{who}: {detail}; check the network and the server, then try again")]
    Unreachable {
        /// Provider and model.
        who: String,
        /// What broke.
        detail: String,
    },
    /// The server refuses the request as such.
    #[error("{who}: the request was refused ({detail})")]
    BadRequest {
        /// Provider and model.
        who: String,
        /// The server's words.
        detail: String,
    },
    /// The server refuses answers as long as was asked for.
    #[error(
        "{who}: answers of so many tokens are refused ({detail}); lower `max_output_tokens`, or take another model"
    )]
    LimitRefused {
        /// Provider and model.
        who: String,
        /// The server's words.
        detail: String,
    },
    /// The question does not fit into the model's context.
    #[error(
        "{who}: the question is too long for the model's context ({detail}); take a model with a longer one, or lower \
         `knowledge_tokens`"
    )]
    TooLong {
        /// Provider and model.
        who: String,
        /// The server's words.
        detail: String,
    },
    /// The answer did not end within its limit, raised as far as allowed.
    #[error("{who}: the answer was cut off at {limit} tokens; raise `max_output_tokens`")]
    Truncated {
        /// Provider and model.
        who: String,
        /// The last limit.
        limit: u32,
    },
    /// The answer did not end within its limit, and the server refuses a higher one.
    #[error(
        "{who}: the answer was cut off at {limit} tokens, and a longer one is refused ({detail}); take another model"
    )]
    LongerRefused {
        /// Provider and model.
        who: String,
        /// The highest limit that was taken.
        limit: u32,
        /// The server's words.
        detail: String,
    },
    /// The provider withheld the answer.
    #[error("{who}: the answer was withheld ({detail})")]
    Withheld {
        /// Provider and model.
        who: String,
        /// The provider's reason.
        detail: String,
    },
    /// An answer came that is none: empty, or not in the provider's format.
    #[error("{who}: the answer cannot be read ({detail})")]
    Unreadable {
        /// Provider and model.
        who: String,
        /// What is wrong with it.
        detail: String,
    },
    /// An answer that must be JSON of a certain form was not, twice.
    #[error("{who}: the answer does not have the form that was asked for, twice: {detail}")]
    WrongForm {
        /// Provider and model.
        who: String,
        /// What does not fit.
        detail: String,
    },
    /// What calls may use up is used up.
    #[error("{0}")]
    Overdrawn(String),
    /// The recording has another question here, or none.
    #[error("replay: {0}")]
    Replay(String),
    /// The model was set up wrongly.
    #[error("{0}")]
    Setup(String),
}

impl LlmError {
    /// Whether the same question may be answered a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Unreachable { .. })
    }

    /// Whether the provider is to blame and not this one answer: the next question would fare no better.
    pub fn is_outage(&self) -> bool {
        !matches!(
            self,
            Self::Cancelled
                | Self::Overdrawn(_)
                | Self::Truncated { .. }
                | Self::LongerRefused { .. }
                | Self::Withheld { .. }
                | Self::Unreadable { .. }
                | Self::WrongForm { .. }
        )
    }

    /// The server's words, where it refuses what was asked for because of its form or size.
    pub(crate) fn refusal(&self) -> Option<&str> {
        match self {
            Self::BadRequest { detail, .. } | Self::LimitRefused { detail, .. } | Self::TooLong { detail, .. } => {
                Some(detail)
            }
            _ => None,
        }
    }

    /// What happened, without what to do about it.
    pub(crate) fn happened(&self) -> String {
        match self {
            Self::Busy { who, detail, .. } | Self::Unreachable { who, detail } => format!("{who}: {detail}"),
            other => other.to_string(),
        }
    }

    /// The same error with nothing in its words that does something to a terminal.
    pub(crate) fn cleaned(mut self) -> Self {
        let words = match &mut self {
            Self::Cancelled | Self::Truncated { .. } => return self,
            Self::NoKey { remedy: words, .. } | Self::Overdrawn(words) | Self::Replay(words) | Self::Setup(words) => {
                words
            }
            Self::KeyRefused { detail, .. }
            | Self::NotAllowed { detail, .. }
            | Self::LimitRefused { detail, .. }
            | Self::LongerRefused { detail, .. }
            | Self::NotFound { detail, .. }
            | Self::OutOfQuota { detail, .. }
            | Self::Busy { detail, .. }
            | Self::Unreachable { detail, .. }
            | Self::BadRequest { detail, .. }
            | Self::TooLong { detail, .. }
            | Self::Withheld { detail, .. }
            | Self::Unreadable { detail, .. }
            | Self::WrongForm { detail, .. } => detail,
        };
        *words = crate::foreign::one_line(words);
        self
    }

    /// How long the server wants to be left alone.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

fn after(retry_after: &Option<Duration>) -> String {
    match retry_after {
        Some(time) if time.as_secs() >= 120 => format!("; it asks to wait {} minutes", time.as_secs().div_ceil(60)),
        Some(time) => format!("; it asks to wait {:.0} s", time.as_secs_f64().ceil()),
        None => "; try again later".to_owned(),
    }
}
