//! `PROVIDER:MODEL`, as a user names a model.

use std::fmt;
use std::str::FromStr;

/// Who serves a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// OpenAI, or any server that speaks its chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// A model that the editor has.
    Editor,
    /// A recorded run; the model's name is the file.
    Replay,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Editor, Self::Replay];

    /// As users write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Editor => "editor",
            Self::Replay => "replay",
        }
    }

    /// Where it is served unless the user says otherwise; empty for what is not on the network.
    pub fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Editor | Self::Replay => "",
        }
    }

    /// Environment variables that may hold its key, the first that is set counts.
    pub fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Editor | Self::Replay => &[],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.word() == text).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|kind| kind.word()).collect();
            format!("there is no provider `{text}`; known: {}", known.join(", "))
        })
    }
}

/// A model, and who serves it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelName {
    /// Who serves it.
    pub kind: Kind,
    /// The provider's name for it; for a recording its path. Empty only for [`Kind::Editor`]: whichever the editor offers.
    pub model: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.model.as_str() {
            "" => out.write_str(self.kind.word()),
            model => write!(out, "{}:{model}", self.kind),
        }
    }
}

impl FromStr for ModelName {
    type Err = String;

    /// Reads `openai:gpt-5`; what follows the first colon is the model, colons and slashes included.
    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, model) = text.split_once(':').unwrap_or((text, ""));
        let kind: Kind = kind.parse()?;
        if model.is_empty() && kind != Kind::Editor {
            return Err(format!("`{text}` names no model; write {kind}:MODEL"));
        }
        Ok(Self { kind, model: model.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_they_are_written() {
        for text in ["openai:gpt-5", "openai:qwen2.5-coder:7b", "anthropic:claude-x", "replay:/a/b.jsonl", "editor"] {
            assert_eq!(text.parse::<ModelName>().unwrap().to_string(), text);
        }
        let check = |text: &str, expected: &str| {
            let error = text.parse::<ModelName>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("openai", "names no model; write openai:MODEL");
        check("openia:gpt", "there is no provider `openia`; known: openai, anthropic, gemini, editor, replay");
        check("", "there is no provider");
    }
}
