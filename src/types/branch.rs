//! Where an episode branches off a recorded one: what is copied, and what is edited.

use super::{Step, sha256_hex};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which episode another one branches off, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// The run's folder, as it was named.
    pub run: String,
    /// The key of the episode.
    pub key: String,
    pub variant: String,
    pub id: String,
    pub repeat: u32,
    /// The step from which on it differs, from 1; those before are copied.
    pub at: usize,
    /// What was edited; absent for the control, which goes on from the same step without an edit. A placebo has an edit of the
    /// same kind that says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<BranchEdit>,
    /// What chose the edit: `hand`, the rule of `--with`, or `placebo`.
    pub by: String,
}

/// An edit of one step, or of what goes on from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchEdit {
    /// `thought`, `action`, `observation`, `prompt`, `model`, `protocol`, `formatting`, or several joined by `+`.
    pub part: String,
    /// SHA-256 of the text.
    pub sha256: String,
    /// What was put there.
    pub text: String,
}

impl BranchEdit {
    pub fn new(part: &str, text: String) -> Self {
        Self { part: part.to_owned(), sha256: sha256_hex([text.as_bytes()]), text }
    }

    /// Whether a step was edited, and not only what goes on from it.
    pub fn is_of_the_step(&self) -> bool {
        self.part.split('+').any(|part| ["thought", "action", "observation"].contains(&part))
    }

    /// How the prompt's white space was written, where that was edited: the last line of the text.
    pub fn formatting(&self) -> Option<&str> {
        let is_last = self.part.rsplit('+').next() == Some("formatting");
        self.text.rsplit('\n').next().filter(|_| is_last)
    }
}

/// A branch to run: the copied steps, the edited one last where a step is edited.
#[derive(Debug, Clone, PartialEq)]
pub struct Fork {
    /// The variant that runs it.
    pub arm: String,
    /// Which repeats of the variant it is; the placebos of a question are one variant.
    pub repeats: Range<u32>,
    pub branch: Branch,
    /// The steps with the calls that led to them. An observation that is given must be the tool's, but for `given`.
    pub steps: Vec<Step>,
    /// The observation of the last step, in place of the tool's.
    pub given: Option<String>,
    /// Whether prompts are those of the record; another prompt's are not.
    pub same_prompt: bool,
}
