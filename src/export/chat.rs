//! Conversations for fine-tuning, one JSON object per line, in the shape that `OpenAI`'s fine-tuning takes.

use super::ExportError;
use crate::types::{Message, Role};
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// Writes one conversation per line: `{"messages": [{"role", "content"}, …]}`. An assistant's message that is not to be
/// learned carries `"weight": 0`.
#[derive(Debug)]
pub struct Chat<W: Write> {
    out: BufWriter<W>,
}

#[derive(Serialize)]
struct Line<'a> {
    messages: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    role: Role,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u8>,
}

impl<W: Write> Chat<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W) -> Self {
        Self { out: BufWriter::new(out) }
    }

    /// Writes one conversation: each message, and whether a model should learn to say it.
    pub fn write<'a>(&mut self, turns: impl IntoIterator<Item = (&'a Message, bool)>) -> Result<(), ExportError> {
        let entry = |(message, learn): (&'a Message, bool)| {
            let weight = (message.role == Role::Assistant && !learn).then_some(0);
            Entry { role: message.role, content: &message.content, weight }
        };
        let line = Line { messages: turns.into_iter().map(entry).collect() };
        serde_json::to_writer(&mut self.out, &line).map_err(io::Error::from)?;
        Ok(self.out.write_all(b"\n")?)
    }

    pub fn finish(&mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}
