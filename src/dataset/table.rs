//! The records of a text, and those of a table: cells under a header.

use super::bytes::newlines;
use super::error::Problem;
use super::fields::{Layout, Record};
use super::header::{WithoutAnswers, begin, likely_separator, names, rename, separator, separator_note};
use super::{Columns, DatasetError, Format, Place, ReadOptions};
use crate::base::excerpt;
use serde_json::{Map, Value};
use std::io::Read as _;

#[derive(Debug, Default)]
pub(super) struct Records {
    /// Those that were kept, and not taken one at a time.
    pub(super) list: Vec<Record>,
    /// Lines that hold no record, where the rest of the file can still be read.
    pub(super) faults: Vec<DatasetError>,
    pub(super) layout: Layout,
    /// The format that a table's header shows; of other files the first record shows it.
    pub(super) format: Option<Format>,
    pub(super) notes: Vec<String>,
    /// Of a table without a column of answers.
    pub(super) without_answers: Option<WithoutAnswers>,
}

impl Records {
    /// The records of a table or of JSON Lines with this column or key; a line that holds none is an error.
    pub(super) fn with_key(
        key: &str,
        split: impl Fn(&ReadOptions) -> Result<Self, DatasetError>,
    ) -> Result<Self, DatasetError> {
        let columns = Columns { question: Some(key.to_owned()), ..Columns::default() };
        let mut records = split(&ReadOptions { columns, ..ReadOptions::default() })?;
        if !records.faults.is_empty() {
            return Err(records.faults.swap_remove(0));
        }
        if matches!(records.layout, Layout::Csv | Layout::Tsv) {
            // Ids are left to those who know which there are.
            let cells = records.list.iter_mut().flat_map(|record| &mut record.fields);
            for (_, cell) in cells.filter(|(name, _)| *name != "id") {
                if let Value::String(text) = cell {
                    *text = unguarded(text).to_owned();
                }
            }
        }
        Ok(records)
    }

    /// Passes a record on, or notes what was wrong with it.
    pub(super) fn push(
        &mut self,
        record: Result<Record, DatasetError>,
        take: &mut Take<'_>,
    ) -> Result<(), DatasetError> {
        match record {
            Ok(record) => take(self, record),
            Err(fault) => {
                self.faults.push(fault);
                Ok(())
            }
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "others that take a record may refuse it")]
    pub(super) fn keep(&mut self, record: Record) -> Result<(), DatasetError> {
        self.list.push(record);
        Ok(())
    }
}

/// Takes the next record, with what is known of the file before it.
pub(super) type Take<'t> = dyn FnMut(&mut Records, Record) -> Result<(), DatasetError> + 't;

/// Beginnings of texts before which an export has a `'`, since a spreadsheet would run them.
pub const GUARDED: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A text as it was before an export put a `'` in front of it.
pub fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| rest.starts_with(GUARDED)).unwrap_or(text)
}

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

/// Hands the rows of a table out as records, each cell a text under its column's name.
pub(super) fn read(
    file: &str,
    text: &str,
    layout: Layout,
    options: &ReadOptions,
    take: &mut Take<'_>,
) -> Result<Records, DatasetError> {
    let (begin, declared) = begin(text);
    let (before, text) = text.split_at(begin);
    let mut lines = LineCounter::new(text, 1 + newlines(before.as_bytes()));
    let first = text.lines().next().ok_or_else(|| DatasetError::of_file(file, Problem::Empty))?;
    let separator = declared.or_else(|| separator(first, &options.columns));
    let separator = separator.unwrap_or_else(|| likely_separator(first, layout));
    // A row may have empty cells more than the header: how many it may have is judged below.
    let mut reader = csv::ReaderBuilder::new().flexible(true).delimiter(separator).from_reader(text.as_bytes());
    let cells = reader.headers().map_err(|error| table_error(file, lines.line, &error))?;
    if cells.iter().any(|cell| cell.contains('\n')) && is_open(text, separator) {
        return Err(unclosed(file, lines.line));
    }
    let mut header = names(cells);
    let mut notes: Vec<String> = separator_note(separator, layout).into_iter().collect();
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
                let late = || DatasetError::at_line(file, line, Problem::Quote(reason));
                return Err(lines.unclosed(separator).map_or_else(late, |line| unclosed(file, line)));
            }
            let reason = format!("the row {reason}");
            found.faults.push(DatasetError::at_line(file, line, Problem::Table(reason)));
            continue;
        }
        let cells = header.iter().zip(&row).filter(|(_, cell)| !cell.is_empty());
        let fields: Map<String, Value> =
            cells.map(|(name, cell)| (name.clone(), Value::String(cell.to_owned()))).collect();
        take(&mut found, Record { place: Place { line, record: number }, fields })?;
    }
    if let Some(line) = lines.unclosed(separator).filter(|_| number > 0) {
        return Err(unclosed(file, line));
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
pub struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    /// Begins before the first row of a text, on this line, from 1.
    pub fn new(text: &'a str, line: usize) -> Self {
        Self { text, at: 0, line }
    }

    /// The line, from 1, of a row that is not before the last one asked for.
    pub fn line_of(&mut self, position: Option<&csv::Position>) -> usize {
        let bytes = self.text.as_bytes();
        let begin = position.and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(self.at);
        let begin = begin.clamp(self.at, bytes.len());
        let blank = bytes[begin..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line += newlines(&bytes[self.at..begin + blank]);
        self.at = begin + blank;
        self.line
    }

    /// The line of the row that was last asked for, if it is the last one and a quoted cell of it is not closed.
    pub fn unclosed(&self, separator: u8) -> Option<usize> {
        is_open(&self.text[self.at..], separator).then_some(self.line)
    }
}

fn table_error(file: &str, line: usize, error: &csv::Error) -> DatasetError {
    DatasetError::at_line(file, line, Problem::Table(excerpt(&error.to_string())))
}
