//! The supporting facts of a run's questions, from the dataset file that it was made from.
//!
//! A trajectory holds question and answers only. The facts are taken from the file that the manifest names, if it is
//! still what the run read.

use super::builtin;
use crate::dataset::{self, Columns, Format, ReadOptions};
use crate::score::GoldEvidence;
use crate::types::{DatasetRecord, Manifest, Question, sha256_hex};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

/// Supporting facts by question, or why there are none.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    by_id: HashMap<String, GoldEvidence>,
    /// Why the file could not be used; absent where it was, even if it names no facts.
    pub(super) missing: Option<String>,
}

impl Evidence {
    /// Reads the dataset of a run. What is wrong with it is no error: metrics that need the facts are then left out.
    pub(super) fn of(manifest: &Manifest) -> Self {
        match questions(manifest) {
            Ok(questions) => {
                let with_facts = |question: Question| Some((question.id.clone(), GoldEvidence::of(&question)?));
                Self { by_id: questions.into_iter().filter_map(with_facts).collect(), missing: None }
            }
            Err(reason) => Self { by_id: HashMap::new(), missing: Some(reason) },
        }
    }

    /// The gold evidence of a question, where its dataset names some.
    pub(super) fn get(&self, id: &str) -> Option<&GoldEvidence> {
        self.by_id.get(id)
    }

    /// How many questions have supporting facts.
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// One line for a person, where the facts are missing.
    pub(super) fn note(&self) -> Option<String> {
        let reason = self.missing.as_deref()?;
        Some(format!("note: supporting facts are not available: {reason}; failure classes go by the answer string"))
    }
}

/// The questions of the file that a run read, or why there are none.
pub(super) fn questions(manifest: &Manifest) -> Result<Vec<Question>, String> {
    let record = &manifest.dataset;
    let bytes = bytes(record)?;
    if sha256_hex([&*bytes]) != record.sha256 {
        return Err(format!("`{}` is not the file that the run read (its SHA-256 differs)", record.path));
    }
    let options = options(record);
    Ok(dataset::load(&record.path, &bytes, &options).map_err(|error| error.to_string())?.questions)
}

/// The file on disk, else the shipped one of that name. Only a plain file is read: a pipe of the run is gone, or would
/// keep us waiting.
fn bytes(record: &DatasetRecord) -> Result<Cow<'static, [u8]>, String> {
    let path = Path::new(&record.path);
    if path.is_file() {
        return std::fs::read(path).map(Cow::Owned).map_err(|error| format!("cannot read `{}`: {error}", record.path));
    }
    builtin::file(&record.path).map(Cow::Borrowed).ok_or_else(|| format!("`{}` is not here any more", record.path))
}

/// How the run read its dataset; bad records do no harm here.
fn options(record: &DatasetRecord) -> ReadOptions {
    let column = |name: &str| record.columns.get(name).cloned();
    let columns =
        Columns { question: column("question"), answer: column("answer"), id: column("id"), ..Columns::default() };
    ReadOptions { format: Format::parse(&record.format), skip_bad: true, columns }
}
