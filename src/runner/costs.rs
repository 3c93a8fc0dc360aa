//! What models cost, and what a run will take.

use super::error::RunError;
use super::job::Job;
use crate::base::Paid;
use crate::base::request::BYTES_PER_TOKEN;
use crate::base::text::{counted, thousands};
use crate::models::Price;
use crate::runner::agent::{Episode, Forecast};
use crate::runner::store::Records;
use serde_json::{Value, json};
use std::collections::HashMap;

const FREE: Price = Price::new(0.0, 0.0);

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    /// A row a variant, in the order of the plan.
    pub rows: Vec<EstimateRow>,
    /// Recorded episodes that the expectation rests on; without any it rests on the first prompts and usual lengths.
    records: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EstimateRow {
    pub variant: String,
    pub due: u64,
    pub expected: Expense,
    /// The largest possible amounts.
    pub most: Expense,
}

impl Estimate {
    /// Variants of which episodes are recorded are expected to go on as they went, the others as usual.
    pub(super) fn of(job: &Job, due: &[Episode], records: Option<&Records>) -> Result<Self, RunError> {
        let mut recorded: HashMap<String, (u64, Paid)> = HashMap::new();
        for trajectory in records.into_iter().flat_map(Records::iter) {
            let trajectory = trajectory?;
            if trajectory.measured() {
                let paid = Paid::of(&trajectory);
                let (episodes, load) = recorded.entry(trajectory.variant).or_default();
                *episodes += 1;
                *load += paid;
            }
        }
        let mut rows: HashMap<&str, (u64, Forecast)> = HashMap::new();
        for episode in due {
            let Some(agent) = job.agents.get(&episode.variant.name) else { continue };
            let (due, forecast) = rows.entry(&episode.variant.name).or_default();
            *due += 1;
            *forecast += agent.approach.forecast(&episode.question, agent.session.passages);
        }
        let mut estimate = Self::default();
        let prices = job.prices();
        for variant in &job.manifest.variants {
            let (due, mut forecast) = rows.remove(variant.name.as_str()).unwrap_or_default();
            if let Some((episodes, load)) = recorded.get(&variant.name).filter(|_| due > 0) {
                forecast.expected = load.share(due, *episodes);
                estimate.records += episodes;
            }
            // The rules cost nothing; it is worth saying beside models that cost something.
            let free = (variant.model == "baseline" && !prices.is_empty()).then_some(FREE);
            let price = prices.get(variant.name.as_str()).map(|price| Price::from(*price)).or(free);
            let [expected, most] = [forecast.expected, forecast.most].map(|load| Expense::of(load, price));
            estimate.rows.push(EstimateRow { variant: variant.name.clone(), due, expected, most });
        }
        Ok(estimate)
    }

    pub fn together<'e>(estimates: impl IntoIterator<Item = &'e Self>) -> Self {
        let mut sum = Self::default();
        for estimate in estimates {
            sum.rows.extend(estimate.rows.iter().cloned());
            sum.records += estimate.records;
        }
        sum
    }

    pub fn most_calls(&self) -> u64 {
        self.all().most.load.calls
    }

    /// All variants as one.
    pub fn all(&self) -> EstimateRow {
        let due = self.rows.iter().map(|row| row.due).sum();
        let (expected, most) = (self.sum(|row| row.expected), self.sum(|row| row.most));
        EstimateRow { variant: "all".to_owned(), due, expected, most }
    }

    fn sum(&self, of: impl Fn(&EstimateRow) -> Expense) -> Expense {
        let zero = Expense { load: Paid::default(), usd: Some(0.0) };
        // What costs nothing needs no price; where nothing at all is due, nothing is known of the price either.
        let due: Vec<&EstimateRow> = self.rows.iter().filter(|row| row.due > 0).collect();
        let rows = if due.is_empty() { self.rows.iter().collect() } else { due };
        rows.into_iter().map(of).fold(zero, |mut sum, one| {
            sum.load += one.load;
            sum.usd = sum.usd.zip(one.usd).map(|(a, b)| a + b);
            sum
        })
    }

    pub fn lines(&self) -> Vec<String> {
        let basis = match self.records {
            0 => "from the prompts, with steps and texts of the usual number and length".to_owned(),
            n => format!("from {}", counted(n, "recorded episode")),
        };
        let EstimateRow { expected, most, .. } = self.all();
        vec![
            format!("expected: {expected}"),
            format!("at most: {most}"),
            format!("these are estimates {basis}, at {BYTES_PER_TOKEN} bytes a token; retries are left out"),
        ]
    }

    pub fn to_json(&self) -> Value {
        let EstimateRow { expected, most, .. } = self.all();
        json!({
            "expected": expected.to_json(),
            "at_most": most.to_json(),
            "recorded_episodes": self.records,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expense {
    pub load: Paid,
    /// US dollars, where the price of all of it is known.
    pub usd: Option<f64>,
}

impl Expense {
    fn of(load: Paid, price: Option<Price>) -> Self {
        Self { load, usd: price.map(|price| price.of(load.usage)) }
    }

    pub fn to_json(self) -> Value {
        let usage = self.load.usage;
        json!({
            "calls": self.load.calls,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "tokens": usage.total(),
            "cost_usd": self.usd,
        })
    }
}

impl std::fmt::Display for Expense {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cost = self.usd.map_or_else(|| "cost unknown".to_owned(), |usd| format!("{usd:.4} USD"));
        let usage = self.load.usage;
        let (calls, tokens) = (counted(self.load.calls, "model call"), counted(usage.total(), "token"));
        let (prompt, completion) = (thousands(usage.prompt_tokens), thousands(usage.completion_tokens));
        write!(f, "{calls}, {tokens} ({prompt} in, {completion} out), {cost}")
    }
}
