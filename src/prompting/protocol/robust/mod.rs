//! `robust`: our own protocol, for chat models that run ahead, and for servers that refuse `stop`.
//!
//! The paper's numbered labels as alternating turns: a system message, examples, the question, then per step what
//! the model wrote (assistant) and what the tool answered (user). Replies are read with the same tolerance for every
//! model, and everything repaired is counted by kind ([`repair`]). Reading is linear in the length of the reply.

mod action;
mod line;
pub mod repair;
mod reply;

use super::react_paper::{self, verb};
use super::{
    Dialogue, Episode, Frame, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, TOOL_SETS, Turn,
};
use crate::base::text::cut;
use crate::base::{Message, Outcome, Prompt, Question, Reply as Answerer, Role, Tool, ToolSet};
use line::Offered;
use reply::{Action, Refused, Reply};
use std::fmt;
use std::sync::Arc;

pub const ID: &str = "robust";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Robust {
    version: u32,
    tools: ToolSet,
}

impl Robust {
    /// Its version. Since 2 any observation ends a reply, and replies are read in more forms.
    pub const VERSION: u32 = 2;

    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, &[TOOL_SETS])?;
        Ok(Self { version: Self::VERSION, tools: options.tools(ID)? })
    }

    /// As it was in an earlier version: requests are the same, replies are read as they are today.
    #[must_use]
    pub fn of_version(self, version: u32) -> Self {
        Self { version, ..self }
    }
}

impl Default for Robust {
    fn default() -> Self {
        Self { version: Self::VERSION, tools: ToolSet::default() }
    }
}

impl Protocol for Robust {
    fn profile(&self) -> Profile {
        let Self { version, tools } = *self;
        Profile { acts_without_thoughts: true, version, tools, ..Profile::new(ID, 7, Layout::Instruction) }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        let frame = &setup.frame;
        let texts = frame.system.iter().chain(frame.texts.values()).map(AsRef::as_ref);
        Box::new(RobustDialogue {
            episode: Episode::new(setup),
            messages: Vec::new(),
            question: None,
            waiting: Waiting::Model,
            failed: false,
            offered: Offered::of(self.tools).with_texts(texts.chain([&*frame.prefix, &*frame.suffix])),
            robust: *self,
        })
    }

    fn parse(&self, output: &str, step: usize) -> Parsed {
        let Reply { thought, action, .. } = Reply::read(output, step, true, &Offered::of(self.tools));
        match action {
            Ok(action) if action.tool == Tool::Finish => Parsed::finish(thought, action.input),
            Ok(action) => Parsed::act(thought, react_paper::verb(action.tool), action.input),
            Err(refused) => Parsed { thought, ..Parsed::invalid(refused.fault.to_string()) },
        }
    }

    fn step(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let mut lines = react_paper::action_lines(n, thought, &react_paper::action(tool, input), " ");
        // The last line has no end.
        lines.pop();
        lines
    }

    fn observation(&self, n: usize, text: &str) -> String {
        format!("Observation {n}: {}", text.trim_end())
    }
}

// The conversation: what the model reads, which step comes next, how it ends.

/// What is said before the last step where the frame has nothing for it. Like the texts below it has no action in it:
/// weak models echo what they are told, and an echo must not be one.
const DEFAULT_FORCE_STOP: &str =
    "This is the last step: use Finish now, with your best answer in its brackets, based on what has been found.";
/// What is said after a reply without an action where the frame has nothing for it.
const DEFAULT_FEEDBACK: &str = "Error: {error}. Write a line that begins with Thought {n} and a colon, then a line that begins with Action {n}, a colon and the name of one tool ({tools}), directly followed by its argument in square brackets.";
const DEFAULT_FEEDBACK_ACT: &str = "Error: {error}. Write one line that begins with Action {n}, a colon and the name of one tool ({tools}), directly followed by its argument in square brackets.";

#[derive(Debug)]
struct RobustDialogue {
    episode: Episode,
    /// The conversation so far, without the text added before the last step.
    messages: Vec<Message>,
    /// The question as it was put, and its place among the messages.
    question: Option<(usize, Message)>,
    waiting: Waiting,
    failed: bool,
    offered: Offered,
    robust: Robust,
}

#[derive(Debug)]
enum Waiting {
    /// A reply.
    Model,
    /// The tool's answer to this step, written as the model is shown it.
    Tool { step: String },
    /// The feedback on an unusable reply; `step` is what the model is shown of it.
    Feedback { step: Option<String>, problem: String },
}

impl RobustDialogue {
    fn ask(&mut self) -> Turn {
        let (n, limit) = (self.episode.step, self.episode.setup.max_steps);
        if let Some(end) = self.episode.over("steps") {
            return end;
        }
        self.waiting = Waiting::Model;
        let mut messages = self.messages.clone();
        if n == limit
            && let Some(last) = messages.last_mut()
        {
            let force_stop = self.episode.setup.frame.sentence("force_stop", DEFAULT_FORCE_STOP, &[]);
            *last = Message::user(format!("{}\n{force_stop}", last.content));
        }
        let stop = self.stops();
        self.episode.ask(Prompt::Messages(messages), stop)
    }

    /// An observation ends a reply, whatever its number; a step does not: the reply may have the numbers of other steps.
    fn stops(&self) -> Vec<String> {
        let n = self.episode.step;
        if self.robust.version < 2 {
            let labels = [("Observation", n), ("Thought", n + 1), ("Action", n + 1)];
            return labels.map(|(label, n)| format!("\n{label} {n}:")).to_vec();
        }
        vec!["\nObservation".to_owned()]
    }

    fn act(&mut self, thought: Option<String>, action: Action) -> Turn {
        self.failed = false;
        let step = self.robust.step(self.episode.step, thought.as_deref(), action.tool, &action.input);
        self.waiting = Waiting::Tool { step };
        if action.tool == Tool::Finish {
            self.episode.answers(&action.input);
        }
        self.episode.turn(thought, action.text, action.tool, action.input, Answerer::Tool)
    }

    /// An unusable reply is a step that the system answers itself.
    fn refuse(&mut self, thought: Option<String>, Refused { fault, attempt }: Refused) -> Turn {
        let n = self.episode.step;
        let problem = fault.to_string();
        let default = if self.episode.setup.thoughts { DEFAULT_FEEDBACK } else { DEFAULT_FEEDBACK_ACT };
        let next = (n + 1).to_string();
        let frame = &self.episode.setup.frame;
        let error = fault.sentence(frame, self.offered.tools);
        let tools = react_paper::verbs(self.offered.tools, ", ", ", ");
        let feedback = frame.sentence("feedback", default, &[("tools", &tools), ("n", &next), ("error", &error)]);
        let shown = [("Thought", thought.as_deref().unwrap_or_default()), ("Action", &attempt)];
        let shown = shown.iter().filter(|(_, text)| !text.is_empty());
        let shown: Vec<String> = shown.map(|(label, text)| format!("{label} {n}: {text}")).collect();
        self.waiting = Waiting::Feedback { step: (!shown.is_empty()).then(|| shown.join("\n")), problem };
        self.episode.answer_itself(thought, attempt, feedback)
    }

    fn after_feedback(&mut self, step: Option<String>, problem: &str, feedback: &str) -> Turn {
        if self.failed {
            let detail = format!("two replies in a row could not be used; the last: {problem}");
            return self.episode.stop(Outcome::FormatFailure, detail);
        }
        self.failed = true;
        match (step, self.messages.last_mut()) {
            // Turns alternate: after an empty reply the user's message continues.
            (None, Some(last)) => *last = Message::user(format!("{}\n{feedback}", last.content)),
            (step, _) => {
                self.messages.extend(step.map(Message::assistant));
                self.messages.push(Message::user(feedback));
            }
        }
        self.ask()
    }
}

impl Dialogue for RobustDialogue {
    fn begin(&mut self, question: &Question) -> Turn {
        let question = self.episode.question(&self.robust, question);
        self.messages = self.episode.before_question();
        self.question = Some((self.messages.len(), question.clone()));
        self.messages.push(question);
        self.ask()
    }

    fn completion(&mut self, text: &str) -> Turn {
        let reply = Reply::read(text, self.episode.step, self.episode.setup.thoughts, &self.offered);
        self.episode.discarded = reply.discarded;
        for kind in reply.repairs.kinds() {
            self.episode.repaired(kind);
        }
        match reply.action {
            Ok(action) => self.act(reply.thought, action),
            Err(refused) => self.refuse(reply.thought, refused),
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        match std::mem::replace(&mut self.waiting, Waiting::Model) {
            Waiting::Tool { step } => {
                self.messages.push(Message::assistant(step));
                self.messages.push(Message::user(self.robust.observation(self.episode.step - 1, text)));
                self.ask()
            }
            Waiting::Feedback { step, problem } => self.after_feedback(step, &problem, text),
            Waiting::Model => self.ask(),
        }
    }

    /// The question and the last step, which for the next question is the answer.
    fn memory(&self) -> Vec<Message> {
        let mut memory = self.episode.setup.history.clone();
        // Without a step nothing is kept: two questions in a row would not alternate.
        if let Some((at, question)) = &self.question
            && let Some(last) = self.messages[*at..].iter().rfind(|message| message.role == Role::Assistant)
        {
            memory.extend([question.clone(), last.clone()]);
        }
        memory
    }
}

// What is wrong with an unusable reply, in words for the model.

/// Longest piece of the model's own text that a sentence repeats, in characters.
const MAX_SHOWN: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fault {
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
    Several,
}

impl Fault {
    fn not_a_tool(text: &str) -> Self {
        Self::NotATool(cut(text, MAX_SHOWN).replace(char::is_control, " "))
    }

    fn sentence(&self, frame: &Frame, tools: ToolSet) -> String {
        let (key, ours) = match self {
            Self::Empty => ("reply_empty", "the reply is empty"),
            Self::Thinking => ("reply_cut", "the reply ends inside its reasoning"),
            Self::NoAction => ("no_action", "the reply has no action"),
            Self::NotATool(_) => ("unknown_tool", "`{tool}` is not an action: the tools are {tools}"),
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
        frame.sentence(key, ours, &[("tools", &react_paper::verbs(tools, ", ", " and ")), ("tool", tool)])
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(&Frame::default(), ToolSet::default()))
    }
}

#[cfg(test)]
mod tests;
