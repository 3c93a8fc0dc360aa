//! `tools`: ours, for models that call functions natively, as their providers trained them to.
//!
//! The system message has the task, the functions `search`, `lookup` and `finish` are offered beside it, and each result
//! goes back as the answer to its call. Every use of a tool is a step, an answer included, so that the step limit means
//! the same as in protocols of text; what the model says beside its calls is the thought, hidden reasoning is not.
//!
//! | in a reply | what happens |
//! |---|---|
//! | one call | it is a step |
//! | several calls | with `parallel=on` each is a step, in order; otherwise the first, and the others are answered with an error |
//! | an unknown function, arguments that are not an object or do not fit | a step that is answered with an error |
//! | an argument of another name, a number for a text | repaired |
//! | no call | with `answer=text` the text is the answer; otherwise the model is told to make one, once in a row |
//!
//! `docs/protocols.md` lists the options.
//!
//! | version | ids of the calls of exemplars, and of replies whose server gives none |
//! |---|---|
//! | 1 | words such as `example_1_call_2`, which Mistral refuses |
//! | 2 | nine letters and digits ([`reply_call_id`]) |

use super::tools::{self, Resolved};
use super::{
    Dialogue, Episode, Frame, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, TOOL_SETS, ToolSpec,
    ToolTexts, Turn,
};
use crate::base::{
    Call, Function, FunctionCall, Functions, Message, Outcome, Prompt, Question, Request, Role, Tool, ToolSet,
    tool::{exemplar_call_id, reply_call_id},
};
use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

pub const ID: &str = "tools";

#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Native {
    text_answers: bool,
    parallel: bool,
    required: bool,
    strict: bool,
    tools: ToolSet,
    version: u32,
}

impl Native {
    /// Its version. Since 2 ids of calls have nine letters and digits.
    pub const VERSION: u32 = 2;

    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options
            .known(ID, &["answer=tool|text", "parallel=off|on", "choice=auto|required", "strict=off|on", TOOL_SETS])?;
        let switch = |name| options.choice(ID, name, &[("off", false), ("on", true)], "`off` or `on`");
        let text_answers = options.choice(ID, "answer", &[("tool", false), ("text", true)], "`tool` or `text`")?;
        let required = options.choice(ID, "choice", &[("auto", false), ("required", true)], "`auto` or `required`")?;
        if text_answers && required {
            let possible = "`auto` with answer=text, whose answers are replies without a call";
            return Err(OptionError::value(ID, "choice", "required", possible));
        }
        let (parallel, strict) = (switch("parallel")?, switch("strict")?);
        let tools = options.tools(ID)?;
        Ok(Self { text_answers, required, parallel, strict, tools, version: Self::VERSION })
    }

    #[must_use]
    pub fn of_version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    fn call_id(self, n: usize) -> String {
        if self.version < 2 { format!("call_{n}") } else { reply_call_id(n, 0) }
    }

    /// An id for call `at` (from 1) of the reply at step `n` that is not among those `used`.
    fn other_id(self, used: &HashSet<String>, n: usize, at: usize) -> String {
        if self.version < 2 {
            let mut id = format!("call_{n}_{at}");
            while used.contains(&id) {
                id.push('_');
            }
            return id;
        }
        // Of one number more than there are used ids, one is free.
        let mut ids = (at..=at.saturating_add(used.len())).map(|at| reply_call_id(n, at));
        ids.find(|id| !used.contains(id)).unwrap_or_default()
    }

    fn functions(self, tools: &[ToolSpec]) -> Functions {
        let function = |tool: &ToolSpec| {
            let mut parameters = tool.schema();
            if self.strict {
                parameters["additionalProperties"] = json!(false);
            }
            Function { name: tool.name.clone(), description: tool.description.clone(), parameters }
        };
        let list = tools.iter().map(function).collect();
        Functions { list, required: self.required, parallel: self.parallel, strict: self.strict }
    }
}

impl Protocol for Native {
    fn profile(&self) -> Profile {
        // Reasoning counts as part of a reply with most providers.
        let Self { version, tools, .. } = *self;
        Profile { max_tokens: 2048, version, tools, ..Profile::new(ID, 7, Layout::System) }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(ToolCalls {
            native: *self,
            functions: Arc::new(self.functions(&setup.frame.tools)),
            episode: Episode::new(setup),
            messages: Vec::new(),
            question: 0,
            due: VecDeque::new(),
            thought: None,
            waiting: Waiting::Model,
            nudged: false,
        })
    }

    /// Reads what [`Protocol::step`] writes.
    fn parse(&self, output: &str, _step: usize) -> Parsed {
        let mut lines: Vec<&str> = output.trim().lines().collect();
        let mut call = None;
        // The first of the calls at the end: a run makes no other.
        while let Some(before) = lines.last().and_then(|line| call_of_line(line)) {
            call = Some(before);
            lines.pop();
        }
        let text = lines.join("\n").trim().to_owned();
        let Some(call) = call else {
            return match text {
                answer if self.text_answers && !answer.is_empty() => Parsed::finish(None, answer),
                _ => Parsed::invalid("the reply calls no tool"),
            };
        };
        let thought = Some(text).filter(|text| !text.is_empty());
        match resolve(&Frame { tools: self.tools(&ToolTexts::default()), ..Frame::default() }, &call) {
            Ok(Resolved { tool: Tool::Finish, input, .. }) => Parsed::finish(thought, input),
            Ok(Resolved { tool, input, .. }) => {
                let args = serde_json::from_str::<Map<String, Value>>(&call.arguments).ok();
                Parsed { args: args.map(Into::into), ..Parsed::act(thought, tool.name(), input) }
            }
            Err((_, error)) => Parsed { thought, ..Parsed::invalid(error) },
        }
    }

    fn step(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let Message { content, calls, .. } = self.reply(n, thought, tool, input);
        let call =
            calls.iter().map(|call| format!("{{\"name\":{},\"arguments\":{}}}", json!(call.name), call.arguments));
        let lines = [content.to_string()].into_iter().chain(call).filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }

    fn observation(&self, _n: usize, text: &str) -> String {
        text.to_owned()
    }

    fn observation_role(&self) -> Role {
        Role::Tool
    }

    fn reply(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> Message {
        if tool == Tool::Finish && self.text_answers {
            return Message::assistant(input);
        }
        let parameter = match tool {
            Tool::Finish => "answer",
            Tool::Think => "input",
            tool => tools::signature(tool).map_or("input", |(_, parameter)| parameter),
        };
        let arguments = json!({ parameter: input }).to_string();
        let call = FunctionCall { id: self.call_id(n), name: tool.name().to_owned(), arguments };
        Message { calls: vec![call], ..Message::assistant(thought.unwrap_or_default()) }
    }

    fn result(&self, n: usize, text: &str) -> Message {
        Message::result(self.call_id(n), text)
    }

    fn of_exemplar(&self, number: usize, n: usize) -> String {
        if self.version < 2 { format!("example_{number}_call_{n}") } else { exemplar_call_id(number, n) }
    }

    fn with_ids(&self, before: &[Message], calls: &[FunctionCall], step: usize) -> Vec<FunctionCall> {
        let before = before.iter().flat_map(|message| &message.calls);
        let mut used: HashSet<String> = before.map(|call| call.id.clone()).collect();
        let keeps: Vec<bool> = calls.iter().map(|call| !call.id.is_empty() && used.insert(call.id.clone())).collect();
        let mut with_ids = calls.to_vec();
        for (at, call) in (1..).zip(&mut with_ids).filter(|(at, _)| !keeps[at - 1]) {
            call.id = self.other_id(&used, step, at);
            used.insert(call.id.clone());
        }
        with_ids
    }

    fn tools(&self, texts: &ToolTexts) -> Vec<ToolSpec> {
        let answer = (!self.text_answers).then_some(Tool::Finish);
        let offered = self.tools.tools().iter().copied().chain(answer);
        let mut tools: Vec<ToolSpec> = offered.map(|tool| ToolSpec::of(tool, texts)).collect();
        for tool in &mut tools {
            tool.name.make_ascii_lowercase();
        }
        tools
    }
}

/// A call that is written as `{"name": …, "arguments": {…}}`.
fn call_of_line(line: &str) -> Option<FunctionCall> {
    let call: Value = serde_json::from_str(line.trim()).ok()?;
    let (name, arguments) = (call.get("name")?.as_str()?.to_owned(), call.get("arguments")?.to_string());
    Some(FunctionCall { id: String::new(), name, arguments })
}

/// The use of a tool that a call means, or the kind of the fault and its words.
fn resolve(frame: &Frame, call: &FunctionCall) -> Result<Resolved, (&'static str, String)> {
    let tools = &frame.tools;
    let exact = tools.iter().find(|tool| tool.name == call.name);
    let Some(tool) = exact.or_else(|| tools.iter().find(|tool| tool.name.eq_ignore_ascii_case(call.name.trim())))
    else {
        let names = tools::names(tools);
        let ours = "there is no tool `{tool}`; the tools are {tools}";
        let words = frame.sentence("unknown_tool", ours, &[("tools", &names), ("tool", &call.name)]);
        return Err((UNKNOWN_TOOL, words));
    };
    let arguments = match call.arguments.trim() {
        "" => "{}",
        arguments => arguments,
    };
    let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else {
        return Err((MALFORMED_ARGUMENTS, frame.sentence("not_json", NOT_JSON, &[("argument", "")])));
    };
    let message = |misfit| frame.misfit(&misfit, tool, MISFITS, |names| names.join("`, `"));
    let resolved = tool.resolve(&arguments, true);
    let mut resolved = resolved.map_err(|misfit| (MALFORMED_ARGUMENTS, message(misfit)))?;
    if exact.is_none() {
        resolved.repairs.insert(0, TOOL_NAME);
    }
    Ok(resolved)
}

// The conversation: which calls are carried out, what their results are, how it ends.

/// Kind of a repair: a call that was one too many, and was not carried out.
const EXTRA_CALL: &str = "extra_call";
/// Kind of a repair: the name of a function in another case.
const TOOL_NAME: &str = "tool_name";
/// Kind of a repair: the model was told that there is no such function.
const UNKNOWN_TOOL: &str = "unknown_tool";
/// Kind of a repair: the model was told that the arguments are not a JSON object, or do not fit.
const MALFORMED_ARGUMENTS: &str = "malformed_arguments";
/// Kind of a repair: the model was told to call a function.
const MISSING_CALL: &str = "missing_call";

const NOT_JSON: &str = "the arguments are not a JSON object";
const MISFITS: [&str; 2] =
    ["the tool has no arguments `{argument}`", "the argument `{argument}` is missing, or is not a text"];

#[derive(Debug)]
struct ToolCalls {
    native: Native,
    functions: Arc<Functions>,
    episode: Episode,
    /// The conversation so far, without the text added before the last step.
    messages: Vec<Message>,
    question: usize,
    /// Calls of the last reply that have not been carried out; `false` for those that are one too many.
    due: VecDeque<(FunctionCall, bool)>,
    /// What the model said beside the calls, for the first of them.
    thought: Option<String>,
    waiting: Waiting,
    nudged: bool,
}

#[derive(Debug)]
enum Waiting {
    Model,
    /// The result of the call with this id.
    Result(String),
    /// What the model is told about a reply without a call.
    Nudge,
    /// What it is told about a call that its provider could not read.
    Unread,
}

impl ToolCalls {
    fn ask(&mut self) -> Turn {
        let (n, limit) = (self.episode.step, self.episode.setup.max_steps);
        self.waiting = Waiting::Model;
        let mut messages = self.messages.clone();
        let force_stop = self.episode.setup.frame.text_for("force_stop");
        if n == limit && !force_stop.is_empty() {
            messages.push(Message::user(force_stop));
        }
        let decoding = self.episode.setup.decoding.clone();
        let functions = Some(Arc::clone(&self.functions));
        Turn::Ask(Request { functions, ..Request::new(Prompt::Messages(messages), Vec::new(), decoding) })
    }

    fn next(&mut self) -> Turn {
        if let Some(end) = self.episode.over("steps") {
            return end;
        }
        while let Some((call, wanted)) = self.due.pop_front() {
            if wanted {
                return self.carry_out(&call);
            }
            let ours = "Error: one call at a time; this one was not made";
            let refusal = self.episode.setup.frame.sentence("extra_call", ours, &[]);
            self.messages.push(Message::result(call.id, refusal));
        }
        self.ask()
    }

    fn carry_out(&mut self, call: &FunctionCall) -> Turn {
        self.waiting = Waiting::Result(call.id.clone());
        let thought = self.thought.take();
        let action_text = format!("{}({})", call.name, call.arguments);
        match resolve(&self.episode.setup.frame, call) {
            Ok(Resolved { tool: Tool::Finish, input, repairs }) => {
                for kind in repairs {
                    self.episode.repaired(kind);
                }
                self.episode.finish(thought, action_text, input)
            }
            Ok(resolved) => self.episode.use_tool(thought, action_text, resolved),
            Err((kind, error)) => {
                self.episode.repaired(kind);
                let error = self.feedback(&error);
                self.episode.answer_itself(thought, action_text, error)
            }
        }
    }

    fn feedback(&self, error: &str) -> String {
        self.episode.setup.frame.sentence("feedback", "Error: {error}", &[("error", error)])
    }

    /// A call that the provider could not read is answered like one with unreadable arguments, but in a message: it has no id.
    fn malformed_call(&mut self, text: &str) -> Turn {
        (self.waiting, self.nudged) = (Waiting::Unread, false);
        self.episode.repaired(MALFORMED_ARGUMENTS);
        let error = self.episode.setup.frame.sentence("not_json", NOT_JSON, &[("argument", "")]);
        let error = self.feedback(&error);
        self.episode.answer_itself(None, text.to_owned(), error)
    }

    /// A reply with neither a call nor an answer is a step that the system answers itself.
    fn no_call(&mut self, text: &str) -> Turn {
        self.waiting = Waiting::Nudge;
        self.episode.repaired(MISSING_CALL);
        let reminder = self.episode.setup.frame.text_for("no_call").to_owned();
        self.episode.answer_itself(None, text.to_owned(), reminder)
    }
}

impl Dialogue for ToolCalls {
    fn begin(&mut self, question: &Question) -> Turn {
        self.messages = self.episode.before_question();
        self.question = self.messages.len();
        self.messages.push(self.episode.question(&self.native, question));
        self.next()
    }

    fn completion(&mut self, text: &str) -> Turn {
        self.called(&Call { completion: text.to_owned(), ..Call::default() })
    }

    fn called(&mut self, call: &Call) -> Turn {
        let text = call.completion.trim();
        let calls = self.native.with_ids(&self.messages, &call.calls, self.episode.step);
        // Results would refer to calls that are not in it.
        let verbatim = call.verbatim.clone().filter(|verbatim| calls == call.calls || !verbatim.has_ids());
        let reply = Message { calls: calls.clone(), verbatim: verbatim.map(Arc::new), ..Message::assistant(text) };
        if !text.is_empty() || !reply.calls.is_empty() {
            self.messages.push(reply);
        }
        if calls.is_empty() {
            if call.cause == Some(crate::base::Cause::MalformedCall) {
                return self.malformed_call(text);
            }
            return match text {
                answer if self.native.text_answers && !answer.is_empty() => {
                    self.waiting = Waiting::Model;
                    self.episode.finish(None, answer.to_owned(), answer.to_owned())
                }
                text => self.no_call(text),
            };
        }
        self.nudged = false;
        self.thought = Some(text.to_owned()).filter(|text| !text.is_empty());
        let wanted = if self.native.parallel { calls.len() } else { 1 };
        self.due = calls.iter().enumerate().map(|(at, call)| (call.clone(), at < wanted)).collect();
        let extra: Vec<String> =
            calls.iter().skip(wanted).map(|call| format!("{}({})", call.name, call.arguments)).collect();
        if !extra.is_empty() {
            self.episode.repaired(EXTRA_CALL);
            self.episode.discarded = Some(extra.join("\n"));
        }
        self.next()
    }

    fn observation(&mut self, text: &str) -> Turn {
        match std::mem::replace(&mut self.waiting, Waiting::Model) {
            Waiting::Result(id) => self.messages.push(Message::result(id, text)),
            Waiting::Nudge if self.nudged => {
                let detail = "two replies in a row called no tool";
                return self.episode.stop(Outcome::FormatFailure, detail);
            }
            Waiting::Nudge => {
                self.nudged = true;
                self.messages.push(Message::user(text));
            }
            Waiting::Unread => self.messages.push(Message::user(text)),
            Waiting::Model => {}
        }
        self.next()
    }

    /// The question, and the answer as the model's reply.
    fn memory(&self) -> Vec<Message> {
        let mut memory = self.episode.setup.history.clone();
        if let (Some(question), Some(answer)) = (self.messages.get(self.question), &self.episode.answer) {
            memory.extend([question.clone(), Message::assistant(answer.as_str())]);
        }
        memory
    }
}

#[cfg(test)]
mod tests;
