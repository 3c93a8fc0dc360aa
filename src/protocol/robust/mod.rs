//! `robust`: our own protocol, for chat models that run ahead, and for servers that refuse `stop`.
//!
//! The paper's numbered labels as alternating turns: a system message, examples, the question, then per step what
//! the model wrote (assistant) and what the tool answered (user). Replies are read with the same tolerance for every
//! model, and everything repaired is counted by kind ([`repair`]). Reading is linear in the length of the reply.

mod action;
mod argument;
mod channel;
mod dialogue;
mod fault;
mod json;
mod label;
mod placeholder;
pub mod repair;
mod reply;
#[cfg(test)]
mod tests;
mod thought;
mod verb;
mod wrapping;

use super::{Dialogue, Layout, Parsed, Profile, Protocol, Setup, numbered};
use crate::types::Tool;
use placeholder::Placeholders;
use reply::Reply;
use std::sync::Arc;

pub const ID: &str = "robust";

/// The protocol. It has no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Robust {
    version: u32,
}

impl Robust {
    /// Its version. Since 2 any observation ends a reply, and replies are read in more forms.
    pub const VERSION: u32 = 2;

    /// As it was in an earlier version, as far as a recorded run needs it: requests are the same; replies are read as
    /// they are today.
    pub fn of_version(version: u32) -> Self {
        Self { version }
    }
}

impl Default for Robust {
    fn default() -> Self {
        Self { version: Self::VERSION }
    }
}

impl Protocol for Robust {
    fn profile(&self) -> Profile {
        Profile { acts_without_thoughts: true, ..Profile::new(ID, 7, Layout::Instruction) }
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(dialogue::RobustDialogue::new(setup, self.version))
    }

    fn parse(&self, output: &str, step: usize) -> Parsed {
        let Reply { thought, action, .. } = Reply::read(output, step, true, &Placeholders::default());
        match action {
            Ok(action) if action.tool == Tool::Finish => Parsed::finish(thought, action.input),
            Ok(action) => Parsed::act(thought, numbered::verb(action.tool), action.input),
            Err(refused) => Parsed { thought, ..Parsed::invalid(refused.fault.to_string()) },
        }
    }

    fn question(&self, label: &str, question: &str) -> String {
        format!("{label}: {question}")
    }

    fn step(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let action = numbered::action(tool, input);
        match thought {
            Some(thought) => format!("Thought {n}: {thought}\nAction {n}: {action}"),
            None => format!("Action {n}: {action}"),
        }
    }

    fn observation(&self, n: usize, text: &str) -> String {
        format!("Observation {n}: {}", text.trim_end())
    }
}
