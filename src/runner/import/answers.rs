//! A run folder of answers that are in a table or JSON Lines.

use super::reference::{Match, ReferenceQuestions};
use super::{Import, Imported, NEW_FOLDER, displayed, imported_variant, write_run};
use crate::base::text::{counted, printable, thousands, visible_line};
use crate::base::trajectory::{CONFIDENCE, TRAJECTORY_VERSION};
use crate::base::{DatasetRecord, LogRecord, Manifest, Outcome, Question, Trajectory, sha256_hex};
use crate::dataset::{AnswerRow, AnswerSteps, DatasetError, Problem, bytes_of, read_answers};
use crate::runner::error::RunError;
use crate::runner::folder::refuse_target;
use crate::runner::job::new_manifest;
use crate::runner::store::RunFolder;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::path::Path;

/// Lines and ids that are named where there are several.
const MAX_LISTED: usize = 5;

/// The longest name of a variant or a model, in characters.
const MAX_NAME: usize = 200;

const STEP_COUNT: &str = "step_count";

pub(crate) fn import_answers(
    path: &Path,
    variant: &str,
    model: &str,
    wanted: &Import<'_>,
) -> Result<Imported, RunError> {
    refuse_target(&RunFolder::at(wanted.out), NEW_FOLDER)?;
    for (flag, name) in [("--variant", variant), ("--model", model)] {
        if name.trim().is_empty() {
            return Err(RunError::usage(format!("{flag} names nothing"), format!("give a name: {flag} NAME")));
        }
    }
    let asked = wanted.like.map(ReferenceQuestions::read).transpose()?.unwrap_or_default();
    let file = displayed(path);
    let bytes = bytes_of(path).map_err(|error| explain(error, &file))?;
    let table = read_answers(&file, &bytes).map_err(|error| explain(error, &file))?;
    let variant = printable(variant, MAX_NAME);
    let mut found = AnswersImporter { asked, file, variant, ..AnswersImporter::default() };
    found.done.notes = table.notes.iter().map(|note| format!("note: {}: {note}", found.file)).collect();
    table.rows.into_iter().for_each(|row| found.add(row));
    if found.episodes.is_empty() {
        let why = found.done.skipped.first().map_or("", String::as_str);
        let hint = "a line has the `id` or the `question` of one of its questions: `wikitrail export RUN` lists them";
        return Err(RunError::input(format!("no line answers a question of the run of --like: {why}"), hint));
    }
    found.note();
    let manifest = found.manifest(path, model, sha256_hex([&bytes[..]]), wanted.command_line.clone());
    write_run(wanted.out, &manifest, found.asked.all(), &found.episodes)?;
    found.done.count(&found.episodes);
    Ok(found.done)
}

/// The error of a file; its hint is about answers rather than datasets.
fn explain(error: DatasetError, file: &str) -> RunError {
    let hint = match &error.problem {
        Problem::Io(cause) => return RunError::input(format!("cannot read `{file}`: {cause}"), "check the path"),
        Problem::NoColumn(name, _) if name == "answer" => "each line has the `id` or `question`, and the `answer`",
        Problem::NoColumn(..) => "name the column of the question's id `id`, or that of its text `question`",
        Problem::Field(..) => "correct the line, or leave the value empty if it is not known",
        Problem::Empty => "a file has at least one answer",
        Problem::NotJson(_) | Problem::UnknownFormat(_) => {
            "give a CSV file, or JSON Lines, with `id` or `question` and `answer` in each line"
        }
        _ => error.hint(),
    };
    RunError::input(error, hint)
}

#[derive(Default)]
struct AnswersImporter {
    asked: ReferenceQuestions,
    file: String,
    variant: String,
    episodes: Vec<Trajectory>,
    /// Question and repeat of each episode, with the line that it is from.
    lines: HashMap<(String, u32), usize>,
    unanswered: Vec<usize>,
    by_id_alone: Vec<usize>,
    done: Imported,
}

impl AnswersImporter {
    fn add(&mut self, row: AnswerRow) {
        let line = row.line;
        if let Err(why) = self.take(row) {
            self.done.skip(format_args!("{}:{line}", self.file), &why);
        }
    }

    /// Takes a row as an episode, or says why it is none.
    fn take(&mut self, row: AnswerRow) -> Result<(), String> {
        let (question, how) = self.asked.find(&row.id, &row.question).map_err(|why| {
            let named = if row.id.is_empty() { &row.question } else { &row.id };
            format!("{why}: `{}`", visible_line(named, 80))
        })?;
        let place = (question.id.clone(), row.repeat);
        if let Some(first) = self.lines.get(&place) {
            let repeat = if row.repeat > 0 { format!(", repeat {}", row.repeat) } else { String::new() };
            return Err(format!("line {first} has an answer to `{}`{repeat} already", visible_line(&place.0, 80)));
        }
        self.lines.insert(place, row.line);
        if how == Match::IdAlone && !row.question.trim().is_empty() {
            self.by_id_alone.push(row.line);
        }
        if row.answer.is_none() && row.error.is_none() {
            self.unanswered.push(row.line);
        }
        self.episodes.push(episode(row, question, &self.variant));
        Ok(())
    }

    /// Says which lines have no answer or another question, and which questions no line answers.
    fn note(&mut self) {
        let file = &self.file;
        let mut notes = Vec::new();
        let kinds = [
            (&self.unanswered, "without an answer", "counted as wrong"),
            (&self.by_id_alone, "matched by the id alone", "the run of --like has another text"),
        ];
        for (lines, what, so) in kinds.into_iter().filter(|(lines, ..)| !lines.is_empty()) {
            let count = counted(lines.len(), "line");
            notes.push(format!("note: {file}: {count} {what} ({}): {so}", listed(lines.iter())));
        }
        let answered: HashSet<&str> = self.lines.keys().map(|(id, _)| id.as_str()).collect();
        let all = self.asked.all();
        let missing: Vec<String> =
            all.iter().filter(|one| !answered.contains(one.id.as_str())).map(|one| visible_line(&one.id, 80)).collect();
        if !missing.is_empty() {
            let (count, of) = (thousands(missing.len() as u64), counted(all.len(), "question"));
            let ids = listed(missing.iter());
            notes.push(format!("note: {file} has no answer to {count} of {of} ({ids}): missing, and not wrong"));
        }
        self.done.notes.extend(notes);
        self.done.notes.iter_mut().for_each(|note| *note = visible_line(note, 1000));
    }

    fn manifest(&self, path: &Path, model: &str, sha256: String, command_line: Vec<String>) -> Manifest {
        let repeats = self.episodes.iter().map(|episode| episode.repeat + 1).max().unwrap_or(1);
        let dataset = DatasetRecord { selected: self.asked.all().len(), ..self.asked.dataset.clone() };
        let log = LogRecord {
            path: path.display().to_string(),
            sha256,
            variant: self.variant.clone(),
            samples: self.episodes.len(),
            ..LogRecord::default()
        };
        let variant = imported_variant(&self.variant, printable(model, MAX_NAME));
        Manifest { logs: vec![log], ..new_manifest(vec![variant], dataset, repeats, command_line) }
    }
}

/// The first of several, with how many more there are.
fn listed<T: Display>(all: impl ExactSizeIterator<Item = T>) -> String {
    let more = all.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!(" and {} more", thousands(more as u64)) } else { String::new() };
    all.take(MAX_LISTED).map(|one| one.to_string()).collect::<Vec<_>>().join(", ") + &more
}

fn episode(row: AnswerRow, question: &Question, variant: &str) -> Trajectory {
    let AnswerRow { repeat, answer, steps, usage, cost_usd, wall_ms, confidence, error, .. } = row;
    let (outcome, detail) = match (&error, &answer) {
        (Some(error), _) => (Outcome::NotMeasured, Some(visible_line(error, 1000))),
        (None, Some(_)) => (Outcome::Finished, None),
        (None, None) => (Outcome::FormatFailure, Some("the file has no answer".to_owned())),
    };
    let mut scores: BTreeMap<String, f64> =
        confidence.map(|value| (CONFIDENCE.to_owned(), value)).into_iter().collect();
    let steps = match steps {
        Some(AnswerSteps::Listed(steps)) => Some(steps),
        Some(AnswerSteps::Count(count)) => {
            scores.insert(STEP_COUNT.to_owned(), crate::scoring::float(count));
            None
        }
        None => None,
    };
    let parts = [variant, &question.id, &repeat.to_string(), answer.as_deref().unwrap_or_default()];
    Trajectory {
        v: TRAJECTORY_VERSION,
        id: question.id.clone(),
        index: question.index,
        variant: variant.to_owned(),
        repeat,
        question: question.question.clone(),
        answers: question.answers.clone(),
        steps_recorded: steps.is_some(),
        steps: steps.unwrap_or_default(),
        key: sha256_hex([parts.join("\n").as_bytes()]),
        // What was said before an error is not what would have been said.
        answer: answer.filter(|_| error.is_none()),
        outcome,
        detail,
        usage: usage.unwrap_or_default(),
        cost_usd,
        wall_ms: wall_ms.unwrap_or_default(),
        scores,
        ..Trajectory::default()
    }
}
