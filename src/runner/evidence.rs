//! The questions of a run with their supporting facts, which no trajectory holds.
//!
//! They are kept in the run's folder. For a run from before they were, they are taken from the file that the manifest
//! names, if it is still what the run read.

use crate::base::{DatasetRecord, Manifest, Question, sha256_hex};
use crate::dataset::{self, Columns, Format, ReadOptions};
use crate::runner::experiment::shipped;
use crate::runner::store::RunFolder;
use crate::scoring::{GoldEvidence, is_same_page};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    by_id: HashMap<String, GoldEvidence>,
    /// Why the file could not be used; absent where it was, even if it names no facts.
    pub(crate) missing: Option<String>,
}

impl Evidence {
    /// Reads the dataset of a run. If it cannot be used, metrics that need the facts are left out.
    pub(crate) fn of(folder: &RunFolder, manifest: &Manifest) -> Self {
        Self::of_questions(folder, manifest, None, |_| {})
    }

    /// The same for all questions or that of `id`, each of which is also shown to `look`. Where they cannot all be read,
    /// [`missing`](Self::missing) says why.
    pub(crate) fn of_questions(
        folder: &RunFolder,
        manifest: &Manifest,
        id: Option<&str>,
        mut look: impl FnMut(&Question),
    ) -> Self {
        let mut by_id = HashMap::new();
        let read = each_question(folder, manifest, id, |question| {
            look(&question);
            by_id.extend(GoldEvidence::of(&question).map(|facts| (question.id, facts)));
        });
        match read {
            Ok(()) => Self { by_id, missing: None },
            Err(reason) => Self { by_id: HashMap::new(), missing: Some(reason) },
        }
    }

    pub(crate) fn get(&self, id: &str) -> Option<&GoldEvidence> {
        self.by_id.get(id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &GoldEvidence> {
        self.by_id.values()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn note(&self) -> Option<String> {
        let reason = self.missing.as_deref()?;
        Some(format!("note: supporting facts are not available: {reason}; failure classes go by the answer string"))
    }
}

/// What of a question is kept in a run's folder: all but the paragraphs that no supporting fact is from.
pub(super) fn kept(question: &Question) -> Question {
    let gold = GoldEvidence::of(question);
    let pages = || gold.iter().flat_map(GoldEvidence::groups).flat_map(|group| &group.pages);
    let context = question.context.iter().filter(|paragraph| pages().any(|page| is_same_page(page, &paragraph.title)));
    let context = context.cloned().collect();
    Question { context, ..question.clone() }
}

/// The questions of a run: those in its folder, else those of the file that it read; or why there are none.
pub(crate) fn questions(folder: &RunFolder, manifest: &Manifest) -> Result<Vec<Question>, String> {
    let mut questions = Vec::new();
    each_question(folder, manifest, None, |question| questions.push(question))?;
    Ok(questions)
}

/// Shows them one at a time; with `id`, others may be passed over.
fn each_question(
    folder: &RunFolder,
    manifest: &Manifest,
    id: Option<&str>,
    mut take: impl FnMut(Question),
) -> Result<(), String> {
    let Some(mut questions) = folder.questions(id).map_err(|error| error.to_string())? else {
        of_file(manifest)?.into_iter().for_each(take);
        return Ok(());
    };
    questions.try_for_each(|question| {
        take(question.map_err(|error| error.to_string())?);
        Ok(())
    })
}

fn of_file(manifest: &Manifest) -> Result<Vec<Question>, String> {
    let record = &manifest.dataset;
    let bytes = bytes(record)?;
    if sha256_hex([&*bytes]) != record.sha256 {
        return Err(format!("`{}` is not the file that the run read (its SHA-256 differs)", record.path));
    }
    let options = options(record);
    Ok(dataset::load(&record.path, &bytes, &options).map_err(|error| error.to_string())?.questions)
}

/// The plain file on disk, else the shipped one: a pipe of the run is gone, or would keep us waiting.
fn bytes(record: &DatasetRecord) -> Result<Cow<'static, [u8]>, String> {
    let path = Path::new(&record.path);
    if path.is_file() {
        return dataset::bytes_of(path).map(Cow::Owned).map_err(|error| error.to_string());
    }
    shipped::file(&record.path).map(Cow::Borrowed).ok_or_else(|| format!("`{}` is not here any more", record.path))
}

/// How the run read its dataset; bad records do no harm here.
fn options(record: &DatasetRecord) -> ReadOptions {
    let column = |name: &str| record.columns.get(name).cloned();
    let columns =
        Columns { question: column("question"), answer: column("answer"), id: column("id"), ..Columns::default() };
    ReadOptions { format: Format::parse(&record.format), skip_bad: true, columns, ..ReadOptions::default() }
}
