//! What a run asks: the questions that its settings select from a dataset, and how the manifest names them.

use super::error::RunError;
use super::evidence;
use super::model::is_on;
use super::questions;
use crate::dataset::{self, Dataset};
use crate::experiment::{DatasetSettings, DatasetSpec, shipped};
use crate::store::RunFolder;
use crate::types::text::{counted, shell_word, visible_line};
use crate::types::{DatasetRecord, Question, Selection};
use std::path::Path;
use std::sync::Arc;

/// The questions of a run.
pub(super) struct SelectedQuestions {
    pub(super) questions: Vec<Question>,
    pub(super) record: DatasetRecord,
    /// What a person should know of the file.
    pub(super) notes: Vec<String>,
}

/// What was asked under the same name before. Older programs asked more than this one does, and what they began goes on.
pub(super) enum EarlierQuestions {
    /// Nothing.
    Nothing,
    /// What the run in the folder was begun with.
    Run(Box<DatasetRecord>),
    /// The episodes that are branched off.
    Branched,
}

impl EarlierQuestions {
    /// Of the run in a folder, if there is one.
    pub(super) fn of(folder: Option<&Path>) -> Self {
        let manifest = folder.and_then(|folder| RunFolder::open(folder).ok()?.manifest().ok());
        manifest.map_or(Self::Nothing, |manifest| Self::Run(Box::new(manifest.dataset)))
    }

    /// Whether all questions were asked because this file of ids was empty.
    fn had_no_ids(&self, path: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Run(record) => record.selection.ids.is_empty() && record.ids_file.as_deref() == Some(path),
            Self::Branched => true,
        }
    }
}

impl SelectedQuestions {
    /// Reads the dataset's file and selects from it. Where the file is not here, as in a folder that was copied to another
    /// machine, a run that is resumed asks what its `folder` holds.
    pub(super) fn of(spec: &DatasetSpec, folder: Option<&Path>, earlier: &EarlierQuestions) -> Result<Self, RunError> {
        let selection = questions::selection(&spec.settings, |path| earlier.had_no_ids(path))?;
        let piped = questions::is_stdin(&spec.path);
        let is_here = !piped && (spec.path.exists() || shipped::file(&spec.path.display().to_string()).is_some());
        if let Some(stored) = folder.filter(|_| !is_here).and_then(|folder| stored_questions(folder, spec, &selection))
        {
            return Ok(stored);
        }
        let dataset = questions::load(&spec.path, &spec.settings).map_err(|error| match folder {
            Some(folder) if piped => not_piped(folder, &error),
            _ => error,
        })?;
        if matches!(earlier, EarlierQuestions::Nothing) && !is_on(spec.settings.unscored) {
            refuse_unscored(&dataset, spec)?;
        }
        let notes = file_notes(&dataset, spec);
        let all = dataset.questions.len();
        let questions = dataset::select(dataset.questions, &selection)?;
        let record = DatasetRecord {
            name: dataset.name,
            path: spec.path.display().to_string(),
            format: dataset.format.name().to_owned(),
            columns: questions::columns(&spec.settings),
            sha256: dataset.sha256,
            questions: all,
            selection,
            ids_file: spec.settings.ids.clone(),
            selected: questions.len(),
        };
        Ok(Self { questions, record, notes })
    }
}

/// Refuses a file without answers where it probably has some under a name that is not ours: nobody wants to pay for answers
/// that nothing can be said of.
fn refuse_unscored(dataset: &Dataset, spec: &DatasetSpec) -> Result<(), RunError> {
    let Some((without, guess)) = dataset.without_answers.as_ref().and_then(|without| Some((without, without.guess()?)))
    else {
        return Ok(());
    };
    let (what, unused) = without.missing_and_unused();
    let named = shell_word(&visible_line(guess, 80));
    Err(RunError::input(
        format!("{}: {what}, so nothing can be scored{unused}", questions::shown(&spec.path)),
        format!(
            "did you mean --answer-column {named}? --unscored runs it without scores (in an experiment file: `answer_column` \
             and `unscored` of the dataset)"
        ),
    ))
}

/// The questions in a run's folder, if they are what these settings select.
fn stored_questions(folder: &Path, spec: &DatasetSpec, selection: &Selection) -> Option<SelectedQuestions> {
    let folder = RunFolder::open(folder).ok()?;
    let record = folder.manifest().ok()?.dataset;
    let DatasetSettings { format, .. } = &spec.settings;
    let same = record.path == spec.path.display().to_string()
        && record.selection == *selection
        && record.columns == questions::columns(&spec.settings)
        && format.as_ref().is_none_or(|format| *format == record.format);
    let questions: Vec<Question> =
        folder.questions(None).ok().flatten().filter(|_| same)?.collect::<Result<_, _>>().ok()?;
    if questions.len() != record.selected {
        return None;
    }
    let notes = vec![if questions::is_stdin(&spec.path) {
        "note: standard input is not read again; the questions are those in the run's folder".to_owned()
    } else {
        format!("note: `{}` is not here; its questions are those in the run's folder", record.path)
    }];
    Some(SelectedQuestions { questions, record, notes })
}

/// A run whose dataset was piped, and is resumed with other questions than its folder holds.
fn not_piped(folder: &Path, error: &RunError) -> RunError {
    RunError::input(
        format!(
            "other questions are selected than `{}` holds, and its dataset came from standard input: {error}",
            folder.display()
        ),
        "pipe the same dataset into the command again, or resume it without other selections",
    )
}

/// What is said of how the file was read, and of records that were left out.
fn file_notes(dataset: &Dataset, spec: &DatasetSpec) -> Vec<String> {
    let path = questions::shown(&spec.path);
    let read = dataset.notes.iter().map(|note| format!("note: {path}: {note}"));
    let each = dataset.skipped.iter().map(|skipped| format!("skipped: {skipped}"));
    let bad = Some(dataset.skipped.len()).filter(|bad| *bad > 0);
    let all = bad.map(|bad| format!("note: {} left out of {path}", counted(bad, "bad record")));
    read.chain(each).chain(all).collect()
}

/// Writes the questions into the run's folder.
pub(super) fn write_questions(folder: &RunFolder, questions: &[Arc<Question>]) -> Result<(), RunError> {
    Ok(folder.write_questions(questions.iter().map(|question| evidence::kept(question)))?)
}
