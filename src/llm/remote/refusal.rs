//! The error message of a server that refuses a request.

use super::answer::MAX_MALFORMED;
use crate::types::Cause;
use crate::types::finish::TOOL_USE_FAILED;
use serde_json::Value;

/// Longest message that an error quotes, in characters.
pub(super) const MESSAGE_CHARS: usize = 300;
/// How servers say that a prompt does not fit, or prompt and answer together.
const TOO_LONG: [&str; 18] = [
    "context length",
    "context_length",
    "context window",
    "maximum context",
    "context size",
    "context limit",
    "input token count",
    "maximum prompt length",
    // vLLM.
    "maximum model length",
    "max_model_len",
    "max_tokens must be at least 1, got -",
    // TGI.
    "`max_new_tokens` must be <=",
    "`inputs` must have less than",
    // Cohere.
    "too many tokens",
    // Moonshot, Zhipu, DashScope.
    "exceeded model token limit",
    "prompt exceeds max length",
    "range of input length",
    // SGLang.
    "longer than the model's context",
];
/// What is too long where servers say only that: the prompt, or something else in the request, by the words before it.
const PROMPT: [&str; 8] = ["prompt", "input", "inputs", "conversation", "context", "messages", "request", "content"];
const OTHERS: [&str; 6] = ["id", "name", "stop", "array", "key", "tool"];
/// How many words before `too long` say what is.
const SUBJECT: usize = 10;
/// Codes and words of limits per minute, which some servers report as a request that is too large.
const RATE_CODES: [&str; 2] = ["rate_limit_exceeded", "rate_limit_error"];
const RATE_WORDS: [&str; 4] = ["tokens per minute", "requests per minute", "tokens per day", "please wait before"];
/// How deep errors are searched that hold another server's error.
const DEPTH: u32 = 8;
/// How much of a body is searched for a message, in bytes.
const SEARCHED: usize = 1 << 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::llm) struct Refusal {
    /// The message, on one line; not yet masked or cut.
    pub(in crate::llm) message: String,
    /// The setting that it is about, if the server names it.
    pub(in crate::llm) param: Option<String>,
    pub(in crate::llm) code: Option<String>,
    kind: Option<String>,
    /// The status that it names itself.
    status: Option<u16>,
    /// What the model wrote, if the server refuses a call of the model's that it cannot read.
    pub(super) malformed: Option<Box<str>>,
}

impl Refusal {
    /// Finds the message in an error's body: `error.message`, `error`, `message`, `detail` (text, or a list with
    /// `msg`), the title of a web page, or the text itself. Of a list of errors, the first is used.
    pub(in crate::llm) fn read(body: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let json = json.get(0).unwrap_or(&json);
        let inner = json.get("error").filter(|e| !e.is_null()).unwrap_or(json);
        let field = |name: &str| inner.get(name).and_then(Value::as_str).map(str::to_owned);
        let message = field("message").or_else(|| inner.as_str().map(str::to_owned)).or_else(|| detail(inner));
        let message = message.unwrap_or_else(|| {
            let text = String::from_utf8_lossy(&body[..body.len().min(SEARCHED)]);
            title(&text).unwrap_or(&text).to_owned()
        });
        let message = message.split_whitespace().take(MESSAGE_CHARS).collect::<Vec<_>>().join(" ");
        let message = if message.is_empty() { "no message was given".to_owned() } else { message };
        let status = ["code", "status_code"].iter().find_map(|name| number(inner.get(*name)?));
        let malformed = malformed(json, DEPTH);
        Self { message, param: field("param"), code: field("code"), kind: field("type"), status, malformed }
    }

    /// The refusal that a reason for the end of an answer is.
    pub(super) fn of_finish(reason: &str) -> Self {
        let message = format!("the answer ended with `{reason}`");
        Self { message, param: None, code: None, kind: None, status: Some(503), malformed: None }
    }
}

/// A status that an error names, as a number or in digits.
fn number(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

/// What the model wrote, from Groq's error `tool_use_failed`, also where a proxy quotes it.
fn malformed(error: &Value, depth: u32) -> Option<Box<str>> {
    let depth = depth.checked_sub(1)?;
    match error {
        Value::Object(fields) => {
            if fields.get("code").is_some_and(|code| code == TOOL_USE_FAILED) {
                let written = fields.get("failed_generation").and_then(Value::as_str).unwrap_or_default();
                return Some(written[..written.floor_char_boundary(MAX_MALFORMED)].into());
            }
            fields.values().find_map(|value| malformed(value, depth))
        }
        Value::Array(items) => items.iter().find_map(|item| malformed(item, depth)),
        Value::String(text) if text.contains(TOOL_USE_FAILED) => {
            let mut quoted = serde_json::Deserializer::from_str(&text[text.find('{')?..]).into_iter::<Value>();
            malformed(&quoted.next()?.ok()?, depth)
        }
        _ => None,
    }
}

/// Whether a message says of the prompt, and not of something else in the request, that it is too long.
fn prompt_is_too_long(message: &str) -> bool {
    let Some((before, _)) = message.split_once("too long") else { return false };
    let words = before.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let subject: Vec<&str> = words.rev().take(SUBJECT).collect();
    let is_other = |word: &&str| OTHERS.contains(word) || word.ends_with("_id") || word.ends_with("_name");
    PROMPT.iter().any(|word| subject.contains(word)) && !subject.iter().any(is_other)
}

impl Refusal {
    /// The status of an error that was reported inside an answer: the one it names, or the one that its type has
    /// elsewhere (<https://platform.claude.com/docs/en/api/errors>).
    pub(in crate::llm) fn status(&self) -> u16 {
        let of_type = |kind: &String| {
            Some(match kind.as_str() {
                "invalid_request_error"
                | "invalid_prompt"
                | "bio_policy"
                | "misalignment_policy_violation"
                | "context_length_exceeded"
                | TOOL_USE_FAILED => 400,
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
        self.status.or_else(|| [&self.code, &self.kind].into_iter().flatten().find_map(of_type)).unwrap_or(500)
    }

    /// What went wrong, by the status and the words of the servers that say more.
    pub(in crate::llm) fn cause(&self, status: u16) -> Cause {
        let message = self.message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
        let called =
            |names: &[&str]| [&self.code, &self.kind].into_iter().flatten().any(|name| names.contains(&&**name));
        // Words such as "quota" are also said of limits per minute, which pass.
        if called(&["insufficient_quota", "billing_hard_limit_reached"]) || says(&["credit balance is too low"]) {
            return Cause::Quota;
        }
        if !matches!(status, 400 | 403 | 404 | 413 | 422) {
            return Cause::of_status(status);
        }
        if called(&RATE_CODES) || says(&RATE_WORDS) {
            return Cause::RateLimit;
        }
        if called(&["context_length_exceeded"]) || says(&TOO_LONG) || prompt_is_too_long(&message) {
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

#[cfg(test)]
mod tests {
    use super::Refusal;
    use crate::types::Cause;

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
}
