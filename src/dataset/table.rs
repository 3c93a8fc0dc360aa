//! Tables: comma- or tab-separated cells under a header.

use super::bytes::newlines;
use super::error::Problem;
use super::fields::{Fault, Layout, Record, Records};
use super::{Columns, DatasetError, Format, Place, ReadOptions, header, jsonl};
use crate::types::{Question, excerpt};
use serde_json::{Map, Value};

pub(super) const CSV: Format = Format::general("csv", Layout::Csv, question);
pub(super) const TSV: Format = Format::general("tsv", Layout::Tsv, question);

/// The layout that a file's name or its header line shows.
pub(super) fn layout(file: &str, text: &str, columns: &Columns) -> Option<Layout> {
    let name = file.trim_end_matches(".gz").to_ascii_lowercase();
    match name.rsplit_once('.') {
        Some((_, "csv")) => return Some(Layout::Csv),
        Some((_, "tsv")) => return Some(Layout::Tsv),
        _ => {}
    }
    match header::separator(text.lines().next()?, columns)? {
        b'\t' => Some(Layout::Tsv),
        _ => Some(Layout::Csv),
    }
}

/// Splits a table into records, each cell a text under its column's name.
pub(super) fn split(file: &str, text: &str, layout: Layout, options: &ReadOptions) -> Result<Records, DatasetError> {
    let columns = &options.columns;
    let first = text.lines().next().unwrap_or_default();
    let separator = header::separator(first, columns).unwrap_or(header::of_layout(layout));
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(text.as_bytes());
    let cells = reader.headers().map_err(|error| table_error(file, 1, &error))?;
    let mut header: Vec<String> = cells.iter().map(|cell| cell.trim().to_owned()).collect();
    let mut notes: Vec<String> = header::said(separator, layout).into_iter().collect();
    let format = format(file, &mut header, layout, options, &mut notes)?;
    if let Some(repeated) = header.iter().enumerate().find(|(n, name)| header[..*n].contains(name)) {
        let reason = format!("the column `{}` appears twice", excerpt(repeated.1));
        return Err(DatasetError::at_line(file, 1, Problem::Table(reason)));
    }
    let mut found = Records { layout, notes, format: Some(format), ..Records::default() };
    let mut lines = LineCounter { text, at: 0, line: 1 };
    for (number, row) in reader.records().enumerate() {
        match row {
            Ok(row) => {
                let line = lines.line_of(row.position());
                let cells = header.iter().zip(&row).filter(|(_, cell)| !cell.is_empty());
                let fields: Map<String, Value> =
                    cells.map(|(name, cell)| (name.clone(), Value::String(cell.to_owned()))).collect();
                found.list.push(Record { place: Place { line, record: number + 1 }, fields });
            }
            Err(error) => {
                let line = lines.line_of(error.position());
                found.faults.push(table_error(file, line, &error));
            }
        }
    }
    if let Some(fault) = found.list.last().and_then(|last| unclosed(file, last, &text[lines.at..])) {
        found.list.pop();
        found.faults.push(fault);
    }
    Ok(found)
}

/// The format that a header shows, with the names in it made ours where it is not another dataset's.
fn format(
    file: &str,
    header: &mut [String],
    layout: Layout,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Format, DatasetError> {
    let columns = &options.columns;
    let record = |header: &[String]| {
        let fields = header.iter().map(|name| (name.clone(), Value::String(String::new()))).collect();
        Record { place: Place { line: 1, record: 1 }, fields }
    };
    if let Some(own) = options.format.filter(|format| !format.is_general()) {
        return Ok(own);
    }
    let named = columns.question.is_some() || columns.answer.is_some() || options.format.is_some();
    let raw = record(header);
    if let Some(own) = Format::ALL.into_iter().find(|own| !named && own.names_columns(file, &raw, layout)) {
        return Ok(own);
    }
    notes.extend(header::rename(header, columns));
    notes.extend(header::without_answers(header, columns));
    let question = Some(columns.question.as_deref().unwrap_or("question"));
    for column in [question, columns.answer.as_deref(), columns.id.as_deref()].into_iter().flatten() {
        if !header.iter().any(|name| name == column) {
            return Err(DatasetError::at_line(file, 1, Problem::NoColumn(column.to_owned(), header.to_vec())));
        }
    }
    options.format.map_or_else(|| Format::detect(file, &record(header), layout, columns), Ok)
}

/// A quoted cell without its closing quote takes all lines after it: the last row then holds a line end and an odd
/// number of quotes.
fn unclosed(file: &str, last: &Record, text: &str) -> Option<DatasetError> {
    let swallowed = last.fields.values().any(|cell| cell.as_str().is_some_and(|cell| cell.contains('\n')));
    if !swallowed || memchr::memchr_iter(b'"', text.as_bytes()).count().is_multiple_of(2) {
        return None;
    }
    let reason = "a quoted cell that begins here is not closed".to_owned();
    Some(DatasetError::at_line(file, last.place.line, Problem::Table(reason)))
}

/// Counts the lines before each row: the reader's own count takes line ends and blank lines into the row after.
struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The line, from 1, of a row that is not before the last one asked for.
    fn line_of(&mut self, position: Option<&csv::Position>) -> usize {
        let bytes = self.text.as_bytes();
        let begin = position.and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(self.at);
        let begin = begin.clamp(self.at, bytes.len());
        let blank = bytes[begin..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line += newlines(&bytes[self.at..begin + blank]);
        self.at = begin + blank;
        self.line
    }
}

fn table_error(file: &str, line: usize, error: &csv::Error) -> DatasetError {
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} cells where the header has {expected_len}")
        }
        _ => excerpt(&error.to_string()),
    };
    DatasetError::at_line(file, line, Problem::Table(reason))
}

/// A row as a question. The answer's cell may be a JSON list of answers.
fn question(record: &Record, columns: &Columns) -> Result<Question, Fault> {
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
        if let Some(list) = record.get(field).and_then(Value::as_str).and_then(json_list) {
            record.fields.insert(field.to_owned(), list);
        }
    }
    let mut question = jsonl::question(&record, columns)?;
    question.meta.extend(others);
    Ok(question)
}

fn json_list(cell: &str) -> Option<Value> {
    let cell = cell.trim();
    if !cell.starts_with('[') {
        return None;
    }
    let items: Vec<Value> = serde_json::from_str(cell).ok()?;
    let scalar = |item: &Value| item.is_string() || item.is_number() || item.is_boolean();
    items.iter().all(scalar).then(|| Value::from(items))
}
