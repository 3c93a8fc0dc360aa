//! What a run's episodes were made with, built again from its folder.

use super::error::RunError;
use super::evidence;
use crate::base::manifest::UNKNOWN;
use crate::base::{Manifest, Method, Question, RebuiltPrompt, Trajectory, Variant};
use crate::prompting::protocol::{self, Frame, Layout, Options, Setup};
use crate::runner::agent::{Acting, Answering, Approach, replay};
use crate::runner::store::RunFolder;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The approaches of a run, and the questions where a record does not hold all of what was asked.
pub(crate) struct Stored {
    approaches: HashMap<String, Approach>,
    questions: HashMap<String, Question>,
}

impl Stored {
    /// Reads the stored prompts, and the dataset where it is needed.
    pub(crate) fn of(folder: &RunFolder, manifest: &Manifest) -> Result<Self, RunError> {
        Ok(Self { approaches: approaches(folder, manifest)?, questions: paragraphs(folder, manifest)? })
    }

    pub(crate) fn approach(&self, trajectory: &Trajectory) -> Result<Approach, RunError> {
        let branched = |approach: &Approach| approach.clone().branched(trajectory.branch.as_ref());
        self.approaches.get(&trajectory.variant).map(branched).ok_or_else(|| {
            RunError::input(
                format!(
                    "episode `{}` is of variant `{}`, which manifest.json does not have",
                    trajectory.id, trajectory.variant
                ),
                "restore the manifest that belongs to this file",
            )
        })
    }

    pub(crate) fn prompts(&self, trajectory: &Trajectory) -> Result<Vec<RebuiltPrompt>, RunError> {
        Ok(replay::prompts(trajectory, &self.question(trajectory), &self.approach(trajectory)?))
    }

    /// The question of an episode, with its paragraphs where they were shown.
    pub(crate) fn question(&self, trajectory: &Trajectory) -> Cow<'_, Question> {
        self.questions.get(&trajectory.id).map_or_else(|| Cow::Owned(question_of(trajectory)), Cow::Borrowed)
    }
}

/// The question as far as the record holds it.
pub(crate) fn question_of(trajectory: &Trajectory) -> Question {
    Question {
        index: trajectory.index,
        ..Question::new(&trajectory.id, &trajectory.question, trajectory.answers.clone())
    }
}

fn approaches(folder: &RunFolder, manifest: &Manifest) -> Result<HashMap<String, Approach>, RunError> {
    manifest.known_variants().map(|variant| Ok((variant.name.clone(), approach(folder, variant)?))).collect()
}

fn approach(folder: &RunFolder, variant: &Variant) -> Result<Approach, RunError> {
    let unknown = |what: &str, name: &str| {
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
        Ok(Arc::new(Setup {
            frame,
            question_label: variant.question_label.clone(),
            max_steps: variant.max_steps.ok_or_else(|| unknown("max_steps", UNKNOWN))?,
            thoughts: method != Method::Act,
            decoding: variant.decoding.known().ok_or_else(|| unknown("decoding", UNKNOWN))?,
            history: Vec::new(),
        }))
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
    let questions = evidence::questions(folder, manifest).map_err(|reason| {
        RunError::input(
            format!("the run was shown paragraphs of its dataset: {reason}"),
            "do it where the dataset file is",
        )
    })?;
    Ok(questions.into_iter().map(|question| (question.id.clone(), question)).collect())
}
