//! Flags that choose a model, for every command that needs one.

use super::failure::Failure;
use crate::llm::{Baseline, BaselineSettings, Endpoint, Model, OpenAi, OpenAiSettings, openai::OPENAI_URL};
use crate::net::{RetrySettings, redact};
use clap::Args;
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Variable that holds the key unless another is named.
const KEY_ENV: &str = "OPENAI_API_KEY";
/// Largest key file, in bytes; a key is a line.
const MAX_KEY_FILE: u64 = 16 << 10;

/// Which model, where it is, and how patient to be with it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// The model: `baseline` (rules, no key, no network), or `openai:NAME` for a server that speaks `OpenAI`'s API.
    #[arg(long, value_name = "PROVIDER:NAME", default_value = "baseline")]
    pub(super) model: String,
    /// Where the server's API is; usually ends in /v1 [default: `OpenAI`'s own].
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// Use the text completions endpoint instead of chat.
    #[arg(long)]
    pub(super) completions: bool,
    /// Environment variable that holds the key [default: `OPENAI_API_KEY`, if it is set].
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
pub(super) struct BuiltModel {
    /// The model.
    pub(super) model: Arc<dyn Model>,
    /// `openai:NAME` or `baseline`.
    pub(super) label: String,
    /// `chat`, `completions` or `none`.
    pub(super) endpoint: &'static str,
    /// Base URL without user part and query; absent for models without a server.
    pub(super) base_url: Option<String>,
}

/// What the flags name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Provider<'a> {
    /// The rules in this process.
    Baseline,
    /// A model of this name behind a server.
    OpenAi(&'a str),
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
    /// The file holds no key.
    #[error("--key-file `{0}` holds no usable key")]
    NoKey(String),
    /// `OpenAI` itself wants a key.
    #[error("no key for {OPENAI_URL}")]
    KeyNeeded,
}

impl ModelArgsError {
    /// The error with the exit code of a command line that does not make sense.
    pub(super) fn failure(&self) -> anyhow::Error {
        Failure::usage(self, self.hint())
    }

    /// What a person can do about it.
    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Unknown(_) => {
                "it is `baseline`, or `openai:` and the name that the server knows, such as `openai:gpt-4o-mini`"
            }
            Self::NoEnv(_) => "export the variable first; it holds the key itself",
            Self::NoKey(_) => "the file holds one line, the key, and nothing else",
            Self::KeyNeeded => "set OPENAI_API_KEY, or name your own server with --base-url",
        }
    }
}

impl ModelArgs {
    /// Prepares the model for `concurrency` requests at once; the rules of the baseline follow `baseline`. Sends
    /// nothing.
    pub(super) fn build(&self, concurrency: usize, baseline: BaselineSettings) -> anyhow::Result<BuiltModel> {
        let name = match self.provider().map_err(|error| error.failure())? {
            Provider::OpenAi(name) => name,
            Provider::Baseline => {
                self.refuse_unused()?;
                let model = Arc::new(Baseline::new(baseline));
                return Ok(BuiltModel { model, label: "baseline".to_owned(), endpoint: "none", base_url: None });
            }
        };
        Ok(BuiltModel {
            model: Arc::new(self.openai(name, concurrency)?),
            label: format!("openai:{name}"),
            endpoint: self.endpoint().name(),
            base_url: Some(redact::url(self.base_url())),
        })
    }

    /// Flags about a server mean that one was meant.
    fn refuse_unused(&self) -> anyhow::Result<()> {
        let given = [
            ("--base-url", self.base_url.is_some()),
            ("--completions", self.completions),
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

    pub(crate) fn provider(&self) -> Result<Provider<'_>, ModelArgsError> {
        match self.model.split_once(':') {
            None if self.model == "baseline" => Ok(Provider::Baseline),
            Some(("openai", name)) if !name.trim().is_empty() => Ok(Provider::OpenAi(name.trim())),
            _ => Err(ModelArgsError::Unknown(redact::printable(&self.model, 80))),
        }
    }

    pub(crate) fn openai(&self, name: &str, concurrency: usize) -> anyhow::Result<OpenAi> {
        let key = self.key()?;
        if key.is_none() && self.base_url.is_none() {
            return Err(ModelArgsError::KeyNeeded.failure());
        }
        Ok(OpenAi::new(OpenAiSettings {
            model: name.to_owned(),
            base_url: self.base_url().to_owned(),
            endpoint: self.endpoint(),
            key,
            concurrency,
            timeout: self.model_timeout,
            retry: RetrySettings { attempts: self.model_attempts, ..RetrySettings::default() },
            ..OpenAiSettings::default()
        })?)
    }

    fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(OPENAI_URL)
    }

    fn endpoint(&self) -> Endpoint {
        if self.completions { Endpoint::Completions } else { Endpoint::Chat }
    }

    /// The key, from the file or the variable that was named, else from the usual variable where it is set.
    fn key(&self) -> anyhow::Result<Option<SecretString>> {
        if let Some(file) = &self.key_file {
            return key_from(file).map(Some);
        }
        let name = self.key_env.as_deref().unwrap_or(KEY_ENV);
        let value = std::env::var(name).unwrap_or_default();
        match (value.trim(), &self.key_env) {
            ("", Some(name)) => Err(ModelArgsError::NoEnv(name.clone()).failure()),
            ("", None) => Ok(None),
            (key, _) => Ok(Some(SecretString::from(key))),
        }
    }
}

/// A key is one word; anything else cannot be sent, and every request would fail.
fn is_key(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_graphic())
}

fn key_from(file: &Path) -> anyhow::Result<SecretString> {
    let shown = file.display().to_string();
    let unreadable = |error: std::io::Error| {
        Failure::bad_input(
            format!("cannot read --key-file `{shown}`: {error}"),
            "it is a UTF-8 file that holds one line, the key",
        )
    };
    let length = std::fs::metadata(file).map_err(unreadable)?.len();
    let text = if length > MAX_KEY_FILE { String::new() } else { std::fs::read_to_string(file).map_err(unreadable)? };
    match text.trim() {
        key if key.is_empty() || !is_key(key) => Err(ModelArgsError::NoKey(shown).failure()),
        key => Ok(SecretString::from(key)),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "a number of seconds above 0 is expected".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{ModelArgs, Provider};
    use clap::{CommandFactory as _, Parser};
    use secrecy::ExposeSecret as _;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        model: ModelArgs,
    }

    fn args(line: &str) -> ModelArgs {
        Program::try_parse_from(line.split_whitespace()).expect("valid flags").model
    }

    #[test]
    fn the_flags_are_a_valid_table() {
        Program::command().debug_assert();
        for bad in
            ["x --model-timeout 0", "x --model-timeout soon", "x --model-attempts 0", "x --key-env A --key-file B"]
        {
            assert!(Program::try_parse_from(bad.split_whitespace()).is_err(), "{bad}");
        }
    }

    #[test]
    fn providers_are_named_and_names_may_hold_colons() {
        assert_eq!(args("x").provider().expect("the default"), Provider::Baseline);
        assert_eq!(args("x --model openai:llama3:8b").provider().expect("a name"), Provider::OpenAi("llama3:8b"));
        for bad in ["openai", "openai:", "gpt-4", "baseline:x", "other:x"] {
            let error = args(&format!("x --model {bad}")).provider().expect_err(bad);
            assert_eq!(error.to_string(), format!("--model `{bad}` names no model"));
        }
    }

    #[test]
    fn a_built_model_is_named_without_secrets() {
        let built = args("x --model openai:m --base-url http://u:p@127.0.0.1:1/v1?k=v --completions")
            .build(4, crate::llm::BaselineSettings::default())
            .expect("a model");
        assert_eq!((built.label.as_str(), built.endpoint), ("openai:m", "completions"));
        assert_eq!(built.base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
        let built = args("x").build(4, crate::llm::BaselineSettings::default()).expect("a model");
        assert_eq!((built.label.as_str(), built.endpoint, built.base_url), ("baseline", "none", None));
    }

    #[test]
    fn keys_come_from_files_trimmed_and_named_variables_must_be_set() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("key");
        std::fs::write(&file, " sk-1\n").expect("a file");
        let line = format!("x --key-file {}", file.display());
        assert_eq!(args(&line).key().expect("a key").expect("a key").expose_secret(), "sk-1");
        std::fs::write(&file, "\n").expect("a file");
        assert!(args(&line).key().expect_err("empty").to_string().ends_with("holds no usable key"));
        std::fs::remove_file(&file).expect("there");
        assert!(args(&line).key().expect_err("gone").to_string().starts_with("cannot read --key-file"));
        let error = args("x --key-env WIKITRAIL_NO_SUCH_VARIABLE").key().expect_err("not set");
        assert_eq!(error.to_string(), "--key-env `WIKITRAIL_NO_SUCH_VARIABLE` is not set, or is empty");
    }
}
