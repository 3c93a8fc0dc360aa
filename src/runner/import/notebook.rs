//! Episodes that the paper's notebooks recorded: their lines as trajectories, and a run folder of them.

use super::notebook_output::{self, RecordedEpisode, VARIANT};
use super::reference::ReferenceQuestions;
use super::{NEW_FOLDER, displayed, files_of, imported_dataset, imported_variant, write_run};
use crate::base::bounded::{lines, text_at_most};
use crate::base::manifest::UNKNOWN;
use crate::base::text::{printable, visible_line};
use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{
    AnswerKind, Call, Compat, DatasetRecord, Manifest, Method, Outcome, Question, Repair, Step, Trajectory, Variant,
    json_error, sha256_hex,
};
use crate::prompting::protocol::react_paper::MAX_STEPS;
use crate::runner::error::RunError;
use crate::runner::folder::refuse_target;
use crate::runner::job::new_manifest;
use crate::runner::store::RunFolder;
use crate::runner::stored::stored_question;
use crate::scoring::{Metric, score_answers};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read as _};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Imported {
    /// The episode; its id is the position in the recorded run.
    pub trajectory: Trajectory,
    pub claims: Claims,
}

/// A line, whose steps and calls are taken for the trajectory.
#[derive(Debug, Deserialize)]
pub struct Claims {
    pub model: Option<String>,
    order: usize,
    question: Option<String>,
    /// The claim to be judged, where it is no question.
    pub claim: Option<String>,
    gold: String,
    steps: Vec<LineStep>,
    calls: Vec<LineCall>,
    #[serde(rename = "final_answer")]
    pub answer: String,
    /// Exact match: 0 or 1.
    pub em: f64,
    /// F1, 0 to 1, if recorded.
    pub f1: Option<f64>,
    pub info: Info,
    pub n_calls: usize,
    /// Second calls because of a missing action.
    pub n_badcalls: usize,
    /// SHA-256 of the prompt after the last step, if recorded.
    pub final_prompt_sha256: Option<String>,
}

#[derive(Debug, Deserialize)]
struct LineStep {
    n: usize,
    thought: String,
    action_text: String,
    observation: String,
    bad_call: bool,
}

#[derive(Debug, Deserialize)]
struct LineCall {
    prompt_sha256: String,
    prompt_chars: usize,
    stop: Vec<String>,
    completion: String,
}

#[derive(Debug, Deserialize)]
pub struct Info {
    /// Steps of the environment, the closing finish included.
    pub steps: usize,
}

pub fn import(line: &str) -> Result<Imported, serde_json::Error> {
    let mut claims: Claims = serde_json::from_str(line)?;
    let Some(question) = claims.claim.as_ref().or(claims.question.as_ref()).cloned() else {
        return Err(serde::de::Error::missing_field("question"));
    };
    Ok(Imported { trajectory: trajectory(question, &mut claims), claims })
}

fn trajectory(question: String, line: &mut Claims) -> Trajectory {
    let recorded = std::mem::take(&mut line.steps);
    // The notebook counts one step more than it lists if it closed the episode itself.
    let closed = line.info.steps > recorded.len();
    let repairs = recorded
        .iter()
        .filter(|step| step.bad_call)
        .map(|step| Repair { step: step.n, kind: Repair::MISSING_ACTION.to_owned() })
        .collect();
    Trajectory {
        v: TRAJECTORY_VERSION,
        id: line.order.to_string(),
        index: line.order,
        variant: VARIANT.to_owned(),
        question,
        answers: vec![line.gold.clone()],
        steps: steps(recorded, std::mem::take(&mut line.calls), closed),
        steps_recorded: true,
        answer: (!closed).then(|| line.answer.clone()),
        outcome: if closed { Outcome::StepLimit } else { Outcome::Finished },
        compat: Some(Compat::Paper),
        repairs,
        ..Trajectory::default()
    }
}

/// Assigns one call to each step, two if the action was missing; the last step gets the rest, so that nothing is lost.
fn steps(recorded: Vec<LineStep>, calls: Vec<LineCall>, closed: bool) -> Vec<Step> {
    let mut calls = calls.into_iter().map(call);
    let mut steps: Vec<Step> = Vec::with_capacity(recorded.len() + 1);
    for step in recorded {
        let count = if step.bad_call { 2 } else { 1 };
        let calls = calls.by_ref().take(count).collect();
        let LineStep { n, thought, action_text, observation, .. } = step;
        steps.push(Step { calls, ..notebook_output::step(n, Some(thought), Some(action_text), Some(observation)) });
    }
    if let Some(last) = steps.last_mut() {
        last.calls.extend(calls);
    }
    if closed {
        steps.push(notebook_output::closing(steps.len() + 1));
    }
    steps
}

fn call(line: LineCall) -> Call {
    Call {
        prompt_sha256: line.prompt_sha256,
        prompt_chars: line.prompt_chars,
        stop: line.stop,
        completion: line.completion,
        attempts: 1,
        ..Call::default()
    }
}

/// The largest file of recorded episodes, in bytes.
const MAX_FILE: u64 = 1 << 30;

/// The most lines that are left out.
const MAX_SKIPPED: usize = 10_000;

/// Bytes that are read to see what form a file has.
const BEGINNING: u64 = 64 << 10;

/// The first byte of a file that Python has pickled.
const PICKLED: u8 = 0x80;

const EPISODES: &str = "name what the paper's notebooks write: `trajs/*.json`, a JSON dump of `infos`, printed traces, or the \
                        notebook with its output (`wikitrail docs formats`)";

#[derive(Debug)]
pub(crate) struct NotebookImport<'a> {
    pub(crate) files: &'a [PathBuf],
    pub(crate) out: &'a Path,
    /// The run whose questions were asked: its ids and golds are taken.
    pub(crate) like: Option<&'a Path>,
    pub(crate) command_line: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct NotebookImported {
    pub(crate) episodes: usize,
    pub(crate) not_measured: usize,
    /// Episodes of which the files say whether they are right.
    pub(crate) scored: usize,
    /// Episodes that the files have as right.
    pub(crate) right: usize,
    /// Episodes without a gold answer.
    pub(crate) without_gold: usize,
    /// Episodes whose EM is not what the file says: their ids.
    pub(crate) differing: Vec<String>,
    /// Records that are no recorded episodes: file, place and why.
    pub(crate) skipped: Vec<String>,
}

#[derive(Default)]
struct Found {
    episodes: Vec<RecordedEpisode>,
    asked: Option<ReferenceQuestions>,
    models: BTreeSet<String>,
    /// The digests of the records that episodes were read from, for one of the dataset.
    sha256: Vec<String>,
    ids: HashSet<String>,
    skipped: Vec<String>,
}

/// Writes the episodes of several files into a new folder. A question's id is the file's name without its ending, `/`, and
/// the question's position in the recorded run or its dataset; `r` and the number of the record where neither is known.
pub(crate) fn import_notebook(wanted: &NotebookImport<'_>) -> Result<NotebookImported, RunError> {
    refuse_target(&RunFolder::at(wanted.out), NEW_FOLDER)?;
    let (files, left_out) = files_of(wanted.files, &["json", "jsonl"])?;
    refuse_equal_names(&files)?;
    let asked = wanted.like.map(ReferenceQuestions::read).transpose()?;
    let mut found = Found { asked, skipped: left_out, ..Found::default() };
    for file in &files {
        found.read(file)?;
    }
    if found.episodes.is_empty() {
        let first = found.skipped.first().map_or_else(|| "they are empty".to_owned(), Clone::clone);
        return Err(RunError::input(format!("the files hold no recorded episode: {first}"), EPISODES));
    }
    let manifest = found.manifest(wanted);
    let dataset = &manifest.dataset.name;
    let questions = found.episodes.iter().map(|episode| found.question(episode, dataset));
    write_run(wanted.out, &manifest, questions, found.episodes.iter().map(|episode| &episode.trajectory))?;
    let differs = |episode: &&RecordedEpisode| {
        let trajectory = &episode.trajectory;
        let metric = Metric::for_answers(dataset, &trajectory.answers);
        let score = score_answers(metric, trajectory.answer.as_deref(), &trajectory.answers);
        score.zip(episode.em).is_some_and(|(score, em)| (score.em > 0.0) != (em > 0.0))
    };
    let count = |is: &dyn Fn(&RecordedEpisode) -> bool| found.episodes.iter().filter(|episode| is(episode)).count();
    Ok(NotebookImported {
        episodes: found.episodes.len(),
        not_measured: count(&|episode| !episode.trajectory.measured()),
        scored: count(&|episode| episode.em.is_some()),
        right: count(&|episode| episode.em.is_some_and(|em| em > 0.0)),
        without_gold: count(&|episode| episode.trajectory.answers.is_empty()),
        differing: found.episodes.iter().filter(differs).map(|episode| episode.trajectory.id.clone()).collect(),
        skipped: found.skipped,
    })
}

/// Questions are named after their files.
fn refuse_equal_names(files: &[PathBuf]) -> Result<(), RunError> {
    let mut names = HashSet::new();
    let same = files.iter().find(|file| !names.insert(file.file_stem()));
    same.map_or(Ok(()), |file| {
        let message = format!("two files are named like `{}`", displayed(file));
        Err(RunError::usage(message, "questions are named after their files: rename one of them"))
    })
}

/// The form of a file by its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A JSON object a line.
    Lines,
    /// One JSON value.
    Json,
    Printed,
}

impl Form {
    fn of(beginning: &[u8]) -> Self {
        let mut lines = beginning.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let Some(first) = lines.next() else { return Self::Lines };
        // Python prints a dictionary with quotes that JSON does not have.
        let mut is_incomplete = || {
            let line = serde_json::from_slice::<serde::de::IgnoredAny>(first);
            line.is_err_and(|error| error.is_eof()) && lines.next().is_some()
        };
        match first.first() {
            Some(b'[') => Self::Json,
            Some(b'{') if is_incomplete() => Self::Json,
            _ if String::from_utf8_lossy(beginning).lines().any(notebook_output::is_heading) => Self::Printed,
            _ => Self::Lines,
        }
    }
}

impl Found {
    fn read(&mut self, path: &Path) -> Result<(), RunError> {
        let shown = path.display().to_string();
        let cannot =
            |error: std::io::Error| RunError::input(format!("cannot read `{shown}`: {error}"), "check the path");
        let mut file = File::open(path).map_err(cannot)?;
        let mut beginning = Vec::new();
        file.by_ref().take(BEGINNING).read_to_end(&mut beginning).map_err(cannot)?;
        match beginning.first() {
            // A device such as /dev/zero has no end.
            Some(0) => return Err(RunError::input(format!("`{shown}` begins with a NUL byte"), "name a text file")),
            Some(&PICKLED) => {
                let hint = "write it as JSON: `json.dump(infos, open(\"infos.json\", \"w\"))`";
                return Err(RunError::input(format!("`{shown}` is pickled, and no text"), hint));
            }
            _ => {}
        }
        let form = Form::of(beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&beginning));
        let whole = BufReader::new(Cursor::new(beginning).chain(file));
        if form == Form::Lines {
            return self.read_lines(path, whole, &cannot);
        }
        let text = text_at_most(whole, MAX_FILE).map_err(cannot)?;
        let text = text.trim_start_matches('\u{feff}');
        match form {
            Form::Json => {
                if let Err(error) = self.read_json(path, text) {
                    self.leave_out(path, "", Err(json_error::in_file(&error)));
                }
            }
            _ => self.read_printed(path, text),
        }
        Ok(())
    }

    fn read_lines(
        &mut self,
        path: &Path,
        source: impl BufRead,
        cannot: &dyn Fn(std::io::Error) -> RunError,
    ) -> Result<(), RunError> {
        let mut source = source.take(MAX_FILE + 1);
        for (line, number) in lines(&mut source).zip(1..) {
            if self.skipped.len() > MAX_SKIPPED {
                let message = format!("`{}`: more than {MAX_SKIPPED} lines are no recorded episodes", path.display());
                return Err(RunError::input(message, EPISODES));
            }
            let added = match line {
                Ok(line) if line.trim_ascii().is_empty() => Ok(()),
                Ok(line) => self.add_line(path, &line, number),
                Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Err(error.to_string()),
                Err(error) => return Err(cannot(error)),
            };
            self.leave_out(path, &format!(":{number}"), added);
        }
        if source.limit() == 0 {
            return Err(cannot(std::io::Error::other(format!("it is larger than {} GiB", MAX_FILE >> 30))));
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &Path, place: &str, added: Result<(), String>) {
        if let Err(why) = added {
            self.skipped.push(format!("{}{place}: {}", path.display(), visible_line(&why, 300)));
        }
    }

    fn add_line(&mut self, path: &Path, line: &[u8], number: usize) -> Result<(), String> {
        let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8 text".to_owned())?;
        let not_recorded =
            |error: serde_json::Error| format!("not a recorded episode: {}", json_error::in_line(&error));
        let object: Map<String, Value> = serde_json::from_str(text).map_err(not_recorded)?;
        if ["observations", "actions", "traj"].iter().any(|field| object.contains_key(*field)) {
            return self.add_object(path, &object, number);
        }
        let Imported { trajectory, claims } = import(text).map_err(not_recorded)?;
        let Claims { claim, em, model, .. } = claims;
        let (question_idx, method) = (Some(trajectory.index), Some(Method::React));
        let episode = RecordedEpisode { trajectory, claim: claim.is_some(), question_idx, em: Some(em), method, model };
        self.add(path, episode, number, sha256_hex([line]))
    }

    fn add_object(&mut self, path: &Path, object: &Map<String, Value>, number: usize) -> Result<(), String> {
        let Some(episode) = RecordedEpisode::of_object(object)? else { return Ok(()) };
        let sha256 = episode.sha256();
        self.add(path, episode, number, sha256)
    }

    fn read_json(&mut self, path: &Path, text: &str) -> serde_json::Result<()> {
        if text.trim_start().starts_with('{') {
            let object: Map<String, Value> = serde_json::from_str(text)?;
            if let Some(printed) = notebook_output::of_cells(&object) {
                self.read_printed(path, &printed);
            } else {
                let added = self.add_object(path, &object, 1);
                self.leave_out(path, "", added);
            }
            return Ok(());
        }
        let (records, episodes): (Vec<&RawValue>, usize) = (serde_json::from_str(text)?, self.episodes.len());
        for (record, number) in records.iter().zip(1..) {
            let object = serde_json::from_str(record.get()).map_err(|error| json_error::in_line(&error));
            let added = object.and_then(|object| self.add_object(path, &object, number));
            self.leave_out(path, &format!(": record {number}"), added);
        }
        if self.episodes.len() == episodes && self.skipped.is_empty() {
            self.leave_out(path, "", Err("the list has no episode".to_owned()));
        }
        Ok(())
    }

    fn read_printed(&mut self, path: &Path, text: &str) {
        let episodes = notebook_output::printed(text);
        if episodes.is_empty() {
            let why = "no line begins with `Question:` or `Claim:`, as the notebooks print it";
            self.leave_out(path, "", Err(why.to_owned()));
        }
        for ((line, episode), number) in episodes.into_iter().zip(1..) {
            let added = episode.and_then(|episode| {
                let sha256 = episode.sha256();
                self.add(path, episode, number, sha256)
            });
            self.leave_out(path, &format!(":{line}"), added);
        }
    }

    /// Takes an episode with the digest of its record, or says why not.
    fn add(&mut self, path: &Path, mut episode: RecordedEpisode, number: usize, sha256: String) -> Result<(), String> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let (id, place) = match episode.question_idx {
            Some(index) => (format!("{stem}/{index}"), format!("the position {index}")),
            None => (format!("{stem}/r{number}"), "the same question".to_owned()),
        };
        let trajectory = &mut episode.trajectory;
        (trajectory.id, trajectory.index) = (id, self.episodes.len());
        if let Some(asked) = &self.asked {
            let (question, _) = asked.find(&trajectory.id, &trajectory.question)?;
            (trajectory.id, trajectory.index) = (question.id.clone(), question.index);
            trajectory.question.clone_from(&question.question);
            if !question.answers.is_empty() {
                trajectory.answers.clone_from(&question.answers);
            }
        }
        if !self.ids.insert(trajectory.id.clone()) {
            return Err(format!("another episode has {place}"));
        }
        trajectory.key = sha256_hex([VARIANT.as_bytes(), b"\n", trajectory.id.as_bytes(), b"\n", sha256.as_bytes()]);
        trajectory.steps.iter_mut().for_each(notebook_output::name_tool);
        self.models.insert(episode.model.clone().unwrap_or_else(|| UNKNOWN.to_owned()));
        self.sha256.push(sha256);
        self.episodes.push(episode);
        Ok(())
    }

    /// The name that decides the metric.
    fn dataset_name(&self) -> &'static str {
        let claims = self.episodes.iter().filter(|episode| episode.claim).count();
        match claims {
            0 => "hotpotqa",
            _ if claims == self.episodes.len() => "fever",
            _ => VARIANT,
        }
    }

    fn question(&self, episode: &RecordedEpisode, dataset: &str) -> Question {
        let trajectory = &episode.trajectory;
        let asked = self.asked.as_ref().and_then(|asked| asked.find(&trajectory.id, &trajectory.question).ok());
        if let Some((question, _)) = asked {
            return Question { dataset: dataset.to_owned(), ..stored_question(question) };
        }
        let kind = if episode.claim { AnswerKind::Label } else { AnswerKind::Span };
        Question {
            dataset: dataset.to_owned(),
            index: trajectory.index,
            answer_kind: kind,
            ..Question::new(trajectory.id.clone(), trajectory.question.clone(), trajectory.answers.clone())
        }
    }

    fn manifest(&self, wanted: &NotebookImport<'_>) -> Manifest {
        let count = self.episodes.len();
        let dataset = if let Some(asked) = &self.asked {
            DatasetRecord { selected: count, ..asked.dataset.clone() }
        } else {
            let paths: Vec<String> = wanted.files.iter().map(|file| file.display().to_string()).collect();
            let sha256 = sha256_hex([self.sha256.join("\n").as_bytes()]);
            imported_dataset(self.dataset_name().to_owned(), paths.join(", "), VARIANT, sha256, count)
        };
        new_manifest(vec![self.variant()], dataset, 1, wanted.command_line.clone())
    }

    /// What is known of how the episodes came about; of the prompt only digests with the question behind it.
    fn variant(&self) -> Variant {
        let models: Vec<String> = self.models.iter().map(|model| printable(model, 200)).collect();
        let claims = self.episodes.iter().any(|episode| episode.claim);
        Variant {
            protocol: "react-paper".to_owned(),
            method: self.method().map_or(UNKNOWN, Method::name).to_owned(),
            max_steps: Some(MAX_STEPS),
            compat: Some(Compat::Paper),
            question_label: if claims { "Claim" } else { "Question" }.to_owned(),
            ..imported_variant(VARIANT, models.join("; "))
        }
    }

    /// The method of all episodes, if they have one.
    fn method(&self) -> Option<Method> {
        let first = self.episodes.first()?.method;
        first.filter(|_| self.episodes.iter().all(|episode| episode.method == first))
    }
}
