//! What a journal keeps of an episode that has not ended, and what model calls cost.

use super::trajectory::Text;
use super::{Call, Provenance, Tool, Trajectory, Usage};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Something that took place in an episode and need not take place again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A model answered.
    Call(Call),
    /// The Wikipedia tool answered.
    Tool(ToolAnswer),
}

/// A use of the Wikipedia tool and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolAnswer {
    pub tool: Tool,
    pub input: String,
    pub observation: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The cost of recorded episodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Paid {
    /// Model calls answered by a server.
    pub calls: u64,
    /// Those whose tokens the server did not count.
    pub uncounted: u64,
    /// Their tokens, estimated where not counted.
    pub usage: Usage,
}

impl Paid {
    pub fn of<S: Text>(trajectory: &Trajectory<S>) -> Self {
        let mut paid = Self::default();
        trajectory.steps.iter().flat_map(|step| &step.calls).for_each(|call| paid += Self::of_call(call));
        paid
    }

    pub fn of_call<S: Text>(call: &Call<S>) -> Self {
        if call.cached {
            return Self::default();
        }
        let usage = call.usage.unwrap_or_else(|| Usage::estimated(call.prompt_chars, call.completion.length()));
        Self { calls: 1, uncounted: u64::from(call.usage.is_none()), usage }
    }
}

impl Paid {
    /// What is left without `other`.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(other.calls),
            uncounted: self.uncounted.saturating_sub(other.uncounted),
            usage: self.usage.saturating_sub(other.usage),
        }
    }
}

impl AddAssign for Paid {
    fn add_assign(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.uncounted = self.uncounted.saturating_add(other.uncounted);
        self.usage += other.usage;
    }
}
