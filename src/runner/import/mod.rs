//! Folders of episodes that other programs recorded.
//!
//! | file | what it holds |
//! |---|---|
//! | `answers` | a folder of the answers in a table or JSON Lines |
//! | `inspect` | a folder of the answers in logs of Inspect; the transcript of a sample as steps, its scores as metrics |
//! | `inspect::log_file` | the file of a log: its run, its samples as trajectories, its settings as a variant |
//! | `notebook` | a folder of episodes that the paper's notebooks recorded, or themselves wrote and printed |
//! | `reference` | the run whose questions imported episodes answer |

mod answers;
mod inspect;
pub(crate) mod notebook;
mod reference;

pub(crate) use answers::import_answers;
pub(crate) use inspect::{AnswerFrom, import_inspect};
pub(crate) use notebook::import_notebook;

use super::error::RunError;
use super::store::{RunFolder, StoreError};
use super::stored::drop_distractors;
use crate::base::manifest::UNKNOWN;
use crate::base::text::{counted, thousands, visible_line};
use crate::base::{DatasetRecord, Manifest, Question, Trajectory, Variant};
use std::borrow::Borrow;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// What all imports are given besides their files.
#[derive(Debug)]
pub(crate) struct Import<'a> {
    pub(crate) out: &'a Path,
    /// The run whose questions were asked: its ids and golds are taken.
    pub(crate) like: Option<&'a Path>,
    pub(crate) command_line: Vec<String>,
}

/// What became of an import.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    /// What the new folder has, in lines.
    pub(crate) lines: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// Records that are no episodes of the new run: file, place and why.
    pub(crate) skipped: Vec<String>,
}

impl Imported {
    fn skip(&mut self, place: impl Display, why: &str) {
        self.skipped.push(format!("{place}: {}", visible_line(why, 300)));
    }

    /// Says how many episodes there are, and how many of them were not measured.
    fn count(&mut self, episodes: &[Trajectory]) {
        let not_measured = episodes.iter().filter(|episode| !episode.measured()).count();
        let of_them = (not_measured > 0).then(|| format!(", {} of them not measured", thousands(not_measured)));
        self.lines.push(counted(episodes.len(), "episode") + &of_them.unwrap_or_default());
    }
}

const NEW_FOLDER: &str = "name a new folder with --out";

const MAX_FILES: usize = 100_000;

/// The files that paths name: those of a folder that have one of the endings, by name. The second list says which
/// files are left out, and why.
fn files_of(paths: &[PathBuf], endings: &[&str]) -> Result<(Vec<PathBuf>, Vec<String>), RunError> {
    let (mut files, mut left_out) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let cannot = |error| unreadable(path, &error);
        let mut inside = Vec::new();
        for entry in path.read_dir().map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let file = entry.path();
            if !file.extension().is_some_and(|own| endings.iter().any(|ending| own == *ending)) {
                continue;
            }
            match entry.file_type().map_err(cannot)? {
                kind if kind.is_file() => inside.push(file),
                kind if kind.is_symlink() => left_out.push(format!("{}: it is a symbolic link", displayed(&file))),
                _ => {}
            }
            if inside.len() > MAX_FILES {
                let message = format!("`{}` has more than {MAX_FILES} files", displayed(path));
                return Err(RunError::input(message, "name the files that you need"));
            }
        }
        if inside.is_empty() {
            let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
            let message = format!("the folder `{}` has no file that ends in {}", displayed(path), endings.join(" or "));
            return Err(RunError::input(message, "name another folder, or files"));
        }
        inside.sort();
        files.extend(inside);
    }
    Ok((files, left_out))
}

fn displayed(path: &Path) -> String {
    visible_line(&path.display().to_string(), 300)
}

fn unreadable(path: &Path, error: &io::Error) -> RunError {
    RunError::input(format!("cannot read `{}`: {error}", displayed(path)), "check the path")
}

/// Writes imported episodes into a new folder.
fn write_run<'t>(
    out: &Path,
    manifest: &Manifest,
    questions: impl IntoIterator<Item = impl Borrow<Question>>,
    episodes: impl IntoIterator<Item = &'t Trajectory>,
) -> Result<(), StoreError> {
    let name = &manifest.dataset.name;
    let stored = |question: &Question| {
        let mut stored = Question { dataset: name.clone(), ..question.clone() };
        drop_distractors(&mut stored);
        stored
    };
    RunFolder::build(out, |new| {
        new.write_manifest(manifest)?;
        new.write_questions(questions.into_iter().map(|question| stored(question.borrow())))?;
        let lock = new.lock(None)?;
        new.appender(&lock)?.append(episodes).map(drop)
    })
    .map(drop)
}

fn imported_dataset(name: String, path: String, format: &str, sha256: String, count: usize) -> DatasetRecord {
    let format = format.to_owned();
    DatasetRecord { name, path, format, sha256, questions: count, selected: count, ..DatasetRecord::default() }
}

/// A variant of which only the model is known.
fn imported_variant(name: &str, model: String) -> Variant {
    let unknown = || UNKNOWN.to_owned();
    Variant {
        name: name.to_owned(),
        protocol: unknown(),
        protocol_version: 1,
        method: unknown(),
        prompt: unknown(),
        question_label: unknown(),
        model,
        endpoint: unknown(),
        wiki: unknown(),
        ..Variant::default()
    }
}
