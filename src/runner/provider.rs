//! The providers of models: how each is named, its own server, and the variable that holds its key.

use crate::models::{anthropic, gemini, openai};
use url::Url;

/// A provider, and the model's name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Provider<'a> {
    Baseline,
    OpenAi(&'a str),
    Anthropic(&'a str),
    Gemini(&'a str),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OfficialEndpoint {
    /// Base URL unless another one is named.
    pub(super) url: &'static str,
    /// Variable that holds the key unless another one is named.
    pub(super) key_env: &'static str,
}

impl<'a> Provider<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        if text == "baseline" {
            return Some(Self::Baseline);
        }
        let (kind, name) = text.split_once(':')?;
        let name = Some(name.trim()).filter(|name| !name.is_empty())?;
        match kind {
            "openai" => Some(Self::OpenAi(name)),
            "anthropic" => Some(Self::Anthropic(name)),
            "gemini" => Some(Self::Gemini(name)),
            _ => None,
        }
    }

    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::OpenAi(_) => "openai",
            Self::Anthropic(_) => "anthropic",
            Self::Gemini(_) => "gemini",
        }
    }

    /// The model's name; empty for the rules.
    pub(super) fn name(self) -> &'a str {
        match self {
            Self::Baseline => "",
            Self::OpenAi(name) | Self::Anthropic(name) | Self::Gemini(name) => name,
        }
    }

    pub(super) fn label(self) -> String {
        match self {
            Self::Baseline => self.kind().to_owned(),
            _ => format!("{}:{}", self.kind(), self.name()),
        }
    }

    pub(super) fn home(self) -> Option<OfficialEndpoint> {
        let (url, key_env) = match self {
            Self::Baseline => return None,
            Self::OpenAi(_) => (openai::OPENAI_URL, "OPENAI_API_KEY"),
            Self::Anthropic(_) => (anthropic::ANTHROPIC_URL, "ANTHROPIC_API_KEY"),
            Self::Gemini(_) => (gemini::GEMINI_URL, "GEMINI_API_KEY"),
        };
        Some(OfficialEndpoint { url, key_env })
    }
}

/// Whether an address is of the own server of a model's provider.
pub(super) fn is_own(model: &str, address: &str) -> bool {
    Provider::parse(model).and_then(Provider::home).is_some_and(|home| is_at(address, home.url))
}

/// Whether an address is of the same server as another one. A text that is not an address matches no server.
pub(super) fn is_at(address: &str, home: &str) -> bool {
    match (Url::parse(address), Url::parse(home)) {
        (Ok(address), Ok(home)) => address.origin() == home.origin(),
        _ => false,
    }
}

/// The variable that holds the key of a model, unless another one is named.
pub(crate) fn key_variable(label: &str) -> Option<&'static str> {
    Some(Provider::parse(label)?.home()?.key_env)
}
