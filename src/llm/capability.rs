//! What is known of the servers that speak `OpenAI`'s interface, each in its own way.
//!
//! Whoever does not say which server it is gets `auto`: the most careful form, and what the server refuses is learnt.
//! Naming it saves the refusals, sends more stops where more are taken, and makes `--prefill` possible.
//!
//! What the rows say comes from these pages:
//!
//! - `openai`: four stops, which newer reasoning models refuse, and `max_tokens` only for older models:
//!   <https://platform.openai.com/docs/api-reference/chat/create>,
//!   <https://help.openai.com/en/articles/5072263-how-do-i-use-stop-sequences-in-the-openai-api>
//! - `vllm`: <https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html>; prefill:
//!   <https://github.com/vllm-project/vllm/pull/8942>; the field of reasoning and its older name:
//!   <https://github.com/vllm-project/vllm/issues/27755>
//! - `sglang`: prefill: <https://github.com/sgl-project/sglang/pull/4226>; reasoning:
//!   <https://docs.sglang.io/docs/advanced_features/separate_reasoning>
//! - `llama.cpp`: prefill of a last assistant message, unless the server thinks:
//!   <https://github.com/ggml-org/llama.cpp/pull/13174>, <https://github.com/ggml-org/llama.cpp/issues/21889>; the
//!   prefill may be repeated in the answer: <https://github.com/ggml-org/llama.cpp/pull/23089>
//! - `ollama`: its fields, `max_completion_tokens` not among them:
//!   <https://docs.ollama.com/api/openai-compatibility>; prefill: <https://github.com/ollama/ollama/issues/6778>;
//!   `reasoning`: <https://github.com/anomalyco/opencode/issues/46061>
//! - `tgi`: four stops unless it was started otherwise:
//!   <https://huggingface.co/docs/text-generation-inference/reference/launcher>; no `top_p` of 1:
//!   <https://github.com/huggingface/text-generation-inference/pull/2228>; prefill:
//!   <https://github.com/huggingface/text-generation-inference/pull/2733>
//! - `openrouter`: <https://openrouter.ai/docs/api-reference/overview>,
//!   <https://openrouter.ai/docs/use-cases/reasoning-tokens>
//! - `dashscope`: streams and their count of tokens: <https://www.alibabacloud.com/help/en/model-studio/stream>;
//!   prefill: <https://help.aliyun.com/en/model-studio/partial-mode>
//! - `deepseek`: sixteen stops: <https://api-docs.deepseek.com/api/create-chat-completion>; prefill, at its beta
//!   address only: <https://api-docs.deepseek.com/guides/chat_prefix_completion>

/// How a server is told to continue the last message, which is the model's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefill {
    /// It does so unasked.
    Unasked,
    /// By `continue_final_message` and `add_generation_prompt`, beside the messages.
    Flags,
    /// By a field of this name in the message, which is `true`.
    Field(&'static str),
}

/// Reasoning that stands in the text, between tags; one of [`Capability::reasoning`].
pub const IN_TEXT: &str = "<think>";

/// What is known of one family of servers.
#[derive(Debug, PartialEq, Eq)]
pub struct Capability {
    /// Its name, as `--server` takes it.
    pub name: &'static str,
    /// How many stops it takes at most. All of them are applied on our side in any case.
    pub stops: usize,
    /// Whether a chat's length is limited by `max_completion_tokens` instead of `max_tokens`.
    pub new_limit: bool,
    /// Whether it counts the tokens of a stream if it is asked to.
    pub stream_usage: bool,
    /// Whether it takes a `top_p` of 1; where not, the setting is left out, which means the same.
    pub full_top_p: bool,
    /// Fields of a message in which reasoning may stand, and [`IN_TEXT`].
    pub reasoning: &'static [&'static str],
    /// How the model is made to continue its own message, where that is possible.
    pub prefill: Option<Prefill>,
}

/// One row a family of servers; the first one is for servers that nobody has named.
pub const SERVERS: [Capability; 10] = [
    Capability {
        name: "auto",
        stops: 4,
        new_limit: false,
        stream_usage: true,
        full_top_p: true,
        reasoning: &["reasoning_content", "reasoning", IN_TEXT],
        prefill: None,
    },
    Capability {
        name: "openai",
        stops: 4,
        new_limit: true,
        stream_usage: true,
        full_top_p: true,
        reasoning: &[],
        prefill: None,
    },
    Capability {
        name: "vllm",
        stops: usize::MAX,
        new_limit: false,
        stream_usage: true,
        full_top_p: true,
        reasoning: &["reasoning", "reasoning_content", IN_TEXT],
        prefill: Some(Prefill::Flags),
    },
    Capability {
        name: "sglang",
        stops: usize::MAX,
        new_limit: false,
        stream_usage: true,
        full_top_p: true,
        reasoning: &["reasoning_content", IN_TEXT],
        prefill: Some(Prefill::Flags),
    },
    Capability {
        name: "llama.cpp",
        stops: usize::MAX,
        new_limit: false,
        stream_usage: true,
        full_top_p: true,
        reasoning: &["reasoning_content", IN_TEXT],
        prefill: Some(Prefill::Unasked),
    },
    Capability {
        name: "ollama",
        stops: usize::MAX,
        new_limit: false,
        stream_usage: true,
        full_top_p: true,
        reasoning: &["reasoning", IN_TEXT],
        prefill: Some(Prefill::Unasked),
    },
    Capability {
        name: "tgi",
        stops: 4,
        new_limit: false,
        stream_usage: true,
        full_top_p: false,
        reasoning: &[IN_TEXT],
        prefill: Some(Prefill::Flags),
    },
    Capability {
        name: "openrouter",
        stops: 4,
        new_limit: false,
        stream_usage: true,
        full_top_p: true,
        reasoning: &["reasoning", "reasoning_content"],
        prefill: Some(Prefill::Unasked),
    },
    Capability {
        name: "dashscope",
        stops: 4,
        new_limit: false,
        stream_usage: true,
        full_top_p: true,
        reasoning: &["reasoning_content"],
        prefill: Some(Prefill::Field("partial")),
    },
    Capability {
        name: "deepseek",
        stops: 16,
        new_limit: false,
        stream_usage: true,
        full_top_p: true,
        reasoning: &["reasoning_content"],
        prefill: Some(Prefill::Field("prefix")),
    },
];

/// The row for servers that nobody has named.
pub const AUTO: &Capability = &SERVERS[0];

/// The row of this name.
pub fn of(name: &str) -> Option<&'static Capability> {
    SERVERS.iter().find(|row| row.name == name)
}

/// All names, in the table's order.
pub fn names() -> impl Iterator<Item = &'static str> {
    SERVERS.iter().map(|row| row.name)
}

#[cfg(test)]
mod tests {
    use super::{AUTO, SERVERS, names, of};

    #[test]
    fn names_are_unique_and_found() {
        for row in &SERVERS {
            assert_eq!(of(row.name), Some(row));
            assert_eq!(names().filter(|name| *name == row.name).count(), 1);
            assert!(row.stops >= AUTO.stops, "a server that nobody named must not be sent more than the least");
        }
        assert_eq!((AUTO.name, of("tgi ")), ("auto", None));
    }
}
