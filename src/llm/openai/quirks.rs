//! Which options a server refuses, learned from its error messages.

use crate::llm::remote::interface::SentOptions;
use crate::llm::remote::refusal::Refusal;
use std::sync::{Mutex, PoisonError};

/// What a server has refused so far, or is known to refuse.
#[derive(Debug, Default)]
pub(super) struct ServerQuirks(Mutex<Refused>);

#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Refused {
    pub(super) stop: bool,
    /// `max_tokens`: `max_completion_tokens` is sent instead.
    pub(super) max_tokens: bool,
    pub(super) stream: bool,
    /// `stream_options` with a count of tokens.
    pub(super) stream_usage: bool,
    /// Answers that are not streams.
    pub(super) whole: bool,
}

/// One of the fields of [`Refused`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quirk {
    Stop,
    MaxTokens,
    Stream,
    StreamOptions,
    Whole,
}

impl ServerQuirks {
    pub(super) fn new(known: Refused) -> Self {
        Self(Mutex::new(known))
    }

    pub(super) fn refused(&self) -> Refused {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a refusal. Returns whether a request without that option may succeed.
    pub(super) fn learn(&self, sent: SentOptions, status: u16, refusal: &Refusal) -> bool {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match quirk(refusal, status, sent) {
            Some(Quirk::Stop) => refused.stop = true,
            Some(Quirk::MaxTokens) => refused.max_tokens = true,
            Some(Quirk::Stream) => refused.stream = true,
            Some(Quirk::StreamOptions) => refused.stream_usage = true,
            // A server that refuses streams as well would be asked forever.
            Some(Quirk::Whole) if !refused.stream => refused.whole = true,
            Some(Quirk::Whole) | None => return false,
        }
        true
    }
}

/// The sent option that the server refuses, if leaving it out may help.
fn quirk(refusal: &Refusal, status: u16, sent: SentOptions) -> Option<Quirk> {
    if !matches!(status, 400 | 422) {
        return None;
    }
    let text = refusal.message.to_ascii_lowercase();
    let names = |word: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|w| w == word);
    let param = refusal.param.as_deref();
    let limit = names("max_completion_tokens")
        || (param == Some("max_tokens") || names("max_tokens")) && unknown(refusal, &text);
    let options = param == Some("stream_options") || names("stream_options") || names("include_usage");
    let stream = param == Some("stream") || names("stream") || names("streaming");
    let stop = param == Some("stop") || names("stop");
    let whole = stream && (text.contains("only support") || text.contains("non-stream"));
    // Messages often name streams along with an option that streams do not allow, which comes first.
    let candidates = [
        (Quirk::MaxTokens, limit && sent.max_tokens),
        (Quirk::StreamOptions, options && sent.stream_usage),
        (Quirk::Stop, stop && sent.stop),
        (Quirk::Stream, stream && sent.stream),
        (Quirk::Whole, whole && !sent.stream),
    ];
    candidates.into_iter().find(|(_, refused)| *refused).map(|(quirk, _)| quirk)
}

/// Whether the option itself is refused, not its value: a limit that is too large is an error.
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
    ];
    refusal.code.as_deref().is_some_and(|code| code.contains("unsupported") || code.contains("unknown"))
        || words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{Quirk, quirk};
    use crate::llm::remote::interface::SentOptions;
    use crate::llm::remote::refusal::Refusal;

    #[test]
    fn refused_settings_are_recognised_and_others_left_alone() {
        let all = SentOptions { stop: true, max_tokens: true, stream: true, stream_usage: true };
        let openai = |message: &str, param: &str, code: &str| serde_json::json!({"error": {"message": message, "param": param, "code": code}});
        let detail =
            |name: &str| serde_json::json!({"detail": [{"loc": ["body", name], "msg": "extra fields not permitted"}]});
        let newer = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        let large = "max_tokens is too large: 5000. This model supports at most 4096 tokens";
        let verify = "Your organization must be verified to stream this model.";
        for (status, body, expected) in [
            (
                400,
                openai("'stop' is not supported with this model.", "stop", "unsupported_parameter"),
                Some(Quirk::Stop),
            ),
            (400, openai("`stop` is not available", "", ""), Some(Quirk::Stop)),
            (422, detail("stop"), Some(Quirk::Stop)),
            (400, openai("`stop` cannot be used in a stream", "", ""), Some(Quirk::Stop)),
            (400, openai("unstoppable stop_token_ids", "", ""), None),
            (400, openai(newer, "max_tokens", ""), Some(Quirk::MaxTokens)),
            (400, openai("no", "max_tokens", "unsupported_parameter"), Some(Quirk::MaxTokens)),
            (400, openai(large, "max_tokens", ""), None),
            (400, openai("maximum context length is 4097 tokens", "", ""), None),
            (400, openai(verify, "stream", "unsupported_value"), Some(Quirk::Stream)),
            (422, detail("stream_options"), Some(Quirk::StreamOptions)),
            (501, openai("no streaming", "", ""), None),
            (401, openai("stop", "", ""), None),
            (404, openai("max_completion_tokens", "", ""), None),
        ] {
            assert_eq!(quirk(&Refusal::read(body.to_string().as_bytes()), status, all), expected, "{body}");
        }
    }

    #[test]
    fn servers_that_only_stream_are_recognised() {
        let read = |text: &str| Refusal::read(serde_json::json!({"error": {"message": text}}).to_string().as_bytes());
        for text in [
            "This model only support stream mode, please enable the stream parameter to access the model.",
            "parameter.enable_thinking must be set to false for non-streaming calls",
        ] {
            assert_eq!(quirk(&read(text), 400, SentOptions::default()), Some(Quirk::Whole), "{text}");
        }
        assert_eq!(quirk(&read("no stream"), 400, SentOptions::default()), None);
    }
}
