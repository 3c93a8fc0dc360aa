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
//! | option | values |
//! |---|---|
//! | `answer` | `tool`: by the function `finish`; `text`: by a reply without a call |
//! | `parallel` | `off`, `on`: whether a reply may have several calls |
//! | `choice` | `auto`; `required`: the server is told that the model must call a function |
//! | `strict` | `off`; `on`: the server is told to hold arguments to the schema |

mod dialogue;
#[cfg(test)]
mod tests;

use super::{Dialogue, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, ToolSpec, ToolTexts};
use crate::types::{Function, FunctionCall, Functions, Message, Role, Tool};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;

pub const ID: &str = "tools";

#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Native {
    /// Whether the answer is a reply without a call.
    text_answers: bool,
    parallel: bool,
    required: bool,
    strict: bool,
}

impl Native {
    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, &["answer=tool|text", "parallel=off|on", "choice=auto|required", "strict=off|on"])?;
        let switch = |name| options.choice(ID, name, &[("off", false), ("on", true)], "`off` or `on`");
        let text_answers = options.choice(ID, "answer", &[("tool", false), ("text", true)], "`tool` or `text`")?;
        let required = options.choice(ID, "choice", &[("auto", false), ("required", true)], "`auto` or `required`")?;
        if text_answers && required {
            let possible = "`auto` with answer=text, whose answers are replies without a call";
            return Err(OptionError::value(ID, "choice", "required", possible));
        }
        Ok(Self { text_answers, required, parallel: switch("parallel")?, strict: switch("strict")? })
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
        Profile { max_tokens: 2048, ..Profile::new(ID, 7, Layout::System) }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(dialogue::ToolCalls::new(*self, setup))
    }

    /// Reads what [`Protocol::step`] writes.
    fn parse(&self, output: &str, _step: usize) -> Parsed {
        let (before, last) = output.trim_end().rsplit_once('\n').unwrap_or(("", output));
        let thought = Some(before.trim()).filter(|thought| !thought.is_empty()).map(str::to_owned);
        let Some((name, arguments)) = written(last) else {
            return match output.trim() {
                answer if self.text_answers && !answer.is_empty() => Parsed::finish(None, answer),
                _ => Parsed::invalid("the reply calls no tool"),
            };
        };
        let tools = [Tool::Search, Tool::Lookup, Tool::Finish];
        let Some(tool) = tools.into_iter().find(|tool| tool.name() == name) else {
            return Parsed { thought, ..Parsed::invalid(format!("there is no tool `{name}`")) };
        };
        let input = arguments.values().find_map(Value::as_str).unwrap_or_default().to_owned();
        match tool {
            Tool::Finish => Parsed::finish(thought, input),
            _ => Parsed { args: Some(arguments.into()), ..Parsed::act(thought, name, input) },
        }
    }

    fn question(&self, label: &str, question: &str) -> String {
        format!("{label}: {question}")
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
            Tool::Search => "query",
            Tool::Lookup => "keyword",
            Tool::Finish => "answer",
            Tool::Think | Tool::Invalid => "input",
        };
        let arguments = json!({ parameter: input }).to_string();
        let call = FunctionCall { id: id(n), name: tool.name().to_owned(), arguments };
        Message { calls: vec![call], ..Message::assistant(thought.unwrap_or_default()) }
    }

    fn result(&self, n: usize, text: &str) -> Message {
        Message::result(id(n), text)
    }

    fn tools(&self, texts: &ToolTexts) -> Vec<ToolSpec> {
        let mut tools = vec![
            ToolSpec::search(&texts.search, &texts.search_parameter),
            ToolSpec::lookup(&texts.lookup, &texts.lookup_parameter),
        ];
        if !self.text_answers {
            tools.push(ToolSpec::finish(&texts.finish, &texts.finish_parameter));
        }
        for tool in &mut tools {
            tool.name.make_ascii_lowercase();
        }
        tools
    }
}

/// The id of the call of step `n`, as we write it.
fn id(n: usize) -> String {
    format!("call_{n}")
}

/// The calls of a reply to `before`, each with an id that no other call of the conversation has: some providers give none,
/// or the same again.
pub(crate) fn with_ids(before: &[Message], calls: &[FunctionCall], step: usize) -> Vec<FunctionCall> {
    let mut used: HashSet<&str> =
        before.iter().flat_map(|message| &message.calls).map(|call| call.id.as_str()).collect();
    let keeps: Vec<bool> = calls.iter().map(|call| !call.id.is_empty() && used.insert(&call.id)).collect();
    let mut calls_with_ids = calls.to_vec();
    for (at, call) in calls_with_ids.iter_mut().enumerate().filter(|(at, _)| !keeps[*at]) {
        call.id = format!("{}_{}", id(step), at + 1);
        // No two of these are the same: they differ in the place, and whatever is added to it.
        while used.contains(call.id.as_str()) {
            call.id.push('_');
        }
    }
    calls_with_ids
}

/// A call that is written as `{"name": …, "arguments": {…}}`.
fn written(line: &str) -> Option<(String, Map<String, Value>)> {
    let Value::Object(mut call) = serde_json::from_str(line.trim()).ok()? else { return None };
    let name = call.get("name")?.as_str()?.to_owned();
    match call.remove("arguments")? {
        Value::Object(arguments) => Some((name, arguments)),
        _ => None,
    }
}
