//! What people note about a run.

use serde::{Deserialize, Serialize};

/// Version of the stored notes; readers accept older ones and refuse newer ones.
pub const NOTES_VERSION: u32 = 1;

/// `notes.json` of a run's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    /// Format version, [`NOTES_VERSION`]; always the first field.
    pub v: u32,
    /// Words by which runs are found, each once, in the order in which they were added.
    #[serde(default)]
    pub tags: Vec<String>,
    /// What a person wrote; may be empty.
    #[serde(default)]
    pub note: String,
}

impl Default for Notes {
    fn default() -> Self {
        Self { v: NOTES_VERSION, tags: Vec::new(), note: String::new() }
    }
}
