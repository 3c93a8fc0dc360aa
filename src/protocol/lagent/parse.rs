//! A reply read by its labels.

use super::super::python::strip;
use super::Labels;
use super::executor::{FINISH, NO_ACTION};
use crate::types::python::is_python_space;

/// The content of a reply. The action of a reply without one is [`NO_ACTION`], that of an answer [`FINISH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LabelledReply<'t> {
    /// White space stays.
    pub(super) thought: &'t str,
    pub(super) action: &'t str,
    /// The answer, white space and all, or the action's trimmed input.
    pub(super) input: &'t str,
}

/// Reads a reply. Labels count wherever they stand, in the middle of a word too.
pub(super) fn labelled_reply<'t>(text: &'t str, labels: &Labels) -> LabelledReply<'t> {
    let thought = thought(text, labels);
    if let Some(answer) = last_part(text, &labels.finish) {
        return LabelledReply { thought, action: FINISH, input: answer };
    }
    match (last_action(text, &labels.action), text.split_once(&labels.action_input)) {
        (Some(action), Some((_, input))) => {
            // A closing quote of broken JSON goes with the quotes around the whole.
            let input = input.trim_matches(is_python_space).trim_matches('"');
            LabelledReply { thought, action: strip(action), input }
        }
        _ => LabelledReply { thought, action: NO_ACTION, input: "" },
    }
}

/// The text before the first action, after the last label of a thought in there, before the first answer.
fn thought<'t>(text: &'t str, labels: &Labels) -> &'t str {
    let before = text.split_once(&labels.action).map_or(text, |(before, _)| before);
    let thought = last_part(before, &labels.thought).unwrap_or(before);
    thought.split_once(&labels.finish).map_or(thought, |(before, _)| before)
}

/// `text.split(label)[-1]`, if the text contains the label. Labels are found from the left, so with a label that
/// overlaps itself this is not what a search from the right gives.
fn last_part<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.match_indices(label).last().map(|(at, _)| &text[at + label.len()..])
}

/// The last action: the rest of the line after its label, where the line has an end.
fn last_action<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let mut last = None;
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(label) {
        let Some((action, next)) = after.split_once('\n') else { break };
        last = Some(action);
        rest = next;
    }
    last
}
