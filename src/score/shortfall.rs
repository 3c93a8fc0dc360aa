//! Calls whose completion is less than the model's whole answer, counted by what cut or withheld it.

use crate::types::{Call, Cause, Trajectory};
use serde::Serialize;
use std::collections::HashSet;

/// The repair of a reply that calls no function.
const MISSING_CALL: &str = "missing_call";

/// Calls, and how many of them fell short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Shortfalls {
    /// All calls.
    pub calls: u64,
    /// Cut by the limit of tokens.
    pub token_limit: u64,
    /// Of these, calls that were cut inside reasoning and have no text.
    pub in_reasoning: u64,
    /// The conversation did not fit into the model's context.
    pub context_overflow: u64,
    /// The model declined, and the server says so.
    pub refusal: u64,
    /// A filter of the provider withheld the answer.
    pub content_filter: u64,
    /// Neither a text nor a call came, and no reason.
    pub empty: u64,
    /// Whole answers that call no function, where the model was to call one.
    pub no_call: u64,
    /// Answers with calls of functions.
    #[serde(skip)]
    pub with_calls: u64,
}

impl Shortfalls {
    pub fn of(trajectory: &Trajectory) -> Self {
        let mut sum = Self::default();
        trajectory.steps.iter().flat_map(|step| &step.calls).for_each(|call| sum.add(call));
        let missed = trajectory.repairs.iter().filter(|repair| repair.kind == MISSING_CALL).map(|repair| repair.step);
        let missed: HashSet<usize> = missed.collect();
        let steps = trajectory.agent_steps().filter(|step| missed.contains(&step.n));
        let replies = steps.filter_map(|step| step.calls.last());
        sum.no_call = replies.map(|call| u64::from(call.calls.is_empty() && call.shortfall().is_none())).sum();
        sum
    }

    fn add(&mut self, call: &Call) {
        self.calls += 1;
        self.with_calls += u64::from(!call.calls.is_empty());
        let count = match call.shortfall() {
            Some(Cause::TokenLimit) => {
                self.in_reasoning += u64::from(call.is_reasoning_only());
                &mut self.token_limit
            }
            Some(Cause::ContextOverflow) => &mut self.context_overflow,
            Some(Cause::Refusal) => &mut self.refusal,
            Some(Cause::ContentFilter) => &mut self.content_filter,
            Some(Cause::Empty) => &mut self.empty,
            _ => return,
        };
        *count += 1;
    }

    /// Calls that our own limits cut.
    pub fn cut(&self) -> u64 {
        self.token_limit + self.context_overflow
    }

    /// Calls whose answer the model or its provider kept back, or the server left out.
    pub fn declined(&self) -> u64 {
        self.refusal + self.content_filter + self.empty
    }

    /// What happened, by its cause, for a person: `16 of 16 calls cut at the limit of tokens, all inside reasoning`. Nothing
    /// if all answers are whole. What has no cause is that no reply at all called a function: then it is the server
    /// that does not know how.
    pub fn described(&self) -> Vec<(Option<Cause>, String)> {
        let of = |cause: Cause, count: u64, what: &str| {
            let calls = if self.calls == 1 { "call" } else { "calls" };
            (count > 0).then(|| (Some(cause), format!("{count} of {} {calls} {what}", self.calls)))
        };
        let replies = if self.calls == 1 { "reply" } else { "replies" };
        let no_call = format!("{} of {} {replies} called no function", self.no_call, self.calls);
        let inside = match self.in_reasoning {
            0 => String::new(),
            inside if inside == self.token_limit => ", all inside reasoning".to_owned(),
            inside => format!(", {inside} inside reasoning"),
        };
        [
            of(Cause::TokenLimit, self.token_limit, &format!("cut at the limit of tokens{inside}")),
            of(Cause::ContextOverflow, self.context_overflow, "did not fit into the model's context"),
            of(Cause::Refusal, self.refusal, "declined by the model"),
            of(Cause::ContentFilter, self.content_filter, "withheld by a filter of the provider"),
            of(Cause::Empty, self.empty, "answered with nothing, and no reason"),
            (self.no_call > 0 && self.with_calls == 0).then_some((None, no_call)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl std::ops::AddAssign for Shortfalls {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.token_limit += other.token_limit;
        self.in_reasoning += other.in_reasoning;
        self.context_overflow += other.context_overflow;
        self.refusal += other.refusal;
        self.content_filter += other.content_filter;
        self.empty += other.empty;
        self.no_call += other.no_call;
        self.with_calls += other.with_calls;
    }
}

#[cfg(test)]
mod tests {
    use super::{MISSING_CALL, Shortfalls};
    use crate::score::fixtures;
    use crate::types::{Call, FunctionCall, Outcome, Repair, Step, Trajectory};

    #[test]
    fn replies_that_call_no_function_are_told_where_none_does() {
        let step = |n: usize, calls: &[&str], reason: &str| {
            let calls = calls.iter().map(|name| FunctionCall { name: (*name).to_owned(), ..FunctionCall::default() });
            let reason = Some(reason.to_owned());
            Step {
                n,
                calls: vec![Call { calls: calls.collect(), finish_reason: reason, ..Call::default() }],
                ..Step::default()
            }
        };
        let of = |steps: Vec<Step>, missed: &[usize]| {
            let kind = MISSING_CALL.to_owned();
            let repairs = missed.iter().map(|step| Repair { step: *step, kind: kind.clone() }).collect();
            let episode = fixtures::episode(steps, None, &["x"], Outcome::FormatFailure);
            Shortfalls::of(&Trajectory { repairs, ..episode })
        };
        let mut all = of(vec![step(1, &[], "stop"), step(2, &[], "malformed_function_call")], &[1, 2]);
        assert_eq!(all.described(), [(None, "2 of 2 replies called no function".to_owned())]);
        assert_eq!(of(vec![step(1, &[], "length")], &[1]).no_call, 0, "it was cut");
        assert_eq!(of(vec![step(1, &[], "stop")], &[]).no_call, 0, "a text is an answer");
        all += of(vec![step(1, &["search"], "tool_calls")], &[]);
        assert_eq!((all.no_call, all.described()), (2, vec![]), "the server knows how");
    }

    #[test]
    fn calls_are_counted_by_what_cut_them() {
        let call = |reason: &str, text: &str, reasoning: Option<&str>| Call {
            completion: text.to_owned(),
            reasoning: reasoning.map(str::to_owned),
            finish_reason: Some(reason.to_owned()),
            ..Call::default()
        };
        let calls = vec![
            call("length", " ", Some("")),
            call("length", "The ca", Some("hm")),
            call("stop", "", Some("hm")),
            call("refusal", "", None),
            call("content_filter", "", None),
            Call { cause: Some(crate::types::Cause::ContextOverflow), ..Call::default() },
            Call { cause: Some(crate::types::Cause::Empty), ..Call::default() },
        ];
        let step = Step { n: 1, calls, ..Step::default() };
        let all = Shortfalls::of(&fixtures::episode(vec![step], None, &["x"], Outcome::FormatFailure));
        assert_eq!((all.calls, all.token_limit, all.in_reasoning, all.cut(), all.declined()), (7, 2, 1, 3, 3));
        assert_eq!(
            all.described().into_iter().map(|(_, what)| what).collect::<Vec<_>>(),
            [
                "2 of 7 calls cut at the limit of tokens, 1 inside reasoning",
                "1 of 7 calls did not fit into the model's context",
                "1 of 7 calls declined by the model",
                "1 of 7 calls withheld by a filter of the provider",
                "1 of 7 calls answered with nothing, and no reason",
            ]
        );
    }
}
