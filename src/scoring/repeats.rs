//! What the repeats of a question say together: pass@k and pass^k.
//!
//! Of a question with `c` right answers in `n` scored repeats, `pass@k` is the share of the sets of `k` of these repeats with at
//! least one right answer, `1 − C(n−c, k) / C(n, k)` (Chen et al. 2021, arXiv 2107.03374), and `pass^k` that of the sets whose
//! answers are all right, `C(c, k) / C(n, k)` (Yao et al. 2024, arXiv 2406.12045). Both estimate without bias what `k` fresh
//! repeats would do. A question with fewer than `k` scored repeats has no value.

use super::figure::ScoredEpisode;
use super::overlap::float;
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

/// The repeats of each question of a variant.
#[derive(Debug, Clone, Default)]
pub struct Repeats(BTreeMap<String, QuestionRepeats>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct QuestionRepeats {
    right: u64,
    scored: u64,
}

impl Repeats {
    /// Adds an episode. One without a score, such as one that was not measured, adds nothing.
    pub fn add(&mut self, episode: &ScoredEpisode) {
        let Some(right) = episode.is_right() else { return };
        let question = self.0.entry(episode.trajectory.id.clone()).or_default();
        question.scored += 1;
        question.right += u64::from(right);
    }

    /// Questions with a scored repeat.
    pub fn questions(&self) -> usize {
        self.0.len()
    }

    /// The scored repeats of the question that has most of them.
    pub fn most(&self) -> u64 {
        self.0.values().map(|question| question.scored).max().unwrap_or_default()
    }

    /// The value of each question that has `k` scored repeats, in the order of their ids.
    pub fn values(&self, pass: Pass) -> Vec<f64> {
        self.0.values().filter_map(|question| pass.of(question.right, question.scored)).collect()
    }
}

#[cfg(test)]
mod tests;
