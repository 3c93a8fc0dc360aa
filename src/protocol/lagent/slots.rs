//! Tools and steps as written for the model.

use super::super::ToolSpec;
use super::super::python::{dumps, dumps_ascii, repr_value};
use super::super::tools::signature;
use super::{Lagent, Release};
use crate::types::Tool;
use serde_json::{Map, Value, json};

/// Upstream adds this sentence to every tool whose arguments are JSON; it is part of the list's form.
const PARAMETERS: &str = "If you call this tool, you must pass arguments in the JSON format {key: value}, where the key is the parameter name.";

/// Values of the slots in a call protocol. The lists are written as Python writes them.
pub(super) fn labelled_slots(lagent: &Lagent, tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
    let labels = &lagent.labels;
    let description = match lagent.release {
        Release::V02 => descriptions(tools),
        Release::V01 => {
            tools.iter().map(|tool| (tool.name.clone(), tool.description.clone().into())).collect::<Map<_, _>>().into()
        }
    };
    vec![
        ("tool_description", repr_value(&description)),
        ("action_names", tool_names(tools)),
        ("thought", labels.thought.clone()),
        ("action", labels.action.clone()),
        ("action_input", labels.action_input.clone()),
        ("response", labels.response.clone()),
        ("finish", labels.finish.clone()),
    ]
}

/// Values of the slots in the template of the JSON form, whose list is JSON, in ASCII.
pub(super) fn json_slots(tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
    vec![("tool_description", dumps_ascii(&descriptions(tools))), ("action_names", tool_names(tools))]
}

fn tool_names(tools: &[ToolSpec]) -> String {
    repr_value(&tools.iter().map(|tool| tool.name.clone()).collect())
}

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

pub(super) fn labelled_step(lagent: &Lagent, thought: Option<&str>, tool: Tool, input: &str) -> String {
    let labels = &lagent.labels;
    let thought = thought.map(|thought| format!("{} {thought}\n", labels.thought)).unwrap_or_default();
    let Some((name, parameter)) = signature(tool) else {
        return format!("{thought}{} {input}", if tool == Tool::Finish { &labels.finish } else { &labels.action });
    };
    let argument = match lagent.release {
        Release::V02 => dumps(&json!({ parameter: input })),
        Release::V01 => input.to_owned(),
    };
    format!("{thought}{} {name}\n{} {argument}", labels.action, labels.action_input)
}

pub(super) fn json_step(thought: Option<&str>, tool: Tool, input: &str) -> String {
    let thought = thought.unwrap_or_default();
    dumps(&match signature(tool) {
        Some((name, parameter)) => {
            json!({ "thought_process": thought, "action": { "name": name, "parameters": { parameter: input } } })
        }
        None => json!({ "thought_process": thought, "conclusion": input }),
    })
}
