//! The list of formats, and how the format of a file is detected.
//!
//! A new format is a constant and a line in [`Format::ALL`].

use super::error::Problem;
use super::fields::{First, Layout, Record};
use super::header::has_ours;
use super::{Columns, DatasetError, Format, datasets, jsonl};

impl Format {
    /// All formats, in the order in which help and errors list them.
    ///
    /// The last one that the first record looks like is chosen, so a layout that others extend comes before them.
    pub const ALL: [Self; 16] = [
        datasets::HOTPOTQA,
        datasets::FEVER,
        datasets::WIKI2,
        datasets::MUSIQUE,
        datasets::STRATEGYQA,
        datasets::BAMBOOGLE,
        datasets::NQ_OPEN,
        datasets::TRIVIAQA,
        datasets::POPQA,
        datasets::WEBQUESTIONS,
        datasets::SIMPLEQA,
        datasets::FRAMES,
        datasets::KILT,
        jsonl::FORMAT,
        jsonl::CSV,
        jsonl::TSV,
    ];

    /// The names of all formats in a sentence: `a, b or c`.
    pub fn names() -> String {
        let names = Self::ALL.map(Self::name);
        let [others @ .., last] = &names;
        format!("{} or {last}", others.join(", "))
    }

    /// The format of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Detects the format from the first record. Where users named its fields, it is a general one.
    pub(super) fn detect(file: &str, record: &Record, layout: Layout, columns: &Columns) -> Result<Self, DatasetError> {
        let general = match layout {
            Layout::Csv => jsonl::CSV,
            Layout::Tsv => jsonl::TSV,
            Layout::Array | Layout::Lines => jsonl::FORMAT,
        };
        if columns.question.is_some() || columns.answer.is_some() {
            return Ok(general);
        }
        let file_in_lower_case = file.to_ascii_lowercase();
        let first = First { record, layout, file: &file_in_lower_case };
        if let Some(format) = Self::ALL.into_iter().rev().find(|format| (format.looks_like)(&first)) {
            return Ok(format);
        }
        if general != jsonl::FORMAT || has_ours(&record.fields, columns) {
            return Ok(general);
        }
        let keys = record.fields.keys().cloned().collect();
        Err(DatasetError::at_line(file, record.place.line, Problem::UnknownFormat(keys)))
    }

    /// Whether a table of this header names its columns as this dataset does, and not as we do.
    pub(super) fn names_columns(self, file: &str, header: &Record, layout: Layout) -> bool {
        (self == datasets::SIMPLEQA || self == datasets::FRAMES)
            && (self.looks_like)(&First { record: header, layout, file: &file.to_ascii_lowercase() })
    }
}
