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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishReason {
    /// The provider or the API that uses it.
    pub api: &'static str,
    /// The reason as it is sent.
    pub reason: &'static str,
    /// The reason as it is recorded; empty for none.
    pub recorded: &'static str,
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

const fn row(
    api: &'static str,
    reason: &'static str,
    recorded: &'static str,
    ending: Ending,
    source: &'static str,
) -> FinishReason {
    FinishReason { api, reason, recorded, ending, source }
}

/// A row whose reason is recorded as it is sent.
const fn same(api: &'static str, reason: &'static str, ending: Ending, source: &'static str) -> FinishReason {
    row(api, reason, reason, ending, source)
}

const CUT: Ending = Ending::Short(Cause::TokenLimit);
const FULL: Ending = Ending::Short(Cause::ContextOverflow);
const FILTERED: Ending = Ending::Short(Cause::ContentFilter);
const DECLINED: Ending = Ending::Short(Cause::Refusal);
const MALFORMED: Ending = Ending::Short(Cause::MalformedCall);

/// All reasons that are known. A reason that several providers use has the same outcome in each row.
pub const FINISH_REASONS: &[FinishReason] = &[
    same("chat", "stop", Ending::Answer, CHAT),
    same("chat", "tool_calls", Ending::Answer, CHAT),
    same("chat", "function_call", Ending::Answer, CHAT),
    same("chat", "length", CUT, CHAT),
    same("chat", "content_filter", FILTERED, CHAT),
    same("completions", "stop", Ending::Answer, COMPLETIONS),
    same("completions", "length", CUT, COMPLETIONS),
    same("completions", "content_filter", FILTERED, COMPLETIONS),
    row("responses", "completed", "stop", Ending::Answer, RESPONSES),
    row("responses", "max_output_tokens", "length", CUT, RESPONSES),
    same("responses", "content_filter", FILTERED, RESPONSES),
    same("responses", "incomplete", Ending::Unclear, RESPONSES),
    same("responses", "max_messages", Ending::Unclear, RESPONSES),
    same("responses", "steered", Ending::Unclear, RESPONSES),
    row("messages", "end_turn", "stop", Ending::Answer, MESSAGES),
    row("messages", "stop_sequence", "stop", Ending::Answer, MESSAGES),
    row("messages", "tool_use", "tool_calls", Ending::Answer, MESSAGES),
    same("messages", "pause_turn", Ending::Paused, MESSAGES),
    same("messages", "compaction", Ending::Paused, MESSAGES),
    row("messages", "max_tokens", "length", CUT, MESSAGES),
    row("messages", "model_context_window_exceeded", "context_overflow", FULL, MESSAGES),
    same("messages", REFUSAL, DECLINED, MESSAGES),
    row("gemini", "FINISH_REASON_UNSPECIFIED", "", Ending::Unsaid, GEMINI),
    row("gemini", "STOP", "stop", Ending::Answer, GEMINI),
    row("gemini", "MAX_TOKENS", "length", CUT, GEMINI),
    row("gemini", "CONTINUATION", "continuation", CUT, GEMINI),
    row("gemini", "SAFETY", "content_filter", FILTERED, GEMINI),
    row("gemini", "RECITATION", "content_filter", FILTERED, GEMINI),
    row("gemini", "LANGUAGE", "content_filter", FILTERED, GEMINI),
    row("gemini", "BLOCKLIST", "content_filter", FILTERED, GEMINI),
    row("gemini", "PROHIBITED_CONTENT", "content_filter", FILTERED, GEMINI),
    row("gemini", "SPII", "content_filter", FILTERED, GEMINI),
    row("gemini", "MODEL_ARMOR", "content_filter", FILTERED, GEMINI),
    row("gemini", "JAILBREAK", "content_filter", FILTERED, GEMINI),
    row("gemini", "ESCALATION", "content_filter", FILTERED, GEMINI),
    row("gemini", "IMAGE_SAFETY", "content_filter", FILTERED, GEMINI),
    row("gemini", "IMAGE_PROHIBITED_CONTENT", "content_filter", FILTERED, GEMINI),
    row("gemini", "IMAGE_RECITATION", "content_filter", FILTERED, GEMINI),
    row("gemini", "MALFORMED_FUNCTION_CALL", "malformed_function_call", MALFORMED, GEMINI),
    row("gemini", "UNEXPECTED_TOOL_CALL", "unexpected_tool_call", MALFORMED, GEMINI),
    row("gemini", "TOO_MANY_TOOL_CALLS", "too_many_tool_calls", MALFORMED, GEMINI),
    row("gemini", "MALFORMED_RESPONSE", "malformed_response", MALFORMED, GEMINI),
    row("gemini", "MISSING_THOUGHT_SIGNATURE", "missing_thought_signature", Ending::Failed, GEMINI),
    row("gemini", "PUP_LIMITED_DISABLED", "pup_limited_disabled", Ending::Failed, GEMINI),
    row("gemini", "OTHER", "other", Ending::Unclear, GEMINI),
    row("gemini", "IMAGE_OTHER", "image_other", Ending::Unclear, GEMINI),
    row("gemini", "NO_IMAGE", "no_image", Ending::Unclear, GEMINI),
    same("openrouter", "error", Ending::Failed, OPENROUTER),
    same("deepseek", "insufficient_system_resource", Ending::Failed, DEEPSEEK),
    same("mistral", "error", Ending::Failed, MISTRAL),
    same("mistral", "model_length", FULL, MISTRAL),
    same("glm", "network_error", Ending::Failed, GLM),
    same("glm", "sensitive", FILTERED, GLM),
    row("glm", "model_context_window_exceeded", "context_overflow", FULL, GLM),
    same("vllm", "abort", Ending::Failed, VLLM),
    same("vllm", "error", Ending::Failed, VLLM),
    same("sglang", "abort", Ending::Failed, SGLANG),
    same("groq", TOOL_USE_FAILED, MALFORMED, GROQ),
    row("tgi", "eos_token", "stop", Ending::Answer, TGI),
    row("tgi", "stop_sequence", "stop", Ending::Answer, TGI),
    row("together", "eos", "stop", Ending::Answer, TOGETHER),
    row("cohere", "COMPLETE", "stop", Ending::Answer, COHERE),
    row("cohere", "STOP_SEQUENCE", "stop", Ending::Answer, COHERE),
    row("cohere", "TOOL_CALL", "tool_calls", Ending::Answer, COHERE),
    row("cohere", "MAX_TOKENS", "length", CUT, COHERE),
    row("cohere", "ERROR", "error", Ending::Failed, COHERE),
    row("cohere", "TIMEOUT", "timeout", Ending::Failed, COHERE),
    same("bedrock", "guardrail_intervened", FILTERED, BEDROCK),
    same("bedrock", "content_filtered", FILTERED, BEDROCK),
    same("bedrock", "malformed_tool_use", MALFORMED, BEDROCK),
    same("bedrock", "malformed_model_output", MALFORMED, BEDROCK),
    same("watsonx", "time_limit", Ending::Failed, WATSONX),
    same("watsonx", "cancelled", Ending::Failed, WATSONX),
    same("watsonx", "error", Ending::Failed, WATSONX),
    same("any", "failed", Ending::Failed, RESPONSES),
    same("any", "server_error", Ending::Failed, RESPONSES),
    same("any", "internal_error", Ending::Failed, ERRORS),
    same("any", "engine_error", Ending::Failed, ERRORS),
    same("any", "overloaded", Ending::Failed, ERRORS),
    same("any", "aborted", Ending::Failed, SGLANG),
];

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
        let recorded = || FINISH_REASONS.iter().find(|row| !reason.is_empty() && folded(row.recorded) == reason);
        sent.or_else(recorded)
    }

    /// What a reason says, as it is sent or as it is recorded; nothing if it is not known.
    pub fn ending(reason: &str) -> Option<Ending> {
        Self::find(reason).map(|row| row.ending)
    }

    /// The recorded form of a reason; a reason that is not known is recorded in small letters.
    pub fn recorded(reason: &str) -> Option<String> {
        let recorded = Self::find(reason).map_or_else(|| reason.to_ascii_lowercase(), |row| row.recorded.to_owned());
        Some(recorded).filter(|recorded| !recorded.is_empty())
    }

    /// The table of the documentation.
    pub fn table() -> String {
        let recorded = |row: &Self| match row.recorded {
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
        for row in FINISH_REASONS {
            let found = FinishReason::find(row.reason).expect(row.reason);
            assert_eq!((found.ending, found.recorded), (row.ending, row.recorded), "{} {}", row.api, row.reason);
            if !row.recorded.is_empty() {
                assert_eq!(FinishReason::ending(row.recorded), Some(row.ending), "{} {}", row.api, row.recorded);
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
