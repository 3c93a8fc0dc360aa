//! What a model is named by.

use crate::llm::{anthropic, gemini, openai};
use url::Url;

/// A provider, and the model's name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Provider<'a> {
    /// The rules in this process.
    Baseline,
    /// A server that speaks `OpenAI`'s interface.
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
    /// Reads `baseline` or `PROVIDER:NAME`.
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

    /// The part before the colon.
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

    /// How a record names it.
    pub(super) fn label(self) -> String {
        match self {
            Self::Baseline => self.kind().to_owned(),
            _ => format!("{}:{}", self.kind(), self.name()),
        }
    }

    /// Where it is at home; the rules need no server.
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
pub(in crate::run) fn is_own(model: &str, address: &str) -> bool {
    Provider::parse(model).and_then(Provider::home).is_some_and(|home| is_at(address, home.url))
}

/// Whether an address is of the same server as another one. A text that is not an address matches no server.
pub(in crate::run) fn is_at(address: &str, home: &str) -> bool {
    match (Url::parse(address), Url::parse(home)) {
        (Ok(address), Ok(home)) => address.origin() == home.origin(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_at;

    #[test]
    fn another_scheme_port_or_name_is_another_server() {
        let home = "https://api.openai.com/v1";
        for (address, same) in [
            ("https://api.openai.com/v2/", true),
            ("https://API.openai.com:443", true),
            ("http://api.openai.com/v1", false),
            ("https://api.openai.com:444/v1", false),
            ("https://api.openai.com.evil.example/v1", false),
            ("https://api.openai.com@evil.example/v1", false),
            ("api.openai.com", false),
        ] {
            assert_eq!(is_at(address, home), same, "{address}");
        }
    }
}
