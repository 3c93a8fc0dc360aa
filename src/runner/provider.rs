//! The providers of models: how each is named, its own server, and the variable that holds its key.

use crate::base::named;
use crate::models::{anthropic, gemini, openai};
use url::Url;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum ProviderKind {
        Baseline = "baseline",
        OpenAi = "openai",
        Anthropic = "anthropic",
        Gemini = "gemini",
    }
}

/// A provider, and the model's name there; empty for the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Provider<'a> {
    pub(super) kind: ProviderKind,
    pub(super) name: &'a str,
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
        let (kind, name) = text.split_once(':').map_or((text, ""), |(kind, name)| (kind, name.trim()));
        let kind = ProviderKind::ALL.into_iter().find(|known| known.name() == kind)?;
        let is_whole = if kind == ProviderKind::Baseline { text == kind.name() } else { !name.is_empty() };
        is_whole.then_some(Self { kind, name })
    }

    pub(super) fn label(self) -> String {
        let kind = self.kind.name();
        if self.name.is_empty() { kind.to_owned() } else { format!("{kind}:{}", self.name) }
    }

    pub(super) fn home(self) -> Option<OfficialEndpoint> {
        let (url, key_env) = match self.kind {
            ProviderKind::Baseline => return None,
            ProviderKind::OpenAi => (openai::OPENAI_URL, "OPENAI_API_KEY"),
            ProviderKind::Anthropic => (anthropic::ANTHROPIC_URL, "ANTHROPIC_API_KEY"),
            ProviderKind::Gemini => (gemini::GEMINI_URL, "GEMINI_API_KEY"),
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
