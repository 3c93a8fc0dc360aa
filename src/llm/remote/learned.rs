//! Which options a server refuses, learned from its error messages.
//!
//! What is refused once is not sent again, in no request to this model. An option whose value a person has set is not left
//! out: the refusal is an error then.

use super::refusal::Refusal;
use crate::types::{Cause, RequestOption, RequestOptions};
use std::sync::{Arc, Mutex, PoisonError};

/// What a server has refused so far, or is known to refuse. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct LearnedOptions(Arc<Mutex<RequestOptions>>);

impl LearnedOptions {
    pub(super) fn new(known: RequestOptions) -> Self {
        Self(Arc::new(Mutex::new(known)))
    }

    /// What is refused.
    pub fn refused(&self) -> RequestOptions {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes options that are refused, as is known without asking.
    pub(super) fn know(&self, refused: RequestOptions) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().for_each(|option| known.insert(option));
    }

    /// Notes a refusal. Returns whether a request without that option may succeed, and may be sent: not if the option is
    /// `required`.
    pub(super) fn learn(&self, sent: RequestOptions, required: RequestOptions, status: u16, refusal: &Refusal) -> bool {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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
    use super::{LearnedOptions, option};
    use crate::llm::remote::refusal::Refusal;
    use crate::types::RequestOption::{
        self, CacheControl, Include, MaxTokens, Seed, Stop, Stream, StreamUsage, Summary, Temperature, TopP, Whole,
    };
    use crate::types::RequestOptions;

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
}
