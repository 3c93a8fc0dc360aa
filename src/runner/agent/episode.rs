//! An episode, and who observes it.

use crate::base::trajectory::TRAJECTORY_VERSION;
use crate::base::{Fork, Outcome, Question, Step, Trajectory, Usage, Variant};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Episode {
    pub question: Arc<Question>,
    pub variant: Arc<Variant>,
    /// Which repeat this is, from 0.
    pub repeat: u32,
    pub key: String,
    pub fork: Option<Arc<Fork>>,
}

impl Episode {
    /// The record of an episode that could not be measured; `detail` says why.
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
            steps_recorded: true,
            answer: None,
            outcome: Outcome::NotMeasured,
            detail: Some(detail.into()),
            failure: None,
            usage: Usage::default(),
            cost_usd: None,
            started_at: jiff::Timestamp::now().to_string(),
            wall_ms: 0,
            compat: self.variant.compat,
            repairs: Vec::new(),
            votes: Vec::new(),
            branch: self.fork.as_ref().map(|fork| fork.branch.clone()),
            key: self.key.clone(),
        }
    }
}

pub trait EpisodeObserver: Send + Sync {
    fn text(&self, text: &str);
    fn again(&self) {}
    fn call_ended(&self) {}
    fn step(&self, step: &Step);
}
