//! What is added to requests: fields of the body and headers. Both are recorded, so neither may hold a secret.

use super::defaults::refuse;
use crate::base::text::{is_secret_name, looks_secret};
use crate::runner::RunError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Largest addition to a body, in bytes of JSON.
const MAX_BODY: usize = 64 << 10;
const MAX_HEADERS: usize = 32;
/// Longest name or value of a header, in bytes.
const MAX_HEADER: usize = 8 << 10;
/// Before the name of a variable that holds the value of a header.
const VARIABLE: &str = "env:";
/// Headers by which servers take keys. One from a variable is sent in place of the key.
const CREDENTIALS: [&str; 5] = ["authorization", "api-key", "x-api-key", "x-goog-api-key", "ocp-apim-subscription-key"];
/// Headers that every request has already, or that belong to the connection.
const OWN_HEADERS: [&str; 15] = [
    "accept",
    "accept-encoding",
    "anthropic-version",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];
/// Fields of a body that are not to be replaced, and what to use instead.
const OWN_FIELDS: [(&[&str], &str); 12] = [
    (&["model", "models"], "name the model with --model"),
    (
        &[
            "messages",
            "prompt",
            "contents",
            "input",
            "system",
            "instructions",
            "systeminstruction",
            "chattemplate",
            "suffix",
        ],
        "the prompt is chosen with --prompt, --protocol and --texts",
    ),
    (
        &["tools", "toolchoice", "toolconfig", "functions", "functioncall", "paralleltoolcalls"],
        "functions are offered by --protocol tools, with --option choice=… and parallel=…",
    ),
    (&["stream", "streamoptions"], "answers are streamed where that is needed"),
    (
        &["previousresponseid", "conversation", "cachedcontent", "store"],
        "each request holds the whole prompt, and nothing is kept on the server",
    ),
    (&["background", "echo"], "the answer is read as the server usually sends it"),
    (&["thinking"], "use --reasoning"),
    (&["n", "bestof", "candidatecount"], "one answer is read; several are asked for with --method cot-sc or --repeats"),
    (&["temperature"], "use --temperature"),
    (&["topp"], "use --top-p"),
    (&["maxtokens", "maxcompletiontokens", "maxoutputtokens"], "use --max-tokens"),
    (&["seed"], "use --seed"),
];
/// The same: the protocol says where an answer ends.
const STOPS: [&str; 2] = ["stop", "stopsequences"];
/// The object in which Gemini has most settings.
const CONFIG: &str = "generationconfig";
/// Settings of sampling and reasoning, spelled as [`folded`] does. A server that gets these contacts no other one, so that a
/// file may set them without confirmation.
const SAMPLING: &str = "topk topa minp typicalp tfsz topnsigma mirostat mirostattau mirostateta repetitionpenalty \
    repeatpenalty repeatlastn lengthpenalty presencepenalty frequencypenalty norepeatngramsize logitbias mintokens \
    ignoreeos stoptokenids skipspecialtokens dosample numbeams usebeamsearch earlystopping logprobs toplogprobs \
    guidedchoice guidedjson reasoning reasoningeffort includereasoning reasoningformat think thinkingconfig \
    thinkingbudget enablethinking chattemplatekwargs outputconfig verbosity servicetier keepalive options";
/// Longest text in the value of such a setting, in bytes.
const MAX_WORD: usize = 64;
/// The header in which a program names itself.
const TITLE: &str = "x-title";
const BY_HEADER: &str = "what is recorded may not hold a secret: send it with --extra-header NAME=env:VARIABLE";

pub fn parse_body(text: &str) -> Result<Value, RunError> {
    match serde_json::from_str(text) {
        Ok(body) => check_body(&body).map(|()| sorted(body.into())),
        Err(_) => refuse(
            "--extra-body is not a JSON object",
            "write one such as '{\"top_k\": 20}', in single quotes so that the shell leaves it alone",
        ),
    }
}

/// The same with the fields of all objects in order: the order in which they are typed makes no difference.
pub fn sorted(mut body: Value) -> Value {
    body.sort_all_objects();
    body
}

/// Refuses what would break requests or is a setting of its own, and what looks like a secret.
pub fn check_body(body: &Map<String, Value>) -> Result<(), RunError> {
    if serde_json::to_vec(body).map_or(usize::MAX, |json| json.len()) > MAX_BODY {
        return refuse("--extra-body is longer than 64 KiB", "leave out what requests do not need");
    }
    let config = || body.iter().filter(|(name, _)| folded(name) == CONFIG);
    if let Some((name, _)) = config().find(|(_, inner)| !inner.is_object()) {
        let message =
            format!("`{name}` in --extra-body is not an object, and would replace all settings of the request");
        return refuse(message, "write its fields, such as '{\"generationConfig\": {\"topK\": 20}}'");
    }
    let inner = config().filter_map(|(_, inner)| inner.as_object());
    for name in body.keys().chain(inner.flat_map(Map::keys)) {
        let field = folded(name);
        let own = OWN_FIELDS.iter().find(|(names, _)| names.contains(&field.as_str())).map(|(_, instead)| *instead);
        let stops = STOPS.contains(&field.as_str()).then_some("the protocol says where an answer ends");
        if let Some(instead) = own.or(stops) {
            return refuse(format!("--extra-body may not set `{field}`: requests have it already"), instead);
        }
    }
    if body.iter().any(|(name, value)| holds_secret(name, value)) {
        return refuse("--extra-body holds what looks like a secret", BY_HEADER);
    }
    Ok(())
}

/// A name in the way that all providers' names for the same are alike.
fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).take(40).collect::<String>().to_ascii_lowercase()
}

/// The fields that may make a server contact other servers, such as connectors and web searches: all but [`SAMPLING`], since
/// providers add new ones.
pub fn unsafe_fields(body: &Map<String, Value>) -> impl Iterator<Item = String> {
    body.iter().filter(|(name, value)| !is_sampling(name, value)).map(|(name, value)| format!("{name}={value}"))
}

fn is_sampling(name: &str, value: &Value) -> bool {
    let field = folded(name);
    match value {
        Value::Object(inner) if field == CONFIG => inner.iter().all(|(name, value)| is_sampling(name, value)),
        _ => SAMPLING.split(' ').any(|known| known == field) && is_plain(value),
    }
}

/// Whether every text in it is short and of letters, digits, spaces, `_` and `-`, and so cannot be an address.
fn is_plain(value: &Value) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || " _-".contains(c);
    let is_word = |text: &str| text.len() <= MAX_WORD && text.chars().all(usual);
    match value {
        Value::String(text) => is_word(text),
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(fields) => fields.iter().all(|(name, value)| is_word(name) && is_plain(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The headers that may allow such fields or hold a key: all but [`TITLE`].
pub fn unsafe_headers(headers: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    headers
        .iter()
        .filter(|(name, value)| *name != TITLE || matches!(HeaderValue::of(value), HeaderValue::Variable(_)))
        .map(|(name, value)| format!("{name}={value}"))
}

fn holds_secret(name: &str, value: &Value) -> bool {
    const NAMES: [&str; 7] = ["apikey", "authorization", "password", "secret", "token", "accesstoken", "credentials"];
    match value {
        Value::String(text) => NAMES.contains(&folded(name).as_str()) || is_secret(text),
        Value::Array(items) => items.iter().any(|item| holds_secret(name, item)),
        Value::Object(fields) => fields.iter().any(|(name, value)| is_secret(name) || holds_secret(name, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a text looks like a key, or is an address with a user part or a secret in its query.
fn is_secret(text: &str) -> bool {
    let of_address = |url: url::Url| {
        !url.username().is_empty()
            || url.password().is_some()
            || url.query_pairs().any(|(name, value)| is_secret_name(&name) || looks_secret(&value))
    };
    looks_secret(text) || text.contains("://") && url::Url::parse(text).is_ok_and(of_address)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderValue<'a> {
    Plain(&'a str),
    /// The name of an environment variable, which holds a secret.
    Variable(&'a str),
}

impl<'a> HeaderValue<'a> {
    pub fn of(text: &'a str) -> Self {
        text.trim().strip_prefix(VARIABLE).map_or(Self::Plain(text), Self::Variable)
    }
}

/// The header with a variable that is sent in place of the key, if one is: its name and the variable's.
pub fn credential(headers: &BTreeMap<String, String>) -> Option<(&str, &str)> {
    headers.iter().find_map(|(name, value)| match HeaderValue::of(value) {
        HeaderValue::Variable(variable) if CREDENTIALS.contains(&name.as_str()) => Some((name.as_str(), variable)),
        _ => None,
    })
}

/// Reads headers as they are typed, each `NAME=VALUE` or `NAME=env:VARIABLE`.
pub fn parse_headers<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<BTreeMap<String, String>, RunError> {
    let mut headers = BTreeMap::new();
    for text in texts {
        let Some((name, value)) = text.split_once('=') else {
            return refuse("--extra-header has no value", "write NAME=VALUE, or NAME=env:VARIABLE for a secret");
        };
        let name = name.trim().to_ascii_lowercase();
        if headers.insert(name.clone(), value.trim().to_owned()).is_some() {
            check_header(&name, "x")?;
            return refuse(format!("--extra-header `{name}` is given twice"), "give each header once");
        }
    }
    check_headers(&headers)?;
    Ok(headers)
}

/// Refuses headers that would break requests, and secrets in plain text. Names are in lower case.
pub fn check_headers(headers: &BTreeMap<String, String>) -> Result<(), RunError> {
    if headers.len() > MAX_HEADERS {
        return refuse(format!("there are more than {MAX_HEADERS} extra headers"), "leave out some");
    }
    headers.iter().try_for_each(|(name, value)| check_header(name, value))
}

fn check_header(name: &str, value: &str) -> Result<(), RunError> {
    let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    // What is not a name may be a secret in the wrong place.
    if name.is_empty() || name.len() > 100 || !name.chars().all(in_name) || looks_secret(name) {
        return refuse(
            "an extra header has no usable name",
            "a name has letters, digits and `-`, such as --extra-header x-title=test",
        );
    }
    if OWN_HEADERS.contains(&name) {
        return refuse(
            format!("--extra-header may not set `{name}`: every request has its own"),
            "leave it out; what is sent for it follows from the other settings",
        );
    }
    match HeaderValue::of(value) {
        HeaderValue::Variable(variable) => check_variable(name, variable),
        HeaderValue::Plain(value) => {
            let in_value = |c: char| c == ' ' || c.is_ascii_graphic();
            if value.is_empty() || value.len() > MAX_HEADER || !value.chars().all(in_value) {
                return refuse(
                    format!("the extra header `{name}` has no usable value"),
                    "a value is at most 8 KiB of visible ASCII characters on one line",
                );
            }
            if is_credential(name) || is_secret(value) {
                return refuse(
                    format!("the extra header `{name}` looks like a secret, and its value would be recorded"),
                    format!("put the value into a variable, and write --extra-header {name}=env:VARIABLE"),
                );
            }
            Ok(())
        }
    }
}

/// A secret in the place of a variable's name must neither be shown nor recorded.
fn check_variable(name: &str, variable: &str) -> Result<(), RunError> {
    let in_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    // The look-up panics or fails with other names.
    let is_set = || !variable.contains(['=', '\0']) && std::env::var_os(variable).is_some();
    if !variable.is_empty() && (variable.chars().all(in_name) || is_set()) {
        return Ok(());
    }
    refuse(
        format!("the extra header `{name}` does not name a variable that is set"),
        "after `env:` comes the name of an environment variable, never the secret itself",
    )
}

fn is_credential(name: &str) -> bool {
    const WORDS: &str = "authorization authentication auth token secret cookie password credential credentials key";
    let last = name.trim_end_matches("-v2");
    let is_told = name.split(['-', '_', '.']).any(|word| WORDS.split(' ').any(|known| known == word));
    is_told || last.ends_with("key") || last.ends_with("token")
}

#[cfg(test)]
mod tests;
