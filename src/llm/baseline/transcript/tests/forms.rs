//! The forms of the published systems, as far as a model sees them: small writers and readers that know no quirks.

use crate::protocol::{Dialogue, Kind, Layout, Parsed, Protocol, ReactPaper, Setup, react_paper};
use crate::types::{Role, Tool};
use serde_json::{Value, json};
use std::sync::Arc;

/// One form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Paper,
    Tight,
    Turns,
    Qwen,
    Llama,
    Go,
    Lagent,
    LagentOld,
    LagentJson,
}

pub(super) const ALL: [Form; 9] = [
    Form::Paper,
    Form::Tight,
    Form::Turns,
    Form::Qwen,
    Form::Llama,
    Form::Go,
    Form::Lagent,
    Form::LagentOld,
    Form::LagentJson,
];

fn name(tool: Tool) -> (&'static str, &'static str) {
    if tool == Tool::Lookup { ("Lookup", "keyword") } else { ("Search", "query") }
}

impl Form {
    fn numbered(self) -> bool {
        matches!(self, Self::Paper | Self::Tight | Self::Turns)
    }

    fn labels(self) -> (&'static str, &'static str) {
        match self {
            Self::LagentOld => ("ActionInput:", "FinalAnswer:"),
            Self::Lagent | Self::Qwen => ("Action Input:", "Final Answer:"),
            _ => ("Action Input:", "Answer:"),
        }
    }

    fn arguments(self, parameter: &str, input: &str) -> String {
        match self {
            // As Python shows a dictionary with one text in it.
            Self::Llama if input.contains('\'') && !input.contains('"') => format!("{{'{parameter}': \"{input}\"}}"),
            Self::Llama => format!("{{'{parameter}': '{}'}}", input.replace('\'', "\\'")),
            Self::LagentOld => input.to_owned(),
            _ => json!({ parameter: input }).to_string(),
        }
    }

    fn read_json(output: &str) -> Option<Parsed> {
        let object: Value = serde_json::from_str(output).ok()?;
        if let Some(answer) = object["conclusion"].as_str() {
            return Some(Parsed::finish(None, answer));
        }
        let arguments = object["action"]["parameters"].as_object()?;
        let call = Parsed::act(None, object["action"]["name"].as_str()?, object["action"]["parameters"].to_string());
        Some(Parsed { args: Some(arguments.clone().into()), ..call })
    }

    fn read_named(self, output: &str) -> Option<Parsed> {
        let (input, answer) = self.labels();
        if let Some((_, answer)) = output.rsplit_once(answer) {
            return Some(Parsed::finish(None, answer));
        }
        let (_, rest) = output.split_once("Action:")?;
        let (tool, input) = rest.split_once(input)?;
        Some(Parsed::act(None, tool.trim(), input.trim()))
    }
}

impl Protocol for Form {
    fn id(&self) -> &'static str {
        "test"
    }

    fn max_steps(&self) -> usize {
        7
    }

    fn layout(&self) -> Layout {
        match self {
            Self::Paper | Self::Tight => Layout::Text,
            Self::Qwen => Layout::Template,
            Self::Turns => Layout::Instruction,
            _ => Layout::System,
        }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(ReactPaper::new(setup))
    }

    fn parse(&self, output: &str, step: usize) -> Parsed {
        let read = match self {
            Self::Tight => {
                let label = format!("\nAction {step}:");
                Some(react_paper::Paper.parse(&output.replace(&label, &format!("{label} ")), step))
            }
            form if form.numbered() => Some(react_paper::Paper.parse(output, step)),
            Self::LagentJson => Self::read_json(output),
            form => form.read_named(output),
        };
        read.unwrap_or_else(|| Parsed::new(Kind::Invalid))
    }

    fn question(&self, label: &str, question: &str) -> String {
        match self {
            Self::Tight => format!("\n{label}:{question}\n"),
            Self::Qwen => format!("Question: {question}\n"),
            Self::Llama | Self::Lagent | Self::LagentOld | Self::LagentJson => question.to_owned(),
            Self::Turns | Self::Go => format!("{label}: {question}"),
            Self::Paper => format!("{label}: {question}\n"),
        }
    }

    fn step(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let gap = if *self == Self::Tight { "" } else { " " };
        if self.numbered() {
            let verb = if tool == Tool::Finish { "Finish" } else { name(tool).0 };
            let thought = thought.map_or(String::new(), |thought| format!("Thought {n}:{gap}{thought}\n"));
            return format!("{thought}Action {n}:{gap}{verb}[{input}]\n");
        }
        let thought = thought.unwrap_or_default();
        let (label, answer) = self.labels();
        match (self, tool) {
            (Self::LagentJson, Tool::Finish) => json!({ "thought_process": thought, "conclusion": input }).to_string(),
            (Self::LagentJson, tool) => {
                let (name, parameter) = name(tool);
                let action = json!({ "name": name, "parameters": { parameter: input } });
                json!({ "thought_process": thought, "action": action }).to_string()
            }
            // Its prompt ends in the thought's label.
            (Self::Qwen, Tool::Finish) => format!("{thought}\n{answer} {input}"),
            (_, Tool::Finish) => format!("Thought: {thought}\n{answer} {input}"),
            (form, tool) => {
                let (name, parameter) = name(tool);
                let thought = if *form == Self::Qwen { thought.to_owned() } else { format!("Thought: {thought}") };
                format!("{thought}\nAction: {name}\n{label} {}", form.arguments(parameter, input))
            }
        }
    }

    fn observation(&self, n: usize, text: &str) -> String {
        match self {
            Self::Paper => format!("Observation {n}: {text}\n"),
            Self::Tight => format!("Observation {n}:{text}\n"),
            Self::Turns => format!("Observation {n}: {text}"),
            Self::Qwen => format!("\nObservation: {text}\nThought: "),
            Self::Llama | Self::Go => format!("Observation: {text}"),
            Self::Lagent | Self::LagentOld => format!("Response:{text}\n"),
            Self::LagentJson => text.to_owned(),
        }
    }

    fn observation_role(&self) -> Role {
        match self {
            Self::Lagent | Self::LagentOld => Role::System,
            _ => Role::User,
        }
    }
}
