//! What a model can be asked about a run, and what it may say.

use super::verdict::Verdict;
use crate::analysis::annotations::AnnotationClass;
use crate::runner::store::RunFolder;
use crate::scoring::FailureClass;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::path::PathBuf;

/// The words that a model may say of one kind of thing, what it is asked, and where a run keeps what was said.
pub(crate) trait JudgeTask: Copy + Debug + Eq + Serialize + DeserializeOwned + 'static {
    /// The prompt of our own.
    const PROMPT: &'static str;
    /// Placeholders that a prompt must have.
    const NEEDED: &'static [&'static str];
    /// What a prompt must have words for.
    const WORDS: &'static [Self];
    /// A reply without any of them.
    const UNREADABLE: Self;
    /// The flag that names the model.
    const FLAG: &'static str;
    /// What models are called here, in front of their names.
    const NAME: &'static str;
    /// What a model's answer is called, in messages.
    const LINE: &'static str;
    /// What is asked about, and what happens to it, in messages.
    const THING: [&'static str; 2];

    fn name(self) -> &'static str;

    fn file(folder: &RunFolder) -> PathBuf;
}

impl JudgeTask for Verdict {
    const PROMPT: &'static str = include_str!("prompt.toml");
    const NEEDED: &'static [&'static str] = &["question", "golds", "answer"];
    const WORDS: &'static [Self] = &[Self::Correct, Self::Incorrect];
    const UNREADABLE: Self = Self::Unreadable;
    const FLAG: &'static str = "--judge";
    const NAME: &'static str = "judge";
    const LINE: &'static str = "verdict";
    const THING: [&'static str; 2] = ["answer", "judged"];

    fn name(self) -> &'static str {
        self.name()
    }

    fn file(folder: &RunFolder) -> PathBuf {
        folder.verdicts()
    }
}

/// Why a model finds that an episode failed; absent where its reply names no class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub(crate) struct Reading(pub(crate) Option<AnnotationClass>);

const UNREADABLE: &str = "unreadable";

/// A class that a reader can find in the steps; the program knows of the others.
const fn found(class: FailureClass) -> Reading {
    Reading(Some(AnnotationClass::Failure(class)))
}

impl JudgeTask for Reading {
    const PROMPT: &'static str = include_str!("classify.toml");
    const NEEDED: &'static [&'static str] = &["question", "golds", "answer", "steps"];
    const WORDS: &'static [Self] = &[
        found(FailureClass::Search),
        found(FailureClass::Lookup),
        found(FailureClass::Reasoning),
        found(FailureClass::Label),
        found(FailureClass::Hallucination),
        found(FailureClass::Loop),
        found(FailureClass::Format),
    ];
    const UNREADABLE: Self = Self(None);
    const FLAG: &'static str = "--classify";
    const NAME: &'static str = "model";
    const LINE: &'static str = "reading";
    const THING: [&'static str; 2] = ["episode", "classified"];

    fn name(self) -> &'static str {
        self.0.map_or(UNREADABLE, AnnotationClass::name)
    }

    fn file(folder: &RunFolder) -> PathBuf {
        folder.classifications()
    }
}

impl TryFrom<String> for Reading {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name == UNREADABLE { Ok(Self(None)) } else { AnnotationClass::try_from(name).map(|class| Self(Some(class))) }
    }
}

impl From<Reading> for &'static str {
    fn from(reading: Reading) -> Self {
        JudgeTask::name(reading)
    }
}
