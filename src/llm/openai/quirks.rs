//! What a server has refused so far, found out from its own words.

use crate::llm::remote::interface::SentOptions;
use crate::llm::remote::refusal::Refusal;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a server has refused so far, or is known to refuse.
#[derive(Debug)]
pub(super) struct ServerQuirks {
    stop: AtomicBool,
    max_tokens: AtomicBool,
    stream: AtomicBool,
    stream_usage: AtomicBool,
    whole: AtomicBool,
}

/// A setting that some servers refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quirk {
    /// `stop`.
    Stop,
    /// `max_tokens`.
    MaxTokens,
    /// `stream`.
    Stream,
    /// `stream_options`.
    StreamOptions,
    /// An answer that is no stream.
    Whole,
}

impl ServerQuirks {
    /// What is known before anything is sent.
    pub(super) fn new(max_tokens: bool, stream_usage: bool) -> Self {
        Self {
            stop: AtomicBool::new(false),
            max_tokens: AtomicBool::new(max_tokens),
            stream: AtomicBool::new(false),
            stream_usage: AtomicBool::new(stream_usage),
            whole: AtomicBool::new(false),
        }
    }

    /// Whether `stop` is refused.
    pub(super) fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether `max_tokens` is refused, so that `max_completion_tokens` is sent instead.
    pub(super) fn max_tokens(&self) -> bool {
        self.max_tokens.load(Ordering::Relaxed)
    }

    /// Whether streams are refused.
    pub(super) fn stream(&self) -> bool {
        self.stream.load(Ordering::Relaxed)
    }

    /// Whether the count of a stream's tokens is refused.
    pub(super) fn stream_usage(&self) -> bool {
        self.stream_usage.load(Ordering::Relaxed)
    }

    /// Whether all but streams is refused.
    pub(super) fn whole(&self) -> bool {
        self.whole.load(Ordering::Relaxed)
    }

    /// Takes note of a refusal; whether leaving something out may help.
    pub(super) fn learn(&self, sent: SentOptions, status: u16, refusal: &Refusal) -> bool {
        let refused = match about(refusal, status, sent) {
            Some(Quirk::Stop) => &self.stop,
            Some(Quirk::MaxTokens) => &self.max_tokens,
            Some(Quirk::Stream) => &self.stream,
            Some(Quirk::StreamOptions) => &self.stream_usage,
            // A server that refuses both would be asked for ever.
            Some(Quirk::Whole) if self.stream() => return false,
            Some(Quirk::Whole) => &self.whole,
            None => return false,
        };
        refused.store(true, Ordering::Relaxed);
        true
    }
}

/// The setting that the server will not have, of those that were sent, if leaving it out may help.
fn about(refusal: &Refusal, status: u16, sent: SentOptions) -> Option<Quirk> {
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
    // Streams are often named along with what cannot be had in them, which comes first.
    let candidates = [
        (Quirk::MaxTokens, limit && sent.max_tokens),
        (Quirk::StreamOptions, options && sent.stream_usage),
        (Quirk::Stop, stop && sent.stop),
        (Quirk::Stream, stream && sent.stream),
        (Quirk::Whole, whole && !sent.stream),
    ];
    candidates.into_iter().find(|(_, refused)| *refused).map(|(about, _)| about)
}

/// Whether the setting itself is refused, not its value: a limit that is too large stays an error.
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
    use super::{Quirk, about};
    use crate::llm::remote::interface::SentOptions;
    use crate::llm::remote::refusal::Refusal;

    #[test]
    fn refused_settings_are_recognised_and_others_left_alone() {
        let all = SentOptions { stop: true, max_tokens: true, stream: true, stream_usage: true };
        for (status, body, expected) in [
            (
                400,
                r#"{"error":{"message":"Unsupported parameter: 'stop' is not supported with this model.","param":"stop","code":"unsupported_parameter"}}"#,
                Some(Quirk::Stop),
            ),
            (400, r#"{"error":{"message":"`stop` is not available"}}"#, Some(Quirk::Stop)),
            (422, r#"{"detail":[{"loc":["body","stop"],"msg":"extra fields not permitted"}]}"#, Some(Quirk::Stop)),
            (
                400,
                r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}"#,
                Some(Quirk::MaxTokens),
            ),
            (
                400,
                r#"{"error":{"message":"no","param":"max_tokens","code":"unsupported_parameter"}}"#,
                Some(Quirk::MaxTokens),
            ),
            (
                400,
                r#"{"error":{"message":"max_tokens is too large: 5000. This model supports at most 4096 tokens","param":"max_tokens"}}"#,
                None,
            ),
            (400, r#"{"error":{"message":"maximum context length is 4097 tokens"}}"#, None),
            (400, r#"{"error":{"message":"unstoppable stop_token_ids"}}"#, None),
            (
                400,
                r#"{"error":{"message":"Your organization must be verified to stream this model.","param":"stream","code":"unsupported_value"}}"#,
                Some(Quirk::Stream),
            ),
            (422, r#"{"detail":[{"loc":["body","stream_options"],"msg":"extra"}]}"#, Some(Quirk::StreamOptions)),
            (400, r#"{"error":"`stop` cannot be used in a stream"}"#, Some(Quirk::Stop)),
            (501, r#"{"error":{"message":"no streaming"}}"#, None),
            (401, r#"{"error":{"message":"stop"}}"#, None),
            (404, r#"{"error":{"message":"max_completion_tokens"}}"#, None),
        ] {
            assert_eq!(about(&Refusal::read(body.as_bytes()), status, all), expected, "{body}");
        }
    }

    #[test]
    fn servers_that_only_stream_are_recognised() {
        let read = |text: &str| Refusal::read(serde_json::json!({"error": {"message": text}}).to_string().as_bytes());
        for text in [
            "This model only support stream mode, please enable the stream parameter to access the model.",
            "parameter.enable_thinking must be set to false for non-streaming calls",
        ] {
            assert_eq!(about(&read(text), 400, SentOptions::default()), Some(Quirk::Whole), "{text}");
        }
        assert_eq!(about(&read("no stream"), 400, SentOptions::default()), None);
    }
}
