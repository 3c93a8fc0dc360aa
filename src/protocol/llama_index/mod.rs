//! `llama-index`: the `ReAct` agent of `LlamaIndex` 0.14, and an event workflow built on its parser.
//!
//! A system message describes tools and format; question, earlier turns and a scratchpad of thoughts, actions and
//! observations follow as messages. No stop sequences: of a reply that runs ahead, the parser keeps one action.
//!
//! - The agent shows the model its own unreadable reply once, with feedback. It counts replies, and compares
//!   with its limit before it uses one, so that an answer in the last reply allowed is lost. It remembers all steps.
//! - The workflow observes that there was an error instead, without the reply. It remembers question and answer.

mod agent;
mod notes;
mod parse;
#[cfg(test)]
mod tests;
mod workflow;

pub use parse::fallback;

use super::python::dumps;
use super::tools;
use super::{Dialogue, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, ToolSpec};
use crate::types::Tool;
use std::sync::Arc;

pub const ID: &str = "llama-index";

const VARIANTS: &str = "`agent` or `workflow`";
const STOPPING: &str = "`force`, or with the variant `agent` also `generate`";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlamaIndex {
    variant: Variant,
    /// Whether arguments that nearly fit a tool are made to fit.
    mend: bool,
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
        options.known(ID, &["variant=agent|workflow", "early_stopping=force|generate", "arguments=mend|strict"])?;
        let stopping = [("force", EarlyStopping::Force), ("generate", EarlyStopping::Generate)];
        let stopping = options.choice(ID, "early_stopping", &stopping, STOPPING)?;
        let variants = [("agent", Variant::Agent(stopping)), ("workflow", Variant::Workflow)];
        let variant = options.choice(ID, "variant", &variants, VARIANTS)?;
        if (variant, stopping) == (Variant::Workflow, EarlyStopping::Generate) {
            return Err(OptionError::value(ID, "early_stopping", "generate", STOPPING));
        }
        Ok(Self { variant, mend: options.mends(ID)? })
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
            Variant::Agent(stopping) => Box::new(agent::Agent::new(setup, self.mend, stopping)),
            Variant::Workflow => Box::new(workflow::Workflow::new(setup, self.mend)),
        }
    }

    fn parse(&self, output: &str, _step: usize) -> Parsed {
        parse::Reading::of(output).parsed()
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
        notes::observation(text)
    }

    fn slots(&self, tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
        vec![("tool_desc", tools::descriptions(tools)), ("tool_names", tools::names(tools))]
    }
}
