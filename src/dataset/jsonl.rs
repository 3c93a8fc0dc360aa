//! Our own form: the fields of [`Question`], of which only `question` is required. `answer` (a text, a number, a
//! truth value or a list) may replace `answers`, and `aliases` are
//! added to them; keys that we do not know go to `meta`.

use super::fields::{Fault, Layout, Record, as_written, with_aliases};
use super::{Columns, Format};
use crate::base::{AnswerKind, Question};
use serde_json::{Map, Value};

/// The fields of a question under the names that we write.
pub(super) const FIELDS: [&str; 16] = [
    "id",
    "dataset",
    "split",
    "index",
    "question",
    "answers",
    "answer_kind",
    "answerable",
    "type",
    "level",
    "context",
    "supporting_facts",
    "evidence_sets",
    "evidence_triples",
    "decomposition",
    "cluster",
];
const ANSWER_KINDS: [&str; 4] = ["span", "yesno", "label", "freeform"];
const LABELS: [&str; 3] = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"];

pub(super) const FORMAT: Format = Format::general("jsonl", Layout::Lines, question);
pub(super) const CSV: Format = Format::general("csv", Layout::Csv, row_question);
pub(super) const TSV: Format = Format::general("tsv", Layout::Tsv, row_question);

pub(super) fn question(record: &Record, columns: &Columns) -> Result<Question, Fault> {
    let text = columns.question.as_deref().unwrap_or("question");
    let id = columns.id.as_deref().unwrap_or("id");
    let kind = columns.kind.as_deref().unwrap_or("type");
    let level = columns.level.as_deref().unwrap_or("level");
    let (answer, answers) = answers(record, columns)?;
    let mut question = structured(record)?;
    question.question = record.question(text)?;
    question.id = record.id(id)?;
    question.answers = answers;
    question.kind = scalar(record, kind)?;
    question.level = scalar(record, level)?;
    if !ANSWER_KINDS.contains(&record.get("answer_kind").and_then(Value::as_str).unwrap_or_default()) {
        question.answer_kind = kind_of(&question.answers);
    }
    let mut known = [&FIELDS[..], &["meta", text, id, kind, level, answer]].concat();
    known.retain(|field| !is_foreign(record, field));
    if columns.answer.is_none() {
        known.push("aliases");
    }
    let mut meta = record.rest(&known);
    if let Some(Value::Object(own)) = record.get("meta") {
        meta.extend(own.clone());
    }
    question.meta = meta;
    Ok(question)
}

/// A row as a question. The cell of the answer, and that of aliases, may be a JSON list, or have separated answers.
fn row_question(record: &Record, columns: &Columns) -> Result<Question, Fault> {
    let name = |given: &Option<String>, usual: &str| given.as_deref().unwrap_or(usual).to_owned();
    let answer = name(&columns.answer, if record.get("answers").is_some() { "answers" } else { "answer" });
    let read = [
        name(&columns.question, "question"),
        name(&columns.id, "id"),
        name(&columns.kind, "type"),
        name(&columns.level, "level"),
        "aliases".to_owned(),
        "dataset".to_owned(),
        answer.clone(),
    ];
    let mut record = record.clone();
    // A cell is plain text: a column called `context` or `split` is the table's own affair and is kept as it is.
    let (known, others): (Map<_, _>, Map<_, _>) =
        std::mem::take(&mut record.fields).into_iter().partition(|(field, _)| read.contains(field));
    record.fields = known;
    for field in [answer.as_str(), "aliases"] {
        // Beside a column of answers that was named, a column `aliases` is the table's own.
        let separator = columns.answer_separator.as_deref().filter(|_| field == answer || columns.answer.is_none());
        let separated = |cell: &str| {
            // Without the white space around them; empty ones are none.
            let answers = cell.split(separator?).map(str::trim).filter(|answer| !answer.is_empty());
            Some(answers.map(Value::from).collect())
        };
        if let Some(list) =
            record.get(field).and_then(Value::as_str).and_then(|cell| json_list(cell).or_else(|| separated(cell)))
        {
            record.fields.insert(field.to_owned(), list);
        }
    }
    let mut question = question(&record, columns)?;
    question.meta.extend(others);
    Ok(question)
}

fn json_list(cell: &str) -> Option<Value> {
    let cell = cell.trim();
    if !cell.starts_with('[') {
        return None;
    }
    let list = as_written(serde_json::from_str(cell).ok()?)?;
    let scalar = |item: &Value| item.is_string() || item.is_boolean();
    list.as_array()?.iter().all(scalar).then_some(list)
}

/// The field that holds the answers, and what it holds: the official one first.
fn answers<'a>(record: &Record, columns: &'a Columns) -> Result<(&'a str, Vec<String>), Fault> {
    let field = columns.answer.as_deref().unwrap_or(if record.get("answers").is_some() { "answers" } else { "answer" });
    let list = match record.get(field) {
        None => Vec::new(),
        // An empty cell has no gold answer; that is not the empty text.
        Some(Value::String(text)) if text.trim().is_empty() => Vec::new(),
        Some(Value::Array(items)) => items.iter().map(|item| answer(field, item)).collect::<Result<_, _>>()?,
        Some(one) => vec![answer(field, one)?],
    };
    if columns.answer.is_some() {
        return Ok((field, list));
    }
    Ok((field, with_aliases(list, record.texts("aliases")?)))
}

/// An answer as a text: numbers as they are, and truth values as yes and no.
pub(super) fn answer(field: &str, value: &Value) -> Result<String, Fault> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(if *truth { "yes" } else { "no" }.to_owned()),
        other => Err(Fault::expected(field, "a text or a list of texts", other)),
    }
}

/// What the gold answer asks for, where the record does not say.
fn kind_of(answers: &[String]) -> AnswerKind {
    match answers.first().map(String::as_str) {
        Some("yes" | "no") => AnswerKind::YesNo,
        Some(label) if LABELS.contains(&label) => AnswerKind::Label,
        _ => AnswerKind::Span,
    }
}

/// The fields with a structure of their own, read one by one so that an error names the right one.
fn structured(record: &Record) -> Result<Question, Fault> {
    let mut question = Question::new("", "", Vec::new());
    if let Some(name) = record.optional_string("dataset")? {
        question.dataset = name;
    }
    question.split = record.optional_string("split")?;
    question.cluster = record.optional_string("cluster")?;
    take(record, "answer_kind", &mut question.answer_kind)?;
    take(record, "answerable", &mut question.answerable)?;
    take(record, "context", &mut question.context)?;
    take(record, "supporting_facts", &mut question.supporting_facts)?;
    take(record, "evidence_sets", &mut question.evidence_sets)?;
    take(record, "evidence_triples", &mut question.evidence_triples)?;
    take(record, "decomposition", &mut question.decomposition)?;
    Ok(question)
}

/// A type or a level: a text, or a number that is used as one.
fn scalar(record: &Record, field: &str) -> Result<Option<String>, Fault> {
    match record.get(field) {
        None => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(value) => super::fields::string(field, value).map(|text| Some(text.trim().to_owned())),
    }
}

/// Whether a record uses one of our names for something else: a text where we have a list, or a kind of answer that
/// we do not know. Such a field is the file's own and goes to `meta`.
fn is_foreign(record: &Record, field: &str) -> bool {
    let text = record.get(field).and_then(Value::as_str);
    match field {
        "answer_kind" => record.get(field).is_some_and(|_| !text.is_some_and(|kind| ANSWER_KINDS.contains(&kind))),
        "context" | "supporting_facts" | "evidence_sets" | "evidence_triples" | "decomposition" => text.is_some(),
        _ => false,
    }
}

fn take<T: serde::de::DeserializeOwned>(record: &Record, field: &str, into: &mut T) -> Result<(), Fault> {
    if let Some(value) = record.get(field).filter(|_| !is_foreign(record, field)) {
        *into = T::deserialize(value).map_err(|error| Fault {
            field: field.to_owned(),
            problem: format!("{error}, found `{}`", crate::base::excerpt(&value.to_string())),
        })?;
    }
    Ok(())
}
