//! From settings to a model.

use super::breaker::{Breaker, Breakers, Watched};
use super::error::RunError;
use super::pace::Pacer;
use super::provider::{Provider, ProviderKind, is_own};
use crate::base::bounded::text_at_most;
use crate::base::text::{looks_secret, printable};
use crate::base::{Decoding, Service, Voting};
use crate::models::{
    Baseline, BaselineSettings, Endpoint, LearnedOptions, Model, OpenAiSettings, Remote, RemoteSettings, Unsupported,
    anthropic, capability, gemini, openai, shown_urls,
};
use crate::net::{ClientSettings, RetrySettings, redact};
use crate::runner::experiment::VariantSettings;
use crate::runner::experiment::extra::{self, HeaderValue};
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How a server that a file names gets a key.
const CONFIRM: &str = "to send the key there, name the server with --base-url, or add --confirm";
const MODEL_TIMEOUT: Duration = Duration::from_mins(2);
const MODEL_ATTEMPTS: u32 = 5;

#[derive(Clone)]
pub(crate) struct BuiltModel {
    pub(crate) model: Arc<dyn Model>,
    /// `openai:NAME`, `anthropic:NAME`, `gemini:NAME` or `baseline`.
    pub(crate) label: String,
    /// `chat`, `chat+prefill`, `completions`, `responses`, `messages`, `messages+prefill`, `generateContent` or `none`.
    pub(crate) endpoint: &'static str,
    /// Base URLs without user part and query, joined by `,`; absent for models without a server.
    pub(crate) base_url: Option<String>,
    /// Which options the server has refused; absent for models without a server.
    pub(crate) learned: Option<LearnedOptions>,
    pub(crate) breaker: Option<Arc<Breaker>>,
}

impl BuiltModel {
    /// Whether the model takes these settings, and those of the samples; `forced` where it must call functions.
    pub(crate) fn fits(&self, decoding: &Decoding, voting: Option<Voting>, forced: bool) -> Result<(), RunError> {
        let samples = voting.map(|voting| Decoding { temperature: voting.temperature, ..decoding.clone() });
        let mut all = std::iter::once(decoding).chain(&samples);
        let unsupported = all.find_map(|decoding| self.model.unsupported(decoding, forced));
        unsupported.map_or(Ok(()), |Unsupported { reason, hint }| Err(RunError::usage(reason, hint)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyPolicy {
    Any,
    /// To the providers' own servers; nobody confirmed the others.
    OfficialOnly,
    /// Nowhere: nothing will ever be sent, and no key is needed.
    None,
}

/// An address without a scheme would only fail once something is sent.
fn check_url(url: &str) -> Result<(), RunError> {
    if let Some(known) = url.strip_suffix(redact::LEFT_OUT) {
        let message = format!("the query of `{}` is not recorded, as it may hold a key", printable(known, 300));
        return Err(RunError::usage(
            message,
            format!("give the whole address again: --base-url '{}?...'", printable(known, 300)),
        ));
    }
    let parsed = url::Url::parse(url).ok();
    if parsed.is_some_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        return Ok(());
    }
    let shown = if looks_secret(url) { String::new() } else { format!(" `{}`", printable(&redact::url(url), 300)) };
    let message = format!("--base-url{shown} is not an http or https address");
    Err(RunError::usage(message, "write it with its scheme, such as http://localhost:8080 or https://llm.example/v1"))
}

/// Other names of providers and servers, and where their interface is that of `openai`.
const ELSEWHERE: &[(&str, &str)] = &[
    ("azure", "https://RESOURCE.openai.azure.com/openai/v1"),
    ("cerebras", "https://api.cerebras.ai/v1"),
    ("deepseek", "https://api.deepseek.com/v1"),
    ("fireworks", "https://api.fireworks.ai/inference/v1"),
    ("groq", "https://api.groq.com/openai/v1"),
    ("litellm", "http://127.0.0.1:4000/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("llamacpp", "http://127.0.0.1:8080/v1"),
    ("lmstudio", "http://127.0.0.1:1234/v1"),
    ("mistral", "https://api.mistral.ai/v1"),
    ("moonshot", "https://api.moonshot.ai/v1"),
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("openrouter", "https://openrouter.ai/api/v1"),
    ("sglang", "http://127.0.0.1:30000/v1"),
    ("tgi", "http://127.0.0.1:8080/v1"),
    ("together", "https://api.together.xyz/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
    ("xai", "https://api.x.ai/v1"),
];

/// Other names of the providers that are known by name, and how names of their models begin.
const KNOWN: &[(&str, &[&str], &[&str])] = &[
    ("openai", &[], &["gpt-", "chatgpt-", "o1", "o3", "o4"]),
    ("anthropic", &["claude"], &["claude-"]),
    ("gemini", &["google", "vertex"], &["gemini-"]),
];

/// What is meant by a name that is of another program's form.
fn elsewhere(name: &str) -> Option<String> {
    let (before, model) = name.split_once([':', '/']).unwrap_or((name, ""));
    let before = before.to_ascii_lowercase();
    let model = if model.is_empty() { "NAME" } else { model };
    if let Some((_, url)) = ELSEWHERE.iter().find(|(known, _)| *known == before) {
        return Some(format!("write --model openai:{model} --base-url {url} (`wikitrail docs models` has an example)"));
    }
    let (provider, other_name) = KNOWN.iter().find_map(|(provider, names, starts)| {
        let other_name = names.contains(&before.as_str()) || (*provider == before && name.contains('/'));
        (other_name || starts.iter().any(|start| before.starts_with(start))).then_some((provider, other_name))
    })?;
    let model = if other_name { model } else { name };
    Some(format!("write --model {provider}:{model}"))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ModelSettings<'a>(pub(crate) &'a VariantSettings);

impl<'a> ModelSettings<'a> {
    /// The model behind a server, at this pace; none for the baseline. Sends nothing.
    pub(super) fn server(self, pacer: &Pacer, keys: KeyPolicy) -> Result<Option<BuiltModel>, RunError> {
        let Some(remote) = self.built(pacer, keys)? else {
            self.refuse_unused()?;
            return Ok(None);
        };
        let provider = self.provider()?;
        Ok(Some(BuiltModel {
            endpoint: remote.endpoint(),
            learned: Some(remote.learned().clone()),
            model: Arc::new(remote),
            label: provider.label(),
            base_url: Some(shown_urls(&self.base_urls(provider))),
            breaker: None,
        }))
    }

    pub(super) fn baseline(settings: BaselineSettings) -> BuiltModel {
        let (model, label) = (Arc::new(Baseline::new(settings)), "baseline".to_owned());
        BuiltModel { model, label, endpoint: "none", base_url: None, learned: None, breaker: None }
    }

    pub(super) fn is_chat(self) -> bool {
        !is_on(self.0.completions) && self.provider().is_ok_and(|provider| provider.kind != ProviderKind::Baseline)
    }

    /// Settings of a server mean that one was meant.
    fn refuse_unused(self) -> Result<(), RunError> {
        let set = [
            ("--base-url", !self.addresses().is_empty()),
            ("--server", self.server_name() != capability::AUTO.name),
            ("--completions", is_on(self.0.completions)),
            ("--responses", is_on(self.0.responses)),
            ("--prefill", is_on(self.0.prefill)),
            ("--key-env", self.0.key_env.is_some()),
            ("--key-file", self.0.key_file.is_some()),
            ("--extra-body", self.0.extra_body.is_some()),
            ("--extra-header", self.0.extra_header.is_some()),
        ];
        set.into_iter().find(|(_, set)| *set).map_or(Ok(()), |(flag, _)| {
            let message = format!("{flag} is about a server, but the model is `baseline`, which needs none");
            Err(RunError::usage(message, "name the model as well, such as --model openai:NAME"))
        })
    }

    fn name(self) -> &'a str {
        self.0.model.as_deref().unwrap_or("baseline")
    }

    fn server_name(self) -> &'a str {
        self.0.server.as_deref().unwrap_or(capability::AUTO.name)
    }

    /// The addresses that were set; one text may hold several with commas between them.
    fn addresses(self) -> Vec<&'a str> {
        self.0.base_url.iter().flatten().flat_map(|urls| urls.split(',')).map(str::trim).collect()
    }

    pub(super) fn provider(self) -> Result<Provider<'a>, RunError> {
        let unknown = || {
            let name = printable(self.name(), 80);
            let hint = elsewhere(&name).unwrap_or_else(|| {
                "use `baseline`, `openai:NAME`, `anthropic:NAME` or `gemini:NAME`, such as `openai:gpt-4o-mini`"
                    .to_owned()
            });
            RunError::usage(format!("invalid --model `{name}`"), hint)
        };
        Provider::parse(self.name()).ok_or_else(unknown)
    }

    /// The model behind a server, if it is behind one. Sends nothing.
    pub(super) fn built(self, pacer: &Pacer, keys: KeyPolicy) -> Result<Option<Remote>, RunError> {
        let provider = self.provider()?;
        let Some(home) = provider.home() else { return Ok(None) };
        self.check_key_env()?;
        let openai = self.openai(provider)?;
        let (headers, secret_headers) = self.extra_headers(keys)?;
        let credential = self.credential();
        let in_place =
            secret_headers.iter().find(|(name, _)| credential.as_ref().is_some_and(|(header, _)| header == name));
        let key = match keys {
            // A header in its place replaces it: two keys are never sent.
            _ if credential.is_some() => None,
            KeyPolicy::None => None,
            KeyPolicy::OfficialOnly if self.custom_base_url().is_some() => self.no_key_typed(provider)?,
            KeyPolicy::OfficialOnly | KeyPolicy::Any => self.key(home.key_env)?,
        };
        if key.is_none() && credential.is_none() && self.addresses().is_empty() && keys != KeyPolicy::None {
            let hint = format!("set {}, or name your own server with --base-url", home.key_env);
            return Err(RunError::usage(format!("no key for {}", home.url), hint));
        }
        let base_urls = self.base_urls(provider);
        base_urls.iter().try_for_each(|url| check_url(url))?;
        let attempts = self.0.model_attempts.unwrap_or(MODEL_ATTEMPTS);
        let timeout = self.0.model_timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let settings = RemoteSettings {
            model: provider.name.to_owned(),
            client: ClientSettings {
                limiter: pacer.model(&shown_urls(&base_urls), key.as_ref().or(in_place.map(|(_, key)| key))),
                timeout: timeout.unwrap_or(MODEL_TIMEOUT),
                retry: RetrySettings { attempts, ..RetrySettings::default() },
                ..RemoteSettings::default().client
            },
            headers,
            secret_headers,
            base_urls,
            key,
        };
        let prefill = is_on(self.0.prefill);
        Ok(Some(match provider.kind {
            ProviderKind::Baseline | ProviderKind::OpenAi => openai::model(settings, openai)?,
            ProviderKind::Anthropic => anthropic::model(settings, prefill)?,
            ProviderKind::Gemini => gemini::model(settings)?,
        }))
    }

    /// Host and name by which a price is known; nothing for the baseline, and for servers that are not of one host.
    pub(super) fn host_and_name(self) -> Option<(String, String)> {
        let provider = self.provider().ok()?;
        provider.home()?;
        let host = |url: &String| Some(url::Url::parse(url).ok()?.host_str()?.to_owned());
        let hosts: Option<Vec<String>> = self.base_urls(provider).iter().map(host).collect();
        let mut hosts = hosts?;
        hosts.dedup();
        let [host] = <[String; 1]>::try_from(hosts).ok()?;
        Some((host, provider.name.to_owned()))
    }

    /// The settings of a server that speaks `OpenAI`'s interface; other providers may have none.
    fn openai(self, provider: Provider<'_>) -> Result<OpenAiSettings, RunError> {
        let (completions, responses) = (is_on(self.0.completions), is_on(self.0.responses));
        let prefill = is_on(self.0.prefill);
        // Nobody has to name the server of the provider.
        let home = self.addresses().is_empty() && self.server_name() == capability::AUTO.name;
        let name = if home { "openai" } else { self.server_name() };
        let server = capability::of(name).unwrap_or(capability::AUTO);
        if provider.kind == ProviderKind::OpenAi {
            if self.addresses().is_empty() && server.name != "openai" {
                let message = format!("--server {} is not at {}", server.name, openai::OPENAI_URL);
                return Err(RunError::usage(message, "say where it is with --base-url"));
            }
            if prefill && server.prefill.is_none() {
                let able = capability::SERVERS.iter().filter(|row| row.prefill.is_some());
                let names: Vec<&str> = able.map(|row| row.name).collect();
                let needed = "--prefill needs a server that is known to continue an answer";
                let hint = format!("name the server with --server: {}", names.join(", "));
                return Err(RunError::usage(format!("{needed}, and --server {} is not", server.name), hint));
            }
        } else {
            let set = [
                ("--server", self.server_name() != capability::AUTO.name),
                ("--completions", completions),
                ("--responses", responses),
                ("--prefill", prefill && provider.kind == ProviderKind::Gemini),
            ];
            if let Some((flag, _)) = set.into_iter().find(|(_, set)| *set) {
                let message = format!("{flag} has no meaning for --model {}", provider.kind.name());
                return Err(RunError::usage(message, format!("leave out {flag}")));
            }
        }
        let endpoint = match (completions, responses) {
            (true, _) => Endpoint::Completions,
            (false, true) => Endpoint::Responses,
            (false, false) => Endpoint::Chat,
        };
        Ok(OpenAiSettings { endpoint, server, prefill })
    }

    /// The addresses that are not of the provider's own server.
    pub(super) fn custom_base_urls(self) -> Vec<&'a str> {
        self.addresses().into_iter().filter(|address| !is_own(self.name(), address)).collect()
    }

    fn custom_base_url(self) -> Option<&'a str> {
        self.custom_base_urls().first().copied()
    }

    /// No key, where nobody confirmed the servers; whoever names a key should know.
    fn no_key_typed(self, provider: Provider<'_>) -> Result<Option<SecretString>, RunError> {
        match (self.key_flag(), self.custom_base_url()) {
            (Some(flag), Some(url)) => Err(unconfirmed(flag, url, provider)),
            _ => Ok(None),
        }
    }

    fn key_flag(self) -> Option<&'static str> {
        let (env, file) = (self.0.key_env.as_ref(), self.0.key_file.as_ref());
        env.map(|_| "--key-env").or(file.map(|_| "--key-file"))
    }

    /// What a person should know who has a key that is not sent.
    pub(super) fn withheld(self, keys: KeyPolicy) -> Option<String> {
        let home = self.provider().ok()?.home().filter(|_| self.credential().is_none())?;
        let url = self.custom_base_url().filter(|_| keys == KeyPolicy::OfficialOnly)?;
        std::env::var_os(home.key_env).filter(|key| !key.is_empty())?;
        let url = printable(&redact::url(url), 300);
        Some(format!("note: {} is not sent to `{url}`, which a file names; {CONFIRM}", home.key_env))
    }

    fn base_urls(self, provider: Provider<'_>) -> Vec<String> {
        match provider.home() {
            Some(home) if self.addresses().is_empty() => vec![home.url.to_owned()],
            _ => self.addresses().into_iter().map(str::to_owned).collect(),
        }
    }

    /// The key, from the file or the variable that was named, else from the variable `usual` where it is set.
    pub(super) fn key(self, usual: &str) -> Result<Option<SecretString>, RunError> {
        self.check_key_env()?;
        if let Some(file) = &self.0.key_file {
            return key_from(Path::new(file)).map(Some);
        }
        let name = self.0.key_env.as_deref().unwrap_or(usual);
        let value = std::env::var(name).unwrap_or_default();
        match (value.trim(), &self.0.key_env) {
            ("", Some(name)) => Err(RunError::usage(
                format!("--key-env `{name}` is not set, or is empty"),
                "export the variable first; it holds the key itself",
            )),
            ("", None) => Ok(None),
            (key, _) if !is_key(key) => Err(RunError::usage(
                format!("the variable `{name}` holds no usable key"),
                "a key is one word, without line ends and spaces inside",
            )),
            (key, _) => Ok(Some(SecretString::from(key))),
        }
    }

    /// A key in the place of a variable's name must neither be shown nor recorded, even where none is needed.
    fn check_key_env(self) -> Result<(), RunError> {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        match self.0.key_env.as_deref() {
            // A variable of another name may exist, but a key that exists as a variable is hardly one.
            Some(name) if !is_name(name) && std::env::var_os(name).is_none() => {
                let message = "--key-env does not name a variable that is set";
                Err(RunError::usage(message, "it takes the name of an environment variable, never the key itself"))
            }
            _ => Ok(()),
        }
    }

    /// The header that is sent in place of the usual key, if one is: its name and the variable's.
    pub(super) fn credential(self) -> Option<(String, String)> {
        let (name, variable) = extra::credential(self.0.extra_header.as_ref()?)?;
        Some((name.to_owned(), variable.to_owned()))
    }

    /// The headers to add. Variables are read where a key would be, and nowhere else.
    fn extra_headers(self, keys: KeyPolicy) -> Result<ExtraHeaders, RunError> {
        self.check_extra()?;
        let (mut plain, mut secret) = ExtraHeaders::default();
        for (name, value) in self.0.extra_header.iter().flatten() {
            match HeaderValue::of(value) {
                HeaderValue::Plain(value) => plain.push((name.clone(), value.to_owned())),
                HeaderValue::Variable(_) if keys == KeyPolicy::None => {}
                HeaderValue::Variable(variable) => secret.push((name.clone(), self.secret(name, variable, keys)?)),
            }
        }
        Ok((plain, secret))
    }

    pub(crate) fn extra_body(self) -> Map<String, Value> {
        match self.0.extra_body.clone().map(|body| extra::sorted(Value::Object(body))) {
            Some(Value::Object(body)) => body,
            _ => Map::new(),
        }
    }

    /// Settings that did not come from flags or a file are checked here.
    fn check_extra(self) -> Result<(), RunError> {
        self.0.extra_body.as_ref().map_or(Ok(()), extra::check_body)?;
        self.0.extra_header.as_ref().map_or(Ok(()), extra::check_headers)?;
        match (self.credential(), self.key_flag()) {
            (Some((header, _)), Some(flag)) => Err(RunError::usage(
                format!("--extra-header `{header}` sends a key, and {flag} names another one"),
                format!("leave out {flag}: the header is sent in place of the key"),
            )),
            _ => Ok(()),
        }
    }

    fn secret(self, name: &str, variable: &str, keys: KeyPolicy) -> Result<SecretString, RunError> {
        if let (KeyPolicy::OfficialOnly, Some(url), Ok(provider)) = (keys, self.custom_base_url(), self.provider()) {
            return Err(unconfirmed("--extra-header", url, provider));
        }
        let value = std::env::var(variable).unwrap_or_default();
        let value = value.trim();
        if value.is_empty() {
            let message = format!("the variable `{variable}` of --extra-header `{name}` is not set, or is empty");
            return Err(RunError::usage(message, "export the variable first; it holds the value itself"));
        }
        if value.len() > MAX_VALUE || !value.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            let message = format!("the variable `{variable}` of --extra-header holds no usable value");
            return Err(RunError::usage(message, "a value is at most 8 KiB of visible ASCII characters on one line"));
        }
        Ok(SecretString::from(value))
    }
}

fn unconfirmed(flag: &str, url: &str, provider: Provider<'_>) -> RunError {
    let (url, provider) = (printable(&redact::url(url), 300), provider.kind.name());
    let message = format!("{flag} names a key, but `{url}` was not typed and is not {provider}'s own server");
    RunError::usage(message, CONFIRM)
}

pub(crate) fn is_on(switch: Option<bool>) -> bool {
    switch.unwrap_or_default()
}

/// Largest key file, in bytes; a key is a line.
const MAX_KEY_FILE: u64 = 16 << 10;

/// A key is one word; anything else cannot be sent, and every request would fail.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())
}

fn key_from(file: &Path) -> Result<SecretString, RunError> {
    let shown = file.display();
    let text = File::open(file).and_then(|file| text_at_most(file, MAX_KEY_FILE)).map_err(|error| {
        let message = format!("cannot read --key-file `{shown}`: {error}");
        RunError::input(message, "it is a UTF-8 file that holds one line, the key")
    })?;
    match text.trim() {
        key if !is_key(key) => Err(RunError::usage(
            format!("--key-file `{shown}` holds no usable key"),
            "the file holds one line, the key, and nothing else",
        )),
        key => Ok(SecretString::from(key)),
    }
}

/// Longest value of a header from a variable, in bytes.
const MAX_VALUE: usize = 8 << 10;

/// Headers as they are, and those whose values are secret.
type ExtraHeaders = (Vec<(String, String)>, Vec<(String, SecretString)>);

impl Breakers {
    pub(crate) fn model(&self, built: BuiltModel) -> BuiltModel {
        let breaker = self.breaker(Service::Model, built.base_url.as_deref());
        let model = Arc::new(Watched::new(built.model, Arc::clone(&breaker)));
        BuiltModel { model, breaker: Some(breaker), ..built }
    }
}

#[cfg(test)]
mod tests;
