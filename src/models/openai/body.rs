//! Encodes a request as JSON.
//!
//! Messages for a text endpoint are joined without role names, each on a new line, with a newline after the last message
//! unless it is the model's own, which is then continued. Protocols write labels such as `Question:` into their messages,
//! so the text reads like a few-shot prompt.
//!
//! With prefill, a text prompt for a chat whose last line is a label is sent as two messages: everything before the label
//! is the user's, the label is the beginning of the model's own, and the server is told to continue it. A conversation
//! that ends in a message of the model is continued the same way.
//!
//! What a server wants of the conversation that others refuse is learned from its refusals: fields of earlier reasoning are
//! left out, `reasoning_content` is added to messages of the model's that have none, and a message of the model's is put
//! between the result of a call and a message of the user's.
//!
//! Functions are `tools`. `tool_choice` and `parallel_tool_calls` are sent only where they are not what servers do anyway.

use super::{ENDPOINT, Endpoint};
use crate::base::{FunctionCall, Functions, Message, Prompt, Request, RequestOption, RequestOptions, Role};
use crate::models::capability::{Control, Prefill};
use crate::models::remote::interface::{EncodeResult, EncodedRequest, lines, set_fields};
use crate::models::remote::turns::BRIDGE;
use crate::models::remote::turns::label_start;
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy)]
pub(super) struct BodyOptions {
    pub(super) endpoint: Endpoint,
    pub(super) stops: usize,
    pub(super) sent: RequestOptions,
    pub(super) refused: RequestOptions,
    /// How the server is told to continue the last message, if it should.
    pub(super) prefill: Option<Prefill>,
    pub(super) control: Control,
}

pub(super) fn encode(model: &str, request: &Request, options: BodyOptions) -> EncodeResult {
    use RequestOption::{MaxTokens, ParallelCalls, Seed, Stream, StreamUsage, Temperature, TopP};
    let decoding = &request.decoding;
    let sends = |option| options.sent.contains(option);
    let messages = Messages::new(&request.prompt, options);
    let flags = messages.continued == Some(Prefill::Flags);
    let functions = request.functions.as_deref();
    let limit = decoding.max_total_tokens();
    let stops = &request.stop[..options.stops.min(request.stop.len())];
    let completions = options.endpoint == Endpoint::Completions;
    let mut body = set_fields(json!({
        "model": model,
        "prompt": completions.then(|| joined(&request.prompt)),
        "messages": (!completions).then(|| messages.values()),
        "add_generation_prompt": flags.then_some(false),
        "continue_final_message": flags.then_some(true),
        "tools": functions.map(Functions::openai),
        "tool_choice": functions.filter(|functions| functions.required).map(|_| "required"),
        "parallel_tool_calls": sends(ParallelCalls).then_some(false),
        "temperature": sends(Temperature).then_some(decoding.temperature),
        "top_p": sends(TopP).then_some(decoding.top_p),
        "max_tokens": sends(MaxTokens).then_some(limit),
        "max_completion_tokens": (!sends(MaxTokens)).then_some(limit),
    }));
    body.extend(
        decoding.reasoning.and_then(|asked| super::reasoning_fields(options.control, asked)).unwrap_or_default(),
    );
    body.extend(set_fields(json!({
        "seed": decoding.seed.filter(|_| sends(Seed)),
        "stop": Some(stops).filter(|stops| !stops.is_empty()),
        "stream": sends(Stream).then_some(true),
        "stream_options": sends(StreamUsage).then(|| json!({ "include_usage": true })),
    })));
    let label = match (&request.prompt, messages.label) {
        (Prompt::Text { rest, .. }, Some(at)) => rest[at..].to_owned(),
        _ => String::new(),
    };
    Ok(EncodedRequest { body: serde_json::to_vec(&body)?, sent: options.sent, label })
}

/// The fields of a message with reasoning, and the option that each of them is.
const THOUGHTS: [(&str, RequestOption); 3] = [
    ("reasoning", RequestOption::Thoughts),
    (CONTENT, RequestOption::ThoughtsContent),
    ("reasoning_details", RequestOption::ThoughtsDetails),
];
const CONTENT: &str = "reasoning_content";
/// What stands for the reasoning of a message that has none: some servers refuse an empty text.
const NO_THOUGHT: &str = " ";

/// What of a conversation servers may refuse, as far as it is sent. `demanded`: the server wants to see reasoning.
pub(super) fn thought_options(prompt: &Prompt, refused: RequestOptions, demanded: bool) -> RequestOptions {
    use RequestOption::{Thoughtless, ThoughtsContent, UserAfterTool};
    let Prompt::Messages(messages) = prompt else { return RequestOptions::default() };
    let mut sent: RequestOptions = messages.iter().flat_map(thoughts).map(|(_, _, option)| option).collect();
    let thoughtless = messages.iter().any(is_thoughtless);
    let filled = thoughtless && (demanded || refused.contains(Thoughtless));
    if filled {
        sent.insert(ThoughtsContent);
    } else if thoughtless {
        sent.insert(Thoughtless);
    }
    if messages.windows(2).any(|pair| answers_before_user(&pair[0], &pair[1])) {
        sent.insert(UserAfterTool);
    }
    sent.without(refused)
}

fn thoughts(message: &Message) -> impl Iterator<Item = (&str, &Value, RequestOption)> {
    let verbatim = message.verbatim.as_ref().filter(|verbatim| verbatim.endpoint == ENDPOINT);
    let fields = verbatim.and_then(|verbatim| verbatim.content.as_object()).into_iter().flatten();
    fields.filter_map(|(name, value)| {
        let (_, option) = THOUGHTS.iter().find(|(known, _)| known == name)?;
        Some((name.as_str(), value, *option))
    })
}

fn is_thoughtless(message: &Message) -> bool {
    message.role == Role::Assistant && thoughts(message).all(|(name, ..)| name != CONTENT)
}

fn answers_before_user(message: &Message, next: &Message) -> bool {
    message.role == Role::Tool && next.role == Role::User
}

struct Messages<'a> {
    prompt: &'a Prompt,
    options: BodyOptions,
    /// Where in the rest of a text prompt the label to continue begins.
    label: Option<usize>,
    /// How the server is told to continue the last message, if that is the model's own.
    continued: Option<Prefill>,
}

impl<'a> Messages<'a> {
    fn new(prompt: &'a Prompt, options: BodyOptions) -> Self {
        let (label, own) = match prompt {
            Prompt::Text { prefix, rest } => {
                let label = options.prefill.and_then(|_| label_start(prefix, rest));
                (label, label.is_some())
            }
            Prompt::Messages(messages) => (None, messages.last().is_some_and(|last| last.role == Role::Assistant)),
        };
        Self { prompt, options, label, continued: options.prefill.filter(|_| own) }
    }

    fn values(&self) -> Vec<Value> {
        let mut sent = match self.prompt {
            Prompt::Text { prefix, rest } => {
                let (before, label) = rest.split_at(self.label.unwrap_or(rest.len()));
                let text = [prefix, before].concat();
                let own = self.label.map(|_| json!({ "role": Role::Assistant, "content": label }));
                [json!({ "role": Role::User, "content": text })].into_iter().chain(own).collect()
            }
            Prompt::Messages(messages) => {
                let mut sent = Vec::with_capacity(messages.len());
                for (at, message) in messages.iter().enumerate() {
                    if at > 0 && self.is_bridged(&messages[at - 1], message) {
                        sent.push(self.whole(&Message::assistant(BRIDGE)));
                    }
                    sent.push(self.whole(message));
                }
                sent
            }
        };
        if let (Some(last), Some(Prefill::Field(name))) = (sent.last_mut(), self.continued) {
            last[name] = json!(true);
        }
        sent
    }

    fn is_bridged(&self, message: &Message, next: &Message) -> bool {
        self.options.refused.contains(RequestOption::UserAfterTool) && answers_before_user(message, next)
    }

    fn whole(&self, message: &Message) -> Value {
        let mut whole = json!({ "role": message.role, "content": message.content });
        if let Some(id) = &message.answers {
            whole["tool_call_id"] = json!(id);
        }
        if !message.calls.is_empty() {
            whole["tool_calls"] = message.calls.iter().map(FunctionCall::openai).collect();
        }
        let sends = |option| self.options.sent.contains(option);
        for (name, value, _) in thoughts(message).filter(|(.., option)| sends(*option)) {
            whole[name] = value.clone();
        }
        let fills = !sends(RequestOption::Thoughtless) && sends(RequestOption::ThoughtsContent);
        if fills && is_thoughtless(message) {
            whole[CONTENT] =
                json!(Some(&*message.content).filter(|text| !text.trim().is_empty()).unwrap_or(NO_THOUGHT));
        }
        whole
    }
}

/// The prompt as one text; messages with a newline at the end unless the last one is the model's own.
fn joined(prompt: &Prompt) -> String {
    let Prompt::Messages(messages) = prompt else { return prompt.to_text() };
    let mut text = lines(messages);
    if messages.last().is_some_and(|last| last.role != Role::Assistant) && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
