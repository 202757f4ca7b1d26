//! From a model's name and the settings to a [`Provider`].

use std::path::Path;

use reqwest::Url;

use crate::anthropic::Anthropic;
use crate::error::LlmError;
use crate::gemini::Gemini;
use crate::http::HttpProvider;
pub use crate::http::Patience;
use crate::key::{self, Cancelled, Sources};
use crate::name::{Kind, ModelName};
use crate::openai::OpenAi;
use crate::provider::Provider;
use crate::replay::Replay;

/// Where a model is served and how it is reached.
#[derive(Clone, Default)]
pub struct Connection {
    /// Another address than the provider's own.
    pub base_url: Option<String>,
    /// Whether the user named that address, and not the settings of a folder.
    pub named_by_user: bool,
    /// Where the key comes from.
    pub key: Sources,
    /// How long to wait.
    pub patience: Patience,
    /// Exchanges of a recording to leave out.
    pub skip: usize,
    /// Whether a recording answers only what it was asked to the letter ([`Replay::strict`]).
    pub to_the_letter: bool,
    /// Whether somebody wants to wait no longer for a command that prints a key.
    pub is_cancelled: Option<Cancelled>,
}

/// Whether an address, as [`Connection::served_at`] gives it, is on this machine.
pub fn is_on_this_machine(address: &str) -> bool {
    Url::parse(address).is_ok_and(|address| key::is_local(&address))
}

impl Connection {
    /// Whether calls cost nothing for sure: the model is served on this machine, or is a recording.
    pub fn is_free(&self, name: &ModelName) -> bool {
        name.kind == Kind::Replay || self.address(name).is_ok_and(|base| key::is_local(&base))
    }

    /// Whether a key may go where it leads.
    pub fn takes_key(&self, name: &ModelName) -> bool {
        !name.kind.key_variables().is_empty()
            && self.address(name).is_ok_and(|base| key::may_go_to(name, &base, self.named_by_user) == Ok(true))
    }

    /// Where a model is asked over the network; `None` for one that is not.
    pub fn served_at(&self, name: &ModelName) -> Option<String> {
        if matches!(name.kind, Kind::Replay | Kind::Editor) {
            return None;
        }
        // Without a user's name and password, which an address may hold.
        self.address(name)
            .ok()
            .map(|base| format!("{}{}", base.origin().ascii_serialization(), base.path().trim_end_matches('/')))
    }

    /// What the user should know of the way there, in one line.
    pub fn warning(&self, name: &ModelName) -> Option<String> {
        if name.kind.base_url().is_empty() {
            return None;
        }
        let base = self.address(name).ok().filter(key::is_readable_on_the_way)?;
        Some(format!(
            "{name}: {} is not encrypted: who is on that network can read your code and the answers; no key is sent",
            base.origin().ascii_serialization()
        ))
    }

    fn address(&self, name: &ModelName) -> Result<Url, LlmError> {
        let base = self.base_url.as_deref().unwrap_or(name.kind.base_url());
        let unusable = |why: &str| LlmError::Setup(format!("{name}: the base URL cannot be used: {why}"));
        let no_scheme = || unusable("it must begin with https:// or http://");
        if !base.contains("://") {
            return Err(no_scheme());
        }
        // Not repeated: a user's password may be in it.
        let base = Url::parse(base).map_err(|error| unusable(&error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(no_scheme());
        }
        Ok(base)
    }
}

/// Makes the provider of a model. Nothing is sent.
///
/// # Errors
/// [`LlmError`] when the address, the key or the recording cannot be used.
pub fn connect(name: &ModelName, connection: &Connection) -> Result<Box<dyn Provider>, LlmError> {
    match name.kind {
        Kind::Replay => {
            let replay = Replay::open(Path::new(&name.model), connection.skip)?;
            return Ok(Box::new(if connection.to_the_letter { replay.strict() } else { replay }));
        }
        Kind::Editor => {
            return Err(LlmError::Setup(format!("{name}: only an editor has these models; start the run there")));
        }
        Kind::OpenAi | Kind::Anthropic | Kind::Gemini => {}
    }
    let base = connection.address(name)?;
    let is_cancelled = || connection.is_cancelled.as_ref().is_some_and(|is_cancelled| is_cancelled());
    for variable in name.kind.key_variables() {
        if matches!(std::env::var(variable), Err(std::env::VarError::NotUnicode(_))) {
            return Err(LlmError::Setup(format!("{name}: {variable} holds something that is no text; set it anew")));
        }
    }
    let variable = |variable: &str| std::env::var(variable).ok();
    let key = match key::may_go_to(name, &base, connection.named_by_user)? {
        true => key::find(name, &base, &connection.key, variable, &is_cancelled)?,
        false => None,
    };
    let patience = connection.patience;
    Ok(match name.kind {
        Kind::Anthropic => Box::new(HttpProvider::new(name, Anthropic, &base, key, patience)?),
        Kind::Gemini => Box::new(HttpProvider::new(name, Gemini, &base, key, patience)?),
        _ => Box::new(HttpProvider::new(name, OpenAi::new(&base), &base, key, patience)?),
    })
}
