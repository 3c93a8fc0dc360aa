//! What a format is: a name, what its first record looks like, and how a record becomes a question.

use super::Columns;
use super::fields::{Fault, First, Layout, Record};
use crate::base::Question;
use std::fmt;
use std::path::Path;

/// A format of dataset files.
#[derive(Clone, Copy)]
pub struct Format {
    pub(super) name: &'static str,
    pub(super) looks_like: fn(&First<'_>) -> bool,
    /// That of general records, whose columns or keys users may name; none of the records of one dataset, which also names the
    /// questions' dataset.
    pub(super) layout: Option<Layout>,
    pub(super) question: fn(&Record, &Columns) -> Result<Question, Fault>,
    /// Whether two records may share an id when only one of them is answerable.
    pub(super) twins: bool,
}

impl Format {
    /// The format of one dataset: the name that users type, whether a first record looks like it, and how a record is
    /// read.
    pub(super) const fn of_dataset(
        name: &'static str,
        looks_like: fn(&First<'_>) -> bool,
        question: fn(&Record, &Columns) -> Result<Question, Fault>,
    ) -> Self {
        Self { name, looks_like, layout: None, question, twins: false }
    }

    pub(super) const fn general(
        name: &'static str,
        layout: Layout,
        question: fn(&Record, &Columns) -> Result<Question, Fault>,
    ) -> Self {
        Self { name, looks_like: |_| false, layout: Some(layout), question, twins: false }
    }

    /// As `--format` takes it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The dataset's name: that of the format, or of the first record, or the file's stem.
    pub(super) fn dataset_name(self, file: &str, first: &Record) -> String {
        if !self.is_general() {
            return self.name.to_owned();
        }
        let named = first.get("dataset").and_then(|name| name.as_str());
        named.map_or_else(|| stem(file), str::to_owned)
    }

    /// Whether records are read under names that users may give. People write such files themselves; the makers of other datasets
    /// withhold the answers of a test.
    pub fn is_general(self) -> bool {
        self.layout.is_some()
    }

    /// Whether it is a table.
    pub fn is_table(self) -> bool {
        matches!(self.layout, Some(Layout::Csv | Layout::Tsv))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn stem(file: &str) -> String {
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match name.split('.').next() {
        Some(stem) if !stem.is_empty() => stem.to_owned(),
        _ => "dataset".to_owned(),
    }
}
