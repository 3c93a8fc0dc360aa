//! Calls whose completion is less than the model's whole answer, counted by what cut or withheld it.
//!
//! Prompts that grow while the server's count of their tokens does not: it cuts them without saying so.

use crate::base::text::printable;
use crate::base::{Call, Cause, Ending, Trajectory, named};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, HashSet};

const MISSING_CALL: &str = "missing_call";
/// How many reasons that are not known are named.
const MAX_REASONS: usize = 8;
/// Longest such reason that is named, in characters.
const REASON_CHARS: usize = 40;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Shortfall {
        TokenLimit = "token_limit",
        /// Of these, calls that were cut inside reasoning and have no text.
        InReasoning = "in_reasoning",
        /// The conversation did not fit into the model's context.
        ContextOverflow = "context_overflow",
        /// The model declined, and the server says so.
        Refusal = "refusal",
        ContentFilter = "content_filter",
        /// Neither a text nor a call came, and no reason.
        Empty = "empty",
        /// Whole answers that call no function, where the model was to call one.
        NoCall = "no_call",
        /// The model wrote a call that its provider cannot read.
        MalformedCall = "malformed_call",
        /// Whole answers with neither a text nor a call, nor reasoning.
        EmptyAnswer = "empty_answer",
        /// Whole answers with reasoning, and with neither a text nor a call.
        ReasoningOnly = "reasoning_only",
        Paused = "paused",
        /// Answers with as many tokens as the limit allows, which ended by themselves as the server says.
        AtLimit = "at_limit",
        /// Failures of the server that records of earlier versions have as answers.
        Failed = "failed",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Shortfalls {
    pub calls: u64,
    #[serde(flatten)]
    counts: Counts,
    /// Calls that ended for a reason that is not known, by the reason; empty ones of episodes without a measurement too.
    unknown_reasons: BTreeMap<String, u64>,
    /// The same with further reasons.
    other_unknown_reasons: u64,
    #[serde(skip)]
    with_calls: u64,
}

/// Calls of each kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Counts([u64; Shortfall::ALL.len()]);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Shortfall::NAMES.iter().zip(self.0))
    }
}

impl Shortfalls {
    pub fn of(trajectory: &Trajectory) -> Self {
        let mut sum = Self::default();
        trajectory.steps.iter().flat_map(|step| &step.calls).for_each(|call| sum.add(call));
        let missed = trajectory.repairs.iter().filter(|repair| repair.kind == MISSING_CALL).map(|repair| repair.step);
        let missed: HashSet<usize> = missed.collect();
        let steps = trajectory.agent_steps().filter(|step| missed.contains(&step.n));
        let replies = steps.filter_map(|step| step.calls.last());
        sum.counts.0[Shortfall::NoCall as usize] =
            replies.map(|call| u64::from(call.calls.is_empty() && call.shortfall().is_none())).sum();
        sum
    }

    /// Only the calls that ended for a reason that is not known: of an episode without a measurement, nothing else counts.
    pub fn of_unmeasured(trajectory: &Trajectory) -> Self {
        let Self { unknown_reasons, other_unknown_reasons, .. } = Self::of(trajectory);
        Self { unknown_reasons, other_unknown_reasons, ..Self::default() }
    }

    fn add(&mut self, call: &Call) {
        self.calls += 1;
        self.with_calls += u64::from(!call.calls.is_empty());
        let is_empty = call.completion.trim().is_empty() && call.calls.is_empty();
        let kind = match (call.shortfall(), call.ending()) {
            (Some(Cause::TokenLimit), _) => Some(Shortfall::TokenLimit),
            (Some(Cause::ContextOverflow), _) => Some(Shortfall::ContextOverflow),
            (Some(Cause::Refusal), _) => Some(Shortfall::Refusal),
            (Some(Cause::ContentFilter), _) => Some(Shortfall::ContentFilter),
            (Some(Cause::Empty), _) => Some(Shortfall::Empty),
            (Some(Cause::MalformedCall), _) => Some(Shortfall::MalformedCall),
            (_, Some(Ending::Failed)) => Some(Shortfall::Failed),
            (_, Some(Ending::Paused)) => Some(Shortfall::Paused),
            (_, Some(Ending::Answer)) if is_empty && call.reasoning.is_some() => Some(Shortfall::ReasoningOnly),
            (_, Some(Ending::Answer)) if is_empty => Some(Shortfall::EmptyAnswer),
            (_, None | Some(Ending::Unclear)) => {
                let reason = call.finish_reason.iter().map(|reason| printable(reason, REASON_CHARS));
                reason.for_each(|reason| self.unknown(reason, 1));
                None
            }
            _ => None,
        };
        let inside = kind == Some(Shortfall::TokenLimit) && call.is_reasoning_only();
        let also = [inside.then_some(Shortfall::InReasoning), call.at_limit.then_some(Shortfall::AtLimit)];
        also.into_iter().chain([kind]).flatten().for_each(|kind| self.counts.0[kind as usize] += 1);
    }

    fn unknown(&mut self, reason: String, calls: u64) {
        if self.unknown_reasons.len() < MAX_REASONS || self.unknown_reasons.contains_key(&reason) {
            *self.unknown_reasons.entry(reason).or_default() += calls;
        } else {
            self.other_unknown_reasons += calls;
        }
    }

    pub fn count(&self, kind: Shortfall) -> u64 {
        self.counts.0[kind as usize]
    }

    /// Calls that our own limits cut.
    pub fn cut(&self) -> u64 {
        self.count(Shortfall::TokenLimit) + self.count(Shortfall::ContextOverflow)
    }

    /// Calls whose answer the model or its provider kept back, or the server left out.
    pub fn declined(&self) -> u64 {
        self.count(Shortfall::Refusal) + self.count(Shortfall::ContentFilter) + self.count(Shortfall::Empty)
    }

    /// Why an answer is wrong that was cut or withheld, for a person.
    pub fn evidence(&self) -> String {
        use Shortfall::{ContentFilter, ContextOverflow, Empty, NoCall, Refusal, TokenLimit};
        let is_less = [TokenLimit, ContextOverflow, Refusal, ContentFilter, Empty, NoCall].map(Some);
        let reasons = self.described().into_iter().filter(|(what, _)| is_less.contains(what)).map(|(_, words)| words);
        reasons.collect::<Vec<_>>().join("; ")
    }

    /// What happened, by its kind, for a person: `16 of 16 calls cut at the limit of tokens, all inside reasoning`. Reasons
    /// that are not known are of no kind. Nothing if all answers are whole.
    pub fn described(&self) -> Vec<(Option<Shortfall>, String)> {
        let inside = match self.count(Shortfall::InReasoning) {
            0 => String::new(),
            inside if inside == self.count(Shortfall::TokenLimit) => ", all inside reasoning".to_owned(),
            inside => format!(", {inside} inside reasoning"),
        };
        let kinds = [
            (Shortfall::TokenLimit, &*format!("cut at the limit of tokens{inside}")),
            (Shortfall::ContextOverflow, "did not fit into the model's context"),
            (Shortfall::Refusal, "declined by the model"),
            (Shortfall::ContentFilter, "withheld by a filter of the provider"),
            (Shortfall::Empty, "answered with nothing, and no reason"),
            (Shortfall::MalformedCall, "held a function call that the provider could not read"),
            (Shortfall::NoCall, "called no function"),
            (Shortfall::EmptyAnswer, "answered with an empty text"),
            (Shortfall::ReasoningOnly, "answered with reasoning alone"),
            (Shortfall::Paused, "paused by the provider before the answer ended"),
            (Shortfall::AtLimit, "possibly cut: as many tokens as the limit, but no reason `length`"),
            (Shortfall::Failed, "ended by a failure of the server, and recorded as answers"),
        ];
        let line = |(kind, words): (Shortfall, &str)| {
            let is_reply = kind == Shortfall::NoCall;
            let (one, several) = if is_reply { ("reply", "replies") } else { ("call", "calls") };
            let (count, unit) = (self.count(kind), if self.calls == 1 { one } else { several });
            // Where any reply calls a function, the server knows how.
            let is_shortfall = count > 0 && !(is_reply && self.with_calls > 0);
            is_shortfall.then(|| (Some(kind), format!("{count} of {} {unit} {words}", self.calls)))
        };
        kinds.into_iter().filter_map(line).chain(self.unknown_described()).collect()
    }

    fn unknown_described(&self) -> impl Iterator<Item = (Option<Shortfall>, String)> {
        let line = |calls: u64, what: &str| {
            let words = if calls == 1 { "call" } else { "calls" };
            (None, format!("{calls} {words} ended with {what}"))
        };
        let named = self.unknown_reasons.iter();
        let named = named.map(move |(reason, calls)| match reason.as_str() {
            "" => line(*calls, "neither an answer nor a reason"),
            reason => line(*calls, &format!("`{reason}`, which is not known")),
        });
        let others = self.other_unknown_reasons;
        named.chain((others > 0).then(|| line(others, "further reasons that are not known")))
    }
}

impl std::ops::AddAssign for Shortfalls {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.with_calls += other.with_calls;
        self.other_unknown_reasons += other.other_unknown_reasons;
        self.counts.0.iter_mut().zip(other.counts.0).for_each(|(sum, count)| *sum += count);
        for (reason, calls) in other.unknown_reasons {
            self.unknown(reason, calls);
        }
    }
}

/// How much longer a prompt has to be than the one before it, in characters: some 25 tokens.
const MIN_GROWTH: usize = 100;
/// Of prompts that grow by so much, in characters and in hundredths, counts that differ by no more than this part of a
/// hundred are the same, too: whole messages are cut, not single tokens.
const LARGE_GROWTH: usize = 400;
const LARGE_PERCENT: usize = 10;
const SAME_PERCENT: u64 = 2;
/// Smaller counts are those of servers that count only what is not in their cache.
const MIN_TOKENS: u64 = 200;
/// So many counts have to stay the same before it is told: one or two may be chance.
const MIN_SAME: u64 = 3;

/// Calls whose prompt is clearly longer than that of the call before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromptGrowth {
    pub steps: u64,
    /// Those whose prompt has as many tokens as the one before, as the server counts.
    pub same: u64,
}

impl PromptGrowth {
    /// Only calls whose tokens were counted, none from a cache, are compared.
    pub fn of(trajectory: &Trajectory) -> Self {
        let mut growth = Self::default();
        let steps = trajectory.steps.iter().filter(|step| step.sample.is_none());
        let calls: Vec<&Call> = steps.flat_map(|step| &step.calls).collect();
        for pair in calls.windows(2) {
            let &[before, after] = pair else { continue };
            let (Some(first), Some(second)) = (uncached_prompt_tokens(before), uncached_prompt_tokens(after)) else {
                continue;
            };
            let more = after.prompt_chars.saturating_sub(before.prompt_chars);
            if more < MIN_GROWTH {
                continue;
            }
            let is_large =
                more >= LARGE_GROWTH && more.saturating_mul(100) >= before.prompt_chars.saturating_mul(LARGE_PERCENT);
            let difference = second.abs_diff(first).saturating_mul(100);
            let is_same = difference == 0 || (is_large && difference <= first.saturating_mul(SAME_PERCENT));
            growth.steps += 1;
            growth.same += u64::from(is_same);
        }
        growth
    }

    /// What to tell a person; nothing unless it is clear.
    pub fn described(&self) -> Option<String> {
        (self.same >= MIN_SAME).then(|| {
            format!(
                "the server may cut prompts: prompt_tokens did not grow in {} of {} steps whose prompt did",
                self.same, self.steps
            )
        })
    }
}

/// The prompt's tokens, where the server counted all of them.
fn uncached_prompt_tokens(call: &Call) -> Option<u64> {
    let usage =
        call.usage.filter(|usage| usage.cached_tokens.unwrap_or(0) == 0 && usage.prompt_tokens >= MIN_TOKENS)?;
    Some(usage.prompt_tokens)
}

impl std::ops::AddAssign for PromptGrowth {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.same += other.same;
    }
}

#[cfg(test)]
mod tests {
    use super::{MISSING_CALL, PromptGrowth, Shortfall, Shortfalls};
    use crate::base::{Call, Cause, FunctionCall, Outcome, Repair, Step, Trajectory, Usage};
    use crate::scoring::fixtures;

    #[test]
    fn replies_that_call_no_function_are_told_where_none_does() {
        let step = |n: usize, calls: &[&str], reason: &str| {
            let calls = calls.iter().map(|name| FunctionCall { name: (*name).to_owned(), ..FunctionCall::default() });
            let reason = Some(reason.to_owned());
            Step {
                n,
                calls: vec![Call {
                    completion: "I think.".to_owned(),
                    calls: calls.collect(),
                    finish_reason: reason,
                    ..Call::default()
                }],
                ..Step::default()
            }
        };
        let of = |steps: Vec<Step>, missed: &[usize]| {
            let kind = MISSING_CALL.to_owned();
            let repairs = missed.iter().map(|step| Repair { step: *step, kind: kind.clone() }).collect();
            let episode = fixtures::episode(steps, None, &["x"], Outcome::FormatFailure);
            Shortfalls::of(&Trajectory { repairs, ..episode })
        };
        let replies = vec![step(1, &[], "stop"), step(2, &[], "tool_calls"), step(3, &[], "malformed_function_call")];
        let mut all = of(replies, &[1, 2, 3]);
        let described = [
            (Some(Shortfall::MalformedCall), "1 of 3 calls held a function call that the provider could not read"),
            (Some(Shortfall::NoCall), "2 of 3 replies called no function"),
        ];
        assert_eq!(all.described(), described.map(|(what, words)| (what, words.to_owned())));
        assert_eq!(of(vec![step(1, &[], "length")], &[1]).count(Shortfall::NoCall), 0, "it was cut");
        assert_eq!(of(vec![step(1, &[], "stop")], &[]).count(Shortfall::NoCall), 0, "a text is an answer");
        all += of(vec![step(1, &["search"], "tool_calls")], &[]);
        let told = |what| all.described().iter().any(|(kind, _)| *kind == Some(what));
        assert_eq!((all.count(Shortfall::NoCall), told(Shortfall::NoCall)), (2, false), "the server knows how");
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
            Call { cause: Some(crate::base::Cause::ContextOverflow), ..Call::default() },
            Call { cause: Some(crate::base::Cause::Empty), ..Call::default() },
        ];
        let step = Step { n: 1, calls, ..Step::default() };
        let all = Shortfalls::of(&fixtures::episode(vec![step], None, &["x"], Outcome::FormatFailure));
        let [cut, inside] = [Shortfall::TokenLimit, Shortfall::InReasoning].map(|kind| all.count(kind));
        assert_eq!((all.calls, cut, inside, all.cut(), all.declined()), (7, 2, 1, 3, 3));
        assert_eq!(
            all.described().into_iter().map(|(_, what)| what).collect::<Vec<_>>(),
            [
                "2 of 7 calls cut at the limit of tokens, 1 inside reasoning",
                "1 of 7 calls did not fit into the model's context",
                "1 of 7 calls declined by the model",
                "1 of 7 calls withheld by a filter of the provider",
                "1 of 7 calls answered with nothing, and no reason",
                "1 of 7 calls answered with reasoning alone",
            ]
        );
        assert!(!all.evidence().contains("reasoning alone"), "that is the model's answer");
    }

    #[test]
    fn whole_answers_that_are_odd_and_reasons_that_are_not_known_are_told() {
        let call = |reason: &str, text: &str| Call {
            completion: text.to_owned(),
            finish_reason: Some(reason.to_owned()),
            ..Call::default()
        };
        let cut = Call { at_limit: true, ..call("stop", "The ca") };
        let unknown = Call { cause: Some(Cause::UnknownReason), ..call("x\u{1b}z", "") };
        let mut calls = vec![call("stop", ""), call("pause_turn", "I"), cut, call("abort", "I"), unknown.clone()];
        calls.extend([call("xyz", "yes"), call("xyz", "no")]);
        let episode =
            |calls| fixtures::episode(vec![Step { n: 1, calls, ..Step::default() }], None, &["x"], Outcome::Finished);
        let mut all = Shortfalls::of(&episode(calls));
        let told = |all: &Shortfalls| all.described().into_iter().map(|(_, what)| what).collect::<Vec<_>>();
        assert_eq!(
            told(&all),
            [
                "1 of 7 calls answered with an empty text",
                "1 of 7 calls paused by the provider before the answer ended",
                "1 of 7 calls possibly cut: as many tokens as the limit, but no reason `length`",
                "1 of 7 calls ended by a failure of the server, and recorded as answers",
                "1 call ended with `x\\u{1b}z`, which is not known",
                "2 calls ended with `xyz`, which is not known",
            ]
        );
        let many = (0..30).map(|n| call(&format!("reason {n:02} {}", "y".repeat(300)), "")).collect();
        all += Shortfalls::of_unmeasured(&episode(vec![unknown, call("stop", "")]));
        all += Shortfalls::of_unmeasured(&episode(many));
        let told = told(&all);
        assert!(told.contains(&"2 calls ended with `x\\u{1b}z`, which is not known".to_owned()), "{told:?}");
        assert!(told.iter().all(|line| line.len() < 120) && told.len() == 13, "{told:?}");
        assert_eq!(told.last().map(String::as_str), Some("24 calls ended with further reasons that are not known"));
        assert_eq!(
            (all.calls, all.count(Shortfall::EmptyAnswer)),
            (7, 1),
            "of an episode without a measurement, nothing else counts"
        );
    }

    fn growth(calls: &[(usize, u64, u64)]) -> PromptGrowth {
        let step = |(n, &(prompt_chars, tokens, cached)): (usize, &(usize, u64, u64))| {
            let usage = Some(Usage { cached_tokens: Some(cached), ..Usage::new(tokens, 10) });
            Step { n: n + 1, calls: vec![Call { prompt_chars, usage, ..Call::default() }], ..Step::default() }
        };
        let steps = calls.iter().enumerate().map(step).collect();
        PromptGrowth::of(&fixtures::episode(steps, None, &["x"], Outcome::StepLimit))
    }

    #[test]
    fn only_a_count_that_stays_the_same_is_told() {
        for (calls, same, steps) in [
            // A server with a context of 1,024 tokens.
            (&[(4_000, 1024, 0), (5_000, 1024, 0), (6_000, 1020, 0), (7_000, 1024, 0)][..], 3, 3),
            (&[(7_002, 1024, 0), (7_199, 1024, 0), (7_396, 1024, 0), (7_593, 1024, 0)], 3, 3),
            // Short steps of a long prompt.
            (&[(7_000, 1024, 0), (7_110, 1040, 0), (7_220, 1055, 0), (7_330, 1070, 0)], 0, 3),
            (&[(4_000, 1000, 0), (5_000, 1250, 0), (6_000, 1500, 0), (7_000, 1750, 0)], 0, 3),
            // Only what is not cached is counted.
            (&[(4_000, 1000, 0), (5_000, 120, 0), (6_000, 130, 0), (7_000, 120, 0)], 0, 0),
            (&[(4_000, 1000, 0), (5_000, 250, 0), (6_000, 310, 0), (7_000, 270, 0)], 0, 3),
            (&[(4_000, 1000, 900), (5_000, 1000, 900), (6_000, 1000, 900), (7_000, 1000, 900)], 0, 0),
            // Nothing is counted, or nothing grows.
            (&[(4_000, 0, 0), (5_000, 0, 0), (6_000, 0, 0), (7_000, 0, 0)], 0, 0),
            (&[(4_000, 1000, 0), (4_099, 1000, 0), (4_099, 1000, 0), (3_000, 1000, 0)], 0, 0),
        ] {
            let growth = growth(calls);
            assert_eq!((growth.same, growth.steps), (same, steps), "{calls:?}");
            assert_eq!(growth.described().is_some(), same >= 3, "{calls:?}");
        }
    }
}
