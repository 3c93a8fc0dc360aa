//! What a run has cost, by what came of it.

use crate::llm::Price;
use crate::store::PaidByVariant;
use crate::types::text::counted;
use crate::types::{Manifest, Paid, Usage};
use serde::Serialize;

/// What a run has cost: `total = measured + unfinished + discarded`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spending {
    pub total: Expenditure,
    pub measured: Expenditure,
    /// What is kept of episodes that were cut short, that failed or that never ended: `--resume` goes on from there.
    pub unfinished: Expenditure,
    /// What nothing is kept of: it went to episodes that were run again from their beginning.
    pub discarded: Expenditure,
}

/// Model calls, their tokens and what these cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Expenditure {
    pub calls: u64,
    pub usage: Usage,
    /// US dollars, of the variants whose price is known; absent if none is.
    pub cost_usd: Option<f64>,
}

impl Spending {
    /// Of what was paid for, `measured` went to measured episodes and `unfinished` to those that have not ended.
    pub(super) fn of(
        manifest: &Manifest,
        measured: &PaidByVariant,
        (paid, unfinished): &(PaidByVariant, PaidByVariant),
    ) -> Self {
        let mut spending = Self::default();
        for variant in &manifest.variants {
            let of = |part: &PaidByVariant| part.get(&variant.name).copied().unwrap_or_default();
            let (measured, total, unfinished) = (of(measured), of(paid), of(unfinished));
            let price = variant.price.as_ref().map(Price::from);
            let minus = |paid: Paid, part: Paid| Paid {
                calls: paid.calls.saturating_sub(part.calls),
                usage: paid.usage.saturating_sub(part.usage),
                uncounted: paid.uncounted.saturating_sub(part.uncounted),
            };
            let discarded = minus(minus(total, measured), unfinished);
            for (part, sum) in [
                (measured, &mut spending.measured),
                (unfinished, &mut spending.unfinished),
                (discarded, &mut spending.discarded),
            ] {
                sum.add(part.calls, part.usage, price);
                spending.total.add(part.calls, part.usage, price);
            }
        }
        spending
    }
}

impl Expenditure {
    fn add(&mut self, calls: u64, usage: Usage, price: Option<Price>) {
        self.calls += calls;
        self.usage += usage;
        if let Some(price) = price {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + price.of(usage));
        }
    }
}

impl std::fmt::Display for Expenditure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (calls, tokens) = (counted(self.calls, "model call"), counted(self.usage.total(), "token"));
        write!(f, "{calls}, {tokens}")?;
        self.cost_usd.map_or(Ok(()), |usd| write!(f, ", {usd:.4} US $"))
    }
}
