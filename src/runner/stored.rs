//! The questions of a run with their supporting facts, and what its episodes were made with, from its folder. For a run from
//! before questions were kept, they are taken from the file that the manifest names, if it is still what the run read.

use super::agent::{Acting, Answering, Approach, replay};
use super::error::RunError;
use super::experiment::shipped;
use super::store::RunFolder;
use crate::base::manifest::UNKNOWN;
use crate::base::{
    DatasetRecord, Decoding, Manifest, Method, Prompt, Question, RebuiltPrompt, Request, Trajectory, Variant,
    sha256_hex,
};
use crate::dataset::{self, Columns, Format, ReadOptions};
use crate::prompting::protocol::{self, Frame, Layout, Options, Setup};
use crate::scoring::{GoldEvidence, is_same_page};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct Evidence {
    by_id: HashMap<String, GoldEvidence>,
    /// Why the file could not be used; absent where it was, even if it names no facts.
    pub(crate) missing: Option<String>,
}

impl Evidence {
    /// Reads all questions of a run or that of `id`, each of which is also shown to `look`. Where they cannot all be read, metrics
    /// that need the facts are left out, and [`missing`](Self::missing) says why.
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
        let missing = read.err();
        if missing.is_some() {
            by_id.clear();
        }
        Self { by_id, missing }
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

/// Drops what a run does not need of a question, and its folder does not keep: paragraphs that no supporting fact is from.
pub(super) fn drop_distractors(question: &mut Question) {
    let gold = GoldEvidence::of(question);
    let pages = || gold.iter().flat_map(GoldEvidence::groups).flat_map(|group| &group.pages);
    question.context.retain(|paragraph| pages().any(|page| is_same_page(page, &paragraph.title)));
    question.context.shrink_to_fit();
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
    let questions = dataset::load(&record.path, &bytes, &options).map_err(|error| error.to_string())?.questions;
    Ok(questions.into_iter().map(Arc::unwrap_or_clone).collect())
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
    let columns = columns(&record.columns);
    ReadOptions { format: Format::parse(&record.format), skip_bad: true, columns, ..ReadOptions::default() }
}

/// The columns of a table, as a run's manifest records them.
pub(super) fn columns(recorded: &BTreeMap<String, String>) -> Columns {
    let names = ["question", "answer", "id", "answer_separator"];
    let [question, answer, id, answer_separator] = names.map(|name| recorded.get(name).cloned());
    Columns { question, answer, id, answer_separator, ..Columns::default() }
}

/// The approaches of a run, and the questions where a record does not hold all of what was asked.
pub(crate) struct Stored {
    /// Of each variant; none where its agent is another program.
    approaches: HashMap<String, Option<Approach>>,
    questions: HashMap<String, Question>,
}

impl Stored {
    /// Reads the stored prompts, and the dataset where it is needed.
    pub(crate) fn of(folder: &RunFolder, manifest: &Manifest) -> Result<Self, RunError> {
        let own = |variant: &Variant| (!variant.is_program()).then(|| approach(folder, variant)).transpose();
        let approaches = manifest.known_variants().map(|variant| Ok((variant.name.clone(), own(variant)?)));
        Ok(Self { approaches: approaches.collect::<Result<_, RunError>>()?, questions: paragraphs(folder, manifest)? })
    }

    pub(crate) fn approach(&self, trajectory: &Trajectory) -> Result<Approach, RunError> {
        let Trajectory { id, variant, branch, .. } = trajectory;
        match self.approaches.get(variant) {
            Some(Some(approach)) => Ok(approach.clone().branched(branch.as_ref())),
            Some(None) => Err(RunError::input(
                format!("the agent of variant `{variant}` is another program, whose dialogue wikitrail does not know"),
                "`show --prompt` has what it sent; `--format inspect` and `atif` export it",
            )),
            None => Err(RunError::input(
                format!("episode `{id}` is of variant `{variant}`, which manifest.json does not have"),
                "restore the manifest that belongs to this file",
            )),
        }
    }

    /// The prompt of every call: rendered again, or as the program of another agent sent it.
    pub(crate) fn prompts(&self, trajectory: &Trajectory) -> Result<Vec<RebuiltPrompt>, RunError> {
        if matches!(self.approaches.get(&trajectory.variant), Some(None)) {
            return Ok(sent_prompts(trajectory));
        }
        Ok(replay::prompts(trajectory, &self.question(trajectory), &self.approach(trajectory)?))
    }

    /// The question of an episode, with its paragraphs where they were shown.
    pub(crate) fn question(&self, trajectory: &Trajectory) -> Cow<'_, Question> {
        self.questions.get(&trajectory.id).map_or_else(|| Cow::Owned(question_of(trajectory)), Cow::Borrowed)
    }
}

/// The bodies of an episode's calls, each made whole with the one before.
fn sent_prompts(trajectory: &Trajectory) -> Vec<RebuiltPrompt> {
    let mut before: Option<Map<String, Value>> = None;
    let mut prompts = Vec::new();
    for step in &trajectory.steps {
        for (at, call) in step.calls.iter().enumerate() {
            let body = call.sent.as_ref().map(|sent| sent.whole(before.as_ref()));
            let text = body.as_ref().map(|body| Value::Object(body.clone()).to_string());
            let request = text.map(|text| Request::new(Prompt::text("".into(), text), Vec::new(), Decoding::default()));
            prompts.push(RebuiltPrompt::new(step.n, step.sample, at + 1, call, request));
            before = body.or(before);
        }
    }
    prompts
}

/// The question as far as the record holds it.
pub(crate) fn question_of(trajectory: &Trajectory) -> Question {
    Question {
        index: trajectory.index,
        ..Question::new(&trajectory.id, &trajectory.question, trajectory.answers.clone())
    }
}

fn approach(folder: &RunFolder, variant: &Variant) -> Result<Approach, RunError> {
    let unknown = |what: &str, name: &str| {
        if name == UNKNOWN {
            let message = format!("another program recorded the run, which does not say its {what}");
            return RunError::input(message, "name a run of wikitrail");
        }
        let message = format!("the run was made with {what} `{name}`, which this program does not know");
        RunError::input(message, "use the version of wikitrail that made it")
    };
    let method = Method::parse(&variant.method).ok_or_else(|| unknown("method", &variant.method))?;
    let (id, version) = (&variant.protocol, variant.protocol_version);
    let Some(Ok(protocol)) = protocol::find_version(id, &Options(variant.options.clone()), version) else {
        let shown = if version > 1 { format!("{id}, version {version}") } else { id.clone() };
        return Err(unknown("protocol", &shown));
    };
    let setup = |layout, sha256: &str| -> Result<Arc<Setup>, RunError> {
        let frame = Frame::read(&folder.prompt(sha256)?, layout).map_err(|error| {
            RunError::input(format!("prompt `{sha256}` cannot be read: {error}"), "restore the run's folder `prompts`")
        })?;
        let max_steps = variant.max_steps.ok_or_else(|| unknown("max_steps", UNKNOWN))?;
        let decoding = variant.decoding.known().ok_or_else(|| unknown("decoding", UNKNOWN))?;
        let setup = Setup::new(frame, &variant.question_label, max_steps);
        Ok(Arc::new(Setup { thoughts: method != Method::Act, decoding, ..setup }))
    };
    let sha256 = &variant.prompt_sha256;
    Approach::of(
        method,
        |_| Ok(Acting { setup: setup(protocol.layout(), sha256)?, protocol: Arc::clone(&protocol) }),
        |direct| {
            let sha256 = variant.direct_prompt_sha256.as_ref().unwrap_or(sha256);
            let (reasons, oracle_context) = (direct == Method::Cot, variant.oracle_context);
            Ok(Answering { setup: setup(Layout::Text, sha256)?, reasons, oracle_context })
        },
        variant.voting.unwrap_or_default(),
    )
}

/// The questions of the dataset by id, where a variant was shown their paragraphs, which no record holds.
fn paragraphs(folder: &RunFolder, manifest: &Manifest) -> Result<HashMap<String, Question>, RunError> {
    if !manifest.known_variants().any(|variant| variant.oracle_context) {
        return Ok(HashMap::new());
    }
    let questions = questions(folder, manifest).map_err(|reason| {
        let message = format!("the run was shown paragraphs of its dataset: {reason}");
        RunError::input(message, "do it where the dataset file is")
    })?;
    Ok(questions.into_iter().map(|question| (question.id.clone(), question)).collect())
}
