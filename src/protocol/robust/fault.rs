//! What is wrong with an unusable reply, in words for the model.

use super::super::Frame;
use super::super::numbered::verb;
use crate::types::Tool;
use crate::types::text::cut;
use std::fmt;

/// Longest piece of the model's own text that a sentence repeats, in characters.
const MAX_SHOWN: usize = 40;

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
        Self::NotATool(cut(text, MAX_SHOWN).replace(char::is_control, " "))
    }
}

impl Fault {
    /// The sentence for the model, in the frame's words or else in English.
    pub(super) fn sentence(&self, frame: &Frame) -> String {
        let (key, ours) = match self {
            Self::Empty => ("reply_empty", "the reply is empty"),
            Self::Thinking => ("reply_cut", "the reply ends inside its reasoning"),
            Self::NoAction => ("no_action", "the reply has no action"),
            Self::NotATool(_) => ("unknown_tool", "`{tool}` is not an action: the tools are Search, Lookup and Finish"),
            Self::NoArgument(_) => ("no_argument", "{tool} lacks its argument in brackets"),
            Self::EmptyArgument(_) => ("empty_argument", "the argument of {tool} is empty"),
            Self::Placeholder => ("placeholder", "the argument is a placeholder from the instruction, not a value"),
            Self::Json => ("not_json", "the JSON of the action cannot be read, or names no tool"),
            Self::Several => ("several_actions", "the reply names several actions and labels none of them"),
        };
        let tool = match self {
            Self::NotATool(text) => text,
            Self::NoArgument(tool) | Self::EmptyArgument(tool) => verb(*tool),
            _ => "",
        };
        frame.sentence(key, ours, &[("tool", tool)])
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(&Frame::default()))
    }
}
