//! One sample of a log: what was asked, what was answered, and what it was scored.

use crate::types::text::visible_line;
use crate::types::trajectory::TRAJECTORY_VERSION;
use crate::types::{Compat, Outcome, Trajectory, Usage};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The largest epoch; a log has as many as it was asked for.
const MOST_EPOCHS: u32 = 1000;

#[derive(Debug, Deserialize)]
pub(super) struct Sample {
    id: Value,
    epoch: u32,
    input: Value,
    target: Value,
    #[serde(default)]
    output: Value,
    #[serde(default)]
    scores: Option<Map<String, Value>>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    limit: Option<Value>,
    #[serde(default)]
    model_usage: Option<Map<String, Value>>,
    #[serde(default)]
    total_time: Value,
    #[serde(default)]
    started_at: Value,
}

impl Sample {
    /// The sample as an episode of this variant, without a key; `scorer` read the answer if it is named. The error says why
    /// it cannot be one.
    pub(super) fn episode(&self, variant: &str, scorer: Option<&str>) -> Result<Trajectory, String> {
        let id = match &self.id {
            Value::String(id) => id.clone(),
            Value::Number(id) => id.to_string(),
            _ => return Err("its id is neither a text nor a number".to_owned()),
        };
        if !(1..=MOST_EPOCHS).contains(&self.epoch) {
            return Err(format!("its epoch is {}, not 1 to {MOST_EPOCHS}", self.epoch));
        }
        let question = self.question().ok_or("its input holds no text of the user's")?;
        let answer = match scorer {
            None => self.output_text(),
            Some(scorer) => self.scored_answer(scorer)?,
        };
        let answer = answer.filter(|answer| !answer.trim().is_empty());
        let (outcome, detail) = self.outcome(answer.is_some());
        Ok(Trajectory {
            v: TRAJECTORY_VERSION,
            id,
            index: 0,
            variant: variant.to_owned(),
            repeat: self.epoch - 1,
            question,
            answers: self.golds()?,
            steps: Vec::new(),
            answer,
            outcome,
            detail,
            failure: None,
            usage: self.usage(),
            cost_usd: None,
            started_at: self.started_at.as_str().filter(|at| is_time(at)).unwrap_or_default().to_owned(),
            wall_ms: milliseconds(self.total_time.as_f64().unwrap_or_default()),
            compat: Compat::default(),
            repairs: Vec::new(),
            votes: Vec::new(),
            branch: None,
            key: String::new(),
        })
    }

    /// The input, or the last message of the user's in it.
    fn question(&self) -> Option<String> {
        let text = match &self.input {
            Value::Array(messages) => {
                let last = messages.iter().rev().find(|message| message["role"] == "user")?;
                content(&last["content"])?
            }
            input => input.as_str()?.to_owned(),
        };
        (!text.trim().is_empty()).then_some(text)
    }

    fn golds(&self) -> Result<Vec<String>, String> {
        let golds: Option<Vec<String>> = match &self.target {
            Value::String(gold) => Some(vec![gold.clone()]),
            Value::Array(golds) => golds.iter().map(|gold| gold.as_str().map(str::to_owned)).collect(),
            _ => None,
        };
        let golds = golds.ok_or("its target is neither a text nor a list of texts")?;
        Ok(golds.into_iter().filter(|gold| !gold.trim().is_empty()).collect())
    }

    fn output_text(&self) -> Option<String> {
        content(&self.output["choices"][0]["message"]["content"]).or_else(|| content(&self.output["completion"]))
    }

    fn scored_answer(&self, scorer: &str) -> Result<Option<String>, String> {
        match self.scores.as_ref().and_then(|scores| scores.get(scorer)) {
            Some(score) => Ok(score["answer"].as_str().map(str::to_owned)),
            // What failed was not scored.
            None if self.failed() => Ok(None),
            None => Err(format!("it has no score `{}`", visible_line(scorer, 80))),
        }
    }

    fn failed(&self) -> bool {
        self.error.as_ref().is_some_and(|error| !error.is_null())
    }

    fn outcome(&self, answered: bool) -> (Outcome, Option<String>) {
        let limit = self.limit.as_ref().and_then(|limit| limit["type"].as_str());
        match (&self.error, limit) {
            (Some(error), _) if self.failed() => {
                let said = error["message"].as_str().unwrap_or("the log names an error");
                (Outcome::NotMeasured, Some(visible_line(said, 1000)))
            }
            _ if answered => (Outcome::Finished, None),
            (_, Some("context")) => (Outcome::ContextOverflow, None),
            (_, Some(limit)) => (Outcome::StepLimit, Some(format!("limit: {}", visible_line(limit, 80)))),
            (_, None) => (Outcome::FormatFailure, Some("the log has no answer".to_owned())),
        }
    }

    fn usage(&self) -> Usage {
        let of = |usage: &Value| {
            let tokens = |name: &str| usage[name].as_u64().unwrap_or_default();
            Usage::new(tokens("input_tokens"), tokens("output_tokens"))
        };
        let all = self.model_usage.iter().flat_map(Map::values).map(of);
        all.fold(Usage::default(), |sum, usage| sum + usage)
    }

    /// The first scorer's name, and whether it has the answer as right.
    pub(super) fn claim(&self) -> Option<(&str, bool)> {
        let (name, score) = self.scores.as_ref()?.iter().next()?;
        let value = &score["value"];
        let right = value == "C" || value == true || value.as_f64().is_some_and(|value| value >= 1.0);
        Some((name, right))
    }
}

/// The text of a message: one text, or parts of which some are texts.
fn content(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter(|part| part["type"] == "text").filter_map(|part| part["text"].as_str());
            Some(texts.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

fn is_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast ends at the bounds")]
fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1000.0) as u64
}
