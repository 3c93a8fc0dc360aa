//! Conversations for fine-tuning, one JSON object per line, in the shape that `OpenAI`'s fine-tuning takes.

use super::ExportError;
use super::jsonl::json_line;
use crate::base::{FunctionCall, Functions, Message, Role};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{BufWriter, Write};

/// Writes one conversation per line: `{"messages": [{"role", "content"}, …]}`. An assistant's message that is not to be
/// learned carries `"weight": 0`. Where functions were offered, they are in `tools`, their calls in `tool_calls` of the
/// assistant's messages, and the results are messages of the role `tool`.
///
/// Source: <https://platform.openai.com/docs/guides/supervised-fine-tuning>.
#[derive(Debug)]
pub struct Chat<W: Write> {
    out: BufWriter<W>,
}

#[derive(Serialize)]
struct Line<'a> {
    messages: Vec<Entry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Serialize)]
struct Entry<'a> {
    role: Role,
    content: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u8>,
}

impl<W: Write> Chat<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W) -> Self {
        Self { out: BufWriter::new(out) }
    }

    /// Writes one conversation: each message, and whether a model should learn to say it; and more fields of its line.
    pub fn write<'a>(
        &mut self,
        turns: impl IntoIterator<Item = (&'a Message, bool)>,
        functions: Option<&Functions>,
        more: Map<String, Value>,
    ) -> Result<(), ExportError> {
        let entry = |(message, learn): (&'a Message, bool)| {
            let weight = (message.role == Role::Assistant && !learn).then_some(0);
            let tool_calls = message.calls.iter().map(FunctionCall::openai).collect();
            let tool_call_id = message.answers.as_deref();
            Entry { role: message.role, content: &message.content, tool_calls, tool_call_id, weight }
        };
        let line = Line {
            messages: turns.into_iter().map(entry).collect(),
            tools: functions.map(Functions::openai),
            parallel_tool_calls: functions.map(|functions| functions.parallel),
            more,
        };
        json_line(&mut self.out, &line)
    }

    pub fn finish(&mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}
