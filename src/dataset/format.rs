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
    pub(super) read: Read,
    /// Whether two records may share an id when only one of them is answerable.
    pub(super) twins: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Read {
    /// The records of one dataset, which also names the questions' dataset.
    Own(fn(&Record) -> Result<Question, Fault>),
    /// General records in this layout, with columns or keys that users may name.
    General(Layout, fn(&Record, &Columns) -> Result<Question, Fault>),
}

impl Format {
    /// The format of one dataset: the name that users type, whether a first record looks like it, and how a record is
    /// read.
    pub(super) const fn of_dataset(
        name: &'static str,
        looks_like: fn(&First<'_>) -> bool,
        read: fn(&Record) -> Result<Question, Fault>,
    ) -> Self {
        Self { name, looks_like, read: Read::Own(read), twins: false }
    }

    pub(super) const fn general(
        name: &'static str,
        layout: Layout,
        read: fn(&Record, &Columns) -> Result<Question, Fault>,
    ) -> Self {
        Self { name, looks_like: |_| false, read: Read::General(layout, read), twins: false }
    }

    /// As `--format` takes it.
    pub fn name(self) -> &'static str {
        self.name
    }

    pub(super) fn layout(self) -> Option<Layout> {
        match self.read {
            Read::Own(_) => None,
            Read::General(layout, _) => Some(layout),
        }
    }

    /// The dataset's name: that of the format, or of the first record, or the file's stem.
    pub(super) fn dataset_name(self, file: &str, first: &Record) -> String {
        if let Read::Own(_) = self.read {
            return self.name.to_owned();
        }
        let named = first.get("dataset").and_then(|name| name.as_str());
        named.map_or_else(|| stem(file), str::to_owned)
    }

    /// Whether records are read under names that users may give. People write such files themselves; the makers of other datasets
    /// withhold the answers of a test.
    pub fn is_general(self) -> bool {
        matches!(self.read, Read::General(..))
    }

    /// Whether it is a table.
    pub fn is_table(self) -> bool {
        matches!(self.layout(), Some(Layout::Csv | Layout::Tsv))
    }

    pub(super) fn question(self, record: &Record, columns: &Columns) -> Result<Question, Fault> {
        match self.read {
            Read::Own(read) => read(record),
            Read::General(_, read) => read(record, columns),
        }
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
