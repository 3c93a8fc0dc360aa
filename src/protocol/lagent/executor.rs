//! The effect of an action: a tool call, the end, an answer of the system itself, or an exception upstream.

use super::super::episode::Episode;
use super::super::model_json::{self, Item};
use super::super::python::set_repr;
use super::super::tools::{Misfit, Resolved};
use super::super::{ToolSpec, Turn};
use super::Release;
use crate::types::python::{is_python_space, repr};
use crate::types::{Outcome, Tool};
use serde_json::{Map, Value};

/// The action that ends the conversation.
pub(super) const FINISH: &str = "FinishAction";
/// The action of a reply that has none.
pub(super) const NO_ACTION: &str = "NoAction";
/// The answer to a reply without an action.
pub(super) const FORMAT: &str = "Please follow the format";
/// The answer to a call that names no tool and has no arguments.
const NO_SUCH_ACTION: &str = "The action is invalid, please check the action name.";
/// Kind of a repair: plain text was expected, and an object with the tool's parameter came.
const OBJECT_FOR_TEXT: &str = "object_for_text";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    Use(Resolved),
    Finish(String),
    /// The system answers by itself.
    Say(String),
    /// The original ends with this exception.
    Raise(String),
}

impl Effect {
    fn raise(exception: impl Into<String>) -> Self {
        Self::Raise(exception.into())
    }

    pub(super) fn turn(self, episode: &mut Episode, thought: Option<String>, action_text: String) -> Turn {
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

/// The tools, and how their arguments are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Executor<'s> {
    pub(super) tools: &'s [ToolSpec],
    pub(super) mend: bool,
}

impl Executor<'_> {
    /// An action with the text of its arguments.
    pub(super) fn run(self, release: Release, name: &str, input: &str) -> Effect {
        if release == Release::V01 {
            return match self.tool(name) {
                Some(tool) => Effect::Use(self.plain(tool, input)),
                None => built_in(name, input),
            };
        }
        self.called(name, |tool| self.argument(tool, input), || built_in(name, input))
    }

    pub(super) fn run_decoded(self, name: &str, args: &Map<String, Value>) -> Effect {
        let built_in = || match name {
            FINISH => Effect::raise("TypeError: sequence item 0: expected str instance, dict found"),
            _ if !args.is_empty() => Effect::Say(Value::Object(args.clone()).to_string()),
            NO_ACTION => Effect::Say(FORMAT.to_owned()),
            _ => Effect::Say(NO_SUCH_ACTION.to_owned()),
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
            return Effect::raise("ValueError: too many values to unpack (expected 2)");
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

    /// The argument in JSON, which must be an object.
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
            Err(Misfit::Missing(name)) => Effect::Say(missing(&name)),
        }
    }
}

fn missing(name: &str) -> String {
    format!("missing required arguments: {}", set_repr([repr(name)]))
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
    body.strip_prefix("```json\n").unwrap_or(body).trim_matches(is_python_space)
}
