//! Where an episode branches off a recorded one: what is copied, and what is edited.

use super::{Step, sha256_hex};
use serde::{Deserialize, Serialize};

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
    /// What was edited; absent for the control, which goes on from the same step without an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<BranchEdit>,
    /// What chose the edit: `hand`, or the rule of `--with`.
    pub by: String,
}

/// An edit of one step, or of what goes on from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchEdit {
    /// `thought`, `action`, `observation`, `prompt`, `model`, `protocol`, or several joined by `+`.
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
}

/// A branch to run: the copied steps, the edited one last where a step is edited.
#[derive(Debug, Clone, PartialEq)]
pub struct Fork {
    /// The variant that runs it.
    pub arm: String,
    pub branch: Branch,
    /// The steps with the calls that led to them. An observation that is given must be the tool's, but for `given`.
    pub steps: Vec<Step>,
    /// The observation of the last step, in place of the tool's.
    pub given: Option<String>,
    /// Whether prompts are those of the record; another prompt's are not.
    pub same_prompt: bool,
}
