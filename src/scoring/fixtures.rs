//! Episodes for the tests of scoring and of the reports.

use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{Compat, Outcome, Step, Tool, Trajectory, Usage};
use std::collections::BTreeMap;

pub(crate) fn step(tool: Tool, input: &str, observation: &str) -> Step {
    let (input, observation) = (Some(input.to_owned()), Some(observation.to_owned()));
    Step { n: 1, tool: Some(tool), input, observation, ..Step::default() }
}

pub(crate) fn episode(steps: Vec<Step>, answer: Option<&str>, golds: &[&str], outcome: Outcome) -> Trajectory {
    Trajectory {
        v: TRAJECTORY_VERSION,
        id: "q".into(),
        index: 0,
        variant: "v".into(),
        repeat: 0,
        question: "?".into(),
        answers: golds.iter().map(ToString::to_string).collect(),
        steps,
        steps_recorded: true,
        answer: answer.map(str::to_owned),
        outcome,
        detail: None,
        failure: None,
        usage: Usage::default(),
        cost_usd: None,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        wall_ms: 0,
        compat: Some(Compat::Fixed),
        scores: BTreeMap::new(),
        repairs: Vec::new(),
        votes: Vec::new(),
        branch: None,
        key: String::new(),
    }
}
