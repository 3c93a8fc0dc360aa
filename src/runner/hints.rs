//! What to do about episodes that were not measured and calls that fell short, by what failed.

use super::experiment::{VariantSettings, extra};
use super::provider::key_variable;
use crate::base::manifest::UNKNOWN;
use crate::base::text::printable;
use crate::base::{Cause, Failure, Manifest, Reasoning, Service, Variant, WikiKind, WikiName};
use crate::models::{ModelError, UNKNOWN_REASON_HINT, refused_setting};
use crate::scoring::{Shortfall, Shortfalls};
use std::collections::BTreeMap;

/// Longest address in a hint, in characters.
const MAX_ADDRESS_CHARS: usize = 120;
const EMPTY: &str =
    "`wikitrail models check` with the same flags shows what the server sends; look at its log, and at --server";

const NO_CALL: &str = "does the server parse tool calls (llama.cpp: --jinja and a chat template with tools; vLLM: \
                       --enable-auto-tool-choice --tool-call-parser NAME)? Or use --protocol robust";

pub(super) fn hint(failure: Option<Failure>, detail: &str, variant: &Variant, manifest: &Manifest) -> String {
    match failure {
        Some(Failure { service: Service::Model, cause }) => model(cause, detail, variant, manifest),
        Some(Failure { service: Service::Wikipedia, cause }) => wikipedia(cause, detail, variant),
        // Records of earlier versions have no cause.
        None => "`wikitrail show` prints such an episode, and --resume runs it again".to_owned(),
    }
}

/// The address of a variant's server, as a record names it.
pub(super) fn server_of(service: Service, variant: &Variant) -> Option<&str> {
    match service {
        Service::Model => variant.base_url.as_deref(),
        Service::Wikipedia => variant.wiki_origin.as_deref(),
    }
}

fn model(cause: Cause, detail: &str, variant: &Variant, manifest: &Manifest) -> String {
    let server = printable(variant.base_url.as_deref().unwrap_or_default(), MAX_ADDRESS_CHARS);
    let name = printable(variant.model.split_once(':').map_or("", |(_, name)| name), MAX_ADDRESS_CHARS);
    match cause {
        Cause::Key => format!("the server rejects the key: {}", key(variant, manifest)),
        Cause::Forbidden => format!("the server does not let this key or this machine ask: {}", key(variant, manifest)),
        Cause::Payment | Cause::Quota => {
            format!("nothing is left on the account at {server}: add credit there, or use another key; then --resume")
        }
        Cause::NotFound => {
            format!("check --base-url ({server}), which usually ends in /v1, and the model's name (`{name}`)")
        }
        Cause::UnknownModel => format!("{server} does not have a model `{name}`: check the name after --model"),
        Cause::ConnectionRefused => format!("is the server running at {server}, and is the port of --base-url right?"),
        Cause::UnknownHost => format!("check the host's name in --base-url ({server}), and the network"),
        Cause::Tls => {
            let plain = server.replacen("https://", "http://", 1);
            format!("write --base-url {plain} if the server speaks plain HTTP; else check the system's certificates")
        }
        Cause::BadRequest if detail.contains("prefill") => "leave out --prefill".to_owned(),
        Cause::BadRequest => refused_setting(detail).to_owned(),
        Cause::RateLimit => {
            "the server limits requests: lower --concurrency or set --requests-per-minute; then --resume".to_owned()
        }
        Cause::ServerError => {
            "the server is overloaded or failing: lower --concurrency or raise --model-attempts; then --resume"
                .to_owned()
        }
        Cause::Timeout => "raise --model-timeout, or lower --concurrency or --max-tokens; then --resume".to_owned(),
        Cause::Connection => format!("check the network and the log of the server at {server}; then --resume"),
        Cause::BadAnswer | Cause::NotTheWiki => {
            format!(
                "check the server's log, and that --base-url ({server}) is the URL of the API, which usually ends in /v1"
            )
        }
        Cause::ContextOverflow => {
            "the prompt is too long for the model: lower --shots or --observation-chars, or use a larger context"
                .to_owned()
        }
        Cause::ContentFilter | Cause::Refusal => {
            "the provider's filter withholds these answers: another model may give them".to_owned()
        }
        Cause::TokenLimit => "raise --max-tokens".to_owned(),
        Cause::Empty | Cause::MalformedCall => EMPTY.to_owned(),
        Cause::UnknownReason => format!("{UNKNOWN_REASON_HINT}; then --resume"),
        Cause::Recording if detail.contains(UNWRITTEN) => UNWRITTEN_HINT.to_owned(),
        Cause::Recording => {
            "the recording has other requests: replay with the settings it was made with, or record again".to_owned()
        }
        Cause::Other => "--resume runs these episodes again".to_owned(),
    }
}

/// What happened to calls that fell short, each kind with its remedy.
pub(crate) fn shortfalls(calls: &Shortfalls, variant: &Variant) -> Vec<String> {
    let whole = variant.decoding.max_tokens.map_or_else(|| UNKNOWN.to_owned(), |tokens| tokens.to_string());
    let limit = match variant.direct_max_tokens {
        Some(direct) => format!("{whole}, and {direct} in the direct part"),
        None => whole,
    };
    let less = match variant.decoding.reasoning {
        _ if calls.count(Shortfall::InReasoning) == 0 || variant.endpoint == "completions" => String::new(),
        None | Some(Reasoning::Medium | Reasoning::High) => ", or try --reasoning low".to_owned(),
        Some(Reasoning::Low) => ", or try --reasoning off".to_owned(),
        Some(Reasoning::Budget(tokens)) => format!(", or lower --reasoning (now {tokens})"),
        Some(Reasoning::Off) => String::new(),
    };
    let hint = |what: Shortfall| match what {
        Shortfall::TokenLimit | Shortfall::InReasoning => format!("raise --max-tokens (now {limit}){less}"),
        Shortfall::ContextOverflow => "lower --max-steps or --observation-chars, or use a larger context".to_owned(),
        Shortfall::Empty | Shortfall::EmptyAnswer => EMPTY.to_owned(),
        Shortfall::MalformedCall => {
            "the call is in the record; another model, or --protocol robust, may do better".to_owned()
        }
        Shortfall::Refusal => "the words of the refusal are in the record; another model may answer".to_owned(),
        Shortfall::ContentFilter => "another model may answer".to_owned(),
        Shortfall::NoCall => NO_CALL.to_owned(),
        Shortfall::ReasoningOnly => {
            format!("raise --max-tokens (now {limit}), or see whether the server ends reasoning early")
        }
        Shortfall::Paused => "each is taken as the model's answer, as no tool of the provider is offered".to_owned(),
        Shortfall::AtLimit => format!("raise --max-tokens (now {limit}) and compare"),
        Shortfall::Failed => "an earlier version recorded them; run these questions again for a measurement".to_owned(),
    };
    let hint = |what: Option<Shortfall>| what.map_or_else(|| UNKNOWN_REASON_HINT.to_owned(), hint);
    calls.described().into_iter().map(|(what, words)| format!("{words}: {}", hint(what))).collect()
}

fn key(variant: &Variant, manifest: &Manifest) -> String {
    let typed = |flag: &str| {
        let words = &manifest.command_line;
        let joined = words.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
        let at = words.iter().position(|word| word == flag);
        joined.or_else(|| words.get(at? + 1).map(String::as_str)).map(|value| printable(value, MAX_ADDRESS_CHARS))
    };
    let headers = variant.settings.get("extra_header").and_then(|set| serde_json::from_value(set.clone()).ok());
    let (file, name) = (typed("--key-file"), typed("--key-env"));
    key_source(&variant.model, headers.as_ref(), file, name, manifest.experiment.is_some())
}

/// What to do about a model's server that failed, asked with these settings and without a run.
pub(crate) fn of_error(error: &ModelError, settings: &VariantSettings) -> String {
    let cause = error.failure().cause;
    if !matches!(cause, Cause::Key | Cause::Forbidden) {
        return error.hint().unwrap_or_else(|| "look at the server's log, and at --base-url".to_owned());
    }
    let shown = |text: &Option<String>| text.as_deref().map(|text| printable(text, MAX_ADDRESS_CHARS));
    let label = settings.model.as_deref().unwrap_or_default();
    let (file, name) = (shown(&settings.key_file), shown(&settings.key_env));
    let usual = key_variable(label).unwrap_or("OPENAI_API_KEY");
    let is_named =
        file.is_some() || name.is_some() || settings.extra_header.as_ref().and_then(extra::credential).is_some();
    if !is_named && std::env::var(usual).unwrap_or_default().trim().is_empty() {
        return format!("no key was sent: set {usual}; --key-env names another variable, --key-file a file");
    }
    format!("the server rejects the key: {}", key_source(label, settings.extra_header.as_ref(), file, name, false))
}

fn key_source(
    label: &str,
    headers: Option<&BTreeMap<String, String>>,
    file: Option<String>,
    name: Option<String>,
    has_experiment: bool,
) -> String {
    if let Some((header, variable)) = headers.and_then(extra::credential) {
        let (header, variable) = (printable(header, MAX_ADDRESS_CHARS), printable(variable, MAX_ADDRESS_CHARS));
        return format!("check the value of the variable {variable}, which --extra-header {header} sends");
    }
    if let Some(file) = file {
        return format!("check the key in `{file}` (--key-file)");
    }
    if let Some(name) = name {
        return format!("check the key in the variable {name} (--key-env)");
    }
    let usual = key_variable(label).unwrap_or("OPENAI_API_KEY");
    let file = if has_experiment { ", unless the experiment file names another source" } else { "" };
    format!("it is read from the variable {usual}{file}; --key-env names another one, --key-file a file")
}

fn retriever(cause: Cause, site: &str) -> Option<String> {
    Some(match cause {
        Cause::ConnectionRefused => format!("is the retriever running at {site}, and is the port in --wiki right?"),
        Cause::UnknownHost | Cause::Tls => format!("check the address in --wiki ({site}), and the network"),
        Cause::NotTheWiki | Cause::NotFound | Cause::BadRequest | Cause::BadAnswer | Cause::UnknownModel => {
            format!(
                "check that --wiki names the whole address of a retriever, such as http://127.0.0.1:8000/retrieve (now {site})"
            )
        }
        Cause::Key | Cause::Payment | Cause::Quota | Cause::Refusal | Cause::ContentFilter => {
            format!("the retriever wants a login: name one that is open with --wiki (now {site})")
        }
        _ => return None,
    })
}

/// What the errors of a recording that cannot be written say.
const UNWRITTEN: &str = "cannot append to";
const UNWRITTEN_HINT: &str = "free some space, or make the file of --record writable; then --resume";

fn wikipedia(cause: Cause, detail: &str, variant: &Variant) -> String {
    let site = printable(variant.wiki_origin.as_deref().unwrap_or_default(), MAX_ADDRESS_CHARS);
    if WikiName::of(&variant.wiki).kind == WikiKind::Retriever
        && let Some(hint) = retriever(cause, &site)
    {
        return hint;
    }
    match cause {
        Cause::ConnectionRefused => format!("is the wiki running at {site}, and is the port of --wiki-url right?"),
        Cause::UnknownHost => format!("check the host's name in --wiki-url ({site}), and the network"),
        Cause::Tls => format!("check --wiki-url ({site}): https or http? and the system's certificates"),
        Cause::RateLimit => {
            "the site limits requests: lower --wiki-per-minute and give --contact; then --resume".to_owned()
        }
        Cause::Forbidden => "the site refuses this client: give a --contact that its operators can reach".to_owned(),
        Cause::Key | Cause::Payment | Cause::Quota | Cause::Refusal | Cause::ContentFilter => {
            format!("the site wants a login: name one that is open with --wiki-url, or another --wiki (now {site})")
        }
        Cause::NotTheWiki => format!(
            "open {site} in a browser: does the network want a login, does a proxy answer in its place, and is it a \
             MediaWiki site?"
        ),
        Cause::NotFound
        | Cause::BadRequest
        | Cause::BadAnswer
        | Cause::UnknownModel
        | Cause::MalformedCall
        | Cause::UnknownReason => {
            format!("check that --wiki-url ({site}) names a MediaWiki site, or its api.php")
        }
        Cause::Timeout => "raise --wiki-timeout, or lower --wiki-concurrency; then --resume".to_owned(),
        Cause::ServerError => "the site has trouble of its own: --resume later".to_owned(),
        Cause::Connection => format!("check the network, and whether {site} can be reached; then --resume"),
        Cause::Recording if detail.contains(UNWRITTEN) => UNWRITTEN_HINT.to_owned(),
        Cause::Recording => {
            "the recording has other searches: replay with the settings it was made with, or record again".to_owned()
        }
        Cause::TokenLimit | Cause::ContextOverflow | Cause::Empty | Cause::Other => {
            "--resume runs these episodes again".to_owned()
        }
    }
}
