//! A reply read as the article's two regular expressions read it, with a dot that takes newlines.
//!
//! | | |
//! |---|---|
//! | call | `(?s)^\s*Thought: (.*?)\n+Action: ([a-zA-Z0-9_]+).*?\n+Action Input: .*?(\{.*\})` |
//! | answer | `(?s)\s*Thought:(.*?)\n+Answer:.*?(.*)` |
//!
//! Every group is lazy but the last, so each ends at the first place where the next label stands; both are read from
//! the left in one pass.

use super::super::model_json::{Dict, first_object};

#[derive(Debug, PartialEq)]
pub(super) enum Reply<'t> {
    Call(Call<'t>),
    Answer { thought: &'t str, answer: &'t str },
    Neither(Fault),
}

#[derive(Debug, PartialEq)]
pub(super) struct Call<'t> {
    pub(super) thought: &'t str,
    pub(super) tool: &'t str,
    /// Nothing when they are not a JSON object.
    pub(super) arguments: Option<CallArguments<'t>>,
}

/// The first JSON object after the input's label.
#[derive(Debug, PartialEq)]
pub(super) struct CallArguments<'t> {
    pub(super) text: &'t str,
    pub(super) object: Dict,
    /// What follows in the reply.
    pub(super) rest: &'t str,
}

/// Why a reply is neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    BadCall,
    BadAnswer,
    NeitherLabel,
}

/// Reads a reply. The label of an action decides, wherever it stands.
pub(super) fn read_reply(text: &str) -> Reply<'_> {
    if text.contains("Action:") {
        call(text).map_or(Reply::Neither(Fault::BadCall), Reply::Call)
    } else if text.contains("Answer:") {
        answer(text).unwrap_or(Reply::Neither(Fault::BadAnswer))
    } else {
        Reply::Neither(Fault::NeitherLabel)
    }
}

fn call(text: &str) -> Option<Call<'_>> {
    let body = text.trim_start_matches(is_go_space).strip_prefix("Thought: ")?;
    let label = "\nAction: ";
    let (at, tool) = body.match_indices(label).find_map(|(at, _)| {
        let after = &body[at + label.len()..];
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        (end > 0).then(|| (at, &after[..end]))
    })?;
    let (_, input) = body[at + label.len() + tool.len()..].split_once("\nAction Input: ")?;
    let object = &input[input.find('{')?..];
    let to_last_brace = &object[..=object.rfind('}')?];
    let arguments = first_object(to_last_brace).map(|(dict, end)| CallArguments {
        text: &to_last_brace[..end],
        object: dict,
        rest: &object[end..],
    });
    // The newlines before a label belong to it.
    Some(Call { thought: body[..at].trim_end_matches('\n'), tool, arguments })
}

fn answer(text: &str) -> Option<Reply<'_>> {
    let (_, body) = text.split_once("Thought:")?;
    let (thought, answer) = body.split_once("\nAnswer:")?;
    Some(Reply::Answer { thought: thought.trim_end_matches('\n'), answer })
}

/// `\s` of Go's regular expressions.
fn is_go_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ')
}
