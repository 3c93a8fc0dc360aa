//! From dataset files to questions. The format is detected from the first record.
//!
//! A file may be gzipped, begin with a byte order mark and have Windows line ends. Errors name file, line, record, field
//! and value.

mod bytes;
mod digest;
mod error;
mod fever;
mod fields;
mod format;
mod hotpotqa;
mod jsonl;
mod musique;
mod plain;
mod public;
mod python_random;
mod records;
mod scores;
mod select;
mod table;
mod triviaqa;
mod wiki2;

pub use bytes::{bytes_of, text_of};
pub use digest::sha256_of_file;
pub use error::{DatasetError, Place, Problem};
pub use format::Format;
pub use public::{PUBLIC_SOURCES, PublicSource};
pub use scores::{NotNumeric, ScoreRow, ScoreTable, read_scores};
pub use select::{SelectionError, read_ids, select};

use crate::types::{Question, sha256_hex};
use fields::Record;
use std::collections::HashMap;
use std::path::Path;

#[derive(Debug)]
pub struct Dataset {
    /// Name of the dataset: the format's, or the file's stem for general formats.
    pub name: String,
    pub format: Format,
    /// The questions, in file order.
    pub questions: Vec<Question>,
    pub sha256: String,
    /// Errors of the records that were skipped.
    pub skipped: Vec<DatasetError>,
}

/// How to read a file. The default detects the format from the first record and refuses a file with a bad record.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The format; detected from the first record when absent.
    pub format: Option<Format>,
    /// Skip bad records instead of refusing the file.
    pub skip_bad: bool,
    /// Names of columns or keys (csv, tsv, jsonl).
    pub columns: Columns,
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
}

pub fn load_file(path: &Path, options: &ReadOptions) -> Result<Dataset, DatasetError> {
    load(&path.display().to_string(), &bytes::bytes_of(path)?, options)
}

/// Reads the bytes of the file `file`; its extension distinguishes tables from JSON.
pub fn load(file: &str, raw: &[u8], options: &ReadOptions) -> Result<Dataset, DatasetError> {
    let sha256 = sha256_hex([raw]);
    let text = bytes::text_of(file, raw)?;
    let mut records = records::split(file, &text, options)?;
    drop(text);
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(file, &records, &options.columns)?,
    };
    let name = format.dataset_name(file, &records);
    let mut reader =
        Reader { file, options, format, name: &name, seen: HashMap::new(), questions: Vec::new(), skipped: Vec::new() };
    for fault in std::mem::take(&mut records.faults) {
        reader.fault(fault)?;
    }
    for record in &records.list {
        reader.record(record)?;
    }
    let Reader { questions, skipped, .. } = reader;
    if questions.is_empty() {
        return Err(skipped.into_iter().next().unwrap_or_else(|| DatasetError::of_file(file, Problem::Empty)));
    }
    Ok(Dataset { name, format, questions, sha256, skipped })
}

struct Reader<'a> {
    file: &'a str,
    options: &'a ReadOptions,
    format: Format,
    name: &'a str,
    /// Id → place of the record that has it, and whether that one is answerable.
    seen: HashMap<String, (Place, bool)>,
    questions: Vec<Question>,
    skipped: Vec<DatasetError>,
}

impl Reader<'_> {
    fn record(&mut self, record: &Record) -> Result<(), DatasetError> {
        match self.format.question(record, &self.options.columns) {
            Ok(question) => self.question(question, record),
            Err(fault) => {
                let problem = Problem::Field(fault.field, fault.problem);
                self.fault(DatasetError::at(self.file, record.place, problem))
            }
        }
    }

    fn question(&mut self, mut question: Question, record: &Record) -> Result<(), DatasetError> {
        // Positions count the file's records, so that a skipped one does not shift the rest.
        question.index = record.place.record - 1;
        if question.dataset.is_empty() {
            self.name.clone_into(&mut question.dataset);
        }
        if question.id.is_empty() {
            question.id = format!("{}-{}", self.name, question.index);
        }
        let twin = |answerable: bool| self.format.twins && answerable != question.answerable;
        if self.seen.get(&question.id).is_some_and(|(_, answerable)| twin(*answerable)) {
            // The first of two twins keeps their id, which is also their cluster.
            question.id.push_str(if question.answerable { "#answerable" } else { "#unanswerable" });
        }
        if let Some((first, _)) = self.seen.get(&question.id) {
            let problem = Problem::Duplicate(question.id, *first);
            return self.fault(DatasetError::at(self.file, record.place, problem));
        }
        self.seen.insert(question.id.clone(), (record.place, question.answerable));
        self.questions.push(question);
        Ok(())
    }

    fn fault(&mut self, error: DatasetError) -> Result<(), DatasetError> {
        if self.options.skip_bad {
            self.skipped.push(error);
            return Ok(());
        }
        Err(error)
    }
}

#[cfg(test)]
mod format_tests;
#[cfg(test)]
mod tests;
