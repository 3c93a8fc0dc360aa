//! The steps and calls of an episode, or of one part of it, while it runs.

use crate::types::{Call, Step, ToolCall, Usage};

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) steps: Vec<Step>,
    /// Tokens of all calls whose server counted them.
    pub(super) usage: Usage,
    /// Whether any server counted them.
    pub(super) counted: bool,
    /// Calls since the last step.
    calls: Vec<Call>,
}

impl Log {
    pub(super) fn call(&mut self, call: Call) {
        if let Some(usage) = call.usage.filter(|_| !call.copied) {
            self.usage += usage;
            self.counted = true;
        }
        self.calls.push(call);
    }

    /// Begins a step with the calls that led to it; the caller fills in the observation.
    pub(super) fn step(&mut self, call: ToolCall) -> &mut Step {
        let step = Step {
            n: call.step,
            thought: call.thought,
            tool: Some(call.tool),
            input: Some(call.input),
            action_text: Some(call.action_text),
            discarded: call.discarded,
            calls: std::mem::take(&mut self.calls),
            ..Step::default()
        };
        let at = self.steps.len();
        self.steps.push(step);
        &mut self.steps[at]
    }

    /// Keeps calls that led to no step in a last step without a tool.
    pub(super) fn close(&mut self) {
        if !self.calls.is_empty() {
            let n = self.steps.last().map_or(1, |step| step.n + 1);
            self.steps.push(Step { n, calls: std::mem::take(&mut self.calls), ..Step::default() });
        }
    }

    /// Appends the log of sample `number` (from 1) of a vote.
    pub(super) fn absorb(&mut self, mut part: Self, number: u32) {
        self.close();
        part.close();
        self.usage += part.usage;
        self.counted |= part.counted;
        self.steps.extend(part.steps.into_iter().map(|step| Step { sample: Some(number), ..step }));
    }
}
