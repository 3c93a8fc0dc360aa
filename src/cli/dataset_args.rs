//! How a dataset's file is read: the flags, and the reading.

use super::builtin;
use super::failure::Failure;
use super::say::say;
use super::score::quoted;
use crate::dataset::{self, Columns, Dataset, DatasetError, Format, PUBLIC_SOURCES, ReadOptions};
use std::collections::BTreeMap;
use std::path::Path;

/// Flags of every command that reads a dataset.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct DatasetArgs {
    #[arg(long, value_name = "NAME", help = format!(
        "Format of the file: {} [default: detected from the first record]", Format::names()
    ))]
    format: Option<String>,
    /// Leave bad records out, and say how many, instead of refusing the file.
    #[arg(long)]
    skip_bad: bool,
    /// Column or key that holds the question (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    question_column: Option<String>,
    /// Column or key that holds the answer (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    answer_column: Option<String>,
    /// Column or key that holds the id (csv, tsv, jsonl).
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
}

impl DatasetArgs {
    /// Reads the file, or the shipped one of that name. Records that are left out are said.
    pub(super) fn load(&self, path: &Path) -> anyhow::Result<Dataset> {
        let format = self.format.as_deref().map(format_of).transpose()?;
        let columns = Columns {
            question: self.question_column.clone(),
            answer: self.answer_column.clone(),
            id: self.id_column.clone(),
            ..Columns::default()
        };
        let options = ReadOptions { format, skip_bad: self.skip_bad, columns };
        let shown = path.display().to_string();
        let dataset = match builtin::file(&shown).filter(|_| !path.exists()) {
            Some(bytes) => dataset::load(&shown, bytes, &options)?,
            None => match dataset::load_file(path, &options) {
                Err(DatasetError::Io { .. }) if !path.exists() => {
                    let (message, hint) = absent(path);
                    return Err(Failure::bad_input(message, hint));
                }
                loaded => loaded?,
            },
        };
        for skipped in &dataset.skipped {
            say(format_args!("skipped: {skipped}"));
        }
        Ok(dataset)
    }

    /// The columns that were named, for the record.
    pub(super) fn columns(&self) -> BTreeMap<String, String> {
        let named = [("question", &self.question_column), ("answer", &self.answer_column), ("id", &self.id_column)];
        named.into_iter().filter_map(|(name, column)| Some((name.to_owned(), column.clone()?))).collect()
    }
}

/// The format of that name.
fn format_of(name: &str) -> anyhow::Result<Format> {
    Format::parse(name)
        .ok_or_else(|| Failure::usage(format!("unknown dataset format `{name}`"), format!("use {}", Format::names())))
}

/// Message and hint for a file that is not there; where it can be fetched under its name, the hint says how.
pub(super) fn absent(path: &Path) -> (String, String) {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let public = PUBLIC_SOURCES.iter().find(|source| name.as_deref() == Some(source.file));
    let hint = match (public, path.parent().unwrap_or(Path::new(""))) {
        (None, _) => "check the path; `wikitrail run` without a file uses our sample".to_owned(),
        (Some(source), folder) if folder == Path::new("datasets") => {
            format!("fetch it: wikitrail dataset fetch {}", source.name)
        }
        (Some(source), folder) => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            format!("fetch it: wikitrail dataset fetch {} --out {}", source.name, quoted(&folder.display().to_string()))
        }
    };
    (format!("cannot read `{}`: there is no such file", path.display()), hint)
}
