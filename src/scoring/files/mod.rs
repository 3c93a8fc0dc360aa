//! Official files of golds and predictions, scored as each dataset's own script scores them.
//!
//! Golds may also be in our own layout, or in a table, where these hold what the metric needs.
//!
//! Predictions that cannot be read, and golds that cannot be scored by, are errors that name the file and the place in it.

mod answers;
mod fever;
mod hotpot;
mod kilt;
mod musique;

use crate::base::{Question, excerpt, json_error};
use musique::Subset;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use std::fmt::Display;

pub struct Files<'a> {
    /// The dataset's own file with the gold answers.
    pub gold: JsonFile<'a>,
    /// Predictions as the official script takes them.
    pub predictions: JsonFile<'a>,
    /// Other names of entities (2wiki), JSON lines as in `id_aliases.json`.
    pub aliases: Option<JsonFile<'a>>,
    /// Reads the gold file as a dataset of any format, for metrics that are not bound to a layout.
    pub questions: &'a dyn Fn() -> Result<Vec<Question>, FileError>,
    pub per_item: bool,
}

impl Files<'_> {
    /// The questions of a gold file in our own layout, or of a table; nothing for a dataset's own file.
    pub(super) fn own_questions(&self) -> Result<Option<Vec<Question>>, FileError> {
        if self.gold.is_own() { (self.questions)().map(Some) } else { Ok(None) }
    }

    /// The same, each with a gold answer: without one it cannot be scored.
    pub(super) fn own_golds(&self) -> Result<Option<Vec<Question>>, FileError> {
        self.own_questions()?.map(|questions| self.with_answers(questions)).transpose()
    }

    pub(super) fn with_answers(&self, questions: Vec<Question>) -> Result<Vec<Question>, FileError> {
        match questions.iter().find(|question| question.answers.is_empty()) {
            None => Ok(questions),
            Some(hidden) => {
                let what = format!("record {} (id `{}`) has no gold answer", hidden.index + 1, excerpt(&hidden.id));
                Err(self.gold.error(what, "name a gold file in which every question has an answer"))
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct FileMetric {
    pub name: &'static str,
    score: fn(&Files<'_>) -> Result<Report, FileError>,
}

impl FileMetric {
    /// All metrics, in the order in which help and errors list them.
    pub const ALL: &[Self] = &[
        Self { name: "hotpot", score: hotpot::hotpot },
        Self { name: "aliases", score: |files| answers::plain("aliases", files) },
        Self { name: "2wiki", score: hotpot::wiki2 },
        Self { name: "musique", score: |files| musique::score(files, Subset::All) },
        Self { name: "musique-answerable", score: |files| musique::score(files, Subset::Answerable) },
        Self { name: "musique-full", score: |files| musique::score(files, Subset::Full) },
        Self { name: "squad11", score: |files| answers::plain("squad11", files) },
        Self { name: "squad20", score: answers::squad20 },
        Self { name: "fever", score: fever::score },
        Self { name: "trivia", score: answers::trivia },
        Self { name: "nq-open", score: answers::orqa },
        Self { name: "orqa", score: answers::orqa },
        Self { name: "fid", score: |files| answers::plain("fid", files) },
        Self { name: "paper", score: answers::paper },
        Self { name: "cjk", score: |files| answers::plain("cjk", files) },
        Self { name: "strategyqa", score: |files| answers::plain("strategyqa", files) },
        Self { name: "kilt", score: kilt::score },
        Self { name: "rougel", score: |files| answers::plain("rougel", files) },
    ];

    pub fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|metric| metric.name).collect();
        names.join(", ")
    }

    pub fn parse(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|metric| metric.name.eq_ignore_ascii_case(name.trim()))
    }

    pub fn score(&self, files: &Files<'_>) -> Result<Report, FileError> {
        (self.score)(files)
    }
}

/// The figures of one file of predictions, under the names and in the order of the official script.
#[derive(Debug, Serialize)]
pub struct Report {
    pub metric: &'static str,
    pub n: usize,
    /// Means, percentages and counts, as the metric defines them.
    pub aggregate: Map<String, Value>,
    /// What the official script prints, where it rounds what `aggregate` holds in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub official: Option<Map<String, Value>>,
    /// How many questions lack what, such as an answer.
    pub missing: Map<String, Value>,
    /// What a reader should know of the gold file before using the figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// One object per question, `id` first, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<Value>>,
}

impl Report {
    /// A report without figures, to which questions are added.
    pub(super) fn new(metric: &'static str, files: &Files<'_>) -> Self {
        let items = files.per_item.then(Vec::new);
        Self { metric, n: 0, aggregate: Map::new(), official: None, missing: Map::new(), notes: Vec::new(), items }
    }

    /// Counts a question; keeps its scores if they were requested.
    pub(super) fn add<K: Into<String>, V: Into<Value>>(
        &mut self,
        id: impl Into<Value>,
        values: impl IntoIterator<Item = (K, V)>,
    ) {
        self.n += 1;
        if let Some(items) = &mut self.items {
            let mut fields = named([("id", id)]);
            fields.extend(named(values));
            items.push(fields.into());
        }
    }
}

pub(super) fn named<K: Into<String>, V: Into<Value>>(values: impl IntoIterator<Item = (K, V)>) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Why a file cannot be scored. The message names the file.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    message: String,
    hint: &'static str,
}

impl FileError {
    pub fn new(message: impl Display, hint: &'static str) -> Self {
        Self { message: message.to_string(), hint }
    }

    pub fn hint(&self) -> &'static str {
        self.hint
    }
}

/// The text of a JSON or JSON Lines file, and the file's name for errors.
#[derive(Debug, Clone, Copy)]
pub struct JsonFile<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

pub(super) struct Records<'a, T> {
    file: JsonFile<'a>,
    raw: Vec<&'a RawValue>,
    hint: &'static str,
    pub(super) list: Vec<T>,
}

type ParseError = serde_path_to_error::Error<serde_json::Error>;

impl<'a> JsonFile<'a> {
    /// A file that holds neither nothing nor a web page.
    pub fn new(name: &'a str, text: &'a str) -> Result<Self, FileError> {
        let file = Self { name, text };
        match text.trim_start() {
            "" => Err(file.error("the file is empty", "name the file that holds the data")),
            start if start.starts_with('<') => {
                Err(file.error("line 1: this is an HTML page", "download the data file itself, not a page about it"))
            }
            _ => Ok(file),
        }
    }

    /// The first record of a JSON array or of JSON lines.
    pub(super) fn first_record(self) -> Option<Map<String, Value>> {
        let text = self.text.trim_start();
        let first: &RawValue = match text.strip_prefix('[') {
            Some(list) => serde_json::Deserializer::from_str(list).into_iter().next()?.ok()?,
            None => serde_json::Deserializer::from_str(text).into_iter().next()?.ok()?,
        };
        serde_json::from_str(first.get()).ok()
    }

    /// Whether it is a table, or begins with a question in our own layout: official files call no list `answers`.
    fn is_own(self) -> bool {
        let is_json = self.text.trim_start().starts_with(['[', '{']);
        !is_json
            || self.first_record().is_some_and(|first| {
                first.get("answers").is_some_and(Value::is_array) && first.get("question").is_some_and(Value::is_string)
            })
    }

    pub(super) fn error(self, what: impl Display, hint: &'static str) -> FileError {
        FileError::new(format!("`{}`: {what}", self.name), hint)
    }

    /// The whole file as one JSON value. Objects that deep inside it have ids as keys.
    pub(super) fn whole<T: DeserializeOwned>(self, depth_of_ids: usize, hint: &'static str) -> Result<T, FileError> {
        parse(self.text).map_err(|error| match error.inner() {
            inner if inner.is_data() => {
                let at = place(error.path(), depth_of_ids);
                self.error(format!("line {}{at}: {}", inner.line(), reason(inner)), hint)
            }
            inner => self.not_json(inner, hint),
        })
    }

    /// The records of a JSON array, or of JSON objects one after the other (JSON Lines).
    pub(super) fn records<T: DeserializeOwned>(self, hint: &'static str) -> Result<Records<'a, T>, FileError> {
        let raw: serde_json::Result<Vec<&RawValue>> = if self.text.trim_start().starts_with('[') {
            serde_json::from_str(self.text)
        } else {
            serde_json::Deserializer::from_str(self.text).into_iter().collect()
        };
        let raw = raw.map_err(|error| self.not_json(&error, hint))?;
        if raw.is_empty() {
            return Err(self.error("no records", hint));
        }
        let mut records = Records { file: self, list: Vec::with_capacity(raw.len()), raw, hint };
        for index in 0..records.raw.len() {
            let parsed = parse(records.raw[index].get());
            let record = parsed.map_err(|error| {
                let at = place(error.path(), usize::MAX);
                records.error_at(index, &format!("{at}: {}", reason(error.inner())), hint)
            })?;
            records.list.push(record);
        }
        Ok(records)
    }

    fn not_json(self, error: &serde_json::Error, hint: &'static str) -> FileError {
        let line = error.line().max(1);
        if error.is_eof() {
            let what = format!("line {line}: the file ends in the middle of its data");
            return self.error(what, "the file seems incomplete: write or download it again");
        }
        let start = self.text.lines().nth(line - 1).unwrap_or_default();
        self.error(format!("line {line}: {}, in `{}`", reason(error), excerpt(start)), hint)
    }
}

impl<T> Records<'_, T> {
    /// An error about a field of a record; `index` counts from 0.
    pub(super) fn error(&self, index: usize, field: &str, what: impl Display) -> FileError {
        self.error_at(index, &format!(", field `{field}`: {what}"), self.hint)
    }

    fn error_at(&self, index: usize, rest: &str, hint: &'static str) -> FileError {
        let raw = self.raw.get(index).map_or("", |raw| raw.get());
        let fields: Map<String, Value> = serde_json::from_str(raw).unwrap_or_default();
        let id = match ["_id", "id", "question"].iter().find_map(|name| fields.get(*name)) {
            Some(Value::String(id)) => format!(" (id `{}`)", excerpt(id)),
            Some(id) => format!(" (id `{}`)", excerpt(&id.to_string())),
            None => String::new(),
        };
        // The record is borrowed from the text, so the difference of their addresses is its offset.
        let offset = raw.as_ptr().addr().saturating_sub(self.file.text.as_ptr().addr()).min(self.file.text.len());
        let line = 1 + memchr::memchr_iter(b'\n', &self.file.text.as_bytes()[..offset]).count();
        self.file.error(format!("line {line}, record {}{id}{rest}", index + 1), hint)
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, ParseError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json)?;
    let track = serde_path_to_error::Track::new();
    json.end().map(|()| value).map_err(|error| ParseError::new(track.path(), error))
}

/// The field at fault, and the id where the path has one; `None` for the whole.
fn place(path: &Path, depth_of_ids: usize) -> String {
    let (mut field, mut id) = (String::new(), String::new());
    for (depth, segment) in path.iter().enumerate() {
        match segment {
            Segment::Map { key } if depth == depth_of_ids => id = format!(", id `{}`", excerpt(key)),
            Segment::Map { key } if field.is_empty() => field.push_str(key),
            Segment::Map { key } => field.extend([".", key]),
            Segment::Seq { index } if id.is_empty() => field.extend(["[", &index.to_string(), "]"]),
            _ => {}
        }
    }
    if field.is_empty() { id } else { format!(", field `{}`{id}", excerpt(&field)) }
}

/// What the parser says, without its own position.
fn reason(error: &serde_json::Error) -> String {
    excerpt(&json_error::without_place(error))
}
