//! Imports recorded episodes of the paper's notebooks as trajectories.

use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{Call, Compat, Outcome, Repair, Step, Trajectory, Usage};
use serde::Deserialize;

pub const VARIANT: &str = "react-notebook";

#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The episode; its id is the position in the recorded run.
    pub trajectory: Trajectory,
    pub claims: Claims,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    pub n_calls: usize,
    /// Second calls because of a missing action.
    pub n_badcalls: usize,
    /// Steps of the environment, the closing finish included.
    pub steps: usize,
    pub answer: String,
    /// Exact match: 0 or 1.
    pub em: f64,
    /// F1, 0 to 1, if recorded.
    pub f1: Option<f64>,
    pub model: Option<String>,
    pub claim: bool,
    /// SHA-256 of the prompt after the last step, if recorded.
    pub final_prompt_sha256: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Line {
    model: Option<String>,
    order: usize,
    question: Option<String>,
    claim: Option<String>,
    gold: String,
    steps: Vec<LineStep>,
    calls: Vec<LineCall>,
    final_answer: String,
    em: f64,
    f1: Option<f64>,
    info: Info,
    n_calls: usize,
    n_badcalls: usize,
    final_prompt_sha256: Option<String>,
}

#[derive(Debug, Deserialize)]
struct LineStep {
    n: usize,
    thought: String,
    action_text: String,
    observation: String,
    bad_call: bool,
}

#[derive(Debug, Deserialize)]
struct LineCall {
    prompt_sha256: String,
    prompt_chars: usize,
    stop: Vec<String>,
    completion: String,
}

#[derive(Debug, Deserialize)]
struct Info {
    steps: usize,
}

pub fn import(line: &str) -> Result<Imported, serde_json::Error> {
    let line: Line = serde_json::from_str(line)?;
    let claim = line.claim.is_some();
    let Some(question) = line.claim.clone().or_else(|| line.question.clone()) else {
        return Err(serde::de::Error::missing_field("question"));
    };
    let claims = Claims {
        model: line.model.clone(),
        claim,
        n_calls: line.n_calls,
        n_badcalls: line.n_badcalls,
        steps: line.info.steps,
        answer: line.final_answer.clone(),
        em: line.em,
        f1: line.f1,
        final_prompt_sha256: line.final_prompt_sha256.clone(),
    };
    Ok(Imported { trajectory: trajectory(question, line), claims })
}

fn trajectory(question: String, line: Line) -> Trajectory {
    // The notebook counts one step more than it lists if it closed the episode itself.
    let closed = line.info.steps > line.steps.len();
    let repairs = line
        .steps
        .iter()
        .filter(|step| step.bad_call)
        .map(|step| Repair { step: step.n, kind: Repair::MISSING_ACTION.to_owned() })
        .collect();
    Trajectory {
        v: TRAJECTORY_VERSION,
        id: line.order.to_string(),
        index: line.order,
        variant: VARIANT.to_owned(),
        repeat: 0,
        question,
        answers: vec![line.gold],
        steps: steps(line.steps, line.calls, closed),
        steps_recorded: true,
        answer: (!closed).then_some(line.final_answer),
        outcome: if closed { Outcome::StepLimit } else { Outcome::Finished },
        detail: None,
        failure: None,
        usage: Usage::default(),
        cost_usd: None,
        started_at: String::new(),
        wall_ms: 0,
        compat: Some(Compat::Paper),
        repairs,
        votes: Vec::new(),
        branch: None,
        key: String::new(),
    }
}

/// Assigns one call to each step, two if the action was missing; the last step gets the rest, so that nothing is lost.
fn steps(recorded: Vec<LineStep>, calls: Vec<LineCall>, closed: bool) -> Vec<Step> {
    let mut calls = calls.into_iter().map(call);
    let mut steps: Vec<Step> = Vec::with_capacity(recorded.len() + 1);
    for step in recorded {
        let count = if step.bad_call { 2 } else { 1 };
        let calls = calls.by_ref().take(count).collect();
        steps.push(blank(step.n, Some(step.thought), step.action_text, step.observation, calls));
    }
    if let Some(last) = steps.last_mut() {
        last.calls.extend(calls);
    }
    if closed {
        steps.push(blank(steps.len() + 1, None, "finish[]".to_owned(), String::new(), Vec::new()));
    }
    steps
}

fn blank(n: usize, thought: Option<String>, action: String, observation: String, calls: Vec<Call>) -> Step {
    Step { n, thought, action_text: Some(action), observation: Some(observation), calls, ..Step::default() }
}

fn call(line: LineCall) -> Call {
    Call {
        prompt_sha256: line.prompt_sha256,
        prompt_chars: line.prompt_chars,
        stop: line.stop,
        completion: line.completion,
        attempts: 1,
        ..Call::default()
    }
}
