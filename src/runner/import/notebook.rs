//! Episodes that the paper's notebooks recorded: their lines, the lists of their `LoggingWrapper`, dumps of their `infos` and
//! the traces on their screen as trajectories, and a run folder of them.

use super::reference::ReferenceQuestions;
use super::{Import, NEW_FOLDER, displayed, files_of, imported_dataset, imported_variant, write_run};
use crate::base::bounded::{lines, text_at_most};
use crate::base::manifest::UNKNOWN;
use crate::base::python::{lower_first, printed_to_json};
use crate::base::text::{counted, excerpt, printable, thousands, visible_line};
use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{
    AnswerKind, Call, Compat, DatasetRecord, Manifest, Method, Outcome, Question, Repair, Step, Tool, Trajectory,
    Variant, json_error, sha256_hex,
};
use crate::prompting::protocol::react_paper::MAX_STEPS;
use crate::runner::error::RunError;
use crate::runner::folder::refuse_target;
use crate::runner::job::new_manifest;
use crate::runner::store::RunFolder;
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
    pub info: LineInfo,
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
pub struct LineInfo {
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
    let repaired = recorded.iter().filter(|step| step.bad_call);
    let repairs = repaired.map(|step| missing_action(step.n)).collect();
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

fn missing_action(step: usize) -> Repair {
    Repair { step, kind: Repair::MISSING_ACTION.to_owned() }
}

/// Assigns one call to each step, two if the action was missing; the last step gets the rest, so that nothing is lost.
fn steps(recorded: Vec<LineStep>, calls: Vec<LineCall>, closed: bool) -> Vec<Step> {
    let mut calls = calls.into_iter().map(call);
    let mut steps: Vec<Step> = Vec::with_capacity(recorded.len() + 1);
    for LineStep { n, thought, action_text, observation, bad_call } in recorded {
        let count = if bad_call { 2 } else { 1 };
        let calls = calls.by_ref().take(count).collect();
        steps.push(Step { calls, ..step(n, Some(thought), Some(action_text), Some(observation)) });
    }
    if let Some(last) = steps.last_mut() {
        last.calls.extend(calls);
    }
    if closed {
        steps.push(closing(steps.len() + 1));
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

const MAX_SKIPPED: usize = 10_000;

/// Bytes that are read to see what form a file has.
const BEGINNING: u64 = 64 << 10;

/// The first byte of a file that Python has pickled.
const PICKLED: u8 = 0x80;

const EPISODES: &str = "name what the paper's notebooks write: `trajs/*.json`, a JSON dump of `infos`, printed traces, or the \
                        notebook with its output (`wikitrail docs formats`)";

/// Ids of episodes that are named one by one.
const NAMED: usize = 20;

#[derive(Default)]
struct NotebookImporter {
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
pub(crate) fn import_notebook(paths: &[PathBuf], wanted: &Import<'_>) -> Result<super::Imported, RunError> {
    refuse_target(&RunFolder::at(wanted.out), NEW_FOLDER)?;
    let (files, left_out) = files_of(paths, &["json", "jsonl"])?;
    refuse_equal_names(&files)?;
    let asked = wanted.like.map(ReferenceQuestions::read).transpose()?;
    let mut found = NotebookImporter { asked, skipped: left_out, ..NotebookImporter::default() };
    for file in &files {
        found.read(file)?;
    }
    if found.episodes.is_empty() {
        let first = found.skipped.first().map_or_else(|| "they are empty".to_owned(), Clone::clone);
        return Err(RunError::input(format!("the files hold no recorded episode: {first}"), EPISODES));
    }
    let manifest = found.manifest(paths, wanted.command_line.clone());
    let questions = found.episodes.iter().map(|episode| found.question(episode));
    write_run(wanted.out, &manifest, questions, found.episodes.iter().map(|episode| &episode.trajectory))?;
    let (line, notes) = (found.line(), found.notes(&manifest.dataset.name));
    Ok(super::Imported { lines: vec![line], notes, skipped: found.skipped })
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
            _ if String::from_utf8_lossy(beginning).lines().any(|line| heading(line).is_some()) => Self::Printed,
            _ => Self::Lines,
        }
    }
}

impl NotebookImporter {
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
            if let Some(printed) = of_cells(&object) {
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
        let episodes = printed(text);
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
        trajectory.steps.iter_mut().for_each(name_tool);
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

    fn question(&self, episode: &RecordedEpisode) -> Question {
        let trajectory = &episode.trajectory;
        let asked = self.asked.as_ref().and_then(|asked| asked.find(&trajectory.id, &trajectory.question).ok());
        if let Some((question, _)) = asked {
            return question.clone();
        }
        let kind = if episode.claim { AnswerKind::Label } else { AnswerKind::Span };
        Question {
            index: trajectory.index,
            answer_kind: kind,
            ..Question::new(trajectory.id.clone(), trajectory.question.clone(), trajectory.answers.clone())
        }
    }

    /// How many episodes there are, how many the files have as right, and how many broke off.
    fn line(&self) -> String {
        let count = |is: &dyn Fn(&RecordedEpisode) -> bool| self.episodes.iter().filter(|episode| is(episode)).count();
        let mut line = counted(self.episodes.len(), "episode");
        let scored = count(&|episode| episode.em.is_some());
        if scored > 0 {
            let of =
                if scored == self.episodes.len() { "of them".to_owned() } else { format!("of {}", thousands(scored)) };
            let right = count(&|episode| episode.em.is_some_and(|em| em > 0.0));
            line = format!("{line}, {} {of} right by the file", thousands(right));
        }
        match count(&|episode| !episode.trajectory.measured()) {
            0 => line,
            not_measured => format!("{line}, {} not measured", thousands(not_measured)),
        }
    }

    /// Says which episodes score otherwise than the files say, and how many have no gold answer.
    fn notes(&self, dataset: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let differs = |episode: &&RecordedEpisode| {
            let trajectory = &episode.trajectory;
            let metric = Metric::for_answers(dataset, &trajectory.answers);
            let score = score_answers(metric, trajectory.answer.as_deref(), &trajectory.answers);
            score.zip(episode.em).is_some_and(|(score, em)| (score.em > 0.0) != (em > 0.0))
        };
        let differing: Vec<&RecordedEpisode> = self.episodes.iter().filter(differs).collect();
        if !differing.is_empty() {
            let named = differing.iter().take(NAMED).map(|episode| visible_line(&episode.trajectory.id, 80));
            let (ids, count) = (named.collect::<Vec<_>>().join(", "), counted(differing.len(), "episode"));
            let more = if differing.len() > NAMED { ", …" } else { "" };
            let score = if differing.len() == 1 { "scores" } else { "score" };
            notes.push(format!("warning: {count} {score} otherwise than the file says: {ids}{more}"));
        }
        let without_gold = self.episodes.iter().filter(|episode| episode.trajectory.answers.is_empty()).count();
        if without_gold > 0 {
            let (count, has) = (counted(without_gold, "episode"), if without_gold == 1 { "has" } else { "have" });
            notes.push(format!(
                "note: {count} {has} no gold answer in the files; --like RUN takes those of a run over the same questions"
            ));
        }
        notes
    }

    fn manifest(&self, files: &[PathBuf], command_line: Vec<String>) -> Manifest {
        let count = self.episodes.len();
        let dataset = if let Some(asked) = &self.asked {
            DatasetRecord { selected: count, ..asked.dataset.clone() }
        } else {
            let paths: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let sha256 = sha256_hex([self.sha256.join("\n").as_bytes()]);
            imported_dataset(self.dataset_name().to_owned(), paths.join(", "), VARIANT, sha256, count)
        };
        new_manifest(vec![self.variant()], dataset, 1, command_line)
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

const VARIANT: &str = "react-notebook";

const CLOSING: &str = "finish[]";

const BROKEN_OFF: &str = "the recording ends before the episode does";

/// An episode with what the notebook itself says of it. Its id is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedEpisode {
    trajectory: Trajectory,
    /// Whether it is a claim to be judged, and no question.
    claim: bool,
    /// Position of the question in its dataset.
    question_idx: Option<usize>,
    em: Option<f64>,
    /// The method, by what its steps hold; `LoggingWrapper` keeps no thoughts, so that its files do not tell.
    method: Option<Method>,
    model: Option<String>,
}

impl RecordedEpisode {
    /// Its texts, which do not depend on how the file was laid out.
    fn sha256(&self) -> String {
        let Trajectory { question, steps, .. } = &self.trajectory;
        let texts = steps.iter().flat_map(|step| [&step.thought, &step.action_text, &step.observation]);
        let texts: Vec<&str> =
            std::iter::once(question.as_str()).chain(texts.map(|text| text.as_deref().unwrap_or_default())).collect();
        sha256_hex([texts.join("\n").as_bytes()])
    }

    /// The episode of an object that `LoggingWrapper.write` or a dump of `infos` wrote; nothing for a record that the wrapper
    /// adds when there is no episode.
    fn of_object(object: &Map<String, Value>) -> Result<Option<Self>, String> {
        if object.contains_key("observations") || object.contains_key("actions") {
            return logged(object);
        }
        match text(object, "traj")? {
            Some(traj) => dumped(object, traj).map(Some),
            None => Err("it has neither `observations` and `actions` nor `traj`".to_owned()),
        }
    }
}

/// What the environment says at the end of an episode.
#[derive(Debug, Default)]
struct Info {
    answer: Option<String>,
    gold: Option<String>,
    question_idx: Option<usize>,
    /// Steps of the environment, the closing one included.
    steps: Option<usize>,
    em: Option<f64>,
}

impl Info {
    fn of(object: &Map<String, Value>) -> Result<Self, String> {
        Ok(Self {
            answer: text(object, "answer")?.map(str::to_owned),
            gold: text(object, "gt_answer")?.map(str::to_owned),
            question_idx: count(object, "question_idx")?,
            steps: count(object, "steps")?,
            em: match object.get("em") {
                None | Some(Value::Null) => None,
                Some(Value::Bool(right)) => Some(f64::from(u8::from(*right))),
                Some(Value::Number(em)) => em.as_f64(),
                Some(other) => return Err(not_a("em", other, "a number or true or false")),
            },
        })
    }
}

fn text<'a>(object: &'a Map<String, Value>, field: &str) -> Result<Option<&'a str>, String> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(not_a(field, other, "a text")),
    }
}

fn count(object: &Map<String, Value>, field: &str) -> Result<Option<usize>, String> {
    match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
            count.map(Some).ok_or_else(|| not_a(field, value, "a whole number from 0"))
        }
    }
}

fn texts<'a>(object: &'a Map<String, Value>, field: &str) -> Result<Vec<&'a str>, String> {
    let list = match object.get(field) {
        None => return Err(format!("field `{field}` is missing")),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(not_a(field, other, "a list of texts")),
    };
    let text = |(at, value): (usize, &'a Value)| {
        value.as_str().ok_or_else(|| not_a(&format!("{field}[{at}]"), value, "a text"))
    };
    list.iter().enumerate().map(text).collect()
}

fn not_a(field: &str, value: &Value, expected: &str) -> String {
    let kind = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => format!("the text {}", excerpt(&value.to_string())),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("field `{field}` is {kind} where {expected} is expected")
}

/// The text of a question or claim behind its label, and whether it is a claim.
fn labelled(text: &str) -> Option<(bool, &str)> {
    let found = [("Question:", false), ("Claim:", true)].into_iter().find_map(|(label, claim)| {
        let rest = text.strip_prefix(label)?.trim();
        Some((claim, rest))
    });
    found.filter(|(_, question)| !question.is_empty())
}

fn logged(object: &Map<String, Value>) -> Result<Option<RecordedEpisode>, String> {
    let (observations, actions) = (texts(object, "observations")?, texts(object, "actions")?);
    let Some((question, observations)) = observations.split_first() else {
        return if actions.is_empty() { Ok(None) } else { Err("field `observations` is empty".to_owned()) };
    };
    if observations.len() != actions.len() {
        let (texts, expected) = (observations.len() + 1, actions.len() + 1);
        let has = format!("field `observations` has {texts} texts where {expected} are expected");
        return Err(format!("{has}: the question, and one for each action"));
    }
    let Some((claim, question)) = labelled(question) else {
        let begins = excerpt(question);
        return Err(format!("field `observations[0]` does not begin with `Question: ` or `Claim: `: `{begins}`"));
    };
    let text = |text: &&str| Some((*text).to_owned());
    let pairs = actions.iter().zip(observations).zip(1..);
    let steps: Vec<Step> =
        pairs.map(|((action, observation), n)| step(n, None, text(action), text(observation))).collect();
    // The list holds the closing action like any other.
    let closed = steps.len() > MAX_STEPS && actions.last() == Some(&CLOSING);
    Ok(Some(episode(claim, question, steps, closed, Info::of(object)?)))
}

fn dumped(object: &Map<String, Value>, traj: &str) -> Result<RecordedEpisode, String> {
    // The exemplars of the prompt come first.
    let mut traces = read_traces(traj);
    match traces.pop() {
        Some(trace) if !trace.steps.is_empty() => trace.episode(Info::of(object)?),
        _ => Err("field `traj` has no `Question: …` with `Thought 1: …` or `Action 1: …` below it".to_owned()),
    }
}

fn step(n: usize, thought: Option<String>, action: Option<String>, observation: Option<String>) -> Step {
    Step { n, thought, action_text: action, observation, ..Step::default() }
}

/// The step by which the notebooks end an episode whose steps have run out.
fn closing(n: usize) -> Step {
    step(n, None, Some(CLOSING.to_owned()), Some(String::new()))
}

fn episode(claim: bool, question: &str, mut steps: Vec<Step>, closed: bool, info: Info) -> RecordedEpisode {
    steps.iter_mut().for_each(name_tool);
    let finished = steps.last().filter(|step| step.tool == Some(Tool::Finish) && !closed);
    let answer = finished.and_then(|step| info.answer.clone().or_else(|| step.input.clone()));
    let (outcome, detail) = match () {
        () if closed => (Outcome::StepLimit, None),
        () if answer.is_some() => (Outcome::Finished, None),
        () if steps.len() >= MAX_STEPS => (Outcome::StepLimit, None),
        () => (Outcome::NotMeasured, Some(BROKEN_OFF.to_owned())),
    };
    let trajectory = Trajectory {
        v: TRAJECTORY_VERSION,
        variant: VARIANT.to_owned(),
        question: question.to_owned(),
        answers: info.gold.into_iter().collect(),
        steps,
        steps_recorded: true,
        answer,
        outcome,
        detail,
        compat: Some(Compat::Paper),
        ..Trajectory::default()
    };
    RecordedEpisode { trajectory, claim, question_idx: info.question_idx, em: info.em, method: None, model: None }
}

/// Names the tool and the input of a step by its action.
fn name_tool(step: &mut Step) {
    let Some(action) = step.action_text.as_deref() else { return };
    // The notebooks turn the first letter of an action into a small one.
    let lowered = lower_first(action);
    let (tool, input) = Tool::parse_action(&lowered);
    (step.tool, step.input) = (Some(tool), Some(input.to_owned()));
}

/// One question of a text of `Thought n:`, `Action n:` and `Observation n:`.
#[derive(Debug, Default)]
struct Trace {
    /// Its line in the text, from 1.
    line: usize,
    claim: bool,
    question: String,
    question_idx: Option<usize>,
    steps: Vec<Step>,
    /// Steps that took a second call for their action.
    bad_calls: Vec<usize>,
    info: Option<Result<Map<String, Value>, String>>,
}

impl Trace {
    fn episode(mut self, info: Info) -> Result<RecordedEpisode, String> {
        if self.steps.is_empty() {
            return Err("no `Thought 1: …` or `Action 1: …` follows the question".to_owned());
        }
        self.steps.iter_mut().for_each(name_tool);
        let finishes = self.steps.last().is_some_and(|step| step.tool == Some(Tool::Finish));
        let closed = !finishes && info.steps.is_some_and(|steps| steps > self.steps.len());
        if closed {
            self.steps.push(closing(self.steps.len() + 1));
        }
        let mut recorded = episode(self.claim, self.question.trim(), self.steps, closed, info);
        recorded.question_idx = recorded.question_idx.or(self.question_idx);
        let thinks = recorded.trajectory.steps.iter().any(|step| step.thought.is_some());
        recorded.method = Some(if thinks { Method::React } else { Method::Act });
        recorded.trajectory.repairs = self.bad_calls.into_iter().map(missing_action).collect();
        Ok(recorded)
    }

    /// Takes a line below the question; returns what the next one goes on with.
    fn take(&mut self, line: &str, part: Part) -> Part {
        let next = self.steps.len() + 1;
        let label = |word: &str, n: usize| {
            let rest = line.strip_prefix(&format!("{word} {n}:"))?;
            Some(rest.strip_prefix(' ').unwrap_or(rest).to_owned())
        };
        let last = self.steps.last_mut();
        // A step ends with its observation: what looks like another step before it is the model's.
        if last.as_ref().is_none_or(|last| last.observation.is_some()) {
            if let Some(thought) = label("Thought", next) {
                self.steps.push(step(next, Some(thought), None, None));
                return Part::Thought;
            }
            if let Some(action) = label("Action", next) {
                self.steps.push(step(next, None, Some(action), None));
                return Part::Action;
            }
        } else if let Some(last) = last {
            if let Some(observation) = label("Observation", next - 1).filter(|_| last.action_text.is_some()) {
                last.observation = Some(observation);
                return Part::Observation;
            }
            if let Some(action) = label("Action", next - 1).filter(|_| last.action_text.is_none()) {
                last.action_text = Some(action);
                return Part::Action;
            }
        }
        self.take_unlabelled(line, part)
    }

    fn take_unlabelled(&mut self, line: &str, part: Part) -> Part {
        if line.starts_with("{'") {
            let json = printed_to_json(line.trim_end()).ok_or("the dictionary below it is incomplete");
            let object =
                json.and_then(|json| serde_json::from_str(&json).map_err(|_| "the dictionary below it cannot be read"));
            self.info = Some(object.map_err(str::to_owned));
            return Part::Other;
        }
        // What the notebook prints of a reply without an action, and between two questions.
        if line.starts_with("ohh...") {
            self.bad_calls.push(self.steps.len() + 1);
            return Part::Other;
        }
        let numbers = || line.split(' ').filter(|word| word.parse::<f64>().is_ok()).count();
        if line.starts_with("-----------") || numbers() == 4 && line.split(' ').count() == 4 {
            return Part::Other;
        }
        let last = self.steps.last_mut();
        let text = match (part, last) {
            (Part::Question, _) if !line.trim().is_empty() => Some(&mut self.question),
            (Part::Thought, Some(step)) => step.thought.as_mut(),
            (Part::Action, Some(step)) => step.action_text.as_mut(),
            (Part::Observation, Some(step)) => step.observation.as_mut(),
            _ => None,
        };
        if let Some(text) = text {
            text.push('\n');
            text.push_str(line);
        }
        part
    }
}

/// The episodes of a printed text, each with its line, from 1, or why it is none.
pub fn printed(text: &str) -> Vec<(usize, Result<RecordedEpisode, String>)> {
    let episode = |mut trace: Trace| {
        let info = trace.info.take().transpose().and_then(|info| Info::of(&info.unwrap_or_default()));
        (trace.line, info.and_then(|info| trace.episode(info)))
    };
    read_traces(text).into_iter().map(episode).collect()
}

/// The heading of a question in a line, as the notebooks print it: `3687 Question: …`.
fn heading(line: &str) -> Option<Heading<'_>> {
    let (first, rest) = line.split_once(' ')?;
    let number = first.parse().ok();
    let (claim, question) = labelled(if number.is_some() || first == "None" { rest } else { line })?;
    Some(Heading { number, claim, question })
}

struct Heading<'a> {
    number: Option<usize>,
    claim: bool,
    question: &'a str,
}

#[derive(Clone, Copy)]
enum Part {
    Question,
    Thought,
    Action,
    Observation,
    /// Text around the episode.
    Other,
}

fn read_traces(text: &str) -> Vec<Trace> {
    let (mut traces, mut part): (Vec<Trace>, Part) = (Vec::new(), Part::Other);
    for (line, number) in text.lines().zip(1..) {
        // Where questions are numbered, one without a number is the model's.
        let numbered = traces.last().is_some_and(|trace| trace.question_idx.is_some());
        if let Some(heading) = heading(line).filter(|heading| heading.number.is_some() || !numbered) {
            let Heading { number: question_idx, claim, question } = heading;
            let question = question.to_owned();
            traces.push(Trace { line: number, claim, question, question_idx, ..Trace::default() });
            part = Part::Question;
        } else if let Some(trace) = traces.last_mut() {
            part = trace.take(line, part);
        }
    }
    for step in traces.iter_mut().flat_map(|trace| &mut trace.steps) {
        for text in [&mut step.thought, &mut step.action_text, &mut step.observation].into_iter().flatten() {
            text.truncate(text.trim_end_matches('\n').len());
        }
    }
    traces
}

/// What the cells of a notebook have printed.
fn of_cells(notebook: &Map<String, Value>) -> Option<String> {
    let outputs = notebook.get("cells")?.as_array()?.iter().filter_map(|cell| cell["outputs"].as_array()).flatten();
    let printed = outputs.filter(|output| output["name"] == "stdout").map(|output| match &output["text"] {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        text => text.as_str().unwrap_or_default().to_owned(),
    });
    Some(printed.collect())
}
