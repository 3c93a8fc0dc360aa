//! Prompts that grow while the server's count of their tokens does not: it cuts them without saying so.

use crate::types::{Call, Trajectory};

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
    /// All of them.
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
            let (Some(first), Some(second)) = (counted(before), counted(after)) else { continue };
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
fn counted(call: &Call) -> Option<u64> {
    let usage = call.usage.filter(|usage| usage.cached_tokens == 0 && usage.prompt_tokens >= MIN_TOKENS)?;
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
    use super::PromptGrowth;
    use crate::score::fixtures;
    use crate::types::{Call, Outcome, Step, Usage};

    fn growth(calls: &[(usize, u64, u64)]) -> PromptGrowth {
        let step = |(n, &(prompt_chars, tokens, cached)): (usize, &(usize, u64, u64))| {
            let usage = Some(Usage { cached_tokens: cached, ..Usage::new(tokens, 10) });
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
