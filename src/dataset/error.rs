//! What can be wrong with a dataset file.

use crate::base::text::closest;
use std::fmt;

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
pub struct DatasetError {
    file: String,
    line: Option<usize>,
    record: Option<usize>,
    /// What is wrong.
    pub problem: Problem,
}

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{0}")]
    Io(std::io::Error),
    #[error("begins like gzip but cannot be unpacked: {0}")]
    Gzip(std::io::Error),
    #[error("{0}")]
    TooLarge(std::io::Error),
    /// Whether there are so many of them that it may be UTF-16 without a byte order mark.
    #[error("contains NUL bytes, so it is not text")]
    Binary { wide: bool },
    #[error("this is UTF-32, which is not read")]
    Utf32,
    #[error("has no questions")]
    Empty,
    #[error("not UTF-8")]
    NotUtf8,
    #[error("begins like UTF-16 but is not")]
    NotUtf16,
    #[error("this is an HTML page, not a dataset")]
    Html,
    /// The file is neither JSON nor a table, for the parser's reason.
    #[error("not JSON: {0}")]
    NotJson(String),
    #[error("the file ends in the middle of the record")]
    Truncated,
    #[error("{0}")]
    Table(String),
    /// A quoted cell takes rows after it, so that their number is not known.
    #[error("{0}")]
    Quote(String),
    #[error("the column `{0}` appears twice")]
    RepeatedColumn(String),
    /// A table has no column of the wanted name; with the columns there are.
    #[error("no column `{0}`; the columns are {names}{meant}", meant = suggestion(.0, .1), names = quoted(.1))]
    NoColumn(String, Vec<String>),
    /// The answers of one cell are to be separated, and the file has none; with its format.
    #[error("--answer-separator applies to the cells of a table, and this file is read as {0}")]
    NoTable(&'static str),
    /// A record's field is missing or not what it should be; the value is in backticks.
    #[error("field `{0}`: {1}")]
    Field(String, String),
    /// Two records have the same id; the place is that of the first.
    #[error("the id `{0}` was already used at {1}")]
    Duplicate(String, Place),
    /// The first record has no known format; with its keys.
    #[error("the first record has no known format; its keys are {names}", names = quoted(.0))]
    UnknownFormat(Vec<String>),
}

impl fmt::Display for DatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, record, problem } = self;
        if let Problem::Io(_) = problem {
            return write!(f, "cannot read the dataset `{file}`: {problem}");
        }
        write!(f, "`{file}`")?;
        if let Some(line) = line {
            write!(f, ", line {line}")?;
        }
        if let Some(record) = record {
            write!(f, ", record {record}")?;
        }
        let separator = match problem {
            Problem::Gzip(_) | Problem::Empty | Problem::NotUtf16 => " ",
            Problem::Field(..) => ", ",
            _ => ": ",
        };
        write!(f, "{separator}{problem}")
    }
}

impl DatasetError {
    pub(super) fn of_file(file: &str, problem: Problem) -> Self {
        Self { file: file.to_owned(), line: None, record: None, problem }
    }

    pub(super) fn at_line(file: &str, line: usize, problem: Problem) -> Self {
        Self { line: Some(line), ..Self::of_file(file, problem) }
    }

    pub(super) fn at(file: &str, place: Place, problem: Problem) -> Self {
        Self { record: Some(place.record), ..Self::at_line(file, place.line, problem) }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match &self.problem {
            Problem::Io(_) => "check the path; `wikitrail run` without a file uses our sample",
            Problem::Gzip(_) | Problem::Truncated => "the download seems incomplete: fetch the file again",
            Problem::TooLarge(_) => "a dataset is read into memory: split the file",
            Problem::NotUtf8 => {
                "convert the file to UTF-8: iconv -f LATIN1 -t UTF-8 FILE > NEW, or `CSV UTF-8` when you save"
            }
            Problem::NotUtf16 | Problem::Binary { wide: true } => {
                "convert the file to UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW"
            }
            Problem::Binary { wide: false } => "remove them, if the rest is text: tr -d '\\000' < FILE > NEW",
            Problem::Utf32 => "convert the file to UTF-8: iconv -f UTF-32 -t UTF-8 FILE > NEW",
            Problem::Html => "the download gave an error page: open it in a browser, and fetch the data itself",
            Problem::NotJson(_) => {
                "a dataset is a JSON array, JSON Lines, or a table whose file name ends in .csv or .tsv"
            }
            Problem::Table(_) => "put double quotes around a cell that holds a separator, a quote or a line break",
            Problem::Quote(_) => "close it with a double quote; a double quote inside a quoted cell is written twice",
            Problem::RepeatedColumn(_) => "rename one of the two columns, or delete it",
            Problem::NoColumn(..) => "name the column with --question-column, --answer-column or --id-column",
            Problem::NoTable(_) => "omit it, or name the format of a table with --format csv or tsv",
            Problem::Field(..) => "fix the record, or skip bad records with --skip-bad",
            Problem::Duplicate(..) => "give each question a unique id, or skip repeated ones with --skip-bad",
            Problem::Empty => "a dataset needs at least one question",
            Problem::UnknownFormat(_) => "name the format with --format, or the key with --question-column",
        }
    }
}

fn suggestion(wanted: &str, found: &[String]) -> String {
    let near = closest(wanted, found.iter().map(String::as_str));
    near.map(|near| format!(" (did you mean `{}`?)", crate::base::excerpt(near))).unwrap_or_default()
}

fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{}`", crate::base::excerpt(name))).collect();
    if names.len() > shown.len() {
        format!("{} and {} more", shown.join(", "), names.len() - shown.len())
    } else if shown.is_empty() {
        "none".to_owned()
    } else {
        shown.join(", ")
    }
}
