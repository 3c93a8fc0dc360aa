//! What a run may spend, checked before every call: calls, tokens, US dollars.
//!
//! All variants of a run share one [`Budget`]. A call starts only while the amount spent plus the estimated cost of the
//! prompts in flight is below every limit, so a budget is exceeded by at most the calls in flight. Where a server does
//! not count tokens, they are estimated at [`BYTES_PER_TOKEN`](crate::base::request::BYTES_PER_TOKEN) bytes each.

use super::prices::Price;
use super::{BudgetKind, CompletionFuture, Model, ModelError, OnEvent, Unsupported};
use crate::base::{Completion, Decoding, Paid, Request, Usage, locked};
use futures_util::FutureExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The most that may be spent; `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// Model calls; the attempts of one call count once.
    pub calls: Option<u64>,
    pub tokens: Option<u64>,
    pub usd: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    pub paid: Paid,
    pub usd: f64,
}

#[derive(Debug, Default)]
pub struct Budget {
    limits: Limits,
    ledger: Mutex<Ledger>,
    /// Whether the rest does not pay for another episode.
    exhausted: AtomicBool,
}

#[derive(Debug, Default)]
struct Ledger {
    spent: Spent,
    pending: Spent,
}

impl Limits {
    pub fn is_any(&self) -> bool {
        self.calls.is_some() || self.tokens.is_some() || self.usd.is_some()
    }
}

impl Spent {
    pub fn of(paid: Paid, price: Option<Price>) -> Self {
        Self { paid, usd: price.map_or(0.0, |price| price.of(paid.usage)) }
    }

    pub fn add(&mut self, other: Self) {
        self.paid += other.paid;
        self.usd += other.usd;
    }
}

impl Budget {
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    pub fn charge(&self, spent: Spent) {
        locked(&self.ledger).spent.add(spent);
    }

    /// What was spent so far, without the calls in flight.
    pub fn spent(&self) -> Spent {
        locked(&self.ledger).spent
    }

    /// Why no further call may be made, once a limit is reached.
    pub fn refusal(&self) -> Option<ModelError> {
        locked(&self.ledger).refusal(&self.limits)
    }

    pub fn exhaust(&self) {
        self.exhausted.store(true, Ordering::Relaxed);
    }

    /// Whether a limit is reached, or the rest does not pay for another episode.
    pub fn is_spent(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed) || self.refusal().is_some()
    }

    fn begin(self: &Arc<Self>, request: &Request, price: Option<Price>) -> Result<Pending, ModelError> {
        let usage = Usage::estimated(request.prompt.bytes(), 0);
        let mut ledger = locked(&self.ledger);
        if let Some(refusal) = ledger.refusal(&self.limits) {
            return Err(refusal);
        }
        let call = Paid { calls: 1, ..Paid::default() };
        let estimate = Spent::of(Paid { usage, ..call }, price);
        ledger.pending.add(estimate);
        Ok(Pending { budget: Arc::clone(self), estimate, price, paid: Spent::of(call, None) })
    }
}

impl Ledger {
    fn refusal(&self, limits: &Limits) -> Option<ModelError> {
        let (spent, pending) = (self.spent, self.pending);
        let refused = |which, spent, limit| Some(ModelError::Budget { which, spent, limit });
        let calls = spent.paid.calls + pending.paid.calls;
        if let Some(limit) = limits.calls.filter(|limit| calls >= *limit) {
            return refused(BudgetKind::Calls, calls.to_string(), limit.to_string());
        }
        let tokens = spent.paid.usage.total() + pending.paid.usage.total();
        if let Some(limit) = limits.tokens.filter(|limit| tokens >= *limit) {
            return refused(BudgetKind::Tokens, tokens.to_string(), limit.to_string());
        }
        let usd = spent.usd + pending.usd;
        if let Some(limit) = limits.usd.filter(|limit| usd >= *limit) {
            return refused(BudgetKind::Usd, format!("{usd:.4}"), format!("{limit:.4}"));
        }
        None
    }
}

/// A call in flight. However it ends, its reservation is released and its known cost is charged.
struct Pending {
    budget: Arc<Budget>,
    estimate: Spent,
    price: Option<Price>,
    /// A failed call counts as a call, with the tokens that the server counted.
    paid: Spent,
}

impl Pending {
    fn settle(mut self, request: &Request, result: &Result<Completion, ModelError>) {
        let (usage, text) = match result {
            Ok(completion) if completion.cached => {
                self.paid = Spent::default();
                return;
            }
            Ok(completion) => (completion.usage, completion.text.as_str()),
            Err(error) => match error.charged_call(request) {
                Some(call) => (call.usage, ""),
                None => return,
            },
        };
        let uncounted = u64::from(usage.is_none());
        let usage = usage.unwrap_or_else(|| Usage::estimated(request.prompt.bytes(), text.len()));
        self.paid = Spent::of(Paid { calls: 1, uncounted, usage }, self.price);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let mut ledger = locked(&self.budget.ledger);
        let pending = &mut ledger.pending;
        pending.paid = pending.paid.saturating_sub(self.estimate.paid);
        // Floating-point sums do not cancel exactly.
        pending.usd = if pending.paid.calls == 0 { 0.0 } else { pending.usd - self.estimate.usd };
        ledger.spent.add(self.paid);
    }
}

/// A model that answers while the budget lasts. What comes from a cache costs nothing.
pub struct Budgeted {
    inner: Arc<dyn Model>,
    budget: Arc<Budget>,
    price: Option<Price>,
}

impl Budgeted {
    /// Spends from `budget` at this price; without one, nothing counts towards a budget in dollars.
    pub fn new(inner: Arc<dyn Model>, budget: Arc<Budget>, price: Option<Price>) -> Self {
        Self { inner, budget, price }
    }
}

impl Model for Budgeted {
    fn unsupported(&self, decoding: &Decoding, forced: bool) -> Option<Unsupported> {
        self.inner.unsupported(decoding, forced)
    }

    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        async move {
            let pending = self.budget.begin(request, self.price)?;
            let result = self.inner.complete(request, on_event).await;
            pending.settle(request, &result);
            result
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
