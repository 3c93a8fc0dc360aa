//! The error message of a server that refuses a request.

use crate::base::finish::TOOL_USE_FAILED;
use crate::base::{Cause, RequestOption, RequestOptions, locked};
use serde_json::Value;
use std::sync::{Arc, Mutex, OnceLock};

/// How much of a call that a provider cannot read is kept, in bytes.
pub(in crate::models) const MAX_MALFORMED: usize = 64 << 10;
/// Longest message that an error quotes, in characters.
pub(super) const MESSAGE_CHARS: usize = 300;
/// Codes of errors by which servers say that a prompt does not fit.
const TOO_LONG_CODES: [&str; 3] = ["context_length_exceeded", "tokens_limit_reached", "exceed_context_size_error"];
/// How servers say that a prompt does not fit, or prompt and answer together, whatever the status of the error is.
const TOO_LONG: [&str; 8] = [
    "maximum context length is",
    "exceeds the available context size",
    "exceeds the context window",
    "exceeds the context length",
    "greater than the context length",
    "context length of only",
    // SGLang.
    "longer than the model's context",
    // LiteLLM.
    "contextwindowexceedederror",
];
/// The same, in an error with a status or code of a refused request.
const TOO_LONG_REQUEST: [&str; 13] = [
    "maximum prompt length",
    // vLLM.
    "maximum model length",
    "max_tokens must be at least 1, got -",
    "max_tokens must be at least 1, got 0",
    // TGI.
    "`max_new_tokens` must be <=",
    "`inputs` must have less than",
    // Cohere.
    "too many tokens",
    // Moonshot, Zhipu, DashScope, Ark.
    "exceeded model token limit",
    "prompt exceeds max length",
    "range of input length",
    "exceed max message tokens",
    // NIM.
    "exceeds maximum input length",
    // Databricks.
    "exceeds maximum input token limit",
];
/// Names of the context, which say that it is full only beside a count or a limit.
const CONTEXTS: [&str; 7] = [
    "maximum context of",
    "context length",
    "context_length",
    "context window",
    "context size",
    "context limit",
    "max_model_len",
];
const INPUTS: [&str; 3] = ["input token count", "number of input tokens", "input length"];
/// What is too long where servers say only that: the prompt, or something else in the request, by the words before it.
const PROMPT: [&str; 8] = ["prompt", "input", "inputs", "conversation", "context", "messages", "request", "content"];
const OTHERS: [&str; 16] = [
    "id", "name", "stop", "array", "key", "tool", "took", "takes", "taking", "waited", "waiting", "running", "header",
    "uri", "url", "queue",
];
/// How many words before `too long` say what is.
const SUBJECT: usize = 10;
/// Codes and words of limits per minute, which some servers report as a request that is too large.
const RATE_CODES: [&str; 2] = ["rate_limit_exceeded", "rate_limit_error"];
const RATE_WORDS: [&str; 4] = ["tokens per minute", "requests per minute", "tokens per day", "please wait before"];
/// How much of a body is searched for a message, in bytes.
const SEARCHED: usize = 1 << 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::models) struct Refusal {
    /// The message, on one line; not yet masked or cut.
    pub(in crate::models) message: String,
    /// The setting that it is about, if the server names it.
    pub(in crate::models) param: Option<String>,
    pub(in crate::models) code: Option<String>,
    kind: Option<String>,
    status: Option<u16>,
    /// What the model wrote, if the server says that it cannot read the model's call.
    written: Option<Box<str>>,
}

impl Refusal {
    /// Finds the message in an error's body: `error.message`, `error`, `message`, `detail` (text, or a list with
    /// `msg`), the title of a web page, or the text itself. Of a list of errors, the first is used.
    pub(in crate::models) fn read(body: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let json = json.get(0).unwrap_or(&json);
        let inner = json.get("error").filter(|e| !e.is_null()).unwrap_or(json);
        let field = |name: &str| inner.get(name).and_then(Value::as_str).map(str::to_owned);
        let message = field("message").or_else(|| inner.as_str().map(str::to_owned)).or_else(|| detail(inner));
        let message = message.unwrap_or_else(|| {
            let text = String::from_utf8_lossy(&body[..body.len().min(SEARCHED)]);
            title(&text).unwrap_or(&text).to_owned()
        });
        let message = [Some(message), quoted(inner).and_then(|quoted| message_of(&quoted))];
        let message = message.into_iter().flatten().collect::<Vec<_>>().join(": ");
        let message = message.split_whitespace().take(MESSAGE_CHARS).collect::<Vec<_>>().join(" ");
        let message = if message.is_empty() { "no message was given".to_owned() } else { message };
        let status = ["code", "status_code"].iter().find_map(|name| number(inner.get(*name)?));
        let written = malformed(inner);
        Self { message, param: field("param"), code: field("code"), kind: field("type"), status, written }
    }

    pub(super) fn of_finish(reason: &str) -> Self {
        let message = format!("the answer ended with `{reason}`");
        Self { message, param: None, code: None, kind: None, status: Some(503), written: None }
    }
}

fn number(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

/// The error of the provider that `OpenRouter` asked, as it quotes it.
fn quoted(error: &Value) -> Option<Value> {
    let raw = error.get("metadata")?.get("raw")?;
    Some(raw.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| raw.clone()))
}

fn inside(body: &Value) -> &Value {
    body.get("error").filter(|error| error.is_object()).unwrap_or(body)
}

fn message_of(quoted: &Value) -> Option<String> {
    let message = inside(quoted).get("message").or_else(|| quoted.get("error")).unwrap_or(quoted);
    message.as_str().filter(|message| !message.is_empty()).map(str::to_owned)
}

/// What the model wrote, from Groq's error `tool_use_failed`, also where `OpenRouter` or `LiteLLM` quotes it.
fn malformed(error: &Value) -> Option<Box<str>> {
    let written = |error: &Value| {
        error.get("code").filter(|code| *code == TOOL_USE_FAILED)?;
        let written = error.get("failed_generation").and_then(Value::as_str).unwrap_or_default();
        Some(written[..written.floor_char_boundary(MAX_MALFORMED)].into())
    };
    let in_message = || {
        let message = error.get("message")?.as_str().filter(|message| message.contains(TOOL_USE_FAILED))?;
        let mut quoted = serde_json::Deserializer::from_str(&message[message.find('{')?..]).into_iter::<Value>();
        written(inside(&quoted.next()?.ok()?))
    };
    written(error).or_else(|| written(inside(&quoted(error)?))).or_else(in_message)
}

/// Whether an error of the request says in words that the prompt does not fit.
fn is_full(message: &str) -> bool {
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    let exceeds = message.contains("exceed");
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let counts = || message.split(|c: char| !c.is_ascii_alphanumeric()).any(is_number) || message.contains("tokens");
    says(&TOO_LONG_REQUEST)
        || (says(&CONTEXTS) && (exceeds || counts()))
        || (says(&INPUTS) && exceeds)
        || prompt_is_too_long(message)
}

/// Whether a message says of the prompt, and not of something else in the request, that it is too long.
fn prompt_is_too_long(message: &str) -> bool {
    let Some((before, _)) = message.split_once("too long") else { return false };
    let words = before.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let subject: Vec<&str> = words.rev().take(SUBJECT).collect();
    let is_other = |word: &&str| OTHERS.contains(word) || word.ends_with("_id") || word.ends_with("_name");
    // A string is the prompt only if its field is one of the prompt's.
    if let ["string", field, ..] = subject[..] {
        return field == "text" || PROMPT.contains(&field);
    }
    PROMPT.iter().any(|word| subject.contains(word)) && !subject.iter().any(is_other)
}

impl Refusal {
    /// The status of an error that was reported inside an answer: the one it names, or the one that its type has
    /// elsewhere (<https://platform.claude.com/docs/en/api/errors>).
    pub(in crate::models) fn status(&self) -> u16 {
        self.named_status().unwrap_or(500)
    }

    /// What the model wrote, if an answer with this status says that the server cannot read the model's call. Where a key,
    /// a limit or the server is at fault, an earlier error that it quotes is not the reason.
    pub(super) fn malformed(&self, status: u16) -> Option<&str> {
        let is_request = |status: u16| matches!(status, 400 | 422);
        let fits = (200..300).contains(&status) || is_request(status);
        self.written.as_deref().filter(|_| fits && self.named_status().is_none_or(is_request))
    }

    fn named_status(&self) -> Option<u16> {
        let of_type = |kind: &String| {
            Some(match kind.as_str() {
                "invalid_request_error"
                | "invalid_prompt"
                | "bio_policy"
                | "misalignment_policy_violation"
                | TOOL_USE_FAILED => 400,
                code if TOO_LONG_CODES.contains(&code) => 400,
                "authentication_error" => 401,
                "billing_error" => 402,
                "permission_error" => 403,
                "not_found_error" => 404,
                "request_too_large" => 413,
                "rate_limit_error" | "rate_limit_exceeded" => 429,
                "timeout_error" => 504,
                "overloaded_error" => 529,
                _ => return None,
            })
        };
        self.status.or_else(|| [&self.code, &self.kind].into_iter().flatten().find_map(of_type))
    }

    /// What went wrong, by the status and the words of the servers that say more.
    pub(in crate::models) fn cause(&self, status: u16) -> Cause {
        let message = self.message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
        let called =
            |names: &[&str]| [&self.code, &self.kind].into_iter().flatten().any(|name| names.contains(&&**name));
        // Words such as "quota" are also said of limits per minute, which pass.
        if called(&["insufficient_quota", "billing_hard_limit_reached"]) || says(&["credit balance is too low"]) {
            return Cause::Quota;
        }
        let is_limit = called(&RATE_CODES) || says(&RATE_WORDS);
        // A server may report it as its own failure, or without a status inside an answer.
        if status == 500 && !is_limit && (called(&TOO_LONG_CODES) || says(&TOO_LONG)) {
            return Cause::ContextOverflow;
        }
        if !matches!(status, 400 | 403 | 404 | 413 | 422) {
            return Cause::of_status(status);
        }
        if is_limit {
            return Cause::RateLimit;
        }
        let is_request = matches!(status, 400 | 413 | 422);
        if is_request && (called(&TOO_LONG_CODES) || says(&TOO_LONG) || is_full(&message)) {
            return Cause::ContextOverflow;
        }
        let flagged = ["content_filter", "content_policy_violation", "bio_policy", "misalignment_policy_violation"];
        // The Responses API calls a prompt invalid that breaks its policies.
        if called(&flagged) || called(&["invalid_prompt"]) || says(&["content management policy"]) {
            return Cause::ContentFilter;
        }
        if says(&["api key", "api_key"]) {
            return Cause::Key;
        }
        let no_model =
            says(&["model"]) && says(&["not found", "not exist", "unknown model", "invalid model", "no such model"]);
        if called(&["model_not_found", "invalid_model"]) || (no_model && matches!(status, 400 | 404)) {
            return Cause::UnknownModel;
        }
        Cause::of_status(status)
    }
}

/// The format of `FastAPI` and servers built on it.
fn detail(json: &Value) -> Option<String> {
    let detail = json.get("detail")?;
    if let Some(text) = detail.as_str() {
        return Some(text.to_owned());
    }
    let first = detail.as_array()?.first()?;
    let place = first.get("loc").and_then(Value::as_array).and_then(|loc| loc.last()).and_then(Value::as_str);
    let text = first.get("msg")?.as_str()?;
    Some(place.map_or_else(|| text.to_owned(), |place| format!("{place}: {text}")))
}

fn title(html: &str) -> Option<&str> {
    let lower = html.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower[open..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    Some(&html[start..end])
}

// Which options a server refuses, learned from its error messages.
//
// What is refused once is not sent again, in no request to this model. An option whose value a person has set is not left
// out: the refusal is an error then.

/// What a server has refused so far, or is known to refuse, and which model answers. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct LearnedOptions(Arc<Mutex<RequestOptions>>, Arc<OnceLock<String>>);

impl LearnedOptions {
    pub(super) fn new(known: RequestOptions) -> Self {
        Self(Arc::new(Mutex::new(known)), Arc::default())
    }

    pub fn refused(&self) -> RequestOptions {
        *locked(&self.0)
    }

    /// The model that answered in place of the one that was asked, as the server calls it.
    pub fn other_model(&self) -> Option<&str> {
        self.1.get().map(String::as_str)
    }

    /// Notes which model answered, if it is another one than was asked.
    pub(super) fn answered_by(&self, asked: &str, answered: Option<&str>) {
        if let Some(other) = answered.filter(|answered| is_other_model(asked, answered)) {
            self.1.get_or_init(|| other.to_owned());
        }
    }

    pub(super) fn know(&self, refused: RequestOptions) {
        let mut known = locked(&self.0);
        refused.iter().for_each(|option| known.insert(option));
    }

    /// Notes a refusal. Returns whether a request without that option may succeed, and may be sent: not if the option is
    /// `required`.
    pub(super) fn learn(&self, sent: RequestOptions, required: RequestOptions, status: u16, refusal: &Refusal) -> bool {
        let mut refused = locked(&self.0);
        match option(refusal, status, sent) {
            // A server that refuses streams as well would be asked forever.
            Some(RequestOption::Whole) if refused.contains(RequestOption::Stream) => false,
            Some(option) if !required.contains(option) => {
                refused.insert(option);
                true
            }
            Some(_) | None => false,
        }
    }
}

/// Whether an answer's name of its model is not one of the model that was asked: servers add a date, an owner or a path.
pub(super) fn is_other_model(asked: &str, answered: &str) -> bool {
    let words = |name: &str| name.trim().trim_end_matches("-latest").to_ascii_lowercase();
    let [asked, answered] = [words(asked), words(answered)];
    !answered.is_empty() && !asked.contains(&answered) && !answered.contains(&asked)
}

/// The sent option that the server refuses, if leaving it out may help.
fn option(refusal: &Refusal, status: u16, sent: RequestOptions) -> Option<RequestOption> {
    use RequestOption::{
        CacheControl, Include, MaxTokens, ParallelCalls, Seed, Stop, Stream, StreamUsage, Summary, Temperature,
        Thoughtless, Thoughts, ThoughtsContent, ThoughtsDetails, TopP, Unsigned, UserAfterTool, Whole,
    };
    // What does not fit, or comes too fast, would be refused without the setting too.
    if !matches!(status, 400 | 422) || matches!(refusal.cause(status), Cause::ContextOverflow | Cause::RateLimit) {
        return None;
    }
    let text = refusal.message.to_ascii_lowercase();
    let param = refusal.param.as_deref().unwrap_or_default().to_ascii_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let names = |all: &[&str]| all.iter().any(|name| param == *name || words.contains(name));
    let unknown = unknown(refusal, &text);
    let (temperature, top_p) = (names(&["temperature"]), names(&["top_p", "topp"]));
    // Which of two settings that exclude each other is to go is for a person to say.
    let excluded = temperature && top_p && words.contains(&"both");
    let stream = names(&["stream", "streaming"]);
    let limits = ["max_completion_tokens", "max_tokens", "max_output_tokens"];
    let whole = stream && (text.contains("only support") || text.contains("non-stream"));
    let says = |all: &[&str]| all.iter().any(|words| text.contains(words));
    let demanded = !unknown && says(&["missing", "must", "required"]);
    // Of Mistral, of the templates of its models, and of Anthropic, for which a turn of the user's ends the reasoning.
    let order =
        says(&["role 'user' after role 'tool'", "roles must alternate", "expected `thinking` or `redacted_thinking`"]);
    // Messages often name streams along with an option that streams do not allow, which comes first.
    let candidates = [
        (MaxTokens, names(&limits[..1]) && !text.contains("too large") || names(&limits[1..]) && unknown),
        (StreamUsage, names(&["stream_options", "include_usage"])),
        (TopP, top_p && !excluded),
        (Temperature, temperature && unknown && !excluded),
        (Seed, names(&["seed"]) && unknown),
        (ParallelCalls, names(&["parallel_tool_calls"])),
        (Include, names(&["include", "encrypted_content"]) || text.contains("encrypted content")),
        (Summary, param == "reasoning.summary" || text.contains("reasoning summar")),
        (CacheControl, names(&["cache_control"]) && unknown),
        (Stop, names(&["stop", "stop_sequences", "stopsequences"])),
        (Stream, stream),
        (Whole, whole),
        (Thoughtless, names(&["reasoning_content"]) && demanded),
        (Thoughts, names(&["reasoning"]) && unknown),
        (ThoughtsContent, names(&["reasoning_content"]) && unknown),
        (ThoughtsDetails, names(&["reasoning_details"]) && unknown),
        (UserAfterTool, order),
        (Unsigned, names(&["thought_signature", "thoughtsignature"]) && demanded),
    ];
    let is_sent = |option| if option == Whole { !sent.contains(Stream) } else { sent.contains(option) };
    candidates.into_iter().find(|(option, refused)| *refused && is_sent(*option)).map(|(option, _)| option)
}

/// Whether the option itself is refused, or every value but its default: another value that is out of bounds is an error.
fn unknown(refusal: &Refusal, text: &str) -> bool {
    let words = [
        "unsupported",
        "not support",
        "unknown",
        "unrecognized",
        "unexpected",
        "extra",
        "not permitted",
        "not allowed",
        "deprecated",
        "only the default",
    ];
    refusal.code.as_deref().is_some_and(|code| code.contains("unsupported") || code.contains("unknown"))
        || words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{LearnedOptions, Refusal, is_other_model, option};
    use crate::base::RequestOption::{
        self, CacheControl, Include, MaxTokens, Seed, Stop, Stream, StreamUsage, Summary, Temperature, TopP, Whole,
    };
    use crate::base::{Cause, RequestOptions};

    #[test]
    fn the_message_is_found_wherever_servers_put_it() {
        for (body, message) in [
            (r#"{"error":{"message":"no\nsuch  model","type":"x"}}"#, "no such model"),
            (r#"{"error":"plain"}"#, "plain"),
            (r#"{"object":"error","message":"older","code":404}"#, "older"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (
                r#"{"detail":[{"loc":["body","stop"],"msg":"extra fields not permitted"}]}"#,
                "stop: extra fields not permitted",
            ),
            ("<html><TITLE>502 Bad\nGateway</TITLE><body>x", "502 Bad Gateway"),
            (r#"[{"error":{"code":400,"message":"in a list","status":"X"}}]"#, "in a list"),
            ("upstream  connect error", "upstream connect error"),
            ("", "no message was given"),
            (r#"{"error":null}"#, r#"{"error":null}"#),
        ] {
            assert_eq!(Refusal::read(body.as_bytes()).message, message, "{body}");
        }
    }

    #[test]
    fn causes_are_told_apart_by_status_and_words() {
        for (status, body, cause) in [
            (401, "{}", Cause::Key),
            (400, r#"{"error":{"message":"API key not valid. Please pass a valid API key."}}"#, Cause::Key),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#, Cause::Payment),
            (403, r#"{"error":{"message":"no"}}"#, Cause::Forbidden),
            (404, "<title>404</title>", Cause::NotFound),
            (
                404,
                r#"{"error":{"message":"The model `x` does not exist","code":"model_not_found"}}"#,
                Cause::UnknownModel,
            ),
            (404, r#"{"error":{"message":"model \"x\" not found, try pulling it first"}}"#, Cause::UnknownModel),
            (404, r#"{"error":{"message":"model: claude-x","type":"not_found_error"}}"#, Cause::NotFound),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#,
                Cause::Quota,
            ),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota, retry in 9 s","status":"RESOURCE_EXHAUSTED"}}"#,
                Cause::RateLimit,
            ),
            (400, r#"{"error":{"message":"Your credit balance is too low to access the API."}}"#, Cause::Quota),
            (400, r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#, Cause::ContextOverflow),
            (
                400,
                r#"{"error":{"code":400,"message":"request (9102 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error"}}"#,
                Cause::ContextOverflow,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
                Cause::ContextOverflow,
            ),
            (
                400,
                r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"}}"#,
                Cause::ContextOverflow,
            ),
            (400, r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#, Cause::ContextOverflow),
            (400, r#"{"error":{"message":"no","code":"content_filter"}}"#, Cause::ContentFilter),
            (400, r#"{"error":{"message":"flagged","code":"invalid_prompt"}}"#, Cause::ContentFilter),
            (400, r#"{"error":{"message":"stop: too many"}}"#, Cause::BadRequest),
            (503, r#"{"error":{"message":"model is loading"}}"#, Cause::ServerError),
            (501, "<title>Unsupported method</title>", Cause::NotFound),
        ] {
            assert_eq!(Refusal::read(body.as_bytes()).cause(status), cause, "{status} {body}");
        }
    }

    /// What servers say of a prompt that does not fit, and of other things that are too long or too large.
    const TOO_LARGE: &[(u16, &str, Cause)] = &[
        (
            422,
            r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 3900 `inputs` tokens and 512 `max_new_tokens`","error_type":"validation"}"#,
            Cause::ContextOverflow,
        ),
        (
            422,
            r#"{"error":"Input validation error: `inputs` must have less than 1024 tokens. Given: 2000"}"#,
            Cause::ContextOverflow,
        ),
        (
            400,
            r#"{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4081"}"#,
            Cause::ContextOverflow,
        ),
        (
            400,
            r#"{"message":"too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs."}"#,
            Cause::ContextOverflow,
        ),
        (
            400,
            r#"{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller"}"#,
            Cause::ContextOverflow,
        ),
        (
            400,
            r#"{"message":"This model's maximum context length is 4096 tokens. However, you requested 4608 tokens"}"#,
            Cause::ContextOverflow,
        ),
        (
            400,
            r#"{"message":"'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context length is 2048 tokens"}"#,
            Cause::ContextOverflow,
        ),
        (400, r#"{"message":"max_tokens must be at least 1, got -26."}"#, Cause::ContextOverflow),
        (
            400,
            r#"{"message":"Input prompt (5000 tokens) is too long and exceeds limit of 4096"}"#,
            Cause::ContextOverflow,
        ),
        (
            400,
            r#"{"message":"The prompt (total length 9) is too long to fit into the model (8)"}"#,
            Cause::ContextOverflow,
        ),
        (
            400,
            r#"{"message":"The input (9000 tokens) is longer than the model's context length (8192 tokens)."}"#,
            Cause::ContextOverflow,
        ),
        (400, r#"{"error":{"message":"Input is too long for requested model."}}"#, Cause::ContextOverflow),
        (
            400,
            r#"{"error":{"message":"Invalid 'messages[2].content': string too long. Expected maximum length 9","code":"string_above_max_length"}}"#,
            Cause::ContextOverflow,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.","code":"string_above_max_length"}}"#,
            Cause::BadRequest,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64"}}"#,
            Cause::BadRequest,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid 'stop': array too long. Expected an array with maximum length 4"}}"#,
            Cause::BadRequest,
        ),
        (
            413,
            r#"{"error":{"message":"Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}"#,
            Cause::RateLimit,
        ),
    ];

    #[test]
    fn a_context_that_is_full_is_told_from_other_things_that_are_too_long() {
        for (status, body, cause) in TOO_LARGE {
            assert_eq!(Refusal::read(body.as_bytes()).cause(*status), *cause, "{status} {body}");
        }
    }

    #[test]
    fn servers_say_in_many_words_that_the_context_is_full() {
        for (status, message) in [
            (400, "Input length (5000 tokens) exceeds the maximum allowed length (4096 tokens)."),
            (400, "the number of input tokens 9017 cannot exceed the total tokens limit 8192 for this model"),
            (400, "Prompt length (5000) exceeds maximum input length (4096)"),
            (400, "Total tokens of image and text exceed max message tokens. Request id: 1"),
            (400, "max_tokens must be at least 1, got 0."),
            (400, "litellm.ContextWindowExceededError: BedrockException: x"),
            (400, "Your input exceeds the context window of this model."),
            (500, "the request exceeds the available context size. try increasing the context size"),
            (500, "The number of tokens to keep from the initial prompt is greater than the context length."),
            (500, "However, the model is loaded with context length of only 4096 tokens"),
        ] {
            let body = serde_json::json!({ "error": message }).to_string();
            assert_eq!(Refusal::read(body.as_bytes()).cause(status), Cause::ContextOverflow, "{message}");
        }
        for (status, body) in [
            (413, r#"{"error":{"code":"tokens_limit_reached","message":"Max size: 8000 tokens."}}"#),
            (
                400,
                r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}"}}}"#,
            ),
        ] {
            assert_eq!(Refusal::read(body.as_bytes()).cause(status), Cause::ContextOverflow, "{body}");
        }
    }

    #[test]
    fn words_that_are_only_like_those_of_a_full_context_are_none() {
        for (status, message) in [
            (400, "The request took too long and was cancelled"),
            (400, "request waited too long in the queue"),
            (400, "The request has been running too long"),
            (403, "The 1M context window beta is not enabled for this account"),
            (400, "The 1M context window beta is not enabled for this account"),
            (404, "No endpoints found that support this context length setting right now"),
            (404, "This model's maximum context length is 9 tokens"),
            (403, "prompt is too long"),
            (400, "Context cache expired: maximum context cache age exceeded"),
            (400, "User-Agent header in request too long"),
            (400, "Unrecognized request argument supplied: context_length"),
            (400, "Invalid 'input[5].encrypted_content': string too long. Expected a string with maximum length 10"),
            (500, "the request took too long"),
            (500, "could not allocate the context window"),
            (503, "maximum context length is 9 tokens"),
        ] {
            let body = serde_json::json!({ "error": message }).to_string();
            assert_ne!(Refusal::read(body.as_bytes()).cause(status), Cause::ContextOverflow, "{status} {message}");
        }
    }

    #[test]
    fn a_call_that_cannot_be_read_is_the_reason_only_of_an_error_of_the_request() {
        let direct = r#"{"error":{"code":"tool_use_failed","failed_generation":"f(","message":"x"}}"#;
        let nested = r#"{"error":{"message":"down","previous":[{"error":{"code":"tool_use_failed"}}]}}"#;
        let quoted = r#"{"error":{"message":"no {\"code\":\"tool_use_failed\"}"}}"#;
        let limited = r#"{"error":{"message":"{\"code\":\"tool_use_failed\"}","code":"rate_limit_exceeded"}}"#;
        for (body, status, malformed) in [
            (direct, 400, Some("f(")),
            (direct, 422, Some("f(")),
            (direct, 200, Some("f(")),
            (direct, 401, None),
            (direct, 429, None),
            (direct, 503, None),
            (nested, 400, None),
            (nested, 503, None),
            (quoted, 400, Some("")),
            (quoted, 200, Some("")),
            (quoted, 401, None),
            (limited, 400, None),
            (limited, 200, None),
        ] {
            assert_eq!(Refusal::read(body.as_bytes()).malformed(status), malformed, "{status} {body}");
        }
    }

    #[test]
    fn an_error_inside_an_answer_has_the_status_of_its_kind() {
        for (error, status) in [
            (r#"{"type":"overloaded_error","message":"Overloaded"}"#, 529),
            (r#"{"code":"rate_limit_exceeded","message":"no"}"#, 429),
            (r#"{"code":502,"message":"no"}"#, 502),
            (r#"{"code":"502","message":"no"}"#, 502),
            (r#"{"code":"x","status_code":400,"message":"no"}"#, 400),
            (r#"{"code":"context_length_exceeded","message":"no"}"#, 400),
            (r#"{"code":"tool_use_failed","message":"no"}"#, 400),
            (r#"{"code":"invalid_prompt","message":"no"}"#, 400),
            (r#"{"code":7,"message":"no"}"#, 500),
            (r#"{"message":"no"}"#, 500),
        ] {
            assert_eq!(Refusal::read(format!(r#"{{"error":{error}}}"#).as_bytes()).status(), status, "{error}");
        }
    }

    #[test]
    fn a_huge_page_is_not_read_to_its_end() {
        let page = format!("<title>{}", "<".repeat(5_000_000));
        assert!(Refusal::read(page.as_bytes()).message.len() <= 1 << 16);
    }

    fn read(body: &serde_json::Value) -> Refusal {
        Refusal::read(body.to_string().as_bytes())
    }

    #[test]
    fn refused_options_are_recognised_and_others_left_alone() {
        let all: RequestOptions = RequestOption::ALL.into_iter().filter(|option| *option != Whole).collect();
        let openai = |message: &str, param: &str, code: &str| serde_json::json!({"error": {"message": message, "param": param, "code": code}});
        let detail =
            |name: &str| serde_json::json!({"detail": [{"loc": ["body", name], "msg": "extra fields not permitted"}]});
        let newer = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        let large = "max_tokens is too large: 5000. This model supports at most 4096 tokens";
        let larger = "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum context length is 2048 tokens and your request has 1800 input tokens (512 > 2048 - 1800). None";
        let own = "max_completion_tokens is too large: 99999. This model supports at most 16384 completion tokens";
        let full = "`stop` and prompt: this model's maximum context length is 9 tokens";
        let verify = "Your organization must be verified to stream this model.";
        let fixed = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.";
        let summary = "Your organization must be verified to generate reasoning summaries.";
        let mass = "Unsupported parameter: 'top_p' is not supported with this model.";
        let both = "`temperature` and `top_p` cannot both be specified for this model. Please use only one.";
        for (status, body, expected) in [
            (400, openai("'stop' is not supported with this model.", "stop", "unsupported_parameter"), Some(Stop)),
            (400, openai("`stop` is not available", "", ""), Some(Stop)),
            (422, detail("stop"), Some(Stop)),
            (400, openai("`stop` cannot be used in a stream", "", ""), Some(Stop)),
            (400, openai("stop_sequences: Extra inputs are not permitted", "", ""), Some(Stop)),
            (400, openai("unstoppable stop_token_ids", "", ""), None),
            (400, openai(newer, "max_tokens", ""), Some(MaxTokens)),
            (400, openai("no", "max_tokens", "unsupported_parameter"), Some(MaxTokens)),
            (400, openai(large, "max_tokens", ""), None),
            (400, openai(larger, "", ""), None),
            (400, openai(own, "", ""), None),
            (400, openai(full, "stop", ""), None),
            (400, openai("no `seed` is supported here", "", "context_length_exceeded"), None),
            (400, openai("maximum context length is 4097 tokens", "", ""), None),
            (400, openai(verify, "stream", "unsupported_value"), Some(Stream)),
            (400, openai(summary, "reasoning.summary", "unsupported_value"), Some(Summary)),
            (422, detail("stream_options"), Some(StreamUsage)),
            (400, openai(fixed, "temperature", "unsupported_value"), Some(Temperature)),
            (400, openai("`temperature` is deprecated for this model.", "", ""), Some(Temperature)),
            (400, openai("temperature: Extra inputs are not permitted", "", ""), Some(Temperature)),
            (400, openai("`temperature` must be strictly positive", "", ""), None),
            (400, openai(mass, "top_p", "unsupported_parameter"), Some(TopP)),
            (422, openai("`top_p` must be > 0.0 and < 1.0", "", ""), Some(TopP)),
            (400, openai(both, "", ""), None),
            (400, openai("Unknown name \"seed\" at 'generation_config': Cannot find field.", "", ""), Some(Seed)),
            (400, openai("Encrypted content is not supported with this model.", "include", ""), Some(Include)),
            (400, openai("system.0.cache_control: Extra inputs are not permitted", "", ""), Some(CacheControl)),
            (400, openai("Unsupported parameter: max_output_tokens", "", ""), Some(MaxTokens)),
            (400, openai("Invalid 'max_output_tokens': integer below minimum value.", "max_output_tokens", ""), None),
            (501, openai("no streaming", "", ""), None),
            (401, openai("stop", "", ""), None),
            (404, openai("max_completion_tokens", "", ""), None),
        ] {
            assert_eq!(option(&read(&body), status, all), expected, "{body}");
        }
    }

    #[test]
    fn servers_that_only_stream_are_recognised() {
        let read = |text: &str| read(&serde_json::json!({"error": {"message": text}}));
        for text in [
            "This model only support stream mode, please enable the stream parameter to access the model.",
            "parameter.enable_thinking must be set to false for non-streaming calls",
        ] {
            assert_eq!(option(&read(text), 400, RequestOptions::default()), Some(Whole), "{text}");
        }
        assert_eq!(option(&read("no stream"), 400, RequestOptions::default()), None);
    }

    #[test]
    fn what_a_person_has_set_is_not_left_out() {
        let learned = LearnedOptions::default();
        let refusal = read(&serde_json::json!({"error": {"message": "temperature is not supported"}}));
        let temperature = [Temperature].into_iter().collect();
        assert!(!learned.learn(temperature, temperature, 400, &refusal));
        assert!(learned.learn(temperature, RequestOptions::default(), 400, &refusal));
        assert_eq!(learned.refused(), temperature);
    }

    #[test]
    fn dates_owners_and_paths_are_no_other_model() {
        for (asked, answered) in [
            ("gpt-4o", "gpt-4o-2024-08-06"),
            ("claude-sonnet-latest", "claude-sonnet-20250514"),
            ("Qwen/Qwen3-8B", "qwen3-8b"),
            ("smollm2", "/models/SmolLM2.gguf"),
            ("m", ""),
        ] {
            assert!(!is_other_model(asked, answered), "{asked} {answered}");
        }
        assert!(is_other_model("smolllm3", "smollm2") && is_other_model("gpt-5", "gpt-4o"));
    }
}
