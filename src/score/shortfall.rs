//! Calls whose completion is less than the model's whole answer, counted by what cut or withheld it.

use crate::types::{Call, Cause, Trajectory};
use serde::Serialize;

/// Calls, and how many of them fell short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Shortfalls {
    /// All calls.
    pub calls: u64,
    /// Cut by the limit of tokens.
    pub token_limit: u64,
    /// Of these, cut inside reasoning: there is no text at all.
    pub in_reasoning: u64,
    /// The conversation did not fit into the model's context.
    pub context_overflow: u64,
    /// The model declined, and the server says so.
    pub refusal: u64,
    /// A filter of the provider withheld the answer.
    pub content_filter: u64,
    /// Neither a text nor a call came, and no reason.
    pub empty: u64,
}

impl Shortfalls {
    pub fn of(trajectory: &Trajectory) -> Self {
        let mut sum = Self::default();
        trajectory.steps.iter().flat_map(|step| &step.calls).for_each(|call| sum.add(call));
        sum
    }

    fn add(&mut self, call: &Call) {
        self.calls += 1;
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
    /// if all answers are whole.
    pub fn described(&self) -> Vec<(Cause, String)> {
        let of = |cause: Cause, count: u64, what: &str| {
            let calls = if self.calls == 1 { "call" } else { "calls" };
            (count > 0).then(|| (cause, format!("{count} of {} {calls} {what}", self.calls)))
        };
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
    }
}

#[cfg(test)]
mod tests {
    use super::Shortfalls;
    use crate::score::fixtures;
    use crate::types::{Call, Outcome, Step};

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
