//! What a budget lets through, and what it charges.

use super::{Budget, BudgetKind, Budgeted, Limits, Spent};
use crate::base::{Cause, Completion, Decoding, Paid, Prompt, Request, Usage};
use crate::models::{CompletionFuture, Model, ModelError, OnEvent, Price};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// Answers once the gate lets it, always alike, and counts who came.
struct Gated {
    gate: Arc<Semaphore>,
    asked: Arc<AtomicUsize>,
    answer: Result<Completion, ModelError>,
}

impl Model for Gated {
    fn complete<'a>(&'a self, _: &'a Request, _: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            self.gate.acquire().await.expect("an open gate").forget();
            self.answer.clone()
        }
        .boxed()
    }
}

struct Bench {
    budget: Arc<Budget>,
    gate: Arc<Semaphore>,
    asked: Arc<AtomicUsize>,
    model: Budgeted,
}

fn bench(limits: Limits, answer: Result<Completion, ModelError>) -> Bench {
    let (budget, gate) = (Arc::new(Budget::new(limits)), Arc::new(Semaphore::new(0)));
    let asked = Arc::new(AtomicUsize::new(0));
    let inner = Gated { gate: Arc::clone(&gate), asked: Arc::clone(&asked), answer };
    let price = Some(Price::new(1000.0, 2000.0));
    let model = Budgeted::new(Arc::new(inner), Arc::clone(&budget), price);
    Bench { budget, gate, asked, model }
}

fn completion(usage: Option<Usage>) -> Completion {
    Completion { text: "x".repeat(40), usage, latency_ms: 1, attempts: 1, ..Completion::default() }
}

/// A prompt of 400 bytes: 100 tokens by estimate.
fn request() -> Request {
    Request::new(Prompt::text("p".repeat(300).into(), "q".repeat(100)), vec![], Decoding::default())
}

fn counted(prompt_tokens: u64, completion_tokens: u64) -> Usage {
    Usage::new(prompt_tokens, completion_tokens)
}

fn refused(result: &Result<Completion, ModelError>) -> Option<BudgetKind> {
    match result {
        Err(ModelError::Budget { which, .. }) => Some(*which),
        _ => None,
    }
}

#[tokio::test]
async fn calls_are_never_exceeded_not_even_by_those_in_flight() {
    let bench = bench(Limits { calls: Some(3), ..Limits::default() }, Ok(completion(Some(counted(1, 1)))));
    bench.gate.add_permits(100);
    let request = request();
    let results = join_all((0..10).map(|_| bench.model.complete(&request, None))).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
    assert_eq!(results.iter().filter(|result| refused(result) == Some(BudgetKind::Calls)).count(), 7);
    assert_eq!(bench.asked.load(Ordering::SeqCst), 3);
    let Err(error) = &results[9] else { panic!("the last is refused") };
    assert_eq!(error.to_string(), "the budget of 3 model calls is spent (3 with what is in flight)");
    assert!(error.hint().is_some_and(|hint| hint.contains("--max-calls")));
}

#[tokio::test]
async fn prompts_in_flight_count_by_estimate_until_the_server_counts_them() {
    let bench = bench(Limits { tokens: Some(250), ..Limits::default() }, Ok(completion(Some(counted(50, 10)))));
    let request = request();
    let mut first: Vec<_> = (0..3).map(|_| bench.model.complete(&request, None)).collect();
    for call in &mut first {
        assert!(call.now_or_never().is_none(), "the gate is shut");
    }
    // Three prompts of 100 tokens in flight: the fourth call is refused before it is made.
    assert_eq!(refused(&bench.model.complete(&request, None).await), Some(BudgetKind::Tokens));
    assert_eq!(bench.asked.load(Ordering::SeqCst), 3);
    bench.gate.add_permits(100);
    // Polled to the end from anew: a call that is dropped gives its estimate back.
    drop(first);
    for _ in 0..3 {
        bench.model.complete(&request, None).await.expect("60 tokens each");
    }
    let spent = bench.budget.spent();
    assert_eq!((spent.paid.calls, spent.paid.usage.total(), spent.paid.uncounted), (6, 180, 0));
    bench.model.complete(&request, None).await.expect("180 of 250 are spent");
    bench.model.complete(&request, None).await.expect("240 of 250 are spent");
    assert_eq!(refused(&bench.model.complete(&request, None).await), Some(BudgetKind::Tokens));
}

#[tokio::test]
async fn dollars_need_a_price_and_uncounted_tokens_are_estimated() {
    let bench = bench(Limits { usd: Some(0.25), ..Limits::default() }, Ok(completion(None)));
    bench.gate.add_permits(100);
    let request = request();
    // 100 tokens of prompt and 10 of completion: 0.12 US dollars a call.
    for _ in 0..3 {
        bench.model.complete(&request, None).await.expect("there is money left");
    }
    assert_eq!(refused(&bench.model.complete(&request, None).await), Some(BudgetKind::Usd));
    let spent = bench.budget.spent();
    assert_eq!(spent.paid, Paid { calls: 3, uncounted: 3, usage: counted(300, 30) });
    assert!((spent.usd - 0.36).abs() < 1e-12);
}

#[tokio::test]
async fn what_fails_counts_as_a_call_and_what_comes_from_a_cache_costs_nothing() {
    let failing = bench(Limits { calls: Some(2), ..Limits::default() }, Err(ModelError::Other("down".into())));
    failing.gate.add_permits(100);
    let request = request();
    for _ in 0..2 {
        assert_eq!(failing.model.complete(&request, None).await, Err(ModelError::Other("down".into())));
    }
    assert_eq!(refused(&failing.model.complete(&request, None).await), Some(BudgetKind::Calls));
    assert_eq!(failing.budget.spent(), Spent::of(Paid { calls: 2, ..Paid::default() }, None));

    let usage = Some(counted(100, 10));
    let failed = ModelError::Exhausted { attempts: 2, reason: "x".into(), cause: Cause::ServerError, usage };
    let failing = bench(Limits { usd: Some(0.2), ..Limits::default() }, Err(failed.clone()));
    failing.gate.add_permits(100);
    for _ in 0..2 {
        assert_eq!(failing.model.complete(&request, None).await, Err(failed.clone()));
    }
    assert_eq!(refused(&failing.model.complete(&request, None).await), Some(BudgetKind::Usd));
    assert_eq!(failing.budget.spent().paid, Paid { calls: 2, uncounted: 0, usage: counted(200, 20) });

    let cached = Completion { cached: true, ..completion(Some(counted(100, 10))) };
    let kept = bench(Limits { calls: Some(1), tokens: Some(150), ..Limits::default() }, Ok(cached));
    kept.gate.add_permits(100);
    for _ in 0..5 {
        kept.model.complete(&request, None).await.expect("free");
    }
    assert_eq!(kept.budget.spent(), Spent::default());
}

#[tokio::test]
async fn a_resumed_run_begins_with_what_is_spent() {
    let bench = bench(Limits { tokens: Some(1000), ..Limits::default() }, Ok(completion(None)));
    bench.budget.charge(Spent::of(Paid { calls: 9, uncounted: 0, usage: Usage::new(900, 100) }, None));
    assert_eq!(refused(&bench.model.complete(&request(), None).await), Some(BudgetKind::Tokens));
    assert!(bench.budget.refusal().is_some());
    assert_eq!(bench.asked.load(Ordering::SeqCst), 0);
}
