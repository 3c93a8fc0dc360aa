//! A recorded episode as a conversation between a user and a model, for fine-tuning.
//!
//! The dialogue is replayed, so that user turns are what the protocol sent. An assistant turn is the model's reply up to
//! the end of its action: the protocol discarded the rest, which may hold invented observations. Of several calls for
//! one step only the last counts.

use super::Approach;
use super::approach::Acting;
use super::replay::{Event, replay_observed};
use crate::base::python::is_python_space;
use crate::base::{Call, Functions, Message, Prompt, Question, Request, Role, Tool, ToolCall, Trajectory};
use crate::prompting::protocol::{Kind, Layout, Parsed, Protocol, direct};
use std::sync::Arc;

/// Lines of a reply in which the action must end; otherwise the reply is kept whole.
const MAX_LINES: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogueTurn {
    /// Role and text. A system message comes first or not at all.
    pub message: Message,
    /// Whether a model should learn it: replies of the episode that name a tool.
    pub learn: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum NoConversation {
    #[error("no answer was given")]
    NoAnswer,
    #[error("the record does not replay")]
    Differs,
    #[error("a reply holds an invented observation")]
    Invented,
    /// The transcript does not contain the recorded reply.
    #[error("the transcript cannot be taken apart")]
    Unclear,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    pub turns: Vec<DialogueTurn>,
    pub functions: Option<Arc<Functions>>,
}

struct ReplayedStep {
    calls: Vec<(Request, Call)>,
    call: ToolCall,
    observation: String,
}

#[derive(Default)]
struct Part {
    sample: Option<u32>,
    calls: Vec<(Request, Call)>,
    steps: Vec<ReplayedStep>,
}

/// The conversation of the dialogue that gave the episode's answer; of a vote, the first sample with that answer.
///
/// After an optional system message, turns of user and assistant alternate; none is empty, and the last is the
/// assistant's. Native calls and their results are turns of their own. `exemplars` includes the solved examples and, for prompts of one text, what precedes the question.
pub fn conversation(
    recorded: &Trajectory,
    question: &Question,
    approach: &Approach,
    exemplars: bool,
) -> Result<Conversation, NoConversation> {
    let mut parts: Vec<Part> = Vec::new();
    let replayed = replay_observed(recorded, question, approach, &mut |sample, event| hear(&mut parts, sample, event));
    if !replayed.differences.is_empty() {
        return Err(NoConversation::Differs);
    }
    let answer = replayed.answer.filter(|answer| !answer.trim().is_empty()).ok_or(NoConversation::NoAnswer)?;
    let gave = |part: &&Part| {
        let last = part.steps.last();
        last.is_some_and(|step| step.call.tool == Tool::Finish && step.call.input == answer)
    };
    let last = parts.last().filter(|part| part.sample.is_none());
    let part = last.or_else(|| parts.iter().filter(|part| part.sample.is_some()).find(gave));
    let part = part.filter(gave).ok_or(NoConversation::NoAnswer)?;
    let mut turns = Turns::default();
    match approach.acting().filter(|_| part.sample.is_none()) {
        Some(acting) => acted(acting, question, part, exemplars, &mut turns)?,
        None => answered(part, exemplars, &mut turns)?,
    }
    let functions = part.steps.iter().flat_map(|step| &step.calls).find_map(|(request, _)| request.functions.clone());
    Ok(Conversation { turns: turns.end()?, functions })
}

fn hear(parts: &mut Vec<Part>, sample: Option<u32>, event: Event<'_>) {
    if parts.last().is_none_or(|part| part.sample != sample) {
        parts.push(Part { sample, ..Part::default() });
    }
    let Some(part) = parts.last_mut() else { return };
    match event {
        Event::Asked(request, call) => part.calls.push((request.clone(), call.clone())),
        // Nothing was answered.
        Event::Overflown(_) => {}
        Event::Used(call, text) => {
            let calls = std::mem::take(&mut part.calls);
            part.steps.push(ReplayedStep { calls, call: call.clone(), observation: text.to_owned() });
        }
    }
}

impl ReplayedStep {
    /// The first prompt for this step, which contains the observation of the step before.
    fn first_prompt(&self) -> Result<&Prompt, NoConversation> {
        self.calls.first().map(|(request, _)| &request.prompt).ok_or(NoConversation::NoAnswer)
    }
}

#[derive(Default)]
struct Turns(Vec<DialogueTurn>);

impl Turns {
    /// Adds a turn, or extends the last one of the same role. A later system message becomes the user's.
    fn say(&mut self, role: Role, text: &str, learn: bool) {
        let text = text.trim_matches(is_python_space);
        if text.is_empty() {
            return;
        }
        let role = if role == Role::System && !self.0.is_empty() { Role::User } else { role };
        match self.0.last_mut().filter(|last| last.message.role == role) {
            Some(DialogueTurn { message, .. }) if text.starts_with(&*message.content) => message.content = text.into(),
            Some(DialogueTurn { message, .. }) => message.content = format!("{}\n{text}", message.content).into(),
            None => self.0.push(DialogueTurn { message: Message::new(role, text), learn }),
        }
    }

    fn end(self) -> Result<Vec<DialogueTurn>, NoConversation> {
        let answered = self.0.last().is_some_and(|last| last.learn && last.message.role == Role::Assistant);
        if answered { Ok(self.0) } else { Err(NoConversation::NoAnswer) }
    }
}

/// A part without tools: the question, then reasoning and answer on lines with their labels.
fn answered(part: &Part, exemplars: bool, turns: &mut Turns) -> Result<(), NoConversation> {
    let step = part.steps.last().ok_or(NoConversation::NoAnswer)?;
    open_text(step.first_prompt()?, exemplars, turns)?;
    let thought = step.call.thought.as_ref().map(|thought| format!("{} {thought}\n", direct::THOUGHT));
    turns.say(Role::Assistant, &(thought.unwrap_or_default() + &step.call.action_text), true);
    Ok(())
}

fn acted(
    acting: &Acting,
    question: &Question,
    part: &Part,
    exemplars: bool,
    turns: &mut Turns,
) -> Result<(), NoConversation> {
    let protocol = acting.protocol.as_ref();
    if protocol.observation_role() == Role::Tool {
        return called(protocol, part, acting.setup.frame.examples.len(), exemplars, turns);
    }
    let layout = protocol.layout();
    let first = part.steps.first().ok_or(NoConversation::NoAnswer)?.first_prompt()?;
    match layout {
        Layout::Text => open_text(first, exemplars, turns)?,
        Layout::Template if !exemplars => turns.say(Role::User, &question.question, false),
        Layout::Template => open_messages(&without_cue(protocol, first)?, 0, true, turns),
        Layout::System | Layout::Instruction => {
            open_messages(messages(first)?, acting.setup.frame.examples.len(), exemplars, turns);
        }
    }
    let asked = part.steps.iter().map(ReplayedStep::first_prompt).collect::<Result<Vec<_>, _>>()?;
    for (at, step) in part.steps.iter().enumerate() {
        let next = asked.get(at + 1).copied();
        let (reply, heard) = match layout {
            Layout::Text => text_step(protocol, step, asked[at], next)?,
            Layout::Template => (Some(template_reply(protocol, step)), next.map(|_| template_heard(protocol, step))),
            Layout::System | Layout::Instruction => message_step(protocol, step, asked[at], next)?,
        };
        if let Some(reply) = reply {
            if invents(protocol, step.call.step, &reply) {
                return Err(NoConversation::Invented);
            }
            turns.say(Role::Assistant, &reply, step.call.tool != Tool::Invalid);
        }
        turns.say(Role::User, &heard.unwrap_or_default(), false);
    }
    Ok(())
}

/// A part with native calls. A reply with a call that could not be carried out is not to be learned.
fn called(
    protocol: &dyn Protocol,
    part: &Part,
    examples: usize,
    exemplars: bool,
    turns: &mut Turns,
) -> Result<(), NoConversation> {
    let mut replies: Vec<(&Request, &Call, bool)> = Vec::new();
    for step in &part.steps {
        replies.extend(step.calls.iter().map(|(request, call)| (request, call, true)));
        if let Some((.., learn)) = replies.last_mut() {
            *learn &= step.call.tool != Tool::Invalid;
        }
    }
    replies.retain(|(_, call, _)| !call.calls.is_empty() || !call.completion.trim().is_empty());
    let (request, last, learn) = replies.pop().ok_or(NoConversation::NoAnswer)?;
    let messages = messages(&request.prompt)?;
    let system = messages.iter().take_while(|message| message.role == Role::System).count();
    let mut learned = replies.into_iter().map(|(.., learn)| learn);
    for (at, message) in messages.iter().enumerate() {
        let is_example = (system..system + examples).contains(&at);
        let learn = message.role == Role::Assistant && !is_example && learned.next().unwrap_or_default();
        if exemplars || !is_example {
            turns.0.push(DialogueTurn { message: message.clone(), learn });
        }
    }
    let step = part.steps.last().map_or(0, |step| step.call.step);
    let reply =
        Message { calls: protocol.with_ids(messages, &last.calls, step), ..Message::assistant(last.completion.trim()) };
    turns.0.push(DialogueTurn { message: reply, learn });
    Ok(())
}

/// The question of a protocol of one text, without the label that the model continues.
fn open_text(prompt: &Prompt, exemplars: bool, turns: &mut Turns) -> Result<(), NoConversation> {
    let (prefix, rest) = transcript(prompt)?;
    turns.say(Role::User, &if exemplars { format!("{prefix}{rest}") } else { rest.to_owned() }, false);
    Ok(())
}

/// The messages before the first reply, with or without the examples, which follow the system's.
fn open_messages(messages: &[Message], examples: usize, exemplars: bool, turns: &mut Turns) {
    let system = messages.iter().take_while(|message| message.role == Role::System).count();
    for (at, message) in messages.iter().enumerate() {
        if exemplars || !(system..system + examples).contains(&at) {
            turns.say(message.role, &message.content, false);
        }
    }
}

/// Prefix and transcript of a prompt of one text; the last line is the label that the model continues.
fn transcript(prompt: &Prompt) -> Result<(&str, &str), NoConversation> {
    match prompt {
        Prompt::Text { prefix, rest } => Ok((prefix, &rest[..rest.rfind('\n').map_or(0, |end| end + 1)])),
        Prompt::Messages(_) => Err(NoConversation::Unclear),
    }
}

fn messages(prompt: &Prompt) -> Result<&[Message], NoConversation> {
    match prompt {
        Prompt::Messages(messages) => Ok(messages),
        Prompt::Text { .. } => Err(NoConversation::Unclear),
    }
}

fn text_step(
    protocol: &dyn Protocol,
    step: &ReplayedStep,
    asked: &Prompt,
    next: Option<&Prompt>,
) -> Result<(Option<String>, Option<String>), NoConversation> {
    let ToolCall { step: n, thought, action_text, .. } = &step.call;
    let lines = protocol.step(*n, thought.as_deref(), Tool::Invalid, action_text);
    let Some(next) = next else { return Ok((Some(lines), None)) };
    let (before, after) = (transcript(asked)?.1, transcript(next)?.1);
    let grown = after.strip_prefix(before).and_then(|grown| grown.strip_prefix(lines.as_str()));
    // A transcript that forgets its beginning still ends in what was added.
    let heard = grown.or_else(|| after.rfind(&lines).map(|at| &after[at + lines.len()..]));
    Ok((Some(lines), Some(heard.ok_or(NoConversation::Unclear)?.to_owned())))
}

/// The label that a template leaves for the model to continue, such as `Thought: `; the last line of an observation.
fn cue(protocol: &dyn Protocol) -> String {
    protocol.observation(1, "").rsplit('\n').next().unwrap_or_default().to_owned()
}

fn without_cue(protocol: &dyn Protocol, prompt: &Prompt) -> Result<Vec<Message>, NoConversation> {
    let mut messages = messages(prompt)?.to_vec();
    if let Some(last) = messages.last_mut() {
        let content = last.content.strip_suffix(cue(protocol).as_str()).unwrap_or(&last.content);
        *last = Message::user(content);
    }
    Ok(messages)
}

fn template_reply(protocol: &dyn Protocol, step: &ReplayedStep) -> String {
    let (cue, reply) = (cue(protocol), reply(protocol, step));
    if reply.trim_start().starts_with(cue.trim()) { reply } else { format!("{cue}{}", reply.trim_start()) }
}

/// The observation without the label of the next reply.
fn template_heard(protocol: &dyn Protocol, step: &ReplayedStep) -> String {
    let shown = protocol.observation(step.call.step, &step.observation);
    shown.strip_suffix(cue(protocol).as_str()).unwrap_or(&shown).to_owned()
}

/// The reply, unless the system did not keep it, and the messages that the next request adds.
fn message_step(
    protocol: &dyn Protocol,
    step: &ReplayedStep,
    asked: &Prompt,
    next: Option<&Prompt>,
) -> Result<(Option<String>, Option<String>), NoConversation> {
    let reply = reply(protocol, step);
    let Some(next) = next else { return Ok((Some(reply), None)) };
    let (before, after) = (messages(asked)?, messages(next)?);
    let last_reply = after.iter().rposition(|message| message.role == Role::Assistant);
    let (kept, added) = match after.strip_prefix(before) {
        Some(added) => (added.iter().any(|message| message.role == Role::Assistant), added),
        None => (true, &after[last_reply.map_or(0, |at| at + 1)..]),
    };
    let heard = added.iter().filter(|message| message.role != Role::Assistant);
    let heard: Vec<&str> = heard.map(|message| &*message.content).collect();
    Ok((kept.then_some(reply), Some(heard.join("\n"))))
}

/// What the model wrote for a step, up to the end of the action that was taken from it.
fn reply(protocol: &dyn Protocol, step: &ReplayedStep) -> String {
    let whole = step.calls.last().map_or("", |(_, call)| call.completion.trim_end_matches(is_python_space));
    let aside = step.call.discarded.as_deref().map(|text| text.trim_matches(is_python_space));
    if let Some(kept) = aside.filter(|aside| !aside.is_empty()).and_then(|aside| whole.strip_suffix(aside)) {
        return kept.trim_end_matches(is_python_space).to_owned();
    }
    let parsed = protocol.parse(whole, step.call.step);
    if parsed.kind == Kind::Invalid {
        return whole.to_owned();
    }
    let ends = whole.match_indices('\n').map(|(end, _)| end).take(MAX_LINES);
    let mut prefixes = ends.map(|end| whole[..end].trim_end_matches(is_python_space));
    let same = prefixes.find(|prefix| is_same(&protocol.parse(prefix, step.call.step), &parsed));
    same.unwrap_or(whole).to_owned()
}

/// Whether two replies mean the same step; how much text stood around an object does not matter.
fn is_same(a: &Parsed, b: &Parsed) -> bool {
    let input = match (&a.args, &b.args) {
        (Some(a), Some(b)) => a.to_json() == b.to_json(),
        (None, None) => a.input == b.input,
        _ => false,
    };
    input && (&a.kind, &a.thought, &a.tool, &a.answer) == (&b.kind, &b.thought, &b.tool, &b.answer)
}

/// Whether a reply holds what an observation begins with.
fn invents(protocol: &dyn Protocol, n: usize, reply: &str) -> bool {
    let shown = protocol.observation(n, "");
    let label = shown.lines().map(str::trim).find(|line| !line.is_empty());
    label.is_some_and(|label| reply.contains(label))
}

#[cfg(test)]
mod tests;
