//! `llama-index`: the `ReAct` agent of `LlamaIndex` 0.14, and an event workflow built on its parser.
//!
//! A system message describes tools and format; question, earlier turns and a scratchpad of thoughts, actions and
//! observations follow as messages. No stop sequences: of a reply that runs ahead, the parser keeps one action.
//!
//! - The agent shows the model its own unreadable reply once, with feedback. It counts replies, and compares
//!   with its limit before it uses one, so that an answer in the last reply allowed is lost. It remembers all steps.
//! - The workflow observes that there was an error instead, without the reply. It remembers question and answer.

mod agent;
mod memory;
mod notes;
mod parse;
#[cfg(test)]
mod tests;
mod workflow;

use memory::Memory;
pub use parse::fallback;

use super::python::dumps;
use super::tools;
use super::{Dialogue, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, ToolSpec};
use crate::types::Tool;
use std::sync::Arc;

pub const ID: &str = "llama-index";

/// The options, as they are named in messages.
const OPTIONS: &[&str] = &[
    "variant=agent|workflow",
    "early_stopping=force|generate",
    "answer_without_thought=refused|accepted",
    "memory_tokens=NUMBER",
    "arguments=mend|strict",
];
const VARIANTS: &str = "`agent` or `workflow`";
const STOPPING: &str = "`force`, or with the variant `agent` also `generate`";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlamaIndex {
    variant: Variant,
    settings: Settings,
}

/// What both systems have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Settings {
    /// Whether arguments that nearly fit a tool are made to fit.
    mend: bool,
    /// Whether an answer without a thought is one.
    bare_answers: bool,
    memory: Memory,
}

/// Which of the two systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Agent(EarlyStopping),
    Workflow,
}

/// What the agent does at its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EarlyStopping {
    /// It ends without an answer.
    Force,
    /// It asks for one, without showing the steps.
    Generate,
}

impl LlamaIndex {
    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, OPTIONS)?;
        let stopping = [("force", EarlyStopping::Force), ("generate", EarlyStopping::Generate)];
        let stopping = options.choice(ID, "early_stopping", &stopping, STOPPING)?;
        let variants = [("agent", Variant::Agent(stopping)), ("workflow", Variant::Workflow)];
        let variant = options.choice(ID, "variant", &variants, VARIANTS)?;
        if (variant, stopping) == (Variant::Workflow, EarlyStopping::Generate) {
            return Err(OptionError::value(ID, "early_stopping", "generate", STOPPING));
        }
        let bare_answers = [("refused", false), ("accepted", true)];
        let bare_answers = options.choice(ID, "answer_without_thought", &bare_answers, "`refused` or `accepted`")?;
        let memory = Memory::new(options.number(ID, "memory_tokens", memory::TOKEN_LIMIT)?);
        Ok(Self { variant, settings: Settings { mend: options.mends(ID)?, bare_answers, memory } })
    }
}

impl Protocol for LlamaIndex {
    fn profile(&self) -> Profile {
        Profile::new(ID, 20, Layout::System)
    }

    fn last_answer(&self, max_steps: usize) -> usize {
        // The agent holds the count against its limit before it looks at the answer.
        match self.variant {
            Variant::Agent(_) => max_steps.saturating_sub(1),
            Variant::Workflow => max_steps,
        }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        match self.variant {
            Variant::Agent(stopping) => Box::new(agent::Agent::new(setup, self.settings, stopping)),
            Variant::Workflow => Box::new(workflow::Workflow::new(setup, self.settings)),
        }
    }

    fn parse(&self, output: &str, _step: usize) -> Parsed {
        parse::Reading::of(output, self.settings.bare_answers).parsed()
    }

    fn question(&self, _label: &str, question: &str) -> String {
        question.to_owned()
    }

    fn step(&self, _n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let thought = thought.map(|thought| format!("Thought: {thought}\n")).unwrap_or_default();
        let Some((name, parameter)) = tools::signature(tool) else {
            let label = if tool == Tool::Finish { "Answer: " } else { "" };
            return format!("{thought}{label}{input}");
        };
        let input = dumps(&serde_json::json!({ parameter: input }));
        format!("{thought}Action: {name}\nAction Input: {input}")
    }

    fn observation(&self, _n: usize, text: &str) -> String {
        notes::observation_text(text)
    }

    fn slots(&self, tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
        let described: Vec<String> = tools.iter().map(described).collect();
        vec![("tool_desc", described.join("\n")), ("tool_names", tools::names(tools))]
    }
}

/// A tool as the library describes one that is made of a function: its signature above its description, and the schema
/// with the titles that pydantic gives to parameters.
fn described(tool: &ToolSpec) -> String {
    let ToolSpec { name, description, parameter, parameter_description, .. } = tool;
    let description = format!("{name}({parameter}: str) -> str\n{description}");
    let mut initial = parameter.chars();
    let title: String = initial.next().into_iter().flat_map(char::to_uppercase).chain(initial).collect();
    let mut property = serde_json::json!({ "title": title, "type": "string" });
    if !parameter_description.is_empty() {
        property = serde_json::json!({ "description": parameter_description, "title": title, "type": "string" });
    }
    let mut schema = tool.schema();
    schema["properties"][parameter] = property;
    tools::describe(name, &description, &dumps(&schema))
}
