//! Trajectories in the formats of other programs: one file per format, row by row, never a whole run in memory.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod.rs` | [`Export`], which every format is; [`Gzip`]; [`Scored`], an episode with what is known of it, and its messages |
//! | `table.rs` | the columns and cells of the tables of questions and steps, defined once for all formats |
//! | `csv_file.rs`, `parquet_file.rs`, `jsonl.rs` | tables as files; `jsonl.rs` also whole trajectories and conversations |
//! | `inspect.rs`, `atif.rs`, `hf.rs` | formats of single programs |
//! | `otlp.rs` | traces for any collector of OpenTelemetry |

pub mod atif;
pub mod csv_file;
pub mod hf;
pub mod inspect;
pub mod jsonl;
pub mod otlp;
#[cfg(feature = "parquet")]
pub mod parquet_file;
mod table;

pub(crate) use csv_file::figures_csv;
pub use csv_file::{Csv, CsvOptions, header, is_figures_header};
pub use hf::{Hf, HfSource};
pub use inspect::{Inspect, LogHeader, LogTotals};
pub use jsonl::{JsonLines, JsonRows, write_conversation};
#[cfg(feature = "parquet")]
pub use parquet_file::Parquet;
pub(crate) use table::is_column;
pub use table::{Layout, Table};

use crate::analysis::annotations::Annotation;
use crate::base::{FunctionCall, Manifest, Message, Prompt, RebuiltPrompt, Step, Tool, Trajectory, Variant};
use crate::scoring::{AnswerScore, ScoredEpisode};
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write};

pub trait Export {
    fn write(&mut self, scored: &Scored<'_>) -> Result<(), ExportError>;

    /// Writes what is buffered, such as the header of an export without rows. Without it the end may be missing.
    fn finish(&mut self) -> Result<(), ExportError>;
}

/// Why an export ended early. What was written so far is whole rows.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot write the export: {0}")]
    Io(#[from] std::io::Error),
    /// The runs cannot be read, or not be exported so.
    #[error(transparent)]
    Run(#[from] crate::runner::RunError),
}

impl ExportError {
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Io(error) if error.kind() == std::io::ErrorKind::BrokenPipe => None,
            Self::Run(error) => Some(error.hint()),
            Self::Io(_) => Some("check free space and rights of the output; the run itself is untouched"),
        }
    }
}

#[cfg(test)]
mod tests;

/// Packs what is written. Without [`finish`](Self::finish) the file has no end.
#[derive(Debug)]
pub struct Gzip<W: Write>(GzEncoder<BufWriter<W>>);

impl<W: Write> Gzip<W> {
    pub fn new(out: W) -> Self {
        Self(GzEncoder::new(BufWriter::new(out), Compression::default()))
    }

    pub fn finish(self) -> Result<(), ExportError> {
        Ok(self.0.finish()?.flush()?)
    }
}

impl<W: Write> Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Nothing: a flush in between would cost size.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a file holds, unpacked if it begins as a packed one does.
pub fn unpacked<'r>(source: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut source = BufReader::new(source);
    let is_packed = source.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_packed { Box::new(MultiGzDecoder::new(source)) } else { Box::new(source) })
}

#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    run: &'a str,
    manifest: &'a Manifest,
    /// Its settings, where the manifest has them.
    variant: Option<&'a Variant>,
}

impl<'a> Origin<'a> {
    /// The origin of an episode of this variant, whose settings stay unknown where the manifest does not have it.
    pub fn new(run: &'a str, manifest: &'a Manifest, variant: &str) -> Self {
        let variant = manifest.known_variants().find(|known| known.name == variant);
        Self { run, manifest, variant }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Scored<'a> {
    pub episode: &'a ScoredEpisode,
    /// What the dataset says of its question: the fields of the table of questions, in the order of its columns.
    pub fields: &'a [Option<String>],
    /// Its metrics from files, in the order of their columns.
    pub metrics: &'a [Option<f64>],
    /// The prompts of its calls, in the order of the record, where they are exported.
    pub prompts: &'a [RebuiltPrompt],
    pub origin: Origin<'a>,
    /// What people said of it: the latest of each person, by name.
    pub annotations: &'a [&'a Annotation],
}

/// The four numbers as the formats show them: zero and one are written `0` and `1`, as the official scripts print EM.
struct Numbers(AnswerScore);

impl Serialize for Numbers {
    #[expect(clippy::float_cmp, reason = "only the exact values are meant")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = |value: f64| match value {
            _ if value == 0.0 => json!(0),
            _ if value == 1.0 => json!(1),
            value => json!(value),
        };
        serializer.collect_map(AnswerScore::NUMBERS.iter().map(|(name, of)| (name, number(of(self.0)))))
    }
}

impl Scored<'_> {
    /// Its metrics from files by their names; none where no files were joined.
    fn named_metrics<'n>(&self, names: &'n [String]) -> Option<BTreeMap<&'n str, Option<f64>>> {
        let values = names.iter().map(String::as_str).zip(self.metrics.iter().copied());
        (!names.is_empty()).then(|| values.collect())
    }
}

struct ToolUse {
    /// Unique within the episode.
    id: String,
    function: String,
    /// An object: the arguments as the model wrote them, or `input` where the protocol is of text.
    arguments: Value,
}

/// What was said before the first reply: the first prompt as it was sent, or the question where that is not known.
fn opening(scored: &Scored<'_>) -> Vec<Message> {
    let sent = scored.prompts.first().filter(|prompt| prompt.same).and_then(|prompt| prompt.request.as_ref());
    sent.map_or_else(|| vec![Message::user(&*scored.episode.trajectory.question)], |request| messages(&request.prompt))
}

/// A prompt as messages. Of a text to continue, what all questions share is the system's, the rest the user's.
fn messages(prompt: &Prompt) -> Vec<Message> {
    match prompt {
        Prompt::Messages(messages) => messages.clone(),
        Prompt::Text { prefix, rest } => {
            let shared: &str = prefix;
            let system = (!shared.trim().is_empty()).then(|| Message::system(shared));
            system.into_iter().chain([Message::user(&**rest)]).collect()
        }
    }
}

/// The call of each step; none where a step used no tool. Of several calls of one reply only the first step has the reply.
fn tool_uses(trajectory: &Trajectory) -> Vec<Option<ToolUse>> {
    let mut due: VecDeque<&FunctionCall> = VecDeque::new();
    let mut uses = Vec::with_capacity(trajectory.steps.len());
    for (at, step) in trajectory.steps.iter().enumerate() {
        if let Some(call) = step.calls.last() {
            due = call.calls.iter().collect();
        }
        let id = format!("call-{}", at + 1);
        uses.push(match (due.pop_front(), step.tool) {
            (_, None) | (None, Some(Tool::Invalid)) => None,
            (Some(call), _) => Some(ToolUse { id, function: call.name.clone(), arguments: call.object() }),
            (None, Some(tool)) => {
                Some(ToolUse { id, function: name(step, tool).to_owned(), arguments: json!({ "input": step.input }) })
            }
        });
    }
    uses
}

/// The name of a step's tool; another program's stands before its arguments.
fn name(step: &Step, tool: Tool) -> &str {
    let own = step.action_text.as_deref().filter(|_| tool == Tool::Other);
    let own = own.and_then(|text| text.split(['(', '[']).next()).map(str::trim);
    own.filter(|name| !name.is_empty()).unwrap_or(tool.name())
}

/// An object without the fields that have no value.
fn present(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

/// The settings of a variant that were sent with its requests.
fn config(variant: Option<&Variant>) -> Value {
    let Some(Variant { decoding, not_sent, .. }) = variant else { return json!({}) };
    let sent = |name: &str| !not_sent.iter().any(|other| other == name);
    json!({
        "temperature": decoding.temperature.filter(|_| sent("temperature")), "top_p": decoding.top_p.filter(|_| sent("top_p")),
        "max_tokens": decoding.max_tokens, "seed": decoding.seed.filter(|_| sent("seed")),
    })
}

/// Whether a step was copied from the episode that this one branches off, which ran and paid it.
fn is_copied(trajectory: &Trajectory, step: &Step) -> bool {
    trajectory.branch.as_ref().is_some_and(|branch| step.n < branch.at && step.sample.is_none())
}

/// A recorded time some milliseconds later, in the form that every reader takes; none where the record has no time.
fn instant(recorded: &str, later_ms: u64) -> Option<String> {
    let later = SignedDuration::from_millis(i64::try_from(later_ms).ok()?);
    let time = recorded.parse::<Timestamp>().ok()?.checked_add(later).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string())
}
