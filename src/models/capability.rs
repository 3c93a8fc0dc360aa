//! How `OpenAI`-compatible servers differ.
//!
//! Without a name, a server is `auto`: requests take the most conservative form, and what the server refuses is learned.
//! Naming it saves the refusals, sends more stops where more are accepted, and makes `--prefill` possible.
//!
//! Sources:
//!
//! - `openai`: four stops, which newer reasoning models refuse, a `top_p` of 1 where none is sent, and `max_tokens` only
//!   for older models:
//!   <https://platform.openai.com/docs/api-reference/chat/create>,
//!   <https://help.openai.com/en/articles/5072263-how-do-i-use-stop-sequences-in-the-openai-api>; what GPT-5 refuses:
//!   <https://github.com/QwenLM/qwen-code/issues/921>, <https://github.com/chatboxai/chatbox/issues/2627>
//! - a `top_p` that depends on the model where none is sent: <https://github.com/vllm-project/vllm/pull/11164>,
//!   <https://github.com/ollama/ollama/pull/17763>
//! - `vllm`: <https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html>; prefill:
//!   <https://github.com/vllm-project/vllm/pull/8942>; the field of reasoning and its older name:
//!   <https://github.com/vllm-project/vllm/issues/27755>
//! - `sglang`: prefill: <https://github.com/sgl-project/sglang/pull/4226>; reasoning:
//!   <https://docs.sglang.io/docs/advanced_features/separate_reasoning>
//! - `llama.cpp`: prefill of a last assistant message, unless the server thinks:
//!   <https://github.com/ggml-org/llama.cpp/pull/13174>, <https://github.com/ggml-org/llama.cpp/issues/21889>; the
//!   prefill may be repeated in the answer: <https://github.com/ggml-org/llama.cpp/pull/23089>
//! - `ollama`: its fields, `max_completion_tokens` not among them:
//!   <https://docs.ollama.com/api/openai-compatibility>; prefill: <https://github.com/ollama/ollama/issues/6778>; stops
//!   that replace the model's own: <https://github.com/ollama/ollama/issues/4524>; long prompts lose their beginning:
//!   <https://aider.chat/docs/llms/ollama.html>;
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
//!   address only: <https://api-docs.deepseek.com/guides/chat_prefix_completion>; `reasoning_content` of replies with
//!   calls: <https://api-docs.deepseek.com/guides/thinking_mode#tool-calls>
//! - how much to reason: `openai`: `none` to `max`, each model takes some of them:
//!   <https://developers.openai.com/api/docs/guides/reasoning>; `vllm`: <https://github.com/vllm-project/vllm/issues/22359>
//!   and <https://docs.vllm.ai/en/latest/features/reasoning_outputs.html>; `sglang`:
//!   <https://docs.sglang.io/docs/advanced_features/thinking_budget>; `llama.cpp`:
//!   <https://github.com/ggml-org/llama.cpp/pull/27221>, <https://github.com/ggml-org/llama.cpp/pull/23673>; `ollama`:
//!   <https://github.com/ollama/ollama/pull/14821>; `openrouter`: <https://openrouter.ai/docs/use-cases/reasoning-tokens>;
//!   `dashscope`: <https://www.alibabacloud.com/help/en/model-studio/deep-thinking>; `deepseek`:
//!   <https://api-docs.deepseek.com/guides/thinking_mode>

/// How a server is told to continue a last message that is the model's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefill {
    /// It always does.
    Unasked,
    /// By `continue_final_message` and `add_generation_prompt`, beside the messages.
    Flags,
    /// By a field of this name in the message, which is `true`.
    Field(&'static str),
}

/// How a chat is told how much to reason; `openai` has the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// By `reasoning_effort`; it knows no number of tokens.
    Effort,
    /// By `enable_thinking` for the chat template of the model, and `reasoning_effort`; a number of tokens goes into the
    /// field at this path.
    Template(&'static [&'static str]),
    /// By `reasoning`, an object.
    OpenRouter,
    /// By `enable_thinking` and `thinking_budget`; it knows no names.
    DashScope,
    /// By `thinking`, an object, and `reasoning_effort`; it knows no number of tokens.
    DeepSeek,
}

/// Reasoning in the text, between tags; one of [`Capability::reasoning`].
pub const IN_TEXT: &str = "<think>";

#[derive(Debug, PartialEq)]
pub struct Capability {
    /// Its name, as `--server` takes it.
    pub name: &'static str,
    /// Most stops that it accepts. The client applies all of them in any case.
    pub stops: usize,
    /// Whether the length limit of a chat is `max_completion_tokens` instead of `max_tokens`.
    pub new_limit: bool,
    /// The `top_p` that it uses where none is sent, if that does not depend on the model: it is not sent then.
    pub usual_top_p: Option<f64>,
    /// Fields of a message that may hold reasoning, and [`IN_TEXT`].
    pub reasoning: &'static [&'static str],
    pub control: Control,
    /// Whether it demands `reasoning_content` of each reply with calls while the model reasons, of exemplars too.
    pub demands_thoughts: bool,
    /// How to have the model continue its own message, if that is possible.
    pub prefill: Option<Prefill>,
}

const UNKNOWN: Capability = Capability {
    name: "auto",
    stops: 4,
    new_limit: false,
    usual_top_p: None,
    reasoning: &["reasoning_content", "reasoning", IN_TEXT],
    control: Control::Effort,
    demands_thoughts: false,
    prefill: None,
};

/// One row per family of servers; the first is for servers without a name.
pub const SERVERS: [Capability; 10] = [
    UNKNOWN,
    Capability { name: "openai", new_limit: true, usual_top_p: Some(1.0), reasoning: &[], ..UNKNOWN },
    Capability {
        name: "vllm",
        stops: usize::MAX,
        reasoning: &["reasoning", "reasoning_content", IN_TEXT],
        control: Control::Template(&["thinking_token_budget"]),
        prefill: Some(Prefill::Flags),
        ..UNKNOWN
    },
    Capability {
        name: "sglang",
        stops: usize::MAX,
        reasoning: &["reasoning_content", IN_TEXT],
        control: Control::Template(&["custom_params", "thinking_budget"]),
        prefill: Some(Prefill::Flags),
        ..UNKNOWN
    },
    Capability {
        name: "llama.cpp",
        stops: usize::MAX,
        reasoning: &["reasoning_content", IN_TEXT],
        control: Control::Template(&["thinking_budget_tokens"]),
        prefill: Some(Prefill::Unasked),
        ..UNKNOWN
    },
    Capability {
        name: "ollama",
        stops: usize::MAX,
        reasoning: &["reasoning", IN_TEXT],
        prefill: Some(Prefill::Unasked),
        ..UNKNOWN
    },
    Capability { name: "tgi", usual_top_p: Some(1.0), reasoning: &[IN_TEXT], prefill: Some(Prefill::Flags), ..UNKNOWN },
    Capability {
        name: "openrouter",
        reasoning: &["reasoning", "reasoning_content"],
        control: Control::OpenRouter,
        prefill: Some(Prefill::Unasked),
        ..UNKNOWN
    },
    Capability {
        name: "dashscope",
        reasoning: &["reasoning_content"],
        control: Control::DashScope,
        prefill: Some(Prefill::Field("partial")),
        ..UNKNOWN
    },
    Capability {
        name: "deepseek",
        stops: 16,
        usual_top_p: Some(1.0),
        reasoning: &["reasoning_content"],
        control: Control::DeepSeek,
        demands_thoughts: true,
        prefill: Some(Prefill::Field("prefix")),
        ..UNKNOWN
    },
];

pub const AUTO: &Capability = &SERVERS[0];

pub fn of(name: &str) -> Option<&'static Capability> {
    SERVERS.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::{AUTO, SERVERS, of};

    #[test]
    fn names_are_unique_and_found() {
        for row in &SERVERS {
            assert_eq!(of(row.name), Some(row));
            assert_eq!(SERVERS.iter().filter(|other| other.name == row.name).count(), 1);
            assert!(row.stops >= AUTO.stops, "an unknown server must be sent no more stops than any other");
        }
        assert_eq!((AUTO.name, of("tgi ")), ("auto", None));
    }
}
