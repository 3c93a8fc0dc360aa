//! JSON Lines: each stored trajectory with its score, a table with one flat object per row, or conversations.

use super::table::{Cell, Layout};
use super::{Export, ExportError, Numbers, Scored, present};
use crate::analysis::annotations::Annotation;
use crate::base::{FunctionCall, Functions, Message, RebuiltPrompt, Role, Trajectory};
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

/// What a line of JSON Lines is made of, for an episode and the metrics from files that have these names.
type LineOf = fn(&Scored<'_>, &[String]) -> Value;

/// Writes one object per episode: the trajectory as it is stored, or in the format of another program.
pub struct JsonLines<W: Write> {
    out: BufWriter<W>,
    metrics: Vec<String>,
    line: Option<LineOf>,
    prompts: bool,
}

/// The trajectory with `run` (the run's name) and `score: {em, f1, precision, recall}` (or `null`) at its end, and behind it
/// `metrics` where files of them were joined, `annotations` where people judged it, and `prompts` where they are asked for.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Vec<Value>>,
}

fn json_line(mut out: impl Write, value: &impl Serialize) -> Result<(), ExportError> {
    serde_json::to_writer(&mut out, value).map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

impl<W: Write> JsonLines<W> {
    /// Writes to `out`, which needs no buffer of its own; whole trajectories without a `line` of another program.
    pub fn new(out: W, metrics: Vec<String>, line: Option<LineOf>) -> Self {
        Self { out: BufWriter::new(out), metrics, line, prompts: false }
    }

    /// The same with the prompts of each trajectory, a list that may be empty.
    pub fn with_prompts(self, prompts: bool) -> Self {
        Self { prompts, ..self }
    }
}

impl<W: Write> Export for JsonLines<W> {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError> {
        if let Some(line) = self.line {
            return json_line(&mut self.out, &line(scored, &self.metrics));
        }
        let (run, score) = (scored.origin.run, scored.episode.score.map(Numbers));
        let metrics = scored.named_metrics(&self.metrics);
        let prompts = self.prompts.then(|| scored.prompts.iter().map(RebuiltPrompt::to_json).collect());
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
    pub(super) layout: Layout,
}

struct Row<'a>(&'a [String], &'a [Cell<'a>]);

impl<W: Write> JsonRows<W> {
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

/// Writes one conversation on a line, `{"messages": [{"role", "content"}, …]}`: each message, and whether a model should learn to
/// say it; and more fields. An assistant's message that is not to be learned carries `"weight": 0`. Where functions were
/// offered, they are in `tools`, their calls in `tool_calls` of the assistant's messages, and the results are messages of the
/// role `tool`.
///
/// Source: <https://platform.openai.com/docs/guides/supervised-fine-tuning>.
pub fn write_conversation<'a>(
    out: impl Write,
    turns: impl IntoIterator<Item = (&'a Message, bool)>,
    functions: Option<&Functions>,
    more: Map<String, Value>,
) -> Result<(), ExportError> {
    let entry = |(message, learn): (&'a Message, bool)| {
        let calls = message.calls.iter().map(FunctionCall::openai);
        present(json!({
            "role": message.role, "content": message.content,
            "tool_calls": (!message.calls.is_empty()).then(|| calls.collect::<Value>()),
            "tool_call_id": message.answers,
            "weight": (message.role == Role::Assistant && !learn).then_some(0),
        }))
    };
    let mut line = present(json!({
        "messages": turns.into_iter().map(entry).collect::<Value>(), "tools": functions.map(Functions::openai),
        "parallel_tool_calls": functions.map(|functions| functions.parallel),
    }));
    for (name, value) in more {
        line[name] = value;
    }
    json_line(out, &line)
}
