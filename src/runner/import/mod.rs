//! Folders of episodes that other programs recorded.
//!
//! | file | what it holds |
//! |---|---|
//! | `inspect` | a folder of the answers in logs of Inspect |
//! | `inspect_file` | the file of a log: its run, its samples as trajectories, its settings as a variant |
//! | `notebook` | a folder of episodes that the paper's notebooks recorded; episodes with the digests of their prompts |
//! | `notebook_output` | what the notebooks themselves write and print, as trajectories |
//! | `reference` | the run whose questions imported episodes answer |

mod inspect;
mod inspect_file;
pub(crate) mod notebook;
pub(crate) mod notebook_output;
mod reference;

pub(crate) use inspect::{InspectImport, import_inspect};
pub(crate) use inspect_file::AnswerFrom;
pub(crate) use notebook::{NotebookImport, NotebookImported, import_notebook};

use super::store::{RunFolder, StoreError};
use crate::base::manifest::UNKNOWN;
use crate::base::{DatasetRecord, Manifest, Question, Trajectory, Variant};
use std::path::Path;

const NEW_FOLDER: &str = "name a new folder with --out";

/// Writes imported episodes into a new folder.
fn write_run<'t>(
    out: &Path,
    manifest: &Manifest,
    questions: impl Iterator<Item = Question>,
    episodes: impl Iterator<Item = &'t Trajectory>,
) -> Result<(), StoreError> {
    RunFolder::build(out, |new| {
        new.write_manifest(manifest)?;
        new.write_questions(questions)?;
        let lock = new.lock(None)?;
        new.appender(&lock)?.append(episodes)
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
