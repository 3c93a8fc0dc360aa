//! Why an episode could not be measured, why a completion is short, and what each provider's reason for the end of a
//! completion says about it: one table for all of them. These are for programs; the words for people are elsewhere.
//!
//! | outcome | what happens |
//! |---|---|
//! | [`Ending::Answer`] | the model's answer, even an empty one |
//! | [`Ending::Paused`] | the model's answer so far, which the provider would continue in another request |
//! | [`Ending::Short`] | less than the model's whole answer, for the cause given; it is measured |
//! | [`Ending::Failed`] | the server failed: the request is retried like one with status 503 |
//! | [`Ending::Unclear`] | the provider does not say why: handled like a reason that is not in the table |
//! | [`Ending::Unsaid`] | the provider's word for no reason: recorded as none |
//!
//! An empty answer with a reason that is not in the table is asked for once more; then there is no answer. A text with such
//! a reason is an answer. Both are counted at the end of a run.

use super::named;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Service {
    Model,
    Wikipedia,
}

/// Why an episode could not be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    pub service: Service,
    pub cause: Cause,
}

named! {
    /// What went wrong. The first six also say why a completion is less than the model's whole answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Cause {
        /// The limit of tokens cut the answer.
        TokenLimit = "token_limit",
        /// A filter of the provider withheld prompt or answer.
        ContentFilter = "content_filter",
        Refusal = "refusal",
        /// The prompt, or prompt and answer, do not fit into the model's context.
        ContextOverflow = "context_overflow",
        /// The server sent neither a text nor a call, and no reason.
        Empty = "empty",
        /// The model wrote a call that the provider cannot read.
        MalformedCall = "malformed_call",
        /// The key was rejected (401).
        Key = "key",
        /// The account has to be paid for (402).
        Payment = "payment",
        /// The key, or this machine, may not do this (403).
        Forbidden = "forbidden",
        NotFound = "not_found",
        UnknownModel = "unknown_model",
        /// What the account may spend is spent.
        Quota = "quota",
        /// Nothing listens at this address.
        ConnectionRefused = "connection_refused",
        UnknownHost = "unknown_host",
        Tls = "tls",
        /// The server refused this request, for a reason of its own.
        BadRequest = "bad_request",
        /// Too many requests (429).
        RateLimit = "rate_limit",
        /// The server was overloaded or failed (5xx).
        ServerError = "server_error",
        Timeout = "timeout",
        Connection = "connection",
        /// What came back is not an answer.
        BadAnswer = "bad_answer",
        /// An empty answer ended for a reason that is not known.
        UnknownReason = "unknown_reason",
        /// Something else than the wiki answered.
        NotTheWiki = "not_the_wiki",
        /// A replay has no such answer, or a recording cannot be written.
        Recording = "recording",
        #[serde(other)]
        Other = "other",
    }
}

impl Cause {
    /// Why a completion with this reason for its end is less than the model's whole answer; nothing if it is not less, and
    /// nothing for failures of the server.
    pub fn of_finish(reason: &str) -> Option<Self> {
        match FinishReason::ending(reason)? {
            Ending::Short(cause) => Some(cause),
            Ending::Answer | Ending::Paused | Ending::Failed | Ending::Unclear | Ending::Unsaid => None,
        }
    }

    /// What a status other than success says.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 | 407 => Self::Key,
            402 => Self::Payment,
            403 => Self::Forbidden,
            // By 501 and 505, something else than the API says that it does not know the method, or the protocol.
            300..=399 | 404 | 405 | 410 | 501 | 505 => Self::NotFound,
            408 => Self::Timeout,
            429 => Self::RateLimit,
            409 | 425 | 500.. => Self::ServerError,
            400..=499 => Self::BadRequest,
            0..=299 => Self::BadAnswer,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::RateLimit | Self::ServerError | Self::Timeout)
    }

    /// Whether the next request will fail for the same reason, until somebody does something about it.
    pub fn is_lasting(self) -> bool {
        matches!(
            self,
            Self::Key
                | Self::Payment
                | Self::Forbidden
                | Self::NotFound
                | Self::UnknownModel
                | Self::Quota
                | Self::ConnectionRefused
                | Self::UnknownHost
                | Self::Tls
                | Self::BadRequest
                | Self::NotTheWiki
        )
    }
}

/// What a reason says about a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Answer,
    Paused,
    Short(Cause),
    Failed,
    Unclear,
    Unsaid,
}

impl Ending {
    pub fn description(self) -> String {
        match self {
            Self::Answer => "answer".to_owned(),
            Self::Paused => "answer, paused".to_owned(),
            Self::Short(cause) => format!("answer, `{}`", cause.name()),
            Self::Failed => "failure of the server".to_owned(),
            Self::Unclear => "not known".to_owned(),
            Self::Unsaid => "no reason".to_owned(),
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishReason {
    /// The provider or the API that uses it.
    pub api: &'static str,
    /// The reason as it is sent.
    pub reason: &'static str,
    /// The reason as it is recorded; empty for none.
    pub recorded: String,
    /// How the reply ended.
    pub ending: Ending,
    /// Where it is documented.
    pub source: &'static str,
}

/// Recorded where the model declined to answer, whatever the server's reason is.
pub const REFUSAL: &str = "refusal";
/// Recorded where the server could not read the call that the model wrote, and refuses the request for it.
pub const TOOL_USE_FAILED: &str = "tool_use_failed";

const CHAT: &str = "https://platform.openai.com/docs/api-reference/chat/object";
const COMPLETIONS: &str = "https://platform.openai.com/docs/api-reference/completions/object";
const RESPONSES: &str = "https://platform.openai.com/docs/api-reference/responses/object";
const MESSAGES: &str = "https://platform.claude.com/docs/en/api/handling-stop-reasons";
const GEMINI: &str = "https://ai.google.dev/api/generate-content#FinishReason";
const OPENROUTER: &str = "https://openrouter.ai/docs/api-reference/overview#finish-reason";
const DEEPSEEK: &str = "https://api-docs.deepseek.com/api/create-chat-completion";
const MISTRAL: &str = "https://docs.mistral.ai/api/#tag/chat";
const GLM: &str = "https://docs.z.ai/api-reference/llm/chat-completion";
const VLLM: &str = "https://github.com/vllm-project/vllm/blob/main/vllm/v1/engine/__init__.py";
const SGLANG: &str = "https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/protocol.py";
const TGI: &str = "https://huggingface.co/docs/text-generation-inference/reference/api_reference";
const GROQ: &str = "https://console.groq.com/docs/tool-use";
const TOGETHER: &str = "https://docs.together.ai/reference/chat-completions-1";
const COHERE: &str = "https://docs.cohere.com/reference/chat";
const BEDROCK: &str = "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html";
/// For the plain words for a failure of a server, which no provider documents as a reason: what they name.
const ERRORS: &str = "https://platform.openai.com/docs/guides/error-codes";
const WATSONX: &str = "https://cloud.ibm.com/apidocs/watsonx-ai#text-chat";

const CUT: Ending = Ending::Short(Cause::TokenLimit);
const FULL: Ending = Ending::Short(Cause::ContextOverflow);
const FILTERED: Ending = Ending::Short(Cause::ContentFilter);
const DECLINED: Ending = Ending::Short(Cause::Refusal);
const MALFORMED: Ending = Ending::Short(Cause::MalformedCall);

/// How a reason is recorded that is recorded as it is sent, but in small letters.
const AS_SENT: Option<&str> = None;
const STOP: Option<&str> = Some("stop");
const CALLS: Option<&str> = Some("tool_calls");
const LENGTH: Option<&str> = Some("length");
const FILTER: Option<&str> = Some("content_filter");
const OVERFLOW: Option<&str> = Some("context_overflow");

/// API, source, ending and recorded form, and the reasons to which they belong.
type Group = (&'static str, &'static str, Ending, Option<&'static str>, &'static [&'static str]);

/// A reason that several providers use has the same outcome in each group.
const GROUPS: &[Group] = &[
    ("chat", CHAT, Ending::Answer, AS_SENT, &["stop", "tool_calls", "function_call"]),
    ("chat", CHAT, CUT, AS_SENT, &["length"]),
    ("chat", CHAT, FILTERED, AS_SENT, &["content_filter"]),
    ("completions", COMPLETIONS, Ending::Answer, AS_SENT, &["stop"]),
    ("completions", COMPLETIONS, CUT, AS_SENT, &["length"]),
    ("completions", COMPLETIONS, FILTERED, AS_SENT, &["content_filter"]),
    ("responses", RESPONSES, Ending::Answer, STOP, &["completed"]),
    ("responses", RESPONSES, CUT, LENGTH, &["max_output_tokens"]),
    ("responses", RESPONSES, FILTERED, AS_SENT, &["content_filter"]),
    ("responses", RESPONSES, Ending::Unclear, AS_SENT, &["incomplete", "max_messages", "steered"]),
    ("messages", MESSAGES, Ending::Answer, STOP, &["end_turn", "stop_sequence"]),
    ("messages", MESSAGES, Ending::Answer, CALLS, &["tool_use"]),
    ("messages", MESSAGES, Ending::Paused, AS_SENT, &["pause_turn", "compaction"]),
    ("messages", MESSAGES, CUT, LENGTH, &["max_tokens"]),
    ("messages", MESSAGES, FULL, OVERFLOW, &["model_context_window_exceeded"]),
    ("messages", MESSAGES, DECLINED, AS_SENT, &[REFUSAL]),
    ("gemini", GEMINI, Ending::Unsaid, Some(""), &["FINISH_REASON_UNSPECIFIED"]),
    ("gemini", GEMINI, Ending::Answer, AS_SENT, &["STOP"]),
    ("gemini", GEMINI, CUT, LENGTH, &["MAX_TOKENS"]),
    ("gemini", GEMINI, CUT, AS_SENT, &["CONTINUATION"]),
    ("gemini", GEMINI, FILTERED, FILTER, &["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT"]),
    ("gemini", GEMINI, FILTERED, FILTER, &["SPII", "MODEL_ARMOR", "JAILBREAK", "ESCALATION", "IMAGE_SAFETY"]),
    ("gemini", GEMINI, FILTERED, FILTER, &["IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"]),
    ("gemini", GEMINI, MALFORMED, AS_SENT, &["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"]),
    ("gemini", GEMINI, MALFORMED, AS_SENT, &["MALFORMED_RESPONSE"]),
    ("gemini", GEMINI, Ending::Failed, AS_SENT, &["MISSING_THOUGHT_SIGNATURE", "PUP_LIMITED_DISABLED"]),
    ("gemini", GEMINI, Ending::Unclear, AS_SENT, &["OTHER", "IMAGE_OTHER", "NO_IMAGE"]),
    ("openrouter", OPENROUTER, Ending::Failed, AS_SENT, &["error"]),
    ("deepseek", DEEPSEEK, Ending::Failed, AS_SENT, &["insufficient_system_resource"]),
    ("mistral", MISTRAL, Ending::Failed, AS_SENT, &["error"]),
    ("mistral", MISTRAL, FULL, AS_SENT, &["model_length"]),
    ("glm", GLM, Ending::Failed, AS_SENT, &["network_error"]),
    ("glm", GLM, FILTERED, AS_SENT, &["sensitive"]),
    ("glm", GLM, FULL, OVERFLOW, &["model_context_window_exceeded"]),
    ("vllm", VLLM, Ending::Failed, AS_SENT, &["abort", "error"]),
    ("sglang", SGLANG, Ending::Failed, AS_SENT, &["abort"]),
    ("groq", GROQ, MALFORMED, AS_SENT, &[TOOL_USE_FAILED]),
    ("tgi", TGI, Ending::Answer, STOP, &["eos_token", "stop_sequence"]),
    ("together", TOGETHER, Ending::Answer, STOP, &["eos"]),
    ("cohere", COHERE, Ending::Answer, STOP, &["COMPLETE", "STOP_SEQUENCE"]),
    ("cohere", COHERE, Ending::Answer, CALLS, &["TOOL_CALL"]),
    ("cohere", COHERE, CUT, LENGTH, &["MAX_TOKENS"]),
    ("cohere", COHERE, Ending::Failed, AS_SENT, &["ERROR", "TIMEOUT"]),
    ("bedrock", BEDROCK, FILTERED, AS_SENT, &["guardrail_intervened", "content_filtered"]),
    ("bedrock", BEDROCK, MALFORMED, AS_SENT, &["malformed_tool_use", "malformed_model_output"]),
    ("watsonx", WATSONX, Ending::Failed, AS_SENT, &["time_limit", "cancelled", "error"]),
    ("any", RESPONSES, Ending::Failed, AS_SENT, &["failed", "server_error"]),
    ("any", ERRORS, Ending::Failed, AS_SENT, &["internal_error", "engine_error", "overloaded"]),
    ("any", SGLANG, Ending::Failed, AS_SENT, &["aborted"]),
];

/// All reasons that are known.
pub static FINISH_REASONS: LazyLock<Vec<FinishReason>> = LazyLock::new(|| {
    let rows = |&(api, source, ending, recorded, reasons): &Group| {
        let recorded = move |reason: &str| recorded.map_or_else(|| reason.to_ascii_lowercase(), str::to_owned);
        reasons.iter().map(move |reason| FinishReason { api, reason, recorded: recorded(reason), ending, source })
    };
    GROUPS.iter().flat_map(rows).collect()
});

/// A reason without what spellings of it differ in.
fn folded(reason: &str) -> String {
    let is_gap = |c: char| c.is_whitespace() || matches!(c, '-' | '_');
    reason.chars().filter(|c| !is_gap(*c)).map(|c| c.to_ascii_lowercase()).collect()
}

impl FinishReason {
    /// The row of a reason, as it is sent or as it is recorded, in letters of either case, with or without spaces, `-` and
    /// `_`: proxies pass on the reasons of other providers in their own spelling.
    pub fn find(reason: &str) -> Option<&'static Self> {
        let reason = folded(reason);
        let sent = FINISH_REASONS.iter().find(|row| folded(row.reason) == reason);
        let recorded = || FINISH_REASONS.iter().find(|row| !reason.is_empty() && folded(&row.recorded) == reason);
        sent.or_else(recorded)
    }

    /// What a reason says, as it is sent or as it is recorded; nothing if it is not known.
    pub fn ending(reason: &str) -> Option<Ending> {
        Self::find(reason).map(|row| row.ending)
    }

    /// The recorded form of a reason; a reason that is not known is recorded in small letters.
    pub fn recorded(reason: &str) -> Option<String> {
        let recorded = Self::find(reason).map_or_else(|| reason.to_ascii_lowercase(), |row| row.recorded.clone());
        Some(recorded).filter(|recorded| !recorded.is_empty())
    }

    /// The table of the documentation.
    pub fn table() -> String {
        let recorded = |row: &Self| match row.recorded.as_str() {
            "" => "none".to_owned(),
            recorded => format!("`{recorded}`"),
        };
        let line = |row: &Self| {
            let outcome = row.ending.description();
            format!("| {} | `{}` | {} | {outcome} | <{}> |\n", row.api, row.reason, recorded(row), row.source)
        };
        let head = "| API or provider | reason | recorded | outcome | source |\n|---|---|---|---|---|\n";
        head.to_owned() + &FINISH_REASONS.iter().map(line).collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::{Ending, FINISH_REASONS, FinishReason};
    use crate::base::{Cause, Completion};

    #[test]
    fn a_reason_has_one_outcome_and_one_recorded_form_whoever_sends_it() {
        for row in FINISH_REASONS.iter() {
            let found = FinishReason::find(row.reason).expect(row.reason);
            assert_eq!((found.ending, &found.recorded), (row.ending, &row.recorded), "{} {}", row.api, row.reason);
            if !row.recorded.is_empty() {
                assert_eq!(FinishReason::ending(&row.recorded), Some(row.ending), "{} {}", row.api, row.recorded);
            }
            assert!(row.source.starts_with("https://"), "{}", row.reason);
            let twice = FINISH_REASONS.iter().filter(|other| (other.api, other.reason) == (row.api, row.reason));
            assert_eq!(twice.count(), 1, "{} {}", row.api, row.reason);
        }
        assert_eq!(FinishReason::ending("xyz"), None);
        assert_eq!(FinishReason::ending(""), None);
        assert_eq!(FinishReason::recorded("XYZ").as_deref(), Some("xyz"));
        assert_eq!(FinishReason::recorded("FINISH_REASON_UNSPECIFIED"), None);
    }

    #[test]
    fn failures_of_the_server_and_of_the_model_are_told_apart() {
        let of = |reason: &str| FinishReason::ending(reason).expect(reason);
        for reason in ["error", "insufficient_system_resource", "abort", "network_error", "ERROR", "timeout"] {
            assert_eq!((of(reason), Cause::of_finish(reason)), (Ending::Failed, None), "{reason}");
        }
        for reason in ["FAILED", " error", "network error", "Network-Error\n", "networkError", "Aborted", "overloaded"]
        {
            assert_eq!((of(reason), Cause::of_finish(reason)), (Ending::Failed, None), "{reason:?}");
        }
        assert_eq!(FinishReason::recorded(" End-Turn").as_deref(), Some("stop"));
        assert_eq!((FinishReason::ending(" "), FinishReason::ending("_")), (None, None));
        for reason in ["MALFORMED_FUNCTION_CALL", "malformed_function_call", "UNEXPECTED_TOOL_CALL", "tool_use_failed"]
        {
            assert_eq!(Cause::of_finish(reason), Some(Cause::MalformedCall), "{reason}");
        }
        let old = Completion { finish_reason: Some("malformed_function_call".to_owned()), ..Completion::default() };
        assert_eq!(old.shortfall(), None, "recordings of earlier versions are read as before");
        assert_eq!(Completion { malformed: true, ..old }.shortfall(), Some(Cause::MalformedCall));
        assert_eq!(Cause::of_finish("model_length"), Some(Cause::ContextOverflow));
        assert_eq!(of("pause_turn"), Ending::Paused);
        for reason in ["stop", "end_turn", "completed", "STOP", "tool_calls", "eos"] {
            assert_eq!(of(reason), Ending::Answer, "{reason}");
        }
    }
}
