//! Splits a file into records: its text as a whole, or line by line.

use super::bytes::{MAX_FILE_BYTES, newlines};
use super::error::Problem;
use super::fields::{Fault, Layout, Record, as_written};
use super::table::{self, Records, Take};
use super::{Columns, DatasetError, Place, ReadOptions};
use crate::base::digest::Digester;
use crate::base::excerpt;
use crate::base::json_error::without_place;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, Write as _};
use std::path::Path;

/// All records of a text.
pub(super) fn split(file: &str, text: &str, options: &ReadOptions) -> Result<Records, DatasetError> {
    read(file, text, options, &mut Records::keep)
}

/// Hands the records of a text out one at a time, so that not all of them are in memory.
pub(super) fn read(
    file: &str,
    text: &str,
    options: &ReadOptions,
    take: &mut Take<'_>,
) -> Result<Records, DatasetError> {
    let body = text.trim_start();
    if body.is_empty() {
        return Err(DatasetError::of_file(file, Problem::Empty));
    }
    if let Some(layout @ (Layout::Csv | Layout::Tsv)) = options.format.and_then(|format| format.layout) {
        return table::read(file, text, layout, options, take);
    }
    match body.as_bytes()[0] {
        b'[' => array(file, text, text.len() - body.len(), Layout::Array, &options.columns, take),
        b'{' => match wrapped(text) {
            Some((start, verified)) => {
                let counts = |record: &Record| !verified || record.get(VERIFIED) == Some(&Value::Bool(true));
                array(file, text, start, Layout::Lines, &options.columns, &mut |found, record| {
                    if counts(&record) { take(found, record) } else { Ok(()) }
                })
            }
            None => lines(file, text, &options.columns, take),
        },
        b'<' => Err(DatasetError::at_line(file, 1, Problem::Html)),
        _ => {
            if let Some(layout) = table::layout(file, text, &options.columns) {
                return table::read(file, text, layout, options, take);
            }
            let line = 1 + newlines(&text.as_bytes()[..text.len() - body.len()]);
            let start = body.lines().next().unwrap_or_default();
            let reason = format!("it begins with `{}`", excerpt(start));
            Err(DatasetError::at_line(file, line, Problem::NotJson(reason)))
        }
    }
}

/// A place in the text that counts its lines as it moves on.
struct Cursor<'a> {
    file: &'a str,
    text: &'a str,
    at: usize,
    line: usize,
    record: usize,
}

impl<'a> Cursor<'a> {
    fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text, at: 0, line: 1, record: 1 }
    }

    fn advance(&mut self, bytes: usize) {
        self.line += newlines(&self.text.as_bytes()[self.at..self.at + bytes]);
        self.at += bytes;
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.advance(rest.len() - rest.trim_start().len());
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn place(&self) -> Place {
        Place { line: self.line, record: self.record }
    }

    /// The next value, and how it is written.
    fn value(&mut self) -> Result<(Value, &'a str), DatasetError> {
        let begin = self.at;
        let mut stream = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<Value>();
        let value = match stream.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => return Err(json_error(self.file, &error, self.place())),
            None => return Err(DatasetError::at(self.file, self.place(), Problem::Truncated)),
        };
        let length = stream.byte_offset();
        self.advance(length);
        Ok((value, &self.text[begin..self.at]))
    }

    fn not_json(&self, reason: String) -> DatasetError {
        DatasetError::at_line(self.file, self.line, Problem::NotJson(reason))
    }
}

fn json_error(file: &str, error: &serde_json::Error, place: Place) -> DatasetError {
    if error.is_eof() {
        return DatasetError::at(file, place, Problem::Truncated);
    }
    let line = place.line + error.line().saturating_sub(1);
    // The parser's own position counts from the record; ours is the one to show.
    let what = without_place(error);
    let reason = format!("{what} (column {}, record {})", error.column(), place.record);
    DatasetError::at_line(file, line, Problem::NotJson(reason))
}

fn record(file: &str, place: Place, value: Value, text: &str, columns: &Columns) -> Result<Record, DatasetError> {
    match value {
        Value::Object(mut fields) => {
            keep_numbers(&mut fields, text, columns);
            Ok(Record { place, fields })
        }
        other => Err(Fault::expected("(record)", "an object", &other).at(file, place)),
    }
}

/// Where answers are, in any case of the letters.
const ANSWERS: [&str; 3] = ["answer", "answers", "aliases"];

/// Makes fractions and very large numbers among the answers the texts that they are written as: as numbers, `3.50` would
/// become `3.5`, and of thirty digits seventeen would be left.
fn keep_numbers(fields: &mut Map<String, Value>, text: &str, columns: &Columns) {
    let is_answer = |name: &str| {
        columns.answer.as_deref() == Some(name) || ANSWERS.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    };
    let changes = |value: &Value| value.is_f64() || value.as_array().is_some_and(|list| list.iter().any(Value::is_f64));
    let mut changing = fields.iter_mut().filter(|(name, value)| is_answer(name) && changes(value)).peekable();
    if changing.peek().is_none() {
        return;
    }
    let written: HashMap<String, &RawValue> = serde_json::from_str(text).unwrap_or_default();
    for (name, value) in changing {
        if let Some(kept) = written.get(name).and_then(|raw| as_written(raw)) {
            *value = kept;
        }
    }
}

/// `TriviaQA` wraps its records in an object.
#[derive(serde::Deserialize)]
struct Wrapper<'a> {
    #[serde(borrow, rename = "Data")]
    data: &'a RawValue,
    /// Whether only the questions count that people verified.
    #[serde(rename = "VerifiedEval", default)]
    verified: bool,
}

/// What marks a question that people verified.
const VERIFIED: &str = "QuestionPartOfVerifiedEval";

/// Where the list of an object that wraps the records begins, where the text is one, and whether only verified questions
/// count.
fn wrapped(text: &str) -> Option<(usize, bool)> {
    let wrapper: Wrapper<'_> = serde_json::from_str(text).ok()?;
    let list = wrapper.data.get();
    // The value is borrowed from the text, so its address gives its offset.
    list.starts_with('[').then(|| (list.as_ptr().addr() - text.as_ptr().addr(), wrapper.verified))
}

/// The records of the list that begins at `start`; only the rest of a wrapper may follow it.
fn array(
    file: &str,
    text: &str,
    start: usize,
    layout: Layout,
    columns: &Columns,
    take: &mut Take<'_>,
) -> Result<Records, DatasetError> {
    let mut found = Records { layout, ..Records::default() };
    let mut cursor = Cursor::new(file, text);
    cursor.advance(start + 1);
    loop {
        cursor.skip_space();
        if cursor.peek() == Some(b']') && cursor.record == 1 {
            break;
        }
        let place = cursor.place();
        let (value, written) = cursor.value()?;
        found.push(record(file, place, value, written, columns), take)?;
        cursor.skip_space();
        match cursor.peek() {
            Some(b',') => cursor.advance(1),
            Some(b']') => break,
            Some(_) => return Err(cursor.not_json(format!("expected `,` or `]` after record {}", cursor.record))),
            None => return Err(DatasetError::at(file, place, Problem::Truncated)),
        }
        cursor.record += 1;
    }
    cursor.advance(1);
    cursor.skip_space();
    if layout == Layout::Array && cursor.peek().is_some() {
        return Err(cursor.not_json("more text follows the list".to_owned()));
    }
    Ok(found)
}

/// JSON Lines; where the first object spans several lines, objects one after the other.
fn lines(file: &str, text: &str, columns: &Columns, take: &mut Take<'_>) -> Result<Records, DatasetError> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    if serde_json::from_str::<Value>(first).is_err_and(|error| error.is_eof()) && text.trim().lines().count() > 1 {
        return objects(file, text, columns, take);
    }
    let mut found = Records::default();
    let lines = text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty());
    for (number, (line, text)) in lines.enumerate() {
        let place = Place { line: line + 1, record: number + 1 };
        found.push(record_of_line(file, place, text, columns), take)?;
    }
    Ok(found)
}

/// The record that is all of a line.
pub(super) fn record_of_line(file: &str, place: Place, text: &str, columns: &Columns) -> Result<Record, DatasetError> {
    let value = serde_json::from_str::<Value>(text).map_err(|error| json_error(file, &error, place))?;
    record(file, place, value, text, columns)
}

fn objects(file: &str, text: &str, columns: &Columns, take: &mut Take<'_>) -> Result<Records, DatasetError> {
    let mut found = Records::default();
    let mut cursor = Cursor::new(file, text);
    cursor.skip_space();
    while cursor.peek().is_some() {
        let place = cursor.place();
        let (value, written) = cursor.value()?;
        found.push(record(file, place, value, written, columns), take)?;
        cursor.skip_space();
        cursor.record += 1;
    }
    Ok(found)
}

/// Size of the read buffer, which the first line must fit in.
const BLOCK: usize = 64 << 10;

/// The lines of a file, as records or what is wrong with them.
pub(super) struct Lines<'a> {
    name: &'a str,
    columns: &'a Columns,
    file: BufReader<File>,
    bytes: Vec<u8>,
    /// Of the last line and of the last record.
    at: Place,
    digest: Digester,
    broken: Option<DatasetError>,
}

impl<'a> Lines<'a> {
    /// Opens a plain file that begins with a whole record on its first line; any other one is read as a whole.
    pub(super) fn open(path: &Path, name: &'a str, options: &'a ReadOptions) -> Option<Self> {
        if matches!(options.format.and_then(|format| format.layout), Some(Layout::Csv | Layout::Tsv)) {
            return None;
        }
        let file = File::open(path).ok()?;
        file.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE_BYTES)?;
        let mut file = BufReader::with_capacity(BLOCK, file);
        let begin = file.fill_buf().ok().filter(|begin| memchr::memchr(0, begin).is_none())?;
        let first: Value = serde_json::from_slice(begin.split(|byte| *byte == b'\n').next()?).ok()?;
        // TriviaQA's records are in a list of that name.
        first.as_object().filter(|fields| !fields.contains_key("Data"))?;
        file.rewind().ok()?;
        let (bytes, at) = (Vec::new(), Place { line: 0, record: 0 });
        Some(Self { name, columns: &options.columns, file, bytes, at, digest: Digester::default(), broken: None })
    }

    /// SHA-256 of what was read, or why it was not read to its end.
    pub(super) fn end(self) -> Result<String, DatasetError> {
        self.broken.map_or_else(|| Ok(self.digest.hex()), Err)
    }

    fn line(&mut self) -> Result<Option<Result<Record, DatasetError>>, DatasetError> {
        let failed = |error| DatasetError::of_file(self.name, Problem::Io(error));
        loop {
            self.bytes.clear();
            if self.file.read_until(b'\n', &mut self.bytes).map_err(failed)? == 0 {
                return Ok(None);
            }
            self.digest.write_all(&self.bytes).map_err(failed)?;
            self.at.line += 1;
            let text = std::str::from_utf8(&self.bytes);
            let text = text.map_err(|_| DatasetError::at_line(self.name, self.at.line, Problem::NotUtf8))?;
            let text = text.lines().next().unwrap_or_default();
            if !text.trim().is_empty() {
                self.at.record += 1;
                return Ok(Some(record_of_line(self.name, self.at, text, self.columns)));
            }
        }
    }
}

impl Iterator for Lines<'_> {
    type Item = Result<Record, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line().unwrap_or_else(|error| {
            self.broken = Some(error);
            None
        })
    }
}
