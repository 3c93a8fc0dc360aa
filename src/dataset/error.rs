//! What can be wrong with a dataset file.

use std::fmt;

/// Where a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Line on which it begins, from 1.
    pub line: usize,
    /// Its number, from 1.
    pub record: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, record {}", self.line, self.record)
    }
}

/// Why a dataset file, or one record of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The file cannot be read at all.
    #[error("cannot read the dataset `{file}`: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The gzip stream is damaged.
    #[error("`{file}` begins like gzip but cannot be unpacked: {source}")]
    Gzip {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: std::io::Error,
    },
    /// The bytes are not UTF-8 text.
    #[error("`{file}`, line {line}: not UTF-8")]
    NotUtf8 {
        /// The file.
        file: String,
        /// Line of the first bad byte, from 1.
        line: usize,
    },
    /// The file is a web page.
    #[error("`{file}`, line 1: this is an HTML page, not a dataset")]
    Html {
        /// The file.
        file: String,
    },
    /// The file is neither JSON nor a table.
    #[error("`{file}`, line {line}: not JSON: {reason}")]
    NotJson {
        /// The file.
        file: String,
        /// Line of the fault, from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },
    /// The file ends in the middle of a record.
    #[error("`{file}`, {place}: the file ends in the middle of the record")]
    Truncated {
        /// The file.
        file: String,
        /// The record that is cut.
        place: Place,
    },
    /// A line of a table cannot be read.
    #[error("`{file}`, line {line}: {reason}")]
    Table {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A table has no column of the wanted name.
    #[error("`{file}`, line 1: no column `{column}`; the columns are {}", quoted(found))]
    NoColumn {
        /// The file.
        file: String,
        /// The wanted column.
        column: String,
        /// The columns there are.
        found: Vec<String>,
    },
    /// A record's field is missing or not what it should be.
    #[error("`{file}`, {place}, field `{field}`: {problem}")]
    Field {
        /// The file.
        file: String,
        /// The record.
        place: Place,
        /// The field.
        field: String,
        /// What is wrong with it, the value in backticks.
        problem: String,
    },
    /// Two records have the same id.
    #[error("`{file}`, {second}: the id `{id}` was already used at {first}")]
    Duplicate {
        /// The file.
        file: String,
        /// The id.
        id: String,
        /// Where it is used first.
        first: Place,
        /// Where it is used again.
        second: Place,
    },
    /// The file has no records.
    #[error("`{file}` has no questions")]
    Empty {
        /// The file.
        file: String,
    },
    /// The first record has no known format.
    #[error("`{file}`, line {line}: the first record has no known format; its keys are {}", quoted(keys))]
    UnknownFormat {
        /// The file.
        file: String,
        /// Line of the first record.
        line: usize,
        /// The keys it has.
        keys: Vec<String>,
    },
}

impl DatasetError {
    /// What the person at the keyboard can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Io { .. } => "check the path; `wikitrail run` without a file uses our sample",
            Self::Gzip { .. } | Self::Truncated { .. } => "the download seems incomplete: fetch the file again",
            Self::NotUtf8 { .. } => "convert the file to UTF-8",
            Self::Html { .. } => "the download gave an error page: open it in a browser, and fetch the data itself",
            Self::NotJson { .. } => {
                "a dataset is a JSON array, JSON Lines, or a table whose file name ends in .csv or .tsv"
            }
            Self::Table { .. } => "put double quotes around a cell that holds a separator, a quote or a line break",
            Self::NoColumn { found, .. } if separated_by(found, ';') => {
                "the cells are separated by `;`: save the table with commas, or with tabs under a name that ends in .tsv"
            }
            Self::NoColumn { found, .. } if separated_by(found, '\t') => {
                "the cells are separated by tabs: give the file a name that ends in .tsv"
            }
            Self::NoColumn { found, .. } if separated_by(found, ',') => {
                "the cells are separated by commas: give the file a name that ends in .csv"
            }
            Self::NoColumn { .. } => "name the column with --question-column, --answer-column or --id-column",
            Self::Field { .. } => "fix the record, or skip bad records with --skip-bad",
            Self::Duplicate { .. } => "give each question a unique id, or skip repeated ones with --skip-bad",
            Self::Empty { .. } => "a dataset needs at least one question",
            Self::UnknownFormat { .. } => "name the format with --format, or the key with --question-column",
        }
    }
}

/// Whether the only column of a table looks like several, separated by a character that its kind of file does not use.
fn separated_by(found: &[String], separator: char) -> bool {
    matches!(found, [only] if only.contains(separator))
}

fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{}`", crate::types::excerpt(name))).collect();
    if names.len() > shown.len() {
        format!("{} and {} more", shown.join(", "), names.len() - shown.len())
    } else if shown.is_empty() {
        "none".to_owned()
    } else {
        shown.join(", ")
    }
}
