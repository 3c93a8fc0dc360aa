//! What a run will take, said before it is run.

use super::load::Job;
use crate::agent::{Episode, Forecast, Load};
use crate::llm::Price;
use crate::store::{Paid, Records};
use crate::types::request::BYTES_PER_TOKEN;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Calls, tokens and cost of the episodes that are due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    forecast: Forecast,
    price: Option<Price>,
    /// Recorded episodes that the expectation rests on; without any it rests on the first prompts and usual lengths.
    records: u64,
}

impl Estimate {
    /// Variants of which episodes are recorded are expected to go on as they went, the others as usual.
    pub(super) fn of(job: &Job, due: &[Episode], records: Option<&Records>) -> anyhow::Result<Self> {
        let mut recorded: HashMap<String, (u64, Load)> = HashMap::new();
        for trajectory in records.into_iter().flat_map(Records::iter) {
            let trajectory = trajectory?;
            if trajectory.measured() {
                let Paid { calls, usage, .. } = Paid::of(&trajectory);
                let (episodes, load) = recorded.entry(trajectory.variant).or_default();
                *episodes += 1;
                *load += Load { calls, usage };
            }
        }
        let mut forecast = Forecast::default();
        let mut by_record: HashMap<&str, u64> = HashMap::new();
        for episode in due {
            let Some(agent) = job.agents.get(&episode.variant.name) else { continue };
            let mut one = agent.approach.forecast(&episode.question);
            if recorded.contains_key(&episode.variant.name) {
                *by_record.entry(&episode.variant.name).or_default() += 1;
                one.expected = Load::default();
            }
            forecast += one;
        }
        let mut rests_on = 0;
        for (name, due) in by_record {
            if let Some((episodes, load)) = recorded.get(name) {
                forecast.expected += load.share(due, *episodes);
                rests_on += episodes;
            }
        }
        Ok(Self { forecast, price: job.priced.as_ref().map(|priced| priced.price), records: rests_on })
    }

    /// The bound on model calls.
    pub(super) fn most_calls(&self) -> u64 {
        self.forecast.most.calls
    }

    /// For reading, a line each.
    pub(super) fn lines(&self) -> Vec<String> {
        let basis = match self.records {
            0 => "from the prompts, with steps and texts of the usual number and length".to_owned(),
            n => format!("from {n} recorded episodes"),
        };
        vec![
            format!("expected: {}", self.load(self.forecast.expected)),
            format!("at most: {}", self.load(self.forecast.most)),
            format!("these are estimates {basis}, at {BYTES_PER_TOKEN} bytes a token; retries are left out"),
        ]
    }

    fn load(&self, load: Load) -> String {
        let Load { calls, usage } = load;
        let cost = self.cost(load).map_or_else(|| "cost unknown".to_owned(), |usd| format!("{usd:.4} US $"));
        let (total, prompt, completion) = (usage.total(), usage.prompt_tokens, usage.completion_tokens);
        format!("{calls} model calls, {total} tokens ({prompt} in, {completion} out), {cost}")
    }

    fn cost(&self, load: Load) -> Option<f64> {
        self.price.map(|price| price.of(load.usage))
    }

    /// The same for programs.
    pub(super) fn to_json(self) -> Value {
        let load = |load: Load| {
            json!({
                "calls": load.calls,
                "prompt_tokens": load.usage.prompt_tokens,
                "completion_tokens": load.usage.completion_tokens,
                "tokens": load.usage.total(),
                "cost_usd": self.cost(load),
            })
        };
        json!({
            "expected": load(self.forecast.expected),
            "at_most": load(self.forecast.most),
            "recorded_episodes": self.records,
        })
    }
}
