//! How a protocol's parser reads one reply, in a form common to all.

use super::model_json::Dict;
use serde::{Deserialize, Serialize};

/// A parsed reply. Fields that an upstream parser does not know are absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parsed {
    pub kind: Kind,
    /// The thought, white space as the parser leaves it.
    pub thought: Option<String>,
    /// The tool as the model names it; for numbered protocols `Search`, `Lookup`, `Finish`, `Think`.
    pub tool: Option<String>,
    /// The argument's raw text, as the parser returns it.
    pub input: Option<String>,
    /// The decoded object, where the parser decodes one.
    pub args: Option<Dict>,
    pub answer: Option<String>,
    /// The system's own error text, for [`Kind::Invalid`] where it has one.
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Act,
    Finish,
    /// Send feedback, or make a fallback call.
    Invalid,
}

impl Parsed {
    pub fn new(kind: Kind) -> Self {
        Self { kind, thought: None, tool: None, input: None, args: None, answer: None, error: None }
    }

    pub fn act(thought: Option<String>, tool: impl Into<String>, input: impl Into<String>) -> Self {
        Self { thought, tool: Some(tool.into()), input: Some(input.into()), ..Self::new(Kind::Act) }
    }

    pub fn finish(thought: Option<String>, answer: impl Into<String>) -> Self {
        Self { thought, answer: Some(answer.into()), ..Self::new(Kind::Finish) }
    }

    pub fn invalid(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::new(Kind::Invalid) }
    }
}
