//! Tables: comma- or tab-separated cells under a header, which says what separates its cells and which columns are ours.

use super::bytes::newlines;
use super::error::Problem;
use super::fields::{Fault, Layout, Record, Records};
use super::{Columns, DatasetError, Format, Place, ReadOptions, jsonl, records};
use crate::base::{Question, excerpt};
use serde_json::{Map, Value};
use std::io::Read as _;

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
    let (begin, declared) = begin(text);
    match declared.or_else(|| separator(text[begin..].lines().next()?, columns))? {
        b'\t' => Some(Layout::Tsv),
        _ => Some(Layout::Csv),
    }
}

/// Splits a table into records, each cell a text under its column's name.
pub(super) fn split(file: &str, text: &str, layout: Layout, options: &ReadOptions) -> Result<Records, DatasetError> {
    let (begin, declared) = begin(text);
    let (before, text) = text.split_at(begin);
    let mut lines = LineCounter { text, at: 0, line: 1 + newlines(before.as_bytes()) };
    let first = text.lines().next().ok_or_else(|| DatasetError::of_file(file, Problem::Empty))?;
    let separator = declared.or_else(|| separator(first, &options.columns));
    let separator = separator.unwrap_or(of_layout(layout));
    // A row may have empty cells more than the header: how many it may have is judged below.
    let mut reader = csv::ReaderBuilder::new().flexible(true).delimiter(separator).from_reader(text.as_bytes());
    let cells = reader.headers().map_err(|error| table_error(file, lines.line, &error))?;
    if cells.iter().any(|cell| cell.contains('\n')) && is_open(text, separator) {
        return Err(unclosed(file, lines.line));
    }
    let mut header = names(cells);
    let mut notes: Vec<String> = said(separator, layout).into_iter().collect();
    let format = format(file, lines.line, &mut header, layout, options, &mut notes)?;
    let names = header.iter().map(String::as_str);
    let without_answers = WithoutAnswers::of("column", names, &[], &options.columns).filter(|_| format.is_general());
    let mut found = Records { layout, notes, format: Some(format), without_answers, ..Records::default() };
    let mut number = 0;
    for row in reader.records() {
        let row = row.map_err(|error| table_error(file, lines.line, &error))?;
        if row.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        let line = lines.line_of(row.position());
        number += 1;
        if let Some(reason) = misfit(&header, &row) {
            let breaks: usize = row.iter().map(|cell| newlines(cell.as_bytes())).sum();
            if breaks > 0 {
                let reason = format!(
                    "the row goes on to line {} and {reason}: a quote in it may be closed too late",
                    line + breaks
                );
                let open = is_open(&text[lines.at..], separator);
                let late = DatasetError::at_line(file, line, Problem::Quote(reason));
                return Err(if open { unclosed(file, line) } else { late });
            }
            let reason = format!("the row {reason}");
            found.faults.push(DatasetError::at_line(file, line, Problem::Table(reason)));
            continue;
        }
        let cells = header.iter().zip(&row).filter(|(_, cell)| !cell.is_empty());
        let fields: Map<String, Value> =
            cells.map(|(name, cell)| (name.clone(), Value::String(cell.to_owned()))).collect();
        found.list.push(Record { place: Place { line, record: number }, fields });
    }
    if number > 0 && is_open(&text[lines.at..], separator) {
        return Err(unclosed(file, lines.line));
    }
    Ok(found)
}

/// What is wrong with the number of a row's cells; empty ones at its end are no fault, as spreadsheets write them.
fn misfit(header: &[String], row: &csv::StringRecord) -> Option<String> {
    let surplus = row.iter().skip(header.len()).any(|cell| !cell.trim().is_empty());
    (surplus || row.len() < header.len())
        .then(|| format!("has {} cells where the header has {}", row.len(), header.len()))
}

/// The format that a header shows, with the names in it made ours where it is not another dataset's.
fn format(
    file: &str,
    line: usize,
    header: &mut [String],
    layout: Layout,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Format, DatasetError> {
    let columns = &options.columns;
    if let Some((_, repeated)) = header.iter().enumerate().find(|(n, name)| header[..*n].contains(name)) {
        return Err(DatasetError::at_line(file, line, Problem::RepeatedColumn(excerpt(repeated))));
    }
    let record = |header: &[String]| {
        let fields = header.iter().map(|name| (name.clone(), Value::String(String::new()))).collect();
        Record { place: Place { line, record: 1 }, fields }
    };
    if let Some(own) = options.format.filter(|format| !format.is_general()) {
        return Ok(own);
    }
    let named = columns.question.is_some() || columns.answer.is_some() || options.format.is_some();
    let raw = record(header);
    if let Some(own) = Format::ALL.into_iter().find(|own| !named && own.names_columns(file, &raw, layout)) {
        return Ok(own);
    }
    notes.extend(rename(header, columns));
    let question = Some(columns.question.as_deref().unwrap_or("question"));
    for column in [question, columns.answer.as_deref(), columns.id.as_deref()].into_iter().flatten() {
        if !header.iter().any(|name| name == column) {
            return Err(DatasetError::at_line(file, line, Problem::NoColumn(column.to_owned(), header.to_vec())));
        }
    }
    options.format.map_or_else(|| Format::detect(file, &record(header), layout, columns), Ok)
}

/// Whether a quoted cell of a text's last row is not closed: a row after it would be a part of that cell.
fn is_open(last: &str, separator: u8) -> bool {
    let more = last.as_bytes().chain(&b"\nx"[..]);
    let mut rows = csv::ReaderBuilder::new();
    rows.has_headers(false).flexible(true).delimiter(separator);
    rows.from_reader(more).byte_records().count() == 1
}

/// The rows that such a cell takes are not known, so the file is refused even where bad records are skipped.
fn unclosed(file: &str, line: usize) -> DatasetError {
    let reason = "a quoted cell that begins here is not closed".to_owned();
    DatasetError::at_line(file, line, Problem::Quote(reason))
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
    DatasetError::at_line(file, line, Problem::Table(excerpt(&error.to_string())))
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
    let list = records::as_written(serde_json::from_str(cell).ok()?)?;
    let scalar = |item: &Value| item.is_string() || item.is_boolean();
    list.as_array()?.iter().all(scalar).then_some(list)
}

/// Names of columns that we read; other cases of their letters are read too.
const OURS: [&str; 7] = ["question", "answer", "answers", "id", "type", "level", "aliases"];
/// What other datasets call the question. Where there is a column `question`, these are not it.
const OF_DATASETS: [&str; 2] = ["Prompt", "problem"];
/// Separators that are tried, the usual one first, and how they are called.
const SEPARATORS: [(u8, &str); 4] = [(b',', "`,`"), (b'\t', "tabs"), (b';', "`;`"), (b'|', "`|`")];

/// The separator of a table whose first line this is, if it is one: that under which the column of the question appears.
pub(super) fn separator(header: &str, columns: &Columns) -> Option<u8> {
    let wanted =
        columns.question.as_deref().map_or_else(|| [&["question"], &OF_DATASETS[..]].concat(), |name| vec![name]);
    let has = |separator: u8| cells(header, separator).iter().any(|cell| wanted.iter().any(|name| same(name, cell)));
    SEPARATORS.into_iter().map(|(separator, _)| separator).find(|separator| has(*separator))
}

fn cells(header: &str, separator: u8) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(header.as_bytes());
    reader.headers().map(|cells| cells.iter().map(|cell| cell.trim().to_owned()).collect()).unwrap_or_default()
}

/// Where a table's header begins, after blank lines, rows of empty cells and the line `sep=;` of spreadsheets, and which
/// separator that line names.
pub(super) fn begin(text: &str) -> (usize, Option<u8>) {
    let (mut begin, mut declared) = (0, None);
    for line in text.split_inclusive('\n') {
        let row = line.trim_end_matches(['\r', '\n']).trim_matches('"');
        let named = row.get(..4).filter(|start| same("sep=", start)).map(|_| &row.as_bytes()[4..]);
        match named {
            Some([separator, rest @ ..]) if is_separator(*separator) && rest.iter().all(|byte| byte == separator) => {
                declared = Some(*separator);
            }
            _ if row.bytes().all(|byte| byte == b'"' || byte.is_ascii_whitespace() || is_separator(byte)) => {}
            _ => break,
        }
        begin += line.len();
    }
    (begin, declared)
}

fn is_separator(byte: u8) -> bool {
    SEPARATORS.iter().any(|(separator, _)| *separator == byte)
}

/// The names of the columns. Cells without a name at the end of a header are none; of others all but the first are
/// numbered.
pub(super) fn names(cells: &csv::StringRecord) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(cells.len());
    for (n, cell) in cells.iter().enumerate() {
        let repeated = cell.trim().is_empty() && names.iter().any(String::is_empty);
        names.push(if repeated { format!("column {}", n + 1) } else { cell.trim().to_owned() });
    }
    let unnamed = cells.iter().collect::<Vec<_>>().into_iter().rev().take_while(|cell| cell.trim().is_empty()).count();
    names.truncate(cells.len() - unnamed);
    names
}

/// What is said of a separator that the layout does not have.
pub(super) fn said(separator: u8, layout: Layout) -> Option<String> {
    let (_, name) = SEPARATORS.into_iter().find(|(one, _)| *one == separator && separator != of_layout(layout))?;
    Some(format!("the cells are separated by {name}"))
}

/// The separator that a layout has by its name.
pub(super) fn of_layout(layout: Layout) -> u8 {
    if layout == Layout::Tsv { b'\t' } else { b',' }
}

/// Gives columns such as `Question` our names. Returns what was renamed, in sentences.
pub(super) fn rename(header: &mut [String], columns: &Columns) -> Vec<String> {
    let names: Vec<&str> = header.iter().map(String::as_str).collect();
    let renamed = renamed(&names, columns);
    let notes = sentences(&names, &renamed, "columns");
    for (at, ours) in renamed {
        ours.clone_into(&mut header[at]);
    }
    notes
}

/// The same for the keys of a JSON record.
pub(super) fn rename_keys(fields: &mut Map<String, Value>, columns: &Columns) -> Vec<String> {
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let renamed = renamed(&names, columns);
    if renamed.is_empty() {
        return Vec::new();
    }
    let notes = sentences(&names, &renamed, "keys");
    let name = |(at, (key, value))| {
        let ours = renamed.iter().find(|(renamed, _)| *renamed == at);
        (ours.map_or(key, |(_, ours)| (*ours).to_owned()), value)
    };
    *fields = std::mem::take(fields).into_iter().enumerate().map(name).collect();
    notes
}

/// Whether keys of these names are a question's or an answer's.
pub(super) fn has_ours(fields: &Map<String, Value>, columns: &Columns) -> bool {
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let wanted = |name: &str| matches!(name, "question" | "answer");
    names.iter().any(|name| wanted(name)) || renamed(&names, columns).iter().any(|(_, ours)| wanted(ours))
}

/// Which names get one of ours: those that differ from it in case only, and without a `question` what another dataset
/// calls it, if there are answers too. A name that is not unique, or that the user gave, is left as it is.
fn renamed(names: &[&str], columns: &Columns) -> Vec<(usize, &'static str)> {
    let Columns { question, answer, id, kind, level } = columns;
    let given = [question, answer, id, kind, level].map(Option::as_deref);
    let replaced = |ours: &str| match ours {
        "question" => question.is_some(),
        "answer" | "answers" => answer.is_some(),
        "id" => id.is_some(),
        "type" => kind.is_some(),
        "level" => level.is_some(),
        _ => false,
    };
    let only = |wanted: &[&str]| {
        let alike = |name: &str| wanted.iter().any(|wanted| same(wanted, name)) && !given.contains(&Some(name));
        let mut alike = (0..names.len()).filter(|at| alike(names[*at]));
        alike.next().filter(|_| alike.next().is_none())
    };
    let mut found: Vec<(usize, &'static str)> = OURS
        .into_iter()
        .filter(|ours| !replaced(ours) && !names.contains(ours))
        .filter_map(|ours| Some((only(&[ours])?, ours)))
        .collect();
    let has = |ours: &str| names.iter().any(|name| same(ours, name));
    if question.is_none() && !has("question") && (answer.is_some() || has("answer") || has("answers")) {
        found.extend(only(&OF_DATASETS).map(|at| (at, "question")));
    }
    found
}

/// What is said of renamed columns or keys.
fn sentences(names: &[&str], renamed: &[(usize, &str)], what: &str) -> Vec<String> {
    let is_case = |(at, ours): &&(usize, &str)| same(names[*at], ours);
    let cases: Vec<String> =
        renamed.iter().filter(is_case).map(|(at, ours)| format!("`{}` is `{ours}`", names[*at])).collect();
    let case = (!cases.is_empty()).then(|| format!("case is ignored in the names of {what}: {}", cases.join(", ")));
    let other = renamed.iter().filter(|renamed| !is_case(renamed));
    let other = other.map(|(at, ours)| format!("no `{ours}`: `{}` is read as it", names[*at]));
    case.into_iter().chain(other).collect()
}

/// Columns or keys that hold answers.
const ANSWERS: [&str; 4] = ["answer", "answers", "possible_answers", "aliases"];
/// What a column or a key of gold answers is often called.
const LIKE_ANSWERS: [&str; 4] = ["answer", "gold", "label", "target"];

/// A table or records without answers, under whatever name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutAnswers {
    /// `column` or `key`.
    what: &'static str,
    /// Columns or keys that nothing is read from, in the file's order.
    unused: Vec<String>,
}

impl WithoutAnswers {
    /// Of columns or keys with these names.
    pub(super) fn of<'n>(
        what: &'static str,
        names: impl Iterator<Item = &'n str> + Clone,
        known: &[&str],
        columns: &Columns,
    ) -> Option<Self> {
        if columns.answer.is_some() || names.clone().any(|name| ANSWERS.contains(&name)) {
            return None;
        }
        let question = columns.question.as_deref().unwrap_or("question");
        let used = |name: &str| {
            name == question || Some(name) == columns.id.as_deref() || OURS.contains(&name) || known.contains(&name)
        };
        Some(Self { what, unused: names.filter(|name| !used(name)).map(str::to_owned).collect() })
    }

    /// The one that probably holds the answers: the only unused one, or one that is called like them.
    pub fn guess(&self) -> Option<&str> {
        let is_like = |word: &str| self.unused.iter().find(|name| name.to_lowercase().contains(word));
        let only = self.unused.first().filter(|_| self.unused.len() == 1);
        only.or_else(|| LIKE_ANSWERS.iter().find_map(|word| is_like(word))).map(String::as_str)
    }

    /// What is missing, and what there is instead.
    pub fn missing_and_unused(&self) -> (String, String) {
        let unused: Vec<String> = self.unused.iter().take(8).map(|name| format!("`{}`", excerpt(name))).collect();
        let list =
            if unused.is_empty() { String::new() } else { format!("; unused {}s: {}", self.what, unused.join(", ")) };
        (format!("no {} `answer`", self.what), list)
    }

    /// The note on a file that is read all the same.
    pub(super) fn note(&self) -> String {
        let (what, unused) = self.missing_and_unused();
        format!("{what}: nothing can be scored unless --answer-column names it{unused}")
    }
}

pub(super) fn same(name: &str, cell: &str) -> bool {
    name.eq_ignore_ascii_case(cell)
}
