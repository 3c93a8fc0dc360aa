//! Episodes that the paper's notebooks recorded: their lines as trajectories, and a run folder of them.

use super::{NEW_FOLDER, imported_dataset, imported_variant, write_run};
use crate::base::bounded::lines;
use crate::base::text::{printable, visible_line};
use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{
    AnswerKind, Call, Compat, Manifest, Method, Outcome, Question, Repair, Step, Tool, Trajectory, Usage, Variant,
    json_error, sha256_hex,
};
use crate::prompting::protocol::react_paper::MAX_STEPS;
use crate::runner::error::RunError;
use crate::runner::folder::refuse_target;
use crate::runner::job::new_manifest;
use crate::runner::store::RunFolder;
use crate::scoring::{Metric, score_answers};
use serde::Deserialize;
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

pub const VARIANT: &str = "react-notebook";

#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The episode; its id is the position in the recorded run.
    pub trajectory: Trajectory,
    pub claims: Claims,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    pub n_calls: usize,
    /// Second calls because of a missing action.
    pub n_badcalls: usize,
    /// Steps of the environment, the closing finish included.
    pub steps: usize,
    pub answer: String,
    /// Exact match: 0 or 1.
    pub em: f64,
    /// F1, 0 to 1, if recorded.
    pub f1: Option<f64>,
    pub model: Option<String>,
    pub claim: bool,
    /// SHA-256 of the prompt after the last step, if recorded.
    pub final_prompt_sha256: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Line {
    model: Option<String>,
    order: usize,
    question: Option<String>,
    claim: Option<String>,
    gold: String,
    steps: Vec<LineStep>,
    calls: Vec<LineCall>,
    final_answer: String,
    em: f64,
    f1: Option<f64>,
    info: Info,
    n_calls: usize,
    n_badcalls: usize,
    final_prompt_sha256: Option<String>,
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
struct Info {
    steps: usize,
}

pub fn import(line: &str) -> Result<Imported, serde_json::Error> {
    let line: Line = serde_json::from_str(line)?;
    let claim = line.claim.is_some();
    let Some(question) = line.claim.clone().or_else(|| line.question.clone()) else {
        return Err(serde::de::Error::missing_field("question"));
    };
    let claims = Claims {
        model: line.model.clone(),
        claim,
        n_calls: line.n_calls,
        n_badcalls: line.n_badcalls,
        steps: line.info.steps,
        answer: line.final_answer.clone(),
        em: line.em,
        f1: line.f1,
        final_prompt_sha256: line.final_prompt_sha256.clone(),
    };
    Ok(Imported { trajectory: trajectory(question, line), claims })
}

fn trajectory(question: String, line: Line) -> Trajectory {
    // The notebook counts one step more than it lists if it closed the episode itself.
    let closed = line.info.steps > line.steps.len();
    let repairs = line
        .steps
        .iter()
        .filter(|step| step.bad_call)
        .map(|step| Repair { step: step.n, kind: Repair::MISSING_ACTION.to_owned() })
        .collect();
    Trajectory {
        v: TRAJECTORY_VERSION,
        id: line.order.to_string(),
        index: line.order,
        variant: VARIANT.to_owned(),
        repeat: 0,
        question,
        answers: vec![line.gold],
        steps: steps(line.steps, line.calls, closed),
        steps_recorded: true,
        answer: (!closed).then_some(line.final_answer),
        outcome: if closed { Outcome::StepLimit } else { Outcome::Finished },
        detail: None,
        failure: None,
        usage: Usage::default(),
        cost_usd: None,
        started_at: String::new(),
        wall_ms: 0,
        compat: Some(Compat::Paper),
        repairs,
        votes: Vec::new(),
        branch: None,
        key: String::new(),
    }
}

/// Assigns one call to each step, two if the action was missing; the last step gets the rest, so that nothing is lost.
fn steps(recorded: Vec<LineStep>, calls: Vec<LineCall>, closed: bool) -> Vec<Step> {
    let mut calls = calls.into_iter().map(call);
    let mut steps: Vec<Step> = Vec::with_capacity(recorded.len() + 1);
    for step in recorded {
        let count = if step.bad_call { 2 } else { 1 };
        let calls = calls.by_ref().take(count).collect();
        steps.push(blank(step.n, Some(step.thought), step.action_text, step.observation, calls));
    }
    if let Some(last) = steps.last_mut() {
        last.calls.extend(calls);
    }
    if closed {
        steps.push(blank(steps.len() + 1, None, "finish[]".to_owned(), String::new(), Vec::new()));
    }
    steps
}

fn blank(n: usize, thought: Option<String>, action: String, observation: String, calls: Vec<Call>) -> Step {
    Step { n, thought, action_text: Some(action), observation: Some(observation), calls, ..Step::default() }
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

const EPISODES: &str =
    "name files with one recorded episode per line, in the form of the paper's notebooks (`wikitrail docs formats`)";

#[derive(Debug)]
pub(crate) struct NotebookImported {
    pub(crate) folder: PathBuf,
    pub(crate) episodes: usize,
    /// Episodes that the files have as right.
    pub(crate) right: usize,
    /// Episodes whose EM is not what the file says: their ids.
    pub(crate) differing: Vec<String>,
    /// Lines that are no recorded episodes: file, line and why.
    pub(crate) skipped: Vec<String>,
}

#[derive(Default)]
struct Found {
    episodes: Vec<Imported>,
    models: BTreeSet<String>,
    /// The lines that episodes were read from, for a digest of the dataset.
    sha256: Vec<String>,
    ids: HashSet<String>,
    skipped: Vec<String>,
}

/// Writes the episodes of several files into a new folder. A question's id is the file's name without its ending, `/`, and
/// the episode's position in the recorded run.
pub(crate) fn import_notebook(
    files: &[PathBuf],
    out: &Path,
    command_line: Vec<String>,
) -> Result<NotebookImported, RunError> {
    refuse_target(&RunFolder::at(out), NEW_FOLDER)?;
    let mut found = Found::default();
    for file in files {
        found.read(file)?;
    }
    if found.episodes.is_empty() {
        let first = found.skipped.first().map_or_else(|| "they are empty".to_owned(), Clone::clone);
        return Err(RunError::input(format!("the files hold no recorded episode: {first}"), EPISODES));
    }
    let dataset = found.dataset_name();
    let manifest = found.manifest(files, dataset, command_line);
    let questions = found.episodes.iter().map(|episode| question(episode, dataset));
    write_run(out, &manifest, questions, found.episodes.iter().map(|episode| &episode.trajectory))?;
    let is_right = |episode: &&Imported| episode.claims.em > 0.0;
    let differs = |episode: &&Imported| {
        let trajectory = &episode.trajectory;
        let metric = Metric::for_answers(dataset, &trajectory.answers);
        (score_answers(metric, trajectory.answer.as_deref(), &trajectory.answers))
            .is_some_and(|score| (score.em > 0.0) != is_right(episode))
    };
    Ok(NotebookImported {
        folder: out.to_owned(),
        right: found.episodes.iter().filter(is_right).count(),
        differing: found.episodes.iter().filter(differs).map(|episode| episode.trajectory.id.clone()).collect(),
        episodes: found.episodes.len(),
        skipped: found.skipped,
    })
}

impl Found {
    fn read(&mut self, path: &Path) -> Result<(), RunError> {
        let shown = path.display().to_string();
        let cannot =
            |error: std::io::Error| RunError::input(format!("cannot read `{shown}`: {error}"), "check the path");
        let mut file = BufReader::new(File::open(path).map_err(cannot)?);
        // A device such as /dev/zero has no end.
        if file.fill_buf().map_err(cannot)?.first() == Some(&0) {
            return Err(RunError::input(format!("`{shown}` begins with a NUL byte"), "name a text file"));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut source = file.take(MAX_FILE + 1);
        for (number, line) in lines(&mut source).enumerate() {
            if self.skipped.len() > MAX_SKIPPED {
                let message = format!("`{shown}`: more than {MAX_SKIPPED} lines are no recorded episodes");
                return Err(RunError::input(message, EPISODES));
            }
            let line = match line {
                Ok(line) => line,
                Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                    self.skipped.push(format!("{shown}:{}: {error}", number + 1));
                    continue;
                }
                Err(error) => return Err(cannot(error)),
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Err(why) = self.add(&stem, &line) {
                self.skipped.push(format!("{shown}:{}: {}", number + 1, visible_line(&why, 300)));
            }
        }
        if source.limit() == 0 {
            return Err(cannot(std::io::Error::other(format!("it is larger than {} GiB", MAX_FILE >> 30))));
        }
        Ok(())
    }

    /// Takes a line as an episode, or says why it is none.
    fn add(&mut self, stem: &str, line: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(line).map_err(|_| "it is not UTF-8 text".to_owned())?;
        let mut episode =
            import(text).map_err(|error| format!("not a recorded episode: {}", json_error::in_line(&error)))?;
        let trajectory = &mut episode.trajectory;
        let id = format!("{stem}/{}", trajectory.index);
        if !self.ids.insert(id.clone()) {
            return Err(format!("another episode has `order` {}", trajectory.index));
        }
        let sha256 = sha256_hex([line]);
        trajectory.key = sha256_hex([VARIANT.as_bytes(), b"\n", id.as_bytes(), b"\n", sha256.as_bytes()]);
        trajectory.id = id;
        trajectory.index = self.episodes.len();
        for step in &mut trajectory.steps {
            // The environment turns the first letter of an action into a small one.
            let action = step.action_text.as_deref().unwrap_or_default();
            let mut chars = action.chars();
            let lowered: String =
                chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default();
            let (tool, input) = Tool::parse_action(&lowered);
            (step.tool, step.input) = (Some(tool), Some(input.to_owned()));
        }
        self.models.insert(episode.claims.model.clone().unwrap_or_else(|| "unknown".to_owned()));
        self.sha256.push(sha256);
        self.episodes.push(episode);
        Ok(())
    }

    /// The name that decides the metric.
    fn dataset_name(&self) -> &'static str {
        let claims = self.episodes.iter().filter(|episode| episode.claims.claim).count();
        match claims {
            0 => "hotpotqa",
            _ if claims == self.episodes.len() => "fever",
            _ => VARIANT,
        }
    }

    fn manifest(&self, files: &[PathBuf], dataset: &str, command_line: Vec<String>) -> Manifest {
        let paths: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        let sha256 = sha256_hex([self.sha256.join("\n").as_bytes()]);
        let (name, count) = (dataset.to_owned(), self.episodes.len());
        let dataset = imported_dataset(name, paths.join(", "), VARIANT, sha256, count);
        new_manifest(vec![self.variant()], dataset, 1, command_line)
    }

    /// What is known of how the episodes came about; of the prompt only digests with the question behind it.
    fn variant(&self) -> Variant {
        let models: Vec<String> = self.models.iter().map(|model| printable(model, 200)).collect();
        let claims = self.episodes.iter().any(|episode| episode.claims.claim);
        Variant {
            protocol: "react-paper".to_owned(),
            method: Method::React.name().to_owned(),
            max_steps: Some(MAX_STEPS),
            compat: Some(Compat::Paper),
            question_label: if claims { "Claim" } else { "Question" }.to_owned(),
            ..imported_variant(VARIANT, models.join("; "))
        }
    }
}

fn question(episode: &Imported, dataset: &str) -> Question {
    let trajectory = &episode.trajectory;
    let kind = if episode.claims.claim { AnswerKind::Label } else { AnswerKind::Span };
    Question {
        dataset: dataset.to_owned(),
        index: trajectory.index,
        answer_kind: kind,
        ..Question::new(trajectory.id.clone(), trajectory.question.clone(), trajectory.answers.clone())
    }
}
