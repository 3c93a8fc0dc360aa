//! An episode as turns of a conversation: what precedes the first reply, and what each step called.

use super::Scored;
use crate::types::{FunctionCall, Message, Prompt, Role, Step, Tool, Trajectory};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A step's call of a tool.
pub(super) struct ToolUse {
    /// Unique within the episode.
    pub(super) id: String,
    pub(super) function: String,
    /// An object: the arguments as the model wrote them, or `input` where the protocol is of text.
    pub(super) arguments: Value,
}

/// What was said before the first reply: the first prompt as it was sent, or the question where that is not known.
pub(super) fn opening(scored: &Scored<'_>) -> Vec<Message> {
    let sent = scored.prompts.first().filter(|prompt| prompt.same).and_then(|prompt| prompt.request.as_ref());
    sent.map_or_else(|| vec![Message::user(&*scored.trajectory.question)], |request| messages(&request.prompt))
}

/// A prompt as messages. Of a text to continue, what all questions share is the system's, the rest the user's.
pub(super) fn messages(prompt: &Prompt) -> Vec<Message> {
    match prompt {
        Prompt::Messages(messages) => messages.clone(),
        Prompt::Text { prefix, rest } => {
            let shared: &str = prefix;
            let system = (!shared.trim().is_empty()).then(|| Message::system(shared));
            system.into_iter().chain([Message::user(&**rest)]).collect()
        }
    }
}

/// The call of each step, in order; none where a step used no tool. Several calls of one reply are steps of their own, of
/// which only the first has the reply.
pub(super) fn tool_uses(trajectory: &Trajectory) -> Vec<Option<ToolUse>> {
    let mut due: VecDeque<&FunctionCall> = VecDeque::new();
    let mut uses = Vec::with_capacity(trajectory.steps.len());
    for (at, step) in trajectory.steps.iter().enumerate() {
        if let Some(call) = step.calls.last() {
            due = call.calls.iter().collect();
        }
        let id = format!("call-{}", at + 1);
        uses.push(match (due.pop_front(), step.tool) {
            (_, None) | (None, Some(Tool::Invalid)) => None,
            (Some(call), _) => Some(ToolUse { id, function: call.name.clone(), arguments: call.object() }),
            (None, Some(tool)) => {
                Some(ToolUse { id, function: tool.name().to_owned(), arguments: json!({ "input": step.input }) })
            }
        });
    }
    uses
}

/// Whether a step was copied from the episode that this one branches off, which ran and paid it.
pub(super) fn is_copied(trajectory: &Trajectory, step: &Step) -> bool {
    trajectory.branch.as_ref().is_some_and(|branch| step.n < branch.at && step.sample.is_none())
}

/// A recorded time some milliseconds later, in the form that every reader takes; none where the record has no time.
pub(super) fn instant(recorded: &str, later_ms: u64) -> Option<String> {
    let later = SignedDuration::from_millis(i64::try_from(later_ms).ok()?);
    let time = recorded.parse::<Timestamp>().ok()?.checked_add(later).ok()?;
    Some(time.strftime("%Y-%m-%dT%H:%M:%S%.6f+00:00").to_string())
}

/// The name of a role in conversations.
pub(super) fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
