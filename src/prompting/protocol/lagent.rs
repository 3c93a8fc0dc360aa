//! `lagent`: lagent's `ReAct`, quirks included.
//!
//! Every turn is one request: the system message with the call protocol, the conversation so far, and on the last
//! turn a system message that asks for a result. A reply is read by labels that may stand anywhere in it; the final
//! answer counts above all, the last action is paired with everything after the first input label, and what the
//! tool says comes back as a system message `Response:…`.
//!
//! In the JSON form a reply is an object with a thought and either an action or a conclusion; what an action gives
//! comes back as the user's message, bare, and the whole conversation is remembered. Any other reply
//! ends the run, and so does the word `conclusion` anywhere in a reply.
//!
//! `docs/protocols.md` lists the options. `labels=v0.1` changes more than the labels: a tool takes its input as plain
//! text, names with dots do not address toolkits, the model is never asked to come to an end (the flag for it was set
//! after the last turn), and questions and answers are remembered.
//!
//! Upstream uses labels as regular expressions; here they are plain text.

use super::model_json::{self, Dict, Item, dumps, dumps_ascii, repr_value, set_repr};
use super::tools::{Misfit, Resolved, signature};
use super::{
    Dialogue, Episode, Kind, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, TOOL_SETS, ToolSpec, Turn,
};
use crate::base::python::{is_python_space, repr, strip};
use crate::base::{Message, Outcome, Prompt, Question, Role, Tool, ToolSet};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub const ID: &str = "lagent";

const OPTIONS: &[&str] = &[
    "labels=v0.2|v0.1",
    "thought=TEXT",
    "action=TEXT",
    "action_input=TEXT",
    "response=TEXT",
    "finish=TEXT",
    "response_end=[TEXT]",
    "variant=labels|json",
    "language=en|zh",
    "arguments=mend|strict",
    TOOL_SETS,
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lagent {
    form: Form,
    labels: Arc<Labels>,
    given_up: &'static str,
    mend: bool,
    tools: ToolSet,
}

/// What a reply looks like, and whose behaviour is kept where releases differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Labels, as in the first releases.
    V01,
    /// Labels, as in the later ones.
    V02,
    Json,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Labels {
    thought: String,
    action: String,
    action_input: String,
    response: String,
    finish: String,
    response_end: String,
}

impl Labels {
    fn new(options: &Options, form: Form) -> Result<Self, OptionError> {
        let (action_input, finish) = match form {
            Form::V01 => ("ActionInput:", "FinalAnswer:"),
            Form::V02 | Form::Json => ("Action Input:", "Final Answer:"),
        };
        let label = |name: &str, default: &str| match options.get(name) {
            Some("") => Err(OptionError::value(ID, name, "", "any text that is not empty")),
            given => Ok(given.unwrap_or(default).to_owned()),
        };
        Ok(Self {
            thought: label("thought", "Thought:")?,
            action: label("action", "Action:")?,
            action_input: label("action_input", action_input)?,
            response: label("response", "Response:")?,
            finish: label("finish", finish)?,
            response_end: options.get("response_end").unwrap_or("\n").to_owned(),
        })
    }
}

impl Lagent {
    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, OPTIONS)?;
        let json = options.choice(ID, "variant", &[("labels", false), ("json", true)], "`labels` or `json`")?;
        let release = options.choice(ID, "labels", &[("v0.2", Form::V02), ("v0.1", Form::V01)], "`v0.2` or `v0.1`")?;
        let labels = ["labels", "thought", "action", "action_input", "response", "finish", "response_end"];
        if json && let Some((name, value)) = labels.into_iter().find_map(|name| Some((name, options.get(name)?))) {
            return Err(OptionError::value(ID, name, value, "set with `variant=labels` only"));
        }
        let form = if json { Form::Json } else { release };
        let given_up = [("en", "Sorry that I cannot answer your question."), ("zh", "对不起，我无法回答你的问题")];
        Ok(Self {
            form,
            labels: Arc::new(Labels::new(options, form)?),
            given_up: options.choice(ID, "language", &given_up, "`en` or `zh`")?,
            mend: options.mends(ID)?,
            tools: options.tools(ID)?,
        })
    }
}

impl Protocol for Lagent {
    fn profile(&self) -> Profile {
        let max_steps = match self.form {
            Form::Json => 5,
            Form::V02 => 4,
            Form::V01 => 2,
        };
        Profile { tools: self.tools, ..Profile::new(ID, max_steps, Layout::System) }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        let (lagent, episode) = (self.clone(), Episode::new(setup));
        Box::new(LagentDialogue { lagent, episode, inner: Vec::new(), response: None })
    }

    fn parse(&self, output: &str, _step: usize) -> Parsed {
        if self.form == Form::Json {
            return json_reply(output).unwrap_or_else(Parsed::invalid);
        }
        let (thought, action, input) = labelled_reply(output, &self.labels);
        let thought = Some(thought.to_owned());
        match action {
            FINISH => Parsed::finish(thought, input),
            NO_ACTION => Parsed { thought, ..Parsed::invalid(FORMAT) },
            action => Parsed::act(thought, action, input),
        }
    }

    fn question(&self, _label: &str, question: &str) -> String {
        question.to_owned()
    }

    fn step(&self, _n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let labels = &self.labels;
        if self.form == Form::Json {
            let thought = thought.unwrap_or_default();
            return dumps(&match signature(tool) {
                Some((name, parameter)) => {
                    json!({ "thought_process": thought, "action": { "name": name, "parameters": { parameter: input } } })
                }
                None => json!({ "thought_process": thought, "conclusion": input }),
            });
        }
        let thought = thought.map(|thought| format!("{} {thought}\n", labels.thought)).unwrap_or_default();
        let Some((name, parameter)) = signature(tool) else {
            return format!("{thought}{} {input}", if tool == Tool::Finish { &labels.finish } else { &labels.action });
        };
        let argument = if self.form == Form::V01 { input.to_owned() } else { dumps(&json!({ parameter: input })) };
        format!("{thought}{} {name}\n{} {argument}", labels.action, labels.action_input)
    }

    fn observation(&self, _n: usize, text: &str) -> String {
        match self.form {
            Form::V01 | Form::V02 => format!("{}{text}{}", self.labels.response, self.labels.response_end),
            Form::Json => text.to_owned(),
        }
    }

    fn observation_role(&self) -> Role {
        match self.form {
            Form::V01 | Form::V02 => Role::System,
            Form::Json => Role::User,
        }
    }

    /// The lists of a call protocol are written as Python writes them, and the one of the JSON protocol in ASCII.
    fn slots(&self, tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
        let description = match self.form {
            Form::V01 => repr_value(&tools.iter().map(|tool| (tool.name.clone(), tool.description.clone())).collect()),
            Form::V02 => repr_value(&descriptions(tools)),
            Form::Json => dumps_ascii(&descriptions(tools)),
        };
        let names = repr_value(&tools.iter().map(|tool| tool.name.clone()).collect());
        let mut slots = vec![("tool_description", description), ("action_names", names)];
        if self.form != Form::Json {
            let labels = &self.labels;
            slots.extend([
                ("thought", labels.thought.clone()),
                ("action", labels.action.clone()),
                ("action_input", labels.action_input.clone()),
                ("response", labels.response.clone()),
                ("finish", labels.finish.clone()),
            ]);
        }
        slots
    }
}

// Tools as written for the model.

/// Upstream adds this sentence to every tool whose arguments are JSON; it is part of the list's form.
const PARAMETERS: &str = "If you call this tool, you must pass arguments in the JSON format {key: value}, where the key is the parameter name.";

fn descriptions(tools: &[ToolSpec]) -> Value {
    let description = |tool: &ToolSpec| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "parameters": [
                { "name": tool.parameter, "type": "STRING", "description": tool.parameter_description },
            ],
            "required": [tool.parameter],
            "parameter_description": PARAMETERS,
        })
    };
    tools.iter().map(description).collect()
}

// The conversation.

#[derive(Debug)]
struct LagentDialogue {
    lagent: Lagent,
    episode: Episode,
    inner: Vec<Message>,
    /// What the system gives back in the end, white space and all.
    response: Option<String>,
}

impl LagentDialogue {
    fn ask(&mut self) -> Turn {
        let limit = self.episode.setup.max_steps;
        if self.episode.step > limit {
            return self.exhausted();
        }
        let mut messages = [self.episode.before_question(), self.inner.clone()].concat();
        if self.lagent.form == Form::Json {
            messages = joined(messages);
        }
        // The first releases raise the flag for it after the last turn; the JSON form has no such text, but a frame may.
        if self.episode.step == limit && self.lagent.form != Form::V01 {
            messages.extend(self.episode.force_stop());
        }
        self.episode.ask(Prompt::Messages(messages), Vec::new())
    }

    fn exhausted(&mut self) -> Turn {
        let limit = self.episode.setup.max_steps;
        let detail = match self.lagent.form {
            Form::V01 | Form::V02 => self.lagent.given_up.to_owned(),
            Form::Json => {
                format!("no conclusion within {limit} steps; the original gives the last action's result")
            }
        };
        self.response = Some(self.lagent.given_up.to_owned());
        self.episode.stop(Outcome::StepLimit, detail)
    }

    /// The effect of a reply by labels, with its thought and its action as it was written.
    fn labelled(&self, executor: Executor<'_>, text: &str) -> (Effect, Option<String>, String) {
        let (thought, action, input) = labelled_reply(text, &self.lagent.labels);
        let action_text = match action {
            FINISH => format!("{}{input}", self.lagent.labels.finish),
            NO_ACTION => text.to_owned(),
            action => format!("{action} {input}"),
        };
        (executor.run(self.lagent.form, action, input), Some(thought.to_owned()), action_text)
    }
}

/// Messages in which two of the user's in a row are one, with nothing between them.
fn joined(messages: Vec<Message>) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        match joined.last_mut() {
            Some(last) if last.role == Role::User && message.role == Role::User => {
                *last = Message::user(format!("{}{}", last.content, message.content));
            }
            _ => joined.push(message),
        }
    }
    joined
}

impl Dialogue for LagentDialogue {
    fn begin(&mut self, question: &Question) -> Turn {
        self.inner = vec![Message::user(question.question.as_str())];
        self.ask()
    }

    fn completion(&mut self, text: &str) -> Turn {
        let setup = Arc::clone(&self.episode.setup);
        let executor = Executor { tools: &setup.frame.tools, mend: self.lagent.mend };
        let (effect, thought, action_text) = match self.lagent.form {
            Form::V01 | Form::V02 => self.labelled(executor, text),
            Form::Json => match json_reply(text) {
                Err(exception) => return Effect::Raise(exception).turn(&mut self.episode, None, String::new()),
                Ok(Parsed { thought, tool: Some(name), args: Some(args), .. }) => {
                    (executor.run_decoded(&name, &args.to_json()), thought, text.to_owned())
                }
                Ok(Parsed { thought, answer, .. }) => {
                    (Effect::Finish(answer.unwrap_or_default()), thought, text.to_owned())
                }
            },
        };
        self.inner.push(Message::assistant(text));
        if let Effect::Finish(answer) = &effect {
            self.response = Some(answer.clone());
        }
        effect.turn(&mut self.episode, thought, action_text)
    }

    fn observation(&mut self, text: &str) -> Turn {
        if self.episode.finished() {
            return self.episode.stop(Outcome::Finished, "");
        }
        if self.episode.step > self.episode.setup.max_steps {
            return self.exhausted();
        }
        self.inner.push(self.lagent.result(self.episode.step - 1, text));
        self.ask()
    }

    /// The JSON form remembers all. The first releases keep what was asked and what was given back. (v0.1.0 returns before
    /// it keeps an answer, and so remembers only what it could not answer; the release after it kept both.)
    fn memory(&self) -> Vec<Message> {
        let mut memory = self.episode.setup.history.clone();
        match (self.lagent.form, &self.response, self.inner.first()) {
            (Form::Json, ..) => memory.extend_from_slice(&self.inner),
            (Form::V02, ..) => return Vec::new(),
            (Form::V01, Some(response), Some(question)) => {
                memory.extend([question.clone(), Message::assistant(response.as_str())]);
            }
            (Form::V01, ..) => {}
        }
        memory
    }
}

// A reply read by its labels.

/// Thought, action and input of a reply, white space and all. Labels count wherever they stand, in the middle of a word
/// too. The action of a reply without one is [`NO_ACTION`], that of an answer [`FINISH`].
fn labelled_reply<'t>(text: &'t str, labels: &Labels) -> (&'t str, &'t str, &'t str) {
    let thought = thought(text, labels);
    if let Some(answer) = last_part(text, &labels.finish) {
        return (thought, FINISH, answer);
    }
    match (last_action(text, &labels.action), text.split_once(&labels.action_input)) {
        (Some(action), Some((_, input))) => {
            // A closing quote of broken JSON goes with the quotes around the whole.
            let input = strip(input).trim_matches('"');
            (thought, strip(action), input)
        }
        _ => (thought, NO_ACTION, ""),
    }
}

/// The text before the first action, after the last label of a thought in there, before the first answer.
fn thought<'t>(text: &'t str, labels: &Labels) -> &'t str {
    let before = text.split_once(&labels.action).map_or(text, |(before, _)| before);
    let thought = last_part(before, &labels.thought).unwrap_or(before);
    thought.split_once(&labels.finish).map_or(thought, |(before, _)| before)
}

/// `text.split(label)[-1]`. Labels are found from the left: one that overlaps itself is found elsewhere from the right.
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

// A reply that is a JSON object: a thought with an action, or with a conclusion.

/// The word that ends a conversation, as a key or anywhere in the text.
const CONCLUSION: &str = "conclusion";
/// Values that upstream takes for an unfilled form.
const PLACEHOLDERS: [&str; 6] = ["str", "int", "float", "bool", "list", "dict"];

/// Reads a reply; what cannot be read is an exception upstream, given as `Type: message`. The word `conclusion` ends the
/// conversation anywhere, also where a tool is called and nothing was concluded.
fn json_reply(text: &str) -> Result<Parsed, String> {
    let lines: Vec<&str> = text.split('\n').filter(|line| !strip(line).starts_with("//")).collect();
    let item = model_json::value(&lines.join("\n")).ok_or("ValueError: Input string is not a valid JSON.")?;
    let neither = "UnboundLocalError: cannot access local variable 'model' where it is not associated with a value";
    let fields = item.as_dict().ok_or(neither)?;
    let text_of = |field: &str| fields.get(field).and_then(Item::as_text);
    let thought = Some(text_of("thought_process").ok_or(neither)?.to_owned());
    let (field, parsed) = match (fields.get("action").and_then(json_action), text_of(CONCLUSION)) {
        (Some(_), _) if text.contains(CONCLUSION) => ("action", Parsed::new(Kind::Finish)),
        (Some((name, parameters)), _) => {
            ("action", Parsed { tool: Some(name), args: Some(parameters), ..Parsed::new(Kind::Act) })
        }
        (None, Some(conclusion)) => (CONCLUSION, Parsed::finish(None, conclusion)),
        (None, None) => return Err(neither.to_owned()),
    };
    let is_unfilled = |(name, item): &&(String, Item)| {
        ["thought_process", field].contains(&name.as_str())
            && item.as_text().is_some_and(|text| PLACEHOLDERS.contains(&text))
    };
    match fields.0.iter().find(is_unfilled) {
        Some((name, _)) => Err(format!("ValueError: Field '{name}' is required but not provided")),
        None => Ok(Parsed { thought, ..parsed }),
    }
}

fn json_action(item: &Item) -> Option<(String, Dict)> {
    let action = item.as_dict()?;
    Some((action.get("name")?.as_text()?.to_owned(), action.get("parameters")?.as_dict()?.clone()))
}

// The effect of an action: a tool call, the end, an answer of the system itself, or an exception upstream.

const FINISH: &str = "FinishAction";
const NO_ACTION: &str = "NoAction";
const FORMAT: &str = "Please follow the format";
/// The answer to a call that names no tool and has no arguments.
const NO_SUCH_ACTION: &str = "The action is invalid, please check the action name.";
/// Kind of a repair: plain text was expected, and an object with the tool's parameter came.
const OBJECT_FOR_TEXT: &str = "object_for_text";

#[derive(Debug, Clone, PartialEq, Eq)]
enum Effect {
    Use(Resolved),
    Finish(String),
    Say(String),
    Raise(String),
}

impl Effect {
    fn turn(self, episode: &mut Episode, thought: Option<String>, action_text: String) -> Turn {
        match self {
            Self::Use(call) => episode.use_tool(thought, action_text, call),
            Self::Finish(answer) => episode.finish(thought, action_text, answer.trim().to_owned()),
            Self::Say(text) => episode.answer_itself(thought, action_text, text),
            Self::Raise(exception) => {
                episode.stop(Outcome::FormatFailure, format!("the original raises `{exception}`"))
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Executor<'s> {
    tools: &'s [ToolSpec],
    mend: bool,
}

impl Executor<'_> {
    fn run(self, form: Form, name: &str, input: &str) -> Effect {
        if form == Form::V01 {
            return match self.tool(name) {
                Some(tool) => Effect::Use(self.plain(tool, input)),
                None => built_in(name, input),
            };
        }
        self.called(name, |tool| self.argument(tool, input), || built_in(name, input))
    }

    fn run_decoded(self, name: &str, args: &Map<String, Value>) -> Effect {
        let built_in = || match name {
            FINISH => Effect::Raise("TypeError: sequence item 0: expected str instance, dict found".to_owned()),
            _ if args.is_empty() => built_in(name, ""),
            _ => Effect::Say(Value::Object(args.clone()).to_string()),
        };
        self.called(name, |tool| self.resolved(tool, args), built_in)
    }

    /// Finds the tool of `name`, which may be that of a toolkit's function, `toolkit.function`.
    fn called(
        self,
        name: &str,
        argument: impl FnOnce(&ToolSpec) -> Effect,
        built_in: impl FnOnce() -> Effect,
    ) -> Effect {
        let (name, function) = name.split_once('.').unwrap_or((name, "run"));
        if function.contains('.') {
            return Effect::Raise("ValueError: too many values to unpack (expected 2)".to_owned());
        }
        match (self.tool(name), function) {
            (None, _) => built_in(),
            (Some(tool), "run") => argument(tool),
            (Some(_), _) => Effect::Say(format!("invalid API: {function}")),
        }
    }

    fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The argument as the first releases hand it on: the text as it stands.
    fn plain(self, tool: &ToolSpec, input: &str) -> Resolved {
        if self.mend
            && let Some(Item::Dict(args)) = model_json::value(without_fence(input))
            && let Ok(mut resolved) = tool.resolve(&args.to_json(), true)
        {
            resolved.repairs.insert(0, OBJECT_FOR_TEXT);
            return resolved;
        }
        Resolved { tool: tool.tool, input: input.to_owned(), repairs: Vec::new() }
    }

    fn argument(self, tool: &ToolSpec, input: &str) -> Effect {
        let input = without_fence(input);
        match model_json::value(input) {
            Some(Item::Dict(args)) => self.resolved(tool, &args.to_json()),
            Some(_) => Effect::Say(format!("{}.run() argument after ** must be a mapping", tool.name)),
            None => Effect::Say(format!("invalid json format: {input}")),
        }
    }

    fn resolved(self, tool: &ToolSpec, args: &Map<String, Value>) -> Effect {
        match tool.resolve(args, self.mend) {
            Ok(Resolved { tool: Tool::Finish, input, .. }) => Effect::Finish(input),
            Ok(resolved) => Effect::Use(resolved),
            Err(Misfit::Unknown(names)) => {
                Effect::Say(format!("unknown arguments: {}", set_repr(names.iter().map(|name| repr(name)))))
            }
            Err(Misfit::Missing(name)) => {
                Effect::Say(format!("missing required arguments: {}", set_repr([repr(&name)])))
            }
        }
    }
}

/// The actions that are not tools: they answer with the text of their argument, if it has one.
fn built_in(name: &str, input: &str) -> Effect {
    match name {
        FINISH => Effect::Finish(input.to_owned()),
        _ if !input.is_empty() => Effect::Say(input.to_owned()),
        NO_ACTION => Effect::Say(FORMAT.to_owned()),
        _ => Effect::Say(NO_SUCH_ACTION.to_owned()),
    }
}

/// The inside of a code fence that is closed on its own line; without an opening the fence is taken off all the same.
fn without_fence(input: &str) -> &str {
    let Some(body) = input.trim_end_matches(is_python_space).strip_suffix("\n```") else { return input };
    let body = body.trim_start_matches(is_python_space);
    strip(body.strip_prefix("```json\n").unwrap_or(body))
}

#[cfg(test)]
mod tests;
