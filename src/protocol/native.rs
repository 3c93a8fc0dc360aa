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
//!
//! | version | ids of the calls of exemplars, and of replies whose server gives none |
//! |---|---|
//! | 1 | words such as `example_1_call_2`, which Mistral refuses |
//! | 2 | nine letters and digits ([`call_id`]) |

mod dialogue;
#[cfg(test)]
mod tests;

use super::{Dialogue, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, ToolSpec, ToolTexts};
use crate::types::{Function, FunctionCall, Functions, Message, Role, Tool, call_id};
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
    version: u32,
}

impl Native {
    /// Its version. Since 2 ids of calls have nine letters and digits.
    pub const VERSION: u32 = 2;

    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, &["answer=tool|text", "parallel=off|on", "choice=auto|required", "strict=off|on"])?;
        let switch = |name| options.choice(ID, name, &[("off", false), ("on", true)], "`off` or `on`");
        let text_answers = options.choice(ID, "answer", &[("tool", false), ("text", true)], "`tool` or `text`")?;
        let required = options.choice(ID, "choice", &[("auto", false), ("required", true)], "`auto` or `required`")?;
        if text_answers && required {
            let possible = "`auto` with answer=text, whose answers are replies without a call";
            return Err(OptionError::value(ID, "choice", "required", possible));
        }
        let (parallel, strict) = (switch("parallel")?, switch("strict")?);
        Ok(Self { text_answers, required, parallel, strict, version: Self::VERSION })
    }

    /// As it was in an earlier version.
    #[must_use]
    pub fn of_version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// The id of the call of step `n`, as we write it.
    fn call_id(self, n: usize) -> String {
        if self.version < 2 { format!("call_{n}") } else { call_id::of_reply(n, 0) }
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
        let mut ids = (at..=at.saturating_add(used.len())).map(|at| call_id::of_reply(n, at));
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
        Profile { max_tokens: 2048, ..Profile::new(ID, 7, Layout::System) }
    }

    fn version(&self) -> u32 {
        self.version
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
        let call = FunctionCall { id: self.call_id(n), name: tool.name().to_owned(), arguments };
        Message { calls: vec![call], ..Message::assistant(thought.unwrap_or_default()) }
    }

    fn result(&self, n: usize, text: &str) -> Message {
        Message::result(self.call_id(n), text)
    }

    fn of_exemplar(&self, number: usize, n: usize) -> String {
        if self.version < 2 { format!("example_{number}_call_{n}") } else { call_id::of_exemplar(number, n) }
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

/// A call that is written as `{"name": …, "arguments": {…}}`.
fn written(line: &str) -> Option<(String, Map<String, Value>)> {
    let Value::Object(mut call) = serde_json::from_str(line.trim()).ok()? else { return None };
    let name = call.get("name")?.as_str()?.to_owned();
    match call.remove("arguments")? {
        Value::Object(arguments) => Some((name, arguments)),
        _ => None,
    }
}
