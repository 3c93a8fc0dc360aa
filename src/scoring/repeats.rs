//! What the repeats of a question say together: pass@k and pass^k, and how far repeats agree.
//!
//! Of a question with `c` right answers in `n` scored repeats, `pass@k` is the share of the sets of `k` of these repeats with at
//! least one right answer, `1 − C(n−c, k) / C(n, k)` (Chen et al. 2021, arXiv 2107.03374), and `pass^k` that of the sets whose
//! answers are all right, `C(c, k) / C(n, k)` (Yao et al. 2024, arXiv 2406.12045). Both estimate without bias what `k` fresh
//! repeats would do. A question with fewer than `k` scored repeats has no value.

use super::figure::{self, ScoredEpisode};
use super::overlap::float;
use super::retrieval::Share;
use std::collections::BTreeMap;
use std::fmt;

/// `pass@k` or `pass^k` for one `k`, 1 or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// `pass@k`: at least one of `k` repeats is right.
    Any(u64),
    /// `pass^k`: all of `k` repeats are right.
    All(u64),
}

impl Pass {
    /// That of this name, such as `pass@3` or `pass^3`.
    pub fn parse(name: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|k| *k > 0);
        let any = || Some(Self::Any(number(name.strip_prefix("pass@")?)?));
        let all = || Some(Self::All(number(name.strip_prefix("pass^")?)?));
        // Only one spelling: no sign, no zeros in front.
        any().or_else(all).filter(|pass| pass.to_string() == name)
    }

    /// How many repeats a question needs to have a value.
    pub fn repeats(self) -> u64 {
        match self {
            Self::Any(k) | Self::All(k) => k,
        }
    }

    /// Its value for a question with this many right answers in `scored` repeats; absent for fewer repeats than `k`.
    pub fn of(self, right: u64, scored: u64) -> Option<f64> {
        match self {
            Self::Any(k) => Some(1.0 - sets_within(k, scored.checked_sub(right)?, scored)?),
            Self::All(k) => sets_within(k, right, scored),
        }
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any(k) => write!(f, "pass@{k}"),
            Self::All(k) => write!(f, "pass^{k}"),
        }
    }
}

/// The share of the sets of `k` of `n` things that lie within `part` of them: `C(part, k) / C(n, k)`.
fn sets_within(k: u64, part: u64, n: u64) -> Option<f64> {
    (1..=n).contains(&k).then(|| (0..k).map(|i| float(part.saturating_sub(i)) / float(n - i)).product())
}

#[derive(Debug, Clone, Default)]
pub struct Repeats(BTreeMap<String, QuestionRepeats>);

#[derive(Debug, Clone, Default)]
struct QuestionRepeats {
    /// Right answers, of its scored repeats.
    right: Share,
    /// How many measured repeats gave each answer, in its normal form; no answer is one too.
    answers: BTreeMap<Option<String>, u64>,
    steps: Variation,
    cost: Variation,
}

impl Repeats {
    /// Adds an episode. One that was not measured adds nothing, and one whose gold is hidden no right answer.
    pub fn add(&mut self, episode: &ScoredEpisode) {
        let trajectory = &episode.trajectory;
        if !trajectory.measured() {
            return;
        }
        let question = self.0.entry(trajectory.id.clone()).or_default();
        let answer = trajectory.answer.as_deref().map(|answer| episode.metric.normal(answer));
        *question.answers.entry(answer).or_default() += 1;
        figure::STEPS.value(episode).into_iter().for_each(|steps| question.steps.add(steps));
        figure::COST_USD.value(episode).into_iter().for_each(|usd| question.cost.add(usd));
        if let Some(right) = episode.is_right() {
            question.right.add(u64::from(right), 1);
        }
    }

    pub fn questions(&self) -> usize {
        self.0.values().filter(|question| question.right.of > 0).count()
    }

    /// The scored repeats of the question that has most of them.
    pub fn most(&self) -> u64 {
        self.0.values().map(|question| question.right.of).max().unwrap_or_default()
    }

    /// The value of each question that has `k` scored repeats, in the order of their ids.
    pub fn values(&self, pass: Pass) -> Vec<f64> {
        self.0.values().filter_map(|question| pass.of(question.right.count, question.right.of)).collect()
    }

    pub fn right(&self, id: &str) -> Option<Share> {
        self.0.get(id).map(|question| question.right).filter(|right| right.of > 0)
    }

    /// The questions that some repeats answer rightly and some wrongly, in the order of their ids.
    pub fn unstable(&self) -> impl Iterator<Item = (&str, Share)> {
        let all = self.0.iter().map(|(id, question)| (id.as_str(), question.right));
        all.filter(|(_, right)| right.is_mixed())
    }

    /// The share of the pairs of repeats that gave the same answer, of each question with two measured repeats.
    pub fn agreement(&self) -> Vec<f64> {
        let pairs = |n: u64| float(n * n.saturating_sub(1) / 2);
        let of_question = |question: &QuestionRepeats| {
            let all = pairs(question.answers.values().sum());
            (all > 0.0).then(|| question.answers.values().map(|same| pairs(*same)).sum::<f64>() / all)
        };
        self.0.values().filter_map(of_question).collect()
    }

    /// The standard deviation of the steps between repeats of one question, over all questions.
    pub fn steps_deviation(&self) -> Option<f64> {
        Variation::within(self.0.values().map(|question| &question.steps))
    }

    /// The same of the cost in US dollars.
    pub fn cost_deviation(&self) -> Option<f64> {
        Variation::within(self.0.values().map(|question| &question.cost))
    }
}

/// The spread of values (Welford's recurrence).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Variation {
    n: u64,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
}

impl Variation {
    pub(super) fn add(&mut self, value: f64) {
        self.n += 1;
        let distance = value - self.mean;
        self.mean += distance / float(self.n);
        self.squares += distance * (value - self.mean);
    }

    /// Sample variance; absent below two values.
    pub(super) fn variance(&self) -> Option<f64> {
        (self.n > 1).then(|| self.squares / float(self.n - 1))
    }

    /// The pooled standard deviation within questions: `√(Σ squares / Σ (n − 1))`; absent where none has two values.
    fn within<'a>(questions: impl Iterator<Item = &'a Self>) -> Option<f64> {
        let pooled =
            |(squares, freedom): (f64, u64), of: &Self| (squares + of.squares, freedom + of.n.saturating_sub(1));
        let (squares, freedom) = questions.fold((0.0, 0), pooled);
        (freedom > 0).then(|| (squares / float(freedom)).sqrt())
    }
}

#[cfg(test)]
mod tests;
