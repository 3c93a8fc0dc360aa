//! One episode to be run, and the record that grows while it runs.

use crate::types::trajectory::TRAJECTORY_VERSION;
use crate::types::{Call, Completion, Outcome, Question, Request, Step, ToolCall, Trajectory, Usage, Variant};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;

/// One question under one variant, once.
#[derive(Debug, Clone)]
pub struct Episode {
    /// The question.
    pub question: Arc<Question>,
    /// The variant.
    pub variant: Arc<Variant>,
    /// Which repeat this is, from 0.
    pub repeat: u32,
    /// The episode's identity, as stored.
    pub key: String,
}

/// What a model's tokens cost, in US dollars a million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// A million tokens of prompt.
    pub prompt: f64,
    /// A million tokens of completion.
    pub completion: f64,
}

impl Price {
    /// Cost of `usage` in US dollars.
    pub fn of(self, usage: Usage) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let (prompt, completion) = (usage.prompt_tokens as f64, usage.completion_tokens as f64);
        (prompt * self.prompt + completion * self.completion) / 1e6
    }
}

impl Episode {
    /// The record of an episode that could not be measured, before anything is known of it.
    pub fn not_measured(&self, detail: impl Into<String>) -> Trajectory {
        Trajectory {
            v: TRAJECTORY_VERSION,
            id: self.question.id.clone(),
            index: self.question.index,
            variant: self.variant.name.clone(),
            repeat: self.repeat,
            question: self.question.question.clone(),
            answers: self.question.answers.clone(),
            steps: Vec::new(),
            answer: None,
            outcome: Outcome::NotMeasured,
            detail: Some(detail.into()),
            usage: Usage::default(),
            cost_usd: None,
            started_at: jiff::Timestamp::now().to_string(),
            wall_ms: 0,
            compat: self.variant.compat,
            repairs: Vec::new(),
            key: self.key.clone(),
        }
    }
}

/// The record of an episode while it runs.
pub(super) struct Recorder {
    trajectory: Trajectory,
    started: Instant,
    price: Option<Price>,
    counted: bool,
    /// Calls since the last step.
    calls: Vec<Call>,
}

impl Recorder {
    pub(super) fn new(episode: &Episode, price: Option<Price>) -> Self {
        let trajectory = Trajectory { detail: None, ..episode.not_measured("") };
        Self { trajectory, started: Instant::now(), price, counted: false, calls: Vec::new() }
    }

    pub(super) fn call(&mut self, request: Request, completion: Completion) {
        if let Some(usage) = completion.usage {
            self.trajectory.usage += usage;
            self.counted = true;
        }
        self.calls.push(Call {
            prompt_sha256: request.prompt.sha256(),
            prompt_chars: request.prompt.chars(),
            stop: request.stop,
            completion: completion.text,
            finish_reason: completion.finish_reason,
            usage: completion.usage,
            latency_ms: completion.latency_ms,
            attempts: completion.attempts,
            cached: completion.cached,
        });
    }

    /// A step begins with the calls that led to it; what the tool answers is filled in by the caller.
    pub(super) fn step(&mut self, call: ToolCall) -> &mut Step {
        let step = Step {
            n: call.step,
            thought: call.thought,
            tool: Some(call.tool),
            input: Some(call.input),
            action_text: Some(call.action_text),
            observation: None,
            provenance: None,
            note: None,
            discarded: call.discarded,
            calls: std::mem::take(&mut self.calls),
        };
        let at = self.trajectory.steps.len();
        self.trajectory.steps.push(step);
        &mut self.trajectory.steps[at]
    }

    /// Closes the record. Calls that led to no step are kept in a last one without a tool.
    pub(super) fn end(mut self, outcome: Outcome, detail: Option<String>) -> Trajectory {
        if !self.calls.is_empty() {
            let n = self.trajectory.steps.last().map_or(1, |step| step.n + 1);
            self.trajectory.steps.push(Step {
                n,
                thought: None,
                tool: None,
                input: None,
                action_text: None,
                observation: None,
                provenance: None,
                note: None,
                discarded: None,
                calls: std::mem::take(&mut self.calls),
            });
        }
        self.trajectory.outcome = outcome;
        self.trajectory.detail = detail;
        self.trajectory.wall_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.trajectory.cost_usd = self.price.filter(|_| self.counted).map(|price| price.of(self.trajectory.usage));
        self.trajectory
    }
}
