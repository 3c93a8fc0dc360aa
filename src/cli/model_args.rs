//! Flags that choose a model, for every command that needs one.

mod key;
mod provider;

use super::failure::Failure;
use super::pace::Pace;
use crate::llm::capability::{self, Capability};
use crate::llm::{
    Baseline, BaselineSettings, Endpoint, Model, OpenAiSettings, Remote, RemoteSettings, anthropic, gemini, openai,
    shown_urls,
};
use crate::net::{RetrySettings, redact};
use crate::types::{Decoding, Voting};
use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
pub(super) use provider::Provider;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) use key::key_from;

/// Which model, where it is, and how patient to be with it.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// The model: `baseline` (rules, no key, no network), `openai:NAME` for a server that speaks `OpenAI`'s API,
    /// `anthropic:NAME` or `gemini:NAME`.
    #[arg(long, value_name = "PROVIDER:NAME", default_value = "baseline")]
    pub(super) model: String,
    /// Where the server's API is. Of several, given one by one or joined by commas, each request goes to the one with the
    /// fewest in flight [default: the provider's own].
    #[arg(long, value_name = "URL", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(super) base_url: Vec<String>,
    /// Which software the server is, if its API is `OpenAI`'s; `auto` learns from what it refuses.
    #[arg(long, value_name = "NAME", default_value = capability::AUTO.name, value_parser = PossibleValuesParser::new(capability::names()))]
    pub(super) server: String,
    /// Use the text completions endpoint instead of chat.
    #[arg(long)]
    pub(super) completions: bool,
    /// Have a chat model continue the label that a prompt ends in, such as `Thought 1:`.
    #[arg(long, conflicts_with = "completions")]
    pub(super) prefill: bool,
    /// Environment variable that holds the key [default: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`, by
    /// provider; without it no key is sent].
    #[arg(long, value_name = "NAME", conflicts_with = "key_file")]
    pub(super) key_env: Option<String>,
    /// File that holds the key and nothing else.
    #[arg(long, value_name = "FILE")]
    pub(super) key_file: Option<PathBuf>,
    /// Longest time for one answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub(super) model_timeout: Duration,
    /// How often a request is sent at most when the server is overloaded or broken.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) model_attempts: u32,
}

/// A model that is ready, and how a record names it.
#[derive(Clone)]
pub(super) struct BuiltModel {
    /// The model.
    pub(super) model: Arc<dyn Model>,
    /// `openai:NAME`, `anthropic:NAME`, `gemini:NAME` or `baseline`.
    pub(super) label: String,
    /// `chat`, `chat+prefill`, `completions`, `messages`, `messages+prefill`, `generateContent` or `none`.
    pub(super) endpoint: &'static str,
    /// Base URLs without user part and query, joined by `,`; absent for models without a server.
    pub(super) base_url: Option<String>,
}

impl BuiltModel {
    /// Whether the model can be asked with these settings, and those of the samples, if there are any.
    pub(super) fn fits(&self, decoding: &Decoding, voting: Option<Voting>) -> anyhow::Result<()> {
        let samples = voting.map(|voting| Decoding { temperature: voting.temperature, ..decoding.clone() });
        let reason = std::iter::once(decoding).chain(&samples).find_map(|decoding| self.model.unfit(decoding));
        reason.map_or(Ok(()), |reason| {
            Err(Failure::usage(reason, "set it lower with --temperature, --sample-temperature or --seed"))
        })
    }
}

/// Why the flags do not make a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum ModelArgsError {
    /// No such provider, or no name.
    #[error("--model `{0}` names no model")]
    Unknown(String),
    /// The variable that was asked for is not there.
    #[error("--key-env `{0}` is not set, or is empty")]
    NoEnv(String),
    /// The file is not there, or is no text.
    #[error("cannot read --key-file `{0}`: {1}")]
    KeyFile(String, std::io::Error),
    /// The file holds no key.
    #[error("--key-file `{0}` holds no usable key")]
    NoKey(String),
    /// The provider itself wants a key.
    #[error("no key for {url}")]
    KeyNeeded {
        /// Where it would be needed.
        url: &'static str,
        /// The variable where it is looked for.
        env: &'static str,
    },
    /// A flag that the provider has no use for.
    #[error("{flag} has no meaning for --model {provider}")]
    NotFor {
        /// The flag.
        flag: &'static str,
        /// The provider's name.
        provider: &'static str,
    },
    /// A server that is not at `OpenAI`'s address.
    #[error("--server {0} is not at {url}", url = openai::OPENAI_URL)]
    Elsewhere(&'static str),
    /// A server that is not known to continue an answer.
    #[error("--prefill needs a server that is known to continue an answer, and --server {0} is not")]
    NoPrefill(&'static str),
}

impl ModelArgsError {
    /// The error with its exit code: most are of a command line that does not make sense.
    pub(super) fn failure(&self) -> anyhow::Error {
        match self {
            Self::KeyFile(..) => Failure::bad_input(self, self.hint()),
            _ => Failure::usage(self, self.hint()),
        }
    }

    /// What a person can do about it.
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Unknown(_) => {
                "it is `baseline`, or `openai:`, `anthropic:` or `gemini:` and the name that the server knows, such as `openai:gpt-4o-mini`".to_owned()
            }
            Self::NoEnv(_) => "export the variable first; it holds the key itself".to_owned(),
            Self::KeyFile(..) => "it is a UTF-8 file that holds one line, the key".to_owned(),
            Self::NoKey(_) => "the file holds one line, the key, and nothing else".to_owned(),
            Self::KeyNeeded { env, .. } => format!("set {env}, or name your own server with --base-url"),
            Self::NotFor { flag, .. } => format!("leave out {flag}"),
            Self::Elsewhere(_) => "say where it is with --base-url".to_owned(),
            Self::NoPrefill(_) => {
                let able = capability::SERVERS.iter().filter(|row| row.prefill.is_some());
                let names: Vec<&str> = able.map(|row| row.name).collect();
                format!("name the server with --server: {}", names.join(", "))
            }
        }
    }
}

impl ModelArgs {
    /// The model behind a server, at this pace; none for the baseline, which follows the settings of each variant.
    /// Sends nothing.
    ///
    /// With `offline`, nothing will ever be sent, and no key is needed.
    pub(super) fn server(&self, pace: &Pace, offline: bool) -> anyhow::Result<Option<BuiltModel>> {
        let Some(remote) = self.built(pace, offline)? else {
            self.refuse_unused()?;
            return Ok(None);
        };
        let provider = self.provider().map_err(|error| error.failure())?;
        Ok(Some(BuiltModel {
            endpoint: remote.endpoint(),
            model: if offline { Arc::new(Baseline::default()) } else { Arc::new(remote) },
            label: provider.label(),
            base_url: Some(shown_urls(&self.base_urls(provider))),
        }))
    }

    /// The rules in this process, with these settings.
    pub(super) fn baseline(settings: BaselineSettings) -> BuiltModel {
        let model = Arc::new(Baseline::new(settings));
        BuiltModel { model, label: "baseline".to_owned(), endpoint: "none", base_url: None }
    }

    /// Whether requests go to a chat endpoint.
    pub(super) fn is_chat(&self) -> bool {
        !self.completions && self.provider().is_ok_and(|provider| provider != Provider::Baseline)
    }

    /// Flags about a server mean that one was meant.
    fn refuse_unused(&self) -> anyhow::Result<()> {
        let given = [
            ("--base-url", !self.base_url.is_empty()),
            ("--server", self.server != capability::AUTO.name),
            ("--completions", self.completions),
            ("--prefill", self.prefill),
            ("--key-env", self.key_env.is_some()),
            ("--key-file", self.key_file.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(Failure::usage(
                format!("{flag} is about a server, but the model is `baseline`, which needs none"),
                "name the model as well, such as --model openai:NAME",
            )),
        }
    }

    /// Which provider, and the model's name there.
    pub(super) fn provider(&self) -> Result<Provider<'_>, ModelArgsError> {
        Provider::parse(&self.model).ok_or_else(|| ModelArgsError::Unknown(redact::printable(&self.model, 80)))
    }

    /// The model behind a server, if it is behind one. Sends nothing.
    pub(super) fn remote(&self, pace: &Pace) -> anyhow::Result<Option<Remote>> {
        self.built(pace, false)
    }

    fn built(&self, pace: &Pace, offline: bool) -> anyhow::Result<Option<Remote>> {
        let provider = self.provider().map_err(|error| error.failure())?;
        let Some(home) = provider.home() else { return Ok(None) };
        let openai = self.openai(provider).map_err(|error| error.failure())?;
        let key = if offline { None } else { self.key(home.key_env)? };
        if key.is_none() && self.base_url.is_empty() && !offline {
            return Err(ModelArgsError::KeyNeeded { url: home.url, env: home.key_env }.failure());
        }
        let base_urls = self.base_urls(provider);
        let settings = RemoteSettings {
            model: provider.name().to_owned(),
            limiter: pace.model(&shown_urls(&base_urls), key.as_ref()),
            base_urls,
            key,
            timeout: self.model_timeout,
            retry: RetrySettings { attempts: self.model_attempts, ..RetrySettings::default() },
            ..RemoteSettings::default()
        };
        Ok(Some(match provider {
            Provider::Baseline | Provider::OpenAi(_) => openai::model(settings, openai)?,
            Provider::Anthropic(_) => anthropic::model(settings, self.prefill)?,
            Provider::Gemini(_) => gemini::model(settings)?,
        }))
    }

    /// Server and name of the model, by which its price is known; nothing for the baseline, and for several servers
    /// that are not of one host.
    pub(super) fn host_and_name(&self) -> Option<(String, String)> {
        let provider = self.provider().ok()?;
        provider.home()?;
        let host = |url: &String| Some(url::Url::parse(url).ok()?.host_str()?.to_owned());
        let hosts: Option<Vec<String>> = self.base_urls(provider).iter().map(host).collect();
        let mut hosts = hosts?;
        hosts.dedup();
        match <[String; 1]>::try_from(hosts) {
            Ok([host]) => Some((host, provider.name().to_owned())),
            Err(_) => None,
        }
    }

    /// What the flags say about a server that speaks `OpenAI`'s interface; for other providers, that they say nothing
    /// about one.
    fn openai(&self, provider: Provider<'_>) -> Result<OpenAiSettings, ModelArgsError> {
        let row = self.capability();
        if let Provider::OpenAi(_) = provider {
            let hosted = ["auto", "openai"].contains(&row.name);
            if self.base_url.is_empty() && !hosted {
                return Err(ModelArgsError::Elsewhere(row.name));
            }
            if self.prefill && row.prefill.is_none() {
                return Err(ModelArgsError::NoPrefill(row.name));
            }
        } else {
            let prefill = self.prefill && matches!(provider, Provider::Gemini(_));
            let given = [
                ("--server", self.server != capability::AUTO.name),
                ("--completions", self.completions),
                ("--prefill", prefill),
            ];
            if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(ModelArgsError::NotFor { flag, provider: provider.kind() });
            }
        }
        let endpoint = if self.completions { Endpoint::Completions } else { Endpoint::Chat };
        Ok(OpenAiSettings { endpoint, server: row, prefill: self.prefill })
    }

    fn capability(&self) -> &'static Capability {
        // The flag takes no other names than the table's.
        capability::of(&self.server).unwrap_or(capability::AUTO)
    }

    fn base_urls(&self, provider: Provider<'_>) -> Vec<String> {
        match provider.home() {
            Some(home) if self.base_url.is_empty() => vec![home.url.to_owned()],
            _ => self.base_url.clone(),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "a number of seconds above 0 is expected".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests;
