//! The questions of a run: the dataset's file, as its settings say how to read it, and what is selected from it.

use super::error::RunError;
use super::model::is_on;
use super::stored::{self, drop_distractors};
use crate::base::bounded::text_at_most;
use crate::base::text::{counted, shell_word, visible_line};
use crate::base::{DatasetRecord, Question, Selection};
use crate::dataset::{self, Dataset, DatasetError, Format, PUBLIC_SOURCES, Problem, ReadOptions};
use crate::runner::experiment::{DatasetSettings, DatasetSpec, shipped};
use crate::runner::store::RunFolder;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

/// Largest file of ids, in bytes.
const MAX_IDS_BYTES: u64 = 64 << 20;

const STDIN: &str = "stdin";

pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

pub(crate) fn path_or_stdin(path: &Path) -> String {
    if is_stdin(path) { STDIN.to_owned() } else { path.display().to_string() }
}

pub(crate) fn options(settings: &DatasetSettings) -> Result<ReadOptions, RunError> {
    let unknown =
        |name: &str| RunError::usage(format!("unknown dataset format `{name}`"), format!("use {}", Format::names()));
    let format = settings.format.as_deref();
    let format = format.map(|name| Format::parse(name).ok_or_else(|| unknown(name))).transpose()?;
    let columns = stored::columns(&columns(settings));
    Ok(ReadOptions { format, skip_bad: is_on(settings.skip_bad), columns, ..ReadOptions::default() })
}

/// Reads a dataset's file, or the shipped one of that name; `-` is standard input.
pub(crate) fn load(path: &Path, options: &ReadOptions) -> Result<Dataset, RunError> {
    if is_stdin(path) {
        return from_stdin(options);
    }
    let shown = path.display().to_string();
    match shipped::file(&shown).filter(|_| !path.exists()) {
        Some(bytes) => Ok(dataset::load(&shown, bytes, options)?),
        None => match dataset::load_file(path, options) {
            Err(DatasetError { problem: Problem::Io(_), .. }) if !path.exists() => Err(absent(path)),
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
    let types = settings.types.iter().flatten().flat_map(|types| types.split(',')).map(str::to_owned).collect();
    let DatasetSettings { shuffle, shuffle_like_paper, limit, .. } = *settings;
    Ok(Selection { ids: listed, types, shuffle, shuffle_like_paper, limit })
}

pub(super) fn columns(settings: &DatasetSettings) -> BTreeMap<String, String> {
    let named = [
        ("question", &settings.question_column),
        ("answer", &settings.answer_column),
        ("id", &settings.id_column),
        ("answer_separator", &settings.answer_separator),
    ];
    named.into_iter().filter_map(|(name, column)| Some((name.to_owned(), column.clone()?))).collect()
}

pub(super) fn ids(path: &Path) -> Result<Vec<String>, RunError> {
    let text = File::open(path).and_then(|file| text_at_most(file, MAX_IDS_BYTES)).map_err(|error| {
        let message = format!("cannot read the ids in `{}`: {error}", path.display());
        RunError::input(message, "--ids takes a UTF-8 file with one id a line")
    })?;
    Ok(dataset::read_ids(&text))
}

/// What is wrong where a file does not exist. The hint says how to fetch it, if it is a public file.
pub(super) fn absent(path: &Path) -> RunError {
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
    RunError::input(format!("cannot read `{}`: there is no such file", path.display()), hint)
}

pub(super) struct SelectedQuestions {
    pub(super) questions: Vec<Arc<Question>>,
    pub(super) record: DatasetRecord,
    pub(super) notes: Vec<String>,
}

/// What was asked under the same name before. Older programs asked more than this one does, and what they began goes on.
pub(super) enum EarlierQuestions {
    Nothing,
    Run(Box<DatasetRecord>),
    Branched,
}

impl EarlierQuestions {
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
    /// Reads the dataset's file and selects from it. Where it is not here, a resumed run asks what `folder` holds.
    pub(super) fn of(spec: &DatasetSpec, folder: Option<&Path>, earlier: &EarlierQuestions) -> Result<Self, RunError> {
        let selection = selection(&spec.settings, |path| earlier.had_no_ids(path))?;
        let piped = is_stdin(&spec.path);
        let is_here = !piped && (spec.path.exists() || shipped::file(&spec.path.display().to_string()).is_some());
        if let Some(stored) = folder.filter(|_| !is_here).and_then(|folder| stored_questions(folder, spec, &selection))
        {
            return Ok(stored);
        }
        let options = ReadOptions { reduce: Some(drop_distractors), ..options(&spec.settings)? };
        let dataset = load(&spec.path, &options).map_err(|error| match folder {
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
            columns: columns(&spec.settings),
            sha256: dataset.sha256,
            questions: all,
            selection,
            ids_file: spec.settings.ids.clone(),
            selected: questions.len(),
        };
        Ok(Self { questions, record, notes })
    }
}

/// Refuses a file without answers where it probably has some under another name: nobody wants to pay for no score.
fn refuse_unscored(dataset: &Dataset, spec: &DatasetSpec) -> Result<(), RunError> {
    let Some((without, guess)) = dataset.without_answers.as_ref().and_then(|without| Some((without, without.guess()?)))
    else {
        return Ok(());
    };
    let (what, unused) = without.missing_and_unused();
    let named = shell_word(&visible_line(guess, 80));
    Err(RunError::input(
        format!("{}: {what}, so nothing can be scored{unused}", path_or_stdin(&spec.path)),
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
        && record.columns == columns(&spec.settings)
        && format.as_ref().is_none_or(|format| *format == record.format);
    let stored = folder.questions(None).ok().flatten().filter(|_| same)?;
    let questions = stored.map(|question| question.map(Arc::new)).collect::<Result<Vec<_>, _>>().ok()?;
    if questions.len() != record.selected {
        return None;
    }
    let notes = vec![if is_stdin(&spec.path) {
        "note: standard input is not read again; the questions are those in the run's folder".to_owned()
    } else {
        format!("note: `{}` is not here; its questions are those in the run's folder", record.path)
    }];
    Some(SelectedQuestions { questions, record, notes })
}

/// A run whose dataset was piped, and is resumed with other questions than its folder holds.
fn not_piped(folder: &Path, error: &RunError) -> RunError {
    let selected = format!("other questions are selected than `{}` holds", folder.display());
    let hint = "pipe the same dataset into the command again, or resume it without other selections";
    RunError::input(format!("{selected}, and its dataset came from standard input: {error}"), hint)
}

fn file_notes(dataset: &Dataset, spec: &DatasetSpec) -> Vec<String> {
    let path = path_or_stdin(&spec.path);
    let read = dataset.notes.iter().map(|note| format!("note: {path}: {note}"));
    let each = dataset.skipped.iter().map(|skipped| format!("skipped: {skipped}"));
    let bad = Some(dataset.skipped.len()).filter(|bad| *bad > 0);
    let all = bad.map(|bad| format!("note: {} left out of {path}", counted(bad, "bad record")));
    read.chain(each).chain(all).collect()
}
