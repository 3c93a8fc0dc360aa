//! JSON Lines: each stored trajectory with its score, a table with one flat object per row, or conversations.

use super::episode::Numbers;
use super::table::{Cell, Layout};
use super::{Export, ExportError, Scored};
use crate::analysis::annotations::Annotation;
use crate::base::{FunctionCall, Functions, Message, RebuiltPrompt, Role, Trajectory};
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

/// Writes one trajectory per line, as it is stored, with `run` (the run's name) and
/// `score: {em, f1, precision, recall}` (or `null`) at its end, and behind it `metrics` where files of them were joined,
/// `annotations` where people judged it, and `prompts` where they are asked for.
#[derive(Debug)]
pub struct Jsonl<W: Write> {
    out: BufWriter<W>,
    metrics: Vec<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    trajectory: &'a Trajectory,
    run: &'a str,
    score: Option<Numbers>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    annotations: &'a [&'a Annotation],
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<BTreeMap<&'a str, Option<f64>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prompts: Vec<Value>,
}

/// Writes a value on a line of its own.
pub(super) fn json_line(mut out: impl Write, value: &impl Serialize) -> Result<(), ExportError> {
    serde_json::to_writer(&mut out, value).map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

impl<W: Write> Jsonl<W> {
    /// Writes to `out`, which needs no buffer of its own, with the metrics from files that have these names.
    pub fn new(out: W, metrics: Vec<String>) -> Self {
        Self { out: BufWriter::new(out), metrics }
    }
}

impl<W: Write> Export for Jsonl<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        let (run, score) = (scored.origin.run, scored.episode.score.map(|_| scored.numbers()));
        let metrics = scored.named_metrics(&self.metrics);
        let prompts = scored.prompts.iter().map(RebuiltPrompt::to_json).collect();
        let line = Line {
            trajectory: &scored.episode.trajectory,
            run,
            score,
            metrics,
            prompts,
            annotations: scored.annotations,
        };
        json_line(&mut self.out, &line)
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}

/// Writes one object per row: every column is there, `null` where it has no value, and texts are whole.
#[derive(Debug)]
pub struct JsonRows<W: Write> {
    out: BufWriter<W>,
    names: Vec<String>,
    layout: Layout,
}

struct Row<'a>(&'a [String], &'a [Cell<'a>]);

impl<W: Write> JsonRows<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, layout: impl Into<Layout>) -> Self {
        let layout = layout.into();
        let names = layout.columns().map(|column| column.name.into_owned()).collect();
        Self { out: BufWriter::new(out), names, layout }
    }
}

impl<W: Write> Export for JsonRows<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        let Self { out, names, layout } = self;
        layout.rows(scored, &mut |row| json_line(&mut *out, &Row(names, row)))
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        Ok(self.out.flush()?)
    }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(self.1))
    }
}

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
struct Conversation<'a> {
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
        let line = Conversation {
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
