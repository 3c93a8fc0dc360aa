//! The file of an Inspect log, as JSON or packed: its run, its samples as trajectories, its settings as a variant.

use super::LogsImporter;
use crate::base::bounded::{fill_at_most, read_at_most};
use crate::base::manifest::UNKNOWN;
use crate::base::text::{is_secret_name, printable, visible_line};
use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{
    DecodingRecord, LogRecord, MAX_USD, Outcome, Reasoning, Trajectory, Usage, Variant, json_error, sha256_hex,
};
use crate::net::redact;
use crate::runner::error::RunError;
use crate::runner::import::{displayed, imported_variant, unreadable};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// The largest log as it is on disk, in bytes.
const MAX_LOG: u64 = 1 << 30;

/// The largest sample, its messages and events included, and the largest head of a packed log, in bytes.
pub(super) const MAX_SAMPLE: u64 = 64 << 20;

pub(super) const MAX_SAMPLES: usize = 1_000_000;

/// Bytes that are read to see what a file is.
const BEGINNING: u64 = 1 << 10;

#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) version: u64,
    #[serde(default)]
    pub(super) status: Value,
    #[serde(default)]
    pub(super) error: Value,
    pub(super) eval: Value,
    #[serde(default)]
    pub(super) plan: Value,
    #[serde(default)]
    pub(super) stats: Value,
    #[serde(skip)]
    pub(super) sha256: String,
}

impl Head {
    /// The head in these bytes, which may be followed by samples.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let head: Self = serde_json::from_slice(bytes).map_err(|error| json_error::in_file(&error))?;
        if head.version > 2 {
            return Err(format!("its version is {}", head.version));
        }
        Ok(head)
    }
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow, default)]
    samples: Option<Samples<'a>>,
}

/// The samples, each to be read by itself, so that a bad one costs no other.
struct Samples<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Samples<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;

        impl<'de> Visitor<'de> for Each {
            type Value = Samples<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of samples")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Samples<'de>, A::Error> {
                let mut samples = Vec::new();
                while let Some(sample) = list.next_element()? {
                    if samples.len() == MAX_SAMPLES {
                        return Err(A::Error::custom(format!("more than {MAX_SAMPLES} samples")));
                    }
                    samples.push(sample);
                }
                Ok(Samples(samples))
            }
        }

        deserializer.deserialize_seq(Each)
    }
}

pub(super) fn not_a_log(path: &Path, why: &str) -> RunError {
    let message = format!("`{}` is not a log of Inspect: {why}", displayed(path));
    RunError::input(message, "name a log that Inspect wrote, an .eval or .json file, version 2")
}

pub(super) fn read_log(path: &Path, take: &mut LogsImporter<'_>) -> Result<(), RunError> {
    let cannot = |error: io::Error| unreadable(path, &error);
    let mut file = File::open(path).map_err(cannot)?;
    let mut bytes = read_at_most(file.by_ref().take(BEGINNING), BEGINNING).map_err(cannot)?;
    let packed = bytes.starts_with(b"PK");
    let start = bytes.trim_ascii_start();
    if !packed && !start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).starts_with(b"{") {
        let what = if bytes.is_empty() { "it is empty" } else { "it does not begin as JSON or as an .eval" };
        return Err(not_a_log(path, what));
    }
    fill_at_most(&mut bytes, file, MAX_LOG).map_err(cannot)?;
    let sha256 = sha256_hex([bytes.as_slice()]);
    if packed {
        return read_packed(path, &bytes, sha256, take);
    }
    without_constants(&mut bytes);
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let head = Head::parse(text).map_err(|why| not_a_log(path, &why))?;
    let log: Log<'_> = serde_json::from_slice(text).map_err(|error| not_a_log(path, &json_error::in_file(&error)))?;
    take.head(Head { sha256, ..head })?;
    for (at, sample) in log.samples.map(|samples| samples.0).unwrap_or_default().into_iter().enumerate() {
        let text = sample.get();
        let text = if text.len() as u64 > MAX_SAMPLE { Err(too_large()) } else { Ok(text) };
        take.sample(&format!("sample {}", at + 1), text);
    }
    Ok(())
}

pub(super) fn too_large() -> String {
    format!("it is larger than {} MiB", MAX_SAMPLE >> 20)
}

/// Python's NaN and infinities, which JSON lacks, become empty texts of their length. No figure read here is one.
pub(super) fn without_constants(bytes: &mut [u8]) {
    let (mut at, mut in_text) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_text => at += 1,
            b'"' => in_text = !in_text,
            b'N' | b'I' | b'-' if !in_text => {
                let constants: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
                if let Some(constant) = constants.into_iter().find(|constant| bytes[at..].starts_with(constant)) {
                    let end = at + constant.len();
                    bytes[at..end].fill(b' ');
                    bytes[at..at + 2].fill(b'"');
                    at = end - 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The largest list of contents, in bytes: it takes several times as much memory.
const MAX_LIST: u64 = 128 << 20;

/// All samples together, unpacked, in bytes.
const MAX_UNPACKED: u64 = 16 << 30;

/// What a log says of its run; the second is all that there is of one that broke off.
const HEADS: [&str; 2] = ["header.json", "_journal/start.json"];

/// Bytes of which only so many may be read.
struct Limited<'a> {
    bytes: Cursor<&'a [u8]>,
    left: &'a Cell<u64>,
}

impl Read for Limited<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left
            .set(left.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "its list of contents is too long"))?);
        Ok(read)
    }
}

impl Seek for Limited<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

type Archive<'a> = ZipArchive<Limited<'a>>;

pub(super) fn read_packed(
    path: &Path,
    bytes: &[u8],
    sha256: String,
    take: &mut LogsImporter<'_>,
) -> Result<(), RunError> {
    let broken = |error: ZipError| not_a_log(path, &zip_reason(&error));
    let left = Cell::new(MAX_LIST);
    let mut archive = ZipArchive::new(Limited { bytes: Cursor::new(bytes), left: &left }).map_err(broken)?;
    left.set(u64::MAX);
    // Entries that share bytes unpack to more than any file of their size.
    if archive.has_overlapping_entries().map_err(broken)? {
        return Err(not_a_log(path, "its parts overlap"));
    }
    let names: Vec<String> = archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let head = HEADS.iter().find_map(|head| names.iter().position(|name| name == head));
    let head = head.ok_or_else(|| not_a_log(path, "the archive has no header.json"))?;
    let bytes = entry(&mut archive, head).map_err(|why| not_a_log(path, &format!("{}: {why}", names[head])))?;
    let head = Head::parse(&bytes).map_err(|why| not_a_log(path, &format!("{}: {why}", names[head])))?;
    // One without a head of its own broke off.
    let status = if head.status.is_null() { "started".into() } else { head.status };
    take.head(Head { status, sha256, ..head })?;
    let is_sample = |name: &String| {
        name.strip_prefix("samples/").and_then(|name| name.rsplit_once('.')).is_some_and(|(_, ending)| ending == "json")
    };
    let samples: Vec<usize> = (0..names.len()).filter(|at| is_sample(&names[*at])).collect();
    if samples.len() > MAX_SAMPLES {
        return Err(not_a_log(path, &format!("it has more than {MAX_SAMPLES} samples")));
    }
    let mut unpacked = 0;
    for at in samples {
        let bytes = entry(&mut archive, at);
        unpacked += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        if unpacked > MAX_UNPACKED {
            return Err(not_a_log(path, &format!("unpacked it is larger than {} GiB", MAX_UNPACKED >> 30)));
        }
        let text = bytes.as_ref().map_err(Clone::clone);
        let text = text.and_then(|bytes| std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()));
        take.sample(&visible_line(&names[at], 80), text);
    }
    Ok(())
}

fn entry(archive: &mut Archive<'_>, at: usize) -> Result<Vec<u8>, String> {
    let file = archive.by_index(at).map_err(|error| zip_reason(&error))?;
    let bytes = read_at_most(file, MAX_SAMPLE);
    let mut bytes = bytes.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => too_large(),
        _ => format!("it cannot be unpacked: {}", visible_line(&error.to_string(), 200)),
    })?;
    without_constants(&mut bytes);
    Ok(bytes)
}

fn zip_reason(error: &ZipError) -> String {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => "it is encrypted".to_owned(),
        ZipError::CompressionMethodNotSupported(93) | ZipError::UnsupportedArchive(_) if !cfg!(feature = "index") => {
            "this build does not read its compression: write it with `inspect log convert LOG --to json --output-dir DIR`".to_owned()
        }
        error => format!("it cannot be unpacked: {}", visible_line(&error.to_string(), 200)),
    }
}

/// The largest epoch; a log has as many as it was asked for.
const MAX_EPOCHS: u32 = 1000;

/// Spans around an event; a transcript has far fewer.
const MAX_DEPTH: usize = 100;

/// The largest value of a sample's metadata, in bytes.
const MAX_META: usize = 64 << 10;

/// The largest number of tokens or milliseconds that is believed: sums of them stay far from the largest number there is.
const MAX_COUNT: u64 = 1 << 36;

const MAX_MODELS: usize = 100;

const COUNTS: [&str; 6] = [
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
    "total_tokens",
];

/// What a text begins with that stands elsewhere in the sample.
const ATTACHMENT: &str = "attachment://";

#[derive(Debug, Deserialize)]
pub(super) struct Sample {
    id: Value,
    epoch: u32,
    input: Value,
    target: Value,
    #[serde(default)]
    choices: Value,
    #[serde(default)]
    output: Value,
    scores: Option<Map<String, Value>>,
    error: Option<Value>,
    limit: Option<Value>,
    #[serde(default)]
    metadata: Value,
    events: Option<Vec<Value>>,
    attachments: Option<HashMap<String, Value>>,
    model_usage: Option<Map<String, Value>>,
    #[serde(default)]
    total_time: Value,
    #[serde(default)]
    started_at: Value,
}

/// What is taken for the answer of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AnswerFrom<'a> {
    /// What was submitted, or the output of a sample that submitted nothing.
    #[default]
    Either,
    /// The argument of the last call of the tool that submits an answer.
    Submit,
    Output,
    /// What this scorer read from the output.
    Scorer(&'a str),
}

impl Sample {
    /// The sample as an episode without a key, steps and scores; `tools` submit an answer. The error says why it cannot be one.
    pub(super) fn episode(&self, variant: &str, from: AnswerFrom<'_>, tools: &[String]) -> Result<Trajectory, String> {
        let id = id_of(&self.id).ok_or("its id is neither a text nor a number")?;
        if !(1..=MAX_EPOCHS).contains(&self.epoch) {
            return Err(format!("its epoch is {}, not 1 to {MAX_EPOCHS}", self.epoch));
        }
        let question = self.question().ok_or("its input holds no text of the user's")?;
        let answer = match from {
            // What was said before an error is not what would have been said.
            _ if self.failed() => None,
            AnswerFrom::Either => self.submitted(tools).or_else(|| self.output_text()),
            AnswerFrom::Submit => self.submitted(tools),
            AnswerFrom::Output => self.output_text(),
            AnswerFrom::Scorer(name) => match self.scores.as_ref().and_then(|scores| scores.get(name)) {
                Some(score) => self.resolved(&score["answer"]),
                None => return Err(format!("it has no score `{}`", visible_line(name, 80))),
            },
        };
        let answer = answer.filter(|answer| !answer.trim().is_empty());
        let (outcome, detail) = self.outcome(answer.is_some());
        let (usage, cost_usd) = self.usage();
        Ok(Trajectory {
            v: TRAJECTORY_VERSION,
            id,
            variant: variant.to_owned(),
            repeat: self.epoch - 1,
            question,
            answers: self.golds()?,
            answer,
            outcome,
            detail,
            usage,
            cost_usd,
            started_at: self.started_at.as_str().and_then(instant).unwrap_or_default(),
            wall_ms: milliseconds(self.total_time.as_f64().unwrap_or_default()),
            ..Trajectory::default()
        })
    }

    /// The input, or the last message of the user's in it.
    fn question(&self) -> Option<String> {
        let text = match &self.input {
            Value::Array(messages) => {
                let last = messages.iter().rev().find(|message| message["role"] == "user")?;
                self.content(&last["content"])?
            }
            input => self.resolved(input)?,
        };
        (!text.trim().is_empty()).then_some(text)
    }

    fn golds(&self) -> Result<Vec<String>, String> {
        let golds: Option<Vec<String>> = match &self.target {
            Value::String(_) => self.resolved(&self.target).map(|gold| vec![gold]),
            Value::Array(golds) => golds.iter().map(|gold| self.resolved(gold)).collect(),
            _ => None,
        };
        let golds = golds.ok_or("its target is neither a text nor a list of texts")?;
        Ok(golds.into_iter().filter(|gold| !gold.trim().is_empty()).collect())
    }

    /// What the sample has besides question and answers, under its own names: metadata and choices.
    pub(super) fn meta(&self) -> Map<String, Value> {
        let choices = (!self.choices.is_null()).then(|| ("choices".to_owned(), self.choices.clone()));
        let metadata =
            self.metadata.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
        metadata.chain(choices).filter(|(_, value)| value.to_string().len() <= MAX_META).collect()
    }

    pub(super) fn events(&self) -> &[Value] {
        self.events.as_deref().unwrap_or_default()
    }

    /// The place of the event by which the agent submitted its answer, the last of several: agents called as tools submit theirs
    /// to it.
    pub(super) fn submission(&self, tools: &[String]) -> Option<usize> {
        let events = self.events();
        let begun = events.iter().filter(|event| event["event"] == "span_begin");
        let spans: HashMap<&str, &Value> = begun.filter_map(|event| Some((event["id"].as_str()?, event))).collect();
        let of_another = |event: &Value| {
            let parents = std::iter::successors(event["span_id"].as_str().and_then(|id| spans.get(id)), |span| {
                span["parent_id"].as_str().and_then(|id| spans.get(id))
            });
            parents.take(MAX_DEPTH).any(|span| span["type"] == "tool" || span["type"] == "handoff")
        };
        let submits = |event: &&Value| {
            event["event"] == "tool"
                && tools.iter().any(|tool| event["function"] == tool.as_str())
                && event["error"].is_null()
                && event["failed"] != true
                && event["pending"] != true
                && !of_another(event)
        };
        events.iter().rposition(|event| submits(&event))
    }

    /// The argument of that call.
    fn submitted(&self, tools: &[String]) -> Option<String> {
        let event = &self.events()[self.submission(tools)?];
        let argument = &event["arguments"]["answer"];
        let argument = if argument.is_null() { &event["result"] } else { argument };
        match argument {
            Value::Number(_) | Value::Bool(_) => Some(argument.to_string()),
            argument => self.content(argument),
        }
    }

    fn output_text(&self) -> Option<String> {
        let choice = &self.output["choices"][0];
        // The model was still asking for tools.
        if choice["stop_reason"] == "tool_calls" {
            return None;
        }
        self.content(&choice["message"]["content"]).or_else(|| self.resolved(&self.output["completion"]))
    }

    /// The text of a message: one text, or parts of which some are texts.
    pub(super) fn content(&self, content: &Value) -> Option<String> {
        match content {
            Value::Array(parts) => {
                let texts = parts.iter().filter(|part| part["type"] == "text");
                Some(texts.filter_map(|part| self.resolved(&part["text"])).collect::<Vec<_>>().join("\n"))
            }
            content => self.resolved(content),
        }
    }

    /// A text, from the attachments if it stands there.
    pub(super) fn resolved(&self, text: &Value) -> Option<String> {
        let text = text.as_str()?;
        let attached = text.strip_prefix(ATTACHMENT).and_then(|id| self.attachments.as_ref()?.get(id)?.as_str());
        Some(attached.unwrap_or(text).to_owned())
    }

    pub(super) fn scores(&self) -> Option<&Map<String, Value>> {
        self.scores.as_ref()
    }

    /// The names of the scorers that read an answer from it.
    pub(super) fn scorers(&self) -> impl Iterator<Item = &String> {
        self.scores.iter().flat_map(Map::keys)
    }

    fn failed(&self) -> bool {
        self.error.as_ref().is_some_and(|error| !error.is_null())
    }

    fn outcome(&self, answered: bool) -> (Outcome, Option<String>) {
        if let Some(error) = self.error.as_ref().filter(|_| self.failed()) {
            let said = error["message"].as_str().unwrap_or("the log names an error");
            return (Outcome::NotMeasured, Some(visible_line(said, 1000)));
        }
        if let Some(limit) = self.limit.as_ref().filter(|limit| !limit.is_null()) {
            let kind = limit["type"].as_str().unwrap_or("unknown");
            let outcome = match kind {
                "context" => Outcome::ContextOverflow,
                // A person ended it.
                "operator" => Outcome::NotMeasured,
                _ => Outcome::StepLimit,
            };
            let number = limit["limit"].as_f64().map(|number| format!(", {number}")).unwrap_or_default();
            return (outcome, Some(format!("limit: {}{number}", visible_line(kind, 80))));
        }
        match &self.output["choices"][0]["stop_reason"] {
            _ if answered => (Outcome::Finished, None),
            reason if reason == "model_length" => (Outcome::ContextOverflow, None),
            _ => (Outcome::FormatFailure, Some("the log has no answer".to_owned())),
        }
    }

    /// Tokens of all models, and what they cost if that is known of each.
    fn usage(&self) -> (Usage, Option<f64>) {
        let all = || self.model_usage.iter().flat_map(Map::values);
        let cost: Option<f64> = all().map(|usage| usage["total_cost"].as_f64()).sum();
        let sane = |usage: &Value| usage["total_cost"].as_f64().is_none_or(|cost| (0.0..=MAX_USD).contains(&cost));
        let cost = cost.filter(|_| all().next().is_some() && all().all(sane));
        // A count below zero is none, and makes none of the sum.
        if all().any(is_miscounted) {
            return (Usage::default(), cost);
        }
        (all().take(MAX_MODELS).map(tokens).fold(Usage::default(), |sum, usage| sum + usage), cost)
    }

    pub(super) fn claim(&self) -> Option<(&str, bool)> {
        let (name, score) = self.scores.as_ref()?.iter().next()?;
        let value = &score["value"];
        let right = value == "C" || value == true || value.as_f64().is_some_and(|value| value >= 1.0);
        Some((name, right))
    }
}

pub(super) fn is_miscounted(usage: &Value) -> bool {
    COUNTS.iter().any(|name| usage[name].as_f64().is_some_and(|count| count < 0.0))
}

/// Tokens of one model. Tokens of cache and reasoning are counted beside or among the others: the total says which.
pub(super) fn tokens(usage: &Value) -> Usage {
    let counted = |name: &str| usage[name].as_u64().map(|count| count.min(MAX_COUNT));
    let count = |name: &str| counted(name).unwrap_or_default();
    let (input, output, reasoning) = (count("input_tokens"), count("output_tokens"), count("reasoning_tokens"));
    let (read, write) = ("input_tokens_cache_read", "input_tokens_cache_write");
    let beside = input.saturating_add(count(read)).saturating_add(count(write));
    let is_total = |prompt: u64, completion: u64| usage["total_tokens"].as_u64() == prompt.checked_add(completion);
    let thought = output.saturating_add(reasoning);
    let sums = [(input, output), (beside, output), (input, thought), (beside, thought)];
    let (prompt, completion) = sums.into_iter().find(|sum| is_total(sum.0, sum.1)).unwrap_or((input, output));
    Usage {
        cached_tokens: counted(read),
        cache_write_tokens: counted(write),
        reasoning_tokens: counted("reasoning_tokens"),
        ..Usage::new(prompt, completion)
    }
}

/// A time as records have it, in UTC.
pub(super) fn instant(text: &str) -> Option<String> {
    Some(text.parse::<jiff::Timestamp>().ok()?.to_string())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast ends at the bounds")]
pub(super) fn milliseconds(seconds: f64) -> u64 {
    ((seconds * 1000.0) as u64).min(MAX_COUNT)
}

/// The largest value that is kept in the log's own words, in bytes.
const MAX_VALUE: usize = 64 << 10;

/// Names that a tool for submitting an answer has, unless the log names another.
const SUBMIT: &str = "submit";

/// Fields of `eval` that the manifest keeps. What models and tasks were given besides may hold keys.
const KEPT: [&str; 17] = [
    "created",
    "run_id",
    "eval_id",
    "task",
    "task_id",
    "task_version",
    "task_args",
    "solver",
    "solver_args",
    "model",
    "model_generate_config",
    "config",
    "dataset",
    "revision",
    "packages",
    "tags",
    "metadata",
];

pub(super) struct LogSettings {
    pub(super) task: Option<String>,
    pub(super) dataset: Option<String>,
    pub(super) epochs: Option<u32>,
    pub(super) selected: Option<usize>,
    pub(super) ids: HashMap<String, usize>,
    pub(super) submit: Vec<String>,
    pub(super) revision: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) ended_at: Option<String>,
    error: Option<String>,
    /// Without a name.
    pub(super) variant: Variant,
    /// Without a path, a variant and samples.
    pub(super) record: LogRecord,
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(|text| printable(text, 200)).filter(|text| !text.is_empty())
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}

impl LogSettings {
    pub(super) fn of(head: Head) -> Self {
        let Head { status, error, eval, plan, stats, sha256, .. } = head;
        let ids = ids(&eval["dataset"]["sample_ids"]);
        let epochs = eval["config"]["epochs"].as_u64().and_then(|epochs| u32::try_from(epochs).ok()).filter(|n| *n > 0);
        let selected = if ids.is_empty() { count(&eval["dataset"]["samples"]) } else { Some(ids.len()) };
        let planned = selected.and_then(|selected| selected.checked_mul(epochs.unwrap_or(1) as usize));
        let (status, said) = (text(&status), kept_settings(&eval, &plan));
        let time = |value: &Value| value.as_str().and_then(instant);
        let task = text(&eval["task"]);
        let known = imported_variant("", text(&eval["model"]).unwrap_or_else(|| UNKNOWN.to_owned()));
        let variant = Variant {
            prompt: task.clone().unwrap_or(known.prompt),
            base_url: text(&eval["model_base_url"]).map(|address| redact::url(&address)),
            decoding: decoding(&eval["model_generate_config"], &plan["config"]),
            ..known
        };
        Self {
            task,
            dataset: text(&eval["dataset"]["name"]),
            selected,
            epochs,
            ids,
            submit: submit_tools(&plan),
            revision: text(&eval["revision"]["commit"]),
            started_at: time(&stats["started_at"]).or_else(|| time(&eval["created"])),
            ended_at: time(&stats["completed_at"]),
            error: error["message"].as_str().map(|message| visible_line(message, 200)),
            variant,
            record: LogRecord { sha256, status, planned, said, ..LogRecord::default() },
        }
    }

    pub(super) fn unfinished(&self) -> Option<String> {
        let why = self.error.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        match self.record.status.as_deref()? {
            "success" => None,
            "started" => Some("its run did not end".to_owned()),
            status => Some(format!("its run ended with status `{}`{why}", visible_line(status, 40))),
        }
    }
}

fn id_of(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

fn ids(list: &Value) -> HashMap<String, usize> {
    let mut ids = HashMap::new();
    for id in list.as_array().into_iter().flatten().filter_map(id_of) {
        let next = ids.len();
        ids.entry(id).or_insert(next);
    }
    ids
}

fn submit_tools(plan: &Value) -> Vec<String> {
    let steps = plan["steps"].as_array().into_iter().flatten();
    let named = steps.flat_map(|step| [&step["params"]["submit"]["name"], &step["params"]["submit_name"]]);
    let named: Vec<String> = named.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    if named.is_empty() { vec![SUBMIT.to_owned()] } else { named }
}

/// How replies were decoded: what the plan says, then what the model was set to.
fn decoding(model: &Value, plan: &Value) -> DecodingRecord {
    let said = |name: &str| if plan[name].is_null() { &model[name] } else { &plan[name] };
    let effort = said("reasoning_effort").as_str().and_then(Reasoning::parse);
    let budget = || Reasoning::parse(&said("reasoning_tokens").as_u64()?.to_string());
    DecodingRecord {
        temperature: said("temperature").as_f64().filter(|of| (0.0..=2.0).contains(of)),
        top_p: said("top_p").as_f64().filter(|of| (0.0..=1.0).contains(of)),
        max_tokens: said("max_tokens").as_u64().and_then(|of| u32::try_from(of).ok()).filter(|of| *of > 0),
        seed: said("seed").as_u64(),
        reasoning: effort.or_else(budget),
        ..DecodingRecord::default()
    }
}

/// What it says in its own words, without what is empty, too large, or named like a secret.
fn kept_settings(eval: &Value, plan: &Value) -> Map<String, Value> {
    let named = |name: &str| Some((name.to_owned(), eval.get(name)?.clone()));
    let mut kept: Map<String, Value> = KEPT.into_iter().filter_map(named).collect();
    if let Some(dataset) = kept.get_mut("dataset").and_then(Value::as_object_mut) {
        dataset.remove("sample_ids");
    }
    let solvers: Vec<Value> =
        plan["steps"].as_array().into_iter().flatten().filter_map(|step| step.get("solver").cloned()).collect();
    kept.insert("solvers".to_owned(), Value::Array(solvers));
    kept.values_mut().for_each(|value| without_secrets(value, 0));
    let is_empty = |value: &Value| {
        value.is_null() || value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty)
    };
    kept.into_iter().filter(|(_, value)| !is_empty(value) && value.to_string().len() <= MAX_VALUE).collect()
}

/// Texts under names such as `api_key` go; numbers stay, as in `max_tokens`.
fn without_secrets(value: &mut Value, depth: usize) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, value| {
                let secret = (is_secret_name(name) && value.is_string()) || name == "extra_headers";
                !secret && depth < 100
            });
            fields.values_mut().for_each(|value| without_secrets(value, depth + 1));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| without_secrets(value, depth + 1)),
        _ => {}
    }
}
