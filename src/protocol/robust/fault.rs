//! What is wrong with an unusable reply, in words for the model.

use super::super::numbered::verb;
use crate::types::Tool;
use crate::types::text::cut;
use std::fmt;

/// Longest piece of the model's own text that a sentence repeats, in characters.
const SHOWN: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// Only white space.
    Empty,
    /// The reply ends before its reasoning does: a `<think>` block, or the channel `analysis`.
    Thinking,
    NoAction,
    /// The text in place of the action names no tool.
    NotATool(String),
    NoArgument(Tool),
    EmptyArgument(Tool),
    /// The argument is what the instruction wrote in its place.
    Placeholder,
    /// An unreadable JSON object, or one that names no tool.
    Json,
    /// Several different actions in prose, none of them labelled.
    Several,
}

impl Fault {
    /// [`Fault::NotATool`] with the beginning of the text.
    pub(super) fn not_a_tool(text: &str) -> Self {
        Self::NotATool(cut(text, SHOWN).replace(char::is_control, " "))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the reply is empty"),
            Self::Thinking => f.write_str("the reply ends inside its reasoning"),
            Self::NoAction => f.write_str("the reply has no action"),
            Self::NotATool(text) => write!(f, "`{text}` is not an action: the tools are Search, Lookup and Finish"),
            Self::NoArgument(tool) => write!(f, "{} lacks its argument in brackets", verb(*tool)),
            Self::EmptyArgument(tool) => write!(f, "the argument of {} is empty", verb(*tool)),
            Self::Placeholder => f.write_str("the argument is a placeholder from the instruction, not a value"),
            Self::Json => f.write_str("the JSON of the action cannot be read, or names no tool"),
            Self::Several => f.write_str("the reply names several actions and labels none of them"),
        }
    }
}
