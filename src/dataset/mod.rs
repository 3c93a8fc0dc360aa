//! From dataset files to questions. The format is detected from the first record.
//!
//! A file may be gzipped, begin with a byte order mark (UTF-16 too) and have Windows line ends. Errors name file, line, record, field
//! and value. In reading order:
//!
//! | file | what it holds |
//! |---|---|
//! | `bytes` | bytes of a file, its text and lines, its SHA-256 |
//! | `fields` | typed access to the fields of a record |
//! | `detect` | what a format is, the list of formats, and how one is detected |
//! | `jsonl`, `datasets` | our own form, and the formats of published datasets |
//! | `header`, `table`, `records` | from a text to records: names of columns, tables, JSON and JSON Lines |
//! | `select` | which questions are used, and in which order |
//! | `scores` | figures and metrics by question or episode, as other programs write them |
//! | `answers` | answers by question, as other programs write them, with what they say of how these came about |
//! | `public` | public sources, their licences and checksums |
//! | `error` | what can be wrong with a file |
//!
//! Other layers call `load` and `load_file` with [`ReadOptions`], and get questions.

mod answers;
mod bytes;
mod datasets;
mod detect;
mod error;
mod fields;
mod format;
mod header;
mod jsonl;
mod public;
mod records;
mod scores;
mod select;
mod table;

pub use answers::{AnswerRow, AnswerSteps, argument, read_answers};
pub use bytes::{bytes_from, bytes_of, text_of};
pub use error::{DatasetError, Place, Problem};
pub use format::Format;
pub use header::WithoutAnswers;
pub use public::{PUBLIC_SOURCES, PublicSource};
pub use scores::{ScoreRow, ScoreTable, ValueRow, ValueTable, read_scores, read_values};
pub use select::{IdList, SelectionError, read_ids, select, sha256_of_ids, split};

use crate::base::{Question, sha256_hex};
use fields::Record;
use records::Lines;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use table::Records;
pub use table::{GUARDED, LineCounter, unguarded};

/// The questions of a file.
#[derive(Debug)]
pub struct Dataset {
    /// Name of the dataset: the format's, or the file's stem for general formats.
    pub name: String,
    /// The format that it was read as.
    pub format: Format,
    /// In the order of the file; all episodes of a run share them.
    pub questions: Vec<Arc<Question>>,
    /// SHA-256 of the file in hexadecimal.
    pub sha256: String,
    /// Errors of the records that were skipped.
    pub skipped: Vec<DatasetError>,
    /// What a person should know of how the file was read, such as an unusual separator.
    pub notes: Vec<String>,
    /// Set where the file names no answers at all, which is something else than hidden ones.
    pub without_answers: Option<WithoutAnswers>,
}

/// How to read a file. The default detects the format from the first record and refuses a file with a bad record.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Detected from the first record when absent.
    pub format: Option<Format>,
    /// Skip bad records instead of refusing the file.
    pub skip_bad: bool,
    /// Skip records with the id of an earlier one, even if bad records are not skipped.
    pub skip_repeated: bool,
    /// Names of columns or keys (csv, tsv, jsonl).
    pub columns: Columns,
    /// Called on each question, to drop what is not needed of it before the next one is read.
    pub reduce: Option<fn(&mut Question)>,
}

/// Names of columns or keys that differ from ours.
#[derive(Debug, Clone, Default)]
pub struct Columns {
    pub question: Option<String>,
    pub answer: Option<String>,
    pub id: Option<String>,
    /// Instead of `type`.
    pub kind: Option<String>,
    pub level: Option<String>,
    /// What separates the answers in one cell of a table (csv, tsv).
    pub answer_separator: Option<String>,
}

/// Reads a file; JSON Lines and tables are read record by record.
pub fn load_file(path: &Path, options: &ReadOptions) -> Result<Dataset, DatasetError> {
    let file = path.display().to_string();
    let Some(mut lines) = Lines::open(path, &file, options) else {
        return load(&file, &bytes::bytes_of(path)?, options);
    };
    let (mut reader, mut found) = (Reader::new(&file, options), Records::default());
    for record in &mut lines {
        found.push(record, &mut |found, record| reader.record(found, record))?;
    }
    reader.dataset(found, lines.end()?)
}

/// Reads the bytes of the file `file`; its extension distinguishes tables from JSON.
pub fn load(file: &str, raw: &[u8], options: &ReadOptions) -> Result<Dataset, DatasetError> {
    let sha256 = sha256_hex([raw]);
    let (text, encoding) = bytes::decoded(file, raw)?;
    let mut reader = Reader::new(file, options);
    let mut found = records::read(file, &text, options, &mut |found, record| reader.record(found, record))?;
    found.notes.splice(0..0, encoding.map(|name| format!("read as {name}")));
    reader.dataset(found, sha256)
}

/// Maximum number of distinct keys that the error about a file without answers considers.
const MAX_KEYS: usize = 1000;

struct Reader<'a> {
    file: &'a str,
    options: &'a ReadOptions,
    format: Option<Format>,
    name: String,
    /// Id → place of the record that has it, and whether that one is answerable.
    seen: HashMap<String, (Place, bool)>,
    questions: Vec<Arc<Question>>,
    bad: Vec<DatasetError>,
    /// The keys of all records of our own form, each once, in the order of their first use.
    keys: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(file: &'a str, options: &'a ReadOptions) -> Self {
        let (format, name, seen) = (None, String::new(), HashMap::new());
        let (questions, bad, keys) = (Vec::new(), Vec::new(), Vec::new());
        Self { file, options, format, name, seen, questions, bad, keys }
    }

    /// What was read. A fault is an error, unless bad records are skipped.
    fn dataset(self, found: Records, sha256: String) -> Result<Dataset, DatasetError> {
        let Self { file, options, format, name, questions, bad, keys, .. } = self;
        let Records { faults, mut notes, without_answers, .. } = found;
        let mut skipped: Vec<DatasetError> = faults.into_iter().chain(bad).collect();
        let tolerated = |bad: &DatasetError| {
            options.skip_bad || (options.skip_repeated && matches!(bad.problem, Problem::Duplicate(..)))
        };
        if let Some(first) = skipped.iter().position(|bad| questions.is_empty() || !tolerated(bad)) {
            return Err(skipped.swap_remove(first));
        }
        let Some(format) = format.filter(|_| !questions.is_empty()) else {
            return Err(DatasetError::of_file(file, Problem::Empty));
        };
        let keys = keys.iter().map(String::as_str);
        let of_keys = || WithoutAnswers::of("key", keys, &[&jsonl::FIELDS[..], &["meta"]].concat(), &options.columns);
        let without_answers = without_answers.or_else(|| of_keys().filter(|_| format == jsonl::FORMAT));
        notes.extend(without_answers.as_ref().map(WithoutAnswers::note));
        Ok(Dataset { name, format, questions, sha256, skipped, notes, without_answers })
    }

    fn record(&mut self, found: &mut Records, mut record: Record) -> Result<(), DatasetError> {
        let (file, columns) = (self.file, &self.options.columns);
        let is_first = self.format.is_none();
        let format = if let Some(format) = self.format {
            format
        } else {
            let detect = || Format::detect(file, &record, found.layout, columns);
            let format = self.options.format.or(found.format).map_or_else(detect, Ok)?;
            if columns.answer_separator.is_some() && !format.is_table() {
                return Err(DatasetError::of_file(file, Problem::NoTable(format.name())));
            }
            self.name = format.dataset_name(file, &record);
            *self.format.insert(format)
        };
        if format == jsonl::FORMAT {
            let notes = header::rename_keys(&mut record.fields, columns);
            found.notes.extend(notes.into_iter().filter(|_| is_first));
            for key in record.fields.keys() {
                if self.keys.len() < MAX_KEYS && !self.keys.contains(key) {
                    self.keys.push(key.clone());
                }
            }
        }
        let record = &record;
        match (format.question)(record, columns) {
            Ok(question) => self.question(format, question, record),
            Err(fault) => self.bad.push(fault.at(file, record.place)),
        }
        Ok(())
    }

    fn question(&mut self, format: Format, mut question: Question, record: &Record) {
        // Positions count the file's records, so that a skipped one does not shift the rest.
        question.index = record.place.record - 1;
        // One answer was given room for four.
        question.answers.shrink_to_fit();
        if question.dataset.is_empty() {
            question.dataset.clone_from(&self.name);
        }
        if question.id.is_empty() {
            question.id = format!("{}-{}", self.name, question.index);
        }
        let twin = |answerable: bool| format.twins && answerable != question.answerable;
        if self.seen.get(&question.id).is_some_and(|(_, answerable)| twin(*answerable)) {
            // The first of two twins keeps their id, which is also their cluster.
            question.id.push_str(if question.answerable { "#answerable" } else { "#unanswerable" });
        }
        if let Some((first, _)) = self.seen.get(&question.id) {
            let problem = Problem::Duplicate(question.id, *first);
            return self.bad.push(DatasetError::at(self.file, record.place, problem));
        }
        self.seen.insert(question.id.clone(), (record.place, question.answerable));
        if let Some(reduce) = self.options.reduce {
            reduce(&mut question);
        }
        self.questions.push(Arc::new(question));
    }
}

#[cfg(test)]
mod format_tests;
#[cfg(test)]
mod tests;
