//! The questions of a run: the dataset's file, as its settings say how to read it, and what is selected from it.

use super::error::RunError;
use super::inputs::Wrong;
use super::model::is_on;
use crate::dataset::{self, Columns, Dataset, DatasetError, Format, PUBLIC_SOURCES, Problem, ReadOptions};
use crate::experiment::{DatasetSettings, shipped};
use crate::types::Selection;
use crate::types::bounded::text_at_most;
use crate::types::text::shell_word;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::IsTerminal as _;
use std::path::Path;

/// Largest file of ids, in bytes.
const MAX_IDS_BYTES: u64 = 64 << 20;

/// How messages call standard input.
const STDIN: &str = "stdin";

/// Whether a dataset's path means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// A dataset's path for messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stdin(path) { STDIN.to_owned() } else { path.display().to_string() }
}

/// Reads a dataset's file, or the shipped one of that name; `-` is standard input.
pub(crate) fn load(path: &Path, settings: &DatasetSettings) -> Result<Dataset, RunError> {
    load_with(path, &options(settings)?)
}

/// How settings say to read a file.
pub(crate) fn options(settings: &DatasetSettings) -> Result<ReadOptions, RunError> {
    let format = settings.format.as_deref().map(format_of).transpose()?;
    let columns = Columns {
        question: settings.question_column.clone(),
        answer: settings.answer_column.clone(),
        id: settings.id_column.clone(),
        ..Columns::default()
    };
    Ok(ReadOptions { format, skip_bad: is_on(settings.skip_bad), columns, ..ReadOptions::default() })
}

pub(crate) fn load_with(path: &Path, options: &ReadOptions) -> Result<Dataset, RunError> {
    if is_stdin(path) {
        return from_stdin(options);
    }
    let shown = path.display().to_string();
    match shipped::file(&shown).filter(|_| !path.exists()) {
        Some(bytes) => Ok(dataset::load(&shown, bytes, options)?),
        None => match dataset::load_file(path, options) {
            Err(DatasetError { problem: Problem::Io(_), .. }) if !path.exists() => Err(absent(path).into()),
            loaded => Ok(loaded?),
        },
    }
}

/// Reads a dataset from standard input. It is read once, and never from somebody who types.
fn from_stdin(options: &ReadOptions) -> Result<Dataset, RunError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let message = "the dataset `-` is standard input, and nothing is piped into it";
        return Err(RunError::usage(message, "pipe a file into it, such as: wikitrail run - < questions.csv"));
    }
    let bytes = dataset::bytes_from(STDIN, stdin.lock(), 0)?;
    Ok(dataset::load(STDIN, &bytes, options)?)
}

/// Which questions the settings select; reads the file of ids, which must hold some unless it is `known` to have held none.
pub(super) fn selection(settings: &DatasetSettings, known: impl Fn(&str) -> bool) -> Result<Selection, RunError> {
    let listed = settings.ids.as_deref().map_or(Ok(Vec::new()), |path| ids(Path::new(path)))?;
    if let Some(path) = settings.ids.as_deref().filter(|path| listed.is_empty() && !known(path)) {
        let message = format!("the file of ids `{path}` holds no id, so it selects no question");
        return Err(RunError::input(message, "write one id a line, or omit --ids to ask all questions"));
    }
    Ok(Selection {
        ids: listed,
        types: settings.types.iter().flatten().flat_map(|types| types.split(',')).map(str::to_owned).collect(),
        shuffle: settings.shuffle,
        shuffle_like_paper: settings.shuffle_like_paper,
        limit: settings.limit,
    })
}

/// The columns that were named, for the record.
pub(super) fn columns(settings: &DatasetSettings) -> BTreeMap<String, String> {
    let named =
        [("question", &settings.question_column), ("answer", &settings.answer_column), ("id", &settings.id_column)];
    named.into_iter().filter_map(|(name, column)| Some((name.to_owned(), column.clone()?))).collect()
}

fn format_of(name: &str) -> Result<Format, RunError> {
    Format::parse(name)
        .ok_or_else(|| RunError::usage(format!("unknown dataset format `{name}`"), format!("use {}", Format::names())))
}

pub(super) fn ids(path: &Path) -> Result<Vec<String>, Wrong> {
    let text = File::open(path).and_then(|file| text_at_most(file, MAX_IDS_BYTES)).map_err(|error| Wrong {
        message: format!("cannot read the ids in `{}`: {error}", path.display()),
        hint: "--ids takes a UTF-8 file with one id a line".to_owned(),
    })?;
    Ok(dataset::read_ids(&text))
}

/// What is wrong where a file does not exist. The hint says how to fetch it, if it is a public file.
pub(super) fn absent(path: &Path) -> Wrong {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let public = PUBLIC_SOURCES.iter().find(|source| name.as_deref() == Some(source.file));
    let hint = match (public, path.parent().unwrap_or(Path::new(""))) {
        (None, _) => "check the path; `wikitrail run` without a file uses our sample".to_owned(),
        (Some(source), folder) if folder == Path::new("datasets") => {
            format!("fetch it: wikitrail dataset fetch {}", source.name)
        }
        (Some(source), folder) => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let folder = shell_word(&folder.display().to_string());
            format!("fetch it: wikitrail dataset fetch {} --out {folder}", source.name)
        }
    };
    Wrong { message: format!("cannot read `{}`: there is no such file", path.display()), hint }
}
