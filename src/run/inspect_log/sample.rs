//! One sample of a log: what was asked, what was answered, and what it was scored.

use crate::types::text::visible_line;
use crate::types::trajectory::TRAJECTORY_VERSION;
use crate::types::{Outcome, Trajectory, Usage};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The largest epoch; a log has as many as it was asked for.
const MAX_EPOCHS: u32 = 1000;

/// Spans around an event; a transcript has far fewer.
const MAX_DEPTH: usize = 100;

/// The largest value of a sample's metadata, in bytes.
const MAX_META: usize = 64 << 10;

/// The largest number of tokens or milliseconds that is believed: sums of them stay far from the largest number there is.
const MAX_COUNT: u64 = 1 << 36;

/// Models of one sample whose tokens are counted.
const MAX_MODELS: usize = 100;

/// Counts of tokens in the usage of a model.
const COUNTS: [&str; 6] = [
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
    "total_tokens",
];

/// What a text begins with that stands elsewhere in the sample.
const ATTACHMENT: &str = "attachment://";

#[derive(Debug, Deserialize)]
pub(super) struct Sample {
    id: Value,
    epoch: u32,
    input: Value,
    target: Value,
    #[serde(default)]
    choices: Value,
    #[serde(default)]
    output: Value,
    #[serde(default)]
    scores: Option<Map<String, Value>>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    limit: Option<Value>,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    events: Option<Vec<Value>>,
    #[serde(default)]
    attachments: Option<HashMap<String, Value>>,
    #[serde(default)]
    model_usage: Option<Map<String, Value>>,
    #[serde(default)]
    total_time: Value,
    #[serde(default)]
    started_at: Value,
}

/// What is taken for the answer of a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AnswerFrom<'a> {
    /// What was submitted, or the output of a sample that submitted nothing.
    #[default]
    Either,
    /// The argument of the last call of the tool that submits an answer.
    Submit,
    /// The whole output.
    Output,
    /// What this scorer read from the output.
    Scorer(&'a str),
}

impl Sample {
    /// The sample as an episode of this variant, without a key; the tools of these names submit an answer. The error says
    /// why it cannot be one.
    pub(super) fn episode(&self, variant: &str, from: AnswerFrom<'_>, tools: &[String]) -> Result<Trajectory, String> {
        let id = match &self.id {
            Value::String(id) => id.clone(),
            Value::Number(id) => id.to_string(),
            _ => return Err("its id is neither a text nor a number".to_owned()),
        };
        if !(1..=MAX_EPOCHS).contains(&self.epoch) {
            return Err(format!("its epoch is {}, not 1 to {MAX_EPOCHS}", self.epoch));
        }
        let question = self.question().ok_or("its input holds no text of the user's")?;
        let answer = match from {
            // What was said before an error is not what would have been said.
            _ if self.failed() => None,
            AnswerFrom::Either => self.submitted(tools).or_else(|| self.output_text()),
            AnswerFrom::Submit => self.submitted(tools),
            AnswerFrom::Output => self.output_text(),
            AnswerFrom::Scorer(name) => self.scored_answer(name)?,
        };
        let answer = answer.filter(|answer| !answer.trim().is_empty());
        let (outcome, detail) = self.outcome(answer.is_some());
        let (usage, cost_usd) = self.usage();
        Ok(Trajectory {
            v: TRAJECTORY_VERSION,
            id,
            index: 0,
            variant: variant.to_owned(),
            repeat: self.epoch - 1,
            question,
            answers: self.golds()?,
            steps: Vec::new(),
            steps_recorded: false,
            answer,
            outcome,
            detail,
            failure: None,
            usage,
            cost_usd,
            started_at: self.started_at.as_str().and_then(instant).unwrap_or_default(),
            wall_ms: milliseconds(self.total_time.as_f64().unwrap_or_default()),
            compat: None,
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
                self.content(&last["content"])?
            }
            input => self.resolved(input)?,
        };
        (!text.trim().is_empty()).then_some(text)
    }

    fn golds(&self) -> Result<Vec<String>, String> {
        let golds: Option<Vec<String>> = match &self.target {
            Value::String(_) => self.resolved(&self.target).map(|gold| vec![gold]),
            Value::Array(golds) => golds.iter().map(|gold| self.resolved(gold)).collect(),
            _ => None,
        };
        let golds = golds.ok_or("its target is neither a text nor a list of texts")?;
        Ok(golds.into_iter().filter(|gold| !gold.trim().is_empty()).collect())
    }

    /// What the sample has besides question and answers, under its own names: metadata and choices.
    pub(super) fn meta(&self) -> Map<String, Value> {
        let choices = (!self.choices.is_null()).then(|| ("choices".to_owned(), self.choices.clone()));
        let metadata =
            self.metadata.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone()));
        metadata.chain(choices).filter(|(_, value)| value.to_string().len() <= MAX_META).collect()
    }

    /// The argument of the last call that submitted an answer, of the agent itself: those that it called as tools submit
    /// theirs to it.
    fn submitted(&self, tools: &[String]) -> Option<String> {
        let events = self.events.as_deref()?;
        let span = |event: &Value| event["event"] == "span_begin";
        let spans: HashMap<&str, &Value> = events
            .iter()
            .filter(|event| span(event))
            .filter_map(|event| Some((event["id"].as_str()?, event)))
            .collect();
        let of_another = |event: &Value| {
            let parents = std::iter::successors(event["span_id"].as_str().and_then(|id| spans.get(id)), |span| {
                span["parent_id"].as_str().and_then(|id| spans.get(id))
            });
            parents.take(MAX_DEPTH).any(|span| span["type"] == "tool" || span["type"] == "handoff")
        };
        let submits = |event: &&Value| {
            event["event"] == "tool"
                && tools.iter().any(|tool| event["function"] == tool.as_str())
                && event["error"].is_null()
                && event["failed"] != true
                && event["pending"] != true
                && !of_another(event)
        };
        let event = events.iter().rev().find(submits)?;
        let argument = &event["arguments"]["answer"];
        let argument = if argument.is_null() { &event["result"] } else { argument };
        match argument {
            Value::Number(_) | Value::Bool(_) => Some(argument.to_string()),
            argument => self.content(argument),
        }
    }

    fn output_text(&self) -> Option<String> {
        let choice = &self.output["choices"][0];
        // The model was still asking for tools.
        if choice["stop_reason"] == "tool_calls" {
            return None;
        }
        self.content(&choice["message"]["content"]).or_else(|| self.resolved(&self.output["completion"]))
    }

    /// The text of a message: one text, or parts of which some are texts.
    fn content(&self, content: &Value) -> Option<String> {
        match content {
            Value::Array(parts) => {
                let texts = parts.iter().filter(|part| part["type"] == "text");
                Some(texts.filter_map(|part| self.resolved(&part["text"])).collect::<Vec<_>>().join("\n"))
            }
            content => self.resolved(content),
        }
    }

    /// A text, from the attachments if it stands there.
    fn resolved(&self, text: &Value) -> Option<String> {
        let text = text.as_str()?;
        let attached = text.strip_prefix(ATTACHMENT).and_then(|id| self.attachments.as_ref()?.get(id)?.as_str());
        Some(attached.unwrap_or(text).to_owned())
    }

    fn scored_answer(&self, scorer: &str) -> Result<Option<String>, String> {
        match self.scores.as_ref().and_then(|scores| scores.get(scorer)) {
            Some(score) => Ok(self.resolved(&score["answer"])),
            None => Err(format!("it has no score `{}`", visible_line(scorer, 80))),
        }
    }

    /// The names of the scorers that read an answer from it.
    pub(super) fn scorers(&self) -> impl Iterator<Item = &String> {
        self.scores.iter().flat_map(Map::keys)
    }

    fn failed(&self) -> bool {
        self.error.as_ref().is_some_and(|error| !error.is_null())
    }

    fn outcome(&self, answered: bool) -> (Outcome, Option<String>) {
        if let Some(error) = self.error.as_ref().filter(|_| self.failed()) {
            let said = error["message"].as_str().unwrap_or("the log names an error");
            return (Outcome::NotMeasured, Some(visible_line(said, 1000)));
        }
        if let Some(limit) = self.limit.as_ref().filter(|limit| !limit.is_null()) {
            let kind = limit["type"].as_str().unwrap_or("unknown");
            let outcome = match kind {
                "context" => Outcome::ContextOverflow,
                // A person ended it.
                "operator" => Outcome::NotMeasured,
                _ => Outcome::StepLimit,
            };
            let number = limit["limit"].as_f64().map(|number| format!(", {number}")).unwrap_or_default();
            return (outcome, Some(format!("limit: {}{number}", visible_line(kind, 80))));
        }
        match &self.output["choices"][0]["stop_reason"] {
            _ if answered => (Outcome::Finished, None),
            reason if reason == "model_length" => (Outcome::ContextOverflow, None),
            _ => (Outcome::FormatFailure, Some("the log has no answer".to_owned())),
        }
    }

    /// Tokens of all models, and what they cost if that is known of each.
    fn usage(&self) -> (Usage, Option<f64>) {
        let all = || self.model_usage.iter().flat_map(Map::values);
        let cost: Option<f64> = all().map(|usage| usage["total_cost"].as_f64()).sum();
        let sane = |usage: &Value| usage["total_cost"].as_f64().is_none_or(|cost| cost >= 0.0);
        let cost = cost.filter(|cost| cost.is_finite() && all().next().is_some() && all().all(sane));
        // A count below zero is none, and makes none of the sum.
        let miscounted =
            |usage: &Value| COUNTS.iter().any(|name| usage[name].as_f64().is_some_and(|count| count < 0.0));
        if all().any(miscounted) {
            return (Usage::default(), cost);
        }
        (all().take(MAX_MODELS).map(tokens).fold(Usage::default(), |sum, usage| sum + usage), cost)
    }

    /// The first scorer's name, and whether it has the answer as right.
    pub(super) fn claim(&self) -> Option<(&str, bool)> {
        let (name, score) = self.scores.as_ref()?.iter().next()?;
        let value = &score["value"];
        let right = value == "C" || value == true || value.as_f64().is_some_and(|value| value >= 1.0);
        Some((name, right))
    }
}

/// Tokens of one model. Inspect counts those of the provider's cache, and with some providers those of reasoning, beside the
/// others; here they are among them. The total says which it is.
fn tokens(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default().min(MAX_COUNT);
    let (input, output, reasoning) = (count("input_tokens"), count("output_tokens"), count("reasoning_tokens"));
    let (read, write) = (count("input_tokens_cache_read"), count("input_tokens_cache_write"));
    let beside = input.saturating_add(read).saturating_add(write);
    let is_total = |prompt: u64, completion: u64| usage["total_tokens"].as_u64() == prompt.checked_add(completion);
    let thought = output.saturating_add(reasoning);
    let (prompt, completion) = [(input, output), (beside, output), (input, thought), (beside, thought)]
        .into_iter()
        .find(|(prompt, completion)| is_total(*prompt, *completion))
        .unwrap_or((input, output));
    Usage {
        cached_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: reasoning,
        ..Usage::new(prompt, completion)
    }
}

/// A time as records have it, in UTC.
pub(super) fn instant(text: &str) -> Option<String> {
    Some(text.parse::<jiff::Timestamp>().ok()?.to_string())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast ends at the bounds")]
fn milliseconds(seconds: f64) -> u64 {
    ((seconds * 1000.0) as u64).min(MAX_COUNT)
}
